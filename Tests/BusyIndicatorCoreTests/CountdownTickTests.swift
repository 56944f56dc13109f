// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

/// When a countdown ticks, and what with.
@Suite struct CountdownTickTests {
  static let timetables: [(seconds: Double, interval: UInt32, log: [String])] = [
    (3, 1, ["0 tick 3", "1 tick 2", "2 tick 1", "3 finished"]),
    (2.5, 1, ["0 tick 3", "0.5 tick 2", "1.5 tick 1", "2.5 finished"]),
    (0, 1, ["0 finished"]),
    (0.000001, 1, ["0 tick 1", "1e-06 finished"]),
    (1, 1, ["0 tick 1", "1 finished"]),
    (1.000001, 1, ["0 tick 2", "1e-06 tick 1", "1.000001 finished"]),
    (7, 5, ["0 tick 7", "2 tick 5", "7 finished"]),
    (10, 5, ["0 tick 10", "5 tick 5", "10 finished"]),
    (5, 5, ["0 tick 5", "5 finished"]),
    (4, 5, ["0 tick 4", "4 finished"]),
    (12.25, 5, ["0 tick 13", "2.25 tick 10", "7.25 tick 5", "12.25 finished"]),
    (3, 0, ["3 finished"]),
    (3, .max, ["0 tick 3", "3 finished"]),
  ]

  @Test(arguments: timetables, Clock.allCases)
  func ticksAreAlignedToTheEnd(
    row: (seconds: Double, interval: UInt32, log: [String]), clock: Clock
  ) throws {
    var bench = Bench()
    try bench.count("c", .seconds(row.seconds)) {
      $0.interval = row.interval
      $0.clock = clock
    }
    bench.observe()
    bench.run(for: .seconds(20))
    #expect(bench.takeLog() == row.log.map { $0 + " #1" })
    #expect(bench.c.lastResult == "finished" && bench.c.lastCountdown == 1)
  }

  @Test func aPlainStartTicksEverySecond() throws {
    var bench = Bench()
    try bench.count("c", .seconds(2))
    #expect(bench.remaining == .seconds(2))
    #expect(bench.c.countdownState == .running && bench.c.countdownClock == .boottime)
    #expect(bench.c.duration == .seconds(2))
    #expect(bench.c.deadline == bench.now.boottime + .seconds(2))
    bench.wake(after: .seconds(0.25))
    #expect(bench.remaining == .seconds(1.75))
    bench.run(for: .seconds(2))
    #expect(bench.takeLog().map { $0.dropLast(3) } == ["0.25 tick 2", "1 tick 1", "2 finished"])
    #expect(bench.remaining == .zero && bench.c.deadline == .zero && bench.c.duration == .zero)
    #expect(bench.c.countdown == 0 && bench.c.countdownState == .none)
    #expect(bench.c.countdownClock == nil)
  }

  @Test func theLongestWholeSecondsTickAtTheStartAndASecondLater() throws {
    var bench = Bench()
    try bench.count("c", Microseconds(seconds: .max))
    bench.observe()
    bench.run(for: .seconds(2))
    #expect(
      bench.takeLog() == [
        "0 tick 4294967295 #1", "1 tick 4294967294 #1", "2 tick 4294967293 #1",
      ])
  }

  @Test func theLongestOfAllTicksWithTheGreatestNumber() throws {
    var bench = Bench()
    try bench.count("c", .longest)
    bench.observe()
    bench.run(for: .seconds(2))
    // 2^62 µs are no whole seconds: 0.387904 s are over.
    #expect(
      bench.takeLog() == [
        "0 tick 4294967295 #1", "0.387904 tick 4294967295 #1", "1.387904 tick 4294967295 #1",
      ])
  }

  @Test func aLateWakeUpGivesOneTickWithTheCurrentValue() throws {
    var bench = Bench()
    try bench.count("c", .seconds(10))
    bench.wake(after: .seconds(4.3))
    bench.wake(after: .seconds(0))
    bench.run(for: .seconds(2))
    #expect(
      bench.takeLog() == [
        "4.3 tick 10 #1", "4.3 tick 6 #1", "5 tick 5 #1", "6 tick 4 #1",
      ])
  }

  @Test func aWakeUpAtAWholeNumberDoesNotTickTwice() throws {
    var bench = Bench()
    try bench.count("c", .seconds(10))
    bench.observe()
    _ = bench.takeLog()
    bench.wake(after: .seconds(4))
    bench.run(for: .seconds(1))
    #expect(bench.takeLog() == ["4 tick 6 #1", "5 tick 5 #1"])
  }

  @Test(arguments: [0, 0.000001, 5, 1_000_000])
  func aLateWakeUpPastTheEndGivesFinishedAlone(late: Double) throws {
    var bench = Bench()
    try bench.count("c", .seconds(10))
    bench.observe()
    _ = bench.takeLog()
    bench.wake(after: .seconds(10 + late))
    #expect(bench.takeLog().map { $0.split(separator: " ")[1] } == ["finished"])
    bench.run(for: .seconds(10))
    #expect(bench.log.isEmpty)
  }

  @Test func nothingIsEarly() throws {
    var bench = Bench()
    try bench.count("c", .seconds(2))
    bench.observe()
    bench.wake(after: .seconds(0.999999))
    #expect(bench.takeLog() == ["0 tick 2 #1"])
    bench.wake(after: .seconds(0.000001))
    bench.wake(after: .seconds(0.999999))
    #expect(bench.takeLog() == ["1 tick 1 #1"])
    #expect(bench.remaining == Microseconds(rawValue: 1))
    bench.wake(after: .seconds(0.000001))
    #expect(bench.takeLog() == ["2 finished #1"])
  }

  @Test func theLastTickAndFinishedBothComeAndInOrder() throws {
    var bench = Bench()
    try bench.count("c", .seconds(1))
    bench.run(for: .seconds(1))
    #expect(bench.takeLog() == ["1 tick 1 #1", "1 finished #1"])
  }

  @Test func countdownsThatEndAtOnceDoSoInTheOrderOfTheirControls() throws {
    var bench = Bench()
    for control in ["z", "a", "m"] { try bench.setDetail(control, "x") }
    for control in ["m", "z", "a"] {
      try bench.count(control, .seconds(1)) { $0.interval = 0 }
    }
    bench.wake(after: .seconds(1))
    #expect(
      bench.takeLog() == ["1 finished #2 z", "1 finished #3 a", "1 finished #1 m"])
  }

  @Test func whatIsOverdueHappensInTheOrderInWhichItBecameDue() throws {
    var bench = Bench()
    try bench.count("a", .seconds(3)) { $0.interval = 0 }
    try bench.count("b", .seconds(1)) { $0.clock = .monotonic }
    try bench.count("d", .seconds(10)) { $0.clock = .monotonic }
    try bench.hold { $0.lease = .ttl(.seconds(2)) }
    bench.observe()
    _ = bench.takeLog()
    bench.wake(after: .seconds(5))
    // The tick of d was due at 1 s, as was the end of b, which is the older control.
    #expect(
      bench.takeLog() == [
        "5 hidden", "5 finished #2 b", "5 tick 5 #3 d", "5 hold 1 expired to :1.1",
        "5 finished #1 a",
      ])
  }

  @Test func aTickThatIsDroppedForTheEndDoesNotMakeTheEndEarly() throws {
    var bench = Bench()
    try bench.count("a", .seconds(3))
    try bench.count("b", .seconds(2)) { $0.interval = 0 }
    bench.observe()
    _ = bench.takeLog()
    bench.wake(after: .seconds(5))
    #expect(bench.takeLog() == ["5 finished #2 b", "5 finished #1 a"])
  }
}
