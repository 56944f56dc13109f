// SPDX-License-Identifier: MIT

import BusyIndicatorCore
import EventLoop
import Glibc
import Testing

@testable import BusyIndicatorDaemon

/// A directory of a test's own, removed with this object.
private final class TemporaryDirectory {
  let path: String

  init() {
    var template = Array("/tmp/busyindicator-test-XXXXXX".utf8CString)
    path = mkdtemp(&template).map { String(cString: $0) } ?? "/nonexistent"
  }

  deinit {
    if let directory = opendir(path) {
      while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) {
          String(cString: $0.bindMemory(to: CChar.self).baseAddress!)
        }
        unlink(path + "/" + name)
      }
      closedir(directory)
    }
    rmdir(path)
  }
}

/// The same events each time.
private struct Generator: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state ^ (state >> 29)) &* 0xbf58_476d_1ce4_e5b9
  }
}

private func now(_ seconds: Double) -> Now {
  let micros = Microseconds(rawValue: UInt64(seconds * 1_000_000) + 1_000_000)
  return Now(
    boottime: micros + Microseconds(seconds: 500), monotonic: micros,
    realtime: micros + Microseconds(seconds: 1_700_000_000))
}

private func name(_ text: String) throws -> ControlName { try ControlName(text) }

/// What can be told of a machine from outside, for comparing two.
private func portrait(_ machine: IndicatorStateMachine, now: Now) -> [String] {
  var lines = machine.controls.map { id in
    let view = machine[id]
    return """
      \(view.name) \(view.title) \(view.displayedTitle) \(view.enabled) \(view.displayedEnabled) \
      \(view.detail) \(view.icon) \(view.desktopEntry) \(view.busy) \(view.visible) \
      \(view.progress) \(view.progressValid) \(view.busySince) \(view.holders) \(view.countdown) \
      \(view.countdownState) \(String(describing: view.countdownClock)) \(view.duration) \
      \(view.deadline) \(view.lastResult) \(view.lastCountdown) \(machine.remaining(of: id, now: now))
      """
  }.sorted()
  lines.append("\(machine.busy) \(machine.visible) \(machine.sendersDependedOn)")
  lines.append("\(machine.counters)")
  return lines
}

@Suite struct StoreTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path + "/state.db" }

  @Test(arguments: 1...8)
  func whatIsLoadedIsWhatWasWritten(seed: UInt64) throws {
    var generator = Generator(state: seed)
    var machine = IndicatorStateMachine(configuration: Configuration())
    let tables = try Tables(path: path, patience: 0)
    var time = 0.0
    for step in 0..<400 {
      time += Double.random(in: 0...2, using: &generator)
      try randomEvent(&machine, now(time), &generator)
      try tables.write(machine.drain(), of: machine)
      guard step % 20 == 19 else { continue }
      let restored = try #require(
        IndicatorStateMachine(
          configuration: Configuration(), restoring: tables.load(), now: now(time)))
      #expect(portrait(restored, now: now(time)) == portrait(machine, now: now(time)))
      expectSameFuture(restored, machine, from: time)
    }
  }

  /// Both do the same by themselves from now on.
  private func expectSameFuture(
    _ left: IndicatorStateMachine, _ right: IndicatorStateMachine, from time: Double
  ) {
    var (left, right) = (left, right)
    _ = left.drain()
    _ = right.drain()
    for later in [0.1, 0.9, 3, 10, 61, 200] {
      left.advance(to: now(time + later))
      right.advance(to: now(time + later))
      #expect(left.drain().events == right.drain().events)
      #expect(portrait(left, now: now(time + later)) == portrait(right, now: now(time + later)))
    }
  }

  private func randomEvent(
    _ machine: inout IndicatorStateMachine, _ now: Now, _ generator: inout Generator
  ) throws {
    let control = try name(["a", "b", "ü", "d"].randomElement(using: &generator)!)
    let sender = [":1.1", ":1.2", ":1.3"].randomElement(using: &generator)!
    let short = Microseconds(rawValue: UInt64.random(in: 1...5_000_000, using: &generator))
    var holder = HolderOptions()
    if Bool.random(using: &generator) {
      holder.grace = short
      holder.minimum = short
      holder.application = "app"
    }
    switch Int.random(in: 0..<16, using: &generator) {
    case 0:
      var options = ShowOptions()
      options.holder = holder
      if Bool.random(using: &generator) { options.timeout = short }
      try machine.show(control, options, sender: sender, now: now)
    case 1: machine.hide(control, now: now)
    case 2, 3, 4:
      var options = HoldOptions(reason: "why 'quoted'")
      options.holder = holder
      options.lease =
        [.sender, .none, .ttl(short), .process(pid: 7, startTime: .max)]
        .randomElement(using: &generator)!
      options.notifyAfter = Bool.random(using: &generator) ? short : nil
      _ = try machine.hold(control, options, sender: sender, now: now)
    case 5, 6:
      var options = CountdownOptions()
      options.holder = holder
      options.clock = Clock.allCases.randomElement(using: &generator)!
      options.indicator = Bool.random(using: &generator)
      options.endsWithSender = Bool.random(using: &generator)
      options.notify = Bool.random(using: &generator)
      options.paused = Bool.random(using: &generator)
      options.interval = UInt32.random(in: 0...3, using: &generator)
      _ = try machine.startCountdown(
        control, duration: short, options, sender: sender, now: now)
    case 7: try? machine.pauseCountdown(control, now: now)
    case 8: try? machine.resumeCountdown(control, now: now)
    case 9: try? machine.extendCountdown(control, seconds: 3, now: now)
    case 10: machine.senderLeft(sender, now: now)
    case 11: try machine.setTitle(control, "Title of \(control)", now: now)
    case 12: try machine.setProgress(control, 0.25, now: now)
    case 13: try machine.setEnabled(control, Bool.random(using: &generator), now: now)
    case 14: machine.forget(control, now: now)
    default:
      let cookie = UInt32.random(in: 1...max(1, machine.counters.lastCookie), using: &generator)
      try? machine.renew(cookie: cookie, now: now)
      try? machine.release(cookie: cookie, result: "exit 2", sender: sender, now: now)
    }
  }

  @Test func theWholeStateWrittenAnewIsTheSame() throws {
    var generator = Generator(state: 5)
    var machine = IndicatorStateMachine(configuration: Configuration())
    let tables = try Tables(path: path, patience: 0)
    try tables.write(machine.drain(), of: machine)
    for _ in 0..<100 { try randomEvent(&machine, now(1), &generator) }
    _ = machine.drain()
    try tables.writeAll(of: machine)
    let restored = try #require(
      IndicatorStateMachine(
        configuration: Configuration(), restoring: tables.load(), now: now(1)))
    #expect(portrait(restored, now: now(1)) == portrait(machine, now: now(1)))
  }

  @Test func aTurnThatChangedNothingWritesNothing() throws {
    var machine = IndicatorStateMachine(configuration: Configuration())
    let tables = try Tables(path: path, patience: 0)
    try machine.show(name("a"), ShowOptions(), sender: ":1.1", now: now(0))
    try tables.write(machine.drain(), of: machine)
    let before = try size(of: path + "-wal")
    try machine.show(name("a"), ShowOptions(), sender: ":1.1", now: now(1))
    machine.hide(try name("unknown"), now: now(1))
    try tables.write(machine.drain(), of: machine)
    #expect(try size(of: path + "-wal") == before)
  }

  private func size(of path: String) throws -> Int {
    var status = stat()
    try #require(stat(path, &status) == 0)
    return Int(status.st_size)
  }

  @Test func aTickIsNotMadeUpForAfterARestart() throws {
    var machine = IndicatorStateMachine(configuration: Configuration())
    let tables = try Tables(path: path, patience: 0)
    _ = try machine.startCountdown(
      name("a"), duration: Microseconds(seconds: 60), CountdownOptions(), sender: ":1.1",
      now: now(0))
    try tables.write(machine.drain(), of: machine)
    let restored = IndicatorStateMachine(
      configuration: Configuration(), restoring: try tables.load(), now: now(29.5))
    var later = try #require(restored)
    later.advance(to: now(29.9))
    #expect(later.drain().events.isEmpty)
    later.advance(to: now(30))
    #expect(
      later.drain().events == [.tick(control: try name("a"), remaining: 30, countdown: 1)])
  }

  @Test func stateThatContradictsItselfIsRefused() throws {
    func restored(_ change: (inout SavedState) throws -> Void) throws -> Bool {
      var machine = IndicatorStateMachine(configuration: Configuration())
      let options = HoldOptions(reason: "")
      _ = try machine.hold(name("a"), options, sender: ":1.1", now: now(0))
      let id = try #require(machine.find(name("a")))
      var state = SavedState()
      var (controlName, control) = machine.saved(id)
      control.holds = []
      state.controls = [(controlName, control)]
      state.holds = [try #require(machine.savedHold(1))]
      state.counters = machine.counters
      try change(&state)
      return IndicatorStateMachine(
        configuration: Configuration(), restoring: state, now: now(0)) != nil
    }
    #expect(try restored { _ in })
    #expect(try !restored { $0.holds = [] })
    #expect(try !restored { $0.controls = [] })
    #expect(try !restored { $0.counters = Counters() })
    #expect(try !restored { $0.holds.append($0.holds[0]) })
    #expect(try !restored { $0.controls.append($0.controls[0]) })
    #expect(try !restored { $0.holds[0].control = try name("b") })
  }

  @Test(arguments: [
    "PRAGMA user_version=99", "CREATE TABLE strange (x)",
    "CREATE TABLE control (x); CREATE TABLE hold (x); PRAGMA user_version=1",
  ])
  func aFileOfAnotherMakeIsUnusable(sql: String) throws {
    do {
      let database = try Database(path: path, patience: 0)
      try database.execute(sql)
    }
    let failure = #expect(throws: StoreFailure.self) { try Tables(path: path, patience: 0) }
    #expect(failure?.isUnusable == true)
  }

  @Test func aFileThatIsNoDatabaseIsUnusable() throws {
    let file = try #require(fopen(path, "w"))
    for _ in 0..<1000 { fputs("this is no database, whatever it is called\n", file) }
    fclose(file)
    let failure = #expect(throws: StoreFailure.self) { try Tables(path: path, patience: 0) }
    #expect(failure?.isUnusable == true)
  }

  @Test func aFileThatAnotherHasIsBusy() throws {
    let holder = try Tables(path: path, patience: 0)
    let failure = #expect(throws: StoreFailure.self) { try Tables(path: path, patience: 0) }
    #expect(failure?.isBusy == true)
    withExtendedLifetime(holder) {}
  }
}
