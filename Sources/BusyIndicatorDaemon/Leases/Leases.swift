// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
internal import DBus
internal import EventLoop

/// Watches those on whom holds and countdowns depend: peers of the bus, and processes.
///
/// Which peers, the state machine says in its drain; when one is gone, it is told.
final class Leases {
  private unowned let turn: Turn
  private let connection: Connection
  private let loop: EventLoop
  private var senders: [String: NameWatch] = [:]
  private var processes: [UInt32: ObservedProcess] = [:]

  init(turn: Turn, connection: Connection, loop: EventLoop) {
    self.turn = turn
    self.connection = connection
    self.loop = loop
    turn.addReader { [unowned self] in follow($0) }
  }

  /// Ends what depended on somebody who left while nobody watched, and watches those who are there.
  func recheck() {
    // Without an answer those who left are missed as soon as they are watched.
    if let names = try? connection.names() {
      let present = Set(names)
      for sender in turn.machine.sendersDependedOn where !present.contains(sender) {
        turn.machine.senderLeft(sender, now: turn.now)
      }
    }
    for cookie in turn.machine.allHolds.sorted() {
      guard case .process(let pid, let startTime) = turn.machine.savedHold(cookie)?.hold.lease
      else { continue }
      // Another process may have got its number since.
      if let process = try? ObservedProcess(pid: pid), process.startTime == startTime,
        (try? watch(process, for: { cookie })) != nil
      {
        processes[cookie] = process
      } else {
        turn.machine.processEnded(cookie: cookie, now: turn.now)
      }
    }
  }

  private func follow(_ drain: Drain) {
    for sender in drain.sendersToUnwatch {
      if let watch = senders.removeValue(forKey: sender) { connection.unwatch(watch) }
    }
    for sender in drain.sendersToWatch { watch(sender) }
    for cookie in drain.endedHolds { processes.removeValue(forKey: cookie)?.cancel() }
  }

  // A peer may have left before it is watched, even before its call was read.
  private func watch(_ sender: String) {
    guard let name = BusName(validating: sender) else { return }
    senders[sender] = connection.watch(name: name) { error in
      Log.warning(
        "the bus does not tell when \(sender) leaves: \(Log.quoted(error.message))")
    } onChange: { [unowned self] owner in
      guard owner == nil else { return }
      turn.machine.senderLeft(sender, now: turn.now)
    }
  }

  /// Opens a process that a hold shall depend on, and makes the hold that `makeHold` says.
  ///
  /// The process is opened and watched before the hold exists: only an open one is surely not another
  /// that has got its number since, and a hold that cannot be watched must not be made.
  ///
  /// - Throws: InvalidArgs when the process is gone or another user's; LimitsExceeded when no more can
  ///   be watched; what `makeHold` throws.
  func hold(
    process pid: UInt32, _ makeHold: (_ startTime: UInt64) throws(DBusError) -> UInt32
  ) throws(DBusError) -> UInt32 {
    let process = try ObservedProcess(pid: pid)
    var cookie: UInt32 = 0
    try watch(process) { cookie }
    cookie = try makeHold(process.startTime)
    processes[cookie] = process
    return cookie
  }

  private func watch(
    _ process: ObservedProcess, for cookie: @escaping () -> UInt32
  ) throws(DBusError) {
    try process.observe(on: loop) { [unowned self] in
      turn.perform { turn.machine.processEnded(cookie: cookie(), now: turn.now) }
    }
  }
}
