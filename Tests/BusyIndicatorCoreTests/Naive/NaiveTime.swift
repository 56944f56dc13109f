// SPDX-License-Identifier: MIT

@testable import BusyIndicatorCore

// The naive model: countdowns, and what time brings.

extension NaiveModel {
  mutating func startCountdown(
    _ name: String, _ duration: UInt64, _ options: CountdownOptions, _ sender: String
  ) -> Result<UInt32, NaiveError> {
    if let at = index(name), let old = controls[at].countdown {
      switch options.restart {
      case .replace: break
      case .keep: return .success(old.id)
      case .reject: return .failure(.init(.countdownActive))
      case .extend:
        change(at, by: Int64(duration))
        return .success(old.id)
      }
    }
    guard let at = make(name) else { return .failure(.init(.limitsExceeded)) }
    apply(options.attributes, at)
    if controls[at].countdown != nil { endCountdown(at, .replaced) }
    lastCountdown += 1
    controls[at].wasWorking = true
    controls[at].idleSince = nil
    var new = NaiveCountdown(
      id: lastCountdown, duration: duration, clock: options.clock,
      interval: UInt64(options.interval) * 1_000_000, sender: sender,
      endsWithSender: options.endsWithSender, notify: options.notify)
    if options.paused {
      new.pausedWith = duration
    } else {
      new.deadline = instant(options.clock) + duration
      new.lastTick = instant(options.clock)
    }
    controls[at].countdown = new
    if duration == 0 {
      endCountdown(at, nil)
    } else {
      if options.indicator {
        var holder = holder(.countdown, options.holder, sender)
        if options.endsWithSender { holder.lease = .sender }
        controls[at].holders.append(holder)
      }
      tick(at)
    }
    rest(at)
    return .success(new.id)
  }

  func left(_ countdown: NaiveCountdown) -> UInt64 {
    countdown.pausedWith ?? (countdown.deadline! - instant(countdown.clock))
  }

  /// Tells what is left, by rounding up.
  mutating func tick(_ at: Int) {
    let countdown = controls[at].countdown!
    controls[at].countdown!.lastTick = instant(countdown.clock)
    guard countdown.interval > 0 else { return }
    let seconds = (left(countdown) + 999_999) / 1_000_000
    events.append(
      .tick(
        control: try! ControlName(controls[at].name), remaining: UInt32(seconds),
        countdown: countdown.id))
  }

  mutating func pause(_ name: String) -> ErrorName? {
    guard let at = index(name), let countdown = controls[at].countdown else { return .noCountdown }
    controls[at].countdown!.pausedWith = left(countdown)
    controls[at].countdown!.deadline = nil
    rest(at)
    return nil
  }

  mutating func resume(_ name: String) -> ErrorName? {
    guard let at = index(name), let countdown = controls[at].countdown else { return .noCountdown }
    guard let left = countdown.pausedWith else { return nil }
    controls[at].countdown!.deadline = instant(countdown.clock) + left
    controls[at].countdown!.pausedWith = nil
    tick(at)
    rest(at)
    return nil
  }

  mutating func extend(_ name: String, _ seconds: Int32) -> ErrorName? {
    guard let at = index(name), controls[at].countdown != nil else { return .noCountdown }
    change(at, by: Int64(seconds) * 1_000_000)
    return nil
  }

  mutating func cancel(_ name: String) -> ErrorName? {
    guard let at = index(name), controls[at].countdown != nil else { return .noCountdown }
    endCountdown(at, .cancelled)
    rest(at)
    return nil
  }

  private mutating func change(_ at: Int, by change: Int64) {
    let countdown = controls[at].countdown!
    let old = Int64(left(countdown))
    let new = max(0, old + change)
    controls[at].countdown!.duration = UInt64(Int64(countdown.duration) + new - old)
    if new == 0 {
      endCountdown(at, nil)
    } else {
      if countdown.deadline == nil {
        controls[at].countdown!.pausedWith = UInt64(new)
      } else {
        controls[at].countdown!.deadline = instant(countdown.clock) + UInt64(new)
      }
      tick(at)
    }
    rest(at)
  }

  /// Ends a countdown, by running out when no reason is given.
  mutating func endCountdown(_ at: Int, _ reason: CancelReason?) {
    let countdown = controls[at].countdown!
    controls[at].countdown = nil
    controls[at].holders.removeAll { $0.kind == .countdown }
    controls[at].result = reason?.rawValue ?? "finished"
    controls[at].resultID = countdown.id
    let control = try! ControlName(controls[at].name)
    if let reason {
      events.append(.cancelled(control: control, countdown: countdown.id, reason: reason))
    } else {
      events.append(
        .finished(
          FinishedCountdown(
            control: control, countdown: countdown.id, notify: countdown.notify,
            duration: Microseconds(rawValue: countdown.duration), title: controls[at].title)))
    }
  }

  // MARK: - Time

  /// Works out everything that follows from the holders and the countdown.
  mutating func rest(_ at: Int, late: UInt64 = 0) {
    let instant = monotonic > late ? monotonic - late : 0
    var control = controls[at]
    let busy = !control.holders.isEmpty
    if !busy { control.busySince = nil }
    if busy, control.busySince == nil { control.busySince = now.realtime.rawValue }
    let working = busy || control.countdown != nil
    if control.wasWorking, !working {
      control.progress = nil
      control.detail = ""
    }
    control.wasWorking = working
    if control.shownSince == nil,
      control.holders.contains(where: { $0.since + $0.grace <= instant })
    {
      control.shownSince = monotonic
      control.longestMinimum = 0
    }
    if let since = control.shownSince {
      for holder in control.holders {
        control.longestMinimum = max(control.longestMinimum, holder.minimum)
      }
      if !busy, since + control.longestMinimum <= instant { control.shownSince = nil }
    }
    let idle = !working && control.shownSince == nil
    if idle && !control.titleIsHeld && control.enabled {
      control.idleSince = control.idleSince ?? monotonic
    } else {
      control.idleSince = nil
    }
    controls[at] = control
  }

  struct Due {
    enum What { case holdEnds, switchEnds, countdown, grace, minimum, linger }
    var what: What
    var clock: Clock
    var at: UInt64
    var serial: Int
    var cookie: UInt32 = 0

    /// Its place among things that are equally late.
    var place: (rank: Int, control: Int, within: UInt32) {
      // Of one control what ends something comes before what begins to be shown.
      let isEnd = what == .switchEnds || what == .countdown
      return rank == 0 ? (0, 0, cookie) : (rank, serial, isEnd ? 0 : 1)
    }

    private var rank: Int {
      switch (what, clock) {
      case (.holdEnds, _): 0
      case (_, .boottime): 1
      case (.linger, _): 3
      case (_, .monotonic): 2
      }
    }
  }

  /// Everything that is going to happen by itself.
  var pending: [Due] {
    var all: [Due] = []
    for control in controls {
      let serial = control.serial
      for holder in control.holders {
        if let end = holder.end {
          let what: Due.What = holder.kind == .hold ? .holdEnds : .switchEnds
          all.append(
            Due(what: what, clock: .boottime, at: end, serial: serial, cookie: holder.cookie))
        }
        if control.shownSince == nil {
          let end = holder.since + holder.grace
          all.append(Due(what: .grace, clock: .monotonic, at: end, serial: serial))
        }
      }
      if let countdown = control.countdown, let due = countdown.due {
        all.append(Due(what: .countdown, clock: countdown.clock, at: due, serial: serial))
      }
      if let since = control.shownSince, control.holders.isEmpty {
        let end = since + control.longestMinimum
        all.append(Due(what: .minimum, clock: .monotonic, at: end, serial: serial))
      }
      if let since = control.idleSince {
        let end = since + configuration.linger.rawValue
        all.append(Due(what: .linger, clock: .monotonic, at: end, serial: serial))
      }
    }
    return all
  }

  mutating func advance() {
    while true {
      let due = pending.filter { $0.at <= instant($0.clock) }
      func lateness(_ due: Due) -> UInt64 { instant(due.clock) - due.at }
      let next = due.min {
        lateness($0) != lateness($1) ? lateness($0) > lateness($1) : $0.place < $1.place
      }
      guard let next else { return }
      happen(next)
    }
  }

  private mutating func happen(_ due: Due) {
    let late = instant(due.clock) - due.at
    let at = controls.firstIndex { $0.serial == due.serial }!
    switch due.what {
    case .holdEnds: end(due.cookie, "expired", .expired, late: late)
    case .switchEnds:
      controls[at].holders.removeAll { $0.kind == .switch }
      rest(at, late: late)
    case .countdown:
      let countdown = controls[at].countdown!
      if countdown.deadline! <= due.at {
        endCountdown(at, nil)
        rest(at, late: late)
      } else if countdown.deadline! <= instant(due.clock) {
        // It has run out meanwhile: that alone is told, when its turn comes.
        controls[at].countdown!.lastTick = countdown.deadline!
      } else {
        tick(at)
      }
    case .grace, .minimum: rest(at, late: late)
    case .linger: controls.remove(at: at)
    }
  }
}
