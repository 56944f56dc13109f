// SPDX-License-Identifier: MIT

import BusyIndicatorClient
import Testing

@testable import busyctl

@Suite struct DurationTests {
  @Test(
    arguments: [
      ("5", 5_000_000), ("5s", 5_000_000), ("1m30s", 90_000_000), ("2h", 7_200_000_000),
      ("250ms", 250_000), ("1:30", 90_000_000), ("1:02:03", 3_723_000_000), ("0", 0),
      ("1.5s", 1_500_000), ("1h1ms", 3_600_001_000),
    ] as [(String, UInt64)])
  func isRead(_ text: String, _ expected: UInt64) throws {
    #expect(try Values.duration(text, what: "x").rawValue == expected)
  }

  @Test(arguments: [
    "", "-5", "+5", "5q", "5 s", "s", "1:2", "1:60", "1:02:3", "::", "1:2:3:4", "1s1m", "1s1s",
    "99999999999999999999", "1281023895h", "0x5", "5e3", "٥", "nan", "1:30s", "ms", "1..5",
  ])
  func isRefused(_ text: String) {
    #expect(throws: Failure.self) { try Values.duration(text, what: "x") }
  }

  @Test func wholeSecondsHaveBounds() throws {
    #expect(try Values.wholeSeconds("2147483647", what: "x") == Int32.max)
    for text in ["2147483648", "250ms", "1.5"] {
      #expect(throws: Failure.self) { try Values.wholeSeconds(text, what: "x") }
    }
  }

  @Test(
    arguments: [
      ("0.4", 0.4), ("40%", 0.4), ("0", 0), ("1", 1), ("100%", 1), ("12.5%", 0.125), ("none", nil),
    ] as [(String, Double?)])
  func progress(_ text: String, _ expected: Double?) throws {
    #expect(try Values.progress(text) == expected)
  }

  @Test(arguments: ["", "1.1", "101%", "-1", "nan", "inf", "x", "%", "1e-1", "0x1", "."])
  func noProgress(_ text: String) {
    #expect(throws: Failure.self) { try Values.progress(text) }
  }

  @Test(arguments: [("0", 0), ("4294967295", UInt32.max), ("007", 7)] as [(String, UInt32)])
  func number(_ text: String, _ expected: UInt32) throws {
    #expect(try Values.number(text, what: "x") == expected)
  }

  @Test(arguments: ["", "-1", "+1", "4294967296", "1 ", "0x1"])
  func noNumber(_ text: String) {
    #expect(throws: Failure.self) { try Values.number(text, what: "x") }
  }

  @Test func timeOfDayIsAheadByLessThanADayAndADaylightSavingHour() throws {
    let now = Microseconds(rawValue: 1_796_000_000_123_456)
    for text in ["17:00", "0:00", "23:59", "00:00:30", "7:05"] {
      let wait = try Values.timeUntil(text, now: now)
      #expect(wait > .zero && wait <= Microseconds(seconds: 25 * 3600))
      // It ends on the whole minute or second that was named.
      #expect((now + wait).rawValue % 1_000_000 == 0)
    }
    for text in ["", "17", "24:00", "1:60", "1:2:60", "1:2:3:4", "-1:00", "aa:00", "017:00"] {
      #expect(throws: Failure.self) { try Values.timeUntil(text, now: now) }
    }
  }

  @Test func clocks() {
    #expect(TimeText.remaining(.zero) == "0:00")
    #expect(TimeText.remaining(Microseconds(rawValue: 1)) == "0:01")
    #expect(TimeText.remaining(Microseconds(seconds: 59)) == "0:59")
    #expect(TimeText.remaining(Microseconds(seconds: 3723)) == "1:02:03")
    #expect(TimeText.remaining(Microseconds(rawValue: .max)) == "5124095576:01:50")
    #expect(TimeText.rfc3339(Microseconds(rawValue: 1_234_567)) == "1970-01-01T00:00:01.234Z")
    #expect(TimeText.rfc3339(Microseconds(rawValue: .max)) == nil)
  }
}
