// SPDX-License-Identifier: MIT

/// Why a call is refused.
///
/// What is refused has changed nothing.
public enum Refusal: Error, Equatable, Sendable {
  /// This is no name for a control.
  case invalidName(String)
  /// An argument has a value that it cannot have; the sentence says which.
  case invalidArgument(String)
  /// There is no such control.
  case noSuchControl(ControlName)
  /// The control has no countdown, or no longer.
  case noCountdown(ControlName)
  /// The control has a countdown, whose id this is.
  case countdownActive(ControlName, countdown: UInt32)
  /// The control is busy; `holder` describes what has made it so for longest.
  case busy(ControlName, holder: String)
  /// There is no hold with this cookie, or no longer.
  case noSuchHold(UInt32)
  /// There can be no more of something; the sentence says of what.
  case limitsExceeded(String)

  /// The D-Bus error that stands for it.
  public var errorName: String {
    let name: ErrorName =
      switch self {
      case .invalidName: .invalidName
      case .invalidArgument: .invalidArguments
      case .noSuchControl: .noSuchControl
      case .noCountdown: .noCountdown
      case .countdownActive: .countdownActive
      case .busy: .busy
      case .noSuchHold: .noSuchHold
      case .limitsExceeded: .limitsExceeded
      }
    return name.rawValue
  }

  /// One sentence that names the offending value; long ones cut, control characters escaped.
  public var message: String {
    switch self {
    case .invalidName(let raw): Self.fault(ofName: raw)
    case .invalidArgument(let sentence), .limitsExceeded(let sentence): sentence
    case .noSuchControl(let name): "There is no control \(name.rawValue.quoted)."
    case .noCountdown(let name): "The control \(name.rawValue.quoted) has no countdown."
    case .countdownActive(let name, let countdown):
      "The control \(name.rawValue.quoted) has the countdown \(countdown) already."
    case .busy(let name, let holder): "The control \(name.rawValue.quoted) is busy: \(holder)."
    case .noSuchHold(let cookie): "There is no hold with the cookie \(cookie)."
    }
  }

  private static func fault(ofName raw: String) -> String {
    if raw.isEmpty { return "The name of a control has at least one byte, “” has none." }
    let count = raw.utf8.count
    if count > Limits.nameBytes {
      return "The name \(raw.quoted) has \(count) bytes, more than \(Limits.nameBytes)."
    }
    return "The name \(raw.quoted) contains a control character."
  }
}

extension Refusal: CustomStringConvertible {
  /// The sentence.
  public var description: String { message }
}

extension String {
  /// What a peer wrote, fit to stand in a sentence of ours: in quotes, cut, and harmless.
  ///
  /// Control characters, and those that change the direction or the line, are written as their
  /// number: a message may end on a terminal or in a log.
  var quoted: String {
    let most = 64
    var text = "“"
    for (index, scalar) in unicodeScalars.enumerated() {
      if index == most { return text + "…”" }
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        text += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "”"
  }
}
