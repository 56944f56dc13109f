// SPDX-License-Identifier: MIT

/// Why a request came to nothing: a kind to act on and a sentence to show.
public struct IndicatorError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What went wrong.
  public enum Kind: Equatable, Sendable {
    /// There is no session bus, or the connection to it was lost.
    case noBus
    /// The daemon does not run, and the bus could not or was not to start it.
    case noDaemon
    /// No answer came in time.
    case noAnswer
    /// There is no control of that name.
    case noSuchControl
    /// The control has no countdown, or no longer.
    case noCountdown
    /// The control has a countdown, and `restart` was `.reject`.
    case countdownActive
    /// The control is busy, and the hold was to be exclusive.
    case busy
    /// No hold has that cookie, or it has ended.
    case noSuchHold
    /// The control's name is empty, too long or contains a control character.
    case invalidName
    /// An argument has a value that it cannot have.
    case invalidArguments
    /// There are as many controls or holds as there can be.
    case limitsExceeded
    /// Any other D-Bus error; this is its name.
    case other(String)
  }

  /// What went wrong.
  public let kind: Kind
  /// One sentence for a person.
  public let message: String

  /// An error of that kind with that sentence.
  public init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  /// The sentence.
  public var description: String { message }
}

extension IndicatorError {
  /// What a D-Bus error that answers a request means.
  init(_ error: DBusError) {
    let kind: Kind =
      switch ErrorName(rawValue: error.name) {
      case .noSuchControl: .noSuchControl
      case .noCountdown: .noCountdown
      case .countdownActive: .countdownActive
      case .busy: .busy
      case .noSuchHold: .noSuchHold
      case .invalidName: .invalidName
      case .invalidArguments: .invalidArguments
      case .limitsExceeded: .limitsExceeded
      case nil: Self.kind(ofStandard: error)
      }
    switch kind {
    case .noDaemon: self.init(kind, "busyindicatord is not running and could not be started.")
    case .noAnswer: self.init(kind, "busyindicatord did not answer in time.")
    default: self.init(kind, error.message.isEmpty ? error.name : error.message)
    }
  }

  /// What a D-Bus error that answers a read means, which never starts the daemon.
  init(ofReading error: DBusError) {
    let error = IndicatorError(error)
    self = error.kind == .noDaemon ? Self(.noDaemon, "busyindicatord is not running.") : error
  }

  private static func kind(ofStandard error: DBusError) -> Kind {
    let name = error.name
    if error.isStandard(.disconnected) { return .noBus }
    if error.isStandard(.noReply) || name == "org.freedesktop.DBus.Error.Timeout" {
      return .noAnswer
    }
    if error.isStandard(.serviceUnknown) || error.isStandard(.nameHasNoOwner)
      || name.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
    {
      return .noDaemon
    }
    if error.isStandard(.unknownObject) { return .noSuchControl }
    return .other(name)
  }
}
