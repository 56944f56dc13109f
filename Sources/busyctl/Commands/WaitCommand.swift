// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient

/// `wait`: until something holds.
enum WaitCommand {
  static let wait = CommandSpec(
    name: "wait", operands: [.control],
    summary: "Wait until a control is idle, or busy, or its countdown has finished",
    options: [
      OptionSpec(
        "for", .choice(["idle", "busy", "finished"]), "What to wait for; default idle"),
      OptionSpec("timeout", .text("DUR"), "Give up with status 124 after this time"),
    ],
    run: run)

  private static func run(_ invocation: Invocation) throws(Failure) -> Int32 {
    let name = invocation.operands[0]
    let goal = invocation["for"] ?? "idle"
    let timeout = try invocation.duration("timeout")
    let loop = PollLoop()
    let connection = try Session.connect(loop: loop)
    if goal == "finished" {
      return try waitForEnd(of: name, connection, loop, timeout)
    }
    let waiting = StateWaiting(connection, loop, name, busy: goal == "busy")
    if let timeout { waiting.giveUp(after: timeout, late(name, goal)) }
    try waiting.wait()
    return 0
  }

  private static func late(_ name: String, _ goal: String) -> Failure {
    .timedOut("“\(name)” is not \(goal) in time")
  }

  private static func waitForEnd(
    of name: String, _ connection: IndicatorConnection, _ loop: PollLoop, _ timeout: Microseconds?
  ) throws(Failure) -> Int32 {
    let waiting = CountdownWaiting(connection, loop, name)
    let timer = loop.makeTimer { waiting.finish(.failure(late(name, "finished"))) }
    if let timeout { timer.arm(at: loop.monotonicNow + timeout.rawValue) }
    var found = try waiting.find()
    if found == nil { found = try waiting.wait(timeout: timer, drawing: false) }
    let result = found ?? ""
    if result == CountdownResult.finished { return 0 }
    throw .unmet(result.isEmpty ? "“\(name)” has no countdown" : "it ended otherwise: \(result)")
  }
}

/// Waits until a control is busy, or is not.
private final class StateWaiting {
  private let loop: PollLoop
  private let name: String
  private let busy: Bool
  private var observer: IndicatorObserver?
  private var outcome: Result<Void, Failure>?
  private var isFirst = true
  private var absence: (any WakeTimer)?
  private var patience: (any WakeTimer)?
  private var deadline: UInt64?

  /// How long the first state is waited for when the time to wait is shorter.
  private static let firstLook: UInt64 = 1_000_000

  init(_ connection: IndicatorConnection, _ loop: PollLoop, _ name: String, busy: Bool) {
    self.loop = loop
    self.name = name
    self.busy = busy
    absence = loop.makeTimer { [unowned self] in
      finish(.failure(.unavailable("busyindicatord has gone and does not come back")))
    }
    connection.onDisconnected = { [unowned self] in
      finish(.failure(.unavailable("the session bus is gone")))
    }
    observer = IndicatorObserver(connection, controls: [name]) { [unowned self] _ in look() }
  }

  func wait() throws(Failure) {
    loop.run { outcome != nil }
    try outcome?.get()
  }

  func finish(_ result: Result<Void, Failure>) {
    if outcome == nil { outcome = result }
  }

  /// Fails when the time has passed, but not before it has looked once: it may be so already.
  func giveUp(after timeout: Microseconds, _ failure: Failure) {
    patience = loop.makeTimer { [unowned self] in finish(.failure(failure)) }
    let now = Microseconds(rawValue: loop.monotonicNow)
    deadline = (now + timeout).rawValue
    patience?.arm(at: (now + max(timeout, Microseconds(rawValue: Self.firstLook))).rawValue)
  }

  private func look() {
    guard let observer else { return }
    defer {
      if isFirst, let deadline { patience?.arm(at: deadline) }
      isFirst = false
    }
    guard observer.isDaemonRunning else {
      if isFirst {
        finish(.failure(.unavailable("busyindicatord is not running")))
      } else {
        absence?.arm(at: loop.monotonicNow + CountdownWaiting.patience)
      }
      return
    }
    absence?.disarm()
    if observer[name]?.isBusy ?? false == busy { finish(.success(())) }
  }
}
