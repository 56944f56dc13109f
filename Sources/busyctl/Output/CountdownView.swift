// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient
internal import Glibc

/// The one line that `countdown --wait` draws, and the terminal's progress beside it.
final class CountdownView {
  private let loop: PollLoop
  private let name: String
  private var timer: (any WakeTimer)?
  private var state: ControlState?
  private let isTerminal = Console.isCapableTerminal(STDOUT_FILENO)
  private let progress: TerminalProgress?
  private var drawn = ""

  init(_ loop: PollLoop, _ name: String) {
    self.loop = loop
    self.name = name
    progress = TerminalProgress(on: loop)
    timer = loop.makeTimer { [unowned self] in draw() }
  }

  /// Draws what the control does now.
  func update(_ state: ControlState?) {
    self.state = state
    draw()
  }

  /// Ends the line, with how the countdown ended if that is known.
  func leave(_ result: String?) {
    timer?.disarm()
    progress?.clear()
    let label = state?.label ?? name.harmless
    if isTerminal {
      let line = result.map { "\r\(fit("\(label)  \($0.harmless)"))\u{1B}[K\n" }
      Console.write(line ?? (drawn.isEmpty ? "" : "\n"), to: STDOUT_FILENO)
    } else if let result {
      Console.print("\(label): \(result.harmless)")
    }
  }

  private func draw() {
    guard let state, let countdown = state.countdown else { return }
    let remaining = countdown.remaining()
    if let wait = Ticking.untilNextSecond(of: countdown) {
      timer?.arm(at: loop.monotonicNow + wait)
    }
    progress?.set(percent: wholePercent(of: countdown.fraction()), isPaused: countdown.isPaused)
    guard isTerminal else { return }
    let symbols = Symbols.current
    let bar = symbols.bar(countdown.fraction(), cells: 20)
    let note = countdown.isPaused ? "  paused" : ""
    let line = fit("\(state.label)  \(bar)  \(TimeText.remaining(remaining))\(note)")
    guard line != drawn else { return }
    drawn = line
    Console.write("\r\(line)\u{1B}[K", to: STDOUT_FILENO)
  }

  private func fit(_ line: String) -> String {
    TextWidth.truncate(line, to: max(TerminalSize.current.columns - 1, 1))
  }
}

/// When a text that shows whole seconds changes next.
enum Ticking {
  /// Microseconds until the number of seconds that remain is another one.
  ///
  /// - Returns: nil while it stands still; and in the last second, whose end the daemon tells.
  static func untilNextSecond(of countdown: ControlState.Countdown) -> UInt64? {
    guard !countdown.isPaused else { return nil }
    let remaining = countdown.remaining().rawValue
    guard remaining > Microseconds.perSecond else { return nil }
    let rest = remaining % Microseconds.perSecond
    return rest == 0 ? Microseconds.perSecond : rest
  }
}
