// SPDX-License-Identifier: MIT

extension IndicatorStateMachine {
  /// Whether a drain may have something in it; false when it surely has nothing.
  ///
  /// After changes that were undone within the turn it is true, and the drain is empty.
  package var hasChanges: Bool {
    !touched.isEmpty || !events.isEmpty || !touchedSenders.isEmpty || !changedHolds.isEmpty
      || !endedHolds.isEmpty
  }

  /// Takes all that has changed since the last drain, and takes it for announced.
  package mutating func drain() -> Drain {
    var drain = Drain()
    self.drain(into: &drain)
    return drain
  }

  /// The same in place of what `drain` held, whose memory is used again.
  package mutating func drain(into drain: inout Drain) {
    drain.removeAll()
    if !touched.isEmpty { drainControls(into: &drain) }
    if !touchedSenders.isEmpty { drainSenders(into: &drain) }
    drain.managerBusyChanged = busy != announcedBusy
    drain.managerVisibleChanged = visible != announcedVisible
    announcedBusy = busy
    announcedVisible = visible
    swap(&drain.events, &events)
    swap(&drain.endedHolds, &endedHolds)
    if !changedHolds.isEmpty {
      for cookie in changedHolds where holdSlots[cookie] != nil {
        drain.changedHolds.append(cookie)
      }
      changedHolds.clear()
    }
  }

  /// Drops the ticks that have not been drained, for a bus that does not take them.
  package mutating func discardTicks() {
    events.removeAll { if case .tick = $0 { true } else { false } }
  }

  private mutating func drainControls(into drain: inout Drain) {
    for index in touched.indices {
      let slot = touched[index].slot
      let place = Int(slot)
      records[place].touch = -1
      let isNew = touched[index].isNew
      guard records[place].exists else {
        if !isNew { drain.changes.append(.removed(records[place].name)) }
        slots[records[place].name] = nil
        freeRecords.append(slot)
        continue
      }
      drain.touched.append(ControlID(slot: slot))
      if isNew {
        drain.changes.append(.added(ControlID(slot: slot)))
        continue
      }
      let fields = touched[index].announced
        .differences(from: &records[place].control, holds)
      if !fields.isEmpty { drain.changes.append(.changed(ControlID(slot: slot), fields)) }
    }
    touched.clear()
  }
}

extension Array {
  /// Removes all and keeps the memory; nothing is called when nothing is in it.
  mutating func clear() {
    if !isEmpty { removeAll(keepingCapacity: true) }
  }
}
