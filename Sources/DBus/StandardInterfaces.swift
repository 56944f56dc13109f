// SPDX-License-Identifier: MIT

/// A place in the tree, as the standard interfaces see it.
struct StandardNode {
  let server: ObjectServer
  let path: String
  let object: (any BoundObject)?
}

/// A reply's one value that is written by code, not held in a Swift value.
private struct Written<Shape: DBusTyped>: DBusEncodable {
  static var signature: String { Shape.signature }
  let body: (inout MessageWriter) -> Void
  func write(to writer: inout MessageWriter) { body(&writer) }
}

private typealias ManagedObjects = [ObjectPath: [String: [String: Variant]]]

/// The interfaces of the D-Bus Specification that every object has, as tables like any other.
enum StandardInterfaces {
  static let names: Set<String> = [
    InterfaceName.properties.rawValue, InterfaceName.objectManager.rawValue,
    InterfaceName.introspectable.rawValue, InterfaceName.peer.rawValue,
  ]

  static func peer() -> Interface<StandardNode> {
    Interface(
      .peer,
      methods: [
        Method("Ping") { (_: StandardNode, _: Message) throws(DBusError) -> Void in },
        Method("GetMachineId", out: ["machine_uuid"]) {
          (_: StandardNode, _: Message) throws(DBusError) -> String in try localMachineID()
        },
      ])
  }

  static func introspectable() -> Interface<StandardNode> {
    Interface(
      .introspectable,
      methods: [
        Method("Introspect", out: ["xml_data"], isReading: true) {
          (node: StandardNode, _: Message) throws(DBusError) -> String in
          introspectionDocument(
            interfaces: (node.object?.interfaceXML ?? [])
              + node.server.standardInterfaceXML(at: node.path, hasObject: node.object != nil),
            children: node.server.childNames(of: node.path))
        }
      ])
  }

  static func properties() -> Interface<StandardNode> {
    Interface(
      .properties,
      methods: [
        Method(
          "Get", in: ["interface_name", "property_name"], out: ["value"], isReading: true
        ) {
          (node: StandardNode, _: Message, interface: String, name: String) throws(DBusError)
            -> Written<IgnoredVariant> in
          Written(body: try node.requiredObject().property(name, of: interface))
        },
        Method("GetAll", in: ["interface_name"], out: ["properties"], isReading: true) {
          (node: StandardNode, _: Message, interface: String) throws(DBusError)
            -> Written<[String: Variant]> in
          Written(body: try node.requiredObject().allProperties(of: interface))
        },
        Method("Set", in: ["interface_name", "property_name", "value"], isReading: true) {
          (node: StandardNode, _: Message, interface: String, name: String, _: IgnoredVariant)
            throws(DBusError) -> Void in
          _ = try node.requiredObject().property(name, of: interface)
          throw .standard(
            .propertyReadOnly, "The property “\(shortened(name, to: 256))” can only be read.")
        },
      ],
      signals: [
        SignalDescription(
          "PropertiesChanged",
          [
            ("interface_name", "s"), ("changed_properties", "a{sv}"),
            ("invalidated_properties", "as"),
          ])
      ])
  }

  static func objectManager() -> Interface<StandardNode> {
    Interface(
      .objectManager,
      methods: [
        Method(
          "GetManagedObjects", out: ["objpath_interfaces_and_properties"], isReading: true
        ) {
          (node: StandardNode, _: Message) throws(DBusError) -> Written<ManagedObjects> in
          Written(body: node.server.writeManagedObjects)
        }
      ],
      signals: [
        SignalDescription(
          "InterfacesAdded",
          [("object_path", "o"), ("interfaces_and_properties", "a{sa{sv}}")]),
        SignalDescription(
          "InterfacesRemoved", [("object_path", "o"), ("interfaces", "as")]),
      ])
  }
}

extension StandardNode {
  fileprivate func requiredObject() throws(DBusError) -> any BoundObject {
    guard let object else {
      throw .standard(.unknownObject, "There is no object “\(shortened(path, to: 256))”.")
    }
    return object
  }
}
