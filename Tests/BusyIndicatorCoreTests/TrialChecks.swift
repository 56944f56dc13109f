// SPDX-License-Identifier: MIT

@testable import BusyIndicatorCore

/// What has to be the same after a step, and what a drain and a restart have to say.
extension Trial {
  /// Goes on with a new machine, from what a store would have kept of the old one.
  mutating func restart() {
    note("restart")
    var state = SavedState()
    for id in machine.controls {
      var (name, control) = machine.saved(id)
      control.holds = []
      state.controls.append((name, control))
    }
    state.holds = machine.allHolds.map { machine.savedHold($0)! }
    state.counters = machine.counters
    let restored = IndicatorStateMachine(
      configuration: model.configuration, restoring: state, now: now)
    guard let restored else { return expect(false, "what was kept is refused") }
    machine = restored
    machine.checkInvariants()
    // Those who kept the watches are new, too.
    observer.loseWatches()
    compare()
  }

  func compare() {
    expect(machine.count == model.controls.count, "\(machine.count) controls")
    for control in model.controls {
      guard let id = machine.find(name(control.name)) else {
        return expect(false, "\(control.name) is missing")
      }
      let (real, naive) = (Snapshot(machine[id]), control.snapshot)
      expect(real == naive, "\(control.name) is \(real), not \(naive)")
      let left = control.countdown.map { model.left($0) } ?? 0
      let remaining = machine.remaining(of: id, now: now).rawValue
      expect(remaining == left, "\(remaining) remains of \(control.name), not \(left)")
    }
    expect(machine.busy == model.controls.contains { !$0.holders.isEmpty }, "the manager's Busy")
    expect(
      machine.visible == model.controls.contains { $0.shownSince != nil }, "the manager's Visible")
    compareDeadlines()
  }

  private func compareDeadlines() {
    let pending = model.pending
    let next = machine.nextDeadline
    expect(
      next.boottime?.rawValue == pending.filter { $0.clock == .boottime }.map(\.at).min(),
      "the next on boottime is \(next)")
    expect(
      next.monotonic?.rawValue == pending.filter { $0.clock == .monotonic }.map(\.at).min(),
      "the next on monotonic is \(next)")
  }

  mutating func drain() {
    let couldChange = machine.hasChanges
    let discardsTicks = random.oneIn(10)
    if discardsTicks { machine.discardTicks() }
    machine.drain(into: &drained)
    let drain = drained
    note("drain")
    expect(couldChange || drain.isEmpty, "changes came unannounced")
    expect(!machine.hasChanges && machine.drain().isEmpty, "something is left after a drain")
    var events = model.events
    if discardsTicks { events.removeAll { if case .tick = $0 { true } else { false } } }
    expect(drain.events == events, "events are \(drain.events), not \(events)")
    expect(
      drain.endedHolds == model.endedHolds && Set(drain.changedHolds) == model.changedHolds,
      "ended holds are \(drain.endedHolds), changed ones \(drain.changedHolds)")
    model.events = []
    model.endedHolds = []
    model.changedHolds = []
    if let fault = observer.apply(drain, machine) { expect(false, fault) }
    expect(observer.watched == model.watched, "watched are \(observer.watched)")
    for control in model.controls {
      let isSame = observer.known[control.name] == control.snapshot
      expect(isSame, "the observer sees \(control.name) otherwise")
    }
    expect(observer.known.count == model.controls.count, "the observer sees others")
    expect(observer.busy == machine.busy && observer.visible == machine.visible, "the manager")
  }
}
