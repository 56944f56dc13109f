// SPDX-License-Identifier: MIT

import DBus
import Testing

@testable import BusyIndicatorClient

/// What the client library makes of what the bus says.
@Suite struct ClientTests {
  static let busy: [String: Variant] = [
    "Name": .string("a"), "Title": .string("T"), "Busy": .boolean(true), "Visible": .boolean(true),
    "BusySince": .uint64(5_000_000), "Progress": .double(0.4), "ProgressValid": .boolean(true),
    "Countdown": .uint32(0), "CountdownState": .string("none"), "Enabled": .boolean(true),
  ]

  @Test func propertiesBecomeState() {
    var state = ControlState(Self.busy)
    #expect(state.name == "a" && state.title == "T" && state.isBusy && state.isActive)
    #expect(state.progress == 0.4 && state.countdown == nil)
    #expect(state.activeSince == Microseconds(seconds: 5))
    state.apply(["ProgressValid": .boolean(false), "Progress": .double(0)])
    #expect(state.progress == nil)
    state.apply(["Visible": .boolean(false), "Busy": .boolean(false)])
    #expect(!state.isActive && state.activeSince == .zero)
  }

  @Test func aCountdownThatStandsStillHasToBeReadAgain() {
    var state = ControlState(Self.busy)
    let deadline = Clock.boottime.now() + Microseconds(seconds: 60)
    let isStale = state.apply([
      "Countdown": .uint32(3), "CountdownState": .string("running"),
      "CountdownClock": .string("boottime"), "Duration": .uint64(90_000_000),
      "Deadline": .uint64(deadline.rawValue),
    ])
    #expect(!isStale)
    let remaining = state.countdown?.remaining() ?? .zero
    #expect(remaining > Microseconds(seconds: 50) && remaining <= Microseconds(seconds: 60))
    let isStaleThen = state.apply(["CountdownState": .string("paused"), "Deadline": .uint64(0)])
    #expect(isStaleThen)
    let isStaleAtLast = state.apply([
      "CountdownState": .string("paused"), "Remaining": .uint64(7),
    ])
    #expect(!isStaleAtLast)
    #expect(state.countdown?.remaining() == Microseconds(rawValue: 7))
    state.apply(["Countdown": .uint32(0)])
    #expect(state.countdown == nil)
  }

  @Test func hostileValuesDoNoHarm() {
    var state = ControlState([
      "Name": .uint32(1), "Progress": .double(.nan), "ProgressValid": .boolean(true),
      "Holders": .array([.string("x"), .dictionary([])]), "Countdown": .uint32(1),
      "Duration": .uint64(.max), "Deadline": .uint64(.max), "BusySince": .uint64(.max),
      "Visible": .boolean(true),
    ])
    #expect(state.name == "")
    #expect(state.countdown.map { (0...1).contains($0.fraction()) } == true)
    state.apply(["Progress": .double(.infinity)])
    #expect(state.progress.map { (0...1).contains($0) } == true)
    state.apply(["Duration": .uint64(0), "Deadline": .uint64(0)])
    #expect(state.countdown?.remaining() == .zero)
    #expect(state.countdown?.fraction() == 1)
  }

  @Test func errorsHaveKinds() {
    func kind(_ name: String) -> IndicatorError.Kind {
      IndicatorError(DBusError(name: name, message: "m")).kind
    }
    let own = "org.busyindicator.BusyIndicator1.Error."
    #expect(kind(own + "Busy") == .busy)
    #expect(kind(own + "NoSuchHold") == .noSuchHold)
    #expect(kind("org.freedesktop.DBus.Error.ServiceUnknown") == .noDaemon)
    #expect(kind("org.freedesktop.DBus.Error.Spawn.ExecFailed") == .noDaemon)
    #expect(kind("org.freedesktop.DBus.Error.NoReply") == .noAnswer)
    #expect(kind("org.freedesktop.DBus.Error.UnknownObject") == .noSuchControl)
    #expect(kind("org.example.X") == .other("org.example.X"))
  }

  @Test func durationsBecomeMicroseconds() {
    #expect(Microseconds(.seconds(5)) == Microseconds(seconds: 5))
    #expect(Microseconds(.nanoseconds(1999)) == Microseconds(rawValue: 1))
    #expect(Microseconds(.seconds(-5)) == .zero)
    #expect(Microseconds(.seconds(Int64.max)) == Microseconds(rawValue: .max))
  }

  @Test func theLoopFiresInOrderAndEnds() {
    let loop = PollLoop()
    var fired: [Int] = []
    let late = loop.makeTimer {
      fired.append(2)
      loop.stop()
    }
    let early = loop.makeTimer { fired.append(1) }
    let never = loop.makeTimer { fired.append(3) }
    let now = loop.monotonicNow
    late.arm(at: now + 20_000)
    early.arm(at: now + 5_000)
    never.arm(at: now + 10_000)
    never.disarm()
    loop.run()
    #expect(fired == [1, 2])
    #expect(loop.monotonicNow >= now + 20_000)
  }
}
