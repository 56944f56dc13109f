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

  struct Call: Sendable {
    var what: String
    var error: ErrorName
    var make: @Sendable (inout Bench) throws -> Void

    init(
      _ what: String, _ error: ErrorName, _ make: @escaping @Sendable (inout Bench) throws -> Void
    ) {
      self.what = what
      self.error = error
      self.make = make
    }
  }

  static let long = String(repeating: "x", count: 600)

  static let refusedControls = [
    Call("a show of a new one", .limitsExceeded) { try $0.show("new") },
    Call("a hold of a new one", .limitsExceeded) { try $0.hold("new", sender: ":1.2") },
    Call("a countdown of a new one", .limitsExceeded) { try $0.count("new", .seconds(1)) },
    Call("a title of a new one", .limitsExceeded) { try $0.setTitle("new", "x") },
    Call("a detail of a new one", .limitsExceeded) { try $0.setDetail("new", "x") },
    Call("a flag of a new one", .limitsExceeded) { try $0.setEnabled("new", false) },
    Call("a progress of a new one", .limitsExceeded) { try $0.setProgress("new", 0.5) },
    Call("a long title", .invalidArguments) { try $0.setTitle("c", long) },
    Call("a long detail", .invalidArguments) { try $0.setDetail("c", long) },
    Call("a progress of 2", .invalidArguments) { try $0.setProgress("c", 2) },
    Call("a show for no time", .invalidArguments) {
      try $0.show {
        $0.attributes.title = "x"
        $0.holder.grace = .zero
        $0.timeout = .zero
      }
    },
    Call("a show with a long title", .invalidArguments) {
      try $0.show {
        $0.attributes.title = long
        $0.holder.grace = .zero
      }
    },
  ]

  static let refusedHolds = [
    Call("a hold too many", .limitsExceeded) {
      try $0.hold("d") { $0.attributes.title = "x" }
    },
    Call("an exclusive hold", .busy) { try $0.hold(sender: ":1.2") { $0.exclusive = true } },
    Call("a hold with a long reason", .invalidArguments) {
      try $0.hold("d", long, sender: ":1.2")
    },
    Call("a hold for no time", .invalidArguments) {
      try $0.hold("d", sender: ":1.2") {
        $0.lease = .ttl(.zero)
        $0.attributes.title = "x"
      }
    },
    Call("the renewing of a hold without ttl", .invalidArguments) { try $0.renew(7) },
    Call("the renewing of none", .noSuchHold) { try $0.renew(8) },
    Call("the release of none", .noSuchHold) { try $0.release(8) },
    Call("a release with a long result", .invalidArguments) { try $0.release(6, long) },
  ]

  static let refusedCountdowns = [
    Call("a countdown that is rejected", .countdownActive) {
      try $0.count("c", .seconds(1)) {
        $0.restart = .reject
        $0.attributes.title = "x"
      }
    },
    Call("an extension that is too long", .invalidArguments) { try $0.extend("c", 2) },
    Call("an extension by a start that is too long", .invalidArguments) {
      try $0.count("c", .seconds(2)) { $0.restart = .extend }
    },
    Call("a countdown that is too long", .invalidArguments) {
      try $0.count("d", Microseconds(rawValue: .max)) { $0.attributes.title = "x" }
    },
    Call("a countdown with a long icon", .invalidArguments) {
      try $0.count("c", .zero) { $0.attributes.icon = long }
    },
    Call("a pause of none", .noCountdown) { try $0.pause("d") },
    Call("a resumption of none", .noCountdown) { try $0.resume("d") },
    Call("an extension of none", .noCountdown) { try $0.extend("d", 1) },
    Call("a cancellation of none", .noCountdown) { try $0.cancel("new") },
  ]

  @Test(arguments: refusedControls + refusedHolds + refusedCountdowns)
  func whatIsRefusedChangesNothing(call: Call) throws {
    var bench = try Self.bench()
    let untouched = bench.machine
    let refusal = #expect(throws: Refusal.self, "\(call.what)") { try call.make(&bench) }
    #expect(refusal?.errorName == call.error.rawValue)
    // All of the state, written out; the two share their memory unless something was written.
    #expect("\(bench.machine)" == "\(untouched)", "\(call.what)")
    var other = untouched
    #expect(bench.machine.drain() == other.drain())
  }

  @Test func theBenchIsAsRichAsItClaims() throws {
    var bench = try Self.bench()
    #expect(bench.machine.count == 4 && bench.c.holders.count == 4)
    #expect(bench.machine.drain().changes.count == 3)
  }
}

// Written out as a struct would be, since the state is compared as text.
extension Holder: CustomStringConvertible {
  /// All of it.
  public var description: String {
    "\(sender) \(application) \(since) \(sinceRealtime) \(grace) \(minimum) \(order)"
  }
}
