// SPDX-License-Identifier: MIT

/// A connection to the session bus, and through it to the daemon.
///
/// Without a loop it does what ``perform(_:timeout:)`` asks, waiting for each answer. With one, a
/// ``PollLoop`` or an application's own that fulfils ``Loop``, it also sends without waiting and
/// follows what changes.
///
/// ```swift
/// let indicators = try IndicatorConnection()
/// let cookie = try indicators.perform(.hold("export", reason: "writing photos"))
/// defer { try? indicators.perform(.release(cookie)) }
/// ```
public final class IndicatorConnection {
  /// The binding's connection.
  package let bus: Connection
  package let loop: (any Loop)?
  private var rest: (any WakeTimer)?

  /// Called with the cookie and the reason of a hold of this connection that ended otherwise than by
  /// its own release: `released-by-other`, `expired`, `owner-lost`, `forgotten`.
  ///
  /// Needs a loop.
  public var onHoldEnded: ((_ cookie: UInt32, _ reason: String) -> Void)? {
    didSet {
      guard onHoldEnded != nil, holdEndings == nil else { return }
      let rule = MatchRule(
        sender: Service.name, path: Service.manager, interface: Service.managerInterface,
        member: "HoldEnded")
      holdEndings = bus.subscribe(to: rule) { [weak self] in self?.holdEnded($0) }
    }
  }

  /// Called once when the bus has closed the connection.
  ///
  /// Needs a loop.
  public var onDisconnected: (() -> Void)?

  /// Connects to the session bus; blocks for that.
  ///
  /// Does not start the daemon.
  ///
  /// - Parameters:
  ///   - address: a D-Bus address; nil for the session bus of `DBUS_SESSION_BUS_ADDRESS`.
  ///   - loop: what drives this connection; it has to outlive it.
  /// - Throws: `noBus`.
  public init(address: String? = nil, loop: (any Loop)? = nil) throws(IndicatorError) {
    do throws(DBusError) {
      bus = try Connection(to: address.map { .address($0) } ?? .session)
    } catch {
      throw IndicatorError(.noBus, "The session bus cannot be reached: \(error.message)")
    }
    self.loop = loop
    guard let loop else { return }
    rest = loop.makeTimer { [weak self] in self?.handleMessages() }
    bus.attach(to: loop) { [weak self] in self?.handleMessages() }
    bus.onDisconnected = { [weak self] in self?.onDisconnected?() }
  }

  private var holdEndings: Subscription?

  private func handleMessages() {
    while bus.processNext() {}
  }

  private func holdEnded(_ message: Message) {
    guard let (cookie, reason) = try? message.read(UInt32.self, String.self) else { return }
    onHoldEnded?(cookie, reason)
  }

  /// The unique name that the bus gave to this connection, such as `:1.42`.
  public var uniqueName: String { bus.uniqueName }

  /// Asks for something and waits for the answer.
  ///
  /// - Parameters:
  ///   - request: what to ask for.
  ///   - timeout: how long to wait; 25 s at first, since the daemon may have to be started.
  /// - Returns: what the request brings.
  /// - Throws: what the daemon answered; `noBus`, `noDaemon`, `noAnswer`.
  public func perform<Reply>(
    _ request: IndicatorRequest<Reply>, timeout: Microseconds = Microseconds(seconds: 25)
  ) throws(IndicatorError) -> Reply {
    // Signals that are read while waiting are queued, and nothing wakes the loop for them.
    defer { if bus.hasMessages, let loop { rest?.arm(at: loop.monotonicNow) } }
    do throws(DBusError) {
      let milliseconds = Int32(clamping: timeout.rawValue / 1000)
      return try request.decode(try bus.callAndWait(request.message(), timeout: milliseconds))
    } catch {
      throw request.isReading ? IndicatorError(ofReading: error) : IndicatorError(error)
    }
  }

  /// Asks for something, and hands what comes of it to a closure later.
  ///
  /// Needs a loop.
  ///
  /// Requests are answered in the order in which they were submitted.
  ///
  /// - Parameters:
  ///   - request: what to ask for.
  ///   - completion: is given the answer or the error.
  public func submit<Reply>(
    _ request: IndicatorRequest<Reply>,
    then completion: @escaping (Result<Reply, IndicatorError>) -> Void
  ) {
    submitWithSender(request) { result in completion(result.map(\.reply)) }
  }

  /// Does the same, and tells the unique name of whoever answered.
  func submitWithSender<Reply>(
    _ request: IndicatorRequest<Reply>,
    then completion: @escaping (Result<(reply: Reply, sender: String), IndicatorError>) -> Void
  ) {
    precondition(loop != nil, "submit needs a loop")
    bus.call(request.message()) { result in
      do throws(DBusError) {
        let message = try result.get()
        completion(.success((try request.decode(message), message.sender)))
      } catch {
        completion(
          .failure(request.isReading ? IndicatorError(ofReading: error) : IndicatorError(error)))
      }
    }
  }
}
