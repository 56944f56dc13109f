// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
internal import DBus
internal import EventLoop

// com.canonical.Unity.LauncherEntry, which docks took over from Unity: they own the name
// com.canonical.Unity and listen for Update. Few ask, so all is sent again when that name gets an
// owner. They forget an entry whose sender leaves the bus, so it is sent from the daemon's connection.

/// Progress and badges in docks, for controls that name a desktop entry.
final class Launcher: Plugin {
  static let name = "launcher"

  private static let server: BusName = "com.canonical.Unity"
  private static let interface: InterfaceName = "com.canonical.Unity.LauncherEntry"
  private static let pathPrefix: ObjectPath = "/com/canonical/unity/launcherentry"

  private let context: PluginContext
  private var watch: ServerWatch?
  private var pacer: Pacer?
  private var isStale = false
  private var hasStopped = false
  /// What the dock was told last, idle entries left out.
  private var shown: [String: LauncherEntry] = [:]
  /// The desktop entries of countdowns that finished of late, and until when on CLOCK_BOOTTIME.
  private var urgent: [String: UInt64] = [:]

  /// Two bars a second are enough, and one where only time passes.
  private static let pace: UInt64 = 500_000
  private static let quietPace: UInt64 = 1_000_000
  /// As long as an idle control stays by default, and can be asked how it ended.
  private static let urgencyTime: UInt64 = 60_000_000
  /// How many entries may be urgent.
  private static let mostUrgent = 64

  init(_ context: PluginContext) {
    self.context = context
    context.objects.exportChildren(
      of: Self.pathPrefix, interfaces: [makeLauncherInterface()],
      find: { [unowned self] in entry(at: $0) },
      children: { [unowned self] in shown.keys.sorted().map(Self.path) })
    pacer = Pacer(context.loop, interval: Self.pace) { [unowned self] in refresh() }
  }

  func start() {
    watch = ServerWatch(of: Self.server, for: context) { [unowned self] owner in
      pacer?.stop()
      shown = [:]
      context.setStatus(Self.server, isPresent: owner != nil)
      if owner != nil {
        clear()
        isStale = true
        pacer?.request()
      }
    }
  }

  func show(_ drain: Drain) {
    guard watch?.owner != nil, !hasStopped else { return }
    for case .finished(let end) in drain.events { noteFinished(end.control) }
    if !drain.changes.isEmpty { isStale = true }
    if isStale { pacer?.request() }
  }

  func stop() {
    guard watch?.owner != nil else { return }
    for (desktopEntry, entry) in shown where entry != .idle { send(.idle, for: desktopEntry) }
    shown = [:]
    hasStopped = true
    pacer?.stop()
  }

  private func noteFinished(_ control: ControlName) {
    let machine = context.turn.machine
    guard let id = machine.find(control), urgent.count < Self.mostUrgent else { return }
    let desktopEntry = machine[id].desktopEntry
    guard !desktopEntry.isEmpty else { return }
    urgent[desktopEntry] = context.now.boottime.rawValue + Self.urgencyTime
    isStale = true
  }

  // A dock may have kept what an earlier process of ours showed.
  private func clear() {
    let machine = context.turn.machine
    let known = Set(machine.controls.map { machine[$0].desktopEntry }.filter { !$0.isEmpty })
    let active = Set(context.turn.activities(at: context.now).map(\.desktopEntry))
    for desktopEntry in known.subtracting(active).sorted() where urgent[desktopEntry] == nil {
      send(.idle, for: desktopEntry)
    }
  }

  /// Tells what differs from what was told; returns when that is to be done again.
  private func refresh() -> UInt64? {
    guard watch?.owner != nil else { return nil }
    let now = context.now
    if context.isCongested { return now.boottime.rawValue + Self.quietPace }
    isStale = false
    let activities = context.turn.activities(at: now)
    forgetUrgent(now, activities)
    let all = LauncherEntries(activities, urgent: urgent.keys)
    for (desktopEntry, entry) in all.entries where shown[desktopEntry] != entry {
      send(entry, for: desktopEntry)
    }
    for (desktopEntry, _) in shown where all.entries[desktopEntry] == nil {
      send(.idle, for: desktopEntry)
    }
    shown = all.entries
    let next = all.nextChange.map { now.boottime.rawValue + max($0, Self.quietPace) }
    return [next, urgent.values.min()].compactMap(\.self).min()
  }

  /// Attention ends after a time, and when there is something new to look at.
  private func forgetUrgent(_ now: Now, _ activities: [Activity]) {
    guard !urgent.isEmpty else { return }
    var counts: [String: Int] = [:]
    for activity in activities { counts[activity.desktopEntry, default: 0] += 1 }
    urgent = urgent.filter { desktopEntry, end in
      let count = counts[desktopEntry, default: 0]
      let hasGrown = shown[desktopEntry].map { $0.isUrgent && count > $0.count } ?? false
      return end > now.boottime.rawValue && !hasGrown
    }
  }

  // MARK: - On the bus

  private func send(_ entry: LauncherEntry, for desktopEntry: String) {
    let signal = Message(
      signal: "Update", of: Self.interface, from: Self.path(of: desktopEntry), to: nil,
      Self.uri(of: desktopEntry), entry.properties)
    context.connection.send(signal)
  }

  private static func uri(of desktopEntry: String) -> String {
    "application://\(desktopEntry).desktop"
  }

  private static func path(of desktopEntry: String) -> ObjectPath {
    ObjectPath(encoding: desktopEntry, below: pathPrefix)
  }

  private func entry(at path: ObjectPath) -> ShownEntry? {
    guard let desktopEntry = path.decodedLabel(below: Self.pathPrefix),
      let entry = shown[desktopEntry]
    else { return nil }
    return ShownEntry(uri: Self.uri(of: desktopEntry), entry: entry)
  }

  fileprivate struct ShownEntry {
    let uri: String
    let entry: LauncherEntry
  }

  private func makeLauncherInterface() -> Interface<ShownEntry> {
    Interface(
      Self.interface,
      methods: [
        Method("Query", out: ["app_uri", "properties"], isReading: true) {
          (shown: ShownEntry, _: Message) throws(DBusError) -> (String, PropertyList) in
          (shown.uri, shown.entry.properties)
        }
      ],
      signals: [SignalDescription("Update", [("app_uri", "s"), ("properties", "a{sv}")])])
  }
}
