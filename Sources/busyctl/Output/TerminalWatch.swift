// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient
internal import Glibc

/// `watch` in a terminal: a line for each active control, drawn in place.
final class TerminalWatch: WatchOutput {
  var onGone: (() -> Void)?
  private let loop: PollLoop
  private let names: [String]?
  private let screen = Screen()
  private let symbols = Symbols.current
  private let hasColor = Console.usesColor(STDOUT_FILENO)
  private var timer: (any WakeTimer)?
  private var hangUp: (any Observation)?
  private weak var observer: IndicatorObserver?

  private let frame: UInt64 = 100_000

  /// Draws all active controls, or those of these names whatever they do.
  init(_ loop: PollLoop, _ names: [String]?) {
    self.loop = loop
    self.names = names
    timer = loop.makeTimer { [unowned self] in if let observer { show(observer) } }
    hangUp = loop.observe(descriptor: STDOUT_FILENO, for: []) { [unowned self] _ in
      hangUp?.cancel()
      onGone?()
    }
  }

  var isWritten: Bool { true }

  func terminalChanged(_ observer: IndicatorObserver, isContinued: Bool) {
    if isContinued { screen.startAfresh() }
    show(observer)
  }

  // The terminal has written ^C where the prompt will stand.
  func end() { Console.write("\r\u{1B}[K", to: STDOUT_FILENO) }

  func show(_ observer: IndicatorObserver) {
    self.observer = observer
    let size = TerminalSize.current
    let controls = names == nil ? observer.activeControls : observer.controls
    let layout = Layout(size, controls, symbols: symbols, hasColor: hasColor)
    var rows = controls.map { layout.row($0, spinner: spinner) }
    if rows.isEmpty { rows = [layout.remark(emptyRemark(observer))] }
    let room = max(size.rows - 1, 1)
    if rows.count > room {
      let hidden = rows.count - room + 1
      rows = Array(rows.prefix(room - 1)) + [layout.remark("+\(hidden) more")]
    }
    let isDrawn = screen.draw(rows.map(\.text), widths: rows.map(\.columns), on: size)
    arm(for: controls.prefix(room), isDrawn)
  }

  private func emptyRemark(_ observer: IndicatorObserver) -> String {
    observer.isDaemonRunning ? "nothing is busy" : "busyindicatord is not running"
  }

  /// The sign of this moment, the same for all.
  private var spinner: String {
    symbols.spinner[Int(loop.monotonicNow / frame) % symbols.spinner.count]
  }

  /// Sleeps as long as nothing moves.
  private func arm(for controls: ArraySlice<ControlState>, _ isDrawn: Bool) {
    let now = loop.monotonicNow
    if controls.contains(where: \.isVisible) || !isDrawn {
      timer?.arm(at: (now / frame + 1) * frame)
    } else if let wait = controls.compactMap({ $0.countdown.flatMap(Ticking.untilNextSecond) })
      .min()
    {
      timer?.arm(at: now + wait)
    } else {
      timer?.disarm()
    }
  }
}

/// How a row is divided among its parts, for a width of the terminal.
struct Layout {
  /// A row, and how many columns it takes.
  typealias Row = (text: String, columns: Int)

  private let width: Int
  private let barCells: Int
  private let timeWidth = 8
  private let labelWidth: Int
  private let symbols: Symbols
  private let hasColor: Bool

  /// Divides a row so that the labels of these controls fit as far as there is room.
  init(_ size: TerminalSize, _ controls: [ControlState], symbols: Symbols, hasColor: Bool) {
    self.symbols = symbols
    self.hasColor = hasColor
    // The last column stays free: a sign there leaves some terminals in doubt about the next line.
    width = max(size.columns - 1, 1)
    barCells = width >= 70 ? 20 : width >= 36 ? 10 : 0
    let fixed = 2 + (barCells > 0 ? barCells + 2 : 0) + timeWidth + 2
    let longest = controls.map { TextWidth.columns(Self.label(of: $0)) }.max() ?? 0
    labelWidth = max(min(width - fixed, max(longest, 16)), 1)
  }

  /// The row of a control.
  func row(_ control: ControlState, spinner: String) -> Row {
    guard width > 12 else { return remark(control.label) }
    let label = TextWidth.truncate(
      Self.label(of: control), to: labelWidth, ellipsis: symbols.ellipsis)
    var text = sign(of: control, spinner) + " " + TextWidth.pad(label, to: labelWidth)
    var columns = 2 + labelWidth
    // Each part goes to its own column, since terminals differ about how wide an emoji is.
    if barCells > 0 {
      text += "  " + column(columns + 2) + bar(of: control)
      columns += 2 + barCells
    }
    let time = TextWidth.truncate(self.time(of: control), to: timeWidth, ellipsis: "")
    let gap = String(repeating: " ", count: timeWidth - TextWidth.columns(time))
    text += "  " + column(columns + 2) + gap + time
    return (text, columns + 2 + timeWidth)
  }

  private static func label(of control: ControlState) -> String {
    control.detail.isEmpty ? control.label : "\(control.label)  \(control.detail.harmless)"
  }

  private func column(_ number: Int) -> String { "\u{1B}[\(number + 1)G" }

  /// A row with a remark.
  func remark(_ text: String) -> Row {
    let text = TextWidth.truncate(text, to: width, ellipsis: symbols.ellipsis)
    return (text, TextWidth.columns(text))
  }

  private func sign(of control: ControlState, _ spinner: String) -> String {
    switch control.activity {
    case .busy: Style.cyan(spinner, if: hasColor)
    case .counting:
      Style.green(control.isVisible ? spinner : symbols.counting, if: hasColor)
    case .paused: Style.yellow(symbols.paused, if: hasColor)
    case .idle: " "
    }
  }

  private func bar(of control: ControlState) -> String {
    guard let fraction = control.progress ?? control.countdown?.fraction() else {
      return String(repeating: " ", count: barCells)
    }
    return symbols.bar(fraction, cells: barCells)
  }

  private func time(of control: ControlState) -> String {
    if let remaining = control.remainingText { return remaining }
    if let progress = control.progress { return "\(wholePercent(of: progress))%" }
    return control.isActive ? "" : "idle"
  }
}
