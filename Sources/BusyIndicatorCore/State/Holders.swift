// SPDX-License-Identifier: MIT

// What makes a control busy. Three kinds of thing do, and all are holders.

/// What all holders have: who it is, since when, and how it wants to be shown.
///
/// One never changes, so that what was last announced can share it; a holder that is to be shown
/// otherwise gets another.
package final class Holder: Sendable {
  /// The unique name of the caller.
  package let sender: String
  /// The application on whose behalf it holds; may be empty.
  package let application: String
  /// When it began, on the monotonic clock.
  package let since: Microseconds
  /// When it began, for people to read.
  package let sinceRealtime: Microseconds
  /// How long it has to last until it is shown.
  package let grace: Microseconds
  /// How long it is shown at least.
  package let minimum: Microseconds
  /// Its place among all holders that ever began; never the same twice.
  package let order: UInt64

  /// All of it.
  package init(
    sender: String, application: String, since: Microseconds, sinceRealtime: Microseconds,
    grace: Microseconds, minimum: Microseconds, order: UInt64
  ) {
    self.sender = sender
    self.application = application
    self.since = since
    self.sinceRealtime = sinceRealtime
    self.grace = grace
    self.minimum = minimum
    self.order = order
  }

  /// When it is to be shown, if it is still there.
  var graceEnd: Microseconds { since + grace }

  /// Whether both are shown alike, but for their place among others.
  func looks(like other: Holder) -> Bool {
    self === other
      || (sinceRealtime == other.sinceRealtime && sender.hasSameBytes(as: other.sender)
        && application.hasSameBytes(as: other.application))
  }
}

extension Holder: Equatable {
  /// Whether all of it is the same.
  package static func == (left: Holder, right: Holder) -> Bool {
    left === right
      || (left.looks(like: right) && left.since == right.since && left.grace == right.grace
        && left.minimum == right.minimum && left.order == right.order)
  }
}

/// The switch of a control, while it is on.
package struct Switch: Equatable, Sendable {
  /// Since when it is on, and by whom.
  package var holder: Holder
  /// When it turns off by itself, on the boottime clock.
  package var limit: Microseconds?

  /// All of it.
  package init(holder: Holder, limit: Microseconds? = nil) {
    self.holder = holder
    self.limit = limit
  }
}

/// One hold.
package struct Hold: Equatable, Sendable {
  /// What a hold depends on.
  package enum Lease: Equatable, Sendable {
    /// On its caller's being on the bus.
    case sender
    /// On a process, known by its number and its start time in kernel ticks.
    case process(pid: UInt32, startTime: UInt64)
    /// On a Renew before it expires, on the boottime clock; each gives it the duration anew.
    case ttl(duration: Microseconds, expiry: Microseconds)
    /// On nothing.
    case none

    /// The word for it.
    package var kind: LeaseKind {
      switch self {
      case .sender: .sender
      case .process: .pid
      case .ttl: .ttl
      case .none: .none
      }
    }

    /// When it expires, if it does.
    var expiry: Microseconds? {
      if case .ttl(_, let expiry) = self { expiry } else { nil }
    }
  }

  /// The number by which it is released.
  package var cookie: UInt32
  /// The slot of the control that it holds.
  var control: Int32
  /// Why it holds.
  package var reason: String
  /// What ends it by itself.
  package var lease: Lease
  /// Since when it holds, and for whom.
  package var holder: Holder
  /// After which time its end is worth a notification; nil: never.
  package var notifyAfter: Microseconds?

  /// What stands in a free place of the machine's table.
  static let free = Hold(
    cookie: 0, reason: "", lease: .none,
    holder: Holder(
      sender: "", application: "", since: .zero, sinceRealtime: .zero, grace: .zero,
      minimum: .zero, order: 0), notifyAfter: nil)

  /// All of it; the slot of the control is the machine's to know.
  package init(
    cookie: UInt32, control: Int32 = -1, reason: String, lease: Lease, holder: Holder,
    notifyAfter: Microseconds?
  ) {
    self.cookie = cookie
    self.control = control
    self.reason = reason
    self.lease = lease
    self.holder = holder
    self.notifyAfter = notifyAfter
  }
}

/// The countdown of a control.
package struct Countdown: Equatable, Sendable {
  /// Whether it runs, with what belongs to each.
  package enum Phase: Equatable, Sendable {
    /// It ends at `deadline` on its clock; at `nextTick`, if there is one more, it is to tell.
    case running(deadline: Microseconds, nextTick: Microseconds?)
    /// It stands still.
    case paused(remaining: Microseconds)
  }

  /// Its id.
  package var id: UInt32
  /// How long it lasts in all, extensions included.
  package var duration: Microseconds
  /// The clock on which it runs.
  package var clock: Clock
  /// The time between ticks; zero: there are none.
  package var interval: Microseconds
  /// Whether it is a holder.
  package var indicator: Bool
  /// Whether it ends when its caller leaves the bus.
  package var endsWithSender: Bool
  /// Whether its finishing is worth a notification.
  package var notify: Bool
  /// Who started it and when; as a holder it counts only with `indicator`.
  package var holder: Holder
  /// Whether it runs.
  package var phase: Phase

  /// All of it.
  package init(
    id: UInt32, duration: Microseconds, clock: Clock, interval: Microseconds, indicator: Bool,
    endsWithSender: Bool, notify: Bool, holder: Holder, phase: Phase
  ) {
    self.id = id
    self.duration = duration
    self.clock = clock
    self.interval = interval
    self.indicator = indicator
    self.endsWithSender = endsWithSender
    self.notify = notify
    self.holder = holder
    self.phase = phase
  }

  /// What is left of it; never less than nothing.
  func remaining(now: Now) -> Microseconds {
    switch phase {
    case .running(let deadline, _): deadline - now.on(clock)
    case .paused(let remaining): remaining
    }
  }

  /// Lets it run for another `remaining`.
  mutating func run(for remaining: Microseconds, now: Now) {
    let deadline = now.on(clock) + remaining
    phase = .running(
      deadline: deadline, nextTick: Self.nextTick(deadline, remaining: remaining, interval))
  }

  /// Lets it end or stand still with another `remaining`, as it does already.
  mutating func setRemaining(_ remaining: Microseconds, now: Now) {
    switch phase {
    case .running: run(for: remaining, now: now)
    case .paused: phase = .paused(remaining: remaining)
    }
  }

  /// What a countdown has to tell when something was due.
  enum Step {
    /// Nothing.
    case nothing
    /// The seconds that remain.
    case tick(remaining: UInt32, countdown: UInt32)
    /// That it has run out.
    case end
  }

  /// Goes on with what was due at `instant`, if that is on its clock.
  ///
  /// After a late wake-up the ticks in between are left out, since the next is reckoned from what
  /// remains now. None is told when it has run out meanwhile, which comes next.
  mutating func run(on clock: Clock, due instant: Microseconds, now: Now) -> Step {
    guard clock == self.clock, case .running(let deadline, let nextTick) = phase else {
      return .nothing
    }
    if deadline <= instant { return .end }
    guard let nextTick, nextTick <= instant else { return .nothing }
    let remaining = deadline - now.on(clock)
    phase = .running(
      deadline: deadline, nextTick: Self.nextTick(deadline, remaining: remaining, interval))
    if remaining == .zero { return .nothing }
    return .tick(remaining: remaining.wholeSecondsRoundedUp, countdown: id)
  }

  /// Goes on with the next tick that is still to come.
  mutating func skipMissedTicks(now: Now) {
    guard case .running(let deadline, _) = phase, deadline > now.on(clock) else { return }
    phase = .running(
      deadline: deadline,
      nextTick: Self.nextTick(deadline, remaining: deadline - now.on(clock), interval))
  }

  /// When a whole multiple of the interval will be left, down to one interval.
  private static func nextTick(
    _ deadline: Microseconds, remaining: Microseconds, _ interval: Microseconds
  ) -> Microseconds? {
    remaining.greatestLesserMultiple(of: interval).map { deadline - $0 }
  }

  /// When something is to happen to it by itself, on its clock.
  var due: Microseconds? {
    if case .running(let deadline, let nextTick) = phase { nextTick ?? deadline } else { nil }
  }
}
