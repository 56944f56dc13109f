// SPDX-License-Identifier: MIT

/// A Swift type that has one D-Bus type.
package protocol DBusTyped {
  /// The one complete type, in D-Bus notation.
  static var signature: String { get }
}

/// The signature of values of these types, one behind the other.
func joinedSignature<each Value: DBusTyped>(_ types: repeat (each Value).Type) -> String {
  var joined = ""
  repeat joined += (each Value).signature
  return joined
}

/// A Swift type that can be sent.
package protocol DBusEncodable: DBusTyped {
  /// Appends the value.
  func write(to writer: inout MessageWriter)
}

/// A Swift type that can be received.
///
/// The signature has been compared before a reader is handed out, so that reading cannot fail.
package protocol DBusDecodable: DBusTyped {
  /// Reads the value that the reader stands on, and leaves it behind that.
  init(from reader: inout MessageReader)
}

/// A type that goes both ways.
package typealias DBusValue = DBusDecodable & DBusEncodable

extension Bool: DBusValue {
  package static var signature: String { "b" }
  package func write(to writer: inout MessageWriter) {
    writer.append(fixed: UInt32(self ? 1 : 0))
  }
  package init(from reader: inout MessageReader) { self = reader.read(fixed: UInt32(0)) != 0 }
}

/// A number that stands on the wire as it stands in memory.
package protocol DBusNumber: DBusValue, BitwiseCopyable, ExpressibleByIntegerLiteral {}

extension DBusNumber {
  package func write(to writer: inout MessageWriter) { writer.append(fixed: self) }
  package init(from reader: inout MessageReader) { self = reader.read(fixed: 0) }
}

extension UInt8: DBusNumber {
  package static var signature: String { "y" }
}

extension Int32: DBusNumber {
  package static var signature: String { "i" }
}

extension UInt32: DBusNumber {
  package static var signature: String { "u" }
}

extension Int64: DBusNumber {
  package static var signature: String { "x" }
}

extension UInt64: DBusNumber {
  package static var signature: String { "t" }
}

extension Double: DBusNumber {
  package static var signature: String { "d" }
}

extension String: DBusValue {
  package static var signature: String { "s" }
  package func write(to writer: inout MessageWriter) { writer.append(string: self) }
  package init(from reader: inout MessageReader) { self = reader.readString() }
}

extension Array: DBusTyped where Element: DBusTyped {
  package static var signature: String { "a" + Element.signature }
}

extension Array: DBusEncodable where Element: DBusEncodable {
  package func write(to writer: inout MessageWriter) {
    writer.array(of: Element.signature) { writer in
      for element in self { element.write(to: &writer) }
    }
  }
}

extension Array: DBusDecodable where Element: DBusDecodable {
  package init(from reader: inout MessageReader) {
    self = reader.enter { inner in
      var elements: [Element] = []
      while inner.typeCode != 0 { elements.append(Element(from: &inner)) }
      return elements
    }
  }
}

extension Dictionary: DBusTyped where Key: DBusTyped, Value: DBusTyped {
  package static var signature: String { "a{" + Key.signature + Value.signature + "}" }
}

extension Dictionary: DBusEncodable where Key: DBusEncodable, Value: DBusEncodable {
  package func write(to writer: inout MessageWriter) {
    writer.array(of: "{" + Key.signature + Value.signature + "}") { writer in
      for (key, value) in self {
        writer.entry {
          key.write(to: &$0)
          value.write(to: &$0)
        }
      }
    }
  }
}

extension Dictionary: DBusDecodable where Key: DBusDecodable, Value: DBusDecodable {
  /// Of a key that is there twice, the last value counts, as in other bindings.
  package init(from reader: inout MessageReader) {
    self = reader.enter { inner in
      var result: [Key: Value] = [:]
      while inner.typeCode != 0 {
        inner.enter {
          let key = Key(from: &$0)
          result[key] = Value(from: &$0)
        }
      }
      return result
    }
  }
}

/// A D-Bus structure; a Swift tuple cannot conform to a protocol.
package struct Structure<each Field> {
  package let fields: (repeat each Field)
  package init(_ fields: repeat each Field) { self.fields = (repeat each fields) }
}

extension Structure: DBusTyped where repeat each Field: DBusTyped {
  package static var signature: String {
    var inner = ""
    repeat inner += (each Field).signature
    return "(" + inner + ")"
  }
}

extension Structure: DBusEncodable where repeat each Field: DBusEncodable {
  package func write(to writer: inout MessageWriter) {
    writer.structure { writer in
      repeat (each fields).write(to: &writer)
    }
  }
}

extension Structure: DBusDecodable where repeat each Field: DBusDecodable {
  package init(from reader: inout MessageReader) {
    fields = reader.enter { inner in (repeat (each Field)(from: &inner)) }
  }
}

/// A value whose type is known only when it arrives, or is chosen only when it is sent.
package indirect enum Variant: Equatable, Sendable {
  case boolean(Bool)
  case byte(UInt8)
  case int16(Int16)
  case uint16(UInt16)
  case int32(Int32)
  case uint32(UInt32)
  case int64(Int64)
  case uint64(UInt64)
  case double(Double)
  case string(String)
  case objectPath(String)
  case typeSignature(String)
  case array([Variant])
  case structure([Variant])
  case dictionary([DictionaryEntry])
  case variant(Variant)
  /// A descriptor, which is not taken out of the message.
  case descriptor

  /// One entry; the order is the sender's.
  package struct DictionaryEntry: Equatable, Sendable {
    package let key: Variant
    package let value: Variant
  }
}

extension Variant: DBusDecodable {
  package static var signature: String { "v" }

  package init(from reader: inout MessageReader) {
    self = reader.enter { Variant(anyFrom: &$0) }
  }

  private init(anyFrom reader: inout MessageReader) {
    switch reader.typeCode {
    case TypeCode.boolean: self = .boolean(Bool(from: &reader))
    case TypeCode.byte: self = .byte(UInt8(from: &reader))
    case TypeCode.int16: self = .int16(reader.read(fixed: 0))
    case TypeCode.uint16: self = .uint16(reader.read(fixed: 0))
    case TypeCode.int32: self = .int32(Int32(from: &reader))
    case TypeCode.uint32: self = .uint32(UInt32(from: &reader))
    case TypeCode.int64: self = .int64(Int64(from: &reader))
    case TypeCode.uint64: self = .uint64(UInt64(from: &reader))
    case TypeCode.double: self = .double(Double(from: &reader))
    case TypeCode.string: self = .string(reader.readString())
    case TypeCode.objectPath: self = .objectPath(reader.readString())
    case TypeCode.signature: self = .typeSignature(reader.readString())
    case TypeCode.variant: self = .variant(Variant(from: &reader))
    case TypeCode.structure:
      self = .structure(
        reader.enter { inner in
          var fields: [Variant] = []
          while inner.typeCode != 0 { fields.append(Variant(anyFrom: &inner)) }
          return fields
        })
    case TypeCode.array: self = Variant(arrayFrom: &reader)
    default:
      reader.advance()
      self = .descriptor
    }
  }

  private init(arrayFrom reader: inout MessageReader) {
    let isDictionary = reader.currentSignature.hasPrefix("a{")
    self = reader.enter { inner in
      var elements: [Variant] = []
      var entries: [DictionaryEntry] = []
      while inner.typeCode != 0 {
        if isDictionary {
          inner.enter {
            let key = Variant(anyFrom: &$0)
            entries.append(DictionaryEntry(key: key, value: Variant(anyFrom: &$0)))
          }
        } else {
          elements.append(Variant(anyFrom: &inner))
        }
      }
      return isDictionary ? .dictionary(entries) : .array(elements)
    }
  }
}

extension Variant {
  package var boolValue: Bool? { if case .boolean(let value) = self { value } else { nil } }
  package var int32Value: Int32? { if case .int32(let value) = self { value } else { nil } }
  package var uint32Value: UInt32? { if case .uint32(let value) = self { value } else { nil } }
  package var uint64Value: UInt64? { if case .uint64(let value) = self { value } else { nil } }
  package var doubleValue: Double? { if case .double(let value) = self { value } else { nil } }
  package var arrayValue: [Variant]? { if case .array(let value) = self { value } else { nil } }
  package var structureValue: [Variant]? {
    if case .structure(let value) = self { value } else { nil }
  }
  /// A string, or an object path's text.
  package var stringValue: String? {
    switch self {
    case .string(let value), .objectPath(let value): value
    default: nil
    }
  }
  /// An `a{sv}`, where of a key that is there twice the last counts; nil for anything else.
  package var propertiesValue: [String: Variant]? {
    guard case .dictionary(let entries) = self else { return nil }
    var result: [String: Variant] = [:]
    for entry in entries {
      guard case .string(let key) = entry.key, case .variant(let value) = entry.value else {
        return nil
      }
      result[key] = value
    }
    return result
  }
}

/// The basic types that options are made of, in a variant for sending.
extension Variant: DBusEncodable {
  package func write(to writer: inout MessageWriter) {
    switch self {
    case .boolean(let value): writer.variant(value)
    case .byte(let value): writer.variant(value)
    case .int32(let value): writer.variant(value)
    case .uint32(let value): writer.variant(value)
    case .int64(let value): writer.variant(value)
    case .uint64(let value): writer.variant(value)
    case .double(let value): writer.variant(value)
    case .string(let value): writer.variant(value)
    case .objectPath(let value): writer.variant(ObjectPath(unchecked: value))
    default: preconditionFailure("a variant of this type is received, not sent")
    }
  }
}

/// An `a{sv}` for sending, in the order written.
package struct PropertyList: DBusEncodable, ExpressibleByDictionaryLiteral {
  package var entries: [(key: String, value: Variant)]

  package init(dictionaryLiteral elements: (String, Variant)...) {
    entries = elements.map { (key: $0.0, value: $0.1) }
  }

  package static var signature: String { "a{sv}" }

  package func write(to writer: inout MessageWriter) {
    writer.array(of: "{sv}") { writer in
      for (key, value) in entries {
        writer.entry {
          $0.append(string: key)
          value.write(to: &$0)
        }
      }
    }
  }
}

/// An `a{sv}` of options as its sender wrote it: order and repeated keys are kept, and a container
/// is not unpacked, so that a hostile one costs nothing.
package struct OptionList: DBusDecodable {
  /// One option's value: a basic type that options have, or the signature of anything else.
  package enum Value: Equatable {
    case boolean(Bool)
    case uint32(UInt32)
    case uint64(UInt64)
    case string(String)
    case other(signature: String)
  }

  /// How many are read; no method has so many, so that what is left out cannot matter.
  package static let most = 256

  package private(set) var entries: [(key: String, value: Value)] = []
  /// Whether there were more than ``most``.
  package private(set) var isTruncated = false

  /// No options.
  package init() {}

  package static var signature: String { "a{sv}" }

  package init(from reader: inout MessageReader) {
    var entries: [(key: String, value: Value)] = []
    isTruncated = reader.enter { inner in
      while inner.typeCode != 0 {
        guard entries.count < Self.most else { return true }
        inner.enter { entry in
          let key = entry.readString()
          entries.append((key, entry.enter { Value(from: &$0) }))
        }
      }
      return false
    }
    self.entries = entries
  }
}

extension OptionList.Value {
  fileprivate init(from reader: inout MessageReader) {
    switch reader.typeCode {
    case TypeCode.boolean: self = .boolean(Bool(from: &reader))
    case TypeCode.uint32: self = .uint32(UInt32(from: &reader))
    case TypeCode.uint64: self = .uint64(UInt64(from: &reader))
    case TypeCode.string: self = .string(reader.readString())
    default: self = .other(signature: reader.currentSignature)
    }
  }

  /// Its type in D-Bus notation.
  package var signature: String {
    switch self {
    case .boolean: "b"
    case .uint32: "u"
    case .uint64: "t"
    case .string: "s"
    case .other(let signature): signature
    }
  }
}
