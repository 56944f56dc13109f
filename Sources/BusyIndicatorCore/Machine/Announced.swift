// SPDX-License-Identifier: MIT

/// What was last announced of a control, taken when it is first touched in a turn.
///
/// Between turns that is what it is, so nothing has to be kept for a control that is not touched.
/// Controls are taken `inout` here only so that they are not copied to be read.
struct Announced: Sendable {
  private var texts: Texts?
  private var lastResult: String
  private var enabled, busy, visible: Bool
  private var progress: Double?
  private var busySince: Microseconds?
  private var countdown: CountdownFace
  private var lastCountdown: UInt32

  // Of the holders just enough to know whether they are others now. What is shown of a hold never
  // changes, so for the holds it is the last cookie, and whether one of them has gone since.
  private var switchHolder: Holder?
  private var indicator: Holder?
  private var indicatorEndsWithSender: Bool
  private var lastCookie: UInt32
  private var hasLostHold = false

  /// A hold has ended; one that was never announced does not matter.
  mutating func noteLostHold(_ cookie: UInt32) {
    if cookie <= lastCookie { hasLostHold = true }
  }

  /// The properties that differ now.
  mutating func differences(from control: inout Control, _ table: [Hold]) -> Fields {
    var fields: Fields = []
    if texts !== control.texts { insertTexts(control, into: &fields) }
    if !lastResult.hasSameBytes(as: control.lastResult) { fields.insert(.lastResult) }
    if lastCountdown != control.lastCountdown { fields.insert(.lastCountdown) }
    insertDisplay(control, into: &fields)
    if progress ?? 0 != control.progress ?? 0 { fields.insert(.progress) }
    if (progress == nil) != (control.progress == nil) { fields.insert(.progressValid) }
    if (busySince ?? .zero) != (control.busySince ?? .zero) { fields.insert(.busySince) }
    if holdersDiffer(from: control, table) { fields.insert(.holders) }
    countdown.insertDifferences(from: CountdownFace(of: control), into: &fields)
    return fields
  }

  private func insertTexts(_ control: Control, into fields: inout Fields) {
    if !title.hasSameBytes(as: control.title) { fields.insert(.title) }
    if !(texts?.detail ?? "").hasSameBytes(as: control.detail) { fields.insert(.detail) }
    if !(texts?.icon ?? "").hasSameBytes(as: control.icon) { fields.insert(.icon) }
    let entry = texts?.desktopEntry ?? ""
    if !entry.hasSameBytes(as: control.desktopEntry) { fields.insert(.desktopEntry) }
  }

  private var title: String { texts?.title ?? "" }

  // The displayed title and flag are the own ones unless visible or busy.
  private func insertDisplay(_ control: Control, into fields: inout Fields) {
    let nowBusy = control.busySince != nil
    let nowVisible = control.isVisible
    if enabled != control.enabled { fields.insert(.enabled) }
    if busy != nowBusy { fields.insert(.busy) }
    if visible != nowVisible { fields.insert(.visible) }
    if (enabled && !busy) != (control.enabled && !nowBusy) { fields.insert(.displayedEnabled) }
    if visible == nowVisible && texts === control.texts { return }
    let displayed = nowVisible ? "" : control.title
    if !(visible ? "" : title).hasSameBytes(as: displayed) { fields.insert(.displayedTitle) }
  }

  private func holdersDiffer(from control: Control, _ table: [Hold]) -> Bool {
    if hasLostHold || (control.holds.last?.cookie ?? 0) > lastCookie { return true }
    let state = control.switchState?.holder
    let (counting, endsWithSender) = control.indicator
    if state === switchHolder && counting === indicator { return false }
    if differ(switchHolder, state) || differ(indicator, counting) { return true }
    if counting != nil, endsWithSender != indicatorEndsWithSender { return true }
    // Ended and begun again they look the same, unless one has passed another in age.
    if let old = switchHolder?.order, let new = state?.order {
      if old != new, control.rank(of: old, table) != control.rank(of: new, table) { return true }
      if let other = indicator?.order, let another = counting?.order,
        (old < other) != (new < another)
      {
        return true
      }
    }
    guard let old = indicator?.order, let new = counting?.order, old != new else { return false }
    return control.rank(of: old, table) != control.rank(of: new, table)
  }

  private func differ(_ old: Holder?, _ new: Holder?) -> Bool {
    guard let old, let new else { return (old == nil) != (new == nil) }
    return !old.looks(like: new)
  }
}

extension Announced {
  init(_ control: inout Control) {
    let (indicator, endsWithSender) = control.indicator
    self.init(
      texts: control.texts, lastResult: control.lastResult,
      enabled: control.enabled, busy: control.busySince != nil, visible: control.isVisible,
      progress: control.progress, busySince: control.busySince,
      countdown: CountdownFace(of: control), lastCountdown: control.lastCountdown,
      switchHolder: control.switchState?.holder, indicator: indicator,
      indicatorEndsWithSender: endsWithSender, lastCookie: control.holds.last?.cookie ?? 0)
  }
}

extension Control {
  /// The countdown as a holder, if it is one, and whether it ends with its caller.
  fileprivate var indicator: (holder: Holder?, endsWithSender: Bool) {
    guard let countdown, countdown.indicator else { return (nil, false) }
    return (countdown.holder, countdown.endsWithSender)
  }

  /// How many holds are older than a holder of this order.
  func rank(of order: UInt64, _ table: [Hold]) -> Int {
    holds.partitioningIndex { table[Int($0.slot)].holder.order > order }
  }
}

/// What the properties show of a countdown; all zero when there is none.
private struct CountdownFace {
  var id: UInt32 = 0
  var state = CountdownState.none
  var clock: Clock?
  var duration = Microseconds.zero
  var deadline = Microseconds.zero

  init(of control: Control) {
    guard let countdown = control.countdown else { return }
    id = countdown.id
    clock = countdown.clock
    duration = countdown.duration
    switch countdown.phase {
    case .running(let end, _): (state, deadline) = (.running, end)
    case .paused: state = .paused
    }
  }

  func insertDifferences(from other: CountdownFace, into fields: inout Fields) {
    if id != other.id { fields.insert(.countdown) }
    if state != other.state { fields.insert(.countdownState) }
    if clock != other.clock { fields.insert(.countdownClock) }
    if duration != other.duration { fields.insert(.duration) }
    if deadline != other.deadline { fields.insert(.deadline) }
  }
}
