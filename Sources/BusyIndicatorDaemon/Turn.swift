// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
internal import DBus
internal import EventLoop

/// One turn of the loop after another: what is due, what was called, and one place where it leaves.
///
/// Nothing is sent while calls are handled, so that a caller has its answer before it hears of the
/// change, an answer never leaves before what it promises is safe, and what changed ten times in a
/// turn is announced once.
final class Turn {
  /// The one authoritative state.
  var machine: IndicatorStateMachine
  /// The time at which this turn happens; read once.
  private(set) var now: Now

  private let connection: Connection
  private let loop: EventLoop
  private let store: Store
  private var outbox = Outbox()
  /// What the last turn changed; kept for its memory.
  private var drain = Drain()
  private var boottimeTimer: Timer?
  private var monotonicTimer: Timer?
  private var deferred: Deferred?

  /// Who is shown the drain, in this order.
  private var readers: [(Drain) -> Void] = []

  /// How many calls one turn handles.
  private static let callsATurn = 256
  /// From how many calls in one read on another is tried within the turn.
  private static let several = 4
  /// What may wait in the outbox, and what may wait to be taken by the bus, in bytes.
  private static let mostWaiting = 16 << 20

  init(machine: IndicatorStateMachine, connection: Connection, loop: EventLoop, store: Store) {
    self.machine = machine
    self.connection = connection
    self.loop = loop
    self.store = store
    now = Now(of: loop)
    boottimeTimer = loop.makeTimer(clock: .boottime) { [unowned self] in perform {} }
    monotonicTimer = loop.makeTimer(clock: .monotonic) { [unowned self] in perform {} }
    deferred = loop.makeDeferred { [unowned self] in handleMessages() }
    store.onRetry = { [unowned self] in perform {} }
  }

  /// Adds somebody who is shown what each turn changed, after those added before.
  func addReader(_ reader: @escaping (Drain) -> Void) { readers.append(reader) }

  /// Keeps an answer until the end of the turn.
  func reply(_ answer: Message) { outbox.append(answer) }

  /// Does `work` as a turn of its own.
  func perform(_ work: () -> Void) {
    begin()
    work()
    end()
  }

  /// Handles what has been read from the bus, as one turn; what is more than that, in the next.
  ///
  /// libdbus reads some two kilobytes at a time. Where that held several calls there are likely more,
  /// and what is handled in one turn is announced once.
  func handleMessages() {
    perform {
      var handled = 0
      var inThisRead = 0
      while handled < Self.callsATurn, outbox.size < Self.mostWaiting, !isCongested {
        if connection.processNext() {
          handled += 1
          inThisRead += 1
        } else if inThisRead >= Self.several {
          inThisRead = 0
          connection.readMore()
        } else {
          break
        }
      }
    }
  }

  /// Lets a caller read only what has been announced.
  func settleBeforeReading() {
    // The time stays what it is: what falls due meanwhile would be read before it is announced, and a
    // later call of the turn might undo it, of which nobody would hear then.
    if machine.hasChanges { end() }
  }

  /// Handles all that has been read, before the end of the program.
  func handleAllMessages() {
    while connection.isConnected, connection.hasMessages {
      handleMessages()
      if isCongested { connection.flush() }
    }
  }

  /// Whether more waits for the bus than it should: it does not read as fast as this is called.
  private var isCongested: Bool { connection.unsentSize > Self.mostWaiting }

  private func begin() {
    now = Now(of: loop)
    machine.advance(to: now)
  }

  private func end() {
    // Behind a bus that does not read, changes wait in the machine, where they coalesce. No call is
    // being handled then, so no answer waits with them.
    if isCongested, outbox.isEmpty {
      machine.discardTicks()
    } else {
      machine.drain(into: &drain)
      store.commit(drain, of: machine)
      outbox.send(through: connection)
      for reader in readers { reader(drain) }
    }
    let congested = isCongested
    connection.readingPaused = congested
    if !congested, connection.hasMessages { deferred?.enable() } else { deferred?.disable() }
    let next = machine.nextDeadline
    boottimeTimer?.set(next.boottime)
    monotonicTimer?.set(next.monotonic)
  }
}

extension Now {
  init(of loop: EventLoop) {
    self.init(
      boottime: Microseconds(rawValue: loop.now(.boottime)),
      monotonic: Microseconds(rawValue: loop.now(.monotonic)),
      realtime: Microseconds(rawValue: loop.now(.realtime)))
  }
}

extension Timer {
  /// Arms it for an instant, or for none.
  fileprivate func set(_ instant: Microseconds?) {
    if let instant { arm(at: instant.rawValue) } else { disarm() }
  }
}

/// The answers of a turn, in call order.
private struct Outbox {
  private var answers: [Message] = []
  private(set) var size = 0

  var isEmpty: Bool { answers.isEmpty }

  mutating func append(_ answer: Message) {
    answers.append(answer)
    size += answer.size
  }

  mutating func send(through connection: Connection) {
    for answer in answers { connection.send(answer) }
    answers.removeAll(keepingCapacity: true)
    size = 0
  }
}
