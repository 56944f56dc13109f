// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
internal import DBus
internal import EventLoop

/// The D-Bus face of the state: answers calls, and announces what a turn changed.
final class Front {
  let turn: Turn
  let leases: Leases
  private let connection: Connection
  let server = ObjectServer()
  /// Whose state the property `Plugins` tells.
  var plugins: Plugins?
  private let managerTable: Interface<Front>
  private let controlTable: Interface<ControlObject>

  static let managerPath = ObjectPath(unchecked: BusyIndicatorBus.managerPath)
  static let controlsPath = ObjectPath(unchecked: BusyIndicatorBus.controlPathPrefix)

  init(turn: Turn, connection: Connection, leases: Leases, logsCalls: Bool) {
    self.turn = turn
    self.connection = connection
    self.leases = leases
    managerTable = makeManagerInterface()
    controlTable = makeControlInterface()
    server.willRead = { [unowned turn] in turn.settleBeforeReading() }
    server.export(self, at: Self.managerPath, interfaces: [managerTable])
    server.exportChildren(
      of: Self.controlsPath, interfaces: [controlTable],
      find: { [unowned self] in control(at: $0) },
      children: { [unowned turn] in
        turn.machine.controls.map { turn.machine[$0].name.objectPath }
      })
    server.serveObjectManager(at: Self.managerPath)
    connection.onCall = { [unowned self] call in
      if logsCalls { log(call) }
      if let answer = server.answer(to: call) { turn.reply(answer) }
    }
    turn.addReader { [unowned self] in announce($0) }
  }

  /// The XML of what this serves, for `--introspect`.
  static var introspectionXML: String {
    introspectionDocument(interfaces: [makeManagerInterface().xml, makeControlInterface().xml])
  }

  private func log(_ call: Message) {
    var text = "\(call.member ?? "") from \(call.sender)"
    if call.signature.hasPrefix("s"), let control = call.firstString {
      text += " for \(Log.quoted(control))"
    }
    Log.info(text)
  }

  private func control(at path: ObjectPath) -> ControlObject? {
    guard let label = path.decodedLabel(below: Self.controlsPath),
      let name = try? ControlName(label), let id = turn.machine.find(name)
    else { return nil }
    return ControlObject(id: id, turn: turn)
  }

  // MARK: - Announcing

  // The order is the contract's: new objects, changed ones, the manager, what happened, those gone.
  private func announce(_ drain: Drain) {
    for case .added(let id) in drain.changes {
      if let signal = server.interfacesAdded(at: turn.machine[id].name.objectPath) {
        connection.send(signal)
      }
    }
    for case .changed(let id, let fields) in drain.changes {
      let object = ControlObject(id: id, turn: turn)
      connection.send(
        controlTable.propertiesChanged(
          of: object, at: object.view.name.objectPath, changes: fields.rawValue))
    }
    announceManager(drain)
    for event in drain.events { announce(event) }
    for case .removed(let name) in drain.changes {
      let signal = server.interfacesRemoved(at: name.objectPath, [controlTable.name])
      if let signal { connection.send(signal) }
    }
  }

  private func announceManager(_ drain: Drain) {
    var changes: UInt32 = 0
    if drain.managerBusyChanged { changes |= ManagerProperty.busy }
    if drain.managerVisibleChanged { changes |= ManagerProperty.visible }
    if plugins?.takeChange() == true { changes |= ManagerProperty.plugins }
    guard changes != 0 else { return }
    connection.send(
      managerTable.propertiesChanged(of: self, at: Self.managerPath, changes: changes))
  }

  private func announce(_ event: Event) {
    switch event {
    case .tick(let control, let remaining, let countdown):
      signal("Tick", control.rawValue, remaining, countdown)
    case .finished(let end):
      signal("Finished", end.control.rawValue, end.countdown)
    case .cancelled(let control, let countdown, let reason):
      signal("Cancelled", control.rawValue, countdown, reason.rawValue)
    case .holdEnded(let cookie, let reason, let recipient):
      guard let recipient = BusName(validating: recipient) else { return }
      signal("HoldEnded", to: recipient, cookie, reason.rawValue)
    case .holdNotification:
      break
    }
  }

  private func signal<each Value: DBusEncodable>(
    _ member: MemberName, to recipient: BusName? = nil, _ values: repeat each Value
  ) {
    connection.send(
      Message(
        signal: member, of: managerTable.name, from: Self.managerPath, to: recipient,
        repeat each values))
  }
}

extension ControlName {
  /// Where the control's object is.
  var objectPath: ObjectPath { ObjectPath(encoding: rawValue, below: Front.controlsPath) }
}

/// Hands on what the state machine refuses as the D-Bus error that stands for it.
func answering<Result>(
  _ body: () throws(Refusal) -> Result
) throws(DBusError) -> Result {
  do throws(Refusal) {
    return try body()
  } catch {
    throw DBusError(name: error.errorName, message: error.message)
  }
}
