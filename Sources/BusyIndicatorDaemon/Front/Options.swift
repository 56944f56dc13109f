// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
internal import DBus

// The `a{sv}` of the three methods that have options, checked key by key. What is shared by all three
// stands in one table, what belongs to one in its own.

/// What a method's options are read into.
private protocol Optioned {
  var attributes: Attributes { get set }
  var holder: HolderOptions { get set }
}

extension ShowOptions: Optioned {}
extension HoldOptions: Optioned {}
extension CountdownOptions: Optioned {}

/// One option: the type of its value, and where that goes.
private struct Option<Target> {
  let signature: String
  let store: (inout Target, OptionList.Value) throws(DBusError) -> Void

  static func string(_ path: WritableKeyPath<Target, String?>) -> Option {
    Option(signature: "s") { (target, value) throws(DBusError) in
      if case .string(let text) = value { target[keyPath: path] = text }
    }
  }

  static func boolean(_ path: WritableKeyPath<Target, Bool>) -> Option {
    Option(signature: "b") { (target, value) throws(DBusError) in
      if case .boolean(let flag) = value { target[keyPath: path] = flag }
    }
  }

  static func number(_ path: WritableKeyPath<Target, UInt32>) -> Option {
    Option(signature: "u") { (target, value) throws(DBusError) in
      if case .uint32(let number) = value { target[keyPath: path] = number }
    }
  }

  static func duration(_ path: WritableKeyPath<Target, Microseconds?>) -> Option {
    Option(signature: "t") { (target, value) throws(DBusError) in
      if case .uint64(let number) = value {
        target[keyPath: path] = Microseconds(rawValue: number)
      }
    }
  }

  /// A word out of a few.
  static func word<Word: RawRepresentable<String> & CaseIterable>(
    _ key: String, _ store: @escaping (inout Target, Word) -> Void
  ) -> Option {
    Option(signature: "s") { (target, value) throws(DBusError) in
      guard case .string(let text) = value else { return }
      guard let word = Word(rawValue: text) else {
        let known = Word.allCases.map { "“\($0.rawValue)”" }.joined(separator: ", ")
        throw .invalid("The option “\(key)” is one of \(known), not “\(shortened(text))”.")
      }
      store(&target, word)
    }
  }
}

extension DBusError {
  fileprivate static func invalid(_ message: String) -> DBusError {
    .standard(.invalidArgs, message)
  }
}

/// Reads every option of `list` into `target`, by the table.
private func read<Target: Optioned>(
  _ list: OptionList, into target: inout Target, _ own: [String: Option<Target>]
) throws(DBusError) {
  let common: [String: Option<Target>] = [
    "title": .string(\.attributes.title),
    "detail": .string(\.attributes.detail),
    "icon": .string(\.attributes.icon),
    "desktop-entry": .string(\.attributes.desktopEntry),
    "application": .string(\.holder.application),
    "grace-usec": .duration(\.holder.grace),
    "minimum-usec": .duration(\.holder.minimum),
  ]
  guard !list.isTruncated else { throw .invalid("There are more than \(OptionList.most) options.") }
  var seen: Set<String> = []
  // By bytes: to hasPrefix an "x-" with a combining character behind it is none.
  for (key, value) in list.entries where !key.utf8.starts(with: "x-".utf8) {
    guard let option = own[key] ?? common[key] else {
      throw .invalid("There is no option “\(shortened(key))” here.")
    }
    guard seen.insert(key).inserted else { throw .invalid("The option “\(key)” is given twice.") }
    guard value.signature == option.signature else {
      throw .invalid(
        "The option “\(key)” is of type “\(option.signature)”, not “\(value.signature)”.")
    }
    try option.store(&target, value)
  }
}

extension ShowOptions {
  init(_ list: OptionList) throws(DBusError) {
    self.init()
    try read(list, into: &self, ["timeout-usec": .duration(\.timeout)])
  }
}

extension CountdownOptions {
  init(_ list: OptionList) throws(DBusError) {
    self.init()
    try read(
      list, into: &self,
      [
        "interval": .number(\.interval),
        "indicator": .boolean(\.indicator),
        "paused": .boolean(\.paused),
        "notify": .boolean(\.notify),
        "restart": .word("restart") { $0.restart = $1 },
        "clock": .word("clock") { $0.clock = $1 },
        "lease": .word("lease") { (options, lease: CountdownLease) in
          options.endsWithSender = lease == .sender
        },
      ])
  }

  /// Of the kinds of lease, those that a countdown can have.
  private enum CountdownLease: String, CaseIterable { case none, sender }
}

extension HoldOptions {
  init(reason: String, _ list: OptionList) throws(DBusError) {
    var request = HoldRequest(hold: HoldOptions(reason: reason))
    try read(
      list, into: &request,
      [
        "lease": .word("lease") { $0.lease = $1 },
        "pid": Option(signature: "u") { (request, value) throws(DBusError) in
          if case .uint32(let pid) = value { request.pid = pid }
        },
        "ttl-usec": .duration(\.ttl),
        "exclusive": .boolean(\.hold.exclusive),
        "notify-after-usec": .duration(\.hold.notifyAfter),
      ])
    self = request.hold
    lease = try request.resolvedLease()
  }
}

/// A hold's options before it is clear which lease they make together.
private struct HoldRequest: Optioned {
  var hold: HoldOptions
  var lease: LeaseKind?
  var pid: UInt32?
  var ttl: Microseconds?

  var attributes: Attributes {
    get { hold.attributes }
    set { hold.attributes = newValue }
  }
  var holder: HolderOptions {
    get { hold.holder }
    set { hold.holder = newValue }
  }

  func resolvedLease() throws(DBusError) -> Lease {
    let kind = lease ?? (pid != nil ? .pid : ttl != nil ? .ttl : .sender)
    if pid != nil, kind != .pid {
      throw .invalid("The option “pid” does not go with the lease “\(kind.rawValue)”.")
    }
    if ttl != nil, kind != .ttl {
      throw .invalid("The option “ttl-usec” does not go with the lease “\(kind.rawValue)”.")
    }
    switch kind {
    case .sender: return .sender
    case .none: return .none
    case .pid:
      guard let pid else { throw .invalid("The lease “pid” wants the option “pid”.") }
      return .process(pid: pid, startTime: 0)
    case .ttl:
      guard let ttl else { throw .invalid("The lease “ttl” wants the option “ttl-usec”.") }
      return .ttl(ttl)
    }
  }
}
