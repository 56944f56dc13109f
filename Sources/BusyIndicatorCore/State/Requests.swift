// SPDX-License-Identifier: MIT

// What callers ask for, as the D-Bus front has read it: the types are right, the values are not
// checked yet.

/// The time at which an event happens, on the three clocks that matter; read once a turn.
package struct Now: Equatable, Sendable {
  /// `CLOCK_BOOTTIME`: countdowns by default, ttl leases and a Show's time limit.
  package var boottime: Microseconds
  /// `CLOCK_MONOTONIC`: grace, minimum, linger, and countdowns that ask for it.
  package var monotonic: Microseconds
  /// `CLOCK_REALTIME`: only ever shown, never reckoned with.
  package var realtime: Microseconds

  /// The three instants.
  package init(boottime: Microseconds, monotonic: Microseconds, realtime: Microseconds) {
    self.boottime = boottime
    self.monotonic = monotonic
    self.realtime = realtime
  }

  /// The instant on the clock of a countdown.
  func on(_ clock: Clock) -> Microseconds {
    switch clock {
    case .boottime: boottime
    case .monotonic: monotonic
    }
  }
}

/// What the daemon's command line settles.
package struct Configuration: Equatable, Sendable {
  /// How many controls there may be.
  package var maxControls = Limits.controls
  /// How many holds there may be.
  package var maxHolds = Limits.holds
  /// How many of them one caller may have.
  package var maxHoldsPerSender = Limits.holdsPerSender
  /// The grace of a holder that names none.
  package var grace = Microseconds.zero
  /// The minimum of a holder that names none.
  package var minimum = Microseconds.zero
  /// How long an idle control stays.
  package var linger = Microseconds(seconds: 60)

  /// The defaults.
  package init() {}
}

/// Texts that a call gives the control besides what it does; nil leaves one as it is.
package struct Attributes: Equatable, Sendable {
  /// The control's title.
  package var title: String?
  /// The second line.
  package var detail: String?
  /// A name of the icon theme.
  package var icon: String?
  /// A desktop entry, without `.desktop`.
  package var desktopEntry: String?

  /// None of them.
  package init() {}

  /// Whether all is left as it is.
  var isEmpty: Bool { title == nil && detail == nil && icon == nil && desktopEntry == nil }
}

/// What a holder says of itself; nil is the daemon's default.
package struct HolderOptions: Equatable, Sendable {
  /// The application on whose behalf it holds.
  package var application: String?
  /// How long it has to last until it is shown.
  package var grace: Microseconds?
  /// How long it is shown at least.
  package var minimum: Microseconds?

  /// The defaults.
  package init() {}

  /// Whether all is the default.
  var isEmpty: Bool { application == nil && grace == nil && minimum == nil }
}

/// The options of ShowIndicatorWithOptions.
package struct ShowOptions: Equatable, Sendable {
  /// Texts for the control.
  package var attributes = Attributes()
  /// What the switch says of itself as a holder.
  package var holder = HolderOptions()
  /// After which time the switch turns off by itself, from this call on; above zero.
  package var timeout: Microseconds?

  /// What ShowIndicator asks for.
  package init() {}

  /// Whether nothing is asked for but that the switch be on.
  var isEmpty: Bool { timeout == nil && holder.isEmpty && attributes.isEmpty }
}

/// On what a hold depends, as it is asked for.
package enum Lease: Equatable, Sendable {
  /// On its caller's being on the bus.
  case sender
  /// On a process, known by its number and its start time in kernel ticks.
  case process(pid: UInt32, startTime: UInt64)
  /// On being renewed each time before this has passed; above zero.
  case ttl(Microseconds)
  /// On nothing.
  case none
}

/// The arguments of Hold but for the control.
package struct HoldOptions: Equatable, Sendable {
  /// Why the control is held, for people to read.
  package var reason: String
  /// Texts for the control.
  package var attributes = Attributes()
  /// What the hold says of itself as a holder.
  package var holder = HolderOptions()
  /// What ends it by itself.
  package var lease = Lease.sender
  /// Whether to refuse when the control is busy.
  package var exclusive = false
  /// After which time its end is worth a notification; nil: never.
  package var notifyAfter: Microseconds?

  /// A hold with a reason and no options.
  package init(reason: String) { self.reason = reason }
}

/// The options of StartCountdownWithOptions.
package struct CountdownOptions: Equatable, Sendable {
  /// Texts for the control.
  package var attributes = Attributes()
  /// What the countdown says of itself as a holder, if it is one.
  package var holder = HolderOptions()
  /// Seconds between ticks; 0: no ticks.
  package var interval: UInt32 = 1
  /// Whether the control is busy as long as the countdown lives.
  package var indicator = false
  /// What to do when there is a countdown already.
  package var restart = RestartPolicy.replace
  /// The clock on which it runs.
  package var clock = Clock.boottime
  /// Whether it is cancelled when its caller leaves the bus.
  package var endsWithSender = false
  /// Whether it stands still at first.
  package var paused = false
  /// Whether its finishing is worth a notification.
  package var notify = false

  /// What StartCountdown asks for.
  package init() {}
}
