// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

/// Faults that users of comparable programs reported, each named by its report.
@Suite struct FieldReportTests {
  @Test("SVProgressHUD#555, #594: hide right after show is ignored")
  func hideRightAfterShow() throws {
    var bench = Bench {
      $0.grace = .seconds(0.3)
      $0.minimum = .seconds(1)
    }
    try bench.show()
    bench.hide()
    #expect(!bench.c.busy && bench.c.displayedEnabled && !bench.c.visible)
    bench.run(for: .seconds(5))
    #expect(bench.takeLog() == [])
  }

  @Test("SVProgressHUD#671: a late hide ends a newer show")
  func aLateReleaseEndsNoNewerHold() throws {
    var bench = Bench()
    let old = try bench.hold()
    try bench.release(old)
    try bench.hold()
    #expect(throws: Refusal.noSuchHold(old)) { try bench.release(old) }
    #expect(bench.c.busy)
  }

  @Test("AlamofireNetworkActivityIndicator#14, #38; AFNetworking#2556: a counter goes wrong")
  func anEarlyOrSecondReleaseHarmsNothing() throws {
    var bench = Bench()
    #expect(throws: Refusal.noSuchHold(1)) { try bench.release(1) }
    try bench.hold()
    try bench.hold()
    try bench.release(1)
    #expect(throws: Refusal.noSuchHold(1)) { try bench.release(1) }
    #expect(bench.c.busy)
    try bench.release(2)
    #expect(!bench.c.busy)
    try bench.hold()
    #expect(bench.c.busy)
  }

  @Test("hyprwm/hypridle#84: a holder that leaves the bus is not noticed")
  func aHolderThatLeavesIsNoticed() throws {
    var bench = Bench()
    try bench.hold(sender: ":1.42")
    #expect(bench.machine.drain().sendersToWatch == [":1.42"])
    bench.senderLeft(":1.42")
    #expect(!bench.c.busy)
  }

  @Test("KDE D17171: a killed owner is shown as success")
  func aKilledOwnerIsNoSuccess() throws {
    var bench = Bench()
    try bench.hold { $0.lease = .process(pid: 42, startTime: 1) }
    bench.processEnded(1)
    #expect(bench.c.lastResult == "owner-lost")
    try bench.hold()
    bench.senderLeft()
    #expect(bench.c.lastResult == "owner-lost")
  }

  @Test("MBProgressHUD#108, #402: the grace timer fires after hide; grace is ignored")
  func graceIsHeededAndDropped() throws {
    var bench = Bench { $0.grace = .seconds(1) }
    try bench.show()
    bench.run(for: .seconds(0.5))
    bench.hide()
    bench.run(for: .seconds(10))
    #expect(bench.takeLog() == [])
    try bench.show()
    bench.run(for: .seconds(2))
    #expect(bench.takeLog() == ["11.5 visible"])
  }

  @Test("AlamofireNetworkActivityIndicator#29: a second of delay hides short work for ever")
  func byDefaultShortWorkIsShown() throws {
    var bench = Bench()
    try bench.show()
    #expect(bench.c.visible)
    try bench.hold("d") { $0.holder.grace = .seconds(1) }
    #expect(bench.view("d")?.visible == false)
  }

  @Test("rio#1509, ProcedureKit#335: the same state again restarts the animation")
  func theSameStateAgainIsNoChange() throws {
    var bench = Bench()
    try bench.show()
    try bench.setTitle("c", "Save")
    try bench.setProgress("c", 0.5)
    _ = bench.machine.drain()
    try bench.show()
    try bench.setTitle("c", "Save")
    try bench.setProgress("c", 0.5)
    try bench.setEnabled("c", true)
    #expect(bench.machine.drain().changes == [])
  }

  @Test("mui#509, LoadingButtonAndroid#1: the title set meanwhile is lost")
  func theTitleSetMeanwhileComesBack() throws {
    var bench = Bench()
    try bench.setTitle("c", "Save")
    try bench.show()
    try bench.show()
    try bench.setTitle("c", "Saved")
    bench.hide()
    #expect(bench.c.displayedTitle == "Saved")
  }

  @Test("epiksel/countdown#10: nothing is shown in the first second")
  func aTickComesAtOnce() throws {
    var bench = Bench()
    try bench.count("c", .seconds(5))
    #expect(bench.machine.drain().events.map(\.text) == ["tick 5 #1"])
  }

  @Test("flip-clock#1, FlutterCountdownTimer#48: a restart leaves the old timer")
  func aRestartLeavesOneCountdown() throws {
    var bench = Bench()
    for _ in 0..<3 { try bench.count("c", .seconds(2)) }
    bench.observe()
    _ = bench.takeLog()
    bench.run(for: .seconds(5))
    #expect(bench.takeLog() == ["1 tick 1 #3", "2 finished #3"])
  }

  @Test("react-date-countdown-timer#14: shows -1")
  func nothingIsBelowZero() throws {
    var bench = Bench()
    try bench.count("c", .seconds(1))
    bench.pass(.seconds(100))
    // Before the machine wakes up, even.
    #expect(bench.remaining == .zero)
    bench.observe()
    bench.wake(after: .zero)
    #expect(bench.takeLog() == ["100 tick 1 #1", "100 finished #1"])
  }

  @Test("FocusTimer#600, #718 against #728: a suspend is counted, or not")
  func eachCountdownHasItsClock() throws {
    var bench = Bench()
    try bench.count("a", .seconds(10))
    try bench.count("b", .seconds(10)) { $0.clock = .monotonic }
    bench.wake(after: .seconds(10), suspended: true)
    #expect(bench.view("a")?.countdownState == CountdownState.none)
    #expect(bench.view("b")?.countdownState == .running)
  }

  @Test("FocusTimer NEWS 0.22: stuck at 0:01")
  func theLastTickIsFollowedByFinished() throws {
    var bench = Bench()
    try bench.count("c", .seconds(2))
    bench.run(for: .seconds(2))
    #expect(bench.takeLog().suffix(2) == ["1 tick 1 #1", "2 finished #1"])
  }

  @Test("di-tui#61, hiresTI#86: a PropertiesChanged a second")
  func tenThousandTicksChangeNoProperty() throws {
    var bench = Bench()
    try bench.count("c", Microseconds(seconds: 10_000))
    _ = bench.machine.drain()
    for _ in 1..<10_000 {
      bench.pass(.seconds(1))
      bench.machine.advance(to: bench.now)
      let drain = bench.machine.drain()
      guard drain.changes.isEmpty, drain.events.count == 1 else {
        Issue.record("\(drain)")
        return
      }
    }
  }

  @Test("kclock: add returns no id, toggle only, wall clock, negative remaining")
  func everythingIsExplicit() throws {
    var bench = Bench()
    #expect(try bench.count("c", .seconds(5)) == 1)
    try bench.pause()
    try bench.pause()
    #expect(bench.c.countdownState == .paused)
    try bench.resume()
    try bench.resume()
    #expect(bench.c.countdownState == .running)
    #expect(bench.c.deadline == bench.now.boottime + .seconds(5))
  }

  @Test("PKHUD#133: 0.3 s of grace and 0.4 s of work still flash")
  func graceAndMinimumTogetherDoNotFlash() throws {
    var bench = Bench {
      $0.grace = .seconds(0.3)
      $0.minimum = .seconds(0.5)
    }
    try bench.show()
    bench.run(for: .seconds(0.4))
    bench.hide()
    bench.run(for: .seconds(5))
    #expect(bench.takeLog() == ["0.3 visible", "0.8 hidden"])
  }

  @Test("xdg-desktop-portal-gtk#528: cookie 0 means none")
  func cookiesStartAtOne() throws {
    var bench = Bench()
    #expect(try bench.hold() == 1)
    #expect(throws: Refusal.noSuchHold(0)) { try bench.release(0) }
  }
}
