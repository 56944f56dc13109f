// SPDX-License-Identifier: MIT

internal import CDBus

/// One message, and the reference to it that this object owns.
package final class Message {
  /// What a message is.
  package enum Kind { case methodCall, methodReturn, error, signal, unknown }

  let raw: OpaquePointer

  /// How many bytes it takes on the wire; of an answer without values, about that.
  package let size: Int

  /// Takes over a reference that the caller owned.
  init(adopting raw: OpaquePointer, size: Int = 128) {
    self.raw = raw
    self.size = size
  }

  deinit { dbus_message_unref(raw) }

  /// A call of a method with those arguments.
  package convenience init<each Value: DBusEncodable>(
    call member: MemberName, of interface: InterfaceName, at path: ObjectPath,
    on destination: BusName, _ values: repeat each Value
  ) {
    self.init(
      type: DBUS_MESSAGE_TYPE_METHOD_CALL, path: path, interface: interface, member: member,
      destination: destination.rawValue, signature: joinedSignature(repeat (each Value).self)
    ) { writer in
      repeat (each values).write(to: &writer)
    }
  }

  /// A signal with those arguments, to everybody who asked for it, or to `destination` alone.
  package convenience init<each Value: DBusEncodable>(
    signal member: MemberName, of interface: InterfaceName, from path: ObjectPath,
    to destination: BusName? = nil, _ values: repeat each Value
  ) {
    self.init(
      type: DBUS_MESSAGE_TYPE_SIGNAL, path: path, interface: interface, member: member,
      destination: destination?.rawValue, signature: joinedSignature(repeat (each Value).self)
    ) { writer in
      repeat (each values).write(to: &writer)
    }
  }

  /// A signal to everybody who asked for it, whose arguments `body` writes.
  package convenience init(
    signal member: MemberName, of interface: InterfaceName, from path: ObjectPath,
    signature: String, _ body: (inout MessageWriter) -> Void
  ) {
    self.init(
      type: DBUS_MESSAGE_TYPE_SIGNAL, path: path, interface: interface, member: member,
      signature: signature, body)
  }

  /// The answer to `call`, without values.
  package convenience init(replyTo call: Message) {
    self.init(adopting: required(dbus_message_new_method_return(call.raw)))
  }

  /// The answer to `call`, whose values `body` writes.
  package convenience init(
    replyTo call: Message, signature: String, _ body: (inout MessageWriter) -> Void
  ) {
    let sender = call.sender
    let bytes = Self.layOut(
      type: DBUS_MESSAGE_TYPE_METHOD_RETURN, replySerial: call.serial,
      destination: sender.isEmpty ? nil : sender, signature: signature, body)
    if bytes.count <= Self.longestAnswer {
      self.init(bytes: bytes)
    } else {
      self.init(
        error: .standard(.limitsExceeded, "The answer is longer than a message may be."),
        replyTo: call)
    }
  }

  /// The answer to `call` with those values.
  package convenience init<First: DBusEncodable, each Value: DBusEncodable>(
    replyTo call: Message, _ first: First, _ values: repeat each Value
  ) {
    self.init(
      replyTo: call, signature: joinedSignature(First.self, repeat (each Value).self)
    ) { writer in
      first.write(to: &writer)
      repeat (each values).write(to: &writer)
    }
  }

  /// The error with which `call` is answered.
  package convenience init(error: DBusError, replyTo call: Message) {
    self.init(adopting: required(dbus_message_new_error(call.raw, error.name, error.message)))
  }

  /// No array may be longer, so no answer that is as long is of any use; in bytes.
  private static let longestAnswer = 64 << 20

  private convenience init(
    type: Int32, path: ObjectPath, interface: InterfaceName, member: MemberName,
    destination: String? = nil, signature: String, _ body: (inout MessageWriter) -> Void
  ) {
    self.init(
      bytes: Self.layOut(
        type: type, path: path, interface: interface, member: member, destination: destination,
        signature: signature, body))
  }

  private static func layOut(
    type: Int32, path: ObjectPath? = nil, interface: InterfaceName? = nil,
    member: MemberName? = nil, replySerial: UInt32? = nil, destination: String? = nil,
    signature: String, _ body: (inout MessageWriter) -> Void
  ) -> [UInt8] {
    var writer = MessageWriter()
    writer.append(fixed: UInt32(1).littleEndian == 1 ? UInt8(ascii: "l") : UInt8(ascii: "B"))
    writer.append(fixed: UInt8(type))
    let wantsNoReply = type != DBUS_MESSAGE_TYPE_METHOD_CALL
    writer.append(fixed: UInt8(wantsNoReply ? DBUS_HEADER_FLAG_NO_REPLY_EXPECTED : 0))
    writer.append(fixed: UInt8(DBUS_MAJOR_PROTOCOL_VERSION))
    let length = writer.reserveLength()
    // Its serial is given when it is sent; here there has to be one.
    writer.append(fixed: UInt32(1))
    writer.array(of: "(yv)") { writer in
      if let path { writer.field(DBUS_HEADER_FIELD_PATH, path) }
      if let interface { writer.field(DBUS_HEADER_FIELD_INTERFACE, interface) }
      if let member { writer.field(DBUS_HEADER_FIELD_MEMBER, member) }
      if let replySerial { writer.field(DBUS_HEADER_FIELD_REPLY_SERIAL, replySerial) }
      if let destination { writer.field(DBUS_HEADER_FIELD_DESTINATION, destination) }
      if !signature.isEmpty {
        writer.field(DBUS_HEADER_FIELD_SIGNATURE, of: "g") { $0.append(signature: signature) }
      }
    }
    writer.align(to: 8)
    let start = writer.count
    body(&writer)
    writer.setLength(at: length, from: start)
    return writer.bytes
  }

  private convenience init(bytes: [UInt8]) {
    let parsed: OpaquePointer?
    do throws(DBusError) {
      parsed = try withRawError { error in
        bytes.withUnsafeBytes { buffer in
          dbus_message_demarshal(buffer.baseAddress, Int32(buffer.count), error)
        }
      }
    } catch {
      fatalError("libdbus takes no such message: \(error)")
    }
    let message = required(parsed)
    defer { dbus_message_unref(message) }
    // Unlike what was parsed, a copy has no serial.
    self.init(adopting: required(dbus_message_copy(message)), size: bytes.count)
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

  /// The arguments, when they are of exactly these types.
  ///
  /// - Throws: InvalidArgs, naming both signatures.
  package func read<each Value: DBusDecodable>(
    _ types: repeat (each Value).Type
  ) throws(DBusError) -> (repeat each Value) {
    let expected = joinedSignature(repeat (each Value).self)
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

extension MessageWriter {
  /// Writes a field of the header.
  fileprivate mutating func field<Value: DBusEncodable>(_ code: Int32, _ value: Value) {
    field(code, of: Value.signature) { value.write(to: &$0) }
  }

  fileprivate mutating func field(
    _ code: Int32, of type: String, _ body: (inout MessageWriter) -> Void
  ) {
    structure {
      $0.append(fixed: UInt8(code))
      $0.variant(of: type, body)
    }
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
