// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

/// The limits, and the extremes of every number.
@Suite struct LimitTests {
  static let tooLong = Microseconds(rawValue: Microseconds.longest.rawValue + 1)
  static let most = Microseconds(rawValue: .max)

  @Test func holdsAreLimitedInAllAndForOneSender() throws {
    var bench = Bench {
      $0.maxHolds = 4
      $0.maxHoldsPerSender = 3
    }
    // Whatever their lease, and whichever their control.
    try bench.hold("a", sender: ":1.1") { $0.lease = .none }
    try bench.hold("b", sender: ":1.1") { $0.lease = .ttl(.seconds(5)) }
    try bench.hold("c", sender: ":1.1")
    let mine = #expect(throws: Refusal.self) { try bench.hold("d", sender: ":1.1") }
    #expect(mine == .limitsExceeded(":1.1 has 3 holds already, 3 are allowed."))
    #expect(bench.view("d") == nil)
    try bench.hold(sender: ":1.2")
    let all = #expect(throws: Refusal.self) { try bench.hold(sender: ":1.3") }
    #expect(all == .limitsExceeded("There are 4 holds already, 4 are allowed."))
    // Each that ends makes room.
    bench.wake(after: .seconds(5))
    try bench.hold(sender: ":1.1")
    try bench.release(1)
    try bench.hold(sender: ":1.3")
    #expect(throws: Refusal.self) { try bench.hold(sender: ":1.3") }
  }

  @Test func holdsOfALeftSenderStillCountForIt() throws {
    var bench = Bench { $0.maxHoldsPerSender = 2 }
    try bench.hold { $0.lease = .none }
    try bench.hold()
    bench.senderLeft()
    try bench.hold()
    #expect(throws: Refusal.self) { try bench.hold() }
  }

  @Test func cookiesComeToAnEnd() throws {
    var bench = Bench(lastCookie: .max - 2)
    #expect(try bench.hold() == .max - 1)
    #expect(try bench.hold() == .max)
    let refusal = #expect(throws: Refusal.self) { try bench.hold() }
    #expect(refusal?.errorName == ErrorName.limitsExceeded.rawValue)
    try bench.release(.max)
    #expect(throws: Refusal.self) { try bench.hold() }
    #expect(bench.c.holders.map(\.cookie) == [.max - 1])
  }

  @Test func countdownIdsComeToAnEnd() throws {
    var bench = Bench(lastCountdown: .max - 1)
    #expect(try bench.count("c", .seconds(5)) == .max)
    let refusal = #expect(throws: Refusal.self) { try bench.count("c", .seconds(5)) }
    #expect(refusal?.errorName == ErrorName.limitsExceeded.rawValue)
    // The one that is there was not replaced, and can be kept.
    #expect(try bench.count("c", .seconds(5)) { $0.restart = .keep } == .max)
    bench.run(for: .seconds(5))
    #expect(bench.c.lastCountdown == .max)
    #expect(throws: Refusal.self) { try bench.count("c", .zero) }
  }

  // MARK: - Durations

  @Test func theLongestDurationsAreTaken() throws {
    var bench = Bench()
    try bench.show("a") {
      $0.timeout = .longest
      $0.holder.grace = .longest
      $0.holder.minimum = .longest
    }
    try bench.hold("b") {
      $0.lease = .ttl(.longest)
      $0.notifyAfter = .longest
    }
    try bench.renew(1)
    try bench.count("d", .longest) { $0.interval = .max }
    try bench.count("e", .longest) { $0.clock = .monotonic }
    bench.run(for: .seconds(10))
    #expect(bench.machine.count == 4 && bench.view("a")?.visible == false)
    bench.wake(after: .longest)
    #expect(bench.machine.busy == false)
    #expect(bench.log.contains { $0.hasSuffix("finished #1 d") })
  }

  @Test func theEndOfTimeIsNeverPassed() throws {
    var bench = Bench()
    bench.pass(Self.most - .seconds(1_000_000))
    try bench.show { $0.timeout = .seconds(5) }
    try bench.hold {
      $0.lease = .ttl(.longest)
      $0.holder.grace = .longest
    }
    try bench.count("c", .longest)
    try bench.extend("c", -1)
    try bench.pause()
    try bench.resume()
    bench.pass(Self.most)
    bench.machine.advance(to: bench.now)
    bench.machine.checkInvariants()
  }

  @Test(arguments: [tooLong, most])
  func longerDurationsAreRefused(duration: Microseconds) throws {
    var bench = Bench()
    let calls: [(inout Bench) throws -> Void] = [
      { try $0.show { $0.timeout = duration } },
      { try $0.show { $0.holder.grace = duration } },
      { try $0.show { $0.holder.minimum = duration } },
      { try $0.hold { $0.lease = .ttl(duration) } },
      { try $0.hold { $0.notifyAfter = duration } },
      { try $0.hold { $0.holder.grace = duration } },
      { try $0.count("c", duration) },
      { try $0.count("c", .zero) { $0.holder.minimum = duration } },
    ]
    for call in calls {
      let refusal = #expect(throws: Refusal.self) { try call(&bench) }
      #expect(refusal?.errorName == ErrorName.invalidArguments.rawValue)
      #expect(refusal?.message.contains("\(duration)") == true)
    }
    #expect(bench.machine.count == 0 && !bench.machine.hasChanges)
  }

  @Test func noTimeIsRefusedForATimeLimitAndATtl() throws {
    var bench = Bench()
    #expect(throws: Refusal.invalidArgument("The time limit of 0 µs is not above 0.")) {
      try bench.show { $0.timeout = .zero }
    }
    #expect(throws: Refusal.invalidArgument("The ttl-usec of 0 µs is not above 0.")) {
      try bench.hold { $0.lease = .ttl(.zero) }
    }
    try bench.show {
      $0.timeout = Microseconds(rawValue: 1)
      $0.holder.grace = .zero
    }
    bench.wake(after: Microseconds(rawValue: 1))
    #expect(!bench.c.busy)
  }

  // MARK: - Extensions

  @Test(arguments: [Int32.min, Int32.min + 1, -5, -6])
  func anExtensionDownToNothingFinishes(seconds: Int32) throws {
    for isPaused in [false, true] {
      var bench = Bench()
      try bench.count("c", .seconds(5)) { $0.paused = isPaused }
      try bench.extend("c", seconds)
      #expect(bench.c.lastResult == "finished" && bench.c.countdown == 0)
    }
  }

  @Test func theGreatestExtensionIsTaken() throws {
    var bench = Bench()
    try bench.count("c", .seconds(5))
    try bench.extend("c", .max)
    #expect(bench.remaining == .seconds(2_147_483_652))
    for _ in 0..<3 { try bench.extend("c", .max) }
    bench.observe()
    #expect(bench.takeLog().last == "0 tick 4294967295 #1")
  }

  @Test(arguments: [false, true])
  func anExtensionPastTheLongestIsRefused(isPaused: Bool) throws {
    var bench = Bench()
    try bench.count("c", .longest - .seconds(2)) { $0.paused = isPaused }
    try bench.extend("c", 2)
    let refusal = #expect(throws: Refusal.self) { try bench.extend("c", 1) }
    #expect(refusal?.errorName == ErrorName.invalidArguments.rawValue)
    #expect(bench.c.duration == .longest && bench.remaining == .longest)
    // When something has passed, Duration would be the one that is too long.
    bench.pass(.seconds(3))
    #expect(throws: Refusal.self) { try bench.extend("c", 1) }
    try bench.extend("c", -1)
    try bench.extend("c", 1)
    #expect(throws: Refusal.self) {
      try bench.count("c", .longest) { $0.restart = .extend }
    }
    #expect(bench.c.duration == .longest)
  }

  @Test func aLongExtensionByStartIsTaken() throws {
    var bench = Bench()
    try bench.count("c", .seconds(5))
    try bench.count("c", .longest - .seconds(5)) { $0.restart = .extend }
    #expect(bench.c.duration == .longest)
  }

  // MARK: - Texts

  /// A text of so many bytes, which ends in a letter of two.
  static func text(_ bytes: Int) -> String { String(repeating: "x", count: bytes - 2) + "é" }

  @Test func textsMayBeAsLongAsTheyMay() throws {
    var bench = Bench()
    let (long, short) = (Self.text(512), Self.text(256))
    try bench.setTitle("c", long)
    try bench.setDetail("c", long)
    try bench.hold("c", short) {
      $0.holder.application = short
      $0.attributes.title = long
      $0.attributes.detail = long
      $0.attributes.icon = short
      $0.attributes.desktopEntry = short
    }
    try bench.release(1, short)
    #expect(bench.c.lastResult == "released: " + short)
  }

  static let tooLongTexts: [(String, @Sendable (inout Bench) throws -> Void)] = [
    ("title", { try $0.setTitle("c", text(513)) }),
    ("detail", { try $0.setDetail("c", text(513)) }),
    ("title", { try $0.show { $0.attributes.title = text(513) } }),
    ("detail", { try $0.hold { $0.attributes.detail = text(513) } }),
    ("icon", { try $0.show { $0.attributes.icon = text(257) } }),
    (
      "desktop-entry",
      {
        try $0.count("c", .zero) { $0.attributes.desktopEntry = text(257) }
      }
    ),
    (
      "application",
      { try $0.show { $0.holder.application = text(257) } }
    ),
    ("reason", { try $0.hold("c", text(257)) }),
    ("result", { try $0.release(1, text(257)) }),
  ]

  @Test(arguments: tooLongTexts)
  func longerTextsAreRefusedByName(
    what: String, call: @Sendable (inout Bench) throws -> Void
  ) throws {
    var bench = Bench()
    let refusal = #expect(throws: Refusal.self) { try call(&bench) }
    #expect(refusal?.errorName == ErrorName.invalidArguments.rawValue)
    #expect(refusal?.message.hasPrefix("The \(what) “xxx") == true)
    #expect(bench.machine.count == 0 && !bench.machine.hasChanges)
  }

  // MARK: - Many

  @Test func aThousandHoldsOnOneControlEndOneByOne() throws {
    var bench = Bench()
    var options = HoldOptions(reason: "work")
    options.holder.minimum = .seconds(1)
    for _ in 1...1000 {
      _ = try bench.machine.hold(name("c"), options, sender: ":1.1", now: bench.now)
    }
    bench.machine.checkInvariants()
    #expect(bench.c.holders.map(\.cookie) == Array(1...1000))
    for index in 0..<1000 {
      // Now from one end, now from the middle.
      let cookie = UInt32((index * 617) % 1000 + 1)
      #expect(bench.machine.busy)
      try bench.machine.release(cookie: cookie, result: "", sender: ":1.1", now: bench.now)
    }
    bench.machine.checkInvariants()
    #expect(!bench.c.busy && bench.c.visible)
  }

  @Test func tenThousandControlsAndCountdowns() throws {
    var bench = Bench()
    let options = CountdownOptions()
    for index in 1...10_000 {
      _ = try bench.machine.startCountdown(
        name("control \(index)"), duration: Microseconds(rawValue: UInt64(index)), options,
        sender: ":1.1", now: bench.now)
    }
    #expect(throws: Refusal.self) { try bench.show("one more") }
    bench.machine.checkInvariants()
    bench.machine.discardTicks()
    _ = bench.machine.drain()
    bench.wake(after: .seconds(0.005))
    #expect(bench.log.count == 5_000)
    #expect(bench.log.last == "0.005 finished #5000 control 5000")
    try bench.show("one more")
    #expect(bench.view("control 1") == nil && bench.machine.count == 10_000)
  }
}
