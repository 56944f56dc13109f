// SPDX-License-Identifier: MIT

internal import CDBus

// A name that is not one of these types has not been checked, and no function that sends takes it:
// libdbus answers a bad name by aborting the process, so a bad one must not reach it.

/// A validated kind of D-Bus name.
package protocol ValidatedName: Hashable, Sendable, CustomStringConvertible,
  ExpressibleByStringLiteral, DBusEncodable
{
  /// The name as it stands on the wire.
  var rawValue: String { get }
  /// Takes `rawValue` when it is valid; nil otherwise.
  ///
  /// With a label, since `Name("…")` would be the literal, which traps.
  init?(validating rawValue: String)
  /// Takes a name that is known to be valid, from a source that checks it (libdbus, an escaper).
  init(unchecked rawValue: String)
}

extension ValidatedName {
  /// The name itself.
  package var description: String { rawValue }
  /// A literal in the program's own text; a bad one is a programmer's error and traps.
  package init(stringLiteral value: String) {
    guard let name = Self(validating: value) else { preconditionFailure("bad D-Bus name \(value)") }
    self = name
  }
  /// Names travel as strings; an object path has a type of its own.
  package static var signature: String { "s" }
  /// Appends the name.
  package func write(to writer: inout MessageWriter) { writer.append(string: rawValue) }
}

/// A bus name: well-known (`org.example.Thing`) or unique (`:1.42`).
package struct BusName: ValidatedName {
  package let rawValue: String
  package init(unchecked rawValue: String) { self.rawValue = rawValue }
  package init?(validating rawValue: String) {
    guard dbus_validate_bus_name(rawValue, nil) != 0, !rawValue.hasNUL else { return nil }
    self.rawValue = rawValue
  }
  /// Whether the bus gave this name to one connection; it is then never given to another.
  package var isUnique: Bool { rawValue.utf8.first == UInt8(ascii: ":") }
  /// The bus itself.
  package static let bus: BusName = "org.freedesktop.DBus"
}

/// An object path, such as `/org/example/Thing`.
package struct ObjectPath: ValidatedName, DBusDecodable {
  package let rawValue: String
  package init(unchecked rawValue: String) { self.rawValue = rawValue }
  package init?(validating rawValue: String) {
    guard dbus_validate_path(rawValue, nil) != 0, !rawValue.hasNUL else { return nil }
    self.rawValue = rawValue
  }
  package static var signature: String { "o" }
  package init(from reader: inout MessageReader) { rawValue = reader.readString() }
}

/// An interface name, such as `org.example.Thing`.
package struct InterfaceName: ValidatedName {
  package let rawValue: String
  package init(unchecked rawValue: String) { self.rawValue = rawValue }
  package init?(validating rawValue: String) {
    guard dbus_validate_interface(rawValue, nil) != 0, !rawValue.hasNUL else { return nil }
    self.rawValue = rawValue
  }
  package static let properties: InterfaceName = "org.freedesktop.DBus.Properties"
  package static let objectManager: InterfaceName = "org.freedesktop.DBus.ObjectManager"
  package static let introspectable: InterfaceName = "org.freedesktop.DBus.Introspectable"
  package static let peer: InterfaceName = "org.freedesktop.DBus.Peer"
  package static let bus: InterfaceName = "org.freedesktop.DBus"
}

/// The name of a method, signal or property.
package struct MemberName: ValidatedName {
  package let rawValue: String
  package init(unchecked rawValue: String) { self.rawValue = rawValue }
  package init?(validating rawValue: String) {
    guard dbus_validate_member(rawValue, nil) != 0, !rawValue.hasNUL else { return nil }
    self.rawValue = rawValue
  }
}

extension String {
  /// A C function would see only what stands before it.
  fileprivate var hasNUL: Bool { utf8.contains(0) }
}

extension ObjectPath {
  /// The path of the object that stands for `label` below `prefix`, as sd_bus_path_encode(3) makes it.
  ///
  /// ASCII letters and digits stay; a leading digit and every other byte become `_` and two
  /// lower-case hexadecimal digits. An empty label becomes `_`.
  package init(encoding label: String, below prefix: ObjectPath) {
    guard !label.isEmpty else {
      self.init(unchecked: prefix.rawValue + "/_")
      return
    }
    var prefix = prefix.rawValue
    var label = label
    let longest = prefix.utf8.count + 1 + 3 * label.utf8.count
    let path = String(unsafeUninitializedCapacity: longest) { path in
      var count = 0
      func append(_ byte: UInt8) {
        path.initializeElement(at: count, to: byte)
        count += 1
      }
      prefix.withUTF8 { for byte in $0 { append(byte) } }
      append(UInt8(ascii: "/"))
      var isFirst = true
      label.withUTF8 { label in
        for byte in label {
          if byte.isASCIILetter || (byte.isASCIIDigit && !isFirst) {
            append(byte)
          } else {
            append(UInt8(ascii: "_"))
            append((byte >> 4).lowerCaseHexDigit)
            append((byte & 15).lowerCaseHexDigit)
          }
          isFirst = false
        }
      }
      return count
    }
    self.init(unchecked: path)
  }

  /// The label that ``init(encoding:below:)`` made this path from; nil when it made no such path.
  package func decodedLabel(below prefix: ObjectPath) -> String? {
    let length = prefix.rawValue.utf8.count
    guard rawValue.utf8.count > length + 1, rawValue.hasPrefix(prefix.rawValue) else { return nil }
    var path = rawValue
    return path.withUTF8 { Self.decode(label: $0.dropFirst(length)) }
  }

  private static func decode(label bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String? {
    var rest = bytes
    guard rest.popFirst() == UInt8(ascii: "/") else { return nil }
    if rest.count == 1, rest.first == UInt8(ascii: "_") { return "" }
    var label: [UInt8] = []
    label.reserveCapacity(rest.count)
    var isFirst = true
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "_") {
        guard let high = rest.popFirst()?.lowerCaseHexValue,
          let low = rest.popFirst()?.lowerCaseHexValue
        else { return nil }
        let decoded = high << 4 | low
        // One label, one path: what need not be escaped must not be.
        guard !(decoded.isASCIILetter || (decoded.isASCIIDigit && !isFirst)) else { return nil }
        label.append(decoded)
      } else {
        guard byte.isASCIILetter || (byte.isASCIIDigit && !isFirst) else { return nil }
        label.append(byte)
      }
      isFirst = false
    }
    return String(validating: label, as: UTF8.self)
  }
}

extension UInt8 {
  fileprivate var isASCIILetter: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
  }
  fileprivate var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
  fileprivate var lowerCaseHexDigit: UInt8 {
    self < 10 ? UInt8(ascii: "0") + self : UInt8(ascii: "a") + self - 10
  }
  fileprivate var lowerCaseHexValue: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
