// SPDX-License-Identifier: MIT

/// The objects of one connection: finds the object and the method that a call names, and answers.
///
/// It sends nothing itself: answers are returned, so that their owner decides when they leave.
package final class ObjectServer {
  /// Called before a method that only reads.
  package var willRead: () -> Void = {}

  private var exports: [any Exported] = []
  private let peer = StandardInterfaces.peer()
  private let introspectable = StandardInterfaces.introspectable()
  private let properties = StandardInterfaces.properties()
  private let objectManager = StandardInterfaces.objectManager()
  private var managerPath: ObjectPath?

  package init() {}

  /// Serves one object at one path.
  package func export<Object>(
    _ object: Object, at path: ObjectPath, interfaces: [Interface<Object>]
  ) {
    exports.append(
      Export(
        isSubtree: false, path: path, interfaces: interfaces,
        find: { $0 == path.rawValue ? object : nil }, children: { [] }))
  }

  /// Serves the objects directly below a path that come and go.
  ///
  /// - Parameters:
  ///   - path: their parent.
  ///   - interfaces: what each of them has.
  ///   - find: the object at a path, nil when there is none.
  ///   - children: their paths.
  package func exportChildren<Object>(
    of path: ObjectPath, interfaces: [Interface<Object>],
    find: @escaping (ObjectPath) -> Object?, children: @escaping () -> [ObjectPath]
  ) {
    let prefix = path.rawValue + "/"
    exports.append(
      Export(
        isSubtree: true, path: path, interfaces: interfaces,
        find: { $0.hasPrefix(prefix) ? find(ObjectPath(unchecked: $0)) : nil },
        children: children))
  }

  /// Makes the object at `path` an ObjectManager of all that is exported below it.
  package func serveObjectManager(at path: ObjectPath) { managerPath = path }

  // MARK: - Answering

  /// The answer to a call; nil when the caller wants none.
  package func answer(to call: Message) -> Message? {
    let reply: Message
    do throws(DBusError) {
      reply = try perform(call)
    } catch {
      reply = Message(error: error, replyTo: call)
    }
    return call.expectsReply ? reply : nil
  }

  private func perform(_ call: Message) throws(DBusError) -> Message {
    let target = Target(
      path: call.path ?? "/", interface: call.interface, member: call.member ?? "")
    var bound: (any BoundObject)?
    for export in exports {
      bound = export.bind(target.path)
      if bound != nil { break }
    }
    var interfaceSeen = false
    if let answer = try bound?.answer(call, target, willRead, &interfaceSeen) { return answer }
    let standard = try answerStandard(call, target, bound, &interfaceSeen)
    if let standard { return standard }
    guard bound != nil || isNode(target.path) else {
      throw .standard(.unknownObject, "There is no object “\(shortened(target.path, to: 256))”.")
    }
    guard interfaceSeen || target.interface == nil else {
      throw .standard(
        .unknownInterface,
        "The object “\(shortened(target.path, to: 256))” has no interface “\(target.interface ?? "")”."
      )
    }
    let place =
      target.interface.map { "interface “\($0)”" } ?? "object “\(shortened(target.path, to: 256))”"
    throw .standard(.unknownMethod, "The \(place) has no method “\(target.member)”.")
  }

  private func answerStandard(
    _ call: Message, _ target: Target, _ bound: (any BoundObject)?, _ interfaceSeen: inout Bool
  ) throws(DBusError) -> Message? {
    let node = StandardNode(server: self, path: target.path, object: bound)
    // A machine answers for itself at any path; a node only where there is one.
    var interfaces = [peer]
    if bound != nil { interfaces.append(properties) }
    if bound != nil || isNode(target.path) { interfaces.append(introspectable) }
    if target.path == managerPath?.rawValue { interfaces.append(objectManager) }
    for interface in interfaces {
      let answer = try interface.answer(call, target, node, willRead, &interfaceSeen)
      if let answer { return answer }
    }
    return nil
  }

  // MARK: - The tree

  /// Whether something is exported at or below `path`.
  private func isNode(_ path: String) -> Bool {
    if path == "/" { return true }
    return exports.contains {
      $0.path.rawValue == path || $0.path.rawValue.hasPrefix(path + "/")
    }
  }

  /// The names of the nodes directly below `path`, in order of export.
  func childNames(of path: String) -> [String] {
    let prefix = path == "/" ? "/" : path + "/"
    var names: [String] = []
    var seen: Set<String> = []
    func add(_ descendant: String) {
      guard descendant.hasPrefix(prefix), descendant.utf8.count > prefix.utf8.count else { return }
      let rest = descendant.utf8.dropFirst(prefix.utf8.count)
      let name = String(Substring(rest.prefix { $0 != UInt8(ascii: "/") }))
      if seen.insert(name).inserted { names.append(name) }
    }
    for export in exports {
      add(export.path.rawValue)
      if export.isSubtree, export.path.rawValue == path {
        for child in export.children() { add(child.rawValue) }
      }
    }
    return names
  }

  /// The interfaces that stand beside an object's own, at a path.
  func standardInterfaceXML(at path: String, hasObject: Bool) -> [String] {
    var xml = [introspectable.xml, peer.xml]
    if hasObject { xml.insert(properties.xml, at: 0) }
    if path == managerPath?.rawValue { xml.append(objectManager.xml) }
    return xml
  }

  /// Writes `a{oa{sa{sv}}}`: every object below the manager, with its interfaces and properties.
  func writeManagedObjects(to writer: inout MessageWriter) {
    let prefix = (managerPath?.rawValue ?? "") + "/"
    writer.array(of: "{oa{sa{sv}}}") { writer in
      for export in exports where export.isSubtree && export.path.rawValue.hasPrefix(prefix) {
        for path in export.children() {
          guard let object = export.bind(path.rawValue) else { continue }
          writer.entry {
            path.write(to: &$0)
            object.writeInterfaces(to: &$0)
          }
        }
      }
    }
  }

  // MARK: - Signals of the ObjectManager

  /// InterfacesAdded for an object with its full state.
  package func interfacesAdded(at path: ObjectPath) -> Message? {
    guard let managerPath else { return nil }
    for export in exports {
      guard let object = export.bind(path.rawValue) else { continue }
      return Message(
        signal: "InterfacesAdded", of: .objectManager, from: managerPath, signature: "oa{sa{sv}}"
      ) {
        path.write(to: &$0)
        object.writeInterfaces(to: &$0)
      }
    }
    return nil
  }

  /// InterfacesRemoved for an object that is gone.
  package func interfacesRemoved(at path: ObjectPath, _ interfaces: [InterfaceName]) -> Message? {
    guard let managerPath else { return nil }
    return Message(
      signal: "InterfacesRemoved", of: .objectManager, from: managerPath, to: nil, path, interfaces)
  }
}

/// What a call asks for.
struct Target {
  let path: String
  /// Nil when the caller leaves it to the member's name.
  let interface: String?
  let member: String
}

/// Objects of one kind, without their Swift type.
private protocol Exported {
  var path: ObjectPath { get }
  /// Whether the objects are the path's children, not the path itself.
  var isSubtree: Bool { get }
  var children: () -> [ObjectPath] { get }
  func bind(_ path: String) -> (any BoundObject)?
}

private struct Export<Object>: Exported {
  let isSubtree: Bool
  let path: ObjectPath
  let interfaces: [Interface<Object>]
  let find: (String) -> Object?
  let children: () -> [ObjectPath]

  func bind(_ path: String) -> (any BoundObject)? {
    find(path).map { Binding(object: $0, interfaces: interfaces) }
  }
}

/// One object with its tables, without its Swift type.
protocol BoundObject {
  /// The answer; nil when no interface of its own has such a method.
  func answer(
    _ call: Message, _ target: Target, _ willRead: () -> Void, _ interfaceSeen: inout Bool
  ) throws(DBusError) -> Message?
  /// What writes one property as a variant.
  func property(
    _ name: String, of interface: String
  ) throws(DBusError) -> (inout MessageWriter) -> Void
  /// What writes `a{sv}`.
  func allProperties(of interface: String) throws(DBusError) -> (inout MessageWriter) -> Void
  /// Writes `a{sa{sv}}`.
  func writeInterfaces(to writer: inout MessageWriter)
  /// Its own interfaces for introspection.
  var interfaceXML: [String] { get }
}

private struct Binding<Object>: BoundObject {
  let object: Object
  let interfaces: [Interface<Object>]

  func answer(
    _ call: Message, _ target: Target, _ willRead: () -> Void, _ interfaceSeen: inout Bool
  ) throws(DBusError) -> Message? {
    for interface in interfaces {
      let answer = try interface.answer(call, target, object, willRead, &interfaceSeen)
      if let answer { return answer }
    }
    return nil
  }

  func property(
    _ name: String, of interface: String
  ) throws(DBusError) -> (inout MessageWriter) -> Void {
    for candidate in try candidates(interface) {
      if let place = candidate.propertyPlaces[name] {
        return { candidate.properties[place].writeVariant(of: object, to: &$0) }
      }
    }
    throw .standard(.unknownProperty, "There is no property “\(shortened(name, to: 256))” here.")
  }

  func allProperties(
    of interface: String
  ) throws(DBusError) -> (inout MessageWriter) -> Void {
    let found = try candidates(interface)
    return { writer in
      writer.array(of: "{sv}") { writer in
        for interface in found { interface.writeEntries(of: object, to: &writer) }
      }
    }
  }

  /// The interfaces that a caller means; an empty name means any.
  private func candidates(_ name: String) throws(DBusError) -> [Interface<Object>] {
    let found = interfaces.filter { name.isEmpty || $0.name.rawValue == name }
    // A standard interface is here too, and has no properties.
    guard !found.isEmpty || StandardInterfaces.names.contains(name) else {
      throw .standard(
        .unknownInterface, "There is no interface “\(shortened(name, to: 256))” here.")
    }
    return found
  }

  func writeInterfaces(to writer: inout MessageWriter) {
    writer.array(of: "{sa{sv}}") { writer in
      for interface in interfaces {
        writer.entry {
          $0.append(string: interface.name.rawValue)
          $0.array(of: "{sv}") { interface.writeEntries(of: object, to: &$0) }
        }
      }
    }
  }

  // An object may answer a standard interface itself, which is described already.
  var interfaceXML: [String] {
    interfaces.filter { !StandardInterfaces.names.contains($0.name.rawValue) }.map(\.xml)
  }
}

extension Interface {
  /// The answer to a call that names a method of this interface; nil when it names none.
  func answer(
    _ call: Message, _ target: Target, _ object: Object, _ willRead: () -> Void,
    _ interfaceSeen: inout Bool
  ) throws(DBusError) -> Message? {
    if let wanted = target.interface {
      guard wanted == name.rawValue else { return nil }
      interfaceSeen = true
    }
    guard let place = methodPlaces[target.member] else { return nil }
    let method = methods[place]
    guard call.hasSignature(method.inputSignature) else {
      throw .standard(
        .invalidArgs,
        "\(method.name) takes arguments of type “\(method.inputSignature)”, not “\(call.signature)”."
      )
    }
    if method.isReading { willRead() }
    return try method.answer(object, call)
  }
}
