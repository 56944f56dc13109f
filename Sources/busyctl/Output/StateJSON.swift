// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient

/// The JSON that `--json` prints: docs/json.md says what is in it.
enum StateJSON {
  /// The version of the layout; a member that is added does not change it.
  static let version = 1

  /// What `list` and `watch` print.
  static func document(
    controls: [ControlState], withHolders: Bool = false, isRunning: Bool = true
  ) -> String {
    JSON.object([
      ("version", .integer(version)),
      ("daemon_running", .boolean(isRunning)),
      ("controls", .array(controls.map { .object(members(of: $0)) })),
    ]).line
  }

  /// What `status` prints.
  static func document(control: ControlState) -> String {
    JSON.object([
      ("version", .integer(version)),
      ("control", .object(members(of: control) + [holders(of: control)])),
    ]).line
  }

  /// What `why` prints.
  static func document(holdersOf control: ControlState) -> String {
    JSON.object([
      ("version", .integer(version)),
      ("name", .text(control.name)),
      ("busy", .boolean(control.isBusy)),
      holders(of: control),
    ]).line
  }

  private static func members(of control: ControlState) -> [(key: String, value: JSON)] {
    [
      ("name", .text(control.name)),
      ("title", .text(control.title)),
      ("detail", .text(control.detail)),
      ("icon", .text(control.icon)),
      ("desktop_entry", .text(control.desktopEntry)),
      ("enabled", .boolean(control.isEnabled)),
      ("state", .string(control.activity.rawValue)),
      ("active", .boolean(control.isActive)),
      ("busy", .boolean(control.isBusy)),
      ("visible", .boolean(control.isVisible)),
      ("busy_since", control.isBusy ? instant(control.busySince) : .null),
      ("progress", control.progress.map { .number($0) } ?? .null),
      ("countdown", control.countdown.map(countdown) ?? .null),
      ("last_result", .text(control.lastResult)),
      ("last_countdown", .unsigned(UInt64(control.lastCountdown))),
    ]
  }

  private static func countdown(_ countdown: ControlState.Countdown) -> JSON {
    let remaining = countdown.remaining()
    let end = Microseconds.timeOfDay() + remaining
    return .object([
      ("id", .unsigned(UInt64(countdown.id))),
      ("paused", .boolean(countdown.isPaused)),
      ("clock", .string(countdown.clock.rawValue)),
      ("duration_usec", .unsigned(countdown.duration.rawValue)),
      ("remaining_usec", .unsigned(remaining.rawValue)),
      ("ends_at", countdown.isPaused ? .null : instant(end)),
    ])
  }

  private static func holders(of control: ControlState) -> (key: String, value: JSON) {
    let list = control.holders.map { holder in
      JSON.object([
        ("kind", .text(holder.kind)),
        ("cookie", .unsigned(UInt64(holder.cookie))),
        ("reason", .text(holder.reason)),
        ("application", .text(holder.application)),
        ("sender", .text(holder.sender)),
        ("pid", .unsigned(UInt64(holder.pid))),
        ("lease", .text(holder.lease)),
        ("since", instant(holder.since)),
      ])
    }
    return ("holders", .array(list))
  }

  private static func instant(_ time: Microseconds) -> JSON {
    TimeText.rfc3339(time).map { .string($0) } ?? .null
  }
}
