// SPDX-License-Identifier: MIT

import BusyIndicatorClient
import Testing

@testable import busyctl

@Suite struct TemplateTests {
  static func control(_ name: String, title: String = "") -> ControlState {
    var control = ControlState()
    control.name = name
    control.title = title
    control.isBusy = true
    control.isVisible = true
    return control
  }

  static func paused(_ name: String, seconds: UInt32, of duration: UInt32) -> ControlState {
    var control = control(name)
    control.isVisible = false
    var countdown = ControlState.Countdown()
    countdown.id = 7
    countdown.isPaused = true
    countdown.duration = Microseconds(seconds: duration)
    countdown.remainingWhenPaused = Microseconds(seconds: seconds)
    control.countdown = countdown
    return control
  }

  @Test(arguments: [
    ("plain", "plain"), ("{{name}}", "tea"), ("{{ remaining }}/{{percent}}", "1:30/25%"),
    ("{{state}}", "paused"), ("{{elapsed}}", "0:30"), ("{{remaining_usec}}", "90000000"),
    ("{{duration(duration_usec)}}", "2:00"), ("{{duration(remaining)}}", "1:30"),
    ("{{default(title, name)}}", "tea"), ("{{default(title,\"a \\\"b\\\"\")}}", "a \"b\""),
    ("{{trunc(\"abcdef\", 4)}}", "abc…"), ("{{json(name)}}", "\"tea\""),
    ("{{\"{{\"}}{{name}}", "{{tea"), ("{{markup(\"<&>'\")}}", "&lt;&amp;&gt;&#39;"),
    ("{{ends_at}}|{{progress}}|{{more}}", "||"), ("a}}b", "a}}b"),
    ("{{markup(trunc(default(title, name), 2))}}", "t…"),
  ])
  func renders(_ source: String, _ expected: String) throws {
    #expect(try Template(source).render(Self.paused("tea", seconds: 90, of: 120)) == expected)
  }

  @Test(arguments: [
    "{{", "{{}}", "{{name", "{{nam}}", "{{foo(name)}}", "{{json()}}", "{{json(name, name)}}",
    "{{trunc(name, name)}}", "{{trunc(name)}}", "{{name)}}", "{{json(name}}", "{{\"abc}}",
    "{{name name}}",
  ])
  func isRefused(_ source: String) {
    #expect(throws: Template.Fault.self) { try Template(source) }
  }

  @Test func everyFieldAndFunctionIsDocumentedByItsName() {
    #expect(Template.Field.allCases.count == 18)
    #expect(
      Template.Function.allCases.map(\.rawValue) == [
        "json", "markup", "trunc", "default", "duration",
      ])
  }

  @Test func titlesCannotBreakALine() throws {
    let control = Self.control("n", title: "a\nb\u{1B}[0m<&\">'\\")
    #expect(try Template("{{title}}").render(control) == "a b\u{FFFD}[0m<&\">'\\")
    #expect(
      try Template("{{markup(title)}}").render(control)
        == "a b\u{FFFD}[0m&lt;&amp;&quot;&gt;&#39;\\")
    #expect(try Template("{{json(title)}}").render(control) == #""a b�[0m<&\">'\\""#)
  }

  @Test func aBarShowsTheNewestAndCountsTheRest() throws {
    let controls = [
      Self.control("a", title: "A<"), Self.paused("b", seconds: 5, of: 10), Self.control("c"),
    ]
    let context = BarContext(controls)
    #expect(try Template("{{label}} {{more}} {{active}}").render(context) == "c +2 3")
    #expect(context.tooltip == "A<\nb  0:05 (paused)\nc")
    #expect(
      try Template("{{markup(tooltip)}}").render(context) == "A&lt;&#10;b  0:05 (paused)&#10;c")
    #expect(
      BarLine.waybar(controls, idle: "") == #"{"text":"c +2","alt":"busy","class":"busy","#
        + #""percentage":0,"tooltip":"A&lt;\nb  0:05 (paused)\nc"}"#)
    #expect(
      BarLine.waybar([], idle: "a&b") == #"{"text":"a&amp;b","alt":"idle","class":"idle","#
        + #""percentage":0,"tooltip":""}"#)
  }

  @Test(arguments: [40, 200, 20, 14, 5, 1])
  func rowsFitTheTerminal(_ columns: Int) {
    let titles = [
      "x", "日本語のタイトルはとても長いです、本当に長いです", "👨‍👩‍👧👍🏽 e\u{301}",
      String(repeating: "x", count: 512),
    ]
    for title in titles {
      var control = Self.paused("n", seconds: 86_400_000, of: 86_400_001)
      control.title = title
      let layout = Layout(
        TerminalSize(columns: columns, rows: 24), [control], symbols: .unicode, hasColor: false)
      let row = layout.row(control, spinner: "⠋")
      #expect(row.columns < max(columns, 2))
      // What is written between two moves of the cursor fits between them.
      var place = 0
      for part in row.text.split(separator: "\u{1B}[", omittingEmptySubsequences: false) {
        guard let end = part.firstIndex(of: "G"), let column = Int(part[..<end]) else {
          place = TextWidth.columns(String(part))
          continue
        }
        #expect(place == column - 1)
        place = column - 1 + TextWidth.columns(String(part[part.index(after: end)...]))
      }
      #expect(place == row.columns)
    }
  }
}
