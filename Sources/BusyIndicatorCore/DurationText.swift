// SPDX-License-Identifier: MIT

extension Microseconds {
  /// Reads a duration as people write it on a command line.
  ///
  /// A bare number is seconds (`5`, `2.5`). With units, largest first: `2h`, `1m30s`, `250ms`,
  /// `1.5s`, `500us`. With colons, minutes and seconds or hours too: `1:30`, `1:02:03`. A fraction may
  /// stand in the last part only, of seconds at least, and is exact to the microsecond.
  ///
  /// `text` is without spaces or a sign. The result is nil for any other, and for more than
  /// ``longest``.
  public init?(durationText text: String) {
    let bytes = Array(text.utf8)
    let total = bytes.contains(UInt8(ascii: ":")) ? Self.clock(bytes) : Self.units(bytes)
    guard let total, total <= Self.longest.rawValue else { return nil }
    self.init(rawValue: total)
  }

  private static let second: UInt64 = 1_000_000

  /// `M:SS` or `H:MM:SS`, the first part of any size.
  private static func clock(_ text: [UInt8]) -> UInt64? {
    let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count == 2 || parts.count == 3 else { return nil }
    var seconds: UInt64 = 0
    for (index, part) in parts.enumerated() {
      guard let value = whole(part), index == 0 || (part.count == 2 && value < 60),
        let sum = product(seconds, 60).flatMap({ sum($0, value) })
      else { return nil }
      seconds = sum
    }
    return product(seconds, second)
  }

  private static func units(_ text: [UInt8]) -> UInt64? {
    var rest = text[...]
    var total: UInt64 = 0
    var smallest = UInt64.max
    guard !rest.isEmpty else { return nil }
    while !rest.isEmpty {
      let digits = rest.prefix { isDigit($0) }
      rest = rest.dropFirst(digits.count)
      var fraction: ArraySlice<UInt8> = []
      if rest.first == UInt8(ascii: ".") {
        fraction = rest.dropFirst().prefix { isDigit($0) }
        guard !fraction.isEmpty else { return nil }
        rest = rest.dropFirst(fraction.count + 1)
      }
      let letters = rest.prefix { !isDigit($0) && $0 != UInt8(ascii: ".") }
      rest = rest.dropFirst(letters.count)
      // A number without a unit is all there is.
      guard let value = whole(digits), let unit = unit(letters), unit < smallest,
        !letters.isEmpty || rest.isEmpty && smallest == .max,
        fraction.isEmpty || rest.isEmpty && unit == second,
        let part = product(value, unit).flatMap({ sum($0, micros(fraction)) }),
        let added = sum(total, part)
      else { return nil }
      total = added
      smallest = unit
    }
    return total
  }

  private static func unit(_ letters: ArraySlice<UInt8>) -> UInt64? {
    switch String(decoding: letters, as: UTF8.self) {
    case "h": 3600 * second
    case "m", "min": 60 * second
    case "s", "": second
    case "ms": 1000
    case "us": 1
    default: nil
    }
  }

  /// The digits behind the point of a number of seconds, in microseconds.
  private static func micros(_ fraction: ArraySlice<UInt8>) -> UInt64 {
    var result: UInt64 = 0
    for index in 0..<6 {
      let digit = index < fraction.count ? fraction[fraction.startIndex + index] : UInt8(ascii: "0")
      result = result * 10 + UInt64(digit - UInt8(ascii: "0"))
    }
    return result
  }

  private static func whole(_ digits: ArraySlice<UInt8>) -> UInt64? {
    guard !digits.isEmpty else { return nil }
    var result: UInt64 = 0
    for digit in digits {
      guard isDigit(digit),
        let next = product(result, 10).flatMap({ sum($0, UInt64(digit - UInt8(ascii: "0"))) })
      else { return nil }
      result = next
    }
    return result
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func product(_ left: UInt64, _ right: UInt64) -> UInt64? {
    let (value, overflow) = left.multipliedReportingOverflow(by: right)
    return overflow ? nil : value
  }

  private static func sum(_ left: UInt64, _ right: UInt64) -> UInt64? {
    let (value, overflow) = left.addingReportingOverflow(right)
    return overflow ? nil : value
  }
}
