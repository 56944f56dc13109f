// SPDX-License-Identifier: MIT

import DBus
import Glibc
import Testing

@testable import EventLoop

@Suite struct EventLoopTests {
  @Test(arguments: [0, 1, 64]) func returnsTheExitCode(code: Int32) throws {
    let loop = try EventLoop()
    let timer = loop.makeTimer(clock: .monotonic) {
      loop.exit(code: 7)
      loop.exit(code: code)
    }
    timer.arm(at: 0)
    #expect(try loop.runWithDeadline() == code)
  }

  @Test func callsNobodyOnceItShallEnd() throws {
    let loop = try EventLoop()
    var count = 0
    let timers = (0..<2).map { _ in
      loop.makeTimer(clock: .monotonic) {
        count += 1
        loop.exit(code: 0)
      }
    }
    for timer in timers { timer.arm(at: 1) }
    #expect(try loop.runWithDeadline() == 0)
    #expect(count == 1)
  }

  @Test func readsTheClocks() throws {
    let loop = try EventLoop()
    var boottime = timespec()
    clock_gettime(CLOCK_BOOTTIME, &boottime)
    let expected = UInt64(boottime.tv_sec) * 1_000_000 + UInt64(boottime.tv_nsec) / 1000
    let now = loop.now(.boottime)
    #expect(now >= expected && now < expected + 10_000_000)
    let monotonic = loop.now(.monotonic)
    #expect(loop.now(.boottime) >= monotonic)
    #expect(loop.monotonicNow >= monotonic)
    #expect(abs(Int64(loop.now(.realtime)) / 1_000_000 - Int64(time(nil))) <= 10)
  }

  @Test func doesDeferredWorkEachIterationWhileEnabled() throws {
    let loop = try EventLoop()
    var count = 0
    var deferred: Deferred?
    deferred = loop.makeDeferred {
      count += 1
      if count == 5 { deferred?.disable() }
    }
    deferred?.enable()
    deferred?.enable()
    let end = loop.makeTimer(clock: .monotonic) { loop.exit(code: 0) }
    end.arm(at: loop.monotonicNow + 10_000)
    #expect(try loop.runWithDeadline() == 0)
    #expect(count == 5)
    deferred = nil
  }

  @Test func deferredWorkLeavesOthersTheirTurn() throws {
    let loop = try EventLoop()
    let pair = SocketPair()
    pair.sendFromFar()
    var seen: Set<String> = []
    func see(_ what: String) {
      seen.insert(what)
      if seen.count == 3 { loop.exit(code: 0) }
    }
    let deadline = loop.monotonicNow + 10_000_000
    let deferred = loop.makeDeferred {
      see("deferred")
      // The timer that ends other tests would get no turn either.
      if loop.monotonicNow > deadline { loop.exit(code: timedOut) }
    }
    deferred.enable()
    let observation = loop.observe(descriptor: pair.near, for: .readable) { _ in
      pair.receiveAtNear()
      see("descriptor")
    }
    let timer = loop.makeTimer(clock: .boottime) { see("timer") }
    timer.arm(at: loop.now(.boottime) + 5_000)
    #expect(try withExtendedLifetime(observation) { try loop.runWithDeadline() } == 0)
  }

  @Test func hearsSignals() throws {
    let loop = try EventLoop()
    var heard: [Int32] = []
    for signal in [SIGUSR1, SIGUSR2] {
      try loop.onSignal(signal) {
        heard.append(signal)
        if heard.count == 2 { loop.exit(code: 0) }
      }
    }
    for signal in [SIGUSR1, SIGUSR2] { pthread_kill(pthread_self(), signal) }
    #expect(try loop.runWithDeadline() == 0)
    #expect(heard.sorted() == [SIGUSR1, SIGUSR2])
    #expect(throws: LoopError("sd_event_add_signal", -EBUSY)) {
      let loop = try EventLoop()
      try loop.onSignal(SIGUSR1) {}
      try loop.onSignal(SIGUSR1) {}
    }
  }

  @Test func goesAwayWithItsLastOwner() throws {
    var loop: EventLoop? = try EventLoop()
    weak let watched = loop
    try loop?.onSignal(SIGUSR1) {}
    let timer = loop?.makeTimer(clock: .monotonic) {}
    loop = nil
    #expect(watched == nil)
    timer?.arm(at: 1)
    timer?.disarm()
  }

  @Test func describesErrors() {
    #expect("\(LoopError("sd_event_add_io", -EEXIST))" == "sd_event_add_io: File exists")
  }
}
