// SPDX-License-Identifier: MIT

import DBus
import Glibc
import Testing

@testable import EventLoop

@Suite struct ObservationTests {
  @Test func followsTheInterest() throws {
    let loop = try EventLoop()
    let pair = SocketPair()
    var seen: [Readiness] = []
    var observation: (any Observation)?
    observation = loop.observe(descriptor: pair.near, for: .writable) { readiness in
      seen.append(readiness)
      switch seen.count {
      case 1:
        pair.sendFromFar()
        observation?.update(interest: .readable)
      case 2:
        observation?.update(interest: [.readable, .writable])
      case 3:
        pair.receiveAtNear()
      default: loop.exit(code: 0)
      }
    }
    #expect(try loop.runWithDeadline() == 0)
    #expect(seen == [.writable, .readable, [.readable, .writable], .writable])
    observation = nil
  }

  @Test func reportsAHangUpWithoutInterest() throws {
    let loop = try EventLoop()
    let pair = SocketPair()
    shutdown(pair.far, Int32(SHUT_RDWR))
    let observation = loop.observe(descriptor: pair.near, for: []) { readiness in
      #expect(readiness == .hangUp)
      loop.exit(code: 0)
    }
    #expect(try withExtendedLifetime(observation) { try loop.runWithDeadline() } == 0)
  }

  @Test func canBeCancelledWithinItsHandler() throws {
    let loop = try EventLoop()
    let pair = SocketPair()
    pair.sendFromFar()
    var count = 0
    var observation: (any Observation)?
    observation = loop.observe(descriptor: pair.near, for: .readable) { _ in
      count += 1
      observation?.cancel()
      observation?.cancel()
      observation?.update(interest: .writable)
    }
    let end = loop.makeTimer(clock: .monotonic) { loop.exit(code: 0) }
    end.arm(at: loop.monotonicNow + 10_000)
    #expect(try loop.runWithDeadline() == 0)
    #expect(count == 1)
    observation = nil
  }

  @Test func canBeDroppedWithinItsHandler() throws {
    let loop = try EventLoop()
    let pair = SocketPair()
    pair.sendFromFar()
    weak var captured: SocketPair?
    var observation: (any Observation)?
    do {
      let inClosure = SocketPair()
      captured = inClosure
      observation = loop.observe(descriptor: pair.near, for: .readable) { _ in
        observation = nil
        // What the closure holds lives until it returns.
        #expect(inClosure.near >= 0)
        loop.exit(code: 0)
      }
    }
    #expect(observation != nil)
    #expect(try loop.runWithDeadline() == 0)
    #expect(observation == nil)
    #expect(captured == nil)
  }

  @Test func endsWhatAnotherHandlerCancels() throws {
    let loop = try EventLoop()
    let pairs = [SocketPair(), SocketPair()]
    var observations: [any Observation] = []
    var count = 0
    for (index, pair) in pairs.enumerated() {
      pair.sendFromFar()
      observations.append(
        loop.observe(descriptor: pair.near, for: .readable) { _ in
          // Both are ready; the first one called ends the other.
          count += 1
          observations[1 - index].cancel()
          pair.receiveAtNear()
        })
    }
    let end = loop.makeTimer(clock: .monotonic) { loop.exit(code: 0) }
    end.arm(at: loop.monotonicNow + 10_000)
    #expect(try loop.runWithDeadline() == 0)
    #expect(count == 1)
    observations = []
  }

  @Test func refusesASecondObservationOfADescriptor() throws {
    let loop = try EventLoop()
    let pair = SocketPair()
    let first = try loop.tryObserve(descriptor: pair.near, for: .readable) { _ in }
    #expect(throws: LoopError("sd_event_add_io", -EEXIST)) {
      try loop.tryObserve(descriptor: pair.near, for: .writable) { _ in }
    }
    first.cancel()
    _ = try loop.tryObserve(descriptor: pair.near, for: .writable) { _ in }
  }

  @Test func isHarmlessAfterTheEndOfTheLoop() throws {
    let loop = try EventLoop()
    let pair = SocketPair()
    let before = loop.observe(descriptor: pair.near, for: .readable) { _ in }
    loop.exit(code: 0)
    #expect(try loop.runWithDeadline() == 0)
    before.update(interest: .writable)
    before.cancel()
    let after = loop.observe(descriptor: pair.far, for: .readable) { _ in }
    after.update(interest: .writable)
    after.cancel()
  }

  @Test func leaksNoDescriptor() throws {
    let before = countDescriptors()
    let pair = SocketPair()
    for round in 0..<1000 {
      let loop = try EventLoop()
      let observation = loop.observe(descriptor: pair.near, for: .readable) { _ in }
      let timer = loop.makeTimer(clock: .boottime) {}
      timer.arm(at: .max)
      if round.isMultiple(of: 2) { observation.cancel() }
    }
    // Other tests open some at the same time.
    #expect(countDescriptors() < before + 500)
  }

  @Test func leavesTheDescriptorUnwatched() throws {
    let loop = try EventLoop()
    let pair = SocketPair()
    for round in 0..<1000 {
      // It would be EEXIST if the one before were left.
      let observation = try loop.tryObserve(descriptor: pair.near, for: .readable) { _ in }
      if round.isMultiple(of: 2) { observation.cancel() }
    }
  }
}

private func countDescriptors() -> Int {
  guard let directory = opendir("/proc/self/fd") else { return -1 }
  defer { closedir(directory) }
  var count = 0
  while readdir(directory) != nil { count += 1 }
  return count
}
