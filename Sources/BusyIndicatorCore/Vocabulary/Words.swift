// SPDX-License-Identifier: MIT

// The words of the D-Bus interface: each enum's raw values are what stands on the wire. A receiver
// has to tolerate words that it does not know, since a later daemon may have more.

/// What ends a hold without anybody's doing: the option `lease`, and `lease` in `Holders`.
public enum LeaseKind: String, CaseIterable, Sendable {
  /// Its caller leaves the bus.
  case sender
  /// A process ends.
  case pid
  /// A time passes without a Renew.
  case ttl
  /// Nothing: it holds until it is released.
  case none
}

/// The clock on which a countdown runs: the option `clock`, and the property `CountdownClock`.
public enum Clock: String, CaseIterable, Sendable {
  /// `CLOCK_BOOTTIME`: goes on while the machine is suspended.
  case boottime
  /// `CLOCK_MONOTONIC`: stands still while the machine is suspended.
  case monotonic
}

/// Why a countdown ended before its time: the signal `Cancelled`.
public enum CancelReason: String, CaseIterable, Sendable {
  /// CancelCountdown was called.
  case cancelled
  /// Another countdown was started on the control.
  case replaced
  /// Its caller left the bus, and its lease was `sender`.
  case ownerLost = "owner-lost"
  /// The control was forgotten.
  case forgotten
}

/// Why a hold ended other than by its holder's Release: the signal `HoldEnded`.
public enum HoldEndReason: String, CaseIterable, Sendable {
  /// Somebody else released it, alone or with all others.
  case releasedByOther = "released-by-other"
  /// Its time passed without a Renew.
  case expired
  /// Its process ended.
  case ownerLost = "owner-lost"
  /// The control was forgotten.
  case forgotten
}

/// What starting a countdown does when there is one already: the option `restart`.
public enum RestartPolicy: String, CaseIterable, Sendable {
  /// Ends the old one and starts the new one.
  case replace
  /// Leaves the old one alone and returns its id.
  case keep
  /// Fails with the error CountdownActive.
  case reject
  /// Adds the duration to the old one and returns its id.
  case extend
}

/// How a control's countdown fares: the property `CountdownState`.
public enum CountdownState: String, CaseIterable, Sendable {
  /// There is none.
  case none
  /// It runs towards its deadline.
  case running
  /// It stands still and keeps what remains.
  case paused
}

/// What makes a control busy: `kind` in `Holders`.
public enum HolderKind: String, CaseIterable, Sendable {
  /// Its switch, turned on by Show.
  case `switch`
  /// A hold.
  case hold
  /// A countdown with `indicator`.
  case countdown
}
