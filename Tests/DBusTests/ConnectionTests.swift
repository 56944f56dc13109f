// SPDX-License-Identifier: MIT

import CDBus
import EventLoop
import Glibc
import Testing

@testable import DBus

/// One bus, one loop, and connections that it drives.
private final class Peers {
  let bus: PrivateBus
  let loop: EventLoop

  init() throws {
    bus = try PrivateBus()
    loop = try EventLoop()
  }

  func connect() throws -> Connection {
    let connection = try Connection(to: .address(bus.address))
    connection.attach(to: loop) { while connection.processNext() {} }
    return connection
  }

  /// Runs the loop until `body` calls `done`; fails after ten seconds.
  func run(until body: (_ done: @escaping () -> Void) -> Void) throws {
    let deadline = loop.makeTimer(clock: .monotonic) { [unowned loop] in loop.exit(code: 1) }
    deadline.arm(at: loop.monotonicNow + 10_000_000)
    body { [unowned loop] in loop.exit(code: 0) }
    #expect(try loop.run() == 0, "what was waited for did not happen in ten seconds")
    deadline.disarm()
  }

  /// Lets the bus and both ends do all that was sent before.
  func settle(_ connection: Connection) throws {
    _ = try connection.busID()
    while connection.processNext() {}
  }
}

private func owned(_ connection: Connection) -> BusName {
  BusName(unchecked: connection.uniqueName)
}

@Suite struct ConnectionTests {
  private let peers: Peers

  init() throws { peers = try Peers() }

  @Test func aCallComesBackWithItsAnswer() throws {
    let server = try peers.connect()
    let client = try peers.connect()
    server.onCall = { call in
      let reply = Message(replyTo: call, "hello " + call.sender)
      server.send(reply)
    }
    var answer = ""
    try peers.run { done in
      client.call(Message(call: "Greet", of: "a.b", at: "/", on: owned(server))) { result in
        answer = (try? result.get().read(String.self)) ?? "\(result)"
        done()
      }
    }
    #expect(answer == "hello " + client.uniqueName)
  }

  @Test func anErrorComesBackAsOne() throws {
    let server = try peers.connect()
    let client = try peers.connect()
    server.onCall = {
      server.send(Message(error: DBus.DBusError(name: "a.b.Bad", message: "No."), replyTo: $0))
    }
    var error: DBus.DBusError?
    try peers.run { done in
      client.call(Message(call: "Greet", of: "a.b", at: "/", on: owned(server))) { result in
        if case .failure(let failure) = result { error = failure }
        done()
      }
    }
    #expect(error == DBus.DBusError(name: "a.b.Bad", message: "No."))
  }

  @Test func aCallThatNobodyAnswersFailsInTime() throws {
    let server = try peers.connect()
    let client = try peers.connect()
    server.onCall = { _ in }
    let start = peers.loop.monotonicNow
    var error: DBus.DBusError?
    try peers.run { done in
      client.call(
        Message(call: "Greet", of: "a.b", at: "/", on: owned(server)), timeout: 50_000
      ) { result in
        if case .failure(let failure) = result { error = failure }
        done()
      }
    }
    #expect(error?.isStandard(.noReply) == true)
    #expect(peers.loop.monotonicNow - start >= 50_000)
  }

  @Test func anAnswerFromAnotherThanTheOneAskedDoesNotCount() throws {
    let server = try peers.connect()
    let forger = try peers.connect()
    let client = try peers.connect()
    server.onCall = { call in
      let forged = Message(replyTo: call, "forged")
      forger.send(forged)
      _ = try? forger.busID()
      let reply = Message(replyTo: call, "real")
      server.send(reply)
    }
    var answer = ""
    try peers.run { done in
      client.call(Message(call: "Greet", of: "a.b", at: "/", on: owned(server))) { result in
        answer = (try? result.get().read(String.self)) ?? ""
        done()
      }
    }
    #expect(answer == "real")
  }

  @Test func aSignalReachesThoseWhoAskedForIt() throws {
    let sender = try peers.connect()
    let receiver = try peers.connect()
    var heard: [String] = []
    try peers.run { done in
      receiver.subscribe(to: MatchRule(interface: "a.b", member: "Said", argument0: "it's")) {
        heard.append((try? $0.read(String.self)) ?? "")
        done()
      }
      _ = try? receiver.busID()
      for word in ["other", "it's"] {
        let signal = Message(signal: "Said", of: "a.b", from: "/x", word)
        sender.send(signal)
      }
    }
    #expect(heard == ["it's"])
  }

  @Test func aUnicastSignalReachesItsReceiverAlone() throws {
    let sender = try peers.connect()
    let receiver = try peers.connect()
    let other = try peers.connect()
    var heard: [String] = []
    for connection in [receiver, other] {
      connection.subscribe(to: MatchRule(interface: "a.b")) { _ in
        heard.append(connection.uniqueName)
      }
      try peers.settle(connection)
    }
    sender.send(Message(signal: "Said", of: "a.b", from: "/x", to: owned(receiver)))
    try peers.settle(sender)
    try peers.settle(other)
    try peers.settle(receiver)
    #expect(heard == [receiver.uniqueName])
  }

  @Test func aWatchedNameIsMissedWhenItLeaves() throws {
    let watcher = try peers.connect()
    let leaver = try peers.connect()
    try peers.run { done in
      _ = watcher.watch(name: owned(leaver)) { if $0 == nil { done() } }
      _ = try? watcher.busID()
      leaver.close()
    }
  }

  @Test func aNameThatLeftBeforeItWasWatchedIsMissedToo() throws {
    let watcher = try peers.connect()
    let leaver = try peers.connect()
    let name = owned(leaver)
    leaver.close()
    var losses = 0
    try peers.run { done in
      _ = watcher.watch(name: name) { owner in
        if owner == nil { losses += 1 }
        done()
      }
    }
    #expect(losses == 1)
  }

  @Test func onlyTheBusIsBelievedWhenItSaysWhoLeft() throws {
    let watcher = try peers.connect()
    let peer = try peers.connect()
    let forger = try peers.connect()
    var changes = 0
    _ = watcher.watch(name: owned(peer)) { _ in changes += 1 }
    let forged = Message(
      signal: "NameOwnerChanged", of: .bus, from: "/org/freedesktop/DBus", to: owned(watcher),
      peer.uniqueName, peer.uniqueName, "")
    forger.send(forged)
    try peers.settle(forger)
    try peers.settle(watcher)
    #expect(changes == 0)
  }

  @Test func aNameWithManyWatchesHasOneRuleUntilTheLastEnds() throws {
    let watcher = try peers.connect()
    let peer = try peers.connect()
    var heard = [0, 0]
    let first = watcher.watch(name: owned(peer)) { _ in heard[0] += 1 }
    let second = watcher.watch(name: owned(peer)) { _ in heard[1] += 1 }
    watcher.unwatch(first)
    watcher.unwatch(first)
    try peers.settle(watcher)
    peer.close()
    try peers.run { done in
      _ = watcher.watch(name: owned(peer)) { if $0 == nil { done() } }
    }
    #expect(heard == [0, 1])
    watcher.unwatch(second)
    #expect(watcher.nameWatches.values.joined().count == 1)
  }

  @Test func aNameIsOwnedByOneAndMayBeTakenOver() throws {
    let first = try peers.connect()
    let second = try peers.connect()
    let name: BusName = "org.example.Name"
    #expect(try first.requestName(name) == .owned)
    #expect(try second.requestName(name) == .taken)
    #expect(try second.processID(of: name) == UInt32(getpid()))
    #expect(try second.owner(of: name) == first.uniqueName)
    var lost = ""
    first.onNameLost = { lost = $0 }
    #expect(try second.requestName(name, replacing: true) == .owned)
    try peers.settle(first)
    #expect(lost == name.rawValue)
    try second.releaseName(name)
    #expect(try first.owner(of: name) == nil)
  }

  @Test func theEndOfTheBusEndsWhatWaitsForIt() throws {
    let server = try peers.connect()
    let client = try peers.connect()
    var events: [String] = []
    try peers.run { done in
      client.onDisconnected = {
        events.append("disconnected")
        done()
      }
      client.call(Message(call: "Greet", of: "a.b", at: "/", on: owned(server))) { result in
        if case .failure(let error) = result, error.isStandard(.disconnected) {
          events.append("failed")
        }
      }
      peers.bus.stop()
    }
    #expect(events == ["failed", "disconnected"])
  }

  @Test func whileReadingIsPausedNothingIsRead() throws {
    let receiver = try peers.connect()
    let sender = try peers.connect()
    var heard = 0
    receiver.onCall = { _ in heard += 1 }
    receiver.readingPaused = true
    let call = Message(call: "Do", of: "a.b", at: "/", on: owned(receiver))
    call.expectsReply = false
    sender.send(call)
    _ = try sender.busID()
    let tick = peers.loop.makeTimer(clock: .monotonic) { [unowned loop = peers.loop] in
      #expect(heard == 0)
      receiver.readingPaused = false
      _ = loop
    }
    try peers.run { done in
      tick.arm(at: peers.loop.monotonicNow + 50_000)
      receiver.onCall = { _ in
        heard += 1
        done()
      }
    }
    #expect(heard == 1)
  }

  @Test func aBusThatIsNotThereIsAnError() {
    #expect(throws: DBus.DBusError.self) {
      try Connection(to: .address("unix:path=/nonexistent/bus"))
    }
  }
}
