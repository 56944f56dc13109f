// SPDX-License-Identifier: MIT

// One table. The arrays for getopt_long, the help, the completions and the check of the man page all
// read it, so that none of them can know an option that another does not.

/// An option as the user writes it.
struct OptionSpec: Sendable {
  /// Its long name, without the dashes.
  let name: String
  /// The one letter that does the same.
  private(set) var short: Character?
  /// What follows it; nil for a flag.
  private(set) var value: Value?
  /// One line about it, without a full stop.
  let help: String

  /// What follows an option.
  enum Value: Equatable, Sendable {
    /// Any text; called so in the help.
    case text(String)
    /// A text that may be left out, and then is written with `=`.
    case optional(String)
    /// One of these words.
    case choice([String])
  }

  /// An option with a value.
  init(_ name: String, _ value: Value, _ help: String) {
    self.name = name
    self.value = value
    self.help = help
  }

  /// A flag.
  init(_ name: String, short: Character? = nil, _ help: String) {
    self.name = name
    self.short = short
    self.help = help
  }

  /// How it is written, such as `--for=DUR`.
  var synopsis: String {
    switch value {
    case nil: "--\(name)"
    case .text(let placeholder): "--\(name)=\(placeholder)"
    case .optional(let placeholder): "--\(name)[=\(placeholder)]"
    case .choice(let words): "--\(name)=\(words.joined(separator: "|"))"
    }
  }
}

/// What stands behind a command and its options.
struct OperandSpec: Sendable {
  /// What the help calls it.
  let name: String
  /// What it is, for completion.
  let kind: Kind
  /// How often it may stand there.
  let count: Count

  enum Kind: Equatable, Sendable { case control, text, words([String]), command, busyctlCommand }
  enum Count: Sendable { case one, optional, any, atLeastOne }

  init(_ name: String, _ kind: Kind = .text, _ count: Count = .one) {
    self.name = name
    self.kind = kind
    self.count = count
  }

  static let control = OperandSpec("NAME", .control)

  var synopsis: String {
    switch count {
    case .one: name
    case .optional: "[\(name)]"
    case .any: "[\(name)…]"
    case .atLeastOne: "\(name)…"
    }
  }
}

/// A command: what it is called, what it takes, and what it does.
struct CommandSpec: Sendable {
  let name: String
  let operands: [OperandSpec]
  /// One line about it, without a full stop.
  let summary: String
  let options: [OptionSpec]
  /// Whether its output can be had as JSON.
  var hasJSON = false
  /// Whether its output can be had in a format of the user's.
  var hasFormat = false
  /// Whether what follows the first operand is not this program's, options included.
  var stopsAtOperand = false
  let run: @Sendable (Invocation) throws(Failure) -> Int32

  /// How it is written, such as `countdown [options] NAME DURATION`.
  var synopsis: String {
    ([name] + (options.isEmpty ? [] : ["[options]"]) + operands.map(\.synopsis))
      .joined(separator: " ")
  }

  /// The fewest and the most operands; nil for any number.
  var operandCount: (least: Int, most: Int?) {
    var least = 0
    var most: Int? = 0
    for operand in operands {
      switch operand.count {
      case .one:
        least += 1
        most = most.map { $0 + 1 }
      case .optional: most = most.map { $0 + 1 }
      case .any: most = nil
      case .atLeastOne:
        least += 1
        most = nil
      }
    }
    return (least, most)
  }
}

/// The options that any command takes, in front of the command or behind it.
enum GlobalOptions {
  static let help = OptionSpec("help", short: "h", "Show help and exit")
  static let version = OptionSpec("version", "Show the version and exit")
  static let json = OptionSpec("json", "Print JSON (list, status, why, watch)")
  static let format = OptionSpec(
    "format", .text("FORMAT"), "Print in a format: waybar, or a template (list, status, watch)")
  static let quiet = OptionSpec("quiet", short: "q", "Say nothing but errors")
  static let color = OptionSpec(
    "color", .choice(["auto", "always", "never"]), "Whether to use color; default auto")

  static let all = [json, format, quiet, color, help, version]
}
