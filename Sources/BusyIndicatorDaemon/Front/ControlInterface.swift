// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
internal import DBus

/// A control as its object's properties show it.
struct ControlObject {
  let id: ControlID
  let view: ControlView
  private let turn: Turn

  init(id: ControlID, turn: Turn) {
    self.id = id
    self.turn = turn
    view = turn.machine[id]
  }

  var remaining: Microseconds { turn.machine.remaining(of: id, now: turn.now) }
}

/// `org.busyindicator.BusyIndicator1.Control`.
func makeControlInterface() -> Interface<ControlObject> {
  Interface(
    InterfaceName(unchecked: BusyIndicatorBus.controlInterface),
    properties: appearanceProperties() + workProperties() + countdownProperties())
}

private func property<Value: DBusEncodable>(
  _ name: MemberName, _ field: Fields, _ change: Property<ControlObject>.Change = .value,
  _ value: @escaping (ControlObject) -> Value
) -> Property<ControlObject> {
  Property(name, change, bit: field.rawValue, value)
}

private func appearanceProperties() -> [Property<ControlObject>] {
  [
    Property("Name", .constant) { $0.view.name.rawValue },
    property("Title", .title) { $0.view.title },
    property("DisplayedTitle", .displayedTitle) { $0.view.displayedTitle },
    property("Enabled", .enabled) { $0.view.enabled },
    property("DisplayedEnabled", .displayedEnabled) { $0.view.displayedEnabled },
    property("Detail", .detail) { $0.view.detail },
    property("Icon", .icon) { $0.view.icon },
    property("DesktopEntry", .desktopEntry) { $0.view.desktopEntry },
  ]
}

private func workProperties() -> [Property<ControlObject>] {
  [
    property("Busy", .busy) { $0.view.busy },
    property("Visible", .visible) { $0.view.visible },
    property("Progress", .progress) { $0.view.progress },
    property("ProgressValid", .progressValid) { $0.view.progressValid },
    property("BusySince", .busySince) { $0.view.busySince.rawValue },
    property("Holders", .holders, .invalidated) { $0.view.holders.map(\.properties) },
  ]
}

private func countdownProperties() -> [Property<ControlObject>] {
  [
    property("Countdown", .countdown) { $0.view.countdown },
    property("CountdownState", .countdownState) { $0.view.countdownState.rawValue },
    property("CountdownClock", .countdownClock) { $0.view.countdownClock?.rawValue ?? "" },
    property("Duration", .duration) { $0.view.duration.rawValue },
    property("Deadline", .deadline) { $0.view.deadline.rawValue },
    Property("Remaining", .never) { $0.remaining.rawValue },
    property("LastResult", .lastResult) { $0.view.lastResult },
    property("LastCountdown", .lastCountdown) { $0.view.lastCountdown },
  ]
}

extension HolderView {
  /// The holder as one entry of `Holders`.
  fileprivate var properties: PropertyList {
    [
      "kind": .string(kind.rawValue),
      "cookie": .uint32(cookie),
      "reason": .string(reason),
      "application": .string(application),
      "sender": .string(sender),
      "pid": .uint32(pid),
      "lease": .string(lease.rawValue),
      "since-usec": .uint64(since.rawValue),
    ]
  }
}
