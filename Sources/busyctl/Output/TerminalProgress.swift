// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient
internal import Glibc

/// The progress that a terminal shows on its tab or in the task bar: the sequence OSC 9;4.
///
/// Only for terminals that are known to take it; others may show it as a notification. One that
/// forgets it after a while is told again, and it is cleared on every way out.
final class TerminalProgress {
  private var timer: (any WakeTimer)?
  private let loop: any Loop
  private var shown = ""
  // Ghostty drops a progress that nobody has renewed for 15 s.
  private let refresh: UInt64 = 5_000_000

  /// Nil where standard error is no terminal that shows it.
  init?(on loop: any Loop) {
    guard isatty(STDERR_FILENO) == 1, Self.isKnown(Console.environment) else { return nil }
    self.loop = loop
    timer = loop.makeTimer { [unowned self] in
      write()
      arm()
    }
  }

  deinit { clear() }

  /// Whether the terminal that the environment tells of shows it.
  static func isKnown(_ environment: (String) -> String?) -> Bool {
    // What passes through a multiplexer does not reach the terminal.
    let terminal = environment("TERM") ?? ""
    if environment("TMUX") != nil || terminal.hasPrefix("screen") || terminal.hasPrefix("tmux") {
      return false
    }
    if ["WT_SESSION", "ConEmuANSI", "GHOSTTY_RESOURCES_DIR"].contains(where: {
      environment($0) != nil
    }) {
      return true
    }
    // libvte 0.80, Konsole 24.12.
    if let version = environment("VTE_VERSION").flatMap({ Int($0) }) { return version >= 8000 }
    if let version = environment("KONSOLE_VERSION").flatMap({ Int($0) }) {
      return version >= 241200
    }
    return ["ghostty", "WezTerm", "mintty", "iTerm.app"].contains(environment("TERM_PROGRAM") ?? "")
  }

  /// Shows that something goes on.
  func setIndeterminate() { show("3;0") }

  /// Shows how far it is, 0…100.
  func set(percent: Int, isPaused: Bool) {
    show("\(isPaused ? 4 : 1);\(min(max(percent, 0), 100))")
  }

  /// Takes it away.
  func clear() {
    timer?.disarm()
    guard !shown.isEmpty else { return }
    shown = "0;0"
    write()
    shown = ""
  }

  private func show(_ state: String) {
    guard state != shown else { return }
    shown = state
    write()
    arm()
  }

  private func arm() { timer?.arm(at: loop.monotonicNow + refresh) }

  private func write() { Console.write("\u{1B}]9;4;\(shown)\u{1B}\\", to: STDERR_FILENO) }
}
