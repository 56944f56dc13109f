// SPDX-License-Identifier: MIT

@testable import BusyIndicatorCore

/// The properties of a control at one moment, in a form that can be compared, kept and mended.
struct Snapshot: Equatable {
  var title = ""
  var displayedTitle = ""
  var enabled = true
  var displayedEnabled = true
  var detail = ""
  var icon = ""
  var desktopEntry = ""
  var busy = false
  var visible = false
  var progress = 0.0
  var progressValid = false
  var busySince: UInt64 = 0
  var holders: [HolderSnapshot] = []
  var countdown: UInt32 = 0
  var countdownState = CountdownState.none
  var countdownClock: Clock?
  var duration: UInt64 = 0
  var deadline: UInt64 = 0
  var lastResult = ""
  var lastCountdown: UInt32 = 0
}

struct HolderSnapshot: Equatable {
  var kind: HolderKind
  var cookie: UInt32
  var reason: String
  var application: String
  var sender: String
  var pid: UInt32
  var lease: LeaseKind
  var since: UInt64
}

extension Snapshot {
  init(_ view: ControlView) {
    title = view.title
    displayedTitle = view.displayedTitle
    enabled = view.enabled
    displayedEnabled = view.displayedEnabled
    detail = view.detail
    icon = view.icon
    desktopEntry = view.desktopEntry
    busy = view.busy
    visible = view.visible
    progress = view.progress
    progressValid = view.progressValid
    busySince = view.busySince.rawValue
    holders = view.holders.map {
      HolderSnapshot(
        kind: $0.kind, cookie: $0.cookie, reason: $0.reason, application: $0.application,
        sender: $0.sender, pid: $0.pid, lease: $0.lease, since: $0.since.rawValue)
    }
    countdown = view.countdown
    countdownState = view.countdownState
    countdownClock = view.countdownClock
    duration = view.duration.rawValue
    deadline = view.deadline.rawValue
    lastResult = view.lastResult
    lastCountdown = view.lastCountdown
  }

  /// A property, as somebody handles it who has heard that it changed.
  struct Property {
    let field: Fields
    let isSame: (Snapshot, Snapshot) -> Bool
    let copy: (inout Snapshot, Snapshot) -> Void

    init<Value: Equatable>(_ field: Fields, _ path: WritableKeyPath<Snapshot, Value>) {
      self.field = field
      isSame = { $0[keyPath: path] == $1[keyPath: path] }
      copy = { $0[keyPath: path] = $1[keyPath: path] }
    }
  }

  /// Those that are announced, by their bits.
  static var properties: [Property] {
    [
      Property(.title, \.title), Property(.displayedTitle, \.displayedTitle),
      Property(.enabled, \.enabled), Property(.displayedEnabled, \.displayedEnabled),
      Property(.detail, \.detail), Property(.icon, \.icon),
      Property(.desktopEntry, \.desktopEntry), Property(.busy, \.busy),
      Property(.visible, \.visible), Property(.progress, \.progress),
      Property(.progressValid, \.progressValid), Property(.busySince, \.busySince),
      Property(.holders, \.holders), Property(.countdown, \.countdown),
      Property(.countdownState, \.countdownState),
      Property(.countdownClock, \.countdownClock), Property(.duration, \.duration),
      Property(.deadline, \.deadline), Property(.lastResult, \.lastResult),
      Property(.lastCountdown, \.lastCountdown),
    ]
  }
}

/// Somebody who reads a control when it is new, and then only what is announced.
struct Observer {
  private(set) var known: [String: Snapshot] = [:]
  private(set) var watched: Set<String> = []
  private(set) var busy = false
  private(set) var visible = false
  private let properties = Snapshot.properties

  /// Takes in a drain.
  ///
  /// - Returns: what is wrong with it.
  mutating func apply(_ drain: Drain, _ machine: IndicatorStateMachine) -> String? {
    var seen: Set<String> = []
    for change in drain.changes {
      switch change {
      case .added(let id):
        let view = machine[id]
        let name = view.name.rawValue
        guard known.updateValue(Snapshot(view), forKey: name) == nil, seen.insert(name).inserted
        else { return "\(name) was there already" }
      case .changed(let id, let fields):
        let view = machine[id]
        let (name, snapshot) = (view.name.rawValue, Snapshot(view))
        guard known[name] != nil, !fields.isEmpty, seen.insert(name).inserted else {
          return "\(name) is told twice, or for nothing"
        }
        for property in properties where fields.contains(property.field) {
          if property.isSame(known[name]!, snapshot) {
            return "\(name) has no other \(property.field)"
          }
          property.copy(&known[name]!, snapshot)
        }
      case .removed(let name):
        guard known.removeValue(forKey: name.rawValue) != nil else {
          return "\(name) was not there"
        }
      }
    }
    for sender in drain.sendersToUnwatch where watched.remove(sender) == nil {
      return "\(sender) was not watched"
    }
    for sender in drain.sendersToWatch where !watched.insert(sender).inserted {
      return "\(sender) was watched"
    }
    if drain.managerBusyChanged { busy.toggle() }
    if drain.managerVisibleChanged { visible.toggle() }
    return nil
  }

  /// Learns that its watches have gone with those who kept them.
  mutating func loseWatches() { watched = [] }
}
