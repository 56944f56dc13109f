// SPDX-License-Identifier: MIT

internal import Glibc
internal import Synchronization

/// Lines on the standard error.
///
/// To the journal they go with the priorities of sd-daemon(3), elsewhere with the program's name. A
/// line is one write(2), so that lines do not mix. Control characters are escaped in all of them; what
/// a peer said goes through ``quoted(_:)``, so that nobody takes it for the program's own words.
package enum Log {
  /// How much a line matters; the numbers are those of syslog(3).
  enum Level: Int {
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
    case debug = 7
  }

  /// Something failed.
  package static func error(_ text: String) { write(.error, text) }
  /// Something works less well than it should.
  package static func warning(_ text: String) { write(.warning, text) }
  /// Something that one wants to find in the log.
  package static func notice(_ text: String) { write(.notice, text) }
  /// The course of things.
  package static func info(_ text: String) { write(.info, text) }
  /// Details, made and written only when ``showsDebug`` is set.
  package static func debug(_ text: @autoclosure () -> String) {
    if showsDebug { write(.debug, text()) }
  }

  /// Whether ``debug(_:)`` writes; not at first.
  package static var showsDebug: Bool {
    get { debugShown.load(ordering: .relaxed) }
    set { debugShown.store(newValue, ordering: .relaxed) }
  }

  /// A peer's text between quotes, cut when it is long.
  ///
  /// Escaped is what a terminal or a reader could take for something else: control and format
  /// characters, quotes, backslashes.
  package static func quoted(_ text: String) -> String {
    var result = "\""
    for (index, scalar) in text.unicodeScalars.enumerated() {
      if index == longestQuotation {
        result += "\"…"
        return result
      }
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      default: append(scalar, to: &result)
      }
    }
    return result + "\""
  }

  /// How many Unicode scalars of a peer's text are shown.
  static let longestQuotation = 256

  private static let debugShown = Atomic(false)
  private static let isOnJournal = JournalStream.isJournal(STDERR_FILENO)
  private static let programName = String(
    CommandLine.arguments.first?.split(separator: "/").last ?? "")

  private static func write(_ level: Level, _ text: String) {
    var line = line(level, text, forJournal: isOnJournal)
    // Nobody is left to tell when this fails.
    _ = try? line.withUTF8 { bytes throws(Errno) in
      try Errno.retrying { Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }
  }

  static func line(_ level: Level, _ text: String, forJournal: Bool) -> String {
    var line = forJournal ? "<\(level.rawValue)>" : "\(programName): \(level.label)"
    for scalar in text.unicodeScalars { append(scalar, to: &line) }
    return line + "\n"
  }

  private static func append(_ scalar: Unicode.Scalar, to text: inout String) {
    switch scalar {
    case "\n": text += "\\n"
    case "\r": text += "\\r"
    case "\t": text += "\\t"
    default:
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      default: text.unicodeScalars.append(scalar)
      }
    }
  }
}

extension Log.Level {
  /// What stands before a line for people.
  fileprivate var label: String {
    switch self {
    case .error: "error: "
    case .warning: "warning: "
    case .notice, .info: ""
    case .debug: "debug: "
    }
  }
}
