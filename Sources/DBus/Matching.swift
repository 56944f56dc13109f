// SPDX-License-Identifier: MIT

internal import CDBus

/// Which signals somebody wants: a match rule of the D-Bus Specification.
package struct MatchRule: Equatable, Sendable {
  package var sender: BusName?
  package var path: ObjectPath?
  package var pathNamespace: ObjectPath?
  package var interface: InterfaceName?
  package var member: MemberName?
  package var argument0: String?

  package init(
    sender: BusName? = nil, path: ObjectPath? = nil, pathNamespace: ObjectPath? = nil,
    interface: InterfaceName? = nil, member: MemberName? = nil, argument0: String? = nil
  ) {
    self.sender = sender
    self.path = path
    self.pathNamespace = pathNamespace
    self.interface = interface
    self.member = member
    self.argument0 = argument0
  }

  /// The rule as the bus reads it.
  package var text: String {
    var parts = ["type='signal'"]
    func add(_ key: String, _ value: String?) {
      guard let value else { return }
      // Inside quotes nothing is special but the quote itself, which stands outside them, escaped.
      let quoted = value.split(separator: "'", omittingEmptySubsequences: false)
        .joined(separator: "'\\''")
      parts.append("\(key)='\(quoted)'")
    }
    add("sender", sender?.rawValue)
    add("path", path?.rawValue)
    add("path_namespace", pathNamespace?.rawValue)
    add("interface", interface?.rawValue)
    add("member", member?.rawValue)
    add("arg0", argument0)
    return parts.joined(separator: ",")
  }

  /// Whether a signal that arrived is one of these: the bus sends those of all rules together.
  func matches(_ message: Message) -> Bool {
    if let interface, interface.rawValue != message.interface { return false }
    if let member, member.rawValue != message.member { return false }
    if let path, path.rawValue != message.path { return false }
    if let pathNamespace {
      guard let path = message.path,
        path == pathNamespace.rawValue || path.hasPrefix(pathNamespace.rawValue + "/")
      else { return false }
    }
    if let sender, sender.isUnique || sender == .bus, sender.rawValue != message.sender {
      return false
    }
    guard let argument0 else { return true }
    // By bytes, as the bus compares: to == an accent written apart is the same.
    return message.firstString.map { $0.utf8.elementsEqual(argument0.utf8) } ?? false
  }
}

/// A rule that the bus was asked for, and what is done with its signals.
package final class Subscription {
  let rule: MatchRule
  let handler: (Message) -> Void
  init(rule: MatchRule, handler: @escaping (Message) -> Void) {
    self.rule = rule
    self.handler = handler
  }
}

/// Somebody's wish to hear when a name changes hands.
package final class NameWatch {
  let name: BusName
  let onChange: (_ owner: String?) -> Void
  init(name: BusName, onChange: @escaping (_ owner: String?) -> Void) {
    self.name = name
    self.onChange = onChange
  }
}

extension Connection {
  private func ownerRule(of name: BusName) -> MatchRule {
    MatchRule(
      sender: .bus, path: "/org/freedesktop/DBus", interface: .bus, member: "NameOwnerChanged",
      argument0: name.rawValue)
  }

  /// Calls `onChange` with the new owner, nil for none, each time that the name changes hands; and
  /// with nil when it turns out that it had no owner by the time the bus began to watch.
  ///
  /// One match rule a name, however many watch it. Nothing waits. Should the bus refuse the rule
  /// (it may limit how many a connection has), `onRefused` hears of it.
  package func watch(
    name: BusName, onRefused: ((DBusError) -> Void)? = nil,
    onChange: @escaping (_ owner: String?) -> Void
  ) -> NameWatch {
    let watch = NameWatch(name: name, onChange: onChange)
    nameWatches[name.rawValue, default: []].append(watch)
    if nameWatches[name.rawValue]?.count == 1 {
      let add = Message(
        call: "AddMatch", of: .bus, at: "/org/freedesktop/DBus", on: .bus, ownerRule(of: name).text)
      call(add) { result in
        if case .failure(let error) = result, !error.isStandard(.disconnected) { onRefused?(error) }
      }
    }
    // After the rule stands: whoever left before it was never announced to us.
    let question = Message(
      call: "NameHasOwner", of: .bus, at: "/org/freedesktop/DBus", on: .bus, name)
    call(question) { [weak self, weak watch] result in
      guard let self, let watch, self.isStanding(watch), case .success(let reply) = result,
        let hasOwner = try? reply.read(Bool.self), !hasOwner
      else { return }
      watch.onChange(nil)
    }
    return watch
  }

  /// Ends a watch; twice does no harm.
  package func unwatch(_ watch: NameWatch) {
    let key = watch.name.rawValue
    guard isStanding(watch) else { return }
    nameWatches[key]?.removeAll { $0 === watch }
    if nameWatches[key]?.isEmpty == true {
      nameWatches[key] = nil
      dbus_bus_remove_match(raw, ownerRule(of: watch.name).text, nil)
    }
  }

  private func isStanding(_ watch: NameWatch) -> Bool {
    nameWatches[watch.name.rawValue]?.contains { $0 === watch } ?? false
  }

  func nameOwnerChanged(_ message: Message) {
    guard
      let (name, _, newOwner) = try? message.read(String.self, String.self, String.self)
    else { return }
    for watch in nameWatches[name] ?? [] where isStanding(watch) {
      watch.onChange(newOwner.isEmpty ? nil : newOwner)
    }
  }
}
