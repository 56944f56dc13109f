// SPDX-License-Identifier: MIT

// What a store keeps of the state, and how the state comes back from it. What can be reckoned from
// the rest (who is where in a queue, how many are busy) is not kept.

/// The numbers that go on counting when the state comes back.
package struct Counters: Equatable, Sendable {
  /// The cookie given last.
  package var lastCookie: UInt32 = 0
  /// The id of the countdown begun last.
  package var lastCountdown: UInt32 = 0

  /// Those of a new machine.
  package init() {}
}

/// A hold and the control that it holds.
package struct SavedHold: Equatable, Sendable {
  /// The control's name.
  package var control: ControlName
  /// The hold; which slots it is about is not kept.
  package var hold: Hold

  /// A hold of that control.
  package init(control: ControlName, hold: Hold) {
    self.control = control
    self.hold = hold
  }
}

/// All of the state, as it was kept.
package struct SavedState: Sendable {
  /// The controls without their holds.
  package var controls: [(name: ControlName, control: Control)] = []
  /// The holds of all controls.
  package var holds: [SavedHold] = []
  /// The numbers to go on from.
  package var counters = Counters()

  /// Nothing.
  package init() {}
}

extension IndicatorStateMachine {
  /// The numbers given last.
  package var counters: Counters {
    var counters = Counters()
    counters.lastCookie = lastCookie
    counters.lastCountdown = lastCountdown
    return counters
  }

  /// A control with all of its state but its holds; it has to exist.
  package func saved(_ id: ControlID) -> (name: ControlName, control: Control) {
    let record = records[Int(id.slot)]
    return (record.name, record.control)
  }

  /// A hold that has not ended.
  package func savedHold(_ cookie: UInt32) -> SavedHold? {
    guard let slot = holdSlots[cookie] else { return nil }
    let hold = holds[Int(slot)]
    return SavedHold(control: records[Int(hold.control)].name, hold: hold)
  }

  /// The cookies of all holds.
  package var allHolds: some Sequence<UInt32> { holdSlots.keys }

  /// The callers on whose being on the bus something depends.
  package var sendersDependedOn: [String] {
    senders.compactMap { $0.value.needsWatch ? $0.key : nil }.sorted()
  }

  /// A machine that goes on from what was kept; what it came back with counts as announced.
  ///
  /// The next drain names the callers to watch. Nothing that is due has happened yet, but ticks
  /// that were due before `now` are not made up for.
  ///
  /// - Returns: nil when the state contradicts itself, as no machine leaves it.
  package init?(configuration: Configuration, restoring state: SavedState, now: Now) {
    self.init(
      configuration: configuration, lastCookie: state.counters.lastCookie,
      lastCountdown: state.counters.lastCountdown)
    for (name, control) in state.controls where !restore(control, name, now) { return nil }
    for saved in state.holds.sorted(by: { $0.hold.cookie < $1.hold.cookie }) where !restore(saved) {
      return nil
    }
    for slot in records.indices {
      guard records[slot].control.isConsistent(holds) else { return nil }
      // Places are compared with those of what is there, so they go on from these.
      lastSerial = max(lastSerial, records[slot].control.serial)
      var order = lastOrder
      records[slot].control.forEachHolder(holds) { order = max(order, $0.order) }
      guard order < .max else { return nil }
      lastOrder = order
      if records[slot].control.busySince != nil { busyCount += 1 }
      if records[slot].control.isVisible { visibleCount += 1 }
      schedule(slot)
    }
    announcedBusy = busy
    announcedVisible = visible
    changedHolds = []
  }

  private mutating func restore(_ control: Control, _ name: ControlName, _ now: Now) -> Bool {
    var control = control
    control.countdown?.skipMissedTicks(now: now)
    guard slots[name] == nil, control.holds.isEmpty,
      control.countdown?.id ?? 0 <= lastCountdown
    else { return false }
    let slot = Int32(truncatingIfNeeded: records.count)
    records.append(Record(name: name, exists: true, control: control))
    slots[name] = slot
    count += 1
    if let countdown = control.countdown, countdown.endsWithSender {
      changeSender(countdown.holder.sender) { $0.countdowns.insert(slot) }
    }
    return true
  }

  private mutating func restore(_ saved: SavedHold) -> Bool {
    guard let slot = slots[saved.control], holdSlots[saved.hold.cookie] == nil,
      saved.hold.cookie > 0, saved.hold.cookie <= lastCookie
    else { return false }
    var hold = saved.hold
    hold.control = slot
    insert(hold)
    return true
  }
}

extension Control {
  /// Whether its parts go together as they do between turns.
  fileprivate func isConsistent(_ table: [Hold]) -> Bool {
    let working = isBusy || isCounting
    let isIdle = !working && !isVisible && !isKept
    guard isBusy == (busySince != nil), isWorking == working, isIdle == (idleSince != nil) else {
      return false
    }
    if let countdown, !countdown.isConsistent { return false }
    var graceEnd: Microseconds?
    forEachHolder(table) { graceEnd = earlier(graceEnd, $0.graceEnd) }
    switch visibility {
    case .hidden: return graceEnd == nil
    case .waiting(let until): return graceEnd == until
    case .visible: return true
    }
  }
}

extension Countdown {
  fileprivate var isConsistent: Bool {
    guard id > 0, duration > .zero, duration <= .longest else { return false }
    if case .paused(let remaining) = phase { return remaining > .zero && remaining <= duration }
    return true
  }
}
