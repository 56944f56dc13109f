// SPDX-License-Identifier: MIT

internal import DBus
internal import EventLoop

/// Follows who owns a well-known name, from the start on; starts no service.
final class ServerWatch {
  /// The unique name of the owner; nil for none, and before it is known.
  private(set) var owner: String?

  private var isKnown = false
  private var watch: NameWatch?
  private let onChange: (_ owner: String?) -> Void

  /// Calls `onChange` once the owner is known, and each time that it changes.
  init(
    of name: BusName, for context: PluginContext, onChange: @escaping (_ owner: String?) -> Void
  ) {
    self.onChange = onChange
    watch = context.connection.watch(name: name) { error in
      context.fail("The bus does not tell who owns \(name)", error)
    } onChange: { [weak self] owner in
      self?.update(owner)
    }
    // The bus answers in order: what it says of now comes between the changes before and after.
    let question = Message(
      call: "GetNameOwner", of: .bus, at: "/org/freedesktop/DBus", on: .bus, name)
    context.connection.call(question) { [weak self] result in
      if case .failure(let error) = result, error.isStandard(.disconnected) { return }
      self?.update((try? result.get()).flatMap { try? $0.read(String.self) })
    }
  }

  private func update(_ newOwner: String?) {
    guard !isKnown || newOwner != owner else { return }
    isKnown = true
    owner = newOwner
    onChange(newOwner)
  }
}
