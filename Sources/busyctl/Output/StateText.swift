// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient

/// In one word what a control does: the class that panels style.
enum Activity: String, CaseIterable {
  case busy, counting, paused, idle
}

extension ControlState {
  /// The word for it.
  ///
  /// A countdown goes before the spinner, since it tells more.
  var activity: Activity {
    if let countdown { return countdown.isPaused ? .paused : .counting }
    return isVisible ? .busy : .idle
  }

  /// All that it does, for a table: it may be busy before it is visible, and count besides.
  var activities: String {
    var words: [String] = []
    if isBusy { words.append("busy") }
    if let countdown { words.append(countdown.isPaused ? "paused" : "counting") }
    if words.isEmpty { words.append(isVisible ? "busy" : "idle") }
    if !isEnabled { words.append("disabled") }
    return words.joined(separator: ", ")
  }

  /// What to call it on a panel: its title, or its name while it has none.
  var label: String { (title.isEmpty ? name : title).harmless }

  /// What remains of its countdown; nil without one.
  var remainingText: String? { countdown.map { TimeText.remaining($0.remaining()) } }

  /// How far its work is, or else its countdown, 0…100; nil when neither is known.
  var percent: Int? { (progress ?? countdown?.fraction()).map { wholePercent(of: $0) } }

  /// One line about it, as `watch` prints it.
  var line: String {
    var parts = ["\(name.harmless): \(activities)"]
    if let remainingText { parts.append(remainingText) }
    if let progress { parts.append("\(wholePercent(of: progress))%") }
    if isBusy || countdown != nil {
      if !title.isEmpty { parts.append(title.harmless) }
      if !detail.isEmpty { parts.append("(\(detail.harmless))") }
    } else if !lastResult.isEmpty {
      parts.append("(\(lastResult.harmless))")
    }
    return parts.joined(separator: " ")
  }
}

/// A table for people: a head and rows, in columns.
struct TextTable {
  let head: [String]
  var rows: [[String]] = []

  init(_ head: String...) { self.head = head }

  /// The lines; the last column is not filled up.
  func text(color: Bool) -> String {
    var widths = head.map { TextWidth.columns($0) }
    for row in rows {
      for (index, cell) in row.enumerated() {
        widths[index] = max(widths[index], TextWidth.columns(cell))
      }
    }
    func line(_ cells: [String]) -> String {
      var cells = cells
      while cells.count > 1, cells.last == "" { cells.removeLast() }
      return cells.enumerated().map { index, cell in
        index == cells.count - 1 ? cell : TextWidth.pad(cell, to: widths[index])
      }.joined(separator: "  ")
    }
    return ([Style.bold(line(head), if: color)] + rows.map(line)).joined(separator: "\n")
  }
}

/// A fraction as a whole percentage, rounded down, so that 100 % is only what is complete.
///
/// 0.29 times 100 is a little less than 29 to a Double, hence the little that is added.
func wholePercent(of fraction: Double) -> Int { Int(fraction * 100 + 1e-9) }
