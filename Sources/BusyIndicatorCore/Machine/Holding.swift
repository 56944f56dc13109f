// SPDX-License-Identifier: MIT

// Holds: a set of tokens, each with a number of its own. Whatever ends one ends just that one, once.

extension IndicatorStateMachine {
  /// Adds a hold to a control.
  ///
  /// - Returns: its cookie, which is never 0 and never given again.
  /// - Throws: ``Refusal/invalidArgument(_:)``; ``Refusal/busy(_:holder:)`` when it was to be
  ///   exclusive; ``Refusal/limitsExceeded(_:)``.
  package mutating func hold(
    _ name: ControlName, _ options: HoldOptions, sender: String, now: Now
  ) throws(Refusal) -> UInt32 {
    advance(to: now)
    try options.validate()
    if options.exclusive { try refuseIfBusy(name) }
    try refuseIfFull(sender)
    let control = try makeSlot(of: name)
    records[control].control.apply(options.attributes)
    lastCookie += 1
    let hold = Hold(
      cookie: lastCookie, control: Int32(truncatingIfNeeded: control), reason: options.reason,
      lease: Hold.Lease(options.lease, now: now),
      holder: makeHolder(options.holder, sender: sender, now: now),
      notifyAfter: options.notifyAfter)
    insert(hold)
    changedHolds.append(hold.cookie)
    records[control].control.holderCame(hold.holder)
    settle(control, now: now)
    return hold.cookie
  }

  /// Gives a ttl lease its whole time again.
  ///
  /// - Throws: ``Refusal/noSuchHold(_:)``; ``Refusal/invalidArgument(_:)`` when it has another lease.
  package mutating func renew(cookie: UInt32, now: Now) throws(Refusal) {
    advance(to: now)
    guard let slot = holdSlots[cookie] else { throw .noSuchHold(cookie) }
    guard case .ttl(let duration, _) = holds[Int(slot)].lease else {
      throw .invalidArgument("The hold \(cookie) has no ttl lease to renew.")
    }
    let expiry = now.boottime + duration
    holds[Int(slot)].lease = .ttl(duration: duration, expiry: expiry)
    expiries.set(slot, to: expiry, tie: cookie)
    changedHolds.append(cookie)
  }

  /// Ends a hold; its holder is told unless it is the caller.
  ///
  /// - Throws: ``Refusal/invalidArgument(_:)`` for a result that is too long;
  ///   ``Refusal/noSuchHold(_:)``.
  package mutating func release(
    cookie: UInt32, result: String, sender: String, now: Now
  ) throws(Refusal) {
    advance(to: now)
    try check(result, "result", most: Limits.textBytes)
    guard let slot = holdSlots[cookie] else { throw .noSuchHold(cookie) }
    let isOwn = holds[Int(slot)].holder.sender == sender
    end(
      hold: Int(slot), result: result.isEmpty ? "released" : "released: " + result,
      telling: isOwn ? nil : .releasedByOther, now: now)
  }

  /// Turns the switch off, ends every hold, and lets the countdown be no indicator.
  ///
  /// - Returns: how many holds there were.
  package mutating func releaseAll(_ name: ControlName, now: Now) -> UInt32 {
    advance(to: now)
    guard let slot = existingSlot(of: name), records[slot].control.isBusy else { return 0 }
    if records[slot].control.isOn { turnOff(slot) }
    let released = endAllHolds(of: slot, .releasedByOther, now: now)
    if records[slot].control.countdown?.indicator == true {
      touch(slot)
      let graceEnd = records[slot].control.countdown!.holder.graceEnd
      records[slot].control.countdown!.indicator = false
      records[slot].control.holderWent(graceEnd, holds)
    }
    settle(slot, now: now)
    return released
  }

  /// Ends all that a control has and removes it; nothing when it does not exist.
  package mutating func forget(_ name: ControlName, now: Now) {
    advance(to: now)
    guard let slot = existingSlot(of: name) else { return }
    if records[slot].control.isCounting { cancel(slot, .forgotten) }
    _ = endAllHolds(of: slot, .forgotten, now: now)
    remove(slot)
  }

  /// A caller has left the bus: what depended on that ends.
  package mutating func senderLeft(_ sender: String, now: Now) {
    advance(to: now)
    guard let record = senders[sender] else { return }
    for cookie in record.holds.sorted() {
      // Nobody is left to be told.
      end(
        hold: Int(holdSlots[cookie]!), result: HoldEndReason.ownerLost.rawValue, telling: nil,
        now: now)
    }
    let countdowns = record.countdowns.map { (Int($0), records[Int($0)].control.countdown!.id) }
    for (slot, _) in countdowns.sorted(by: { $0.1 < $1.1 }) {
      cancel(slot, .ownerLost)
      settle(slot, now: now)
    }
  }

  /// The process on which a hold depends has ended; nothing when the hold has ended before.
  package mutating func processEnded(cookie: UInt32, now: Now) {
    advance(to: now)
    guard let slot = holdSlots[cookie], holds[Int(slot)].lease.kind == .pid else { return }
    end(
      hold: Int(slot), result: HoldEndReason.ownerLost.rawValue, telling: .ownerLost, now: now)
  }

  /// Ends a hold whose time has passed.
  mutating func expire(hold slot: Int, now: Now, late: Microseconds) {
    end(
      hold: slot, result: HoldEndReason.expired.rawValue, telling: .expired, now: now, late: late)
  }

  // MARK: - What may be refused

  private func refuseIfBusy(_ name: ControlName) throws(Refusal) {
    guard let slot = existingSlot(of: name), records[slot].control.isBusy else { return }
    let view = ControlView(name, records[slot].control, holds)
    throw .busy(name, holder: view.holders[0].summary)
  }

  private func refuseIfFull(_ sender: String) throws(Refusal) {
    let most = configuration.maxHolds
    guard holdSlots.count < most else {
      throw .limitsExceeded("There are \(holdSlots.count) holds already, \(most) are allowed.")
    }
    let mine = senders[sender]?.holdCount ?? 0
    guard mine < configuration.maxHoldsPerSender else {
      throw .limitsExceeded(
        "\(sender) has \(mine) holds already, \(configuration.maxHoldsPerSender) are allowed.")
    }
    guard lastCookie < .max else {
      throw .limitsExceeded("The cookies have come to their end with \(lastCookie).")
    }
  }

  // MARK: - The table

  mutating func insert(_ hold: Hold) {
    let slot: Int32
    if let free = freeHolds.popLast() {
      slot = free
      holds[Int(slot)] = hold
    } else {
      slot = Int32(truncatingIfNeeded: holds.count)
      holds.append(hold)
    }
    holdSlots[hold.cookie] = slot
    records[Int(hold.control)].control.holds.append(.init(cookie: hold.cookie, slot: slot))
    if let expiry = hold.lease.expiry { expiries.set(slot, to: expiry, tie: hold.cookie) }
    changeSender(hold.holder.sender) { record in
      record.holdCount += 1
      if hold.lease == .sender { record.holds.insert(hold.cookie) }
    }
  }

  /// Ends one hold and settles its control.
  private mutating func end(
    hold slot: Int, result: String, telling reason: HoldEndReason?, now: Now,
    late: Microseconds = .zero
  ) {
    let control = Int(holds[slot].control)
    touch(control)
    let index = records[control].control.index(ofHold: holds[slot].cookie)!
    records[control].control.holds.remove(at: index)
    finish(hold: slot, result: result, telling: reason, now: now)
    settle(control, now: now, late: late)
  }

  /// Ends all holds of a control without settling it.
  private mutating func endAllHolds(
    of control: Int, _ reason: HoldEndReason, now: Now
  ) -> UInt32 {
    if records[control].control.holds.isEmpty { return 0 }
    touch(control)
    let entries = records[control].control.holds
    records[control].control.holds = []
    for entry in entries {
      finish(hold: Int(entry.slot), result: reason.rawValue, telling: reason, now: now)
    }
    return UInt32(clamping: entries.count)
  }

  /// Says how a hold ended that its control has no longer, and takes it out of the table.
  private mutating func finish(
    hold slot: Int, result: String, telling reason: HoldEndReason?, now: Now
  ) {
    let hold = holds[slot]
    let control = Int(hold.control)
    holds[slot] = Hold.free
    freeHolds.append(Int32(truncatingIfNeeded: slot))
    holdSlots[hold.cookie] = nil
    expiries.remove(Int32(truncatingIfNeeded: slot))
    changeSender(hold.holder.sender) { record in
      record.holdCount -= 1
      if hold.lease == .sender { record.holds.remove(hold.cookie) }
    }
    endedHolds.append(hold.cookie)
    touched[Int(records[control].touch)].announced.noteLostHold(hold.cookie)
    records[control].control.holderWent(hold.holder.graceEnd, holds)
    records[control].control.lastResult = result
    records[control].control.lastCountdown = 0
    let name = records[control].name
    if let reason {
      events.append(
        .holdEnded(cookie: hold.cookie, reason: reason, recipient: hold.holder.sender))
    }
    let heldFor = now.monotonic - hold.holder.since
    if let least = hold.notifyAfter, heldFor >= least {
      events.append(
        .holdNotification(
          EndedHold(
            control: name, title: records[control].control.title, result: result,
            heldFor: heldFor)))
    }
  }
}

extension Hold.Lease {
  /// The lease that is asked for, from now on.
  init(_ lease: Lease, now: Now) {
    switch lease {
    case .sender: self = .sender
    case .process(let pid, let startTime): self = .process(pid: pid, startTime: startTime)
    case .ttl(let duration): self = .ttl(duration: duration, expiry: now.boottime + duration)
    case .none: self = .none
    }
  }
}
