// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient
internal import Glibc

/// How large the terminal is.
struct TerminalSize: Equatable {
  let columns: Int
  let rows: Int

  /// Standard output's; 80 by 24 where that is not known.
  static var current: TerminalSize {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return TerminalSize(columns: 80, rows: 24) }
    return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
  }
}

/// The signs that are drawn, by what the terminal can show.
struct Symbols: Sendable {
  let spinner: [String]
  let full: String
  let empty: String
  let counting: String
  let paused: String
  let ellipsis: String

  static let unicode = Symbols(
    spinner: ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"], full: "█", empty: "░",
    counting: "•", paused: "‖", ellipsis: "…")
  static let ascii = Symbols(
    spinner: ["|", "/", "-", "\\"], full: "#", empty: ".", counting: "*", paused: "=",
    ellipsis: "~")

  /// By the locale's character set.
  static var current: Symbols {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy
      .compactMap { Console.environment($0) }.first { !$0.isEmpty }
    let name = Substring(locale?.lowercased() ?? "")
    let isUnicode = ["utf-8", "utf8"].contains { name.firstOccurrence(of: $0) != nil }
    return isUnicode ? unicode : ascii
  }

  /// A bar of so many cells.
  func bar(_ fraction: Double, cells: Int) -> String {
    let filled = min(max(Int(fraction * Double(cells)), 0), cells)
    return String(repeating: full, count: filled) + String(repeating: empty, count: cells - filled)
  }
}

/// A block of lines at the cursor that is drawn again in place.
///
/// It sets no mode of the terminal beyond one write: the cursor stands below the block in between, so
/// that the program may be stopped or killed at any time.
final class Screen {
  /// The columns of each line of the block as it is on the screen.
  private var drawn: [Int] = []
  private var text = ""
  private var width = 0

  /// Draws lines that fit the terminal; nothing when they are there already, or when the terminal
  /// takes nothing at the moment.
  ///
  /// - Returns: whether they are there now.
  @discardableResult
  func draw(_ lines: [String], widths: [Int], on size: TerminalSize) -> Bool {
    let body = lines.map { "\r\($0)\u{1B}[K\n" }.joined()
    guard body != text || size.columns != width else { return true }
    var output = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
    guard poll(&output, 1, 0) == 1, output.revents & Int16(POLLOUT) != 0 else { return false }
    let rows = rowsOnScreen(size)
    let up = rows > 0 ? "\u{1B}[\(rows)A" : ""
    // Without wrapping a character that is wider than we think can spoil no more than its own line.
    Console.write("\u{1B}[?7l\(up)\(body)\u{1B}[J\u{1B}[?7h", to: STDOUT_FILENO)
    text = body
    drawn = widths
    width = size.columns
    return true
  }

  /// Leaves what is drawn where it is; the next block begins at the cursor.
  func startAfresh() {
    drawn = []
    text = ""
  }

  /// A terminal that became narrower has broken the lines that were longer.
  private func rowsOnScreen(_ size: TerminalSize) -> Int {
    let rows = drawn.reduce(0) { $0 + max(($1 + size.columns - 1) / size.columns, 1) }
    return min(rows, size.rows - 1)
  }
}
