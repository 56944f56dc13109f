// SPDX-License-Identifier: MIT

internal import Glibc

/// An error number of the system.
package struct Errno: Error, RawRepresentable, Equatable, CustomStringConvertible {
  /// The number, such as `ENOENT`.
  package let rawValue: Int32
  /// Made of its number.
  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// What the last call left in `errno`; to be read at once.
  static var last: Errno { Errno(rawValue: errno) }

  package var description: String {
    strerror(rawValue).map { String(cString: $0) } ?? "error \(rawValue)"
  }

  /// Repeats a call that answers -1 for failure for as long as a signal interrupts it.
  static func retrying<Result: FixedWidthInteger & SignedInteger>(
    _ call: () -> Result
  ) throws(Errno) -> Result {
    while true {
      let result = call()
      if result != -1 { return result }
      let failure = Errno.last
      if failure.rawValue != EINTR { throw failure }
    }
  }
}

/// A function of sd-event failed.
package struct LoopError: Error, Equatable, CustomStringConvertible {
  /// The function's name.
  package let operation: String
  /// What it said.
  package let errno: Errno

  /// Made of the negative error number that sd-event returns.
  init(_ operation: StaticString, _ result: Int32) {
    self.operation = "\(operation)"
    errno = Errno(rawValue: -result)
  }

  package var description: String { "\(operation): \(errno)" }
}
