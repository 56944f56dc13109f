// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

@Suite struct SwitchTests {
  @Test func showTurnsOnAndHideTurnsOff() throws {
    var bench = Bench()
    try bench.show()
    #expect(bench.c.busy && bench.c.visible && bench.machine.busy && bench.machine.visible)
    #expect(bench.c.busySince == bench.now.realtime)
    bench.hide()
    #expect(!bench.c.busy && !bench.c.visible && !bench.machine.busy && !bench.machine.visible)
    #expect(bench.c.busySince == .zero)
  }

  @Test func theSwitchIsAHolder() throws {
    var bench = Bench()
    try bench.show(sender: ":1.7") { $0.holder.application = "cp" }
    let holder = try #require(bench.c.holders.first)
    #expect(bench.c.holders.count == 1)
    #expect(holder.kind == .switch && holder.sender == ":1.7" && holder.application == "cp")
    #expect(holder.cookie == 0 && holder.pid == 0 && holder.lease == .none && holder.reason == "")
    #expect(holder.since == bench.now.realtime)
  }

  @Test func showOnASwitchThatIsOnChangesAndSignalsNothing() throws {
    var bench = Bench()
    try bench.show(sender: ":1.7") { $0.timeout = .seconds(5) }
    _ = bench.machine.drain()
    bench.pass(.seconds(2))
    try bench.show(sender: ":1.8")
    #expect(!bench.machine.hasChanges)
    #expect(bench.c.holders[0].sender == ":1.7")
    // The time limit in force stays.
    #expect(bench.timeToNextDeadline == .seconds(3))
  }

  @Test func hideDoesNothingWhenOffOrUnknown() throws {
    var bench = Bench()
    bench.hide()
    #expect(bench.machine.count == 0 && !bench.machine.hasChanges)
    try bench.setDetail("c", "x")
    _ = bench.machine.drain()
    bench.hide()
    #expect(!bench.machine.hasChanges)
  }

  @Test func hideLeavesTheHoldsOfOthers() throws {
    var bench = Bench()
    try bench.show()
    try bench.hold(sender: ":1.9")
    bench.hide()
    #expect(bench.c.busy && bench.c.holders.map(\.kind) == [.hold])
  }

  @Test func theTimeLimitTurnsTheSwitchOffAndNotEarlier() throws {
    var bench = Bench()
    try bench.show { $0.timeout = .seconds(3) }
    bench.wake(after: .seconds(2.999999))
    #expect(bench.c.busy)
    bench.wake(after: .seconds(0.000001))
    #expect(!bench.c.busy)
    #expect(bench.c.lastResult == "")
  }

  @Test func theTimeLimitIsCountedAnewFromEachCallThatNamesOne() throws {
    var bench = Bench()
    try bench.show { $0.timeout = .seconds(3) }
    bench.wake(after: .seconds(2))
    try bench.show { $0.timeout = .seconds(3) }
    bench.wake(after: .seconds(2.5))
    #expect(bench.c.busy)
    bench.wake(after: .seconds(0.5))
    #expect(!bench.c.busy)
  }

  @Test func aTimeLimitIsGivenToASwitchThatHadNone() throws {
    var bench = Bench()
    try bench.show()
    #expect(bench.timeToNextDeadline == nil)
    try bench.show { $0.timeout = .seconds(1) }
    bench.wake(after: .seconds(1))
    #expect(!bench.c.busy)
  }

  @Test func theTimeLimitGoesWithTheSwitch() throws {
    var bench = Bench()
    try bench.show { $0.timeout = .seconds(1) }
    bench.hide()
    try bench.show()
    bench.wake(after: .seconds(100))
    #expect(bench.c.busy)
  }

  @Test func theTimeLimitEndsTheSwitchAlone() throws {
    var bench = Bench()
    try bench.show { $0.timeout = .seconds(1) }
    try bench.hold { $0.lease = .none }
    bench.wake(after: .seconds(1))
    #expect(bench.c.holders.map(\.kind) == [.hold])
  }

  @Test func onASwitchThatIsOnOptionsChangeOnlyWhatTheyName() throws {
    var bench = Bench()
    try bench.show(sender: ":1.1") {
      $0.holder.application = "make"
      $0.attributes.title = "Build"
    }
    let since = bench.now.realtime
    _ = bench.machine.drain()
    bench.pass(.seconds(1))
    try bench.show(sender: ":1.2") { $0.holder.application = "cp" }
    #expect(bench.takeFields() == .holders)
    let holder = bench.c.holders[0]
    #expect(holder.application == "cp" && holder.sender == ":1.1" && holder.since == since)
    #expect(bench.c.title == "Build")
    try bench.show { $0.attributes.icon = "disk" }
    #expect(bench.takeFields() == .icon)
    try bench.show { $0.holder.application = "cp" }
    #expect(bench.takeFields() == [])
  }

  @Test func aNewGraceCountsFromTheSwitchesOwnSince() throws {
    var bench = Bench()
    try bench.show { $0.holder.grace = .seconds(10) }
    bench.wake(after: .seconds(2))
    try bench.show { $0.holder.grace = .seconds(5) }
    #expect(bench.timeToNextDeadline == .seconds(3))
    // A longer one is as good as a shorter one until it is shown.
    try bench.show { $0.holder.grace = .seconds(8) }
    #expect(bench.timeToNextDeadline == .seconds(6))
    try bench.show { $0.holder.grace = .seconds(1) }
    #expect(bench.c.visible)
    // Then grace has had its time.
    try bench.show { $0.holder.grace = .seconds(100) }
    #expect(bench.c.visible)
  }

  @Test func aNewMinimumJoinsTheLongest() throws {
    var bench = Bench()
    try bench.show { $0.holder.minimum = .seconds(2) }
    bench.wake(after: .seconds(1))
    try bench.show { $0.holder.minimum = .seconds(5) }
    try bench.show { $0.holder.minimum = .seconds(1) }
    bench.hide()
    bench.run(for: .seconds(10))
    #expect(bench.takeLog() == ["1 visible", "5 hidden"])
  }

  @Test func aNewMinimumJoinsTheLongestBeforeItIsShown() throws {
    var bench = Bench()
    try bench.show {
      $0.holder.grace = .seconds(1)
      $0.holder.minimum = .seconds(2)
    }
    try bench.show { $0.holder.minimum = .seconds(1) }
    bench.run(for: .seconds(1))
    bench.hide()
    bench.run(for: .seconds(5))
    #expect(bench.takeLog() == ["1 visible", "3 hidden"])
  }
}
