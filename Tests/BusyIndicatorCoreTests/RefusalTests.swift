// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

/// What is refused changes nothing: neither the state nor what the next drain will say.
@Suite struct RefusalTests {
  /// A full machine with something of everything, and changes that wait to be drained.
  static func bench() throws -> Bench {
    var bench = Bench(lastCookie: 5, lastCountdown: 5) {
      $0.maxControls = 4
      $0.maxHoldsPerSender = 2
    }
    try bench.setTitle("c", "Save")
    try bench.show {
      $0.holder.grace = .seconds(1)
      $0.timeout = .seconds(60)
    }
    try bench.hold { $0.lease = .ttl(.seconds(60)) }
    try bench.hold()
    try bench.count("c", .longest - .seconds(1)) { $0.indicator = true }
    try bench.setTitle("d", "Load")
    try bench.setEnabled("e", false)
    _ = bench.machine.drain()
    try bench.setDetail("c", "1 of 9")
    try bench.count("f", .seconds(5))
    try bench.setDetail("d", "x")
    return bench
  }

  typealias Call = @Sendable (inout Bench) throws(Refusal) -> Void

  static let long = String(repeating: "x", count: 600)

  static let calls: [(String, ErrorName, Call)] = [
    ("a show of a new one", .limitsExceeded, { (b) throws(Refusal) in try b.show("new") }),
    ("a hold of a new one", .limitsExceeded, {
      (b) throws(Refusal) in try b.hold("new", sender: ":1.2")
    }),
    ("a countdown of a new one", .limitsExceeded, {
      (b) throws(Refusal) in try b.count("new", .seconds(1))
    }),
    ("a title of a new one", .limitsExceeded, { (b) throws(Refusal) in try b.setTitle("new", "x") }),
    ("a flag of a new one", .limitsExceeded, {
      (b) throws(Refusal) in try b.setEnabled("new", false)
    }),
    ("a show for no time", .invalidArguments, {
      (b) throws(Refusal) in
      try b.show {
        $0.attributes.title = "x"
        $0.holder.grace = .zero
        $0.timeout = .zero
      }
    }),
    ("a show with a long title", .invalidArguments, {
      (b) throws(Refusal) in
      try b.show {
        $0.attributes.title = long
        $0.holder.grace = .zero
      }
    }),
    ("a long title", .invalidArguments, { (b) throws(Refusal) in try b.setTitle("c", long) }),
    ("a long detail", .invalidArguments, { (b) throws(Refusal) in try b.setDetail("c", long) }),
    ("a progress of 2", .invalidArguments, { (b) throws(Refusal) in try b.setProgress("c", 2) }),
    ("a hold too many", .limitsExceeded, {
      (b) throws(Refusal) in try b.hold("d") { $0.attributes.title = "x" }
    }),
    ("an exclusive hold", .busy, {
      (b) throws(Refusal) in try b.hold(sender: ":1.2") { $0.exclusive = true }
    }),
    ("a hold with a long reason", .invalidArguments, {
      (b) throws(Refusal) in try b.hold("d", long, sender: ":1.2")
    }),
    ("a hold for no time", .invalidArguments, {
      (b) throws(Refusal) in
      try b.hold("d", sender: ":1.2") {
        $0.lease = .ttl(.zero)
        $0.attributes.title = "x"
      }
    }),
    ("the renewing of a hold without ttl", .invalidArguments, {
      (b) throws(Refusal) in try b.renew(7)
    }),
    ("the renewing of none", .noSuchHold, { (b) throws(Refusal) in try b.renew(8) }),
    ("the release of none", .noSuchHold, { (b) throws(Refusal) in try b.release(8) }),
    ("a release with a long result", .invalidArguments, {
      (b) throws(Refusal) in try b.release(6, long)
    }),
    ("a countdown that is rejected", .countdownActive, {
      (b) throws(Refusal) in
      try b.count("c", .seconds(1)) {
        $0.restart = .reject
        $0.attributes.title = "x"
      }
    }),
    ("an extension that is too long", .invalidArguments, {
      (b) throws(Refusal) in try b.extend("c", 2)
    }),
    ("an extension by a start that is too long", .invalidArguments, {
      (b) throws(Refusal) in try b.count("c", .seconds(2)) { $0.restart = .extend }
    }),
    ("a countdown that is too long", .invalidArguments, {
      (b) throws(Refusal) in
      try b.count("d", Microseconds(rawValue: .max)) { $0.attributes.title = "x" }
    }),
    ("a countdown with a long icon", .invalidArguments, {
      (b) throws(Refusal) in try b.count("c", .zero) { $0.attributes.icon = long }
    }),
    ("a pause of none", .noCountdown, { (b) throws(Refusal) in try b.pause("d") }),
    ("a resumption of none", .noCountdown, { (b) throws(Refusal) in try b.resume("d") }),
    ("an extension of none", .noCountdown, { (b) throws(Refusal) in try b.extend("d", 1) }),
    ("a cancellation of none", .noCountdown, { (b) throws(Refusal) in try b.cancel("new") }),
  ]

  @Test(arguments: calls)
  func whatIsRefusedChangesNothing(what: String, error: ErrorName, call: Call) throws {
    var bench = try Self.bench()
    let untouched = bench.machine
    let refusal = #expect(throws: Refusal.self, "\(what)") { try call(&bench) }
    #expect(refusal?.errorName == error.rawValue)
    // All of the state, written out; the two share their memory unless something was written.
    #expect("\(bench.machine)" == "\(untouched)", "\(what)")
    var other = untouched
    #expect(bench.machine.drain() == other.drain())
  }

  @Test func theBenchIsAsRichAsItClaims() throws {
    var bench = try Self.bench()
    #expect(bench.machine.count == 4 && bench.c.holders.count == 4)
    #expect(bench.machine.drain().changes.count == 3)
  }
}
