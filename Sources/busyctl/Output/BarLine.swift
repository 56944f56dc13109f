// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient

/// What a panel shows in one line: the control that became active last, `+N` for the rest, and all of
/// them in the tooltip.
struct BarContext {
  /// The active controls, those first that have been active for longest.
  let controls: [ControlState]

  init(_ controls: [ControlState]) { self.controls = controls }

  private var shown: ControlState? { controls.last }

  /// The word for the control that is shown.
  var activity: Activity { shown?.activity ?? .idle }

  /// `+N` for those that are not shown; empty when there are none.
  var more: String { controls.count > 1 ? "+\(controls.count - 1)" : "" }

  /// A line for each, oldest first.
  var tooltip: String {
    controls.map { control in
      var parts = [control.label]
      if let remaining = control.remainingText {
        parts.append(control.countdown?.isPaused ?? false ? "\(remaining) (paused)" : remaining)
      }
      if let progress = control.progress { parts.append("\(wholePercent(of: progress))%") }
      if !control.detail.isEmpty { parts.append(control.detail.harmless) }
      return parts.joined(separator: "  ")
    }.joined(separator: "\n")
  }

  /// What a template's field stands for; only the tooltip has line ends.
  func value(of field: Template.Field) -> String {
    guard let shown else { return field == .state ? Activity.idle.rawValue : emptyValue(of: field) }
    switch field {
    case .name: return shown.name.harmless
    case .title: return shown.title.harmless
    case .label: return shown.label
    case .detail: return shown.detail.harmless
    case .icon: return shown.icon.harmless
    case .desktopEntry: return shown.desktopEntry.harmless
    case .state: return shown.activity.rawValue
    case .result: return shown.lastResult.harmless
    case .percent: return shown.percent.map { "\($0)%" } ?? ""
    case .progress: return shown.progress.map { "\($0)" } ?? ""
    case .active: return "\(controls.count(where: \.isActive))"
    case .more: return more
    case .tooltip: return tooltip
    case .remaining, .remainingMicroseconds, .elapsed, .durationMicroseconds, .endsAt:
      return shown.countdown.map { Self.value(of: field, $0) } ?? ""
    }
  }

  private func emptyValue(of field: Template.Field) -> String { field == .active ? "0" : "" }

  private static func value(
    of field: Template.Field, _ countdown: ControlState.Countdown
  ) -> String {
    let remaining = countdown.remaining()
    switch field {
    case .remaining: return TimeText.remaining(remaining)
    case .remainingMicroseconds: return "\(remaining.rawValue)"
    case .durationMicroseconds: return "\(countdown.duration.rawValue)"
    case .elapsed:
      let passed = countdown.duration - remaining
      return TimeText.clock(passed.rawValue / Microseconds.perSecond)
    case .endsAt where !countdown.isPaused:
      return TimeText.rfc3339(Microseconds.timeOfDay() + remaining) ?? ""
    default: return ""
    }
  }
}

/// The formats that are made for one panel.
enum BarLine {
  /// How many columns a label has where other figures stand behind it.
  private static let labelColumns = 30

  /// One object as Waybar's custom module reads it: its texts are markup, its percentage a number.
  ///
  /// - Parameters:
  ///   - controls: the active ones, oldest first.
  ///   - idle: the text when there are none.
  /// - Returns: one line.
  static func waybar(_ controls: [ControlState], idle: String?) -> String {
    let context = BarContext(controls)
    var text = idle ?? ""
    if let shown = controls.last {
      // What comes behind a long title would not fit into the module.
      var parts = [TextWidth.truncate(shown.label, to: labelColumns)]
      if let remaining = shown.remainingText { parts.append(remaining) }
      if let progress = shown.progress { parts.append("\(wholePercent(of: progress))%") }
      if !context.more.isEmpty { parts.append(context.more) }
      text = parts.joined(separator: " ")
    }
    let activity = context.activity.rawValue
    return JSON.object([
      ("text", .string(Markup.escape(text))),
      ("alt", .string(activity)),
      ("class", .string(activity)),
      ("percentage", .integer(controls.last?.percent ?? 0)),
      // Its line ends are Pango's to draw, and JSON writes them as \n.
      ("tooltip", .string(Markup.escapeKeepingLines(context.tooltip))),
    ]).line
  }
}

extension Markup {
  /// The text as it has to stand in markup, its lines kept.
  static func escapeKeepingLines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { escape(String($0)) }.joined(separator: "\n")
  }
}

/// What the user wants the output to look like.
enum Format {
  case plain, json, waybar
  case template(Template)

  /// By the options `--json` and `--format`.
  init(_ invocation: Invocation) throws(Failure) {
    if invocation.wantsJSON {
      self = .json
      return
    }
    switch invocation["format"] {
    case nil: self = .plain
    case "waybar": self = .waybar
    case let source?:
      guard Substring(source).firstOccurrence(of: "{{") != nil else {
        throw .usage("--format: “\(source)” is neither waybar nor a template with {{fields}}")
      }
      do throws(Template.Fault) {
        self = .template(try Template(source))
      } catch {
        throw .usage("--format: \(error.message)")
      }
    }
  }
}
