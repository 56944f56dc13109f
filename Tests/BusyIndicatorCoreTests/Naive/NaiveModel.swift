// SPDX-License-Identifier: MIT

@testable import BusyIndicatorCore

/// The naive model: the calls.
struct NaiveModel {
  var configuration: Configuration
  var now: Now
  var controls: [NaiveControl] = []
  var events: [Event] = []
  var changedHolds: Set<UInt32> = []
  var endedHolds: [UInt32] = []
  var lastCookie: UInt32 = 0
  var lastCountdown: UInt32 = 0
  var lastSerial = 0

  var boottime: UInt64 { now.boottime.rawValue }
  var monotonic: UInt64 { now.monotonic.rawValue }

  func index(_ name: String) -> Int? { controls.firstIndex { $0.name == name } }

  func instant(_ clock: Clock) -> UInt64 { clock == .boottime ? boottime : monotonic }

  var allHolds: [NaiveHolder] { controls.flatMap(\.holders).filter { $0.kind == .hold } }

  /// The callers that have to be watched.
  var watched: Set<String> {
    Set(allHolds.filter { $0.lease == .sender }.map(\.sender)).union(
      controls.compactMap { $0.countdown?.endsWithSender == true ? $0.countdown!.sender : nil })
  }

  /// Finds or makes a control; nil when there is no room.
  mutating func make(_ name: String) -> Int? {
    if let found = index(name) { return found }
    if controls.count >= configuration.maxControls {
      let idle = controls.filter { $0.idleSince != nil }
      guard let oldest = idle.min(by: { ($0.idleSince!, $0.serial) < ($1.idleSince!, $1.serial) })
      else { return nil }
      controls.removeAll { $0.serial == oldest.serial }
    }
    lastSerial += 1
    controls.append(NaiveControl(name: name, serial: lastSerial))
    return controls.count - 1
  }

  mutating func apply(_ attributes: Attributes, _ at: Int) {
    controls[at].title = attributes.title ?? controls[at].title
    controls[at].detail = attributes.detail ?? controls[at].detail
    controls[at].icon = attributes.icon ?? controls[at].icon
    controls[at].desktopEntry = attributes.desktopEntry ?? controls[at].desktopEntry
  }

  func holder(_ kind: HolderKind, _ options: HolderOptions, _ sender: String) -> NaiveHolder {
    NaiveHolder(
      kind: kind, application: options.application ?? "", sender: sender, since: monotonic,
      realtime: now.realtime.rawValue, grace: (options.grace ?? configuration.grace).rawValue,
      minimum: (options.minimum ?? configuration.minimum).rawValue)
  }

  // MARK: - Switch and attributes

  mutating func show(_ name: String, _ options: ShowOptions, _ sender: String) -> ErrorName? {
    if options.timeout == .zero { return .invalidArguments }
    guard let at = make(name) else { return .limitsExceeded }
    apply(options.attributes, at)
    if let on = controls[at].index(of: .switch) {
      if let grace = options.holder.grace { controls[at].holders[on].grace = grace.rawValue }
      if let application = options.holder.application {
        controls[at].holders[on].application = application
      }
      if let minimum = options.holder.minimum {
        controls[at].holders[on].minimum = max(
          controls[at].holders[on].minimum, minimum.rawValue)
      }
    } else {
      controls[at].holders.append(holder(.switch, options.holder, sender))
    }
    if let timeout = options.timeout {
      controls[at].holders[controls[at].index(of: .switch)!].end = boottime + timeout.rawValue
    }
    rest(at)
    return nil
  }

  mutating func hide(_ name: String) {
    guard let at = index(name) else { return }
    controls[at].holders.removeAll { $0.kind == .switch }
    rest(at)
  }

  mutating func set(_ name: String, _ change: (inout NaiveControl) -> Void) -> ErrorName? {
    guard let at = make(name) else { return .limitsExceeded }
    change(&controls[at])
    rest(at)
    return nil
  }

  // MARK: - Holds

  mutating func hold(
    _ name: String, _ options: HoldOptions, _ sender: String
  ) -> Result<UInt32, NaiveError> {
    if options.lease == .ttl(.zero) { return .failure(.init(.invalidArguments)) }
    if options.exclusive, let at = index(name), !controls[at].holders.isEmpty {
      return .failure(.init(.busy))
    }
    if allHolds.count >= configuration.maxHolds
      || allHolds.count(where: { $0.sender == sender }) >= configuration.maxHoldsPerSender
    {
      return .failure(.init(.limitsExceeded))
    }
    guard let at = make(name) else { return .failure(.init(.limitsExceeded)) }
    apply(options.attributes, at)
    var new = holder(.hold, options.holder, sender)
    lastCookie += 1
    new.cookie = lastCookie
    changedHolds.insert(lastCookie)
    new.reason = options.reason
    new.notifyAfter = options.notifyAfter?.rawValue
    switch options.lease {
    case .sender: new.lease = .sender
    case .none: new.lease = .none
    case .process(let pid, _):
      new.lease = .pid
      new.pid = pid
    case .ttl(let ttl):
      new.lease = .ttl
      new.ttl = ttl.rawValue
      new.end = boottime + ttl.rawValue
    }
    controls[at].holders.append(new)
    rest(at)
    return .success(new.cookie)
  }

  func find(_ cookie: UInt32) -> (control: Int, holder: Int)? {
    for at in controls.indices {
      let found = controls[at].holders.firstIndex { $0.kind == .hold && $0.cookie == cookie }
      if let found { return (at, found) }
    }
    return nil
  }

  mutating func renew(_ cookie: UInt32) -> ErrorName? {
    guard let (at, holder) = find(cookie) else { return .noSuchHold }
    guard controls[at].holders[holder].lease == .ttl else { return .invalidArguments }
    controls[at].holders[holder].end = boottime + controls[at].holders[holder].ttl
    changedHolds.insert(cookie)
    return nil
  }

  mutating func release(_ cookie: UInt32, _ result: String, _ sender: String) -> ErrorName? {
    guard let (at, holder) = find(cookie) else { return .noSuchHold }
    let isOwn = controls[at].holders[holder].sender == sender
    end(
      cookie, result.isEmpty ? "released" : "released: \(result)", isOwn ? nil : .releasedByOther)
    return nil
  }

  mutating func releaseAll(_ name: String) -> UInt32 {
    guard let at = index(name) else { return 0 }
    controls[at].holders.removeAll { $0.kind != .hold }
    let cookies = controls[at].holders.map(\.cookie)
    for cookie in cookies { end(cookie, "released-by-other", .releasedByOther, resting: false) }
    rest(at)
    return UInt32(cookies.count)
  }

  mutating func forget(_ name: String) {
    guard let at = index(name) else { return }
    if controls[at].countdown != nil { endCountdown(at, .forgotten) }
    for cookie in controls[at].holders.filter({ $0.kind == .hold }).map(\.cookie) {
      end(cookie, "forgotten", .forgotten, resting: false)
    }
    controls.remove(at: at)
  }

  mutating func senderLeft(_ sender: String) {
    for hold in allHolds.sorted(by: { $0.cookie < $1.cookie })
    where hold.sender == sender && hold.lease == .sender {
      end(hold.cookie, "owner-lost", nil)
    }
    let lost = controls.indices.filter {
      controls[$0].countdown?.sender == sender && controls[$0].countdown!.endsWithSender
    }
    for at in lost.sorted(by: { controls[$0].countdown!.id < controls[$1].countdown!.id }) {
      endCountdown(at, .ownerLost)
      rest(at)
    }
  }

  mutating func processEnded(_ cookie: UInt32) {
    guard let (at, holder) = find(cookie), controls[at].holders[holder].lease == .pid else {
      return
    }
    end(cookie, "owner-lost", .ownerLost)
  }

  mutating func end(
    _ cookie: UInt32, _ result: String, _ reason: HoldEndReason?, resting: Bool = true,
    late: UInt64 = 0
  ) {
    let (at, place) = find(cookie)!
    let hold = controls[at].holders.remove(at: place)
    controls[at].result = result
    controls[at].resultID = 0
    endedHolds.append(cookie)
    changedHolds.remove(cookie)
    if let reason {
      events.append(.holdEnded(cookie: cookie, reason: reason, recipient: hold.sender))
    }
    if let after = hold.notifyAfter, monotonic - hold.since >= after {
      events.append(
        .holdNotification(
          EndedHold(
            control: try! ControlName(controls[at].name), title: controls[at].title,
            result: result, heldFor: Microseconds(rawValue: monotonic - hold.since))))
    }
    if resting { rest(at, late: late) }
  }
}

struct NaiveError: Error {
  let name: ErrorName
  init(_ name: ErrorName) { self.name = name }
}
