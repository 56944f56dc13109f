// SPDX-License-Identifier: MIT

import BusyIndicatorCore
import Testing

@testable import BusyIndicatorDaemon

@Suite struct TrayMenuTests {
  private let clock = Microseconds(rawValue: 1_000_000_000)

  /// What some controls have to show: switches, and countdowns of a minute.
  private func activities(_ shown: [String], counting: [String] = []) throws -> [Activity] {
    var machine = IndicatorStateMachine(configuration: Configuration())
    let now = Now(boottime: clock, monotonic: clock, realtime: clock)
    for name in shown {
      try machine.show(ControlName(name), ShowOptions(), sender: ":1.1", now: now)
    }
    for name in counting {
      _ = try machine.startCountdown(
        ControlName(name), duration: Microseconds(seconds: 60), CountdownOptions(), sender: ":1.1",
        now: now)
    }
    return machine.controls.compactMap { id in
      Activity(machine[id], remaining: machine.remaining(of: id, now: now))
    }
  }

  @Test func anEmptyMenuSaysSo() {
    var menu = TrayMenu()
    menu.update([])
    #expect(menu.root.children.map(\.label) == ["Nothing is busy"])
    #expect(menu.all.allSatisfy { $0.action == nil })
  }

  @Test func oneControlStandsInTheMenuItself() throws {
    var menu = TrayMenu()
    menu.update(try activities(["tea"], counting: ["tea"]))
    #expect(
      menu.root.children.map(\.label) == [
        "tea: 60 s left", "", "Hide", "Pause", "Cancel countdown",
      ])
    #expect(menu.root.children[1].isSeparator && !menu.root.children[0].isEnabled)
  }

  @Test func whatIsNotBusyCannotBeHidden() throws {
    var menu = TrayMenu()
    menu.update(try activities([], counting: ["tea"]))
    #expect(!menu.all.contains { $0.label == "Hide" })
  }

  @Test func severalHaveASubmenuEach() throws {
    var menu = TrayMenu()
    menu.update(try activities(["a", "b"]))
    #expect(menu.root.children.map(\.label) == ["a: busy", "b: busy"])
    #expect(menu.root.children.map { $0.children.map(\.label) } == [["Hide"], ["Hide"]])
  }

  @Test func numbersStayAndAreNotGivenTwice() throws {
    var menu = TrayMenu()
    menu.update(try activities(["a", "b"]))
    let before = menu.all.map(\.id)
    menu.update(try activities(["a", "b"]))
    #expect(menu.all.map(\.id) == before)
    menu.update(try activities(["c", "d"]))
    #expect(Set(menu.all.map(\.id)).intersection(before) == [0])
    #expect(Set(menu.all.map(\.id)).count == menu.all.count)
  }

  @Test func onlyALabelDiffers() throws {
    var old = TrayMenu()
    var activities = try activities([], counting: ["tea"])
    old.update(activities)
    var menu = old
    activities[0].countdown?.remaining = Microseconds(seconds: 59)
    menu.update(activities)
    #expect(menu.hasSameShape(as: old))
    #expect(menu.relabelled(since: old).map(\.label) == ["tea: 59 s left"])
    activities[0].countdown?.isPaused = true
    menu.update(activities)
    #expect(!menu.hasSameShape(as: old))
  }

  @Test func aLongListIsCut() throws {
    var menu = TrayMenu()
    menu.update(try activities((0..<50).map { "n\($0)" }))
    #expect(menu.root.children.count == TrayMenu.mostListed + 1)
    #expect(menu.root.children.last?.label == "… and 38 more")
  }
}
