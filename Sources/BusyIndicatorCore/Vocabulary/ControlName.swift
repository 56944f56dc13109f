// SPDX-License-Identifier: MIT

/// The name of a control: 1…255 bytes of UTF-8 without control characters (Unicode Cc).
///
/// Two names are the same when their bytes are. Swift's own equality takes a letter with its accent
/// and the two written apart for one, but they are different objects on the bus.
public struct ControlName: Hashable, Sendable, CustomStringConvertible {
  /// The name as its caller wrote it: the property `Name`.
  public let rawValue: String

  /// Checks a name.
  ///
  /// - Throws: ``Refusal/invalidName(_:)``.
  public init(_ raw: String) throws(Refusal) {
    guard Self.isValid(raw) else { throw .invalidName(raw) }
    rawValue = raw
  }

  /// The name itself.
  public var description: String { rawValue }

  /// Whether the bytes are the same.
  public static func == (left: ControlName, right: ControlName) -> Bool {
    left.rawValue.hasSameBytes(as: right.rawValue)
  }

  /// Feeds the bytes of the name.
  public func hash(into hasher: inout Hasher) {
    rawValue.withUTF8Bytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  private static func isValid(_ raw: String) -> Bool {
    let count = raw.utf8.count
    guard count >= 1, count <= Limits.nameBytes else { return false }
    return !raw.hasControlCharacter
  }
}

extension String {
  /// Whether a character of the category Cc is in it: U+0000…1F, U+007F…9F.
  var hasControlCharacter: Bool {
    withUTF8Bytes { bytes in
      var previous: UInt8 = 0
      for byte in bytes {
        if byte < 0x20 || byte == 0x7F { return true }
        // In UTF-8 U+0080…9F are C2 80…9F, and C2 is never within another character.
        if previous == 0xC2, byte < 0xA0 { return true }
        previous = byte
      }
      return false
    }
  }

  /// Whether both are the same bytes: what a peer can tell apart is different.
  func hasSameBytes(as other: String) -> Bool {
    // A string that nobody has touched is the same words in memory.
    if hasSameRepresentation(as: other) { return true }
    guard utf8.count == other.utf8.count else { return false }
    return withUTF8Bytes { mine in
      other.withUTF8Bytes { its in
        for index in mine.indices where mine[index] != its[index] { return false }
        return true
      }
    }
  }

  private func hasSameRepresentation(as other: String) -> Bool {
    guard MemoryLayout<String>.size == MemoryLayout<(UInt64, UInt64)>.size else { return false }
    return unsafeBitCast(self, to: (UInt64, UInt64).self)
      == unsafeBitCast(other, to: (UInt64, UInt64).self)
  }

  /// Calls `body` with the bytes, which for a native string are not copied.
  func withUTF8Bytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
    return Array(utf8).withUnsafeBufferPointer(body)
  }
}
