// SPDX-License-Identifier: MIT

// The matches are asked for before the first read, and the bus keeps the order of what it hands on.
// So whatever comes before the read's answer is contained in it, and what comes after changes it.

/// Follows controls: keeps their state as it is on the bus and tells what changes.
///
/// It never starts the daemon. While that is not running there are no controls; when it comes (back)
/// everything is read anew. It works for as long as it is kept, on the connection's loop.
public final class IndicatorObserver {
  /// What has happened.
  public enum Event: Equatable, Sendable {
    /// All was read, or the daemon has gone: anything may differ from what was before.
    case reset
    /// A control is new or has changed.
    case changed(control: String)
    /// A control is gone.
    case removed(control: String)
    /// A countdown has ended: `finished`, or a reason of ``CancelReason`` or of a later daemon.
    case countdownEnded(control: String, id: UInt32, result: String)
  }

  /// Whether the daemon runs, and its state has been read.
  public private(set) var isDaemonRunning = false

  private let connection: IndicatorConnection
  private let onEvent: (Event) -> Void
  /// The paths that are followed; nil for all.
  private let wanted: Set<String>?
  /// The one control that is followed; nil when there may be several.
  private let single: String?
  private var states: [String: ControlState] = [:]
  /// How often a control is being read anew, by path; it is not told of until that is done.
  private var pendingReads: [String: Int] = [:]
  private var owner = ""
  /// Counts the daemon's comings and goings, so that an answer of an earlier one is recognised.
  private var generation = 0
  private var subscriptions: [Subscription] = []
  private var nameWatch: NameWatch?

  /// Begins to follow controls.
  ///
  /// - Parameters:
  ///   - connection: a connection with a loop.
  ///   - controls: the names of those to follow; nil for all.
  ///   - onEvent: told what happens; first ``Event/reset``, once it is known whether the daemon runs.
  public init(
    _ connection: IndicatorConnection, controls: [String]? = nil,
    onEvent: @escaping (Event) -> Void
  ) {
    self.connection = connection
    self.onEvent = onEvent
    wanted = controls.map { names in
      Set(names.map { ObjectPath(encoding: $0, below: Service.controls).rawValue })
    }
    single = controls?.count == 1 ? controls?.first : nil
    subscribe(to: single)
    nameWatch = connection.bus.watch(name: Service.name) { [weak self] owner in
      self?.ownerChanged(to: owner)
    }
    readAll()
  }

  deinit {
    for subscription in subscriptions { connection.bus.unsubscribe(subscription) }
    if let nameWatch { connection.bus.unwatch(nameWatch) }
  }

  /// The controls that are followed and there, in the order of their names' bytes.
  public var controls: [ControlState] {
    states.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// The control of that name; nil when there is none.
  public subscript(control: String) -> ControlState? {
    states[ObjectPath(encoding: control, below: Service.controls).rawValue]
  }

  /// The active controls, those first that have been active for longest.
  public var activeControls: [ControlState] {
    states.filter(\.value.isActive)
      .sorted { ($0.value.activeSince, $0.key) < ($1.value.activeSince, $1.key) }
      .map(\.value)
  }

  // MARK: - What the bus says

  private func subscribe(to control: String?) {
    let path = control.map { ObjectPath(encoding: $0, below: Service.controls) }
    add(
      MatchRule(
        sender: Service.name, path: path, pathNamespace: path == nil ? Service.controls : nil,
        interface: .properties, member: "PropertiesChanged", argument0: nil)
    ) { $0.propertiesChanged($1) }
    add(
      MatchRule(sender: Service.name, path: Service.manager, interface: .objectManager)
    ) { $0.objectsChanged($1) }
    for member: MemberName in ["Finished", "Cancelled"] {
      add(
        MatchRule(
          sender: Service.name, path: Service.manager, interface: Service.managerInterface,
          member: member, argument0: control)
      ) { $0.countdownEnded($1) }
    }
  }

  private func add(_ rule: MatchRule, _ handler: @escaping (IndicatorObserver, Message) -> Void) {
    subscriptions.append(
      connection.bus.subscribe(to: rule) { [weak self] message in
        // The bus compares the sender's well-known name for broadcasts, but not for what somebody
        // sends to this connection alone.
        guard let self, self.owner.isEmpty || message.sender == self.owner else { return }
        handler(self, message)
      })
  }

  private func ownerChanged(to newOwner: String?) {
    if let newOwner {
      if newOwner != owner { readAll() }
    } else {
      forgetAll()
      onEvent(.reset)
    }
  }

  private func forgetAll() {
    generation += 1
    owner = ""
    isDaemonRunning = false
    states = [:]
    pendingReads = [:]
  }

  private func readAll() {
    generation += 1
    let asked = generation
    let request = single.map(IndicatorRequest.object(of:)) ?? .objects
    connection.submitWithSender(request) { [weak self] result in
      guard let self, asked == self.generation else { return }
      switch result {
      case .success(let answer): self.replaceAll(with: answer.reply, of: answer.sender)
      case .failure(let error) where error.kind == .noSuchControl:
        self.replaceAll(with: [:], of: "")
      case .failure: self.forgetAll()
      }
      self.onEvent(.reset)
    }
  }

  private func replaceAll(with new: [String: ControlState], of sender: String) {
    let earlier = states
    owner = sender
    isDaemonRunning = true
    pendingReads = [:]
    states = new.filter { wanted?.contains($0.key) ?? true }
    for (path, state) in earlier { keepActivity(of: state, at: path) }
  }

  /// A control that is active since longer than can be read now.
  private func keepActivity(of earlier: ControlState, at path: String) {
    guard earlier.isActive, states[path]?.isActive == true else { return }
    states[path]?.activeSince = earlier.activeSince
  }

  private func propertiesChanged(_ message: Message) {
    guard isDaemonRunning, let path = message.path, var state = states[path],
      let (interface, changed, _) = try? message.read(
        String.self, [String: Variant].self, [String].self),
      interface == BusyIndicatorBus.controlInterface
    else { return }
    let isStale = state.apply(changed)
    states[path] = state
    if isStale { readAgain(path, state.name) }
    tell(.changed(control: state.name), of: path)
  }

  private func objectsChanged(_ message: Message) {
    guard isDaemonRunning else { return }
    if message.member == "InterfacesAdded",
      let (path, interfaces) = try? message.read(
        ObjectPath.self, [String: [String: Variant]].self),
      wanted?.contains(path.rawValue) ?? true,
      let properties = interfaces[BusyIndicatorBus.controlInterface]
    {
      let state = ControlState(properties)
      states[path.rawValue] = state
      tell(.changed(control: state.name), of: path.rawValue)
    } else if message.member == "InterfacesRemoved",
      let (path, interfaces) = try? message.read(ObjectPath.self, [String].self),
      interfaces.contains(BusyIndicatorBus.controlInterface)
    {
      pendingReads[path.rawValue] = nil
      guard let state = states.removeValue(forKey: path.rawValue) else { return }
      onEvent(.removed(control: state.name))
    }
  }

  private func countdownEnded(_ message: Message) {
    if message.member == "Finished",
      let (control, id) = try? message.read(String.self, UInt32.self)
    {
      tellEnd(of: id, control, CountdownResult.finished)
    } else if message.member == "Cancelled",
      let (control, id, reason) = try? message.read(String.self, UInt32.self, String.self)
    {
      tellEnd(of: id, control, reason)
    }
  }

  private func tellEnd(of id: UInt32, _ control: String, _ result: String) {
    let path = ObjectPath(encoding: control, below: Service.controls).rawValue
    guard wanted?.contains(path) ?? true else { return }
    onEvent(.countdownEnded(control: control, id: id, result: result))
  }

  // What remains of a countdown that stands still is in no announcement.
  private func readAgain(_ path: String, _ control: String) {
    let asked = generation
    pendingReads[path, default: 0] += 1
    connection.submit(.state(of: control)) { [weak self] result in
      guard let self, asked == self.generation, let count = self.pendingReads[path] else { return }
      self.pendingReads[path] = count > 1 ? count - 1 : nil
      guard count == 1, let earlier = self.states[path] else { return }
      if case .success(let state) = result {
        self.states[path] = state
        self.keepActivity(of: earlier, at: path)
      }
      self.onEvent(.changed(control: control))
    }
  }

  private func tell(_ event: Event, of path: String) {
    if pendingReads[path] == nil { onEvent(event) }
  }
}

/// How a countdown can end: LastResult, besides the reasons of ``CancelReason``.
public enum CountdownResult {
  /// It ran out.
  public static var finished: String { "finished" }
}

extension IndicatorRequest where Reply == [String: ControlState] {
  /// One control by its object's path.
  static func object(of control: String) -> Self {
    let path = ObjectPath(encoding: control, below: Service.controls)
    return Self(
      reading: "GetAll", of: .properties, at: path, BusyIndicatorBus.controlInterface
    ) { (reply) throws(DBusError) in
      [path.rawValue: ControlState(try reply.read([String: Variant].self))]
    }
  }

  /// Every control by its object's path.
  static var objects: Self {
    Self(reading: "GetManagedObjects", of: .objectManager, at: Service.manager) {
      (reply) throws(DBusError) in
      try reply.read([ObjectPath: [String: [String: Variant]]].self)
        .reduce(into: [:]) { result, entry in
          guard let properties = entry.value[BusyIndicatorBus.controlInterface] else { return }
          result[entry.key.rawValue] = ControlState(properties)
        }
    }
  }
}
