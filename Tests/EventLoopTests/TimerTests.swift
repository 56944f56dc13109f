// SPDX-License-Identifier: MIT

import EventLoop
import Testing

@Suite struct TimerTests {
  @Test(arguments: [LoopClock.boottime, .monotonic, .realtime])
  func isNeverEarlyAndSeldomLate(clock: LoopClock) throws {
    let loop = try EventLoop()
    var lateness: [UInt64] = []
    var due: UInt64 = 0
    var timer: Timer?
    func arm() {
      due = loop.now(clock) + 5_000
      timer?.arm(at: due)
    }
    timer = loop.makeTimer(clock: clock) {
      let now = loop.now(clock)
      #expect(now >= due)
      lateness.append(now - min(now, due))
      if lateness.count < 9 { arm() } else { loop.exit(code: 0) }
    }
    arm()
    #expect(try loop.runWithDeadline() == 0)
    timer = nil
    // With sd-event's accuracy of 250 ms it would be more than 100 on average.
    #expect(lateness.sorted()[4] < 50_000)
  }

  @Test(arguments: [0, 1]) func firesAtOnceForWhatHasPassed(instant: UInt64) throws {
    let loop = try EventLoop()
    let timer = loop.makeTimer(clock: .boottime) { loop.exit(code: 3) }
    timer.arm(at: instant)
    #expect(try loop.runWithDeadline() == 3)
  }

  @Test func firesOnceForEachTimeThatItIsArmed() throws {
    let loop = try EventLoop()
    var count = 0
    let timer = loop.makeTimer(clock: .monotonic) { count += 1 }
    timer.arm(at: loop.now(.monotonic))
    let end = loop.makeTimer(clock: .monotonic) { loop.exit(code: 0) }
    end.arm(at: loop.now(.monotonic) + 20_000)
    #expect(try loop.runWithDeadline() == 0)
    #expect(count == 1)
  }

  @Test func canBeArmedAgainForTheInstantThatFired() throws {
    let loop = try EventLoop()
    var count = 0
    var timer: Timer?
    timer = loop.makeTimer(clock: .monotonic) {
      count += 1
      if count < 3 { timer?.arm(at: 1) } else { loop.exit(code: 0) }
    }
    timer?.arm(at: 1)
    #expect(try loop.runWithDeadline() == 0)
    #expect(count == 3)
    timer = nil
  }

  @Test func armingReplacesTheInstant() throws {
    let loop = try EventLoop()
    var fired: [String] = []
    let sooner = loop.makeTimer(clock: .monotonic) { fired.append("sooner") }
    let later = loop.makeTimer(clock: .monotonic) { fired.append("later") }
    let end = loop.makeTimer(clock: .monotonic) { loop.exit(code: 0) }
    let start = loop.now(.monotonic)
    sooner.arm(at: start + 3_600_000_000)
    sooner.arm(at: start + 10_000)
    later.arm(at: start + 1)
    later.arm(at: start + 20_000)
    later.arm(at: start + 20_000)
    end.arm(at: start + 30_000)
    #expect(try loop.runWithDeadline() == 0)
    #expect(fired == ["sooner", "later"])
  }

  @Test func doesNothingDisarmedDroppedOrWithoutEnd() throws {
    let loop = try EventLoop()
    var fired: [String] = []
    let disarmed = loop.makeTimer(clock: .boottime) { fired.append("disarmed") }
    disarmed.arm(at: 1)
    disarmed.disarm()
    disarmed.disarm()
    var dropped: Timer? = loop.makeTimer(clock: .boottime) { fired.append("dropped") }
    dropped?.arm(at: 1)
    dropped = nil
    let endless = loop.makeTimer(clock: .boottime) { fired.append("endless") }
    endless.arm(at: .max)
    let end = loop.makeTimer(clock: .boottime) { loop.exit(code: 0) }
    end.arm(at: loop.now(.boottime) + 10_000)
    #expect(try loop.runWithDeadline() == 0)
    #expect(fired.isEmpty)
  }

  @Test func isHarmlessAfterTheEndOfTheLoop() throws {
    let loop = try EventLoop()
    let timer = loop.makeTimer(clock: .boottime) {}
    loop.exit(code: 0)
    #expect(try loop.runWithDeadline() == 0)
    timer.arm(at: 1)
    timer.disarm()
    timer.arm(at: 2)
  }
}
