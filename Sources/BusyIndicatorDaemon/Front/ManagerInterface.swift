// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
internal import DBus

/// The bits of the manager's properties in a set of changes.
enum ManagerProperty {
  static let busy: UInt32 = 1
  static let visible: UInt32 = 2
  static let plugins: UInt32 = 4
}

/// `org.busyindicator.BusyIndicator1`.
func makeManagerInterface() -> Interface<Front> {
  Interface(
    InterfaceName(unchecked: BusyIndicatorBus.managerInterface),
    methods: switchMethods() + countdownMethods() + attributeMethods() + holdMethods()
      + objectMethods(),
    signals: [
      SignalDescription("Tick", [("control", "s"), ("remaining", "u"), ("countdown", "u")]),
      SignalDescription("Finished", [("control", "s"), ("countdown", "u")]),
      SignalDescription("Cancelled", [("control", "s"), ("countdown", "u"), ("reason", "s")]),
      SignalDescription("HoldEnded", [("cookie", "u"), ("reason", "s")]),
    ],
    properties: [
      Property("Version", .constant) { _ in version },
      Property("Plugins", bit: ManagerProperty.plugins) { $0.plugins?.statuses ?? [] },
      Property("Busy", bit: ManagerProperty.busy) { $0.turn.machine.busy },
      Property("Visible", bit: ManagerProperty.visible) { $0.turn.machine.visible },
    ])
}

private func switchMethods() -> [Method<Front>] {
  [
    Method("ShowIndicator", in: ["control"]) {
      (front: Front, call: Message, control: String) throws(DBusError) -> Void in
      try front.show(control, ShowOptions(), call)
    },
    Method("ShowIndicatorFor", in: ["control", "seconds"]) {
      (front: Front, call: Message, control: String, seconds: UInt32) throws(DBusError) -> Void in
      var options = ShowOptions()
      options.timeout = Microseconds(seconds: seconds)
      try front.show(control, options, call)
    },
    Method("ShowIndicatorWithOptions", in: ["control", "options"]) {
      (front: Front, call: Message, control: String, list: OptionList) throws(DBusError) -> Void in
      try front.show(control, ShowOptions(list), call)
    },
    Method("HideIndicator", in: ["control"]) {
      (front: Front, _: Message, control: String) throws(DBusError) -> Void in
      try front.withName(control) { $0.hide($1, now: $2) }
    },
    Method("ReleaseAll", in: ["control"], out: ["released"]) {
      (front: Front, _: Message, control: String) throws(DBusError) -> UInt32 in
      try front.withName(control) { $0.releaseAll($1, now: $2) }
    },
  ]
}

private func countdownMethods() -> [Method<Front>] {
  [
    Method("StartCountdown", in: ["control", "seconds"], out: ["countdown"]) {
      (front: Front, call: Message, control: String, seconds: UInt32) throws(DBusError) -> UInt32 in
      try front.startCountdown(control, Microseconds(seconds: seconds), CountdownOptions(), call)
    },
    Method(
      "StartCountdownWithOptions", in: ["control", "duration_usec", "options"], out: ["countdown"]
    ) {
      (front: Front, call: Message, control: String, duration: UInt64, list: OptionList)
        throws(DBusError) -> UInt32 in
      try front.startCountdown(
        control, Microseconds(rawValue: duration), CountdownOptions(list), call)
    },
    Method("PauseCountdown", in: ["control"]) {
      (front: Front, _: Message, control: String) throws(DBusError) -> Void in
      try front.withName(control) { (machine, name, now) throws(Refusal) in
        try machine.pauseCountdown(name, now: now)
      }
    },
    Method("ResumeCountdown", in: ["control"]) {
      (front: Front, _: Message, control: String) throws(DBusError) -> Void in
      try front.withName(control) { (machine, name, now) throws(Refusal) in
        try machine.resumeCountdown(name, now: now)
      }
    },
    Method("ExtendCountdown", in: ["control", "seconds"]) {
      (front: Front, _: Message, control: String, seconds: Int32) throws(DBusError) -> Void in
      try front.withName(control) { (machine, name, now) throws(Refusal) in
        try machine.extendCountdown(name, seconds: seconds, now: now)
      }
    },
    Method("CancelCountdown", in: ["control"]) {
      (front: Front, _: Message, control: String) throws(DBusError) -> Void in
      try front.withName(control) { (machine, name, now) throws(Refusal) in
        try machine.cancelCountdown(name, now: now)
      }
    },
  ]
}

private func attributeMethods() -> [Method<Front>] {
  [
    Method("SetTitle", in: ["control", "title"]) {
      (front: Front, _: Message, control: String, title: String) throws(DBusError) -> Void in
      try front.withName(control) { (machine, name, now) throws(Refusal) in
        try machine.setTitle(name, title, now: now)
      }
    },
    Method("SetDetail", in: ["control", "detail"]) {
      (front: Front, _: Message, control: String, detail: String) throws(DBusError) -> Void in
      try front.withName(control) { (machine, name, now) throws(Refusal) in
        try machine.setDetail(name, detail, now: now)
      }
    },
    Method("SetEnabled", in: ["control", "enabled"]) {
      (front: Front, _: Message, control: String, enabled: Bool) throws(DBusError) -> Void in
      try front.withName(control) { (machine, name, now) throws(Refusal) in
        try machine.setEnabled(name, enabled, now: now)
      }
    },
    Method("SetProgress", in: ["control", "fraction"]) {
      (front: Front, _: Message, control: String, fraction: Double) throws(DBusError) -> Void in
      try front.withName(control) { (machine, name, now) throws(Refusal) in
        try machine.setProgress(name, fraction, now: now)
      }
    },
  ]
}

private func holdMethods() -> [Method<Front>] {
  [
    Method("Hold", in: ["control", "reason", "options"], out: ["cookie"]) {
      (front: Front, call: Message, control: String, reason: String, list: OptionList)
        throws(DBusError) -> UInt32 in
      try front.hold(control, reason, list, call)
    },
    Method("Renew", in: ["cookie"]) {
      (front: Front, _: Message, cookie: UInt32) throws(DBusError) -> Void in
      try answering { () throws(Refusal) in
        try front.turn.machine.renew(cookie: cookie, now: front.turn.now)
      }
    },
    Method("Release", in: ["cookie", "result"]) {
      (front: Front, call: Message, cookie: UInt32, result: String) throws(DBusError) -> Void in
      try answering { () throws(Refusal) in
        try front.turn.machine.release(
          cookie: cookie, result: result, sender: call.sender, now: front.turn.now)
      }
    },
  ]
}

private func objectMethods() -> [Method<Front>] {
  [
    Method("Forget", in: ["control"]) {
      (front: Front, _: Message, control: String) throws(DBusError) -> Void in
      try front.withName(control) { $0.forget($1, now: $2) }
    },
    Method("GetControl", in: ["control"], out: ["path"], isReading: true) {
      (front: Front, _: Message, control: String) throws(DBusError) -> ObjectPath in
      try front.withName(control) { (machine, name, _) throws(Refusal) in
        guard machine.find(name) != nil else { throw .noSuchControl(name) }
        return name.objectPath
      }
    },
  ]
}

extension Front {
  /// Calls the state machine with a checked name and this turn's time.
  fileprivate func withName<Result>(
    _ control: String,
    _ body: (inout IndicatorStateMachine, ControlName, Now) throws(Refusal) -> Result
  ) throws(DBusError) -> Result {
    try answering { () throws(Refusal) in
      try body(&turn.machine, try ControlName(control), turn.now)
    }
  }

  fileprivate func show(
    _ control: String, _ options: ShowOptions, _ call: Message
  ) throws(DBusError) {
    try withName(control) { (machine, name, now) throws(Refusal) in
      try machine.show(name, options, sender: call.sender, now: now)
    }
  }

  fileprivate func startCountdown(
    _ control: String, _ duration: Microseconds, _ options: CountdownOptions, _ call: Message
  ) throws(DBusError) -> UInt32 {
    try withName(control) { (machine, name, now) throws(Refusal) in
      try machine.startCountdown(
        name, duration: duration, options, sender: call.sender, now: now)
    }
  }

  fileprivate func hold(
    _ control: String, _ reason: String, _ list: OptionList, _ call: Message
  ) throws(DBusError) -> UInt32 {
    var options = try HoldOptions(reason: reason, list)
    guard case .process(let pid, _) = options.lease else {
      return try hold(control, options, call)
    }
    return try leases.hold(process: pid) { startTime throws(DBusError) in
      options.lease = .process(pid: pid, startTime: startTime)
      return try hold(control, options, call)
    }
  }

  private func hold(
    _ control: String, _ options: HoldOptions, _ call: Message
  ) throws(DBusError) -> UInt32 {
    try withName(control) { (machine, name, now) throws(Refusal) in
      try machine.hold(name, options, sender: call.sender, now: now)
    }
  }
}
