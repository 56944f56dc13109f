// SPDX-License-Identifier: MIT

// Every sum and conversion that a peer's number reaches is made here, since plain arithmetic traps
// and a peer must not be able to end the daemon. Sums saturate and differences stop at zero: a
// deadline beyond the end of time is simply never due.

/// A length of time, or an instant on one of the system's clocks, in microseconds.
///
/// All arithmetic on it is total: nothing overflows, and nothing is negative.
public struct Microseconds: RawRepresentable, Comparable, Hashable, Sendable {
  /// The number of microseconds.
  public let rawValue: UInt64

  /// Takes a number of microseconds, as D-Bus's type `t` carries it.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// No time at all.
  public static let zero = Microseconds(rawValue: 0)

  /// The longest duration that is taken from a caller: 2^62 µs, some 146 000 years.
  public static let longest = Microseconds(rawValue: 1 << 62)

  /// How many microseconds a second has.
  public static var perSecond: UInt64 { 1_000_000 }

  /// A whole number of seconds; the greatest is far below ``longest``.
  public init(seconds: UInt32) { rawValue = UInt64(seconds) * Self.perSecond }

  /// The seconds that this makes, a begun one counted whole; 4294967295 when there are more.
  ///
  /// The argument `remaining` of the signal Tick.
  public var wholeSecondsRoundedUp: UInt32 {
    let whole = rawValue / Self.perSecond
    let begun: UInt64 = rawValue % Self.perSecond == 0 ? 0 : 1
    return UInt32(clamping: whole + begun)
  }

  /// Which of two comes first.
  public static func < (left: Microseconds, right: Microseconds) -> Bool {
    left.rawValue < right.rawValue
  }

  /// The sum, or the greatest number there is.
  public static func + (left: Microseconds, right: Microseconds) -> Microseconds {
    let (sum, overflow) = left.rawValue.addingReportingOverflow(right.rawValue)
    return Microseconds(rawValue: overflow ? .max : sum)
  }

  /// The difference, or zero when `right` is the greater.
  public static func - (left: Microseconds, right: Microseconds) -> Microseconds {
    Microseconds(rawValue: left.rawValue < right.rawValue ? 0 : left.rawValue - right.rawValue)
  }
}

extension Microseconds: CustomStringConvertible {
  /// The number with its unit.
  public var description: String { "\(rawValue) µs" }
}

extension Microseconds {
  /// A whole number of seconds without its sign, as ExtendCountdown takes it.
  init(magnitudeOf seconds: Int32) { self.init(seconds: seconds.magnitude) }

  /// The greatest multiple of `step` that is less than this, and more than nothing.
  ///
  /// - Returns: nil when there is none, or `step` is zero.
  func greatestLesserMultiple(of step: Microseconds) -> Microseconds? {
    guard step > .zero, self > step else { return nil }
    let beyond = (rawValue - 1) % step.rawValue
    return Microseconds(rawValue: rawValue - 1 - beyond)
  }
}
