// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorDaemon

@Suite struct PluginChoiceTests {
  @Test func allAreOnByDefault() {
    #expect(PluginChoice(environment: nil).names == ["tray", "launcher", "notifications"])
    #expect(!PluginChoice(environment: nil).isStill)
  }

  @Test(arguments: [
    ("", []), (",,", []), ("tray", ["tray"]), (" launcher , tray,", ["launcher", "tray"]),
  ]) func theEnvironmentNamesThem(variable: String, names: [String]) {
    let choice = PluginChoice(environment: variable)
    #expect(choice.names == Set(names) && choice.unknown.isEmpty)
  }

  @Test func whatIsNotKnownIsTold() {
    #expect(PluginChoice(environment: "tray,clock, Tray").unknown == ["clock", "Tray"])
  }

  @Test func flagsComeOnTop() {
    var choice = PluginChoice(environment: "tray")
    let known = [choice.set("launcher", on: true), choice.set("tray", on: false)]
    #expect(known == [true, true] && choice.names == ["launcher"])
    let unknown = choice.set("clock", on: true)
    #expect(!unknown)
    #expect(choice.names == ["launcher"])
  }
}
