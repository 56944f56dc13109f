// SPDX-License-Identifier: MIT

// Messages are laid out here and handed to libdbus whole. Its own iterators cost twice as much for a
// PropertiesChanged, since each argument that they append rewrites the signature in the header.
// libdbus checks what it is handed as it checks what comes from a peer.

/// Lays out a message, as the section “Message Protocol” of the D-Bus Specification says.
///
/// A value begins at a multiple of its own size, counted from the first byte of the message.
package struct MessageWriter {
  private(set) var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(512) }

  /// How many bytes have been written.
  var count: Int { bytes.count }

  /// Writes zeros up to the next multiple of `boundary`, a power of two.
  mutating func align(to boundary: Int) {
    let missing = -count & (boundary - 1)
    for _ in 0..<missing { bytes.append(0) }
  }

  /// Writes a number in the machine's own byte order, which the message's first byte tells.
  mutating func append<Value: BitwiseCopyable>(fixed value: Value) {
    align(to: MemoryLayout<Value>.size)
    withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
  }

  /// Writes a string or an object path; it ends at its first NUL, since D-Bus has none in texts.
  mutating func append(string value: String) {
    let place = reserveLength()
    append(text: value)
    setLength(at: place, from: place + 4)
    bytes.append(0)
  }

  /// Writes a signature, or another text of at most 255 bytes whose length takes one byte.
  mutating func append(signature value: String) {
    bytes.append(UInt8(value.utf8.count))
    append(text: value)
    bytes.append(0)
  }

  private mutating func append(text: String) {
    var text = text
    text.withUTF8 { bytes.append(contentsOf: $0.prefix { $0 != 0 }) }
  }

  /// Writes bytes as they are.
  mutating func append(block: [UInt8]) { bytes.append(contentsOf: block) }

  /// Writes an array whose elements are of the one type `element`.
  package mutating func array(of element: String, _ body: (inout MessageWriter) -> Void) {
    let place = reserveLength()
    // That padding is there even when no element is, and does not count.
    align(to: alignment(of: element))
    let start = count
    body(&self)
    setLength(at: place, from: start)
  }

  /// Writes one entry of the dictionary whose array is being written.
  package mutating func entry(_ body: (inout MessageWriter) -> Void) { structure(body) }

  /// Writes a structure.
  package mutating func structure(_ body: (inout MessageWriter) -> Void) {
    align(to: 8)
    body(&self)
  }

  /// Writes a variant that holds one value of the one type `content`.
  package mutating func variant(of content: String, _ body: (inout MessageWriter) -> Void) {
    append(signature: content)
    body(&self)
  }

  /// Writes a variant that holds `value`.
  package mutating func variant<Value: DBusEncodable>(_ value: Value) {
    variant(of: Value.signature) { value.write(to: &$0) }
  }

  /// Leaves room for a length that is known later.
  mutating func reserveLength() -> Int {
    append(fixed: UInt32(0))
    return count - 4
  }

  /// Writes how many bytes there are from `start` on.
  mutating func setLength(at place: Int, from start: Int) {
    // More than 4 GiB is no message; libdbus refuses from 128 MiB on.
    let length = UInt32(truncatingIfNeeded: count - start)
    bytes.withUnsafeMutableBytes { $0.storeBytes(of: length, toByteOffset: place, as: UInt32.self) }
  }

  /// The multiple at which values of a type begin.
  private func alignment(of type: String) -> Int {
    switch type.utf8.first {
    case UInt8(ascii: "y"), UInt8(ascii: "g"), UInt8(ascii: "v"): 1
    case UInt8(ascii: "n"), UInt8(ascii: "q"): 2
    case UInt8(ascii: "x"), UInt8(ascii: "t"), UInt8(ascii: "d"), UInt8(ascii: "("),
      UInt8(ascii: "{"):
      8
    default: 4
    }
  }
}
