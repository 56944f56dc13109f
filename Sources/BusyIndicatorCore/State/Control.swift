// SPDX-License-Identifier: MIT

// The state of one control, and how it comes to rest after an event.
//
// A control has no timers of its own. What is to happen to it by itself, and when, is read off its
// state by `deadlines()` and `idleSince` whenever that has changed. So a timer that is no longer
// meant cannot exist.

/// Where a control stands in flicker control.
package enum Visibility: Equatable, Sendable {
  /// Nothing is to be shown.
  case hidden
  /// It is busy, and is shown at that instant of the monotonic clock unless it is over by then.
  case waiting(until: Microseconds)
  /// It is shown since then, for the longest minimum of all holders seen meanwhile at least.
  case visible(since: Microseconds, minimum: Microseconds)
}

/// One control.
package struct Control: Sendable {
  /// Where to find one hold of a control.
  package struct HoldEntry: Equatable, Sendable {
    /// The hold's cookie.
    package var cookie: UInt32
    /// Its slot in the machine's table of holds.
    var slot: Int32
  }

  /// Its texts; nil when all are empty.
  private(set) var texts: Texts?
  /// Its own enabled flag.
  package var enabled = true
  /// Whether SetTitle gave it a title, for which an idle control stays.
  package var titleWasSet = false
  /// How far the work is; nil while that is not known.
  package var progress: Double?

  /// Its switch; nil while it is off.
  package var switchState: Switch?
  /// Its holds, in the order of their cookies.
  package var holds: [HoldEntry] = []
  /// Its countdown.
  package var countdown: Countdown?

  /// How the last countdown or hold ended.
  package var lastResult = ""
  /// The id of what ended so, if it was a countdown.
  package var lastCountdown: UInt32 = 0

  /// Where it stands in flicker control.
  package var visibility = Visibility.hidden
  /// Since when it is busy, for people to read; nil when it is not.
  package var busySince: Microseconds?
  /// Whether it was busy or counting when it last came to rest.
  package var isWorking = false
  /// Since when it is idle without anything that keeps it, on the monotonic clock.
  package var idleSince: Microseconds?
  /// Its place among all controls that ever were.
  package var serial: UInt32

  /// A new one.
  package init(serial: UInt32) { self.serial = serial }

  // Patterns, since a comparison with nil compares two Optionals, for which it copies them.

  /// Whether its switch is on.
  package var isOn: Bool { if case .some = switchState { true } else { false } }

  /// Whether it has a countdown.
  package var isCounting: Bool { if case .some = countdown { true } else { false } }

  /// The truth: whether there is any holder.
  package var isBusy: Bool {
    if isOn || !holds.isEmpty { return true }
    if let countdown { return countdown.indicator }
    return false
  }

  /// Whether it is to be shown.
  package var isVisible: Bool {
    if case .visible = visibility { true } else { false }
  }

  /// What SetTitle and SetEnabled gave it, for which it stays when it is idle.
  var isKept: Bool { titleWasSet || !enabled }

  /// When something is due, on each clock.
  struct Deadlines {
    /// Its switch or its countdown.
    var boottime: Microseconds?
    /// Its flicker control or its countdown.
    var monotonic: Microseconds?
  }

  /// When something is due, read off its state.
  ///
  /// It is `mutating`, as other things that only read are here, so that it works in place: to read
  /// a large struct out of an array Swift copies it, and counts each of its references up and down.
  mutating func deadlines() -> Deadlines {
    var deadlines = Deadlines(boottime: switchState?.limit, monotonic: visibilityDeadline)
    guard let countdown, let due = countdown.due else { return deadlines }
    switch countdown.clock {
    case .boottime: deadlines.boottime = earlier(deadlines.boottime, due)
    case .monotonic: deadlines.monotonic = earlier(deadlines.monotonic, due)
    }
    return deadlines
  }

  /// Whether its switch is to turn off by itself; in place, as above.
  mutating func hasReachedLimit(at instant: Microseconds) -> Bool {
    if let limit = switchState?.limit { limit <= instant } else { false }
  }

  /// Whether flicker control has something to do; in place, as above.
  mutating func isToFlicker(at instant: Microseconds) -> Bool {
    if let deadline = visibilityDeadline { deadline <= instant } else { false }
  }

  /// When flicker control has something to do.
  var visibilityDeadline: Microseconds? {
    switch visibility {
    case .hidden: nil
    case .waiting(let until): until
    case .visible(let since, let minimum): isBusy ? nil : since + minimum
    }
  }
}

// MARK: - Texts

/// What people read of a control, and what stands for it elsewhere.
///
/// Few events change any of it, so it lies behind one reference. One never changes, so that what was
/// last announced can share it; a control that is to say something else gets another.
final class Texts: Sendable {
  let title: String
  let detail: String
  let icon: String
  let desktopEntry: String

  /// Those of a control with some of them changed; nil when all are empty then.
  init?(
    _ old: Texts?, title: String? = nil, detail: String? = nil, icon: String? = nil,
    desktopEntry: String? = nil
  ) {
    self.title = title ?? old?.title ?? ""
    self.detail = detail ?? old?.detail ?? ""
    self.icon = icon ?? old?.icon ?? ""
    self.desktopEntry = desktopEntry ?? old?.desktopEntry ?? ""
    if self.title.isEmpty && self.detail.isEmpty && self.icon.isEmpty && self.desktopEntry.isEmpty {
      return nil
    }
  }
}

extension Control {
  /// Its own title, which it carries when nothing is shown.
  package var title: String {
    get { texts?.title ?? "" }
    set { texts = Texts(texts, title: newValue) }
  }

  /// The second line, for the work in hand.
  package var detail: String {
    get { texts?.detail ?? "" }
    set { texts = Texts(texts, detail: newValue) }
  }

  /// A name of the icon theme.
  package var icon: String {
    get { texts?.icon ?? "" }
    set { texts = Texts(texts, icon: newValue) }
  }

  /// A desktop entry.
  package var desktopEntry: String {
    get { texts?.desktopEntry ?? "" }
    set { texts = Texts(texts, desktopEntry: newValue) }
  }

  /// What a call says besides.
  mutating func apply(_ attributes: Attributes) {
    if attributes.isEmpty { return }
    texts = Texts(
      texts, title: attributes.title, detail: attributes.detail, icon: attributes.icon,
      desktopEntry: attributes.desktopEntry)
  }
}

// MARK: - Deadlines

/// The earlier of two instants that may not be.
func earlier(_ one: Microseconds?, _ other: Microseconds?) -> Microseconds? {
  guard let one else { return other }
  guard let other else { return one }
  return min(one, other)
}

// MARK: - Holders

extension Control {
  /// Calls `body` with each holder, in no special order.
  func forEachHolder(_ table: [Hold], _ body: (Holder) -> Void) {
    if let holder = switchState?.holder { body(holder) }
    for entry in holds { body(table[Int(entry.slot)].holder) }
    if let countdown, countdown.indicator { body(countdown.holder) }
  }

  /// A holder has come: it may bring the showing forward, and it joins what is shown.
  mutating func holderCame(_ holder: Holder) {
    switch visibility {
    case .hidden: visibility = .waiting(until: holder.graceEnd)
    case .waiting(let until): visibility = .waiting(until: min(until, holder.graceEnd))
    case .visible(let since, let minimum):
      visibility = .visible(since: since, minimum: max(minimum, holder.minimum))
    }
  }

  /// A holder that was to be shown at `graceEnd` has gone, or is to be shown at another time now.
  mutating func holderWent(_ graceEnd: Microseconds, _ table: [Hold]) {
    // Only the one that was to be shown first makes it necessary to look at all others.
    guard case .waiting(let until) = visibility, until == graceEnd else { return }
    var earliest: Microseconds?
    forEachHolder(table) { earliest = earlier(earliest, $0.graceEnd) }
    visibility = earliest.map { .waiting(until: $0) } ?? .hidden
  }

  /// The hold at its place in the order of cookies.
  func index(ofHold cookie: UInt32) -> Int? {
    let index = holds.partitioningIndex { $0.cookie >= cookie }
    return index < holds.count && holds[index].cookie == cookie ? index : nil
  }
}

extension Array {
  /// The index of the first element of which `belongs` is true, when all behind it do, too.
  func partitioningIndex(where belongs: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = low + (high - low) / 2
      if belongs(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

// MARK: - Coming to rest

extension Control {
  /// How the numbers of busy and of visible controls change.
  struct Edges {
    var busy = 0
    var visible = 0
  }

  /// Draws the consequences of an event, when all of it has happened.
  ///
  /// `instant` is when the event became due on the monotonic clock, so that of all that is overdue
  /// in a late wake-up the grace that ended after the work did does not count.
  mutating func settle(now: Now, instant: Microseconds, _ table: [Hold]) -> Edges {
    var edges = Edges()
    let busy = isBusy
    if busy != (busySince != nil) {
      busySince = busy ? now.realtime : nil
      edges.busy = busy ? 1 : -1
    }
    let working = busy || isCounting
    if isWorking && !working {
      progress = nil
      if texts != nil { detail = "" }
    }
    isWorking = working
    edges.visible = settleVisibility(busy: busy, now: now, instant: instant, table)
    if working || isVisible || isKept {
      idleSince = nil
    } else if idleSince == nil {
      idleSince = now.monotonic
    }
    return edges
  }

  private mutating func settleVisibility(
    busy: Bool, now: Now, instant: Microseconds, _ table: [Hold]
  ) -> Int {
    switch visibility {
    case .waiting(let until) where until <= instant:
      var longest = Microseconds.zero
      forEachHolder(table) { longest = max(longest, $0.minimum) }
      visibility = .visible(since: now.monotonic, minimum: longest)
      return 1
    case .visible(let since, let minimum) where !busy && since + minimum <= instant:
      visibility = .hidden
      return -1
    default: return 0
    }
  }

  /// Makes the next coming to rest one from work, for work that was over as soon as it began.
  mutating func noteMomentaryWork() {
    isWorking = true
    idleSince = nil
  }
}
