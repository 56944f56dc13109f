// SPDX-License-Identifier: MIT

import BusyIndicatorCore
import Testing

@testable import BusyIndicatorDaemon

// getopt_long(3) keeps its place in global variables, so one at a time.
@Suite(.serialized) struct SettingsTests {
  private func parsed(_ words: String...) -> Settings? {
    if case .serve(let settings) = Settings.parse(words) { settings } else { nil }
  }

  private func refusal(_ words: String...) -> String? {
    if case .refuse(let line) = Settings.parse(words) { line } else { nil }
  }

  @Test func withoutArgumentsAllIsAsDocumented() throws {
    let settings = try #require(parsed())
    #expect(settings.configuration == Configuration())
    #expect(settings.configuration.linger == Microseconds(seconds: 60))
    #expect(settings.configuration.grace == .zero && settings.configuration.minimum == .zero)
    #expect(!settings.logsCalls)
  }

  @Test func eachFlagIsTaken() throws {
    let settings = try #require(
      parsed(
        "--grace", "300ms", "--minimum=0.5", "--linger=1m30s", "--max-controls=5",
        "--max-holds", "6", "--max-holds-per-sender=7", "--verbose"))
    #expect(settings.configuration.grace == Microseconds(rawValue: 300_000))
    #expect(settings.configuration.minimum == Microseconds(rawValue: 500_000))
    #expect(settings.configuration.linger == Microseconds(seconds: 90))
    #expect(settings.configuration.maxControls == 5)
    #expect(settings.configuration.maxHolds == 6)
    #expect(settings.configuration.maxHoldsPerSender == 7)
    #expect(settings.logsCalls)
  }

  @Test func anUnambiguousBeginningIsEnough() {
    #expect(parsed("--gra=2")?.configuration.grace == Microseconds(seconds: 2))
    #expect(refusal("--max=2") != nil)
  }

  @Test(arguments: [
    (["--nonsense"], "--nonsense"), (["-x"], "-x"), (["--grace"], "--grace"),
    (["--grace=fast"], "fast"), (["--grace=-1"], "-1"), (["--max-controls=0"], "0"),
    (["--max-holds=many"], "many"), (["--max-holds=99999999999999999999"], "99999999999999999999"),
    (["extra"], "extra"), (["--verbose=yes"], "--verbose"), (["--linger=5000000000000000h"], "h"),
  ])
  func aWrongOneIsRefusedInOneLineThatNamesIt(words: [String], named: String) throws {
    guard case .refuse(let line) = Settings.parse(words) else {
      Issue.record("\(words) was taken")
      return
    }
    #expect(line.contains(named) && line.hasPrefix("busyindicatord: ") && !line.contains("\n"))
  }

  @Test func helpNamesEachFlagAndVersionTheVersion() {
    guard case .print(let help) = Settings.parse(["--help"]),
      case .print(let text) = Settings.parse(["--version"])
    else {
      Issue.record("nothing is printed")
      return
    }
    for flag in [
      "grace", "minimum", "linger", "max-controls", "max-holds", "max-holds-per-sender",
      "introspect", "verbose", "version", "help",
    ] {
      #expect(help.contains("--" + flag))
    }
    #expect(help.split(separator: "\n").allSatisfy { $0.count <= 80 })
    #expect(text == "busyindicatord \(version)\n")
  }
}
