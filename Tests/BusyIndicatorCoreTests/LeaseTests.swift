// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

@Suite struct LeaseTests {
  // MARK: - Sender

  @Test func aSenderLeaseEndsWithItsCallerUnheard() throws {
    var bench = Bench()
    try bench.hold(sender: ":1.1")
    try bench.hold("d", sender: ":1.1")
    try bench.hold(sender: ":1.2")
    bench.observe()
    _ = bench.takeLog()
    bench.senderLeft(":1.1")
    #expect(bench.c.holders.map(\.cookie) == [3])
    #expect(bench.view("d")?.busy == false)
    // A hold whose owner dies is no success; nobody is left to be told.
    #expect(bench.c.lastResult == "owner-lost" && bench.c.lastCountdown == 0)
    #expect(bench.machine.drain().events == [])
  }

  @Test func otherLeasesOfACallerStayWhenItLeaves() throws {
    var bench = Bench()
    try bench.hold { $0.lease = .process(pid: 1, startTime: 1) }
    try bench.hold { $0.lease = .ttl(.seconds(5)) }
    try bench.hold { $0.lease = .none }
    try bench.count("c", .seconds(5))
    try bench.show()
    _ = bench.machine.drain()
    bench.senderLeft()
    #expect(!bench.machine.hasChanges)
    #expect(bench.c.holders.count == 4 && bench.c.countdown == 1)
  }

  @Test func aCountdownWithASenderLeaseIsCancelledWithItsCaller() throws {
    var bench = Bench()
    try bench.count("c", .seconds(5), sender: ":1.7") {
      $0.endsWithSender = true
      $0.interval = 0
    }
    bench.senderLeft(":1.8")
    #expect(bench.c.countdown == 1)
    bench.senderLeft(":1.7")
    bench.observe()
    #expect(bench.takeLog() == ["0 owner-lost #1"])
    #expect(bench.c.lastResult == "owner-lost" && bench.c.lastCountdown == 1)
  }

  @Test func whatACallerHadEndsInTheOrderInWhichItBegan() throws {
    var bench = Bench()
    for control in ["b", "a", "c"] {
      try bench.count(control, .seconds(5)) {
        $0.endsWithSender = true
        $0.interval = 0
      }
    }
    bench.senderLeft()
    bench.observe()
    #expect(bench.takeLog() == ["0 owner-lost #1 b", "0 owner-lost #2 a", "0 owner-lost #3"])
  }

  @Test func aSenderIsWatchedWhileSomethingDependsOnIt() throws {
    var bench = Bench()
    try bench.hold(sender: ":1.1")
    try bench.hold(sender: ":1.1")
    try bench.count("c", .seconds(5), sender: ":1.2") { $0.endsWithSender = true }
    try bench.hold(sender: ":1.3") { $0.lease = .none }
    try bench.count("d", .seconds(5), sender: ":1.4")
    try bench.show(sender: ":1.5")
    #expect(bench.machine.drain().sendersToWatch == [":1.1", ":1.2"])
    try bench.release(1)
    #expect(bench.machine.drain().sendersToUnwatch == [])
    try bench.release(2)
    try bench.cancel()
    #expect(bench.machine.drain().sendersToUnwatch == [":1.1", ":1.2"])
  }

  @Test func whatComesAndGoesWithinATurnIsNotWatched() throws {
    var bench = Bench()
    try bench.hold()
    try bench.release(1)
    var drain = bench.machine.drain()
    #expect(drain.sendersToWatch == [] && drain.sendersToUnwatch == [])
    try bench.hold()
    #expect(bench.machine.drain().sendersToWatch == [":1.1"])
    // Gone and come again, it is watched all the time.
    try bench.release(2)
    try bench.hold()
    drain = bench.machine.drain()
    #expect(drain.sendersToWatch == [] && drain.sendersToUnwatch == [])
    bench.senderLeft()
    #expect(bench.machine.drain().sendersToUnwatch == [":1.1"])
  }

  @Test func aReplacedCountdownPassesTheWatchOn() throws {
    var bench = Bench()
    try bench.count("c", .seconds(5), sender: ":1.1") { $0.endsWithSender = true }
    _ = bench.machine.drain()
    try bench.count("c", .seconds(5), sender: ":1.2") { $0.endsWithSender = true }
    let drain = bench.machine.drain()
    #expect(drain.sendersToWatch == [":1.2"] && drain.sendersToUnwatch == [":1.1"])
    bench.senderLeft(":1.1")
    #expect(bench.c.countdown == 2)
  }

  // MARK: - Process

  @Test func aProcessLeaseEndsWithTheProcessAndTheHolderIsTold() throws {
    var bench = Bench()
    try bench.hold(sender: ":1.6") { $0.lease = .process(pid: 42, startTime: 1) }
    bench.observe()
    _ = bench.takeLog()
    bench.processEnded(1)
    #expect(!bench.c.busy && bench.c.lastResult == "owner-lost")
    #expect(bench.machine.hasChanges)
    bench.observe()
    #expect(bench.drains.last?.endedHolds == [1])
    #expect(bench.takeLog() == ["0 hidden", "0 hold 1 owner-lost to :1.6"])
  }

  @Test func aProcessOfNoHoldEndsNothing() throws {
    var bench = Bench()
    try bench.hold { $0.lease = .ttl(.seconds(5)) }
    try bench.hold { $0.lease = .process(pid: 42, startTime: 1) }
    try bench.release(2)
    _ = bench.machine.drain()
    for cookie in [0, 1, 2, 3, UInt32.max] { bench.processEnded(cookie) }
    #expect(!bench.machine.hasChanges && bench.c.holders.count == 1)
  }

  @Test func aHoldThatNeverSawADrainIsSaidToHaveEnded() throws {
    var bench = Bench()
    try bench.hold { $0.lease = .process(pid: 42, startTime: 1) }
    bench.forget()
    #expect(bench.machine.drain().endedHolds == [1])
  }

  // MARK: - Ttl

  @Test func aTtlLeaseExpiresUnlessRenewed() throws {
    var bench = Bench()
    try bench.hold(sender: ":1.6") { $0.lease = .ttl(.seconds(10)) }
    bench.wake(after: .seconds(9))
    try bench.renew(1)
    bench.wake(after: .seconds(9.999999))
    #expect(bench.c.busy)
    _ = bench.takeLog()
    bench.wake(after: .seconds(0.000001))
    #expect(!bench.c.busy && bench.c.lastResult == "expired")
    #expect(bench.takeLog() == ["19 hidden", "19 hold 1 expired to :1.6"])
    #expect(throws: Refusal.noSuchHold(1)) { try bench.renew(1) }
  }

  @Test func renewingSignalsNothing() throws {
    var bench = Bench()
    try bench.hold { $0.lease = .ttl(.seconds(10)) }
    _ = bench.machine.drain()
    bench.pass(.seconds(1))
    try bench.renew(1)
    let drain = bench.machine.drain()
    #expect(drain.changes == [] && drain.events == [] && drain.changedHolds == [1])
  }

  @Test(arguments: [Lease.sender, .none, .process(pid: 1, startTime: 1)])
  func onlyATtlLeaseCanBeRenewed(lease: Lease) throws {
    var bench = Bench()
    try bench.hold { $0.lease = lease }
    let refusal = #expect(throws: Refusal.self) { try bench.renew(1) }
    #expect(refusal?.errorName == ErrorName.invalidArguments.rawValue)
  }

  @Test func anOverdueHoldIsGoneBeforeACallThatNamesIt() throws {
    var bench = Bench()
    try bench.hold { $0.lease = .ttl(.seconds(10)) }
    bench.pass(.seconds(10))
    #expect(throws: Refusal.noSuchHold(1)) { try bench.renew(1) }
    #expect(bench.c.lastResult == "expired")
  }

  @Test func holdsThatExpireAtOnceDoSoInTheOrderOfTheirCookies() throws {
    var bench = Bench()
    for _ in 0..<5 { try bench.hold { $0.lease = .ttl(.seconds(10)) } }
    bench.wake(after: .seconds(11))
    let ended = bench.takeLog().filter { $0.contains("expired") }
    #expect(ended == (1...5).map { "11 hold \($0) expired to :1.1" })
  }

  @Test func tenThousandTtlHoldsOnOneControlExpire() throws {
    var bench = Bench { $0.maxHoldsPerSender = 10_000 }
    var options = HoldOptions(reason: "")
    for second in 1...10_000 {
      options.lease = .ttl(Microseconds(rawValue: UInt64(second)))
      _ = try bench.machine.hold(name("c"), options, sender: ":1.1", now: bench.now)
    }
    for _ in 1...10_000 {
      #expect(bench.machine.busy)
      bench.pass(Microseconds(rawValue: 1))
      bench.machine.advance(to: bench.now)
    }
    #expect(!bench.machine.busy)
    #expect(bench.machine.drain().endedHolds == Array(1...10_000))
    bench.machine.checkInvariants()
  }
}
