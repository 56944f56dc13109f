// SPDX-License-Identifier: MIT

// What is true of the machine after every event, spelt out for the tests. Here everything is looked
// at anew and nothing is taken from the short cuts by which the machine itself goes.

extension IndicatorStateMachine {
  /// Stops the program when the state contradicts itself.
  package func checkInvariants() {
    checkPlaces()
    checkTouched()
    checkHolds()
    checkSenders()
    for slot in records.indices {
      if records[slot].exists {
        check(records[slot].control, Int32(truncatingIfNeeded: slot))
      } else {
        let key = Int32(truncatingIfNeeded: slot)
        precondition(
          boottimeQueue.deadline(of: key) == nil && monotonicQueue.deadline(of: key) == nil
            && idleQueue.deadline(of: key) == nil, "nothing is due that does not exist")
      }
    }
    for queue in [expiries, boottimeQueue, monotonicQueue, idleQueue] { queue.checkInvariants() }
  }

  private func checkPlaces() {
    let existing = records.indices.filter { records[$0].exists }
    precondition(existing.count == count, "the controls are counted")
    precondition(count <= configuration.maxControls, "there are no more controls than may be")
    precondition(
      busyCount == existing.count { records[$0].control.isBusy }, "the busy ones are counted")
    precondition(
      visibleCount == existing.count { records[$0].control.isVisible },
      "the visible ones are counted")
    precondition(slots.count + freeRecords.count == records.count, "each place is used or free")
    for (name, slot) in slots {
      let record = records[Int(slot)]
      precondition(record.name == name, "a name leads to its place")
      precondition(record.exists || record.touch >= 0, "what has gone is to be announced")
    }
    for slot in freeRecords {
      let record = records[Int(slot)]
      precondition(!record.exists && record.touch < 0, "a free place is empty")
    }
  }

  private func checkTouched() {
    for (index, entry) in touched.enumerated() {
      precondition(records[Int(entry.slot)].touch == index, "a touched control knows its entry")
    }
    precondition(records.count { $0.touch >= 0 } == touched.count, "nothing else thinks so")
    if touched.isEmpty {
      precondition(announcedBusy == busy && announcedVisible == visible, "all is announced")
    }
  }

  private func checkHolds() {
    precondition(holdSlots.count <= configuration.maxHolds, "there are no more holds than may be")
    precondition(holdSlots.count + freeHolds.count == holds.count, "each place is used or free")
    precondition(freeHolds.allSatisfy { holds[Int($0)].cookie == 0 }, "a free place is empty")
    var expiring = 0
    for (cookie, slot) in holdSlots {
      let hold = holds[Int(slot)]
      precondition(hold.cookie == cookie && cookie >= 1, "a cookie leads to its hold")
      precondition(cookie <= lastCookie, "a cookie was given")
      let entries = records[Int(hold.control)].control.holds
      precondition(entries.contains(.init(cookie: cookie, slot: slot)), "its control has it")
      precondition(expiries.deadline(of: slot) == hold.lease.expiry, "it expires when it should")
      if hold.lease.expiry != nil { expiring += 1 }
    }
    precondition(expiries.count == expiring, "nothing else expires")
    let entries = records.reduce(0) { $0 + $1.control.holds.count }
    precondition(entries == holdSlots.count, "no control has holds that are not there")
  }

  private func checkSenders() {
    var expected: [String: SenderRecord] = [:]
    for hold in holds where hold.cookie != 0 {
      expected[hold.holder.sender, default: SenderRecord()].holdCount += 1
      if hold.lease == .sender {
        expected[hold.holder.sender, default: SenderRecord()].holds.insert(hold.cookie)
      }
    }
    for slot in records.indices {
      guard let countdown = records[slot].control.countdown, countdown.endsWithSender else {
        continue
      }
      expected[countdown.holder.sender, default: SenderRecord()].countdowns
        .insert(Int32(truncatingIfNeeded: slot))
    }
    for (sender, record) in senders {
      let real = expected.removeValue(forKey: sender) ?? SenderRecord()
      precondition(record.holdCount == real.holdCount, "a caller's holds are counted")
      precondition(record.holdCount <= configuration.maxHoldsPerSender, "they are not too many")
      precondition(record.holds == real.holds, "those that end with it are known")
      precondition(record.countdowns == real.countdowns, "its countdowns are known")
      precondition(!record.isUseless, "nobody is remembered for nothing")
      precondition(
        record.isTouched == touchedSenders.contains(sender), "a touched caller knows that it is")
      precondition(record.isTouched || record.isWatched == record.needsWatch, "watches are right")
    }
    precondition(expected.isEmpty, "no caller is missing")
  }

  private func check(_ control: Control, _ slot: Int32) {
    precondition((control.busySince != nil) == control.isBusy, "busy has a since")
    precondition(
      control.isWorking == (control.isBusy || control.isCounting), "work is noticed")
    let isIdle = !control.isBusy && !control.isVisible && !control.isCounting
    precondition((control.idleSince != nil) == (isIdle && !control.isKept), "idle has a since")
    precondition(control.lastCountdown <= lastCountdown, "a result is of a countdown that was")
    for (left, right) in zip(control.holds, control.holds.dropFirst()) {
      precondition(left.cookie < right.cookie, "holds stand in the order of cookies")
    }
    check(control.visibility, control)
    if let countdown = control.countdown { check(countdown) }
    var control = control
    let deadlines = control.deadlines()
    precondition(
      boottimeQueue.deadline(of: slot) == deadlines.boottime, "the boottime queue is right")
    precondition(
      monotonicQueue.deadline(of: slot) == deadlines.monotonic, "the monotonic queue is right")
    precondition(
      idleQueue.deadline(of: slot) == control.idleSince.map { $0 + configuration.linger },
      "the queue of idle ones is right")
  }

  private func check(_ visibility: Visibility, _ control: Control) {
    var earliest: Microseconds?
    var longest = Microseconds.zero
    control.forEachHolder(holds) { holder in
      earliest = earlier(earliest, holder.graceEnd)
      longest = max(longest, holder.minimum)
    }
    switch visibility {
    case .hidden: precondition(earliest == nil, "a hidden control has no holder")
    case .waiting(let until): precondition(earliest == until, "the first grace to end counts")
    case .visible(_, let minimum): precondition(minimum >= longest, "each minimum counts")
    }
  }

  private func check(_ countdown: Countdown) {
    precondition(countdown.id >= 1 && countdown.id <= lastCountdown, "an id was given")
    precondition(
      countdown.duration > .zero && countdown.duration <= .longest, "a duration is in its range")
    switch countdown.phase {
    case .paused(let remaining):
      precondition(remaining > .zero && remaining <= countdown.duration, "something remains")
    case .running(let deadline, let nextTick):
      guard let nextTick else { return }
      let left = (deadline - nextTick).rawValue
      precondition(left > 0 && left % countdown.interval.rawValue == 0, "ticks count from the end")
    }
  }
}
