// SPDX-License-Identifier: MIT

internal import CJSON

/// A JSON value to be printed.
///
/// json-c writes it, so that what has to be escaped is decided in one place, which is not ours.
enum JSON {
  case null
  case boolean(Bool)
  case unsigned(UInt64)
  case integer(Int)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([(key: String, value: JSON)])

  /// A string without its control characters.
  static func text(_ value: String) -> JSON { .string(value.harmless) }

  /// The value in one line.
  var line: String {
    let object = make()
    defer { json_object_put(object) }
    // A JSON null is no object to json-c.
    guard let object else { return "null" }
    let flags = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE
    return String(cString: json_object_to_json_string_ext(object, flags))
  }

  private func make() -> OpaquePointer? {
    switch self {
    case .null: return nil
    case .boolean(let value): return json_object_new_boolean(value ? 1 : 0)
    case .unsigned(let value): return json_object_new_uint64(value)
    case .integer(let value): return json_object_new_int64(Int64(value))
    case .number(let value):
      // Its own text has seventeen digits: 0.40000000000000002.
      return json_object_new_double_s(value, "\(value)")
    case .string(var value):
      return value.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { characters in
          json_object_new_string_len(characters.baseAddress ?? emptyText, Int32(characters.count))
        }
      }
    case .array(let values):
      let array = json_object_new_array()
      for value in values { json_object_array_add(array, value.make()) }
      return array
    case .object(let members):
      let object = json_object_new_object()
      for (key, value) in members { json_object_object_add(object, key, value.make()) }
      return object
    }
  }
}

// A pointer that may be read for no bytes at all.
private nonisolated(unsafe) let emptyText = UnsafePointer(
  UnsafeMutablePointer<CChar>.allocate(capacity: 1))
