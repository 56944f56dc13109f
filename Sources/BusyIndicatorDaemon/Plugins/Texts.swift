// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore

/// All texts that plugins show to people.
enum Texts {
  /// The daemon, where a name for people is wanted.
  static let application = "Busy indicators"

  // MARK: - Durations

  /// How long something took, in two units at most: `350 ms`, `5 s`, `2 min 5 s`, `3 h 20 min`.
  static func length(_ duration: Microseconds) -> String {
    guard duration.rawValue >= Microseconds.perSecond else {
      return "\(duration.rawValue / 1000) ms"
    }
    let seconds = duration.rawValue / Microseconds.perSecond
    if seconds < 60 { return "\(seconds) s" }
    if seconds < 3600 { return pair(seconds, unit: 60, "min", rest: 1, "s") }
    if seconds < 48 * 3600 { return pair(seconds, unit: 3600, "h", rest: 60, "min") }
    return pair(seconds, unit: 24 * 3600, "d", rest: 3600, "h")
  }

  /// What is left, the coarser the more it is: a text that changes a few times is worth sending.
  static func left(_ remaining: Microseconds) -> String {
    let grain = grain(of: remaining)
    let amount = (remaining.rawValue.roundedUp(to: grain)) / Microseconds.perSecond
    if amount < 60 || (amount == 60 && grain == Microseconds.perSecond) {
      return "\(amount) s left"
    }
    return length(Microseconds(rawValue: amount * Microseconds.perSecond)) + " left"
  }

  /// How long ``left(_:)`` stays as it is, in microseconds.
  static func nextChange(ofLeft remaining: Microseconds) -> UInt64? {
    guard remaining > .zero else { return nil }
    let grain = grain(of: remaining)
    let shown = remaining.rawValue.roundedUp(to: grain)
    return remaining.rawValue - (shown - grain)
  }

  /// Seconds in the last minute, minutes up to two days, hours beyond.
  private static func grain(of remaining: Microseconds) -> UInt64 {
    let minute = 60 * Microseconds.perSecond
    if remaining.rawValue <= minute { return Microseconds.perSecond }
    return remaining.rawValue <= 48 * 60 * minute ? minute : 60 * minute
  }

  private static func pair(
    _ seconds: UInt64, unit: UInt64, _ unitName: String, rest: UInt64, _ restName: String
  ) -> String {
    let whole = "\(seconds / unit) \(unitName)"
    let remainder = seconds % unit / rest
    return remainder == 0 ? whole : whole + " \(remainder) \(restName)"
  }

  // MARK: - What goes on

  /// One control in a line: `Export: 60 %, 12 of 90 files`.
  static func line(_ activity: Activity) -> String {
    var parts: [String] = []
    if let progress = activity.progress { parts.append("\(progress.wholeSteps(of: 100)) %") }
    if let countdown = activity.countdown {
      parts.append(left(countdown.remaining) + (countdown.isPaused ? " (paused)" : ""))
    }
    if !activity.detail.isEmpty { parts.append(activity.detail) }
    if parts.isEmpty { parts.append("busy") }
    return activity.label + ": " + parts.joined(separator: ", ")
  }

  /// Where nothing is active.
  static let idle = "Nothing is busy"

  /// The head of the tray's tooltip.
  ///
  /// Without a control's name, since some hosts take it for markup.
  static func heading(count: Int) -> String {
    count == 1 ? "1 active" : "\(count) active"
  }

  /// What stands for those that a list has no room for.
  static func more(_ count: Int) -> String { "… and \(count) more" }

  static let hide = "Hide"
  static let pause = "Pause"
  static let resume = "Resume"
  static let cancel = "Cancel countdown"

  // MARK: - Notifications

  /// The body for a countdown that ran out.
  static func finished(after duration: Microseconds) -> String {
    "The countdown of \(length(duration)) has finished."
  }

  /// The body for work that ended, with how it ended as `LastResult` says it.
  static func ended(after duration: Microseconds, result: String) -> String {
    let time = "after \(length(duration))"
    switch result {
    case "released": return "Done \(time)."
    case "owner-lost": return "Ended unexpectedly \(time)."
    case "expired": return "Gave no more sign of life; ended \(time)."
    case "released-by-other", "forgotten": return "Ended by somebody else \(time)."
    default:
      let prefix = "released: "
      let said = result.hasPrefix(prefix) ? String(result.dropFirst(prefix.count)) : result
      return "Ended \(time): \(said)"
    }
  }

  /// The label of the action that starts another minute.
  static let oneMoreMinute = "+1 min"

  // MARK: - How a plugin fares

  static func present(_ server: String) -> String { "\(server) is there" }
  static func absent(_ server: String) -> String { "\(server) has no owner" }
  static func failed(_ what: String, _ error: String) -> String { "\(what): \(error)" }
}

extension String {
  /// The text where its reader takes markup: `&`, `<` and `>` stand for themselves.
  var escapedForMarkup: String {
    var result = ""
    result.reserveCapacity(utf8.count)
    for character in unicodeScalars {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }

  /// The text as the label of a menu, where an underline marks a key.
  var escapedForMenu: String {
    String(String.UnicodeScalarView(unicodeScalars.flatMap { $0 == "_" ? ["_", "_"] : [$0] }))
  }
}

extension UInt64 {
  /// The next whole multiple of `step` that is not less; the last one there is, near the end.
  fileprivate func roundedUp(to step: UInt64) -> UInt64 {
    let below = self / step * step
    if below == self { return self }
    let (sum, overflow) = below.addingReportingOverflow(step)
    return overflow ? below : sum
  }
}
