// SPDX-License-Identifier: MIT

/// What the daemon is called on the session bus, and what its objects and interfaces are.
public enum BusyIndicatorBus {
  /// The well-known name that the daemon owns.
  public static var serviceName: String { "org.busyindicator.BusyIndicator1" }

  /// The path of the one manager object.
  public static var managerPath: String { "/org/busyindicator/BusyIndicator1" }

  /// The path under which every control has an object, without a slash at its end.
  ///
  /// The last element is the control's name, escaped as `sd_bus_path_encode(3)` does it.
  public static var controlPathPrefix: String { "/org/busyindicator/BusyIndicator1/control" }

  /// The interface of the manager object.
  public static var managerInterface: String { "org.busyindicator.BusyIndicator1" }

  /// The interface of every control's object.
  public static var controlInterface: String { "org.busyindicator.BusyIndicator1.Control" }

  /// What the names of the daemon's own errors begin with.
  public static var errorPrefix: String { "org.busyindicator.BusyIndicator1.Error." }
}

/// The D-Bus errors with which the daemon refuses a call; the raw value is the full name.
public enum ErrorName: String, CaseIterable, Sendable {
  /// There is no control of that name.
  case noSuchControl = "org.busyindicator.BusyIndicator1.Error.NoSuchControl"
  /// The control has no countdown, or no longer.
  case noCountdown = "org.busyindicator.BusyIndicator1.Error.NoCountdown"
  /// The control has a countdown, and `restart` is `reject`.
  case countdownActive = "org.busyindicator.BusyIndicator1.Error.CountdownActive"
  /// The control is busy, and the hold was to be exclusive.
  case busy = "org.busyindicator.BusyIndicator1.Error.Busy"
  /// No hold has that cookie, or it has ended.
  case noSuchHold = "org.busyindicator.BusyIndicator1.Error.NoSuchHold"
  /// The control's name is empty, too long or contains a control character.
  case invalidName = "org.busyindicator.BusyIndicator1.Error.InvalidName"
  /// An argument has a value that it cannot have.
  case invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
  /// There are as many controls, holds, or numbers for them as there can be.
  case limitsExceeded = "org.freedesktop.DBus.Error.LimitsExceeded"
}
