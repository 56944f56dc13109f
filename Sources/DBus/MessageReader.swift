// SPDX-License-Identifier: MIT

internal import CDBus

// The type codes are character macros in C, which do not import.
enum TypeCode {
  static let byte = Int32(UInt8(ascii: "y"))
  static let boolean = Int32(UInt8(ascii: "b"))
  static let int16 = Int32(UInt8(ascii: "n"))
  static let uint16 = Int32(UInt8(ascii: "q"))
  static let int32 = Int32(UInt8(ascii: "i"))
  static let uint32 = Int32(UInt8(ascii: "u"))
  static let int64 = Int32(UInt8(ascii: "x"))
  static let uint64 = Int32(UInt8(ascii: "t"))
  static let double = Int32(UInt8(ascii: "d"))
  static let string = Int32(UInt8(ascii: "s"))
  static let objectPath = Int32(UInt8(ascii: "o"))
  static let signature = Int32(UInt8(ascii: "g"))
  static let array = Int32(UInt8(ascii: "a"))
  static let variant = Int32(UInt8(ascii: "v"))
  static let structure = Int32(UInt8(ascii: "r"))
}

/// Walks over the values of a message whose signature is known.
package struct MessageReader {
  var iterator = DBusMessageIter()

  init() {}

  /// The type code of the value it stands on; 0 behind the last.
  var typeCode: Int32 { mutating get { dbus_message_iter_get_arg_type(&iterator) } }

  /// The signature of the value it stands on.
  var currentSignature: String {
    mutating get {
      guard let text = dbus_message_iter_get_signature(&iterator) else { return "" }
      defer { dbus_free(text) }
      return String(cString: text)
    }
  }

  mutating func read<Value: BitwiseCopyable>(fixed initial: Value) -> Value {
    var value = initial
    dbus_message_iter_get_basic(&iterator, &value)
    advance()
    return value
  }

  mutating func readString() -> String {
    var pointer: UnsafePointer<CChar>?
    dbus_message_iter_get_basic(&iterator, &pointer)
    advance()
    return pointer.map { String(cString: $0) } ?? ""
  }

  /// Passes over the value it stands on.
  mutating func advance() { dbus_message_iter_next(&iterator) }

  /// Enters the container it stands on, and afterwards stands behind it.
  mutating func enter<Result>(_ body: (inout MessageReader) -> Result) -> Result {
    var inner = MessageReader()
    dbus_message_iter_recurse(&iterator, &inner.iterator)
    let result = body(&inner)
    advance()
    return result
  }
}
