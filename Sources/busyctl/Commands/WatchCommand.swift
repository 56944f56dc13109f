// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient
internal import Glibc

/// `watch`: the state as it changes.
enum WatchCommand {
  static let watch = CommandSpec(
    name: "watch", operands: [OperandSpec("NAME", .control, .any)],
    summary: "Follow all controls, or these, on a terminal or line by line",
    options: [
      OptionSpec(
        "idle", .text("TEXT"), "What --format shows when nothing is active; default empty"),
      OptionSpec("once", "Print the present state and end"),
    ], hasJSON: true, hasFormat: true,
    run: run)

  private static func run(_ invocation: Invocation) throws(Failure) -> Int32 {
    let format = try Format(invocation)
    let names = invocation.operands.isEmpty ? nil : invocation.operands
    let isOnce = invocation.has("once")
    let loop = PollLoop()
    let output: any WatchOutput
    switch format {
    case .plain where !isOnce && Console.isCapableTerminal(STDOUT_FILENO):
      output = TerminalWatch(loop, names)
    case .plain: output = LineWatch(loop, names)
    case .json: output = DocumentWatch(loop)
    case .waybar: output = BarWatch(loop, idle: invocation["idle"] ?? "", template: nil)
    case .template(let template):
      output = BarWatch(loop, idle: invocation["idle"] ?? "", template: template)
    }
    return try Watching(loop, names, output, isOnce).run()
  }
}

/// One way to show what `watch` follows.
protocol WatchOutput: AnyObject {
  /// Shows the state as it is now: after all that has come in together.
  func show(_ observer: IndicatorObserver)
  /// Shows one control at once, which is new, has changed or is gone.
  func show(_ control: String, of observer: IndicatorObserver)
  /// Whether all that was shown has left this process.
  var isWritten: Bool { get }
  /// The terminal has another size, or was given back to us.
  func terminalChanged(_ observer: IndicatorObserver, isContinued: Bool)
  /// Somebody has asked for the end.
  func end()
  /// Called when the reader has gone.
  var onGone: (() -> Void)? { get set }
}

extension WatchOutput {
  func show(_ control: String, of observer: IndicatorObserver) {}
  func terminalChanged(_ observer: IndicatorObserver, isContinued: Bool) {}
  func end() {}
}

/// Follows the controls until somebody ends it.
private final class Watching {
  private let loop: PollLoop
  private let names: [String]?
  private let output: any WatchOutput
  private let isOnce: Bool
  private var observer: IndicatorObserver?
  private var refresh: (any WakeTimer)?
  private var isReady = false
  private var outcome: Result<Int32, Failure>?

  init(_ loop: PollLoop, _ names: [String]?, _ output: any WatchOutput, _ isOnce: Bool) {
    self.loop = loop
    self.names = names
    self.output = output
    self.isOnce = isOnce
  }

  func run() throws(Failure) -> Int32 {
    // Before the connection: after a stop the loop hears first that the screen is another one.
    let signals = Signals(Signals.ending + [SIGWINCH, SIGCONT], on: loop) { [unowned self] number in
      switch number {
      case SIGWINCH, SIGCONT:
        guard isReady, let observer else { break }
        output.terminalChanged(observer, isContinued: number == SIGCONT)
      default:
        output.end()
        finish(.success(0))
      }
    }
    output.onGone = { [unowned self] in finish(.success(0)) }
    let connection = try Session.connect(loop: loop)
    connection.onDisconnected = { [unowned self] in
      finish(.failure(.unavailable("the session bus is gone")))
    }
    refresh = loop.makeTimer { [unowned self] in
      isReady = true
      if let observer { output.show(observer) }
    }
    observer = IndicatorObserver(connection, controls: names) { [unowned self] in see($0) }
    loop.run { outcome != nil || (isOnce && isReady && output.isWritten) }
    withExtendedLifetime(signals) {}
    return try (outcome ?? .success(0)).get()
  }

  private func see(_ event: IndicatorObserver.Event) {
    guard let observer else { return }
    switch event {
    case .countdownEnded: return
    case .changed(let control), .removed(let control): output.show(control, of: observer)
    case .reset:
      if !isReady, !observer.isDaemonRunning, !isOnce, !(output is TerminalWatch) {
        Console.remark("busyindicatord is not running; waiting for it")
      }
    }
    // Once for all that has been read together: a line may be about thousands of controls.
    refresh?.arm(at: loop.monotonicNow)
  }

  private func finish(_ result: Result<Int32, Failure>) {
    if outcome == nil { outcome = result }
  }
}

/// A line for each control whenever its text changes.
private final class LineWatch: WatchOutput {
  var onGone: (() -> Void)?
  private let loop: PollLoop
  private let names: [String]?
  private var output: LineOutput?
  private var timer: (any WakeTimer)?
  /// The names of the controls that are there, as bytes.
  private var known: Set<LineOutput.Kind> = []
  private weak var observer: IndicatorObserver?

  init(_ loop: PollLoop, _ names: [String]?) {
    self.loop = loop
    self.names = names
    output = LineOutput(on: loop) { [unowned self] in onGone?() }
    timer = loop.makeTimer { [unowned self] in if let observer { show(observer) } }
  }

  var isWritten: Bool { output?.isEmpty ?? true }

  func show(_ control: String, of observer: IndicatorObserver) {
    if let state = observer[control] {
      output?.put(state.line, kind: Array(control.utf8))
      known.insert(Array(control.utf8))
    } else {
      putAbsent(Array(control.utf8))
      known.remove(Array(control.utf8))
    }
  }

  private func putAbsent(_ name: LineOutput.Kind) {
    output?.put("\(String(decoding: name, as: UTF8.self).harmless): absent", kind: name)
    if names == nil { output?.drop(kind: name) }
  }

  func show(_ observer: IndicatorObserver) {
    self.observer = observer
    let controls = observer.controls
    let present = Set(controls.map { Array($0.name.utf8) })
    for control in controls { output?.put(control.line, kind: Array(control.name.utf8)) }
    let expected = known.isEmpty ? Set((names ?? []).map { Array($0.utf8) }) : known
    let missing = expected.subtracting(present)
    for name in missing.sorted(by: { $0.lexicographicallyPrecedes($1) }) { putAbsent(name) }
    known = present
    let waits = controls.compactMap { $0.countdown.flatMap(Ticking.untilNextSecond) }
    if let wait = waits.min() {
      timer?.arm(at: loop.monotonicNow + wait)
    } else {
      timer?.disarm()
    }
  }
}

/// The whole state as JSON whenever it changes.
private final class DocumentWatch: WatchOutput {
  var onGone: (() -> Void)?
  private var output: LineOutput?
  private var last: (isRunning: Bool, controls: [ControlState])?
  private weak var observer: IndicatorObserver?

  init(_ loop: PollLoop) {
    output = LineOutput(on: loop) { [unowned self] in onGone?() }
    output?.onDrained = { [unowned self] in if let observer { show(observer) } }
  }

  var isWritten: Bool { output?.isEmpty ?? true }

  func show(_ observer: IndicatorObserver) {
    self.observer = observer
    // While the reader is slow, no line is made that would be replaced before it is read.
    guard let output, output.isEmpty else { return }
    // The text differs at each moment by what remains, which is no change.
    let new = (isRunning: observer.isDaemonRunning, controls: observer.controls)
    if let last, last == new, last.controls.map(\.texts) == new.controls.map(\.texts) { return }
    last = new
    output.put(StateJSON.document(controls: new.controls, isRunning: new.isRunning))
  }
}

extension ControlState {
  /// Its texts as bytes: to Swift two spellings of a letter are equal.
  fileprivate var texts: [[UInt8]] {
    [title, detail, icon, desktopEntry, lastResult].map { Array($0.utf8) }
  }
}

/// One line for a panel whenever its text changes.
private final class BarWatch: WatchOutput {
  var onGone: (() -> Void)?
  private let loop: PollLoop
  private let idle: String
  private let template: Template?
  private var output: LineOutput?
  private var timer: (any WakeTimer)?
  private weak var observer: IndicatorObserver?

  init(_ loop: PollLoop, idle: String, template: Template?) {
    self.loop = loop
    self.idle = idle
    self.template = template
    output = LineOutput(on: loop) { [unowned self] in onGone?() }
    output?.onDrained = { [unowned self] in if let observer { show(observer) } }
    timer = loop.makeTimer { [unowned self] in if let observer { show(observer) } }
  }

  var isWritten: Bool { output?.isEmpty ?? true }

  func show(_ observer: IndicatorObserver) {
    self.observer = observer
    // While the reader is slow, no line is made that would be replaced before it is read.
    guard let output, output.isEmpty else { return }
    let controls = observer.activeControls
    output.put(line(for: controls))
    let waits = controls.compactMap { $0.countdown.flatMap(Ticking.untilNextSecond) }
    if let wait = waits.min() {
      timer?.arm(at: loop.monotonicNow + wait)
    } else {
      timer?.disarm()
    }
  }

  private func line(for controls: [ControlState]) -> String {
    guard let template else { return BarLine.waybar(controls, idle: idle.harmless) }
    return controls.isEmpty ? idle.harmless : template.render(BarContext(controls))
  }
}
