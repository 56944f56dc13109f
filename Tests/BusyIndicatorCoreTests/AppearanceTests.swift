// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

/// Title, enabled flag, detail and progress: what is the control's own, and what is the work's.
@Suite struct AppearanceTests {
  enum Step: String, CaseIterable {
    case show, showAgain, setTitle, disable, hide, hideAgain
  }

  /// All orders of some steps.
  static func orders(of steps: [Step]) -> [[Step]] {
    if steps.count < 2 { return [steps] }
    return steps.indices.flatMap { index in
      var rest = steps
      let first = rest.remove(at: index)
      return orders(of: rest).map { [first] + $0 }
    }
  }

  @Test func ownTitleAndFlagSurviveEveryOrderOfShowAndHideAndSet() throws {
    for order in Self.orders(of: Step.allCases) {
      var bench = Bench()
      try bench.setTitle("c", "Save")
      var (title, enabled, isOn) = ("Save", true, false)
      for step in order {
        switch step {
        case .show, .showAgain:
          try bench.show()
          isOn = true
        case .hide, .hideAgain:
          bench.hide()
          isOn = false
        case .setTitle:
          title = "Save as"
          try bench.setTitle("c", title)
        case .disable:
          enabled = false
          try bench.setEnabled("c", enabled)
        }
        let view = bench.c
        let isRight =
          view.title == title && view.displayedTitle == (isOn ? "" : title)
          && view.enabled == enabled && view.displayedEnabled == (enabled && !isOn)
        #expect(isRight, "\(order.map(\.rawValue)) at \(step)")
      }
      bench.hide()
      #expect(bench.c.displayedTitle == "Save as" && !bench.c.displayedEnabled)
    }
  }

  @Test func displayedTitleFollowsVisibleAndDisplayedEnabledFollowsBusy() throws {
    var bench = Bench()
    try bench.setTitle("c", "Save")
    try bench.show {
      $0.holder.grace = .seconds(1)
      $0.holder.minimum = .seconds(3)
    }
    #expect(bench.c.displayedTitle == "Save" && !bench.c.displayedEnabled)
    bench.run(for: .seconds(1))
    #expect(bench.c.displayedTitle == "" && !bench.c.displayedEnabled)
    bench.hide()
    #expect(bench.c.displayedTitle == "" && bench.c.displayedEnabled)
    bench.run(for: .seconds(3))
    #expect(bench.c.displayedTitle == "Save" && bench.c.displayedEnabled)
  }

  @Test func theTitleSetWhileBusyIsWhatComesBack() throws {
    var bench = Bench()
    try bench.setTitle("c", "Save")
    try bench.show()
    try bench.setTitle("c", "Saved")
    #expect(bench.c.title == "Saved" && bench.c.displayedTitle == "")
    bench.hide()
    #expect(bench.c.displayedTitle == "Saved")
  }

  @Test func optionsSetTheAttributesAndTheLastCallerWins() throws {
    var bench = Bench()
    try bench.show {
      $0.attributes.title = "A"
      $0.attributes.icon = "a"
    }
    try bench.hold {
      $0.attributes.title = "B"
      $0.attributes.desktopEntry = "org.example.B"
    }
    try bench.count("c", .seconds(5)) { $0.attributes.detail = "3 of 4" }
    let view = bench.c
    #expect(view.title == "B" && view.icon == "a" && view.desktopEntry == "org.example.B")
    #expect(view.detail == "3 of 4")
    try bench.hold { $0.attributes.title = "" }
    #expect(bench.c.title == "" && bench.c.icon == "a")
  }

  // MARK: - Progress and detail

  @Test(arguments: [(0, 0), (0.4, 0.4), (1, 1), (-0.0, 0), (0.000001, 0.000001)])
  func progressIsAFraction(fraction: Double, progress: Double) throws {
    var bench = Bench()
    try bench.setProgress("c", fraction)
    #expect(bench.c.progress == progress && bench.c.progress.sign == .plus)
    #expect(bench.c.progressValid)
  }

  @Test(arguments: [-1, -0.000001, -Double.infinity, -Double.greatestFiniteMagnitude])
  func aNegativeProgressIsIndeterminate(fraction: Double) throws {
    var bench = Bench()
    try bench.setProgress("c", 0.5)
    try bench.setProgress("c", fraction)
    #expect(bench.c.progress == 0 && !bench.c.progressValid)
  }

  @Test(arguments: [1.0000001, 2, .infinity, .nan, -.nan, .signalingNaN])
  func aProgressThatIsNoneIsRefused(fraction: Double) throws {
    var bench = Bench()
    #expect(throws: Refusal.self) { try bench.setProgress("c", fraction) }
    #expect(bench.machine.count == 0)
  }

  /// A bench whose control has a progress and a detail.
  private func benchAtWork() throws -> Bench {
    var bench = Bench()
    try bench.setProgress("c", 0.5)
    try bench.setDetail("c", "12 of 90")
    return bench
  }

  private func isCleared(_ bench: Bench) -> Bool {
    bench.c.detail == "" && !bench.c.progressValid && bench.c.progress == 0
  }

  @Test func theyAreKeptUntilTheWorkBegins() throws {
    var bench = try benchAtWork()
    bench.wake(after: .seconds(30))
    #expect(!isCleared(bench))
    try bench.show()
    #expect(!isCleared(bench))
  }

  @Test func theyAreClearedWhenNeitherBusyNorCounting() throws {
    var bench = try benchAtWork()
    try bench.show()
    let cookie = try bench.hold()
    try bench.count("c", .seconds(5))
    bench.hide()
    try bench.release(cookie)
    #expect(!isCleared(bench) && !bench.c.busy)
    bench.run(for: .seconds(5))
    #expect(isCleared(bench))
  }

  @Test func theyAreClearedAtOnceThoughItIsStillVisible() throws {
    var bench = try benchAtWork()
    try bench.show { $0.holder.minimum = .seconds(5) }
    bench.hide()
    #expect(bench.c.visible && isCleared(bench))
  }

  @Test func theyAreClearedByACountdownOfNoTime() throws {
    var bench = try benchAtWork()
    try bench.count("c", .zero)
    #expect(isCleared(bench))
  }

  @Test func theySurviveACountdownOfNoTimeOnABusyControl() throws {
    var bench = try benchAtWork()
    try bench.show()
    try bench.count("c", .zero)
    #expect(!isCleared(bench))
  }

  @Test func theySurviveTheReplacingOfACountdown() throws {
    var bench = try benchAtWork()
    try bench.count("c", .seconds(5)) { $0.indicator = true }
    let since = bench.c.busySince
    bench.pass(.seconds(1))
    try bench.count("c", .seconds(9)) { $0.indicator = true }
    #expect(!isCleared(bench) && bench.c.busySince == since)
  }

  @Test func theyAreClearedByReleaseAllAndByCancel() throws {
    var bench = try benchAtWork()
    try bench.hold()
    _ = bench.releaseAll()
    #expect(isCleared(bench))
    bench = try benchAtWork()
    try bench.count("c", .seconds(5))
    try bench.cancel()
    #expect(isCleared(bench))
  }
}
