// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

/// Flicker control, to the instant.
@Suite struct FlickerTests {
  private func bench(grace: Double = 0, minimum: Double = 0) -> Bench {
    Bench {
      $0.grace = .seconds(grace)
      $0.minimum = .seconds(minimum)
    }
  }

  @Test(arguments: [0, 0.3, 2], [0, 0.5, 4])
  func oneHolderIsShownFromItsGraceOnForItsMinimum(grace: Double, minimum: Double) throws {
    for work in [0.1, 0.299999, 0.300001, 1, 2.5, 10] {
      var bench = bench(grace: grace, minimum: minimum)
      try bench.show()
      bench.observe()
      bench.run(for: .seconds(work))
      bench.hide()
      bench.observe()
      bench.run(for: .seconds(20))
      let end = Microseconds.seconds(max(work, grace + minimum)).inSeconds
      let shown = ["\(Microseconds.seconds(grace).inSeconds) visible", "\(end) hidden"]
      #expect(bench.takeLog() == (work < grace ? [] : shown), "work of \(work) s")
    }
  }

  /// A second holder, that begins and lasts, with its own grace and minimum.
  struct Second {
    var begin: Double
    var length: Double
    var grace = 0.0
    var minimum = 0.0
  }

  // The first begins at 0 with a grace of 1 and a minimum of 2.
  static let seconds: [(length: Double, second: Second, log: [String])] = [
    // The earliest grace counts, whosever it is.
    (5, Second(begin: 0.2, length: 3), ["0.2 visible", "5 hidden"]),
    (5, Second(begin: 0.2, length: 3, grace: 0.3), ["0.5 visible", "5 hidden"]),
    (5, Second(begin: 0.2, length: 3, grace: 9), ["1 visible", "5 hidden"]),
    // One that has gone before its grace ended does not count.
    (0.5, Second(begin: 0.2, length: 5, grace: 3), ["3.2 visible", "5.2 hidden"]),
    (5, Second(begin: 0.2, length: 0.1, grace: 0.3), ["1 visible", "5 hidden"]),
    (0.9, Second(begin: 0.2, length: 0.5, grace: 0.8), []),
    // Once shown, it is shown for the longest minimum, of one that is long gone, too.
    (1.5, Second(begin: 0.5, length: 0.8, minimum: 4), ["0.5 visible", "4.5 hidden"]),
    (1.5, Second(begin: 1.2, length: 0.1, minimum: 6), ["1 visible", "7 hidden"]),
    (1.5, Second(begin: 1.2, length: 9, minimum: 6), ["1 visible", "10.2 hidden"]),
    // One that comes while only the minimum lasts carries on without its grace.
    (1.5, Second(begin: 2, length: 0.2, grace: 5), ["1 visible", "3 hidden"]),
    (1.5, Second(begin: 2, length: 4, grace: 5), ["1 visible", "6 hidden"]),
    (1.5, Second(begin: 2, length: 0.2, grace: 5, minimum: 7), ["1 visible", "8 hidden"]),
    // One that comes after that begins anew.
    (
      1.5, Second(begin: 3.5, length: 4, grace: 1),
      ["1 visible", "3 hidden", "4.5 visible", "7.5 hidden"]
    ),
    (1.5, Second(begin: 3.5, length: 0.5, grace: 1), ["1 visible", "3 hidden"]),
    (
      1.5, Second(begin: 3.5, length: 0.1, minimum: 3),
      ["1 visible", "3 hidden", "3.5 visible", "6.5 hidden"]
    ),
  ]

  @Test(arguments: seconds)
  func twoHolders(row: (length: Double, second: Second, log: [String])) throws {
    var bench = bench(grace: 1, minimum: 2)
    let second = row.second
    try bench.show()
    bench.observe()
    // What happens when; the ends are of the first and of the second.
    let steps = [(row.length, 0), (second.begin, 1), (second.begin + second.length, 2)]
    for (time, step) in steps.sorted(by: { $0.0 < $1.0 }) {
      let elapsed = bench.now.monotonic - Microseconds(seconds: 3_000)
      bench.run(for: .seconds(time) - elapsed)
      switch step {
      case 0: bench.hide()
      case 1:
        try bench.hold {
          $0.holder.grace = .seconds(second.grace)
          $0.holder.minimum = .seconds(second.minimum)
          $0.lease = .none
        }
      default: try bench.release(1)
      }
      bench.observe()
    }
    bench.run(for: .seconds(20))
    #expect(bench.takeLog() == row.log)
  }

  @Test func graceIsOverExactlyWhenItIsOver() throws {
    var bench = bench(grace: 1)
    try bench.show()
    bench.wake(after: .seconds(0.999999))
    #expect(!bench.c.visible)
    bench.wake(after: .seconds(0.000001))
    #expect(bench.c.visible)
  }

  @Test func busyChangesAtOnceWhateverIsShown() throws {
    var bench = bench(grace: 1, minimum: 5)
    try bench.show()
    #expect(bench.c.busy && !bench.c.visible && bench.machine.busy && !bench.machine.visible)
    bench.run(for: .seconds(2))
    bench.hide()
    #expect(!bench.c.busy && bench.c.visible && !bench.machine.busy && bench.machine.visible)
  }

  @Test func hideDropsTheGraceTimer() throws {
    var bench = bench(grace: 1)
    try bench.show()
    #expect(bench.timeToNextDeadline == .seconds(1))
    bench.hide()
    // Only the linger is left.
    #expect(bench.timeToNextDeadline == .seconds(60))
    bench.run(for: .seconds(5))
    #expect(bench.takeLog() == [])
  }

  @Test func aNewShowDropsTheMinimumTimer() throws {
    var bench = bench(minimum: 3)
    try bench.show()
    bench.hide()
    bench.run(for: .seconds(1))
    try bench.show()
    #expect(bench.timeToNextDeadline == nil)
    bench.run(for: .seconds(9))
    #expect(bench.takeLog() == ["1 visible"])
    bench.hide()
    bench.observe()
    #expect(bench.takeLog() == ["10 hidden"])
  }

  @Test func shownAnewTheMinimumIsThatOfTheNewHoldersAlone() throws {
    var bench = bench()
    try bench.hold { $0.holder.minimum = .seconds(5) }
    try bench.release(1)
    bench.observe()
    bench.run(for: .seconds(6))
    try bench.hold { $0.holder.minimum = .seconds(1) }
    try bench.release(2)
    bench.observe()
    bench.run(for: .seconds(6))
    #expect(bench.takeLog() == ["0 visible", "5 hidden", "6 visible", "7 hidden"])
  }

  @Test func aCountdownsIndicatorHasItsOwnGraceAndMinimum() throws {
    var bench = bench(grace: 9, minimum: 9)
    try bench.count("c", .seconds(3)) {
      $0.indicator = true
      $0.holder.grace = .seconds(1)
      $0.holder.minimum = .seconds(4)
      $0.interval = 0
    }
    bench.run(for: .seconds(20))
    #expect(bench.takeLog() == ["1 visible", "3 finished #1", "5 hidden"])
  }

  @Test func aHolderThatEndsWhenItsGraceDoesIsNotShown() throws {
    var bench = bench(grace: 3, minimum: 9)
    // Its end and that of its grace fall on one instant, on two clocks and on one.
    try bench.hold("a") { $0.lease = .ttl(.seconds(3)) }
    try bench.show("b") { $0.timeout = .seconds(3) }
    try bench.count("d", .seconds(3)) {
      $0.indicator = true
      $0.clock = .monotonic
    }
    bench.run(for: .seconds(20))
    #expect(bench.log.filter { $0.contains("visible") } == [])
  }

  @Test func aGraceThatEndsWhenATickIsDueIsAnnounced() throws {
    for clock in Clock.allCases {
      var bench = bench(grace: 1)
      try bench.show()
      try bench.count("c", .seconds(3)) { $0.clock = clock }
      bench.observe()
      bench.run(for: .seconds(1))
      #expect(bench.takeLog() == ["0 tick 3 #1", "1 visible", "1 tick 2 #1"])
    }
  }

  @Test func whatWasOverBeforeItsGraceIsNotShownByALateWakeUp() throws {
    var bench = bench(grace: 3, minimum: 9)
    try bench.hold("a") { $0.lease = .ttl(.seconds(2)) }
    try bench.count("b", .seconds(2)) { $0.indicator = true }
    try bench.count("d", .seconds(2)) {
      $0.indicator = true
      $0.clock = .monotonic
    }
    // Its limit comes first, then the end of its hold, then the grace of that.
    try bench.show("e") { $0.timeout = .seconds(1) }
    try bench.hold("e") { $0.lease = .ttl(.seconds(2)) }
    try bench.hold("f") { $0.lease = .ttl(.seconds(1)) }
    try bench.hold("f") { $0.lease = .ttl(.seconds(2)) }
    bench.wake(after: .seconds(30))
    #expect(bench.log.filter { $0.contains("visible") } == [])
    #expect(!bench.machine.visible)
  }

  @Test func whatOutlastedItsGraceIsShownByALateWakeUp() throws {
    var bench = bench(grace: 3, minimum: 9)
    try bench.show { $0.timeout = .seconds(5) }
    // Its tick is due before the grace ends, its end at last.
    try bench.count("c", .seconds(6))
    bench.wake(after: .seconds(30))
    #expect(bench.c.visible && !bench.c.busy)
    bench.run(for: .seconds(20))
    #expect(bench.log.last == "39 hidden")
  }

  @Test func ofAThousandHoldersTheEarliestGraceCounts() throws {
    var bench = bench()
    for second in 1...1000 {
      try bench.machine.checkedHold(grace: .seconds(Double(2000 - second)), now: bench.now)
    }
    #expect(bench.timeToNextDeadline == .seconds(1000))
    for cookie in (501...1000).reversed() {
      try bench.machine.release(
        cookie: UInt32(cookie), result: "", sender: ":1.1", now: bench.now)
    }
    bench.machine.checkInvariants()
    #expect(bench.timeToNextDeadline == .seconds(1500))
  }
}

extension IndicatorStateMachine {
  fileprivate mutating func checkedHold(grace: Microseconds, now: Now) throws(Refusal) {
    var options = HoldOptions(reason: "")
    options.holder.grace = grace
    _ = try hold(name("c"), options, sender: ":1.1", now: now)
  }
}
