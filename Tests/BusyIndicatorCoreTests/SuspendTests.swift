// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

/// A suspend: boottime goes on, monotonic stands still.
@Suite struct SuspendTests {
  @Test func aBoottimeCountdownGoesOn() throws {
    var bench = Bench()
    try bench.count("c", .seconds(10))
    bench.wake(after: .seconds(1))
    _ = bench.takeLog()
    bench.wake(after: .seconds(5), suspended: true)
    // One tick with the current value, no burst.
    #expect(bench.takeLog() == ["1 tick 4 #1"])
    #expect(bench.remaining == .seconds(4))
    bench.run(for: .seconds(4))
    #expect(
      bench.takeLog() == ["2 tick 3 #1", "3 tick 2 #1", "4 tick 1 #1", "5 finished #1"])
  }

  @Test func aBoottimeCountdownThatEndedMeanwhileFinishesOnce() throws {
    var bench = Bench()
    try bench.count("c", .seconds(10))
    bench.wake(after: .seconds(1))
    _ = bench.takeLog()
    bench.wake(after: .seconds(100), suspended: true)
    #expect(bench.takeLog() == ["1 finished #1"])
  }

  @Test func aMonotonicCountdownStandsStill() throws {
    var bench = Bench()
    try bench.count("c", .seconds(3)) { $0.clock = .monotonic }
    #expect(bench.c.deadline == bench.now.monotonic + .seconds(3))
    bench.wake(after: .seconds(1.5))
    _ = bench.takeLog()
    bench.wake(after: .seconds(3600), suspended: true)
    #expect(bench.takeLog() == [] && bench.remaining == .seconds(1.5))
    bench.run(for: .seconds(2))
    #expect(bench.takeLog() == ["2 tick 1 #1", "3 finished #1"])
  }

  @Test func ttlAndTimeLimitGoOn() throws {
    var bench = Bench()
    try bench.hold { $0.lease = .ttl(.seconds(60)) }
    try bench.show { $0.timeout = .seconds(60) }
    bench.wake(after: .seconds(60), suspended: true)
    #expect(!bench.c.busy && bench.c.lastResult == "expired")
  }

  @Test func graceAndMinimumStandStill() throws {
    var bench = Bench()
    try bench.show {
      $0.holder.grace = .seconds(1)
      $0.holder.minimum = .seconds(2)
    }
    bench.wake(after: .seconds(3600), suspended: true)
    #expect(!bench.c.visible)
    bench.run(for: .seconds(1))
    #expect(bench.c.visible)
    bench.hide()
    bench.wake(after: .seconds(3600), suspended: true)
    #expect(bench.c.visible)
    bench.run(for: .seconds(2))
    #expect(bench.takeLog() == ["1 visible", "3 hidden"])
  }

  @Test func lingerStandsStillAndBeginsWithTheWakeUp() throws {
    var bench = Bench()
    try bench.hold { $0.lease = .ttl(.seconds(60)) }
    bench.wake(after: .seconds(30))
    bench.wake(after: .seconds(3600), suspended: true)
    // A late caller still has the whole time to read how it ended.
    #expect(bench.c.lastResult == "expired")
    #expect(bench.timeToNextDeadline == .seconds(60))
    bench.wake(after: .seconds(3600), suspended: true)
    #expect(bench.view() != nil)
    bench.run(for: .seconds(60))
    #expect(bench.view() == nil)
  }

  @Test func theTimeOfDayIsOnlyShown() throws {
    var bench = Bench()
    try bench.count("c", .seconds(10))
    // The clock is set back by years: nothing is due sooner or later.
    var now = bench.now
    now.realtime = .zero
    bench.machine.advance(to: now)
    bench.machine.checkInvariants()
    #expect(bench.remaining == .seconds(10))
    try bench.machine.show(name("c"), ShowOptions(), sender: ":1.1", now: now)
    #expect(bench.c.busy && bench.c.busySince == .zero)
  }

  @Test func clocksThatGoBackDoNoHarm() throws {
    var bench = Bench()
    try bench.count("c", .seconds(10)) { $0.indicator = true }
    try bench.hold { $0.notifyAfter = .seconds(1) }
    let zero = Now(boottime: .zero, monotonic: .zero, realtime: .zero)
    bench.machine.advance(to: zero)
    try bench.machine.pauseCountdown(name("c"), now: zero)
    try bench.machine.release(cookie: 1, result: "", sender: ":1.1", now: zero)
    _ = bench.machine.drain()
    #expect(bench.c.busy)
  }
}
