// SPDX-License-Identifier: MIT

internal import Glibc

/// Standard output and standard error of a command that prints and ends.
///
/// Whole lines, each piece of output in one write: no buffer of stdio stands in between.
enum Console {
  /// When to use color.
  enum Color: String { case auto, always, never }

  // One thread; set once by the options.
  nonisolated(unsafe) static var isQuiet = false
  nonisolated(unsafe) static var color = Color.auto

  /// Why standard output could not be written; nil while it could, or when its reader has left.
  nonisolated(unsafe) static var outputError: Int32?

  /// Prints lines to standard output.
  ///
  /// Their control characters have been replaced by the caller.
  static func print(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

  /// Says on standard error, in one line, what is wrong.
  static func complain(_ message: String) {
    var text = message.harmless
    if text.hasSuffix(".") { text.removeLast() }
    write("busyctl: \(text)\n", to: STDERR_FILENO)
  }

  /// Says something on standard error, in one line, that is no error.
  static func remark(_ message: String) {
    if !isQuiet { complain(message) }
  }

  /// Writes all of a text; what cannot be written is lost.
  static func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if count > 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        } else if count == 0 || errno != EINTR {
          if descriptor == STDOUT_FILENO { noteOutputError(errno) }
          return
        }
      }
    }
  }

  /// Remembers why standard output could not be written.
  static func noteOutputError(_ number: Int32) {
    if number != EPIPE { outputError = number }
  }

  /// Whether a descriptor is a terminal that can redraw a line.
  static func isCapableTerminal(_ descriptor: Int32) -> Bool {
    guard isatty(descriptor) == 1, let terminal = environment("TERM") else { return false }
    return terminal != "dumb" && !terminal.isEmpty
  }

  /// Whether to write colors to a descriptor.
  static func usesColor(_ descriptor: Int32) -> Bool {
    switch color {
    case .always: true
    case .never: false
    case .auto: environment("NO_COLOR")?.isEmpty ?? true && isCapableTerminal(descriptor)
    }
  }

  /// A variable of the environment; nil when it is not set.
  static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}

/// The few styles that are legible on light and on dark grounds alike.
enum Style: String {
  case bold = "1"
  case green = "32"
  case yellow = "33"
  case cyan = "36"
  case red = "31"

  /// The text in this style, or as it is when there is to be no color.
  func callAsFunction(_ text: String, if isOn: Bool) -> String {
    isOn ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
  }
}
