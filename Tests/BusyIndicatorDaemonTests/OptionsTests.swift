// SPDX-License-Identifier: MIT

import BusyIndicatorCore
import DBus
import Testing

@testable import BusyIndicatorDaemon

/// Options as a peer sends them.
private func options(_ entries: (String, Variant)...) throws -> OptionList {
  var list: PropertyList = [:]
  list.entries = entries.map { (key: $0.0, value: $0.1) }
  let message = Message(call: "Do", of: "a.b", at: "/", on: "a.b", list)
  return try message.read(OptionList.self)
}

/// The sentence with which `body` is refused as InvalidArgs.
private func refusal(_ body: () throws -> Void) -> String? {
  do {
    try body()
  } catch let error as DBusError where error.isStandard(.invalidArgs) {
    return error.message
  } catch {
    Issue.record("another error: \(error)")
  }
  return nil
}

@Suite struct OptionsTests {
  @Test func noOptionsAreThoseOfThePlainMethods() throws {
    #expect(try ShowOptions(options()) == ShowOptions())
    #expect(try CountdownOptions(options()) == CountdownOptions())
    #expect(try HoldOptions(reason: "r", options()) == HoldOptions(reason: "r"))
  }

  @Test func eachOptionOfShowGoesWhereItBelongs() throws {
    let read = try ShowOptions(
      options(
        ("title", .string("t")), ("detail", .string("d")), ("icon", .string("i")),
        ("desktop-entry", .string("e")), ("application", .string("a")), ("grace-usec", .uint64(1)),
        ("minimum-usec", .uint64(2)), ("timeout-usec", .uint64(3)), ("x-note", .int32(1)),
        ("x-note", .int32(2))))
    var wanted = ShowOptions()
    wanted.attributes.title = "t"
    wanted.attributes.detail = "d"
    wanted.attributes.icon = "i"
    wanted.attributes.desktopEntry = "e"
    wanted.holder.application = "a"
    wanted.holder.grace = Microseconds(rawValue: 1)
    wanted.holder.minimum = Microseconds(rawValue: 2)
    wanted.timeout = Microseconds(rawValue: 3)
    #expect(read == wanted)
  }

  @Test func eachOptionOfACountdownGoesWhereItBelongs() throws {
    let read = try CountdownOptions(
      options(
        ("interval", .uint32(9)), ("indicator", .boolean(true)), ("restart", .string("extend")),
        ("clock", .string("monotonic")), ("lease", .string("sender")), ("paused", .boolean(true)),
        ("notify", .boolean(true))))
    var wanted = CountdownOptions()
    wanted.interval = 9
    wanted.indicator = true
    wanted.restart = .extend
    wanted.clock = .monotonic
    wanted.endsWithSender = true
    wanted.paused = true
    wanted.notify = true
    #expect(read == wanted)
  }

  @Test func aLeaseIsSaidByItsNameOrItsKey() throws {
    func lease(_ entries: (String, Variant)...) throws -> Lease {
      var list: PropertyList = [:]
      list.entries = entries.map { (key: $0.0, value: $0.1) }
      let message = Message(call: "Do", of: "a.b", at: "/", on: "a.b", list)
      return try HoldOptions(reason: "", message.read(OptionList.self)).lease
    }
    let ttl = Lease.ttl(Microseconds(rawValue: 5))
    #expect(try lease() == .sender)
    #expect(try lease(("lease", .string("sender"))) == .sender)
    #expect(try lease(("lease", .string("none"))) == Lease.none)
    #expect(try lease(("pid", .uint32(7))) == .process(pid: 7, startTime: 0))
    #expect(
      try lease(("lease", .string("pid")), ("pid", .uint32(7))) == .process(pid: 7, startTime: 0))
    #expect(try lease(("ttl-usec", .uint64(5))) == ttl)
    #expect(try lease(("ttl-usec", .uint64(5)), ("lease", .string("ttl"))) == ttl)
    let exclusive = try HoldOptions(
      reason: "", options(("exclusive", .boolean(true)), ("notify-after-usec", .uint64(0))))
    #expect(exclusive.exclusive && exclusive.notifyAfter == .zero)
  }

  @Test(arguments: [
    ("pid", [("lease", Variant.string("pid"))]), ("ttl-usec", [("lease", .string("ttl"))]),
    ("pid", [("lease", .string("sender")), ("pid", .uint32(1))]),
    ("ttl-usec", [("lease", .string("none")), ("ttl-usec", .uint64(1))]),
    ("ttl-usec", [("lease", .string("pid")), ("pid", .uint32(1)), ("ttl-usec", .uint64(1))]),
    ("pid", [("lease", .string("ttl")), ("pid", .uint32(1)), ("ttl-usec", .uint64(1))]),
    ("ttl-usec", [("pid", .uint32(1)), ("ttl-usec", .uint64(1))]),
    ("lease", [("lease", .string("forever"))]), ("pid", [("pid", .int32(1))]),
    ("pid", [("pid", .uint64(1))]), ("ttl-usec", [("ttl-usec", .uint32(1))]),
    ("exclusive", [("exclusive", .string("yes"))]), ("nonsense", [("nonsense", .boolean(true))]),
    ("timeout-usec", [("timeout-usec", .uint64(1))]), ("", [("", .boolean(true))]),
    ("title", [("title", .string("a")), ("title", .string("a"))]),
  ])
  func aWrongOptionOfHoldIsRefusedByItsName(key: String, entries: [(String, Variant)]) throws {
    var list: PropertyList = [:]
    list.entries = entries.map { (key: $0.0, value: $0.1) }
    let message = Message(call: "Do", of: "a.b", at: "/", on: "a.b", list)
    let read = try message.read(OptionList.self)
    let sentence = try #require(refusal { _ = try HoldOptions(reason: "", read) })
    #expect(sentence.contains("“\(key)”"))
  }

  @Test func aWrongOptionOfACountdownIsRefusedByItsName() throws {
    for (key, value) in [
      ("interval", Variant.int32(1)), ("interval", .uint64(1)), ("indicator", .uint32(1)),
      ("restart", .string("again")), ("clock", .string("realtime")), ("lease", .string("pid")),
      ("lease", .string("ttl")), ("paused", .string("")), ("notify", .double(1)),
    ] {
      let list = try options((key, value))
      let sentence = refusal { _ = try CountdownOptions(list) }
      #expect(sentence?.contains("“\(key)”") == true, "\(key) \(value)")
    }
  }

  @Test func aForeignTextInAComplaintIsCutAndHarmless() throws {
    let list = try options(("\u{1b}[2J" + String(repeating: "k", count: 10_000), .boolean(true)))
    let sentence = try #require(refusal { _ = try ShowOptions(list) })
    #expect(sentence.count < 200 && !sentence.contains("\u{1b}"))
  }
}
