// SPDX-License-Identifier: MIT

import BusyIndicatorCore
import Testing

@testable import BusyIndicatorDaemon

@Suite struct ActivityTests {
  private func activity(
    _ name: String = "x", entry: String = "app", progress: Double? = nil,
    countdown: Activity.Countdown? = nil
  ) throws -> Activity {
    var machine = IndicatorStateMachine(configuration: Configuration())
    let now = Now(boottime: .zero, monotonic: .zero, realtime: .zero)
    try machine.show(ControlName(name), ShowOptions(), sender: ":1.1", now: now)
    let id = try #require(machine.find(ControlName(name)))
    var activity = try #require(Activity(machine[id], remaining: .zero))
    activity.desktopEntry = entry
    activity.progress = progress
    activity.countdown = countdown
    return activity
  }

  private func countdown(_ remaining: UInt64, of duration: UInt64) -> Activity.Countdown {
    Activity.Countdown(
      remaining: Microseconds(rawValue: remaining), duration: Microseconds(rawValue: duration),
      isPaused: false)
  }

  @Test func aFractionIsTheProgressFirst() throws {
    #expect(try activity().fraction == nil)
    #expect(try activity(progress: 0.5, countdown: countdown(1, of: 4)).fraction == 0.5)
    #expect(try activity(countdown: countdown(1, of: 4)).fraction == 0.75)
    #expect(try activity(countdown: countdown(0, of: 0)).fraction == 1)
    #expect(try activity(countdown: countdown(9, of: 4)).fraction == 0)
  }

  @Test(arguments: [
    (10_000_000, 10_000_000), (9_999_999, 10_000_000), (1, 10_000_000), (7, 13), (1, 1),
    (1 << 62, 1 << 62), (UInt64.max, UInt64.max), (3_600_000_000, 7_200_000_001),
  ]) func aStepIsReachedWhenItIsSaidToBe(remaining: UInt64, duration: UInt64) throws {
    let now = try activity(countdown: countdown(remaining, of: duration))
    let wait = try #require(now.nextStep(of: 60))
    #expect(wait > 0 && wait <= max(1, duration / 60))
    #expect(wait <= remaining)
    let then = try activity(countdown: countdown(remaining - wait, of: duration))
    #expect(try #require(then.step(of: 60)) >= #require(now.step(of: 60)))
  }

  @Test func hundredthsAreWhatTheyAreCalled() {
    for percent in 0...100 { #expect((Double(percent) / 100).wholeSteps(of: 100) == percent) }
    #expect(0.999.wholeSteps(of: 100) == 99 && (-1.0).wholeSteps(of: 60) == 0)
    #expect(2.0.wholeSteps(of: 60) == 60)
  }

  @Test func whatStandsStillHasNoNextStep() throws {
    var paused = countdown(5, of: 10)
    paused.isPaused = true
    #expect(try activity(countdown: paused).nextStep(of: 60) == nil)
    #expect(try activity(progress: 0.3, countdown: countdown(5, of: 10)).nextStep(of: 60) == nil)
    #expect(try activity().nextStep(of: 60) == nil)
  }

  @Test func entriesAreTheMeanOfWhatIsKnown() throws {
    let entries = LauncherEntries(
      [
        try activity("a", progress: 0.2), try activity("b", progress: 0.6), try activity("c"),
        try activity("d", entry: "other"), try activity("e", entry: ""),
      ], urgent: ["app", "third"])
    #expect(entries.entries.count == 3)
    #expect(entries.entries["app"] == LauncherEntry(percent: 40, count: 3, isUrgent: true))
    #expect(entries.entries["other"] == LauncherEntry(percent: nil, count: 1))
    #expect(entries.entries["third"] == LauncherEntry(percent: nil, count: 0, isUrgent: true))
    #expect(entries.nextChange == nil)
  }

  @Test func theSoonestStepIsNext() throws {
    let entries = LauncherEntries(
      [
        try activity("a", countdown: countdown(1000, of: 1000)),
        try activity("b", countdown: countdown(100_000, of: 100_000)),
      ], urgent: [])
    #expect(entries.nextChange == 10)
  }
}
