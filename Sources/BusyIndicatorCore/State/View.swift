// SPDX-License-Identifier: MIT

/// A control as its properties show it.
///
/// A view stays what it was when the machine goes on. It shares the machine's memory, which would
/// have to be copied then, so it is to be read and let go at once.
package struct ControlView: Sendable {
  /// The property Name.
  package let name: ControlName
  private let control: Control
  private let table: [Hold]

  init(_ name: ControlName, _ control: Control, _ table: [Hold]) {
    self.name = name
    self.control = control
    self.table = table
  }

  /// The property Title.
  package var title: String { control.title }
  /// The property DisplayedTitle.
  package var displayedTitle: String { control.isVisible ? "" : control.title }
  /// The property Enabled.
  package var enabled: Bool { control.enabled }
  /// The property DisplayedEnabled.
  package var displayedEnabled: Bool { control.enabled && !busy }
  /// The property Detail.
  package var detail: String { control.detail }
  /// The property Icon.
  package var icon: String { control.icon }
  /// The property DesktopEntry.
  package var desktopEntry: String { control.desktopEntry }
  /// The property Busy.
  package var busy: Bool { control.busySince != nil }
  /// The property Visible.
  package var visible: Bool { control.isVisible }
  /// The property Progress.
  package var progress: Double { control.progress ?? 0 }
  /// The property ProgressValid.
  package var progressValid: Bool { control.progress != nil }
  /// The property BusySince.
  package var busySince: Microseconds { control.busySince ?? .zero }
  /// The property Countdown.
  package var countdown: UInt32 { control.countdown?.id ?? 0 }
  /// The property CountdownState.
  package var countdownState: CountdownState {
    switch control.countdown?.phase {
    case .none: .none
    case .running: .running
    case .paused: .paused
    }
  }
  /// The property CountdownClock; nil when there is none.
  package var countdownClock: Clock? { control.countdown?.clock }
  /// The property Duration.
  package var duration: Microseconds { control.countdown?.duration ?? .zero }
  /// The property Deadline.
  package var deadline: Microseconds {
    if case .running(let deadline, _) = control.countdown?.phase { deadline } else { .zero }
  }
  /// The property LastResult.
  package var lastResult: String { control.lastResult }
  /// The property LastCountdown.
  package var lastCountdown: UInt32 { control.lastCountdown }

  /// The property Holders, oldest first; made anew each time.
  package var holders: [HolderView] {
    var others: [(order: UInt64, view: HolderView)] = []
    if let state = control.switchState { others.append((state.holder.order, HolderView(state))) }
    if let countdown = control.countdown, countdown.indicator {
      others.append((countdown.holder.order, HolderView(countdown)))
    }
    if others.count == 2, others[0].order > others[1].order { others.swapAt(0, 1) }
    var views: [HolderView] = []
    views.reserveCapacity(control.holds.count + others.count)
    var next = others.startIndex
    for entry in control.holds {
      let hold = table[Int(entry.slot)]
      while next < others.endIndex, others[next].order < hold.holder.order {
        views.append(others[next].view)
        next += 1
      }
      views.append(HolderView(hold))
    }
    views.append(contentsOf: others[next...].map(\.view))
    return views
  }
}

/// One entry of the property Holders.
package struct HolderView: Equatable, Sendable {
  /// What holds.
  package var kind: HolderKind
  /// The hold's cookie; 0 for others.
  package var cookie: UInt32 = 0
  /// The hold's reason; empty for others.
  package var reason = ""
  /// The application on whose behalf it holds; may be empty.
  package var application: String
  /// The unique name of its caller.
  package var sender: String
  /// The process on which the hold depends; 0 when it does on none.
  package var pid: UInt32 = 0
  /// What ends it by itself.
  package var lease = LeaseKind.none
  /// Since when it holds, on the realtime clock.
  package var since: Microseconds

  private init(_ kind: HolderKind, _ holder: Holder) {
    self.kind = kind
    application = holder.application
    sender = holder.sender
    since = holder.sinceRealtime
  }

  init(_ state: Switch) { self.init(.switch, state.holder) }

  init(_ countdown: Countdown) {
    self.init(.countdown, countdown.holder)
    lease = countdown.endsWithSender ? .sender : .none
  }

  init(_ hold: Hold) {
    self.init(.hold, hold.holder)
    cookie = hold.cookie
    reason = hold.reason
    lease = hold.lease.kind
    if case .process(let process, _) = hold.lease { pid = process }
  }

  /// Says in a few words what holds, for the error Busy.
  var summary: String {
    var text: String
    switch kind {
    case .switch: text = "its switch was turned on by \(sender)"
    case .hold: text = "hold \(cookie) of \(sender)"
    case .countdown: text = "the countdown of \(sender) is its indicator"
    }
    if !reason.isEmpty { text += ", " + reason.quoted }
    if !application.isEmpty { text += ", for " + application.quoted }
    return text
  }
}
