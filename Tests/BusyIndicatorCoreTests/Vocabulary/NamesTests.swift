// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

@Suite struct NamesTests {
  @Test func theBytesOfANameAreCounted() throws {
    #expect(throws: Refusal.invalidName("")) { try ControlName("") }
    _ = try ControlName("x")
    _ = try ControlName(String(repeating: "x", count: 255))
    #expect(throws: Refusal.self) { try ControlName(String(repeating: "x", count: 256)) }
    // Two bytes each, so 254 and 256.
    _ = try ControlName(String(repeating: "é", count: 127))
    #expect(throws: Refusal.self) { try ControlName(String(repeating: "é", count: 128)) }
  }

  @Test func everyCharacterOfTheCategoryCcIsRefusedAndNoOther() {
    for value in UInt32(0)...0x300 {
      let scalar = Unicode.Scalar(value)!
      let isControl = scalar.properties.generalCategory == .control
      for text in ["\(scalar)", "a\(scalar)", "\(scalar)b", "é\(scalar)é"] {
        let isRefused = (try? ControlName(text)) == nil
        #expect(isRefused == isControl, "U+\(String(value, radix: 16))")
      }
    }
  }

  @Test(arguments: [
    " ", "/", "a b", "_41", "日本語", "\u{1F600}", "e\u{301}", "\u{200B}", "\u{FEFF}", "\u{A0}",
    "\u{FFFF}", "\u{10FFFF}", "À", "\u{2C2}\u{82C2}",
  ])
  func everythingElseIsAName(text: String) throws {
    #expect(try ControlName(text).rawValue.utf8.elementsEqual(text.utf8))
  }

  @Test func namesAreTheSameWhenTheirBytesAre() throws {
    let composed = try ControlName("caf\u{E9}")
    let decomposed = try ControlName("cafe\u{301}")
    // To Swift these are equal strings, to the bus they are two objects.
    #expect(composed.rawValue == decomposed.rawValue)
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed, try ControlName("caf\u{E9}")]).count == 2)
  }

  @Test func controlsWithLikeNamesAreTwo() throws {
    var bench = Bench()
    try bench.show("caf\u{E9}")
    #expect(bench.view("cafe\u{301}") == nil)
    try bench.show("cafe\u{301}")
    #expect(bench.machine.count == 2)
  }

  @Test func textsAreComparedByTheirBytes() throws {
    var bench = Bench()
    try bench.setTitle("c", "caf\u{E9}")
    _ = bench.machine.drain()
    try bench.setTitle("c", "cafe\u{301}")
    #expect(bench.takeFields() == [.title, .displayedTitle])
    #expect(bench.c.title.utf8.count == 6)
  }

  @Test(arguments: [
    ("", "", true), ("a", "", false), ("abc", "abc", true), ("abc", "abd", false),
    ("\u{E9}", "e\u{301}", false),
    // Both are three bytes.
    ("\u{212B}", "A\u{30A}", false),
    (String(repeating: "x", count: 40), String(repeating: "x", count: 40), true),
    (String(repeating: "x", count: 40), String(repeating: "x", count: 39) + "y", false),
  ])
  func bytesAreCompared(left: String, right: String, isSame: Bool) {
    #expect(left.hasSameBytes(as: right) == isSame)
    #expect(right.hasSameBytes(as: left) == isSame)
  }
}
