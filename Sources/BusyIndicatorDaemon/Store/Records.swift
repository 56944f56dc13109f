// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore

// How the state stands in tables. A table's columns, what is bound and what is read are in the same
// order, one below the other. A control is one row with its switch and its countdown, so that a
// change of it is one statement; a hold is a row of its own, since a control may have thousands.

/// The layout of the tables; a file of another layout is another version.
enum Schema {
  static let version: Int64 = 1

  static let controlColumns = [
    "name", "serial", "title", "detail", "icon", "desktop_entry", "enabled", "title_was_set",
    "progress", "last_result", "last_countdown", "visibility", "visibility_instant",
    "visibility_minimum", "busy_since", "is_working", "idle_since",
    "switch", "switch_limit", "switch_sender", "switch_application", "switch_since",
    "switch_since_realtime", "switch_grace", "switch_minimum", "switch_order",
    "countdown", "duration", "clock", "interval", "indicator", "ends_with_sender", "notify",
    "phase", "instant", "next_tick", "countdown_sender", "countdown_application",
    "countdown_since", "countdown_since_realtime", "countdown_grace", "countdown_minimum",
    "countdown_order",
  ]

  static let holdColumns = [
    "cookie", "control", "reason", "lease", "pid", "start_time", "ttl", "expiry", "notify_after",
    "sender", "application", "since", "since_realtime", "grace", "minimum", "order_",
  ]

  static let creation = """
    CREATE TABLE control (\(definition(controlColumns, key: "TEXT"))) WITHOUT ROWID;
    CREATE TABLE hold (\(definition(holdColumns, key: "INTEGER")));
    CREATE TABLE counters (id INTEGER PRIMARY KEY, last_cookie, last_countdown);
    PRAGMA user_version=\(version);
    """

  private static func definition(_ columns: [String], key: String) -> String {
    "\(columns[0]) \(key) PRIMARY KEY, " + columns.dropFirst().joined(separator: ", ")
  }

  static func replace(_ table: String, _ columns: [String]) -> String {
    let places = Array(repeating: "?", count: columns.count).joined(separator: ", ")
    return "REPLACE INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places))"
  }

  static func select(_ table: String, _ columns: [String]) -> String {
    "SELECT \(columns.joined(separator: ", ")) FROM \(table)"
  }
}

/// A row that no version of this program has written.
struct MalformedRow: Error {}

extension Statement {
  func bind(_ value: Microseconds) { bind(value.rawValue) }
  func bind(_ value: Microseconds?) { bind(value?.rawValue) }

  func bind(_ holder: Holder) {
    bind(holder.sender)
    bind(holder.application)
    bind(holder.since)
    bind(holder.sinceRealtime)
    bind(holder.grace)
    bind(holder.minimum)
    bind(holder.order)
  }

  private static let holderColumns: Int32 = 7

  func bind(_ counters: Counters) {
    bind(counters.lastCookie)
    bind(counters.lastCountdown)
  }

  func bind(_ name: ControlName, _ control: Control) {
    bind(name.rawValue)
    bind(control.serial)
    bind(control.title)
    bind(control.detail)
    bind(control.icon)
    bind(control.desktopEntry)
    bind(control.enabled)
    bind(control.titleWasSet)
    bind(control.progress)
    bind(control.lastResult)
    bind(control.lastCountdown)
    bind(control.visibility)
    bind(control.busySince)
    bind(control.isWorking)
    bind(control.idleSince)
    if let state = control.switchState {
      bind(true)
      bind(state.limit)
      bind(state.holder)
    } else {
      bindNulls(2 + Self.holderColumns)
    }
    if let countdown = control.countdown {
      bind(countdown)
    } else {
      bindNulls(10 + Self.holderColumns)
    }
  }

  private func bind(_ visibility: Visibility) {
    switch visibility {
    case .hidden: bindNulls(3)
    case .waiting(let until):
      bind("waiting")
      bind(until)
      bindNulls(1)
    case .visible(let since, let minimum):
      bind("visible")
      bind(since)
      bind(minimum)
    }
  }

  private func bind(_ countdown: Countdown) {
    bind(countdown.id)
    bind(countdown.duration)
    bind(countdown.clock.rawValue)
    bind(countdown.interval)
    bind(countdown.indicator)
    bind(countdown.endsWithSender)
    bind(countdown.notify)
    switch countdown.phase {
    case .running(let deadline, let nextTick):
      bind("running")
      bind(deadline)
      bind(nextTick)
    case .paused(let remaining):
      bind("paused")
      bind(remaining)
      bindNulls(1)
    }
    bind(countdown.holder)
  }

  func bind(_ saved: SavedHold) {
    let hold = saved.hold
    bind(hold.cookie)
    bind(saved.control.rawValue)
    bind(hold.reason)
    bind(hold.lease.kind.rawValue)
    switch hold.lease {
    case .sender, .none: bindNulls(4)
    case .process(let pid, let startTime):
      bind(pid)
      bind(startTime)
      bindNulls(2)
    case .ttl(let duration, let expiry):
      bindNulls(2)
      bind(duration)
      bind(expiry)
    }
    bind(hold.notifyAfter)
    bind(hold.holder)
  }
}

extension Row {
  private mutating func time() -> Microseconds { Microseconds(rawValue: bits()) }

  private mutating func optionalTime() -> Microseconds? {
    optionalBits().map { Microseconds(rawValue: $0) }
  }

  private mutating func word<Word: RawRepresentable<String>>() throws(MalformedRow) -> Word {
    guard let word = Word(rawValue: text()) else { throw MalformedRow() }
    return word
  }

  private mutating func name() throws(MalformedRow) -> ControlName {
    do throws(Refusal) {
      return try ControlName(text())
    } catch {
      throw MalformedRow()
    }
  }

  private mutating func holder() -> Holder {
    Holder(
      sender: text(), application: text(), since: time(), sinceRealtime: time(), grace: time(),
      minimum: time(), order: bits())
  }

  mutating func counters() -> Counters {
    var counters = Counters()
    counters.lastCookie = number()
    counters.lastCountdown = number()
    return counters
  }

  mutating func control() throws(MalformedRow) -> (name: ControlName, control: Control) {
    let name = try name()
    var control = Control(serial: number())
    control.title = text()
    control.detail = text()
    control.icon = text()
    control.desktopEntry = text()
    control.enabled = flag()
    control.titleWasSet = flag()
    control.progress = optionalDouble()
    control.lastResult = text()
    control.lastCountdown = number()
    control.visibility = try visibility()
    control.busySince = optionalTime()
    control.isWorking = flag()
    control.idleSince = optionalTime()
    let isOn = flag()
    let limit = optionalTime()
    let switchHolder = holder()
    if isOn { control.switchState = Switch(holder: switchHolder, limit: limit) }
    control.countdown = try countdown()
    return (name, control)
  }

  private mutating func visibility() throws(MalformedRow) -> Visibility {
    let kind = text()
    let instant = time()
    let minimum = time()
    switch kind {
    case "": return .hidden
    case "waiting": return .waiting(until: instant)
    case "visible": return .visible(since: instant, minimum: minimum)
    default: throw MalformedRow()
    }
  }

  private mutating func countdown() throws(MalformedRow) -> Countdown? {
    let id = number()
    guard id != 0 else { return nil }
    let duration = time()
    let clock: Clock = try word()
    let interval = time()
    let (indicator, endsWithSender, notify) = (flag(), flag(), flag())
    let state: CountdownState = try word()
    let instant = time()
    let nextTick = optionalTime()
    let phase: Countdown.Phase
    switch state {
    case .running: phase = .running(deadline: instant, nextTick: nextTick)
    case .paused: phase = .paused(remaining: instant)
    case .none: throw MalformedRow()
    }
    return Countdown(
      id: id, duration: duration, clock: clock, interval: interval, indicator: indicator,
      endsWithSender: endsWithSender, notify: notify, holder: holder(), phase: phase)
  }

  mutating func hold() throws(MalformedRow) -> SavedHold {
    let cookie = number()
    let control = try name()
    let reason = text()
    let kind: LeaseKind = try word()
    let (pid, startTime) = (number(), bits())
    let (duration, expiry) = (time(), time())
    let lease: Hold.Lease =
      switch kind {
      case .sender: .sender
      case .none: .none
      case .pid: .process(pid: pid, startTime: startTime)
      case .ttl: .ttl(duration: duration, expiry: expiry)
      }
    let notifyAfter = optionalTime()
    return SavedHold(
      control: control,
      hold: Hold(
        cookie: cookie, reason: reason, lease: lease, holder: holder(), notifyAfter: notifyAfter))
  }
}
