// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

/// From when to when a control exists.
@Suite struct ObjectTests {
  @Test func aControlExistsFromItsFirstCallOn() throws {
    var bench = Bench()
    try bench.show("a")
    try bench.hold("b")
    try bench.count("c", .seconds(1))
    try bench.setTitle("d", "")
    try bench.setDetail("e", "")
    try bench.setEnabled("f", true)
    try bench.setProgress("g", -1)
    #expect(bench.machine.count == 7)
    let names = bench.machine.controls.map { bench.machine[$0].name.rawValue }
    #expect(names.sorted() == ["a", "b", "c", "d", "e", "f", "g"])
  }

  @Test func noOtherCallMakesOne() throws {
    var bench = Bench()
    bench.hide()
    bench.forget()
    _ = bench.releaseAll()
    try? bench.pause()
    try? bench.resume()
    try? bench.extend("c", 1)
    try? bench.cancel()
    bench.senderLeft()
    bench.processEnded(1)
    #expect(bench.machine.count == 0 && !bench.machine.hasChanges)
  }

  @Test func anIdleControlGoesAfterTheLinger() throws {
    var bench = Bench()
    try bench.count("c", .seconds(5)) { $0.interval = 0 }
    bench.run(for: .seconds(64.999999))
    #expect(bench.c.lastResult == "finished" && bench.c.lastCountdown == 1)
    bench.run(for: .seconds(0.000001))
    #expect(bench.view() == nil)
    #expect(bench.takeLog() == ["5 finished #1", "65 removed c"])
    #expect(bench.timeToNextDeadline == nil)
  }

  @Test(arguments: ["switch", "hold", "running", "paused"])
  func aControlInUseStays(use: String) throws {
    var bench = Bench()
    switch use {
    case "switch": try bench.show()
    case "hold": try bench.hold()
    case "running": try bench.count("c", .seconds(5_000))
    default: try bench.count("c", .seconds(5)) { $0.paused = true }
    }
    bench.wake(after: .seconds(1_000))
    #expect(bench.view() != nil)
  }

  @Test func aVisibleControlStays() throws {
    var bench = Bench()
    try bench.show { $0.holder.minimum = .seconds(100) }
    bench.hide()
    bench.run(for: .seconds(159))
    #expect(bench.view() != nil)
    bench.run(for: .seconds(1))
    #expect(bench.view() == nil)
  }

  @Test func setTitleAndDisablingKeepAnIdleControl() throws {
    var bench = Bench()
    try bench.setTitle("a", "Save")
    try bench.setEnabled("b", false)
    bench.run(for: .seconds(1_000))
    #expect(bench.machine.count == 2)
    #expect(bench.timeToNextDeadline == nil)
    try bench.setTitle("a", "")
    try bench.setEnabled("b", true)
    // Let go, they have their whole linger.
    bench.run(for: .seconds(59))
    #expect(bench.machine.count == 2)
    bench.run(for: .seconds(1))
    #expect(bench.machine.count == 0)
  }

  @Test func aTitleByOptionsKeepsNothing() throws {
    var bench = Bench()
    try bench.show { $0.attributes.title = "Save" }
    bench.hide()
    bench.run(for: .seconds(60))
    #expect(bench.machine.count == 0)
  }

  @Test func aTitleByOptionsDoesNotLetGoOfWhatSetTitleKeeps() throws {
    var bench = Bench()
    try bench.setTitle("c", "Save")
    try bench.show { $0.attributes.title = "Saving" }
    bench.hide()
    bench.run(for: .seconds(1_000))
    #expect(bench.c.title == "Saving")
  }

  @Test func settingSomethingDoesNotProlongTheLinger() throws {
    var bench = Bench()
    try bench.setDetail("c", "x")
    bench.run(for: .seconds(59))
    try bench.setDetail("c", "y")
    bench.run(for: .seconds(1))
    #expect(bench.view() == nil)
  }

  @Test func workDoesThoughItTookNoTime() throws {
    var bench = Bench()
    try bench.setDetail("c", "x")
    bench.run(for: .seconds(59))
    try bench.count("c", .zero)
    bench.run(for: .seconds(59))
    #expect(bench.c.lastResult == "finished")
    try bench.show()
    bench.hide()
    bench.run(for: .seconds(59))
    #expect(bench.view() != nil)
    bench.run(for: .seconds(1))
    #expect(bench.view() == nil)
  }

  @Test func withoutALingerItGoesWithTheNextTurn() throws {
    var bench = Bench { $0.linger = .zero }
    try bench.show()
    bench.observe()
    bench.hide()
    #expect(bench.timeToNextDeadline == .zero)
    bench.wake(after: .zero)
    #expect(bench.takeLog() == ["0 visible", "0 removed c"])
  }

  @Test func anEndlessLingerIsEndless() throws {
    var bench = Bench { $0.linger = Microseconds(rawValue: .max) }
    try bench.show()
    bench.hide()
    bench.wake(after: .longest)
    #expect(bench.view() != nil)
  }

  // MARK: - The limit

  @Test func atTheLimitTheLongestIdleGoesEarly() throws {
    var bench = Bench { $0.maxControls = 3 }
    try bench.show("busy")
    try bench.setDetail("old", "x")
    bench.pass(.seconds(1))
    try bench.setDetail("young", "x")
    bench.observe()
    _ = bench.takeLog()
    try bench.show("new")
    bench.observe()
    #expect(bench.log == ["1 removed old", "1 added new", "1 visible"])
    #expect(bench.view("young") != nil && bench.view("busy") != nil)
  }

  @Test func idleIsSinceTheLastUse() throws {
    var bench = Bench { $0.maxControls = 2 }
    try bench.setDetail("a", "x")
    bench.pass(.seconds(1))
    try bench.setDetail("b", "x")
    bench.pass(.seconds(1))
    try bench.show("a")
    bench.hide("a")
    try bench.show("new")
    #expect(bench.view("a") != nil && bench.view("b") == nil)
  }

  @Test func whatIsKeptOrInUseDoesNotGoEarly() throws {
    var bench = Bench { $0.maxControls = 4 }
    try bench.setTitle("title", "Save")
    try bench.setEnabled("disabled", false)
    try bench.count("counting", .seconds(5))
    try bench.show("visible") { $0.holder.minimum = .seconds(5) }
    bench.hide("visible")
    _ = bench.machine.drain()
    for call in 0..<4 {
      let refusal = #expect(throws: Refusal.self) {
        switch call {
        case 0: try bench.show("new")
        case 1: try bench.hold("new")
        case 2: try bench.count("new", .seconds(1))
        default: try bench.setDetail("new", "x")
        }
      }
      #expect(refusal?.errorName == ErrorName.limitsExceeded.rawValue)
    }
    #expect(!bench.machine.hasChanges && bench.machine.count == 4)
    // Those that exist can be used.
    try bench.hold("title")
    #expect(bench.machine.lastCookie == 1)
  }

  @Test func onePutOutEarlyAndMadeAgainWithinATurnIsTheSameObject() throws {
    var bench = Bench { $0.maxControls = 1 }
    try bench.setDetail("a", "x")
    _ = bench.machine.drain()
    try bench.setDetail("b", "x")
    try bench.setDetail("a", "x")
    #expect(bench.machine.drain().changes == [])
    #expect(bench.machine.count == 1 && bench.view("b") == nil)
  }
}
