// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
internal import DBus
internal import EventLoop

/// One desktop notification at the end of what asked for one.
///
/// By the Desktop Notifications Specification. Servers differ in what they can do, and one may follow
/// another, so each new owner of the name is asked first; what ends meanwhile waits.
final class Notifications: Plugin {
  static let name = "notifications"

  private static let server: BusName = "org.freedesktop.Notifications"
  private static let interface: InterfaceName = "org.freedesktop.Notifications"
  private static let path: ObjectPath = "/org/freedesktop/Notifications"

  /// What is known of the server.
  private enum Server {
    case absent
    /// Whether there is one, or what it can do, is being asked; these wait for the answer.
    case asked(waiting: [Notification])
    case known(hasActions: Bool, hasMarkup: Bool)
  }

  private let context: PluginContext
  private var watch: ServerWatch?
  // What ended before this process began is told before the bus can have answered.
  private var server = Server.asked(waiting: [])
  /// Calls that the server has not answered.
  private var unanswered = 0
  /// Notifications with an action that are open, and whose countdown they told of.
  private var open: [UInt32: ControlName] = [:]
  private var subscriptions: [Subscription] = []

  /// How many may wait for a server that does not answer; what comes then is dropped.
  private static let mostUnanswered = 32
  /// How many open ones are remembered; an action of an older one does nothing.
  private static let mostOpen = 64
  private static let oneMoreMinute = "one-more-minute"

  init(_ context: PluginContext) { self.context = context }

  func start() {
    watch = ServerWatch(of: Self.server, for: context) { [unowned self] owner in
      forgetOpen()
      unanswered = 0
      if owner == nil {
        server = .absent
        context.setStatus(Self.server, isPresent: false)
      } else {
        askCapabilities()
      }
    }
  }

  func show(_ drain: Drain) {
    guard !drain.events.isEmpty else { return }
    if case .absent = server { return }
    for event in drain.events {
      switch event {
      case .finished(let end) where end.notify: notify(Notification(end))
      case .holdNotification(let end): notify(Notification(end))
      default: break
      }
    }
  }

  // MARK: - The server

  private func askCapabilities() {
    guard let owner = watch?.owner else { return }
    if case .asked = server {} else { server = .asked(waiting: []) }
    let question = Message(
      call: "GetCapabilities", of: Self.interface, at: Self.path, on: BusName(unchecked: owner))
    context.call(question) { [weak self] result in
      guard let self, watch?.owner == owner, case .asked(let waiting) = server else { return }
      do {
        let capabilities = try result.get().read([String].self)
        server = .known(
          hasActions: capabilities.contains("actions"),
          hasMarkup: capabilities.contains("body-markup"))
        context.setStatus(Self.server, isPresent: true)
      } catch let error as DBusError {
        // It may still show a plain text.
        server = .known(hasActions: false, hasMarkup: false)
        context.fail("\(Self.server) does not tell what it can do", error)
      } catch {}
      for notification in waiting { notify(notification) }
    }
  }

  private func notify(_ notification: Notification) {
    switch server {
    case .absent: break
    case .asked(var waiting):
      guard waiting.count < Self.mostUnanswered else { return }
      waiting.append(notification)
      server = .asked(waiting: waiting)
    case .known(let hasActions, let hasMarkup):
      guard unanswered < Self.mostUnanswered, !context.isCongested else { return }
      send(notification, withAction: hasActions && notification.isCountdown, hasMarkup: hasMarkup)
    }
  }

  private func send(_ notification: Notification, withAction: Bool, hasMarkup: Bool) {
    guard let owner = watch?.owner else { return }
    // Before the call: the click can then not come too early to be heard.
    if withAction { subscribe() }
    let actions = withAction ? [Self.oneMoreMinute, Texts.oneMoreMinute] : []
    let byServer: Int32 = -1
    let call = Message(
      call: "Notify", of: Self.interface, at: Self.path, on: BusName(unchecked: owner),
      Texts.application, UInt32(0), icon(of: notification), notification.title,
      hasMarkup ? notification.body.escapedForMarkup : notification.body, actions,
      hints(of: notification), byServer)
    unanswered += 1
    context.call(call) { [weak self] result in
      guard let self, watch?.owner == owner else { return }
      unanswered = max(0, unanswered - 1)
      switch result {
      case .success(let reply):
        if withAction, let id = try? reply.read(UInt32.self) { remember(id, notification.control) }
        context.setStatus(Self.server, isPresent: true)
      case .failure(let error):
        context.fail("\(Self.server) did not take a notification", error)
      }
      unsubscribeIfIdle()
    }
  }

  private func view(of notification: Notification) -> ControlView? {
    let machine = context.turn.machine
    return machine.find(notification.control).map { machine[$0] }
  }

  private func icon(of notification: Notification) -> String {
    view(of: notification)?.icon ?? ""
  }

  // No `value`: some servers show only the gauge then, and not the text.
  private func hints(of notification: Notification) -> PropertyList {
    var hints: PropertyList = ["sound-name": .string("complete"), "urgency": .byte(1)]
    if let entry = view(of: notification)?.desktopEntry, !entry.isEmpty {
      hints.entries.append(("desktop-entry", .string(entry)))
    }
    return hints
  }

  // MARK: - The action

  // Others' notifications would wake the daemon, so it listens only while one of its own is open.
  private func subscribe() {
    guard subscriptions.isEmpty else { return }
    subscriptions = [
      context.connection.subscribe(to: rule("ActionInvoked")) { [unowned self] in invoked($0) },
      context.connection.subscribe(to: rule("NotificationClosed")) { [unowned self] in closed($0) },
    ]
  }

  private func rule(_ member: MemberName) -> MatchRule {
    MatchRule(sender: Self.server, path: Self.path, interface: Self.interface, member: member)
  }

  private func unsubscribeIfIdle() {
    guard open.isEmpty, unanswered == 0 else { return }
    for subscription in subscriptions { context.connection.unsubscribe(subscription) }
    subscriptions = []
  }

  private func remember(_ id: UInt32, _ control: ControlName) {
    if open.count >= Self.mostOpen, let oldest = open.keys.min() { open[oldest] = nil }
    open[id] = control
  }

  private func forgetOpen() {
    open = [:]
    for subscription in subscriptions { context.connection.unsubscribe(subscription) }
    subscriptions = []
  }

  private func invoked(_ signal: Message) {
    guard signal.sender == watch?.owner,
      let (id, action) = try? signal.read(UInt32.self, String.self),
      action == Self.oneMoreMinute, let control = open.removeValue(forKey: id)
    else { return }
    unsubscribeIfIdle()
    var options = CountdownOptions()
    options.notify = true
    // Somebody may have started another one since.
    options.restart = .extend
    do {
      _ = try context.turn.machine.startCountdown(
        control, duration: Microseconds(seconds: 60), options,
        sender: context.connection.uniqueName, now: context.turn.now)
    } catch {
      Log.warning("plugin \(Self.name): \(error)")
    }
  }

  private func closed(_ signal: Message) {
    guard signal.sender == watch?.owner,
      let (id, _) = try? signal.read(UInt32.self, UInt32.self)
    else { return }
    open[id] = nil
    unsubscribeIfIdle()
  }
}

/// What one notification says.
struct Notification: Equatable {
  let control: ControlName
  let isCountdown: Bool
  let title: String
  let body: String

  init(_ end: FinishedCountdown) {
    control = end.control
    isCountdown = true
    title = end.title.isEmpty ? end.control.rawValue : end.title
    body = Texts.finished(after: end.duration)
  }

  init(_ end: EndedHold) {
    control = end.control
    isCountdown = false
    title = end.title.isEmpty ? end.control.rawValue : end.title
    body = Texts.ended(after: end.heldFor, result: end.result)
  }
}
