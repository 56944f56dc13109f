// SPDX-License-Identifier: MIT

internal import CDBus

/// One message, and the reference to it that this object owns.
package final class Message {
  /// What a message is.
  package enum Kind { case methodCall, methodReturn, error, signal, unknown }

  let raw: OpaquePointer

  /// About how many bytes its arguments take on the wire: what the writers counted.
  package private(set) var approximateSize = 128

  /// Takes over a reference that the caller owned.
  init(adopting raw: OpaquePointer) { self.raw = raw }

  deinit { dbus_message_unref(raw) }

  /// A call of a method.
  package convenience init(
    call member: MemberName, of interface: InterfaceName, at path: ObjectPath,
    on destination: BusName
  ) {
    self.init(
      adopting: required(
        dbus_message_new_method_call(
          destination.rawValue, path.rawValue, interface.rawValue, member.rawValue)))
  }

  /// A signal, to everybody who asked for it, or to `destination` alone.
  package convenience init(
    signal member: MemberName, of interface: InterfaceName, from path: ObjectPath,
    to destination: BusName? = nil
  ) {
    self.init(
      adopting: required(
        dbus_message_new_signal(path.rawValue, interface.rawValue, member.rawValue)))
    if let destination { require(dbus_message_set_destination(raw, destination.rawValue)) }
  }

  /// The answer to `call`, still without its values.
  package convenience init(replyTo call: Message) {
    self.init(adopting: required(dbus_message_new_method_return(call.raw)))
  }

  /// The error with which `call` is answered.
  package convenience init(error: DBusError, replyTo call: Message) {
    self.init(adopting: required(dbus_message_new_error(call.raw, error.name, error.message)))
  }

  package var kind: Kind {
    switch dbus_message_get_type(raw) {
    case DBUS_MESSAGE_TYPE_METHOD_CALL: .methodCall
    case DBUS_MESSAGE_TYPE_METHOD_RETURN: .methodReturn
    case DBUS_MESSAGE_TYPE_ERROR: .error
    case DBUS_MESSAGE_TYPE_SIGNAL: .signal
    default: .unknown
    }
  }

  /// Whether the sender wants an answer to this call.
  package var expectsReply: Bool {
    get { dbus_message_get_no_reply(raw) == 0 }
    set { dbus_message_set_no_reply(raw, newValue ? 0 : 1) }
  }

  /// Whether the bus may start a service to deliver this call; it may at first.
  package var autoStarts: Bool {
    get { dbus_message_get_auto_start(raw) != 0 }
    set { dbus_message_set_auto_start(raw, newValue ? 1 : 0) }
  }

  package var serial: UInt32 { dbus_message_get_serial(raw) }
  package var replySerial: UInt32 { dbus_message_get_reply_serial(raw) }
  package var sender: String { text(dbus_message_get_sender(raw)) ?? "" }
  package var destination: String? { text(dbus_message_get_destination(raw)) }
  package var path: String? { text(dbus_message_get_path(raw)) }
  package var interface: String? { text(dbus_message_get_interface(raw)) }
  package var member: String? { text(dbus_message_get_member(raw)) }
  package var errorName: String? { text(dbus_message_get_error_name(raw)) }
  package var signature: String { text(dbus_message_get_signature(raw)) ?? "" }

  /// Whether this is that signal.
  package func isSignal(_ member: MemberName, of interface: InterfaceName) -> Bool {
    dbus_message_is_signal(raw, interface.rawValue, member.rawValue) != 0
  }

  /// Whether its arguments are of exactly that signature.
  package func hasSignature(_ signature: String) -> Bool {
    dbus_message_has_signature(raw, signature) != 0
  }

  /// Appends values behind those that are there.
  package func append<each Value: DBusEncodable>(_ values: repeat each Value) {
    write { writer in
      repeat (each values).write(to: &writer)
    }
  }

  /// Appends what `body` writes behind what is there.
  package func write(_ body: (inout MessageWriter) -> Void) {
    var writer = MessageWriter()
    dbus_message_iter_init_append(raw, &writer.iterator)
    body(&writer)
    approximateSize += writer.count
  }

  /// The arguments, when they are of exactly these types.
  ///
  /// - Throws: InvalidArgs, naming both signatures.
  package func read<each Value: DBusDecodable>(
    _ types: repeat (each Value).Type
  ) throws(DBusError) -> (repeat each Value) {
    var expected = ""
    repeat expected += (each Value).signature
    guard hasSignature(expected) else {
      throw .standard(
        .invalidArgs, "The arguments are of type “\(signature)”; “\(expected)” is wanted.")
    }
    return readChecked(repeat each types)
  }

  /// The arguments, whose signature has been compared already.
  func readChecked<each Value: DBusDecodable>(
    _ types: repeat (each Value).Type
  ) -> (repeat each Value) {
    var reader = MessageReader()
    start(&reader)
    return (repeat (each Value)(from: &reader))
  }

  /// The first argument, when it is a string.
  package var firstString: String? {
    signature.utf8.first == UInt8(ascii: "s") ? readChecked(String.self) : nil
  }

  /// Sets a reader on the first argument.
  func start(_ reader: inout MessageReader) { dbus_message_iter_init(raw, &reader.iterator) }

  /// The error that this message carries; nil when it is no error.
  package var error: DBusError? {
    guard kind == .error else { return nil }
    return DBusError(
      name: errorName ?? DBusError.StandardKind.failed.name, message: firstString ?? "")
  }

  private func text(_ pointer: UnsafePointer<CChar>?) -> String? {
    pointer.map { String(cString: $0) }
  }
}

/// libdbus returns NULL or FALSE here only when memory has run out, where nothing sensible is left.
func required<Pointer>(_ pointer: Pointer?) -> Pointer {
  guard let pointer else { fatalError("libdbus: out of memory") }
  return pointer
}

/// See ``required(_:)``.
func require(_ success: dbus_bool_t) {
  guard success != 0 else { fatalError("libdbus: out of memory") }
}
