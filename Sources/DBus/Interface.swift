// SPDX-License-Identifier: MIT

// One table an interface. Dispatch, the check of signatures, introspection and the announcing of
// properties all read it, so that none of them can say something else than the others.

/// An interface of objects that `Object` stands for.
package struct Interface<Object> {
  package let name: InterfaceName
  package let methods: [Method<Object>]
  package let signals: [SignalDescription]
  package let properties: [Property<Object>]
  /// Where each of them is, by its name.
  let methodPlaces: [String: Int]
  let propertyPlaces: [String: Int]

  package init(
    _ name: InterfaceName, methods: [Method<Object>] = [], signals: [SignalDescription] = [],
    properties: [Property<Object>] = []
  ) {
    self.name = name
    self.methods = methods
    self.signals = signals
    self.properties = properties
    methodPlaces = places(of: methods.map(\.name))
    propertyPlaces = places(of: properties.map(\.name))
  }
}

private func places(of names: [MemberName]) -> [String: Int] {
  Dictionary(uniqueKeysWithValues: zip(names.map(\.rawValue), names.indices))
}

/// An argument of a method or a signal.
package struct Argument: Sendable {
  package let name: String
  package let signature: String
}

/// A method: its arguments by their Swift types, and what it does.
package struct Method<Object> {
  package let name: MemberName
  package let inputs: [Argument]
  package let outputs: [Argument]
  /// Whether it only reads: what was changed before it is announced before it runs.
  package let isReading: Bool
  let inputSignature: String
  let answer: (Object, Message) throws(DBusError) -> Message

  /// A method whose arguments are checked before `body` sees them.
  ///
  /// - Parameters:
  ///   - name: what callers call.
  ///   - inputs: the names of the arguments, in order.
  ///   - outputs: the names of the results, in order.
  ///   - isReading: whether it only reads.
  ///   - body: is given the object, the call and its arguments, and makes the results.
  package init<each Input: DBusDecodable, each Output: DBusEncodable>(
    _ name: MemberName, in inputs: [String] = [], out outputs: [String] = [],
    isReading: Bool = false,
    _ body:
      @escaping (Object, Message, repeat each Input) throws(DBusError) -> (
        repeat each Output
      )
  ) {
    var inputSignatures: [String] = []
    repeat inputSignatures.append((each Input).signature)
    var outputSignatures: [String] = []
    repeat outputSignatures.append((each Output).signature)
    precondition(inputs.count == inputSignatures.count && outputs.count == outputSignatures.count)
    self.name = name
    self.inputs = zip(inputs, inputSignatures).map(Argument.init)
    self.outputs = zip(outputs, outputSignatures).map(Argument.init)
    self.isReading = isReading
    inputSignature = inputSignatures.joined()
    let outputSignature = outputSignatures.joined()
    answer = { (object, call) throws(DBusError) in
      var reader = MessageReader()
      call.start(&reader)
      let results = try body(object, call, repeat (each Input)(from: &reader))
      guard !outputSignature.isEmpty else { return Message(replyTo: call) }
      return Message(replyTo: call, signature: outputSignature) { writer in
        repeat (each results).write(to: &writer)
      }
    }
  }
}

/// A signal, for introspection.
package struct SignalDescription: Sendable {
  package let name: MemberName
  package let arguments: [Argument]

  /// A signal with arguments of these names and signatures.
  package init(_ name: MemberName, _ arguments: [(name: String, signature: String)] = []) {
    self.name = name
    self.arguments = arguments.map { Argument(name: $0.name, signature: $0.signature) }
  }
}

/// A property that can be read.
package struct Property<Object> {
  /// Whether PropertiesChanged tells of it: org.freedesktop.DBus.Property.EmitsChangedSignal.
  package enum Change: String {
    case value = "true"
    case invalidated = "invalidates"
    case never = "false"
    case constant = "const"
  }

  package let name: MemberName
  package let signature: String
  package let change: Change
  /// The bit that stands for this property in a set of changes; 0 when it is never announced.
  package let bit: UInt32
  let write: (Object, inout MessageWriter) -> Void

  package init<Value: DBusEncodable>(
    _ name: MemberName, _ change: Change = .value, bit: UInt32 = 0,
    _ value: @escaping (Object) -> Value
  ) {
    self.name = name
    signature = Value.signature
    self.change = change
    self.bit = bit
    write = { object, writer in value(object).write(to: &writer) }
  }

  func writeVariant(of object: Object, to writer: inout MessageWriter) {
    writer.variant(of: signature) { write(object, &$0) }
  }
}

extension Interface {
  /// Writes the entries of an `a{sv}`: each property's value.
  func writeEntries(of object: Object, to writer: inout MessageWriter) {
    for property in properties {
      writer.entry {
        $0.append(string: property.name.rawValue)
        property.writeVariant(of: object, to: &$0)
      }
    }
  }

  /// The PropertiesChanged signal for the properties whose bits are in `changes`.
  package func propertiesChanged(
    of object: Object, at path: ObjectPath, changes: UInt32
  ) -> Message {
    Message(
      signal: "PropertiesChanged", of: .properties, from: path, signature: "sa{sv}as"
    ) { writer in
      writer.append(string: name.rawValue)
      writer.array(of: "{sv}") { writer in
        for property in properties where property.bit & changes != 0 && property.change == .value {
          writer.entry {
            $0.append(string: property.name.rawValue)
            property.writeVariant(of: object, to: &$0)
          }
        }
      }
      writer.array(of: "s") { writer in
        for property in properties
        where property.bit & changes != 0 && property.change == .invalidated {
          writer.append(string: property.name.rawValue)
        }
      }
    }
  }
}
