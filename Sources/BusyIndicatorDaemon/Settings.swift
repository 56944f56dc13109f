// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
// getopt_long(3) keeps its place in global variables: used once, by one thread.
@preconcurrency internal import CLinux
internal import Glibc

/// The version of the daemon and of its interface.
package let version = "0.1.0"

/// What the command line asks for.
package struct Settings {
  var configuration = Configuration()
  var logsCalls = false
  /// Whether to take over from a daemon that runs already.
  var replaces = false
  var plugins = PluginChoice(environment: nil)

  /// What to do instead of, or with, these settings.
  package enum Request {
    case serve(Settings)
    /// Print this to standard output and succeed.
    case print(String)
    /// Print this line to standard error and fail with EX_USAGE (64).
    case refuse(String)
  }

  /// Reads the arguments behind the program's name.
  package static func parse(_ arguments: [String]) -> Request {
    var settings = Settings()
    settings.plugins = PluginChoice(
      environment: getenv("BUSYINDICATORD_PLUGINS").map { String(cString: $0) })
    var parser = OptionParser(arguments, options)
    while let next = parser.next() {
      switch next {
      case .failure(let complaint):
        return .refuse("busyindicatord: \(complaint.text)")
      case .success(let (option, value)):
        switch option.action {
        case .help: return .print(help)
        case .version: return .print("busyindicatord \(version)\n")
        case .introspect: return .print(Front.introspectionXML)
        case .verbose: settings.logsCalls = true
        case .still: settings.plugins.isStill = true
        case .plugin(let on):
          guard settings.plugins.set(value, on: on) else {
            return .refuse(
              "busyindicatord: --\(option.name): “\(value)” is not one of \(Plugins.names)")
          }
        case .replace: settings.replaces = true
        case .duration(let path):
          guard let duration = Microseconds(durationText: value) else {
            return .refuse(
              "busyindicatord: --\(option.name): “\(value)” is not a duration such as 5, 250ms or 1m30s"
            )
          }
          settings.configuration[keyPath: path] = duration
        case .count(let path):
          guard let count = Int(value), (1...1_000_000).contains(count) else {
            return .refuse(
              "busyindicatord: --\(option.name): “\(value)” is not a number from 1 to 1000000")
          }
          settings.configuration[keyPath: path] = count
        }
      }
    }
    if let operand = parser.operand {
      return .refuse("busyindicatord: takes no argument “\(operand)”")
    }
    return .serve(settings)
  }
}

/// What an option does.
private enum Action {
  case duration(WritableKeyPath<Configuration, Microseconds>)
  case count(WritableKeyPath<Configuration, Int>)
  case plugin(on: Bool)
  case replace, introspect, verbose, still, version, help
}

/// One option of the command line.
private struct CommandOption {
  let name: String
  /// What its value stands for; nil when it takes none.
  let argument: String?
  let text: String
  let action: Action
}

private var options: [CommandOption] {
  [
    CommandOption(
      name: "grace", argument: "DURATION", text: "show busy only after this time (default 0)",
      action: .duration(\.grace)),
    CommandOption(
      name: "minimum", argument: "DURATION", text: "show it for this long at least (default 0)",
      action: .duration(\.minimum)),
    CommandOption(
      name: "linger", argument: "DURATION", text: "keep an idle control so long (default 60s)",
      action: .duration(\.linger)),
    CommandOption(
      name: "max-controls", argument: "N", text: "how many controls at most (default 10000)",
      action: .count(\.maxControls)),
    CommandOption(
      name: "max-holds", argument: "N", text: "how many holds at most (default 10000)",
      action: .count(\.maxHolds)),
    CommandOption(
      name: "max-holds-per-sender", argument: "N",
      text: "how many holds of one caller (default 1000)", action: .count(\.maxHoldsPerSender)),
    CommandOption(
      name: "replace", argument: nil, text: "take over from a daemon that runs already",
      action: .replace),
    CommandOption(
      name: "plugin", argument: "NAME", text: "turn a plugin on: \(Plugins.names)",
      action: .plugin(on: true)),
    CommandOption(
      name: "no-plugin", argument: "NAME", text: "turn a plugin off; all are on by default",
      action: .plugin(on: false)),
    CommandOption(
      name: "still", argument: nil, text: "do not let the ring in the tray turn", action: .still),
    CommandOption(
      name: "introspect", argument: nil, text: "print the D-Bus interfaces as XML",
      action: .introspect),
    CommandOption(
      name: "verbose", argument: nil, text: "log each call", action: .verbose),
    CommandOption(name: "version", argument: nil, text: "print the version", action: .version),
    CommandOption(name: "help", argument: nil, text: "print this", action: .help),
  ]
}

private var help: String {
  let rows = options.map { option in
    let left = "--" + option.name + (option.argument.map { "=" + $0 } ?? "")
    return "  " + left + String(repeating: " ", count: max(1, 26 - left.count)) + option.text
  }
  return """
    Usage: busyindicatord [OPTION]...
    Keep one busy and countdown state a control, for all programs of a session.

    \(rows.joined(separator: "\n"))

    Durations: 5 (seconds), 250ms, 1m30s, 2h, 1:30. See busyindicatord(8).

    """
}

/// Walks over the arguments by getopt_long(3).
private struct OptionParser {
  struct Complaint: Error { let text: String }

  private let options: [CommandOption]
  private var words: [UnsafeMutablePointer<CChar>?]
  private var table: [CLinux.option]

  init(_ arguments: [String], _ options: [CommandOption]) {
    self.options = options
    words = (["busyindicatord"] + arguments).map { strdup($0) } + [nil]
    table = options.enumerated().map { index, option in
      // The names live as long as the program: it parses once.
      CLinux.option(
        name: UnsafePointer(strdup(option.name)),
        has_arg: option.argument == nil ? no_argument : required_argument, flag: nil,
        val: Int32(index) + Self.firstValue)
    }
    table.append(CLinux.option())
    optind = 0
    opterr = 0
  }

  // Above every character, so that getopt's '?' and ':' are none of ours.
  private static let firstValue: Int32 = 256

  mutating func next() -> Result<(CommandOption, String), Complaint>? {
    let count = Int32(words.count - 1)
    let found = getopt_long(count, &words, ":", table, nil)
    switch found {
    case -1: return nil
    case Int32(UInt8(ascii: ":")):
      return .failure(Complaint(text: "\(word(optind - 1)): wants a value"))
    case Int32(UInt8(ascii: "?")):
      return .failure(Complaint(text: "\(offender): no such option, or not unambiguous"))
    default:
      let option = options[Int(found - Self.firstValue)]
      return .success((option, optarg.map { String(cString: $0) } ?? ""))
    }
  }

  /// What stands behind the options.
  var operand: String? { optind < words.count - 1 ? word(optind) : nil }

  private var offender: String {
    // A wrong letter is told in optopt, a wrong word is the one just passed.
    optopt != 0 && optopt < Self.firstValue
      ? "-" + String(UnicodeScalar(UInt8(truncatingIfNeeded: optopt)))
      : word(optind - 1)
  }

  private func word(_ index: Int32) -> String {
    words.indices.contains(Int(index)) ? words[Int(index)].map { String(cString: $0) } ?? "" : ""
  }
}
