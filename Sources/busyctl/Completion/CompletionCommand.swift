// SPDX-License-Identifier: MIT

/// `completion`: a shell's script, made of the option table.
enum CompletionCommand {
  static let completion = CommandSpec(
    name: "completion", operands: [OperandSpec("SHELL", .words(["bash", "zsh", "fish"]))],
    summary: "Print the completion script for bash, zsh or fish", options: []
  ) { invocation throws(Failure) in
    switch invocation.operands[0] {
    case "bash": Console.print(BashCompletion.script)
    case "zsh": Console.print(ZshCompletion.script)
    case "fish": Console.print(FishCompletion.script)
    default: throw .usage("completion: “\(invocation.operands[0])” is not bash, zsh or fish")
    }
    return 0
  }
}
