// SPDX-License-Identifier: MIT

/// The help, made of the option table.
enum Help {
  /// What `busyctl --help` shows.
  static var overview: String {
    let commands = CommandTable.all.map { (left: $0.name, right: $0.summary) }
    return [
      "Usage: busyctl [global options] COMMAND [options] [arguments]",
      "",
      "Shows that something is busy, and counts down, on panels and in terminals.",
      "",
      "Commands:",
      columns(commands),
      "",
      "Global options:",
      columns(GlobalOptions.all.map(row)),
      "",
      "Durations: 5, 5s, 1m30s, 2h, 250ms, 1:30, 1:02:03",
      "Exit status: 0 done, 1 failed, 2 condition not met, 64 usage, 69 no bus or daemon,",
      "  75 busy (--exclusive), 124 timeout; run gives the command's own",
      "busyctl COMMAND --help tells more about one command.",
    ].joined(separator: "\n")
  }

  /// What `busyctl COMMAND --help` shows.
  static func text(of command: CommandSpec) -> String {
    var lines = ["Usage: busyctl \(command.synopsis)", "", command.summary + "."]
    if !command.options.isEmpty { lines += ["", "Options:", columns(command.options.map(row))] }
    var global = [GlobalOptions.quiet, GlobalOptions.color, GlobalOptions.help]
    if command.hasFormat { global.insert(GlobalOptions.format, at: 0) }
    if command.hasJSON { global.insert(GlobalOptions.json, at: 0) }
    lines += ["", "Global options:", columns(global.map(row))]
    return lines.joined(separator: "\n")
  }

  private static func row(_ option: OptionSpec) -> (left: String, right: String) {
    let short = option.short.map { "-\($0), " } ?? ""
    return (short + option.synopsis, option.help)
  }

  private static func columns(_ rows: [(left: String, right: String)]) -> String {
    let widest = rows.map { TextWidth.columns($0.left) }.filter { $0 <= 28 }.max() ?? 0
    return rows.map { row in
      let gap = widest - TextWidth.columns(row.left)
      let space = gap >= 0 ? String(repeating: " ", count: gap + 2) : "\n" + pad(widest + 4)
      return "  " + row.left + space + row.right
    }.joined(separator: "\n")
  }

  private static func pad(_ count: Int) -> String { String(repeating: " ", count: count) }
}
