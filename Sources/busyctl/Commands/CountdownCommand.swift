// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient
internal import Glibc

/// `countdown`: starts one, and may stay to see how it ends.
enum CountdownCommand {
  static let countdown = CommandSpec(
    name: "countdown", operands: [.control, OperandSpec("DURATION", .text, .optional)],
    summary: "Start a countdown",
    options: [
      OptionSpec("until", .text("HH:MM"), "Until this time of day, instead of a duration"),
      OptionSpec("busy", "Make the control busy for as long as the countdown lives"),
      OptionSpec("interval", .text("DUR"), "Time between ticks; 0 for none; default 1 s"),
      OptionSpec(
        "clock", .choice(["boottime", "monotonic"]),
        "Go on through suspend (default), or stand still in it"),
      OptionSpec(
        "restart", .choice(["replace", "keep", "reject", "extend"]),
        "When there is one already; default replace"),
      OptionSpec("paused", "Start it paused"),
      OptionSpec("notify", "A desktop notification when it finishes"),
      OptionSpec("wait", "Stay until it ends: status 0 when it finished, 2 otherwise"),
      OptionSpec("print-id", "Print its id"),
      OptionSpec("on-finish", .text("CMD"), "Run this by sh when it has finished; implies --wait"),
    ] + SimpleCommands.attributes,
    run: start)

  private static func start(_ invocation: Invocation) throws(Failure) -> Int32 {
    let name = invocation.operands[0]
    let duration = try duration(of: invocation)
    let options = try options(of: invocation)
    guard invocation.has("wait") || invocation.has("on-finish") else {
      let id = try Session.perform(.startCountdown(name, for: duration, options))
      if invocation.has("print-id") { Console.print("\(id)") }
      return 0
    }
    let loop = PollLoop()
    let connection = try Session.connect(loop: loop)
    let waiting = CountdownWaiting(connection, loop, name)
    let id = try waiting.start(.startCountdown(name, for: duration, options))
    if invocation.has("print-id") { Console.print("\(id)") }
    let result = try waiting.wait(timeout: nil, drawing: !Console.isQuiet)
    guard result == CountdownResult.finished else {
      throw .unmet(Console.isCapableTerminal(1) ? nil : "the countdown ended: \(result)")
    }
    if let command = invocation["on-finish"] { return try runShell(command) }
    return 0
  }

  private static func duration(of invocation: Invocation) throws(Failure) -> Microseconds {
    let operand = invocation.operands.count > 1 ? invocation.operands[1] : nil
    switch (operand, invocation["until"]) {
    case (let text?, nil): return try Values.duration(text, what: "DURATION")
    case (nil, let time?): return try Values.timeUntil(time, now: .timeOfDay())
    case (nil, nil): throw .usage("countdown: DURATION or --until is missing")
    default: throw .usage("countdown: --until excludes DURATION")
    }
  }

  private static func options(of invocation: Invocation) throws(Failure) -> CountdownOptions {
    var options = CountdownOptions()
    options.indicator = try invocation.indicatorOptions()
    options.isBusy = invocation.has("busy")
    options.clock = invocation.word("clock", Clock.self)
    options.restart = invocation.word("restart", RestartPolicy.self)
    options.isPaused = invocation.has("paused")
    options.notify = invocation.has("notify")
    if let interval = invocation["interval"] {
      options.interval = UInt32(try Values.wholeSeconds(interval, what: "--interval"))
    }
    return options
  }

  private static func runShell(_ command: String) throws(Failure) -> Int32 {
    var words = [strdup("/bin/sh"), strdup("-c"), strdup(command), nil]
    let child = try ChildProcess(&words)
    for word in words { free(word) }
    switch child.waitForEnd() {
    case .exited(let status): return status
    case .signalled(let number): return 128 + number
    }
  }
}

/// Waits for the end of one countdown, by what the bus says of it, and shows it meanwhile.
///
/// The end is known by the signal, or, when that came while the daemon was away, by LastResult.
final class CountdownWaiting {
  private let connection: IndicatorConnection
  private let loop: PollLoop
  private let name: String
  private var id: UInt32 = 0
  private var observer: IndicatorObserver?
  private var outcome: Result<String, Failure>?
  private var unknownEnd: (any WakeTimer)?
  private var absence: (any WakeTimer)?
  private var view: CountdownView?

  /// How long a daemon may be away before it is given up.
  static let patience: UInt64 = 30_000_000

  init(_ connection: IndicatorConnection, _ loop: PollLoop, _ name: String) {
    self.connection = connection
    self.loop = loop
    self.name = name
    unknownEnd = loop.makeTimer { [unowned self] in finish(.success("its end was missed")) }
    absence = loop.makeTimer { [unowned self] in
      finish(.failure(.unavailable("busyindicatord has gone and does not come back")))
    }
    connection.onDisconnected = { [unowned self] in
      finish(.failure(.unavailable("the session bus is gone")))
    }
  }

  /// Starts the countdown; what it does from then on is not missed.
  func start(_ request: IndicatorRequest<UInt32>) throws(Failure) -> UInt32 {
    observe()
    var answer: Result<UInt32, IndicatorError>?
    connection.submit(request) { [unowned self] result in
      answer = result
      if case .success(let id) = result { self.id = id }
    }
    loop.run { answer != nil || outcome != nil }
    switch answer {
    case .success(let id): return id
    case .failure(let error): throw error.failure
    case nil: throw .unavailable("the session bus is gone")
    }
  }

  /// Waits for the countdown that runs; or takes the result of the last one when none does.
  func find() throws(Failure) -> String? {
    let connection = connection
    do throws(IndicatorError) {
      let state = try connection.perform(.state(of: name))
      guard let countdown = state.countdown else { return state.lastResult }
      id = countdown.id
    } catch {
      guard error.kind == .noSuchControl else { throw error.failure }
      throw .unmet("there is no control “\(name)”")
    }
    observe()
    return nil
  }

  /// Waits, and tells how it ended: `finished`, or a reason of the signal Cancelled.
  func wait(timeout: (any WakeTimer)?, drawing: Bool) throws(Failure) -> String {
    if drawing, outcome == nil { view = CountdownView(loop, name) }
    view?.update(observer?[name])
    let signals =
      drawing
      ? Signals(Signals.ending, on: loop) { [unowned self] number in
        view?.leave(nil)
        Console.remark("the countdown goes on; busyctl cancel ends it")
        view = nil
        Signals.die(by: number)
      } : nil
    loop.run { outcome != nil }
    withExtendedLifetime((signals, timeout)) {}
    if case .success(let result) = outcome { view?.leave(result) } else { view?.leave(nil) }
    view = nil
    return try (outcome ?? .success("")).get()
  }

  /// Ends the waiting from outside.
  func finish(_ result: Result<String, Failure>) {
    if outcome == nil { outcome = result }
  }

  private func observe() {
    observer = IndicatorObserver(connection, controls: [name]) { [unowned self] in see($0) }
  }

  private func see(_ event: IndicatorObserver.Event) {
    if case .countdownEnded(_, let id, let result) = event {
      if id == self.id, id != 0 { finish(.success(result)) }
      return
    }
    guard id != 0, let observer else { return }
    view?.update(observer[name])
    guard observer.isDaemonRunning else {
      absence?.arm(at: loop.monotonicNow + Self.patience)
      return
    }
    absence?.disarm()
    let state = observer[name]
    if state?.countdown?.id == id {
      unknownEnd?.disarm()
    } else if let state, state.lastCountdown == id {
      finish(.success(state.lastResult))
    } else {
      // The signal is on its way, unless it was sent while nobody could hear it.
      unknownEnd?.arm(at: loop.monotonicNow + 2_000_000)
    }
  }
}
