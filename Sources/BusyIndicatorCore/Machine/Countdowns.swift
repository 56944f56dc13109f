// SPDX-License-Identifier: MIT

// Countdowns: a control has one at most, and each ends exactly once. One is a deadline or, while it
// is paused, what remained; never a number that is counted down.

extension IndicatorStateMachine {
  /// Starts a countdown, or does with the one that is there as `options.restart` says.
  ///
  /// - Returns: the id of the new one, which is never 0 and never given again; or of the one that
  ///   was kept or extended.
  /// - Throws: ``Refusal/invalidArgument(_:)``, ``Refusal/countdownActive(_:countdown:)``,
  ///   ``Refusal/limitsExceeded(_:)``.
  package mutating func startCountdown(
    _ name: ControlName, duration: Microseconds, _ options: CountdownOptions, sender: String,
    now: Now
  ) throws(Refusal) -> UInt32 {
    advance(to: now)
    try options.validate(duration: duration)
    let place = place(of: name)
    if let place, let countdown = records[place].control.countdown {
      switch options.restart {
      case .replace: break
      case .keep: return countdown.id
      case .reject: throw .countdownActive(name, countdown: countdown.id)
      case .extend:
        try extend(place, by: duration, now: now)
        return countdown.id
      }
    }
    guard lastCountdown < .max else {
      throw .limitsExceeded("The countdowns' ids have come to their end with \(lastCountdown).")
    }
    let slot = try makeSlot(of: name, at: place)
    records[slot].control.apply(options.attributes)
    if records[slot].control.isCounting { cancel(slot, .replaced) }
    begin(slot, duration, options, sender: sender, now: now)
    settle(slot, now: now)
    return lastCountdown
  }

  /// Lets a countdown stand still and keep what remains; nothing when it does already.
  ///
  /// - Throws: ``Refusal/noCountdown(_:)``.
  package mutating func pauseCountdown(_ name: ControlName, now: Now) throws(Refusal) {
    let slot = try slot(ofCountdown: name, now: now)
    let countdown = records[slot].control.countdown!
    guard case .running = countdown.phase else { return }
    touch(slot)
    let remaining = countdown.remaining(now: now)
    records[slot].control.countdown!.phase = .paused(remaining: remaining)
    settle(slot, now: now)
  }

  /// Lets a countdown go on that stood still; nothing when it runs.
  ///
  /// - Throws: ``Refusal/noCountdown(_:)``.
  package mutating func resumeCountdown(_ name: ControlName, now: Now) throws(Refusal) {
    let slot = try slot(ofCountdown: name, now: now)
    guard case .paused(let remaining) = records[slot].control.countdown!.phase else { return }
    touch(slot)
    records[slot].control.countdown!.run(for: remaining, now: now)
    emitTick(slot, remaining)
    settle(slot, now: now)
  }

  /// Makes a countdown longer, or shorter when `seconds` is negative; down to nothing it finishes.
  ///
  /// - Throws: ``Refusal/noCountdown(_:)``; ``Refusal/invalidArgument(_:)`` when it would come to be
  ///   longer than ``Microseconds/longest``.
  package mutating func extendCountdown(
    _ name: ControlName, seconds: Int32, now: Now
  ) throws(Refusal) {
    let slot = try slot(ofCountdown: name, now: now)
    let change = Microseconds(magnitudeOf: seconds)
    if seconds >= 0 {
      try extend(slot, by: change, now: now)
    } else {
      shorten(slot, by: change, now: now)
    }
  }

  /// Ends a countdown before its time.
  ///
  /// - Throws: ``Refusal/noCountdown(_:)``.
  package mutating func cancelCountdown(_ name: ControlName, now: Now) throws(Refusal) {
    let slot = try slot(ofCountdown: name, now: now)
    cancel(slot, .cancelled)
    settle(slot, now: now)
  }

  // MARK: - Beginning

  private mutating func begin(
    _ slot: Int, _ duration: Microseconds, _ options: CountdownOptions, sender: String, now: Now
  ) {
    lastCountdown += 1
    if duration == .zero {
      // It is over at once, but it has been: what belongs to the work goes with it.
      records[slot].control.noteMomentaryWork()
      finished(slot, lastCountdown, notify: options.notify, duration)
      return
    }
    var countdown = Countdown(
      id: lastCountdown, duration: duration, clock: options.clock,
      interval: Microseconds(seconds: options.interval), indicator: options.indicator,
      endsWithSender: options.endsWithSender, notify: options.notify,
      holder: makeHolder(options.holder, sender: sender, now: now),
      phase: .paused(remaining: duration))
    if !options.paused { countdown.run(for: duration, now: now) }
    records[slot].control.countdown = countdown
    if countdown.indicator { records[slot].control.holderCame(countdown.holder) }
    if countdown.endsWithSender {
      changeSender(sender) { $0.countdowns.insert(Int32(truncatingIfNeeded: slot)) }
    }
    emitTick(slot, duration)
  }

  // MARK: - Going on

  private mutating func slot(ofCountdown name: ControlName, now: Now) throws(Refusal) -> Int {
    advance(to: now)
    guard let slot = existingSlot(of: name), records[slot].control.isCounting else {
      throw .noCountdown(name)
    }
    return slot
  }

  private mutating func extend(
    _ slot: Int, by change: Microseconds, now: Now
  ) throws(Refusal) {
    let countdown = records[slot].control.countdown!
    let remaining = countdown.remaining(now: now) + change
    let duration = countdown.duration + change
    guard remaining <= .longest, duration <= .longest else {
      throw .invalidArgument(
        "An extension by \(change) makes a countdown of more than \(Microseconds.longest).")
    }
    touch(slot)
    records[slot].control.countdown!.duration = duration
    records[slot].control.countdown!.setRemaining(remaining, now: now)
    emitTick(slot, remaining)
    settle(slot, now: now)
  }

  private mutating func shorten(_ slot: Int, by change: Microseconds, now: Now) {
    touch(slot)
    let countdown = records[slot].control.countdown!
    let remaining = countdown.remaining(now: now)
    let less = min(change, remaining)
    records[slot].control.countdown!.duration = countdown.duration - less
    if less == remaining {
      finish(countdownOf: slot)
    } else {
      records[slot].control.countdown!.setRemaining(remaining - less, now: now)
      emitTick(slot, remaining - less)
    }
    settle(slot, now: now)
  }

  /// Tells at once what remains, unless there are to be no ticks.
  private mutating func emitTick(_ slot: Int, _ remaining: Microseconds) {
    let countdown = records[slot].control.countdown!
    guard countdown.interval > .zero else { return }
    events.append(
      .tick(
        control: records[slot].name, remaining: remaining.wholeSecondsRoundedUp,
        countdown: countdown.id))
  }

  /// Does what a countdown on `clock` has due at `instant`: tells what remains, or ends.
  mutating func runCountdown(_ slot: Int, on clock: Clock, due instant: Microseconds, now: Now) {
    switch records[slot].control.countdown?.run(on: clock, due: instant, now: now) {
    case .none, .nothing: break
    case .tick(let remaining, let id):
      events.append(.tick(control: records[slot].name, remaining: remaining, countdown: id))
    case .end:
      touch(slot)
      finish(countdownOf: slot)
    }
  }

  // MARK: - Ending

  /// Ends a countdown before its time, without settling its control.
  mutating func cancel(_ slot: Int, _ reason: CancelReason) {
    touch(slot)
    let countdown = take(countdownOf: slot)
    records[slot].control.lastResult = reason.rawValue
    records[slot].control.lastCountdown = countdown.id
    events.append(
      .cancelled(control: records[slot].name, countdown: countdown.id, reason: reason))
  }

  /// Ends a countdown that has run out, without settling its control.
  private mutating func finish(countdownOf slot: Int) {
    let countdown = take(countdownOf: slot)
    finished(slot, countdown.id, notify: countdown.notify, countdown.duration)
  }

  private mutating func finished(
    _ slot: Int, _ id: UInt32, notify: Bool, _ duration: Microseconds
  ) {
    records[slot].control.lastResult = "finished"
    records[slot].control.lastCountdown = id
    events.append(
      .finished(
        FinishedCountdown(
          control: records[slot].name, countdown: id, notify: notify, duration: duration,
          title: records[slot].control.title)))
  }

  private mutating func take(countdownOf slot: Int) -> Countdown {
    let countdown = records[slot].control.countdown.take()!
    if countdown.indicator {
      records[slot].control.holderWent(countdown.holder.graceEnd, holds)
    }
    if countdown.endsWithSender {
      changeSender(countdown.holder.sender) {
        $0.countdowns.remove(Int32(truncatingIfNeeded: slot))
      }
    }
    return countdown
  }
}
