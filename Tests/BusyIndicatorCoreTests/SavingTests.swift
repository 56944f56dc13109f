// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

/// The state as a store keeps it, and back.
@Suite struct SavingTests {
  private func save(_ machine: IndicatorStateMachine) -> SavedState {
    var state = SavedState()
    for id in machine.controls {
      var (name, control) = machine.saved(id)
      control.holds = []
      state.controls.append((name, control))
    }
    state.holds = machine.allHolds.map { machine.savedHold($0)! }
    state.counters = machine.counters
    return state
  }

  private func bench() throws -> Bench {
    var bench = Bench()
    try bench.setTitle("c", "Save")
    try bench.show {
      $0.holder.grace = .seconds(5)
      $0.timeout = .seconds(60)
    }
    try bench.hold(sender: ":1.2") { $0.holder.grace = .seconds(3) }
    try bench.hold { $0.lease = .ttl(.seconds(20)) }
    try bench.count("c", .seconds(10)) { $0.endsWithSender = true }
    try bench.count("d", .seconds(10)) {
      $0.paused = true
      $0.indicator = true
    }
    try bench.setDetail("e", "x")
    _ = bench.machine.drain()
    return bench
  }

  private func restore(_ state: SavedState, _ bench: Bench) -> IndicatorStateMachine? {
    IndicatorStateMachine(configuration: Configuration(), restoring: state, now: bench.now)
  }

  @Test func whatIsRestoredGoesOnAsBefore() throws {
    var bench = try bench()
    var other = bench
    other.machine = try #require(restore(save(bench.machine), bench))
    other.machine.checkInvariants()
    let drain = other.machine.drain()
    #expect(drain.changes == [] && drain.events == [] && !drain.managerBusyChanged)
    #expect(drain.sendersToWatch.sorted() == [":1.1", ":1.2"])
    bench.run(for: .seconds(100))
    other.run(for: .seconds(100))
    #expect(bench.takeLog() == other.takeLog())
    #expect(try bench.hold() == other.hold())
    #expect(Snapshot(bench.c) == Snapshot(other.c))
  }

  @Test func ticksMissedMeanwhileAreNotMadeUpFor() throws {
    var bench = try bench()
    let state = save(bench.machine)
    bench.pass(.seconds(4.5))
    bench.machine = try #require(restore(state, bench))
    bench.wake(after: .zero)
    _ = bench.takeLog()
    bench.run(for: .seconds(1))
    #expect(bench.takeLog() == ["5 tick 5 #1"])
  }

  @Test func whatEndedMeanwhileEndsOnce() throws {
    var bench = try bench()
    let state = save(bench.machine)
    bench.pass(.seconds(30))
    bench.machine = try #require(restore(state, bench))
    bench.wake(after: .zero)
    #expect(bench.takeLog().suffix(2) == ["30 finished #1", "30 hold 2 expired to :1.1"])
  }

  typealias Damage = @Sendable (inout SavedState) -> Void

  static let damages: [(String, Damage)] = [
    ("a name twice", { $0.controls.append($0.controls[0]) }),
    ("a hold of no control", { $0.holds[0].control = name("none") }),
    ("holds of its own", { $0.change("c") { $0.holds = [.init(cookie: 1, slot: 0)] } }),
    ("a cookie twice", { $0.holds.append($0.holds[0]) }),
    ("a cookie of 0", { $0.holds[0].hold.cookie = 0 }),
    ("a cookie to come", { $0.holds[0].hold.cookie = 99 }),
    ("a countdown to come", { $0.change("c") { $0.countdown!.id = 99 } }),
    ("a countdown without id", { $0.change("c") { $0.countdown!.id = 0 } }),
    ("a countdown of no time", { $0.change("c") { $0.countdown!.duration = .zero } }),
    (
      "a pause of no time",
      { $0.change("d") { $0.countdown!.phase = .paused(remaining: .zero) } }
    ),
    ("busy since never", { $0.change("c") { $0.busySince = nil } }),
    ("hidden for ever", { $0.change("c") { $0.visibility = .hidden } }),
    (
      "a grace of nobody", { $0.change("c") { $0.visibility = .waiting(until: .seconds(1)) } }
    ),
    ("at work on nothing", { $0.change("e") { $0.isWorking = true } }),
    ("idle for ever", { $0.change("e") { $0.idleSince = nil } }),
    ("idle at work", { $0.change("c") { $0.idleSince = .zero } }),
  ]

  @Test(arguments: damages)
  func aStateThatContradictsItselfIsRefused(what: String, damage: Damage) throws {
    let bench = try bench()
    var state = save(bench.machine)
    damage(&state)
    #expect(restore(state, bench) == nil, "\(what)")
  }
}

extension SavedState {
  fileprivate mutating func change(_ control: String, _ body: (inout Control) -> Void) {
    let index = controls.firstIndex { $0.name.rawValue == control }!
    body(&controls[index].control)
  }
}
