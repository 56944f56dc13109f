// SPDX-License-Identifier: MIT

internal import CDBus

// Messages are popped, not dispatched: dbus_connection_dispatch would answer the Peer interface at
// once, ahead of answers that wait in an outbox, and would look each call up in an object tree of its
// own. Replies are matched by serial here, not by DBusPendingCall, so that one timer serves all of
// them and libdbus never asks for a timeout.

/// A private connection to a message bus.
///
/// It works without a loop for blocking calls; ``attach(to:onReady:)`` lets a loop drive it.
package final class Connection {
  /// Which bus to connect to.
  package enum Bus {
    /// The user's session bus: `DBUS_SESSION_BUS_ADDRESS`, else as libdbus finds it.
    case session
    /// A bus at a D-Bus address, such as `unix:path=/run/user/1000/bus`.
    case address(String)
  }

  let raw: OpaquePointer
  /// The name that the bus gave to this connection, such as `:1.42`.
  package let uniqueName: String

  /// Called with each method call that arrives.
  package var onCall: ((Message) -> Void)?
  /// Called with a name that this connection has lost, to a successor or given back.
  package var onNameLost: ((String) -> Void)?
  /// Called once when the bus has closed the connection.
  package var onDisconnected: (() -> Void)?

  private weak var loop: (any Loop)?
  private var onReady: (() -> Void)?
  private var watches: [OpaquePointer] = []
  private var observation: (any Observation)?

  private var pendingCalls: [UInt32: PendingCall] = [:]
  private var pendingTimer: (any WakeTimer)?
  private var nextTimeout = UInt64.max

  private var subscriptions: [Subscription] = []
  /// Who waits for which name to change hands; by name, since there may be thousands.
  var nameWatches: [String: [NameWatch]] = [:]

  /// Connects, authenticates and says Hello; blocks for that.
  package init(to bus: Bus) throws(DBusError) {
    // libdbus would ignore SIGPIPE for the whole process, which a command started by execvp inherits.
    dbus_connection_set_change_sigpipe(0)
    let connection: OpaquePointer
    switch bus {
    case .session:
      connection = try required(withRawError { dbus_bus_get_private(DBUS_BUS_SESSION, $0) })
    case .address(let address):
      connection = try required(withRawError { dbus_connection_open_private(address, $0) })
      do throws(DBusError) {
        _ = try withRawError { dbus_bus_register(connection, $0) }
      } catch {
        dbus_connection_close(connection)
        dbus_connection_unref(connection)
        throw error
      }
    }
    raw = connection
    dbus_connection_set_exit_on_disconnect(raw, 0)
    uniqueName = dbus_bus_get_unique_name(raw).map { String(cString: $0) } ?? ""
  }

  deinit {
    close()
    dbus_connection_unref(raw)
  }

  /// Ends the connection; pending calls fail, and what was not flushed is lost.
  package func close() {
    observation?.cancel()
    observation = nil
    _ = dbus_connection_set_watch_functions(raw, nil, nil, nil, nil, nil)
    watches = []
    if isConnected { dbus_connection_close(raw) }
    failPendingCalls(.standard(.disconnected, "The connection to the bus was closed."))
  }

  package var isConnected: Bool { dbus_connection_get_is_connected(raw) != 0 }

  /// How many bytes wait to be taken by the bus.
  package var unsentSize: Int { dbus_connection_get_outgoing_size(raw) }

  /// Blocks until the bus has taken all that waits, or the connection ends.
  package func flush() { dbus_connection_flush(raw) }

  // MARK: - Sending

  /// Sends a message, at once as far as the socket takes it, and gives its serial.
  @discardableResult
  package func send(_ message: Message) -> UInt32 {
    var serial: dbus_uint32_t = 0
    require(dbus_connection_send(raw, message.raw, &serial))
    return serial
  }

  /// Sends a call, and hands what comes of it to a closure later.
  ///
  /// Needs a loop.
  ///
  /// - Parameters:
  ///   - message: the call.
  ///   - timeout: in microseconds; then it is answered by the error NoReply.
  ///   - handler: is given the answer or the error.
  package func call(
    _ message: Message, timeout: UInt64 = 25_000_000,
    _ handler: @escaping (Result<Message, DBusError>) -> Void
  ) {
    guard let loop, isConnected else {
      handler(.failure(.standard(.disconnected, "There is no connection to the bus.")))
      return
    }
    // Another peer may send an answer that nobody asked it for. Where the one asked is known by the
    // name that stands in the answer, only its answer counts.
    let destination = message.destination
    let responder = destination.flatMap {
      $0.utf8.first == UInt8(ascii: ":") || $0 == BusName.bus.rawValue ? $0 : nil
    }
    let deadline = loop.monotonicNow + timeout
    let serial = send(message)
    pendingCalls[serial] = PendingCall(deadline: deadline, responder: responder, handler: handler)
    if deadline < nextTimeout {
      nextTimeout = deadline
      pendingTimer?.arm(at: deadline)
    }
  }

  /// Sends a call and waits for its answer.
  ///
  /// Other messages that come in between stay queued.
  ///
  /// - Parameters:
  ///   - message: the call.
  ///   - timeout: in milliseconds.
  /// - Returns: the answer.
  /// - Throws: the error that came for an answer, NoReply, or Disconnected.
  package func callAndWait(
    _ message: Message, timeout: Int32 = 25_000
  ) throws(DBusError) -> Message {
    let reply = try withRawError {
      dbus_connection_send_with_reply_and_block(raw, message.raw, timeout, $0)
    }
    return Message(adopting: required(reply))
  }

  private struct PendingCall {
    let deadline: UInt64
    let responder: String?
    let handler: (Result<Message, DBusError>) -> Void
  }

  private func answerPendingCall(with message: Message) {
    let serial = message.replySerial
    guard let call = pendingCalls[serial],
      call.responder == nil || call.responder == message.sender
    else { return }
    pendingCalls[serial] = nil
    if pendingCalls.isEmpty {
      nextTimeout = .max
      pendingTimer?.disarm()
    }
    if let error = message.error {
      call.handler(.failure(error))
    } else {
      call.handler(.success(message))
    }
  }

  private func expirePendingCalls() {
    guard let now = loop?.monotonicNow else { return }
    let expired = pendingCalls.filter { $0.value.deadline <= now }
    for serial in expired.keys { pendingCalls[serial] = nil }
    nextTimeout = pendingCalls.values.map(\.deadline).min() ?? .max
    if nextTimeout != .max { pendingTimer?.arm(at: nextTimeout) }
    for call in expired.sorted(by: { $0.key < $1.key }) {
      call.value.handler(.failure(.standard(.noReply, "No answer came in time.")))
    }
    onReady?()
  }

  private func failPendingCalls(_ error: DBusError) {
    let failed = pendingCalls.sorted { $0.key < $1.key }
    pendingCalls = [:]
    nextTimeout = .max
    pendingTimer?.disarm()
    for call in failed { call.value.handler(.failure(error)) }
  }

  // MARK: - Receiving

  /// Whether a message has been read and waits for ``processNext()``.
  package var hasMessages: Bool {
    dbus_connection_get_dispatch_status(raw) == DBUS_DISPATCH_DATA_REMAINS
  }

  /// Handles the next message that has been read, in the order read; false when there is none.
  package func processNext() -> Bool {
    guard let next = dbus_connection_pop_message(raw) else { return false }
    let message = Message(adopting: next)
    switch message.kind {
    case .methodCall: onCall?(message)
    case .methodReturn, .error: answerPendingCall(with: message)
    case .signal: receive(signal: message)
    case .unknown: break
    }
    return true
  }

  private func receive(signal message: Message) {
    if message.sender == BusName.bus.rawValue {
      if message.isSignal("NameOwnerChanged", of: .bus) { nameOwnerChanged(message) }
      if message.isSignal("NameLost", of: .bus), let name = try? message.read(String.self) {
        onNameLost?(name)
      }
    }
    if message.isSignal("Disconnected", of: "org.freedesktop.DBus.Local") {
      failPendingCalls(.standard(.disconnected, "The bus closed the connection."))
      onDisconnected?()
    }
    for subscription in subscriptions where subscription.rule.matches(message) {
      subscription.handler(message)
    }
  }

  /// Asks the bus for the signals that `rule` describes, without waiting, and hands them on.
  ///
  /// The rule's sender is compared when it is a unique name or the bus; a well-known one is the
  /// bus's to compare.
  @discardableResult
  package func subscribe(
    to rule: MatchRule, _ handler: @escaping (Message) -> Void
  ) -> Subscription {
    let subscription = Subscription(rule: rule, handler: handler)
    subscriptions.append(subscription)
    // With no place for an error it does not wait for the answer.
    dbus_bus_add_match(raw, rule.text, nil)
    return subscription
  }

  /// Ends a subscription.
  package func unsubscribe(_ subscription: Subscription) {
    subscriptions.removeAll { $0 === subscription }
    dbus_bus_remove_match(raw, subscription.rule.text, nil)
  }

  // MARK: - The loop

  /// Lets `loop` drive this connection: `onReady` is called whenever messages may have been read.
  package func attach(to loop: any Loop, onReady: @escaping () -> Void) {
    self.loop = loop
    self.onReady = onReady
    pendingTimer = loop.makeTimer { [weak self] in self?.expirePendingCalls() }
    let context = Unmanaged.passUnretained(self).toOpaque()
    require(
      dbus_connection_set_watch_functions(
        raw,
        { watch, context in
          Connection.from(context).watches.append(required(watch))
          Connection.from(context).updateInterest()
          return 1
        },
        { watch, context in
          Connection.from(context).watches.removeAll { $0 == watch }
          Connection.from(context).updateInterest()
        },
        { _, context in Connection.from(context).updateInterest() },
        context, nil))
  }

  /// While true, nothing more is read from the bus.
  package var readingPaused = false {
    didSet { if readingPaused != oldValue { updateInterest() } }
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> Connection {
    Unmanaged<Connection>.fromOpaque(required(context)).takeUnretainedValue()
  }

  // libdbus makes two watches on its one socket, one to read and one to write; a loop takes a
  // descriptor once.
  private func updateInterest() {
    guard let loop else { return }
    var interest: Readiness = []
    for watch in watches where dbus_watch_get_enabled(watch) != 0 {
      let flags = dbus_watch_get_flags(watch)
      if flags & DBUS_WATCH_READABLE.rawValue != 0, !readingPaused { interest.insert(.readable) }
      if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { interest.insert(.writable) }
    }
    if watches.isEmpty {
      observation?.cancel()
      observation = nil
    } else if let observation {
      observation.update(interest: interest)
    } else {
      observation = loop.observe(
        descriptor: dbus_watch_get_unix_fd(watches[0]), for: interest
      ) { [weak self] in self?.ready($0) }
    }
  }

  /// Reads what has come since the loop last told of any, without waiting.
  package func readMore() {
    guard !readingPaused else { return }
    for watch in watches
    where dbus_watch_get_enabled(watch) != 0
      && dbus_watch_get_flags(watch) & DBUS_WATCH_READABLE.rawValue != 0
    {
      require(dbus_watch_handle(watch, DBUS_WATCH_READABLE.rawValue))
    }
  }

  private func ready(_ readiness: Readiness) {
    for watch in watches where watches.contains(watch) && dbus_watch_get_enabled(watch) != 0 {
      let wanted = dbus_watch_get_flags(watch)
      var flags: UInt32 = 0
      if readiness.contains(.readable) { flags |= wanted & DBUS_WATCH_READABLE.rawValue }
      if readiness.contains(.writable) { flags |= wanted & DBUS_WATCH_WRITABLE.rawValue }
      if readiness.contains(.error) { flags |= DBUS_WATCH_ERROR.rawValue }
      if readiness.contains(.hangUp) { flags |= DBUS_WATCH_HANGUP.rawValue }
      if flags != 0 { require(dbus_watch_handle(watch, flags)) }
    }
    onReady?()
  }
}
