// SPDX-License-Identifier: MIT

internal import Glibc

/// A control as its properties show it: org.busyindicator.BusyIndicator1.Control.
public struct ControlState: Equatable, Sendable {
  /// The raw name.
  public var name = ""
  /// The control's own text, which it carries when it is not busy.
  public var title = ""
  /// The text to draw now: empty while visible, the title otherwise.
  public var displayedTitle = ""
  /// The control's own enabled flag.
  public var isEnabled = true
  /// Whether to draw it as enabled: its own flag, and not busy.
  public var displayedEnabled = true
  /// A second line about the work in hand.
  public var detail = ""
  /// An icon theme name.
  public var icon = ""
  /// The id of the desktop file of whoever is busy, without `.desktop`.
  public var desktopEntry = ""
  /// The truth: its switch is on, or it is held, or a countdown makes it busy.
  public var isBusy = false
  /// Busy after flicker control: what a panel draws a spinner for.
  public var isVisible = false
  /// How far the work is, 0…1; nil while that is not known.
  public var progress: Double?
  /// Since when it is busy, on CLOCK_REALTIME; zero when it is not.
  public var busySince = Microseconds.zero
  /// The countdown; nil when there is none.
  public var countdown: Countdown?
  /// How the last countdown or hold ended: `finished`, `cancelled`, `released: exit 2`…; may be empty.
  public var lastResult = ""
  /// The id of the countdown that ``lastResult`` tells of; 0 when it tells of a hold.
  public var lastCountdown: UInt32 = 0
  /// Since when it is active, on CLOCK_REALTIME; zero when it is not.
  ///
  /// What a bar orders its controls by. It is worked out here: exact for a busy control, and for a
  /// countdown that was not paused.
  public var activeSince = Microseconds.zero
  /// Why it is busy, oldest first.
  ///
  /// An observer does not follow it: see ``IndicatorRequest/state(of:)``.
  public var holders: [Holder] = []

  /// An idle control without a name.
  public init() {}

  /// Whether there is something to show: it is visible, or counts down.
  public var isActive: Bool { isVisible || countdown != nil }

  /// A control's countdown.
  public struct Countdown: Equatable, Sendable {
    /// Its id, never 0 and never used again.
    public var id: UInt32 = 0
    /// Whether it stands still and keeps what remains.
    public var isPaused = false
    /// The clock on which it runs.
    public var clock = Clock.boottime
    /// How long it is in all, extensions included.
    public var duration = Microseconds.zero
    /// When it ends, on its clock; zero while it is paused.
    public var deadline = Microseconds.zero
    /// What remains while it is paused; zero while it runs.
    public var remainingWhenPaused = Microseconds.zero

    /// A countdown of nothing.
    public init() {}

    /// What remains now, never below zero.
    public func remaining() -> Microseconds {
      isPaused ? remainingWhenPaused : deadline - clock.now()
    }

    /// About when it was started, on CLOCK_REALTIME; later by as long as it was paused.
    func started() -> Microseconds {
      Microseconds.timeOfDay() - (duration - remaining())
    }

    /// How much of it has passed now, 0…1.
    public func fraction() -> Double {
      guard duration > .zero else { return 1 }
      let left = min(Double(remaining().rawValue) / Double(duration.rawValue), 1)
      return 1 - left
    }
  }

  /// One reason for a control to be busy: an entry of the property Holders.
  public struct Holder: Equatable, Sendable {
    /// `switch`, `hold` or `countdown`; a later daemon may know more.
    public var kind = ""
    /// What releases it; 0 but for holds.
    public var cookie: UInt32 = 0
    /// What its caller said.
    public var reason = ""
    /// The application that its caller named.
    public var application = ""
    /// The unique name of its caller on the bus.
    public var sender = ""
    /// The process whose end ends it; 0 for none.
    public var pid: UInt32 = 0
    /// `sender`, `pid`, `ttl` or `none`; a later daemon may know more.
    public var lease = ""
    /// Since when, on CLOCK_REALTIME.
    public var since = Microseconds.zero

    /// A holder about which nothing is known.
    public init() {}
  }
}

extension Clock {
  /// The time on this clock.
  public func now() -> Microseconds {
    Microseconds.now(on: self == .boottime ? CLOCK_BOOTTIME : CLOCK_MONOTONIC)
  }
}

extension Microseconds {
  /// The time of day: CLOCK_REALTIME.
  public static func timeOfDay() -> Microseconds { now(on: CLOCK_REALTIME) }

  static func now(on clock: clockid_t) -> Microseconds {
    var time = timespec()
    clock_gettime(clock, &time)
    return Microseconds(
      rawValue: UInt64(clamping: time.tv_sec) * perSecond + UInt64(clamping: time.tv_nsec) / 1000)
  }
}

// MARK: - From the bus

extension ControlState {
  /// A control's state out of all its properties.
  init(_ properties: [String: Variant]) {
    self.init()
    apply(properties)
  }

  /// Takes over the properties that are there.
  ///
  /// - Returns: whether what remains of the countdown has to be read anew, since it stands still now
  ///   and no announcement carries it.
  @discardableResult
  mutating func apply(_ changed: [String: Variant]) -> Bool {
    func take<Value>(_ key: String, _ value: (Variant) -> Value?, _ body: (Value) -> Void) {
      if let found = changed[key].flatMap(value) { body(found) }
    }
    take("Name", \.stringValue) { name = $0 }
    take("Title", \.stringValue) { title = $0 }
    take("DisplayedTitle", \.stringValue) { displayedTitle = $0 }
    take("Enabled", \.boolValue) { isEnabled = $0 }
    take("DisplayedEnabled", \.boolValue) { displayedEnabled = $0 }
    take("Detail", \.stringValue) { detail = $0 }
    take("Icon", \.stringValue) { icon = $0 }
    take("DesktopEntry", \.stringValue) { desktopEntry = $0 }
    take("Busy", \.boolValue) { isBusy = $0 }
    take("Visible", \.boolValue) { isVisible = $0 }
    take("BusySince", \.uint64Value) { busySince = Microseconds(rawValue: $0) }
    take("LastResult", \.stringValue) { lastResult = $0 }
    take("LastCountdown", \.uint32Value) { lastCountdown = $0 }
    take("Holders", \.arrayValue) { holders = $0.compactMap(Holder.init) }
    if changed["Progress"] != nil || changed["ProgressValid"] != nil {
      let isKnown = changed["ProgressValid"]?.boolValue ?? (progress != nil)
      let fraction = changed["Progress"]?.doubleValue ?? progress ?? 0
      progress = isKnown ? min(max(fraction, 0), 1) : nil
    }
    let isStale = applyCountdown(changed)
    noteActivity()
    return isStale
  }

  /// Works out since when it is active, unless that is known already.
  private mutating func noteActivity() {
    guard isActive else {
      activeSince = .zero
      return
    }
    guard activeSince == .zero else { return }
    activeSince = countdown?.started() ?? busySince
    if isVisible, busySince < activeSince { activeSince = busySince }
  }

  private mutating func applyCountdown(_ changed: [String: Variant]) -> Bool {
    let keys = ["Countdown", "CountdownState", "CountdownClock", "Duration", "Deadline"]
    guard keys.contains(where: { changed[$0] != nil }) || changed["Remaining"] != nil else {
      return false
    }
    let id = changed["Countdown"]?.uint32Value ?? countdown?.id ?? 0
    guard id != 0 else {
      countdown = nil
      return false
    }
    var new = countdown ?? Countdown()
    new.id = id
    if let state = changed["CountdownState"]?.stringValue {
      new.isPaused = state == CountdownState.paused.rawValue
    }
    if let clock = changed["CountdownClock"]?.stringValue.flatMap(Clock.init(rawValue:)) {
      new.clock = clock
    }
    if let value = changed["Duration"]?.uint64Value { new.duration = Microseconds(rawValue: value) }
    if let value = changed["Deadline"]?.uint64Value { new.deadline = Microseconds(rawValue: value) }
    if let value = changed["Remaining"]?.uint64Value {
      new.remainingWhenPaused = Microseconds(rawValue: value)
    }
    if !new.isPaused { new.remainingWhenPaused = .zero }
    countdown = new
    return new.isPaused && changed["Remaining"] == nil
  }
}

extension ControlState.Holder {
  fileprivate init?(_ entry: Variant) {
    guard let fields = entry.propertiesValue else { return nil }
    kind = fields["kind"]?.stringValue ?? ""
    cookie = fields["cookie"]?.uint32Value ?? 0
    reason = fields["reason"]?.stringValue ?? ""
    application = fields["application"]?.stringValue ?? ""
    sender = fields["sender"]?.stringValue ?? ""
    pid = fields["pid"]?.uint32Value ?? 0
    lease = fields["lease"]?.stringValue ?? ""
    since = Microseconds(rawValue: fields["since-usec"]?.uint64Value ?? 0)
  }
}
