// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
internal import DBus
internal import EventLoop

/// The plugins that run.
final class Plugins {
  /// All that there are.
  ///
  /// A new one is a file and a line here.
  static var all: [any Plugin.Type] { [Tray.self, Launcher.self, Notifications.self] }

  private let unknown: [String]
  private var plugins: [any Plugin] = []
  private var contexts: [PluginContext] = []
  /// Whether the property `Plugins` has changed since it was last announced.
  private(set) var hasChanged = false

  /// Makes those that `choice` names.
  init(
    _ choice: PluginChoice, turn: Turn, loop: EventLoop, connection: Connection,
    objects: ObjectServer
  ) {
    unknown = choice.unknown
    for type in Self.all where choice.names.contains(type.name) {
      let context = PluginContext(
        name: type.name, turn: turn, loop: loop, connection: connection, objects: objects,
        isStill: choice.isStill, onStatusChange: { [unowned self] in hasChanged = true })
      contexts.append(context)
      plugins.append(type.init(context))
    }
    if !plugins.isEmpty {
      turn.addReader { [unowned self] drain in
        for plugin in plugins { plugin.show(drain) }
      }
    }
  }

  /// Lets them look for their servers; the loop drives the connection by now.
  func start() {
    for name in unknown {
      Log.warning(
        "BUSYINDICATORD_PLUGINS: \(Log.quoted(name)) is not one of \(Self.names)")
    }
    for plugin in plugins { plugin.start() }
  }

  /// Lets them take back what they show.
  func stop() {
    for plugin in plugins { plugin.stop() }
  }

  /// The property `Plugins`: name, state, detail of each.
  var statuses: [Structure<String, String, String>] {
    contexts.map { Structure($0.name, $0.status.state.rawValue, $0.status.detail) }
  }

  /// Whether the property has changed since this was asked last.
  func takeChange() -> Bool {
    defer { hasChanged = false }
    return hasChanged
  }
}

/// Which plugins the user wants.
struct PluginChoice: Equatable {
  /// Their names.
  private(set) var names: Set<String>
  /// Names in the environment that are none; a newer version may know them.
  private(set) var unknown: [String] = []
  /// Whether nothing may move.
  var isStill = false

  /// Those that the environment names, separated by commas; all of them when it does not say.
  init(environment: String?) {
    let all = Set(Plugins.all.map { $0.name })
    guard let environment else {
      names = all
      return
    }
    let words = environment.split(separator: ",")
      .map { String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
    names = all.intersection(words)
    unknown = words.filter { !all.contains($0) && !$0.isEmpty }
  }

  /// Turns one on or off.
  ///
  /// - Returns: false when there is none of that name.
  mutating func set(_ name: String, on: Bool) -> Bool {
    guard Plugins.all.contains(where: { $0.name == name }) else { return false }
    if on { names.insert(name) } else { names.remove(name) }
    return true
  }
}

extension Plugins {
  /// The names of all that there are, for people.
  static var names: String { all.map { $0.name }.joined(separator: ", ") }
}
