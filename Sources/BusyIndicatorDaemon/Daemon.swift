// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
internal import CLinux
internal import DBus
internal import EventLoop
internal import Glibc

/// The daemon from its start to its end.
package final class Daemon {
  private let loop: EventLoop
  private let connection: Connection
  private let store: Store
  private let turn: Turn
  private let leases: Leases
  private let front: Front
  private let plugins: Plugins
  private let manager = ServiceManager()

  private static let name = BusName(unchecked: BusyIndicatorBus.serviceName)

  /// How long a predecessor may take to let go of the kept state, in milliseconds.
  private static let handOverTime: Int32 = 5000

  /// Why the daemon could not start; one sentence.
  package struct StartFailure: Error {
    package let message: String
  }

  /// Takes the name, so that calls wait for this process, and gets ready to answer them.
  ///
  /// - Throws: ``StartFailure`` without a bus, or when the name is taken.
  package init(_ settings: Settings) throws(StartFailure) {
    occupy_standard_streams()
    raiseDescriptorLimit()
    // What it keeps is this user's alone.
    umask(0o077)
    // A log line to somebody who has left must not end the daemon.
    signal(SIGPIPE, SIG_IGN)
    do throws(LoopError) {
      loop = try EventLoop()
    } catch {
      throw StartFailure(message: "no event loop: \(error)")
    }
    let busID: String
    do throws(DBusError) {
      connection = try Connection(to: .session)
      blockEndingSignals()
      try Self.takeName(connection, replacing: settings.replaces)
      busID = try connection.busID()
    } catch {
      throw StartFailure(message: error.message)
    }
    let manager = manager
    store = Store(busID: busID, loop: loop) { reason in
      if let reason { Log.warning("the state is not kept: \(reason)") }
      manager.status(Self.status(reason))
    }
    let machine = try Self.machine(settings, from: store, at: Now(of: loop))
    turn = Turn(machine: machine, connection: connection, loop: loop, store: store)
    leases = Leases(turn: turn, connection: connection, loop: loop)
    front = Front(
      turn: turn, connection: connection, leases: leases, logsCalls: settings.logsCalls)
    plugins = Plugins(
      settings.plugins, turn: turn, loop: loop, connection: connection, objects: front.server)
    front.plugins = plugins
  }

  private static func takeName(
    _ connection: Connection, replacing: Bool
  ) throws(DBusError) {
    guard try connection.requestName(name, replacing: replacing) == .taken else { return }
    let owner = (try? connection.processID(of: name)).map { "process \($0)" } ?? "another process"
    throw DBusError(
      name: "", message: "The name \(name) is taken by \(owner); it serves this bus already.")
  }

  private static func machine(
    _ settings: Settings, from store: Store, at now: Now
  ) throws(StartFailure) -> IndicatorStateMachine {
    let kept: SavedState?
    do throws(Store.Taken) {
      kept = try store.load(patience: settings.replaces ? handOverTime : nil)
    } catch {
      let owner = error.owner.map { "process \($0)" } ?? "another process"
      throw StartFailure(message: "The kept state is not let go of by \(owner).")
    }
    guard let kept else { return IndicatorStateMachine(configuration: settings.configuration) }
    let restored = IndicatorStateMachine(
      configuration: settings.configuration, restoring: kept, now: now)
    if restored == nil { store.discard("it contradicts itself") }
    return restored ?? IndicatorStateMachine(configuration: settings.configuration)
  }

  private static func status(_ reason: String?) -> String {
    "Serving \(name)" + (reason.map { "; the state is not kept: \($0)" } ?? "")
  }

  /// Serves until a signal, a successor or the end of the bus.
  ///
  /// - Returns: the exit status: 0 in order, 1 when the bus is gone.
  /// - Throws: ``StartFailure`` when the loop fails.
  package func run() throws(StartFailure) -> Int32 {
    do throws(LoopError) {
      return try serve()
    } catch {
      throw StartFailure(message: "\(error)")
    }
  }

  private func serve() throws(LoopError) -> Int32 {
    for signal in [SIGTERM, SIGINT] {
      try loop.onSignal(signal) { [unowned self] in finish(releasingName: true) }
    }
    // Not within the turn that hears of it, since what was called before has to be answered.
    let succession = loop.makeDeferred { [unowned self] in finish(releasingName: false) }
    connection.onNameLost = { name in
      if name == Self.name.rawValue { succession.enable() }
    }
    connection.onDisconnected = { [unowned self] in
      Log.error("the bus is gone")
      loop.exit(code: 1)
    }
    connection.attach(to: loop) { [unowned turn] in turn.handleMessages() }
    plugins.start()
    // What ended while nobody was here is told before anybody is answered.
    turn.perform { leases.recheck() }
    loop.enableWatchdog()
    manager.ready()
    if store.isKept { manager.status(Self.status(nil)) }
    Log.info("version \(version) serves \(connection.uniqueName)")
    // What came while the name was asked for is read already, and no descriptor tells of it.
    turn.handleMessages()
    return try loop.run()
  }

  // Once the name is given back nobody new calls. What was called before has been read by then,
  // since the bus sends in order, and is answered.
  private func finish(releasingName: Bool) {
    manager.stopping()
    if releasingName { try? connection.releaseName(Self.name) }
    turn.handleAllMessages()
    plugins.stop()
    connection.flush()
    store.close()
    Log.info("ends")
    loop.exit(code: 0)
  }
}

/// Lets the signals that end the daemon wait until the loop takes them.
///
/// From the moment that it has the name it ends in order, or not at all.
private func blockEndingSignals() {
  var set = sigset_t()
  sigemptyset(&set)
  sigaddset(&set, SIGTERM)
  sigaddset(&set, SIGINT)
  pthread_sigmask(SIG_BLOCK, &set, nil)
}

/// Each hold on a process takes a descriptor.
private func raiseDescriptorLimit() {
  var limit = rlimit()
  guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
  limit.rlim_cur = limit.rlim_max
  _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
