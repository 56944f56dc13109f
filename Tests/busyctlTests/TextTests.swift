// SPDX-License-Identifier: MIT

import Testing

@testable import busyctl

@Suite struct TextWidthTests {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("äöü", 3), ("a\u{308}", 1), ("日本語", 6), ("ｱ", 1), ("Ａ", 2), ("한국", 4),
    ("\u{1112}\u{1161}\u{11AB}", 2), ("👍", 2), ("👍🏽", 2), ("👨‍👩‍👧", 2), ("❤️", 2), ("❤", 1), ("🇩🇪", 2),
    ("e\u{301}\u{327}", 1), ("नमस्ते", 4), ("\u{200B}", 0), ("—…█⠋", 4),
  ])
  func columns(_ text: String, _ expected: Int) {
    #expect(TextWidth.columns(text) == expected)
  }

  @Test func cuttingNeverSplitsACharacter() {
    #expect(TextWidth.truncate("abc", to: 3) == "abc")
    #expect(TextWidth.truncate("abcd", to: 3) == "ab…")
    #expect(TextWidth.truncate("日本語", to: 5) == "日本…")
    #expect(TextWidth.truncate("日本語", to: 4) == "日…")
    #expect(TextWidth.truncate("👨‍👩‍👧x", to: 2) == "…")
    #expect(TextWidth.truncate("abc", to: 0) == "")
    for limit in 0...12 {
      #expect(TextWidth.columns(TextWidth.truncate("a日本b👍🏽ce\u{301}fgh", to: limit)) <= limit)
    }
    #expect(TextWidth.pad("日", to: 4) == "日  ")
  }

  @Test func controlCharactersAreReplaced() {
    #expect("a\nb\tc\rd".harmless == "a b c d")
    #expect("\u{1B}[31m\u{7}\u{7F}\u{9B}".harmless == "\u{FFFD}[31m\u{FFFD}\u{FFFD}\u{FFFD}")
    #expect("a\u{202E}b\u{2028}c".harmless == "a\u{FFFD}b c")
    #expect("👨‍👩‍👧 日本 ok".harmless == "👨‍👩‍👧 日本 ok")
    #expect("\r\n".harmless == "  ")
  }

  @Test func cutsToBytes() {
    #expect("äöü".cut(toBytes: 5) == "äö")
    #expect("abc".cut(toBytes: 3) == "abc")
    #expect(RunCommand.defaultName("/usr/bin/make") == "make")
    #expect(RunCommand.defaultName("/") == "/")
  }

  @Test func terminalsThatShowProgress() {
    func isKnown(_ environment: [String: String]) -> Bool {
      TerminalProgress.isKnown { environment[$0] }
    }
    #expect(!isKnown(["TERM": "xterm-256color"]))
    #expect(isKnown(["WT_SESSION": "1"]))
    #expect(isKnown(["TERM_PROGRAM": "ghostty"]))
    #expect(isKnown(["VTE_VERSION": "8001"]))
    #expect(!isKnown(["VTE_VERSION": "7006"]))
    #expect(!isKnown(["VTE_VERSION": "8001", "TMUX": "/tmp/x"]))
  }

  @Test func tablesAreAligned() {
    var table = TextTable("NAME", "B")
    table.rows = [["日本", "x"], ["a", ""]]
    #expect(table.text(color: false) == "NAME  B\n日本  x\na")
  }

  @Test func jsonEscapes() {
    #expect(JSON.string("a\"\\\n\u{1B}/é").line == #""a\"\\\n\u001b/é""#)
    #expect(JSON.number(0.4).line == "0.4")
    #expect(JSON.unsigned(.max).line == "18446744073709551615")
    #expect(
      JSON.object([("a", .null), ("b", .array([.boolean(true)]))]).line == #"{"a":null,"b":[true]}"#
    )
    #expect(JSON.string("").line == "\"\"")
  }
}
