// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
internal import DBus
internal import EventLoop
internal import Glibc

/// One item in the tray: a ring, a tooltip and a menu for all that goes on.
///
/// What hosts read is a snapshot; it is made anew at the end of a turn that changed something, and
/// when time alone changes the picture, but never more often than its pace. Without a watcher nothing
/// is made at all.
final class Tray: Plugin {
  static let name = "tray"

  private(set) var appearance = ItemAppearance()
  private(set) var menu = TrayMenu()
  private(set) var menuRevision: UInt32 = 1

  private let context: PluginContext
  private let itemTable = makeItemInterface()
  private var keptProperties: Message?
  private var watch: ServerWatch?
  private var pacer: Pacer?
  private var isRegistered = false
  /// The item's own name on the bus, once it has been asked for.
  private var itemName: String?
  private var isNaming = false
  /// What scrolling brought to the front.
  private var chosen: ControlName?
  private var isStale = true
  private var turningStep = 0

  /// Five frames a second at most; one while only countdowns run and nobody does anything.
  private static let framePace: UInt64 = 200_000
  private static let quietPace: UInt64 = 1_000_000
  /// How many controls the tooltip lists.
  private static let mostLines = 8

  init(_ context: PluginContext) {
    self.context = context
    menu.update([])
    context.objects.export(
      self, at: StatusNotifier.itemPath, interfaces: [itemTable, makeKeptPropertiesInterface()])
    context.objects.export(self, at: StatusNotifier.menuPath, interfaces: [makeMenuInterface()])
    pacer = Pacer(context.loop, interval: Self.framePace) { [unowned self] in refresh() }
  }

  func start() {
    watch = ServerWatch(of: StatusNotifier.watcher, for: context) { [unowned self] owner in
      isRegistered = false
      pacer?.stop()
      if owner == nil {
        context.setStatus(StatusNotifier.watcher, isPresent: false)
      } else {
        takeName()
      }
    }
  }

  func show(_ drain: Drain) {
    guard isRegistered else { return }
    if !drain.changes.isEmpty { isStale = true }
    if isStale { pacer?.request() }
  }

  // MARK: - Registering

  // The specification wants a name of its own for each item. Where the bus refuses one, the watcher
  // is given the connection's unique name, which serves as well.
  private func takeName() {
    if itemName != nil { return register() }
    // The answer on its way registers with whatever watcher there is by then.
    guard !isNaming else { return }
    isNaming = true
    let name = "org.kde.StatusNotifierItem-\(getpid())-1"
    let doNotQueue: UInt32 = 4
    let request = Message(
      call: "RequestName", of: .bus, at: "/org/freedesktop/DBus", on: .bus, name, doNotQueue)
    context.call(request) { [weak self] result in
      guard let self else { return }
      isNaming = false
      let isOwner = (try? result.get().read(UInt32.self)).map { $0 == 1 || $0 == 4 } ?? false
      itemName = isOwner ? name : context.connection.uniqueName
      register()
    }
  }

  private func register() {
    guard let owner = watch?.owner, let itemName else { return }
    let call = Message(
      call: "RegisterStatusNotifierItem", of: StatusNotifier.watcherInterface,
      at: StatusNotifier.watcherPath, on: BusName(unchecked: owner), itemName)
    context.call(call) { [weak self] result in
      // One that has left meanwhile does not count.
      guard let self, watch?.owner == owner else { return }
      switch result {
      case .success:
        context.setStatus(StatusNotifier.watcher, isPresent: true)
        isRegistered = true
        isStale = true
        pacer?.request()
      case .failure(let error):
        context.fail("\(StatusNotifier.watcher) did not take the item", error)
      }
    }
  }

  // MARK: - What a person does

  /// Brings the next or the previous control to the front.
  func scrolled(_ direction: Int) {
    guard direction != 0 else { return }
    let activities = context.turn.activities(at: context.turn.now)
    guard activities.count > 1 else { return }
    let leader = leader(of: activities)?.name
    let front = activities.firstIndex { $0.name == leader } ?? 0
    let next = (front + direction + activities.count) % activities.count
    chosen = activities[next].name
    isStale = true
  }

  /// Does what an item says; within the turn of the call that told of the click.
  func clicked(_ item: MenuItem) {
    let now = context.turn.now
    // It may have ended just now: then there is nothing left to do.
    switch item.action {
    case .hide(let name): _ = context.turn.machine.releaseAll(name, now: now)
    case .pause(let name): try? context.turn.machine.pauseCountdown(name, now: now)
    case .resume(let name): try? context.turn.machine.resumeCountdown(name, now: now)
    case .cancel(let name): try? context.turn.machine.cancelCountdown(name, now: now)
    case nil: break
    }
  }

  // MARK: - The snapshot

  /// The answer to GetAll.
  func allProperties(replyTo call: Message) -> Message {
    if let keptProperties { return Message(replyTo: call, copying: keptProperties) }
    let reply = itemTable.allProperties(of: self, replyTo: call)
    keptProperties = reply
    return Message(replyTo: call, copying: reply)
  }

  /// Makes the snapshot anew and tells of what differs; returns when that is to be done again.
  private func refresh() -> UInt64? {
    guard isRegistered else { return nil }
    let now = context.now
    // The bus does not read: the next frame may find it better.
    if context.isCongested { return now.boottime.rawValue + Self.quietPace }
    isStale = false
    let activities = context.turn.activities(at: now)
    let leader = leader(of: activities)
    showAppearance(activities, leader)
    showMenu(activities)
    return nextChange(activities, leader).map { now.boottime.rawValue + $0 }
  }

  /// Whose ring is drawn: what was scrolled to, else the first spinner, else the first countdown.
  private func leader(of activities: [Activity]) -> Activity? {
    activities.first { $0.name == chosen } ?? activities.first(where: \.isVisible)
      ?? activities.first
  }

  private func ring(of leader: Activity?) -> Ring {
    guard let leader else { return .empty }
    guard let steps = leader.step(of: Ring.fillingSteps) else {
      if !context.isStill { turningStep = (turningStep + 1) % Ring.turningSteps }
      return .turning(step: turningStep)
    }
    let isPaused = leader.progress == nil && leader.countdown?.isPaused == true
    return isPaused ? .paused(steps: steps) : .filled(steps: steps)
  }

  private func showAppearance(_ activities: [Activity], _ leader: Activity?) {
    let old = appearance
    let ring = ring(of: leader)
    if ring != old.icon.ring { appearance.icon = ItemAppearance.Icon(ring) }
    appearance.isActive = !activities.isEmpty
    appearance.description = leader.map(Texts.line) ?? Texts.idle
    appearance.heading =
      activities.isEmpty ? Texts.application : Texts.heading(count: activities.count)
    appearance.text = toolTip(activities, leader)
    guard appearance != old else { return }
    keptProperties = nil
    if appearance.status != old.status {
      signal("NewStatus", appearance.status)
    }
    if appearance.icon != old.icon { signal("NewIcon") }
    if appearance.heading != old.heading || appearance.text != old.text { signal("NewToolTip") }
  }

  private func toolTip(_ activities: [Activity], _ leader: Activity?) -> String {
    guard let leader else { return Texts.idle }
    var lines = [Texts.line(leader)]
    for activity in activities where lines.count < Self.mostLines && activity.name != leader.name {
      lines.append(Texts.line(activity))
    }
    if activities.count > lines.count {
      lines.append(Texts.more(activities.count - lines.count))
    }
    return lines.map(\.escapedForMarkup).joined(separator: "\n")
  }

  private func showMenu(_ activities: [Activity]) {
    let old = menu
    menu.update(activities)
    guard menu.hasSameShape(as: old) else {
      menuRevision &+= 1
      signal(
        "LayoutUpdated", of: "com.canonical.dbusmenu", from: StatusNotifier.menuPath, menuRevision,
        Int32(0))
      return
    }
    let updated = menu.relabelled(since: old)
    guard !updated.isEmpty else { return }
    signal(
      "ItemsPropertiesUpdated", of: "com.canonical.dbusmenu", from: StatusNotifier.menuPath,
      updated.map { Structure($0.id, $0.properties(["label"])) },
      [Structure<Int32, [String]>]())
  }

  /// When the picture or a text changes by itself, in microseconds from now.
  ///
  /// Without a spinner a second is soon enough for all but the leader's own text. So what is seen at
  /// first counts the seconds at the right moments, and the rest goes along with it.
  private func nextChange(_ activities: [Activity], _ leader: Activity?) -> UInt64? {
    guard let leader else { return nil }
    let quiet = Self.quietPace
    let hasSpinner = activities.contains(where: \.isVisible)
    var next: [UInt64?] = [leader.nextTextChange]
    next.append(leader.nextStep(of: Ring.fillingSteps).map { hasSpinner ? $0 : max($0, quiet) })
    if leader.fraction == nil, !context.isStill { next.append(Self.framePace) }
    for activity in activities where activity.name != leader.name {
      next.append(activity.nextTextChange.map { max($0, quiet) })
    }
    return next.compactMap(\.self).min()
  }

  private func signal<each Value: DBusEncodable>(
    _ member: MemberName, of interface: InterfaceName = StatusNotifier.interface,
    from path: ObjectPath = StatusNotifier.itemPath, _ values: repeat each Value
  ) {
    context.connection.send(
      Message(signal: member, of: interface, from: path, to: nil, repeat each values))
  }
}
