// SPDX-License-Identifier: MIT

import BusyIndicatorCore
import Testing

@testable import BusyIndicatorDaemon

@Suite struct TextsTests {
  @Test(arguments: [
    (0, "0 ms"), (350_000, "350 ms"), (1_000_000, "1 s"), (59_999_999, "59 s"),
    (60_000_000, "1 min"), (125_000_000, "2 min 5 s"), (3_600_000_000, "1 h"),
    (12_000_000_000, "3 h 20 min"), (172_800_000_000, "2 d"), (UInt64.max, "213503982 d 8 h"),
  ]) func lengths(microseconds: UInt64, text: String) {
    #expect(Texts.length(Microseconds(rawValue: microseconds)) == text)
  }

  @Test(arguments: [
    (0, "0 s left"), (1, "1 s left"), (1_000_000, "1 s left"), (1_000_001, "2 s left"),
    (59_500_000, "60 s left"), (60_000_000, "60 s left"), (60_000_001, "2 min left"),
    (3_600_000_000, "1 h left"), (3_600_000_001, "1 h 1 min left"),
  ]) func whatIsLeft(microseconds: UInt64, text: String) {
    #expect(Texts.left(Microseconds(rawValue: microseconds)) == text)
  }

  @Test(arguments: [
    1, 999_999, 1_000_000, 1_000_001, 59_999_999, 60_000_000, 60_000_001, 3_600_000_000,
    7_199_999_999, 172_800_000_000, 172_800_000_001, 1 << 62, UInt64.max,
  ]) func aTextStaysUntilItIsSaidToChange(microseconds: UInt64) throws {
    let remaining = Microseconds(rawValue: microseconds)
    let change = try #require(Texts.nextChange(ofLeft: remaining))
    let before = Microseconds(rawValue: microseconds - (change - 1))
    let after = Microseconds(rawValue: microseconds - change)
    #expect(change > 0)
    #expect(Texts.left(before) == Texts.left(remaining))
    #expect(Texts.left(after) != Texts.left(remaining))
  }

  @Test func nothingLeftStaysSo() {
    #expect(Texts.nextChange(ofLeft: .zero) == nil)
  }

  @Test func markupAndKeysAreEscaped() {
    #expect("a < b & c > d".escapedForMarkup == "a &lt; b &amp; c &gt; d")
    #expect("a_b__c".escapedForMenu == "a__b____c")
    #expect("Grüße €".escapedForMarkup == "Grüße €")
  }

  @Test(arguments: [
    ("released", "Done after 5 s."), ("released: exit 2", "Ended after 5 s: exit 2"),
    ("owner-lost", "Ended unexpectedly after 5 s."),
    ("something new", "Ended after 5 s: something new"),
    ("expired", "Gave no more sign of life; ended after 5 s."),
  ]) func howWorkEnded(result: String, text: String) {
    #expect(Texts.ended(after: Microseconds(seconds: 5), result: result) == text)
  }
}
