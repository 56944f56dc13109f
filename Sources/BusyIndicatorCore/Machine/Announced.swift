// SPDX-License-Identifier: MIT

/// What was last announced of a control, taken when it is first touched in a turn.
///
/// Between turns that is what it is, so nothing has to be kept for a control that is not touched.
struct Announced: Sendable {
  private var title, detail, icon, desktopEntry, lastResult: String
  private var enabled, busy, visible: Bool
  private var progress: Double?
  private var busySince: Microseconds?
  private var countdown: UInt32
  private var countdownState: CountdownState
  private var countdownClock: Clock?
  private var duration, deadline: Microseconds
  private var lastCountdown: UInt32

  // Of the holders just enough to know whether they are others now. What is shown of a hold never
  // changes, so for the holds it is the last cookie, and whether one of them has gone since.
  private var switchHolder: Holder?
  private var indicator: Holder?
  private var indicatorEndsWithSender: Bool
  private var lastCookie: UInt32
  private var hasLostHold = false

  init(_ control: borrowing Control) {
    title = control.title
    detail = control.detail
    icon = control.icon
    desktopEntry = control.desktopEntry
    lastResult = control.lastResult
    enabled = control.enabled
    busy = control.busySince != nil
    visible = control.isVisible
    progress = control.progress
    busySince = control.busySince
    countdown = control.countdown?.id ?? 0
    countdownState = control.countdownState
    countdownClock = control.countdown?.clock
    duration = control.countdown?.duration ?? .zero
    deadline = control.deadline
    lastCountdown = control.lastCountdown
    switchHolder = control.switchState?.holder
    indicator = control.indicator
    indicatorEndsWithSender = control.countdown?.endsWithSender ?? false
    lastCookie = control.holds.last?.cookie ?? 0
  }

  /// A hold has ended; one that was never announced does not matter.
  mutating func noteLostHold(_ cookie: UInt32) {
    if cookie <= lastCookie { hasLostHold = true }
  }

  /// The properties that differ now.
  func differences(from control: borrowing Control, _ table: [Hold?]) -> Fields {
    var fields: Fields = []
    if !title.hasSameBytes(as: control.title) { fields.insert(.title) }
    if !detail.hasSameBytes(as: control.detail) { fields.insert(.detail) }
    if !icon.hasSameBytes(as: control.icon) { fields.insert(.icon) }
    if !desktopEntry.hasSameBytes(as: control.desktopEntry) { fields.insert(.desktopEntry) }
    if !lastResult.hasSameBytes(as: control.lastResult) { fields.insert(.lastResult) }
    if lastCountdown != control.lastCountdown { fields.insert(.lastCountdown) }
    insertDisplay(control, into: &fields)
    if progress ?? 0 != control.progress ?? 0 { fields.insert(.progress) }
    if (progress == nil) != (control.progress == nil) { fields.insert(.progressValid) }
    if (busySince ?? .zero) != (control.busySince ?? .zero) { fields.insert(.busySince) }
    if holdersDiffer(from: control, table) { fields.insert(.holders) }
    if countdown != control.countdown?.id ?? 0 { fields.insert(.countdown) }
    if countdownState != control.countdownState { fields.insert(.countdownState) }
    if countdownClock != control.countdown?.clock { fields.insert(.countdownClock) }
    if duration != control.countdown?.duration ?? .zero { fields.insert(.duration) }
    if deadline != control.deadline { fields.insert(.deadline) }
    return fields
  }

  // The displayed title and flag are the own ones unless visible or busy.
  private func insertDisplay(_ control: borrowing Control, into fields: inout Fields) {
    let nowBusy = control.busySince != nil
    let nowVisible = control.isVisible
    if enabled != control.enabled { fields.insert(.enabled) }
    if busy != nowBusy { fields.insert(.busy) }
    if visible != nowVisible { fields.insert(.visible) }
    if (enabled && !busy) != (control.enabled && !nowBusy) { fields.insert(.displayedEnabled) }
    let displayed = nowVisible ? "" : control.title
    if !(visible ? "" : title).hasSameBytes(as: displayed) { fields.insert(.displayedTitle) }
  }

  private func holdersDiffer(from control: borrowing Control, _ table: [Hold?]) -> Bool {
    if hasLostHold || (control.holds.last?.cookie ?? 0) > lastCookie { return true }
    let state = control.switchState?.holder
    let counting = control.indicator
    if differ(switchHolder, state) || differ(indicator, counting) { return true }
    if let counting = control.countdown, counting.indicator,
      counting.endsWithSender != indicatorEndsWithSender
    {
      return true
    }
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

  /// Whether two are shown as different, but for their place among others.
  private func differ(_ old: Holder?, _ new: Holder?) -> Bool {
    guard let old, let new else { return (old == nil) != (new == nil) }
    return old.sinceRealtime != new.sinceRealtime || !old.sender.hasSameBytes(as: new.sender)
      || !old.application.hasSameBytes(as: new.application)
  }
}

extension Control {
  /// The countdown as a holder, if it is one.
  var indicator: Holder? {
    guard let countdown, countdown.indicator else { return nil }
    return countdown.holder
  }

  /// How many holds are older than a holder of this order.
  func rank(of order: UInt64, _ table: [Hold?]) -> Int {
    holds.partitioningIndex { table[Int($0.slot)]!.holder.order > order }
  }
}
