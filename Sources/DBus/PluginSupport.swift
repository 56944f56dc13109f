// SPDX-License-Identifier: MIT

internal import CDBus

// What speaking other programs' interfaces needs beyond plain tables: pictures, values that nobody
// looks into, and answers that are kept.

/// Bytes that are sent as one block; an array of `UInt8` would go element by element.
package struct ByteBlock: DBusEncodable, Equatable, Sendable {
  package let bytes: [UInt8]
  package init(_ bytes: [UInt8]) { self.bytes = bytes }
  package static var signature: String { "ay" }
  package func write(to writer: inout MessageWriter) {
    writer.array(of: "y") { $0.append(block: bytes) }
  }
}

/// A variant in an argument that does not matter here, whatever it holds.
package struct IgnoredVariant: DBusDecodable {
  package static var signature: String { "v" }
  package init(from reader: inout MessageReader) { reader.advance() }
}

extension Message {
  /// An answer to `call` with the values of another message, which are copied as a block.
  package convenience init(replyTo call: Message, copying answer: Message) {
    self.init(adopting: required(dbus_message_copy(answer.raw)))
    require(dbus_message_set_reply_serial(raw, call.serial))
    require(dbus_message_set_destination(raw, call.sender))
  }
}

extension Method {
  /// A method that makes its whole answer itself, from arguments of these types.
  ///
  /// - Parameters:
  ///   - name: what callers call.
  ///   - inputs: names and types of the arguments.
  ///   - outputs: names and types of the results.
  ///   - answer: is given the object and a call whose signature has been compared.
  package init(
    _ name: MemberName, in inputs: [(name: String, signature: String)],
    out outputs: [(name: String, signature: String)],
    answer: @escaping (Object, Message) throws(DBusError) -> Message
  ) {
    self.name = name
    self.inputs = inputs.map { Argument(name: $0.name, signature: $0.signature) }
    self.outputs = outputs.map { Argument(name: $0.name, signature: $0.signature) }
    isReading = true
    inputSignature = inputs.map(\.signature).joined()
    self.answer = answer
  }
}

extension Interface {
  /// The answer to GetAll: `a{sv}`, every property's value.
  package func allProperties(of object: Object, replyTo call: Message) -> Message {
    Message(replyTo: call, signature: "a{sv}") { writer in
      writer.array(of: "{sv}") { writeEntries(of: object, to: &$0) }
    }
  }
}
