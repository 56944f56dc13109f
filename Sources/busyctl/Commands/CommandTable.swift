// SPDX-License-Identifier: MIT

/// Every command, in the order in which the help lists them.
enum CommandTable {
  static let all: [CommandSpec] =
    [
      SwitchCommands.show, SwitchCommands.hide, CountdownCommand.countdown,
    ]
    + SimpleCommands.commands
    + [
      HoldCommands.hold, HoldCommands.release, RunCommand.run, WaitCommand.wait,
      ReadCommands.list, ReadCommands.status, ReadCommands.why, WatchCommand.watch,
      ReadCommands.plugins, DoctorCommand.doctor, CompletionCommand.completion, help,
    ]

  /// The command of that name.
  static func command(_ name: String) -> CommandSpec? { all.first { $0.name == name } }

  private static let help = CommandSpec(
    name: "help", operands: [OperandSpec("COMMAND", .busyctlCommand, .optional)],
    summary: "Show help", options: []
  ) { invocation throws(Failure) in
    guard let name = invocation.operands.first else {
      Console.print(Help.overview)
      return 0
    }
    guard let command = CommandTable.command(name) else {
      throw .usage("unknown command “\(name)”; busyctl --help lists them")
    }
    Console.print(Help.text(of: command))
    return 0
  }
}
