// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

@Suite struct WordsTests {
  @Test func theWordsAreThoseOfTheInterface() {
    #expect(LeaseKind.allCases.map(\.rawValue) == ["sender", "pid", "ttl", "none"])
    #expect(Clock.allCases.map(\.rawValue) == ["boottime", "monotonic"])
    #expect(
      CancelReason.allCases.map(\.rawValue) == ["cancelled", "replaced", "owner-lost", "forgotten"])
    #expect(
      HoldEndReason.allCases.map(\.rawValue)
        == ["released-by-other", "expired", "owner-lost", "forgotten"])
    #expect(RestartPolicy.allCases.map(\.rawValue) == ["replace", "keep", "reject", "extend"])
    #expect(CountdownState.allCases.map(\.rawValue) == ["none", "running", "paused"])
    #expect(HolderKind.allCases.map(\.rawValue) == ["switch", "hold", "countdown"])
  }

  @Test func theNamesAreThoseOfTheInterface() {
    #expect(BusyIndicatorBus.serviceName == "org.busyindicator.BusyIndicator1")
    #expect(BusyIndicatorBus.managerInterface == BusyIndicatorBus.serviceName)
    #expect(BusyIndicatorBus.controlInterface == BusyIndicatorBus.serviceName + ".Control")
    #expect(BusyIndicatorBus.managerPath == "/org/busyindicator/BusyIndicator1")
    #expect(BusyIndicatorBus.controlPathPrefix == BusyIndicatorBus.managerPath + "/control")
    for name in ErrorName.allCases {
      let isOurs = name.rawValue.hasPrefix(BusyIndicatorBus.errorPrefix)
      #expect(isOurs || name.rawValue.hasPrefix("org.freedesktop.DBus.Error."))
    }
  }

  @Test func theLimitsAreThoseOfTheInterface() {
    #expect([Limits.nameBytes, Limits.titleBytes, Limits.detailBytes] == [255, 512, 512])
    #expect(Limits.textBytes == 256)
    #expect([Limits.controls, Limits.holds, Limits.holdsPerSender] == [10_000, 10_000, 1_000])
    let configuration = Configuration()
    #expect(configuration.maxControls == 10_000 && configuration.maxHolds == 10_000)
    #expect(configuration.maxHoldsPerSender == 1_000)
    #expect(configuration.grace == .zero && configuration.minimum == .zero)
    #expect(configuration.linger == Microseconds(seconds: 60))
  }

  static let refusals: [(Refusal, String, String)] = [
    (.invalidName(""), "InvalidName", "The name of a control has at least one byte, “” has none."),
    (
      .invalidName("a\u{1B}[m"), "InvalidName",
      "The name “a\\u{1b}[m” contains a control character."
    ),
    (.invalidArgument("So."), "InvalidArgs", "So."),
    (.noSuchControl(name("x")), "NoSuchControl", "There is no control “x”."),
    (.noCountdown(name("x")), "NoCountdown", "The control “x” has no countdown."),
    (
      .countdownActive(name("x"), countdown: 7), "CountdownActive",
      "The control “x” has the countdown 7 already."
    ),
    (.busy(name("x"), holder: "hold 3"), "Busy", "The control “x” is busy: hold 3."),
    (.noSuchHold(9), "NoSuchHold", "There is no hold with the cookie 9."),
    (.limitsExceeded("Full."), "LimitsExceeded", "Full."),
  ]

  @Test(arguments: refusals)
  func aRefusalIsAnErrorOfTheBus(refusal: Refusal, error: String, message: String) {
    let isStandard = error == "InvalidArgs" || error == "LimitsExceeded"
    let prefix = isStandard ? "org.freedesktop.DBus.Error." : BusyIndicatorBus.errorPrefix
    #expect(refusal.errorName == prefix + error)
    #expect(refusal.message == message)
    #expect("\(refusal)" == message)
  }

  @Test func whatAPeerWroteIsCutAndHarmless() {
    let long = Refusal.invalidName(String(repeating: "x", count: 300)).message
    #expect(
      long == "The name “" + String(repeating: "x", count: 64) + "…” has 300 bytes, more than 255.")
    #expect(
      "a\n\u{7F}\u{85}\u{202E}\u{2028}b".quoted == "“a\\u{a}\\u{7f}\\u{85}\\u{202e}\\u{2028}b”")
    #expect("é日\u{1F600}".quoted == "“é日\u{1F600}”")
  }
}
