// SPDX-License-Identifier: MIT

import Testing

@testable import busyctl

@Suite struct OptionTableTests {
  @Test func namesAreUnique() {
    let names = CommandTable.all.map(\.name)
    #expect(Set(names).count == names.count)
    for command in CommandTable.all {
      let options = (command.options + GlobalOptions.all).map(\.name)
      #expect(Set(options).count == options.count, "\(command.name)")
    }
  }

  @Test func everythingHasHelpOfOneLine() {
    for command in CommandTable.all {
      #expect(!command.summary.isEmpty && !command.summary.hasSuffix("."))
      for option in command.options + GlobalOptions.all {
        #expect(!option.help.isEmpty && !option.help.hasSuffix(".") && !option.help.contains("\n"))
      }
      for line in Help.text(of: command).split(separator: "\n") {
        #expect(TextWidth.columns(String(line)) <= 100, "\(line)")
      }
    }
  }

  @Test func optionsAreRead() throws {
    let found = try #require(
      try CommandLineParser.parse(["--quiet", "show", "--for=5", "--ti", "t", "a"]))
    Console.isQuiet = false
    #expect(found.command.name == "show")
    #expect(found["for"] == "5")
    #expect(found["title"] == "t")
    #expect(found.operands == ["a"])
    let behind = try #require(try CommandLineParser.parse(["show", "--", "--for"]))
    #expect(behind.operands == ["--for"])
    let mixed = try #require(try CommandLineParser.parse(["show", "a", "--for", "5"]))
    #expect(mixed.operands == ["a"] && mixed["for"] == "5")
  }

  @Test func runStopsAtItsCommand() throws {
    let found = try #require(
      try CommandLineParser.parse(["run", "--name=x", "--notify", "make", "--json", "-j4"]))
    #expect(found.operands == ["make", "--json", "-j4"])
    #expect(found["notify"] == "")
    let after = try #require(try CommandLineParser.parse(["run", "--notify=5s", "--", "-x"]))
    #expect(after["notify"] == "5s" && after.operands == ["-x"])
  }

  @Test(arguments: [
    (["show", "--nope", "a"], "unknown option “--nope”"),
    (["show", "--fo", "a"], "option “--fo” could be --for, --format"),
    (["-z"], "unknown option “-z”"),
    (["show", "a", "--for"], "option --for needs a value"),
    (["hide", "--force=1", "a"], "option --force takes no value"),
    (["show"], "show: NAME is missing"),
    (["show", "a", "b"], "show: “b” is one argument too many"),
    (["nope"], "unknown command “nope”; busyctl --help lists them"),
    ([], "a command is missing; busyctl --help lists them"),
    (["show", "--json", "a"], "show: --json does not apply to this command"),
    (["list", "--json", "--format=waybar"], "list: --json excludes --format"),
    (["--color=blue", "list"], "option --color is one of auto, always, never, not “blue”"),
  ])
  func aWrongOneIsNamed(_ arguments: [String], _ message: String) {
    #expect(throws: Failure.usage(message)) { try CommandLineParser.parse(arguments) }
  }

  @Test func completionsKnowEveryOption() {
    for script in [BashCompletion.script, ZshCompletion.script, FishCompletion.script] {
      for command in CommandTable.all {
        #expect(script.contains(command.name))
        for option in command.options { #expect(script.contains(option.name)) }
      }
      for option in GlobalOptions.all { #expect(script.contains(option.name)) }
    }
  }

  @Test func activationFilesAreRead() {
    let file = ActivationFile(
      path: "/x",
      text: "[D-BUS Service]\nName=a.b\nExec = /usr/bin/d --x\nSystemdService=d.service\n")
    #expect(file.name == "a.b" && file.program == "/usr/bin/d" && file.unit == "d.service")
  }
}
