// SPDX-License-Identifier: MIT

// optind and its like are variables of the C library; this program has one thread.
@preconcurrency internal import CLinux
internal import Glibc

/// A command and what was given to it.
struct Invocation {
  let command: CommandSpec
  /// The options by their long names; a flag has an empty value.
  private(set) var options: [String: String]
  let operands: [String]

  /// The value of an option; nil when it was not given.
  subscript(option: String) -> String? { options[option] }

  /// Whether an option was given.
  func has(_ option: String) -> Bool { options[option] != nil }

  var wantsJSON: Bool { has("json") }
}

/// From the arguments to a command, by getopt_long(3).
enum CommandLineParser {
  /// Finds the command and its options.
  ///
  /// - Returns: nil when the help or the version was asked for and is printed.
  static func parse(_ arguments: [String]) throws(Failure) -> Invocation? {
    let front = try scan(arguments, for: GlobalOptions.all, stopsAtOperand: true)
    try apply(front.options)
    if front.options["version"] != nil {
      Console.print("busyctl \(Program.version)")
      return nil
    }
    guard let name = front.operands.first else {
      guard front.options["help"] != nil else {
        throw .usage("a command is missing; busyctl --help lists them")
      }
      Console.print(Help.overview)
      return nil
    }
    guard let command = CommandTable.command(name) else {
      throw .usage("unknown command “\(name)”; busyctl --help lists them")
    }
    let back = try scan(
      Array(front.operands.dropFirst()), for: command.options + GlobalOptions.all,
      stopsAtOperand: command.stopsAtOperand)
    let options = front.options.merging(back.options) { _, new in new }
    try apply(options)
    if options["help"] != nil {
      Console.print(Help.text(of: command))
      return nil
    }
    if options["version"] != nil {
      Console.print("busyctl \(Program.version)")
      return nil
    }
    let invocation = Invocation(command: command, options: options, operands: back.operands)
    try check(invocation)
    return invocation
  }

  private static func apply(_ options: [String: String]) throws(Failure) {
    if options["quiet"] != nil { Console.isQuiet = true }
    if let color = options["color"] { Console.color = Console.Color(rawValue: color) ?? .auto }
  }

  private static func check(_ invocation: Invocation) throws(Failure) {
    let command = invocation.command
    let count = command.operandCount
    let given = invocation.operands.count
    if given < count.least {
      throw .usage("\(command.name): \(command.operands[given].name) is missing")
    }
    if let most = count.most, given > most {
      throw .usage("\(command.name): “\(invocation.operands[most])” is one argument too many")
    }
    if invocation.has("json"), !command.hasJSON {
      throw .usage("\(command.name): --json does not apply to this command")
    }
    if invocation.has("format") {
      guard command.hasFormat else {
        throw .usage("\(command.name): --format does not apply to this command")
      }
      if invocation.has("json") { throw .usage("\(command.name): --json excludes --format") }
    }
  }

  // MARK: - getopt

  private struct Scan {
    var options: [String: String] = [:]
    var operands: [String] = []
  }

  private static func scan(
    _ arguments: [String], for specs: [OptionSpec], stopsAtOperand: Bool
  ) throws(Failure) -> Scan {
    var words: [UnsafeMutablePointer<CChar>?] = (["busyctl"] + arguments).map { strdup($0) }
    words.append(nil)
    var longNames = specs.map { strdup($0.name) }
    defer {
      // getopt_long only puts the words in another order.
      for word in words { free(word) }
      for name in longNames { free(name) }
      longNames = []
    }
    var table: [option] = []
    // Behind all letters, so that a long option is its place in the table.
    let base: Int32 = 1000
    for (index, spec) in specs.enumerated() {
      table.append(
        option(
          name: longNames[index], has_arg: argumentKind(of: spec), flag: nil,
          val: base + Int32(index)))
    }
    table.append(option())
    // “+” ends at the first operand; “:” lets us say what is wrong, and leaves the words to us.
    var letters = stopsAtOperand ? "+:" : ":"
    for spec in specs {
      guard let short = spec.short else { continue }
      letters += String(short) + (spec.value == nil ? "" : ":")
    }
    optind = 0
    opterr = 0
    var scan = Scan()
    let count = Int32(words.count - 1)
    while true {
      let found = getopt_long(count, &words, letters, table, nil)
      if found == -1 { break }
      if found == Int32(UInt8(ascii: "?")) || found == Int32(UInt8(ascii: ":")) {
        let previous = optind > 1 ? words[Int(optind) - 1].map { String(cString: $0) } : nil
        throw complaint(found, previous ?? "", specs, base)
      }
      let spec =
        found >= base
        ? specs[Int(found - base)]
        : specs.first { $0.short?.asciiValue.map(Int32.init) == found }
      guard let spec else { continue }
      let value = optarg.map { String(cString: $0) } ?? ""
      if case .choice(let choices) = spec.value, !choices.contains(value) {
        let list = choices.joined(separator: ", ")
        throw .usage("option --\(spec.name) is one of \(list), not “\(value)”")
      }
      scan.options[spec.name] = value
    }
    scan.operands = words[Int(optind)..<Int(count)].compactMap { $0.map { String(cString: $0) } }
    return scan
  }

  private static func argumentKind(of spec: OptionSpec) -> Int32 {
    switch spec.value {
    case nil: Int32(no_argument)
    case .optional: Int32(optional_argument)
    case .text, .choice: Int32(required_argument)
    }
  }

  private static func complaint(
    _ found: Int32, _ word: String, _ specs: [OptionSpec], _ base: Int32
  ) -> Failure {
    let letter = (0..<256).contains(optopt) && optopt > 0 ? UInt8(optopt) : nil
    if found == Int32(UInt8(ascii: ":")) {
      let spec =
        optopt >= base
        ? specs[Int(optopt - base)] : specs.first { $0.short?.asciiValue == letter }
      return .usage("option --\(spec?.name ?? word) needs a value")
    }
    if optopt >= base {
      return .usage("option --\(specs[Int(optopt - base)].name) takes no value")
    }
    if let letter {
      return .usage("unknown option “-\(Character(UnicodeScalar(letter)))”")
    }
    let name = word.drop { $0 == "-" }.prefix { $0 != "=" }
    let candidates = specs.filter { $0.name.hasPrefix(name) && !name.isEmpty }
    if candidates.count > 1 {
      let list = candidates.map { "--\($0.name)" }.joined(separator: ", ")
      return .usage("option “--\(name)” could be \(list)")
    }
    return .usage("unknown option “\(word)”")
  }
}
