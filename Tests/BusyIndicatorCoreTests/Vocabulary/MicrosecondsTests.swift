// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

@Suite struct MicrosecondsTests {
  static let extremes: [UInt64] = [0, 1, 999_999, 1_000_000, 1 << 62, 1 << 63, .max - 1, .max]

  @Test(arguments: extremes, extremes)
  func sumsAndDifferencesNeverTrap(left: UInt64, right: UInt64) {
    let (sum, overflow) = left.addingReportingOverflow(right)
    let (one, other) = (Microseconds(rawValue: left), Microseconds(rawValue: right))
    #expect((one + other).rawValue == (overflow ? .max : sum))
    #expect((one - other).rawValue == (left > right ? left - right : 0))
    #expect((one < other) == (left < right))
  }

  @Test(
    arguments: [
      (0, 0), (1, 1), (999_999, 1), (1_000_000, 1), (1_000_001, 2), (2_500_000, 3),
      (4_294_967_294_000_001, 4_294_967_295), (4_294_967_295_000_000, 4_294_967_295),
      (4_294_967_295_000_001, 4_294_967_295), (1 << 62, 4_294_967_295), (.max, 4_294_967_295),
    ] as [(UInt64, UInt32)])
  func secondsAreRoundedUpAndClamped(time: UInt64, seconds: UInt32) {
    #expect(Microseconds(rawValue: time).wholeSecondsRoundedUp == seconds)
  }

  @Test(arguments: [0, 1, 4_294_967_295] as [UInt32])
  func secondsOfEverySizeFit(seconds: UInt32) {
    #expect(Microseconds(seconds: seconds).rawValue == UInt64(seconds) * 1_000_000)
    #expect(Microseconds(seconds: seconds).wholeSecondsRoundedUp == seconds)
    #expect(Microseconds(seconds: seconds) < .longest)
  }

  @Test(
    arguments: [(0, 0), (7, 7), (-7, 7), (.max, 2_147_483_647), (.min, 2_147_483_648)]
      as [(Int32, UInt32)])
  func aMagnitudeHasNoSign(seconds: Int32, magnitude: UInt32) {
    #expect(Microseconds(magnitudeOf: seconds) == Microseconds(seconds: magnitude))
  }

  @Test(
    arguments: [
      (10, 0, nil), (0, 3, nil), (2, 3, nil), (3, 3, nil), (4, 3, 3), (6, 3, 3), (7, 3, 6),
      (.max, 1, .max - 1), (.max, .max, nil), (.max, 1 << 63, 1 << 63),
    ] as [(UInt64, UInt64, UInt64?)])
  func theGreatestLesserMultipleIsFound(time: UInt64, step: UInt64, multiple: UInt64?) {
    let found = Microseconds(rawValue: time)
      .greatestLesserMultiple(of: Microseconds(rawValue: step))
    #expect(found?.rawValue == multiple)
  }

  @Test func theLongestIsTwoToThe62nd() {
    #expect(Microseconds.longest.rawValue == 4_611_686_018_427_387_904)
    #expect(Microseconds.longest.description == "4611686018427387904 µs")
  }
}
