// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

/// What each call does to a countdown in each of its states.
@Suite struct CountdownCallTests {
  enum State: String, CaseIterable { case none, running, paused, due }

  enum Call: String, CaseIterable {
    case start, startPaused, keep, reject, extendByStart, pause, resume
    case longer, byNothing, shorter, tooMuchShorter, cancel
  }

  /// A control whose countdown #1 of 10 s is in a state; 6 s are left of it, or none.
  private func bench(_ state: State) throws -> Bench {
    var bench = Bench()
    try bench.setDetail("c", "x")
    if state != .none {
      try bench.count("c", .seconds(10))
      bench.wake(after: .seconds(4))
    }
    if state == .paused { try bench.pause() }
    bench.observe()
    if state == .due { bench.pass(.seconds(6)) }
    _ = bench.takeLog()
    return bench
  }

  private func make(_ call: Call, _ bench: inout Bench) throws(Refusal) {
    switch call {
    case .start: try bench.count("c", .seconds(3))
    case .startPaused: try bench.count("c", .seconds(3)) { $0.paused = true }
    case .keep: try bench.count("c", .seconds(3)) { $0.restart = .keep }
    case .reject: try bench.count("c", .seconds(3)) { $0.restart = .reject }
    case .extendByStart: try bench.count("c", .seconds(3)) { $0.restart = .extend }
    case .pause: try bench.pause()
    case .resume: try bench.resume()
    case .longer: try bench.extend("c", 3)
    case .byNothing: try bench.extend("c", 0)
    case .shorter: try bench.extend("c", -2)
    case .tooMuchShorter: try bench.extend("c", -6)
    case .cancel: try bench.cancel()
    }
  }

  /// What a call is to tell, whether the countdown runs then, and how much is left of it.
  struct Outcome {
    var events: [String]
    var state: CountdownState
    var left = 0.0
    var error: ErrorName?
  }

  private func expected(_ call: Call, _ state: State) -> Outcome {
    let isThere = state == .running || state == .paused
    // What is due happens before the call, which then finds none.
    let before = state == .due ? ["finished #1"] : []
    let id = state == .none ? 1 : 2
    let now: CountdownState = state == .paused ? .paused : .running
    if !isThere {
      switch call {
      case .start, .keep, .reject, .extendByStart:
        return Outcome(events: before + ["tick 3 #\(id)"], state: .running, left: 3)
      case .startPaused:
        return Outcome(events: before + ["tick 3 #\(id)"], state: .paused, left: 3)
      default: return Outcome(events: before, state: .none, error: .noCountdown)
      }
    }
    switch call {
    case .start:
      return Outcome(events: ["replaced #1", "tick 3 #2"], state: .running, left: 3)
    case .startPaused:
      return Outcome(events: ["replaced #1", "tick 3 #2"], state: .paused, left: 3)
    case .keep: return Outcome(events: [], state: now, left: 6)
    case .reject: return Outcome(events: [], state: now, left: 6, error: .countdownActive)
    case .extendByStart, .longer: return Outcome(events: ["tick 9 #1"], state: now, left: 9)
    case .pause: return Outcome(events: [], state: .paused, left: 6)
    case .resume:
      return Outcome(events: state == .paused ? ["tick 6 #1"] : [], state: .running, left: 6)
    case .byNothing: return Outcome(events: ["tick 6 #1"], state: now, left: 6)
    case .shorter: return Outcome(events: ["tick 4 #1"], state: now, left: 4)
    case .tooMuchShorter: return Outcome(events: ["finished #1"], state: .none)
    case .cancel: return Outcome(events: ["cancelled #1"], state: .none)
    }
  }

  @Test(arguments: Call.allCases, State.allCases)
  func everyCallInEveryState(call: Call, state: State) throws {
    var bench = try bench(state)
    let expected = expected(call, state)
    var error: String?
    do throws(Refusal) {
      try make(call, &bench)
    } catch let refusal {
      error = refusal.errorName
    }
    #expect(error == expected.error?.rawValue)
    bench.observe()
    let events = bench.takeLog().map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
    #expect(events == expected.events)
    #expect(bench.c.countdownState == expected.state)
    #expect(bench.remaining == .seconds(expected.left))
    let end = bench.now.boottime + .seconds(expected.left)
    #expect(bench.c.deadline == (expected.state == .running ? end : .zero))
  }

  @Test func idsStartAtOneAndAreNeverReused() throws {
    var bench = Bench()
    #expect(try bench.count("c", .seconds(5)) == 1)
    #expect(try bench.count("d", .zero) == 2)
    try bench.cancel()
    #expect(try bench.count("c", .seconds(5)) == 3)
    #expect(try bench.count("c", .seconds(5)) == 4)
    #expect(try bench.count("c", .seconds(5)) { $0.restart = .keep } == 4)
    #expect(try bench.count("c", .seconds(5)) { $0.restart = .extend } == 4)
  }

  @Test func theOldOneIsReplacedBeforeTheNewOnesFirstTick() throws {
    var bench = Bench()
    try bench.count("c", .seconds(5))
    try bench.count("c", .zero)
    bench.observe()
    #expect(bench.takeLog() == ["0 tick 5 #1", "0 replaced #1", "0 finished #2"])
    bench.run(for: .seconds(10))
    // Nothing of an ended one comes after its end.
    #expect(bench.log.isEmpty)
    #expect(bench.c.lastResult == "finished" && bench.c.lastCountdown == 2)
  }

  @Test func noTimeGivesFinishedAloneThoughPaused() throws {
    var bench = Bench()
    try bench.count("c", .zero) { $0.paused = true }
    bench.observe()
    #expect(bench.takeLog() == ["0 finished #1"])
    #expect(bench.c.countdown == 0)
  }

  @Test func keepAndExtendIgnoreAllOtherOptions() throws {
    var bench = Bench()
    try bench.count("c", .seconds(5)) { $0.attributes.title = "Tea" }
    for restart in [RestartPolicy.keep, .extend] {
      try bench.count("c", .seconds(5), sender: ":1.9") {
        $0.restart = restart
        $0.attributes.title = "Egg"
        $0.indicator = true
        $0.clock = .monotonic
        $0.endsWithSender = true
        $0.paused = true
        $0.notify = true
        $0.interval = 0
      }
    }
    let view = bench.c
    #expect(view.title == "Tea" && !view.busy && view.countdownClock == .boottime)
    #expect(view.countdownState == .running && view.duration == .seconds(10))
    bench.senderLeft(":1.9")
    #expect(bench.c.countdown == 1)
  }

  @Test func aPausedOneKeepsWhatRemains() throws {
    var bench = Bench()
    try bench.count("c", .seconds(5))
    bench.wake(after: .seconds(1.25))
    try bench.pause()
    bench.observe()
    _ = bench.takeLog()
    #expect(bench.timeToNextDeadline == nil)
    bench.run(for: .seconds(1000))
    #expect(bench.takeLog() == [] && bench.remaining == .seconds(3.75))
    try bench.resume()
    bench.observe()
    bench.run(for: .seconds(4))
    #expect(
      bench.takeLog() == [
        "1001.25 tick 4 #1", "1002 tick 3 #1", "1003 tick 2 #1", "1004 tick 1 #1",
        "1005 finished #1",
      ])
  }

  @Test func durationIncludesExtensions() throws {
    var bench = Bench()
    try bench.count("c", .seconds(10))
    bench.pass(.seconds(4))
    try bench.extend("c", 5)
    #expect(bench.c.duration == .seconds(15) && bench.remaining == .seconds(11))
    try bench.extend("c", -8)
    #expect(bench.c.duration == .seconds(7) && bench.remaining == .seconds(3))
    _ = bench.machine.drain()
    try bench.extend("c", -100)
    // What it lasted is what had passed.
    let end = FinishedCountdown(
      control: name("c"), countdown: 1, notify: false, duration: .seconds(4), title: "")
    #expect(bench.machine.drain().events == [.finished(end)])
  }

  @Test func anExtensionAfterTheDeadlineFindsNone() throws {
    var bench = Bench()
    try bench.count("c", .seconds(5))
    bench.pass(.seconds(5))
    #expect(throws: Refusal.noCountdown(name("c"))) { try bench.extend("c", 10) }
    #expect(bench.c.lastResult == "finished")
  }

  @Test func anExtensionMovesTheTicksWithTheEnd() throws {
    var bench = Bench()
    try bench.count("c", .seconds(2))
    bench.wake(after: .seconds(0.5))
    try bench.extend("c", 1)
    bench.observe()
    bench.run(for: .seconds(3))
    #expect(
      bench.takeLog() == [
        "0.5 tick 2 #1", "0.5 tick 3 #1", "1 tick 2 #1", "2 tick 1 #1", "3 finished #1",
      ])
  }

  @Test func withoutTicksNoCallGivesOne() throws {
    var bench = Bench()
    try bench.count("c", .seconds(5)) { $0.interval = 0 }
    try bench.extend("c", 1)
    try bench.pause()
    try bench.resume()
    bench.observe()
    #expect(bench.takeLog() == [])
  }

  @Test func theIndicatorIsAHolderAsLongAsTheCountdownLives() throws {
    var bench = Bench()
    try bench.count("c", .seconds(5), sender: ":1.3") {
      $0.indicator = true
      $0.holder.application = "tea"
    }
    #expect(bench.c.busy)
    let holder = bench.c.holders[0]
    #expect(holder.kind == .countdown && holder.sender == ":1.3" && holder.application == "tea")
    #expect(holder.reason == "" && holder.cookie == 0 && holder.lease == .none)
    try bench.pause()
    #expect(bench.c.busy)
    try bench.resume()
    bench.run(for: .seconds(5))
    #expect(!bench.c.busy)
  }

  @Test func finishedSaysWhetherAndWithWhatToNotify() throws {
    var bench = Bench()
    try bench.setTitle("c", "Tea")
    try bench.count("c", .seconds(5)) {
      $0.notify = true
      $0.interval = 0
    }
    bench.pass(.seconds(7))
    bench.machine.advance(to: bench.now)
    let end = FinishedCountdown(
      control: name("c"), countdown: 1, notify: true, duration: .seconds(5), title: "Tea")
    #expect(bench.machine.drain().events == [.finished(end)])
  }

  @Test func pausingAndResumingTwiceSignalsNothing() throws {
    var bench = Bench()
    try bench.count("c", .seconds(5))
    _ = bench.machine.drain()
    try bench.resume()
    #expect(!bench.machine.hasChanges)
    try bench.pause()
    #expect(bench.takeFields() == [.countdownState, .deadline])
    try bench.pause()
    #expect(!bench.machine.hasChanges)
  }
}
