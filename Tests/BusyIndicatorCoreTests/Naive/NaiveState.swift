// SPDX-License-Identifier: MIT

@testable import BusyIndicatorCore

// The state of the naive model: what the machine is compared with. It is written from the rules
// alone, keeps everything in plain lists, and looks at all of it after each event. Nothing of the
// machine's inner life is used, only the types in which both are asked and answer.

struct NaiveHolder {
  var kind: HolderKind
  var cookie: UInt32 = 0
  var reason = ""
  var application = ""
  var sender: String
  var pid: UInt32 = 0
  var lease = LeaseKind.none
  var since: UInt64
  var realtime: UInt64
  var grace: UInt64
  var minimum: UInt64
  var ttl: UInt64 = 0
  // Of a hold the end of its ttl, of the switch its time limit; on the boottime clock.
  var end: UInt64?
  var notifyAfter: UInt64?

  var snapshot: HolderSnapshot {
    HolderSnapshot(
      kind: kind, cookie: cookie, reason: reason, application: application, sender: sender,
      pid: pid, lease: lease, since: realtime)
  }
}

struct NaiveCountdown {
  var id: UInt32
  var duration: UInt64
  var clock: Clock
  var interval: UInt64
  var sender: String
  var endsWithSender: Bool
  var notify: Bool
  // One of the two is there.
  var deadline: UInt64?
  var pausedWith: UInt64?
  var lastTick: UInt64 = 0

  /// When it next has something to do: the first instant after the last tick at which a whole
  /// number of intervals is left, or the end.
  var due: UInt64? {
    guard let deadline else { return nil }
    guard interval > 0 else { return deadline }
    var left: UInt64 = 0
    while left + interval < deadline - lastTick { left += interval }
    return deadline - left
  }
}

struct NaiveControl {
  var name: String
  var serial: Int
  var title = ""
  var detail = ""
  var icon = ""
  var desktopEntry = ""
  var enabled = true
  var titleIsHeld = false
  var progress: Double?
  // All that makes it busy, oldest first.
  var holders: [NaiveHolder] = []
  var countdown: NaiveCountdown?
  var result = ""
  var resultID: UInt32 = 0
  var shownSince: UInt64?
  var longestMinimum: UInt64 = 0
  var busySince: UInt64?
  var wasWorking = false
  var idleSince: UInt64?

  func index(of kind: HolderKind) -> Int? { holders.firstIndex { $0.kind == kind } }

  /// What its properties are.
  var snapshot: Snapshot {
    var snapshot = Snapshot()
    snapshot.title = title
    snapshot.displayedTitle = shownSince == nil ? title : ""
    snapshot.enabled = enabled
    snapshot.displayedEnabled = enabled && holders.isEmpty
    snapshot.detail = detail
    snapshot.icon = icon
    snapshot.desktopEntry = desktopEntry
    snapshot.busy = !holders.isEmpty
    snapshot.visible = shownSince != nil
    snapshot.progress = progress ?? 0
    snapshot.progressValid = progress != nil
    snapshot.busySince = busySince ?? 0
    snapshot.holders = holders.map(\.snapshot)
    if let countdown {
      snapshot.countdown = countdown.id
      snapshot.countdownState = countdown.deadline == nil ? .paused : .running
      snapshot.countdownClock = countdown.clock
      snapshot.duration = countdown.duration
      snapshot.deadline = countdown.deadline ?? 0
    }
    snapshot.lastResult = result
    snapshot.lastCountdown = resultID
    return snapshot
  }
}
