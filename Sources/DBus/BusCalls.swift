// SPDX-License-Identifier: MIT

internal import CDBus

// What is asked of the bus itself, where waiting for its answer is right: at start and at the end.

/// What came of asking for a well-known name.
package enum NameRequestResult {
  /// The name is this connection's.
  case owned
  /// Somebody else has it and keeps it.
  case taken
}

extension Connection {
  /// Asks for a well-known name, never waiting in its queue, and allowing a successor to take it.
  ///
  /// - Parameters:
  ///   - name: the name to own.
  ///   - replacing: take it from an owner that allows that.
  /// - Returns: whether the name is this connection's now.
  /// - Throws: what the bus answers, or Disconnected.
  package func requestName(
    _ name: BusName, replacing: Bool = false
  ) throws(DBusError) -> NameRequestResult {
    var flags = DBUS_NAME_FLAG_DO_NOT_QUEUE | DBUS_NAME_FLAG_ALLOW_REPLACEMENT
    if replacing { flags |= DBUS_NAME_FLAG_REPLACE_EXISTING }
    let answer = try withRawError {
      dbus_bus_request_name(raw, name.rawValue, UInt32(flags), $0)
    }
    switch answer {
    case DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER, DBUS_REQUEST_NAME_REPLY_ALREADY_OWNER:
      return .owned
    default:
      return .taken
    }
  }

  /// Gives a well-known name back.
  package func releaseName(_ name: BusName) throws(DBusError) {
    _ = try withRawError { dbus_bus_release_name(raw, name.rawValue, $0) }
  }

  /// The process that owns a name.
  package func processID(of name: BusName) throws(DBusError) -> UInt32 {
    let question = Message(
      call: "GetConnectionUnixProcessID", of: .bus, at: "/org/freedesktop/DBus", on: .bus, name)
    return try callAndWait(question).read(UInt32.self)
  }

  /// The unique name of a name's owner; nil when it has none.
  package func owner(of name: BusName) throws(DBusError) -> String? {
    let question = Message(
      call: "GetNameOwner", of: .bus, at: "/org/freedesktop/DBus", on: .bus, name)
    do {
      return try callAndWait(question).read(String.self)
    } catch {
      guard error.isStandard(.nameHasNoOwner) else { throw error }
      return nil
    }
  }

  /// All names that are owned now, unique ones included.
  package func names() throws(DBusError) -> [String] {
    try callAndWait(Message(call: "ListNames", of: .bus, at: "/org/freedesktop/DBus", on: .bus))
      .read([String].self)
  }

  /// The bus's own identity, the same for as long as it runs.
  package func busID() throws(DBusError) -> String {
    try callAndWait(Message(call: "GetId", of: .bus, at: "/org/freedesktop/DBus", on: .bus))
      .read(String.self)
  }
}

/// The identity of this machine, as the Peer interface tells it.
func localMachineID() throws(DBusError) -> String {
  let text = try withRawError { dbus_try_get_local_machine_id($0) }
  guard let text else { throw .standard(.failed, "The machine has no identity.") }
  defer { dbus_free(text) }
  return String(cString: text)
}
