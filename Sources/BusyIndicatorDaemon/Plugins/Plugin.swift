// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
internal import DBus
internal import EventLoop

/// A face: mirrors the state into an interface that other programs show.
///
/// One file, and one line in ``Plugins/all``. What a plugin must keep to is told in docs/plugins.md.
protocol Plugin: AnyObject {
  /// What `--plugin` and the property `Plugins` call it.
  static var name: String { get }

  /// Made before the connection is driven by the loop: exports objects, sends nothing.
  init(_ context: PluginContext)

  /// Begins to look for its server.
  func start()

  /// Is shown what a turn changed, at the end of every turn, also of one that changed nothing.
  ///
  /// All that has been announced on the daemon's own interface has left by then. What it reads is the
  /// machine; it may send, but not change anything.
  func show(_ drain: Drain)

  /// Takes back what it shows, before an orderly end.
  func stop()
}

extension Plugin {
  func stop() {}
}

/// How a plugin fares: the second and third column of the property `Plugins`.
struct PluginStatus: Equatable {
  enum State: String {
    case on
    case waiting
    case failed
  }

  var state: State
  var detail: String
}

/// What a plugin works with.
final class PluginContext {
  let name: String
  let turn: Turn
  let loop: EventLoop
  let connection: Connection
  let objects: ObjectServer
  /// Whether nothing may move.
  let isStill: Bool
  private let onStatusChange: () -> Void
  private var loggedFailures: Set<String> = []

  init(
    name: String, turn: Turn, loop: EventLoop, connection: Connection, objects: ObjectServer,
    isStill: Bool, onStatusChange: @escaping () -> Void
  ) {
    self.name = name
    self.turn = turn
    self.loop = loop
    self.connection = connection
    self.objects = objects
    self.isStill = isStill
    self.onStatusChange = onStatusChange
  }

  /// How the plugin fares.
  var status = PluginStatus(state: .waiting, detail: "") {
    didSet { if status != oldValue { onStatusChange() } }
  }

  /// Sets the status by whether the server is there: on, or waiting for it.
  func setStatus(_ server: BusName, isPresent: Bool) {
    status = PluginStatus(
      state: isPresent ? .on : .waiting,
      detail: isPresent ? Texts.present(server.rawValue) : Texts.absent(server.rawValue))
  }

  /// The time on the three clocks, read afresh: a plugin's own timers run outside of turns.
  var now: Now { Now(of: loop) }

  /// How many kinds of failure are told apart in the log.
  private static let mostLogged = 8

  /// Notes that a server failed; the log tells of each kind of failure once.
  func fail(_ what: String, _ error: DBusError) {
    // That the bus is gone is told elsewhere, and is no fault of the server's.
    if error.isStandard(.disconnected) { return }
    let sentence = Texts.failed(what, Log.quoted(error.message))
    status = PluginStatus(state: .failed, detail: sentence)
    guard loggedFailures.count < Self.mostLogged, loggedFailures.insert(error.name).inserted else {
      return
    }
    Log.warning("plugin \(name): \(sentence)")
  }

  /// Whether so much waits for the bus that what can be left out should be.
  var isCongested: Bool { connection.unsentSize > 1 << 20 }

  /// How long a server may take to answer, in microseconds.
  static let patience: UInt64 = 10_000_000

  /// Calls a server that is there; never starts one.
  func call(_ message: Message, _ handler: @escaping (Result<Message, DBusError>) -> Void) {
    message.autoStarts = false
    connection.call(message, timeout: Self.patience, handler)
  }
}
