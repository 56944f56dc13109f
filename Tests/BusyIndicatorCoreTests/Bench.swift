// SPDX-License-Identifier: MIT

@testable import BusyIndicatorCore

/// A machine on a bench: with clocks that are turned by hand, and a log of what it tells.
///
/// After each event its invariants are checked.
struct Bench {
  var machine: IndicatorStateMachine
  private(set) var now: Now
  private let start: Now
  /// What was told, each line with the seconds since the start on the monotonic clock.
  private(set) var log: [String] = []
  /// What each drain of ``observe()`` had.
  private(set) var drains: [Drain] = []

  // The clocks start at different times, so that none is taken for another.
  init(
    lastCookie: UInt32 = 0, lastCountdown: UInt32 = 0,
    _ configure: (inout Configuration) -> Void = { _ in }
  ) {
    var configuration = Configuration()
    configure(&configuration)
    machine = IndicatorStateMachine(
      configuration: configuration, lastCookie: lastCookie, lastCountdown: lastCountdown)
    start = Now(
      boottime: Microseconds(seconds: 5_000), monotonic: Microseconds(seconds: 3_000),
      realtime: Microseconds(seconds: 1_700_000_000))
    now = start
  }

  /// Lets time pass without anything happening.
  mutating func pass(_ time: Microseconds, suspended: Bool = false) {
    now.boottime = now.boottime + time
    now.realtime = now.realtime + time
    if !suspended { now.monotonic = now.monotonic + time }
  }

  /// Wakes the machine up once, at the end of `time`.
  mutating func wake(after time: Microseconds, suspended: Bool = false) {
    pass(time, suspended: suspended)
    machine.advance(to: now)
    observe()
  }

  /// Lets time pass, and wakes the machine up whenever something is due.
  mutating func run(for time: Microseconds) {
    let end = now.monotonic + time
    while let step = timeToNextDeadline, now.monotonic + step <= end { wake(after: step) }
    wake(after: end - now.monotonic)
  }

  var timeToNextDeadline: Microseconds? {
    let next = machine.nextDeadline
    let boottime = next.boottime.map { $0 - now.boottime }
    let monotonic = next.monotonic.map { $0 - now.monotonic }
    return [boottime, monotonic].compactMap { $0 }.min()
  }

  /// Ends the turn: drains the machine and writes down what it tells.
  mutating func observe() {
    machine.checkInvariants()
    let drain = machine.drain()
    machine.checkInvariants()
    if !drain.isEmpty { drains.append(drain) }
    for change in drain.changes { note(change) }
    for event in drain.events { write(event.text) }
  }

  private mutating func note(_ change: Drain.ControlChange) {
    switch change {
    case .added(let id):
      write("added \(machine[id].name)")
      if machine[id].visible { write("visible") }
    case .changed(let id, let fields) where fields.contains(.visible):
      write(machine[id].visible ? "visible" : "hidden")
    case .changed: break
    case .removed(let name): write("removed \(name)")
    }
  }

  private mutating func write(_ text: String) {
    let elapsed = now.monotonic - start.monotonic
    log.append(elapsed.inSeconds + " " + text)
  }

  /// The log since it was last taken, without the lines that say that a control is new.
  mutating func takeLog() -> [String] {
    defer {
      log = []
      drains = []
    }
    return log.filter { !$0.contains("added") }
  }

  /// What a drain says of the control now.
  mutating func takeFields(_ control: String = "c") -> Fields {
    for case .changed(let id, let fields) in machine.drain().changes
    where machine[id].name.rawValue == control {
      return fields
    }
    return []
  }

  func view(_ control: String = "c") -> ControlView? {
    machine.find(name(control)).map { machine[$0] }
  }

  var c: ControlView { view()! }
}

// MARK: - Calls

extension Bench {
  mutating func show(
    _ control: String = "c", sender: String = ":1.1", _ set: (inout ShowOptions) -> Void = { _ in }
  ) throws(Refusal) {
    var options = ShowOptions()
    set(&options)
    try machine.show(name(control), options, sender: sender, now: now)
    machine.checkInvariants()
  }

  mutating func hide(_ control: String = "c") {
    machine.hide(name(control), now: now)
    machine.checkInvariants()
  }

  @discardableResult
  mutating func hold(
    _ control: String = "c", _ reason: String = "", sender: String = ":1.1",
    _ set: (inout HoldOptions) -> Void = { _ in }
  ) throws(Refusal) -> UInt32 {
    var options = HoldOptions(reason: reason)
    set(&options)
    let cookie = try machine.hold(name(control), options, sender: sender, now: now)
    machine.checkInvariants()
    return cookie
  }

  mutating func release(
    _ cookie: UInt32, _ result: String = "", sender: String = ":1.1"
  ) throws(Refusal) {
    try machine.release(cookie: cookie, result: result, sender: sender, now: now)
    machine.checkInvariants()
  }

  mutating func renew(_ cookie: UInt32) throws(Refusal) {
    try machine.renew(cookie: cookie, now: now)
    machine.checkInvariants()
  }

  mutating func releaseAll(_ control: String = "c") -> UInt32 {
    defer { machine.checkInvariants() }
    return machine.releaseAll(name(control), now: now)
  }

  mutating func forget(_ control: String = "c") {
    machine.forget(name(control), now: now)
    machine.checkInvariants()
  }

  @discardableResult
  mutating func count(
    _ control: String = "c", _ duration: Microseconds, sender: String = ":1.1",
    _ set: (inout CountdownOptions) -> Void = { _ in }
  ) throws(Refusal) -> UInt32 {
    var options = CountdownOptions()
    set(&options)
    let id = try machine.startCountdown(
      name(control), duration: duration, options, sender: sender, now: now)
    machine.checkInvariants()
    return id
  }

  mutating func pause(_ control: String = "c") throws(Refusal) {
    try machine.pauseCountdown(name(control), now: now)
    machine.checkInvariants()
  }

  mutating func resume(_ control: String = "c") throws(Refusal) {
    try machine.resumeCountdown(name(control), now: now)
    machine.checkInvariants()
  }

  mutating func extend(_ control: String = "c", _ seconds: Int32) throws(Refusal) {
    try machine.extendCountdown(name(control), seconds: seconds, now: now)
    machine.checkInvariants()
  }

  mutating func cancel(_ control: String = "c") throws(Refusal) {
    try machine.cancelCountdown(name(control), now: now)
    machine.checkInvariants()
  }

  mutating func setTitle(_ control: String = "c", _ title: String) throws(Refusal) {
    try machine.setTitle(name(control), title, now: now)
    machine.checkInvariants()
  }

  mutating func setDetail(_ control: String = "c", _ detail: String) throws(Refusal) {
    try machine.setDetail(name(control), detail, now: now)
    machine.checkInvariants()
  }

  mutating func setEnabled(_ control: String = "c", _ enabled: Bool) throws(Refusal) {
    try machine.setEnabled(name(control), enabled, now: now)
    machine.checkInvariants()
  }

  mutating func setProgress(_ control: String = "c", _ fraction: Double) throws(Refusal) {
    try machine.setProgress(name(control), fraction, now: now)
    machine.checkInvariants()
  }

  mutating func senderLeft(_ sender: String = ":1.1") {
    machine.senderLeft(sender, now: now)
    machine.checkInvariants()
  }

  mutating func processEnded(_ cookie: UInt32) {
    machine.processEnded(cookie: cookie, now: now)
    machine.checkInvariants()
  }

  var remaining: Microseconds { machine.remaining(of: machine.find(name("c"))!, now: now) }
}

// MARK: - Texts

func name(_ text: String) -> ControlName { try! ControlName(text) }

extension Microseconds {
  static func seconds(_ seconds: Double) -> Microseconds {
    Microseconds(rawValue: UInt64((seconds * 1_000_000).rounded()))
  }

  /// The number of seconds, without zeros at its end.
  var inSeconds: String {
    let whole = Double(rawValue) / 1_000_000
    return whole == whole.rounded() ? "\(UInt64(whole))" : "\(whole)"
  }
}

extension Event {
  /// The event in a line; the control is left out where it is `c`.
  var text: String {
    switch self {
    case .tick(let control, let remaining, let countdown):
      "tick \(remaining) #\(countdown)" + control.suffix
    case .finished(let end): "finished #\(end.countdown)" + end.control.suffix
    case .cancelled(let control, let countdown, let reason):
      "\(reason.rawValue) #\(countdown)" + control.suffix
    case .holdEnded(let cookie, let reason, let recipient):
      "hold \(cookie) \(reason.rawValue) to \(recipient)"
    case .holdNotification(let end): "notify \(end.result) after \(end.heldFor.inSeconds)"
    }
  }
}

extension ControlName {
  fileprivate var suffix: String { rawValue == "c" ? "" : " \(rawValue)" }
}
