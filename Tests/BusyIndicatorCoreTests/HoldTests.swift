// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

@Suite struct HoldTests {
  @Test func cookiesStartAtOneAndAreNeverReused() throws {
    var bench = Bench()
    #expect(try bench.hold() == 1)
    #expect(try bench.hold("d") == 2)
    try bench.release(1)
    try bench.release(2)
    #expect(try bench.hold() == 3)
  }

  @Test func aHoldIsAToken() throws {
    var bench = Bench()
    let (one, other) = (try bench.hold(), try bench.hold())
    try bench.release(one)
    #expect(bench.c.busy)
    // A second release of it can never end the other.
    #expect(throws: Refusal.noSuchHold(one)) { try bench.release(one) }
    #expect(bench.c.busy)
    try bench.release(other)
    #expect(!bench.c.busy)
    #expect(throws: Refusal.noSuchHold(other)) { try bench.release(other) }
    #expect(!bench.c.busy)
  }

  @Test(arguments: [0, 2, UInt32.max])
  func anUnknownCookieIsRefused(cookie: UInt32) throws {
    var bench = Bench()
    try bench.hold()
    #expect(throws: Refusal.noSuchHold(cookie)) { try bench.release(cookie) }
    #expect(throws: Refusal.noSuchHold(cookie)) { try bench.renew(cookie) }
  }

  @Test func holdersAreListedOldestFirst() throws {
    var bench = Bench()
    try bench.hold("c", "first") { $0.lease = .process(pid: 7, startTime: 99) }
    try bench.show()
    bench.pass(.seconds(1))
    try bench.hold("c", "second") { $0.lease = .ttl(.seconds(60)) }
    try bench.count("c", .seconds(9)) {
      $0.indicator = true
      $0.endsWithSender = true
      $0.holder.application = "timer"
    }
    try bench.hold("c", "third") { $0.lease = .none }
    let holders = bench.c.holders
    #expect(holders.map(\.kind) == [.hold, .switch, .hold, .countdown, .hold])
    #expect(holders.map(\.cookie) == [1, 0, 2, 0, 3])
    #expect(holders.map(\.reason) == ["first", "", "second", "", "third"])
    #expect(holders.map(\.lease) == [.pid, .none, .ttl, .sender, .none])
    #expect(holders.map(\.pid) == [7, 0, 0, 0, 0])
    #expect(holders[3].application == "timer")
    #expect(holders.map { bench.now.realtime - $0.since } == [1, 1, 0, 0, 0].map { .seconds($0) })
    // The switch turned on anew is the youngest, though a second has not passed.
    bench.hide()
    try bench.show()
    #expect(bench.c.holders.map(\.kind) == [.hold, .hold, .countdown, .hold, .switch])
  }

  @Test func releaseSaysHowItWent() throws {
    var bench = Bench()
    try bench.count("c", .zero)
    try bench.hold()
    try bench.hold()
    try bench.release(1)
    #expect(bench.c.lastResult == "released" && bench.c.lastCountdown == 0)
    try bench.release(2, "exit 2")
    #expect(bench.c.lastResult == "released: exit 2")
    // Its own holder knows.
    bench.observe()
    #expect(bench.takeLog() == ["0 finished #1"])
  }

  @Test func theHolderIsToldWhenAnotherReleases() throws {
    var bench = Bench()
    try bench.hold(sender: ":1.1")
    try bench.release(1, "enough", sender: ":1.2")
    bench.observe()
    #expect(bench.takeLog() == ["0 hold 1 released-by-other to :1.1"])
    // Whoever called it.
    #expect(bench.c.lastResult == "released: enough")
  }

  // MARK: - Exclusive

  @Test func anExclusiveHoldIsRefusedWhenBusyNamingTheOldest() throws {
    var bench = Bench()
    try bench.hold("c", "a build", sender: ":1.4") { $0.holder.application = "make" }
    try bench.show()
    let refusal = #expect(throws: Refusal.self) { try bench.hold { $0.exclusive = true } }
    #expect(
      refusal == .busy(name("c"), holder: "hold 1 of :1.4, “a build”, for “make”"))
    try bench.release(1, sender: ":1.4")
    let second = #expect(throws: Refusal.self) { try bench.hold { $0.exclusive = true } }
    #expect(second == .busy(name("c"), holder: "its switch was turned on by :1.1"))
    bench.hide()
    #expect(try bench.hold { $0.exclusive = true } == 2)
  }

  @Test func anExclusiveHoldIsRefusedForAnIndicatorButNotForACountdown() throws {
    var bench = Bench()
    try bench.count("c", .seconds(5))
    try bench.hold { $0.exclusive = true }
    try bench.count("d", .seconds(5), sender: ":1.6") { $0.indicator = true }
    let refusal = #expect(throws: Refusal.self) { try bench.hold("d") { $0.exclusive = true } }
    #expect(refusal == .busy(name("d"), holder: "the countdown of :1.6 is its indicator"))
  }

  @Test func afterAnExclusiveHoldOthersMayFollow() throws {
    var bench = Bench()
    try bench.hold { $0.exclusive = true }
    try bench.hold()
    #expect(bench.c.holders.count == 2)
  }

  @Test func anExclusiveHoldIsGrantedWhileOnlyTheMinimumLasts() throws {
    var bench = Bench()
    try bench.show { $0.holder.minimum = .seconds(5) }
    bench.hide()
    #expect(bench.c.visible)
    try bench.hold { $0.exclusive = true }
  }

  // MARK: - ReleaseAll and Forget

  @Test func releaseAllEndsAllHoldersButTheCountdownGoesOn() throws {
    var bench = Bench()
    try bench.show()
    try bench.hold(sender: ":1.1")
    try bench.hold(sender: ":1.2") { $0.lease = .ttl(.seconds(5)) }
    try bench.count("c", .seconds(9)) {
      $0.indicator = true
      $0.interval = 0
    }
    #expect(bench.releaseAll() == 2)
    #expect(!bench.c.busy && bench.c.holders.isEmpty)
    #expect(bench.c.countdown == 1 && bench.c.countdownState == .running)
    #expect(bench.c.lastResult == "released-by-other" && bench.c.lastCountdown == 0)
    bench.observe()
    // The caller is told, too; it may be any of them.
    #expect(
      bench.takeLog() == [
        "0 hold 1 released-by-other to :1.1", "0 hold 2 released-by-other to :1.2",
      ])
    bench.run(for: .seconds(9))
    #expect(bench.takeLog() == ["9 finished #1"])
  }

  @Test func releaseAllCountsTheHolds() throws {
    var bench = Bench()
    #expect(bench.releaseAll() == 0)
    #expect(bench.machine.count == 0)
    try bench.show()
    #expect(bench.releaseAll() == 0)
    #expect(!bench.c.busy)
    #expect(bench.c.lastResult == "")
    _ = bench.machine.drain()
    #expect(bench.releaseAll() == 0 && !bench.machine.hasChanges)
  }

  @Test func forgetEndsAllAndRemoves() throws {
    var bench = Bench()
    try bench.setTitle("c", "Save")
    try bench.show()
    try bench.hold(sender: ":1.2")
    try bench.count("c", .seconds(9))
    bench.observe()
    _ = bench.takeLog()
    bench.forget()
    #expect(bench.view() == nil && bench.machine.count == 0 && !bench.machine.busy)
    bench.observe()
    #expect(
      bench.takeLog() == ["0 removed c", "0 forgotten #1", "0 hold 1 forgotten to :1.2"])
    #expect(bench.timeToNextDeadline == nil)
    #expect(throws: Refusal.noSuchHold(1)) { try bench.release(1) }
    bench.forget()
    #expect(!bench.machine.hasChanges)
  }

  // MARK: - Notifications

  @Test func anEndAfterTheTimeNamedIsWorthANotification() throws {
    var bench = Bench()
    try bench.hold { $0.notifyAfter = .seconds(10) }
    try bench.hold { $0.notifyAfter = .seconds(10) }
    try bench.hold { $0.notifyAfter = .zero }
    try bench.hold()
    bench.pass(.seconds(9.999999))
    try bench.release(1)
    bench.pass(.seconds(0.000001))
    try bench.release(2, "exit 2")
    try bench.release(4)
    #expect(bench.releaseAll() == 1)
    bench.observe()
    #expect(
      bench.takeLog().suffix(3) == [
        "10 notify released: exit 2 after 10", "10 hold 3 released-by-other to :1.1",
        "10 notify released-by-other after 10",
      ])
  }

  @Test func aNotificationCarriesTheTitleAndHowItEnded() throws {
    var bench = Bench()
    try bench.setTitle("c", "Build")
    try bench.hold { $0.notifyAfter = .zero }
    bench.senderLeft()
    let expected = Event.holdNotification(
      EndedHold(control: name("c"), title: "Build", result: "owner-lost", heldFor: .zero))
    #expect(bench.machine.drain().events == [expected])
  }
}
