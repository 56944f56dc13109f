// SPDX-License-Identifier: MIT

// The switch and the attributes: events of one control that cannot end anything of anybody else's.

extension IndicatorStateMachine {
  /// Turns the switch of a control on; of one that is on it changes only what `options` name.
  ///
  /// - Throws: ``Refusal/invalidArgument(_:)``, ``Refusal/limitsExceeded(_:)``.
  package mutating func show(
    _ name: ControlName, _ options: ShowOptions, sender: String, now: Now
  ) throws(Refusal) {
    advance(to: now)
    try options.validate()
    let place = place(of: name)
    if options.isEmpty, let place, records[place].control.isOn { return }
    let slot = try makeSlot(of: name, at: place)
    records[slot].control.apply(options.attributes)
    if !records[slot].control.isOn {
      let holder = makeHolder(options.holder, sender: sender, now: now)
      records[slot].control.switchState = Switch(holder: holder)
      records[slot].control.holderCame(holder)
    } else {
      records[slot].control.changeSwitch(options.holder, holds)
    }
    if let timeout = options.timeout {
      records[slot].control.switchState!.limit = now.boottime + timeout
    }
    settle(slot, now: now)
  }

  /// Turns the switch of a control off; nothing when it is off or the control does not exist.
  package mutating func hide(_ name: ControlName, now: Now) {
    advance(to: now)
    guard let slot = existingSlot(of: name), records[slot].control.isOn else {
      return
    }
    turnOff(slot)
    settle(slot, now: now)
  }

  /// Turns a switch off that is on, without settling.
  mutating func turnOff(_ slot: Int) {
    touch(slot)
    let graceEnd = records[slot].control.switchState!.holder.graceEnd
    records[slot].control.switchState = nil
    records[slot].control.holderWent(graceEnd, holds)
  }

  /// Gives a control its own title, for which it stays when it is idle; an empty one lets it go.
  ///
  /// - Throws: ``Refusal/invalidArgument(_:)``, ``Refusal/limitsExceeded(_:)``.
  package mutating func setTitle(_ name: ControlName, _ title: String, now: Now) throws(Refusal) {
    advance(to: now)
    try check(title, "title", most: Limits.titleBytes)
    let slot = try makeSlot(of: name)
    records[slot].control.title = title
    records[slot].control.titleWasSet = !title.isEmpty
    settle(slot, now: now)
  }

  /// Gives a control a second line for the work in hand.
  ///
  /// - Throws: ``Refusal/invalidArgument(_:)``, ``Refusal/limitsExceeded(_:)``.
  package mutating func setDetail(
    _ name: ControlName, _ detail: String, now: Now
  ) throws(Refusal) {
    advance(to: now)
    try check(detail, "detail", most: Limits.detailBytes)
    let slot = try makeSlot(of: name)
    records[slot].control.detail = detail
    settle(slot, now: now)
  }

  /// Sets a control's own enabled flag; a disabled one stays when it is idle.
  ///
  /// - Throws: ``Refusal/limitsExceeded(_:)``.
  package mutating func setEnabled(
    _ name: ControlName, _ enabled: Bool, now: Now
  ) throws(Refusal) {
    advance(to: now)
    let slot = try makeSlot(of: name)
    records[slot].control.enabled = enabled
    settle(slot, now: now)
  }

  /// Says how far the work is: 0…1; not known when negative.
  ///
  /// - Throws: ``Refusal/invalidArgument(_:)`` for what is above 1 or not a number;
  ///   ``Refusal/limitsExceeded(_:)``.
  package mutating func setProgress(
    _ name: ControlName, _ fraction: Double, now: Now
  ) throws(Refusal) {
    advance(to: now)
    let progress = try progress(of: fraction)
    let slot = try makeSlot(of: name)
    records[slot].control.progress = progress
    settle(slot, now: now)
  }
}

extension Control {
  /// What a Show changes of a switch that is on.
  ///
  /// A new grace counts from when the switch was turned on, and a minimum can only be made longer.
  mutating func changeSwitch(_ options: HolderOptions, _ table: [Hold]) {
    if options.isEmpty { return }
    let old = switchState!.holder
    let new = Holder(
      sender: old.sender, application: options.application ?? old.application, since: old.since,
      sinceRealtime: old.sinceRealtime, grace: options.grace ?? old.grace,
      minimum: max(old.minimum, options.minimum ?? .zero), order: old.order)
    switchState!.holder = new
    // As a holder it goes and comes again, with the same age.
    holderWent(old.graceEnd, table)
    holderCame(new)
  }
}
