// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
internal import DBus

/// What a click on an item of the menu does to a control.
enum MenuAction: Equatable {
  case hide(ControlName)
  case pause(ControlName)
  case resume(ControlName)
  case cancel(ControlName)
}

/// One item of the tray's menu.
struct MenuItem: Equatable {
  var id: Int32
  var label = ""
  var isEnabled = true
  var isSeparator = false
  var action: MenuAction?
  var children: [MenuItem] = []
}

/// The tray's menu: the active controls, each with what can be done to it.
///
/// One control stands in the menu itself, several have a submenu each. An item keeps its number for as
/// long as its control is listed, and a number is not used again for anything else, so that a click on
/// a menu that has just changed cannot mean another control.
struct TrayMenu: Equatable {
  private(set) var root = MenuItem(id: 0)

  /// How many controls are listed; for more there is a line that says how many.
  static let mostListed = 12

  /// What an item is, within its control's block of numbers.
  private enum Place: Int32 {
    case heading, submenu, hide, pause, resume, cancel, separator
  }
  private static let blockSize: Int32 = 8

  private var blocks: [ControlName: Int32] = [:]
  private var lastBlock: Int32 = 0

  /// Lists what goes on now.
  mutating func update(_ activities: [Activity]) {
    let listed = activities.prefix(Self.mostListed)
    let names = Set(listed.map(\.name))
    blocks = blocks.filter { names.contains($0.key) }
    if activities.count == 1, let only = listed.first {
      root.children = block(only)
    } else {
      root.children = []
      for activity in listed { root.children.append(submenu(activity)) }
    }
    // Block 0 is for what belongs to no control.
    if activities.isEmpty {
      root.children = [MenuItem(id: 1, label: Texts.idle, isEnabled: false)]
    } else if activities.count > listed.count {
      root.children.append(
        MenuItem(id: 2, label: Texts.more(activities.count - listed.count), isEnabled: false))
    }
  }

  private mutating func block(_ activity: Activity) -> [MenuItem] {
    let base = base(of: activity.name)
    return [
      MenuItem(
        id: base + Place.heading.rawValue, label: Texts.line(activity).escapedForMenu,
        isEnabled: false),
      MenuItem(id: base + Place.separator.rawValue, isSeparator: true),
    ] + actions(activity, base)
  }

  private mutating func submenu(_ activity: Activity) -> MenuItem {
    let base = base(of: activity.name)
    return MenuItem(
      id: base + Place.submenu.rawValue, label: Texts.line(activity).escapedForMenu,
      children: actions(activity, base))
  }

  private func actions(_ activity: Activity, _ base: Int32) -> [MenuItem] {
    let name = activity.name
    func item(_ place: Place, _ label: String, _ action: MenuAction) -> MenuItem {
      MenuItem(id: base + place.rawValue, label: label, action: action)
    }
    var items: [MenuItem] = []
    // One that is over, but is shown for its minimum, cannot be hidden any more.
    if activity.isBusy { items.append(item(.hide, Texts.hide, .hide(name))) }
    if let countdown = activity.countdown {
      items.append(
        countdown.isPaused
          ? item(.resume, Texts.resume, .resume(name)) : item(.pause, Texts.pause, .pause(name)))
      items.append(item(.cancel, Texts.cancel, .cancel(name)))
    }
    return items
  }

  private mutating func base(of name: ControlName) -> Int32 {
    if let block = blocks[name] { return block * Self.blockSize }
    // Round it goes after some 268 million, when no menu remembers the first.
    lastBlock = lastBlock == Int32.max / Self.blockSize - 1 ? 1 : lastBlock + 1
    blocks[name] = lastBlock
    return lastBlock * Self.blockSize
  }

  // MARK: - Looking into it

  /// The item with a number.
  func item(_ id: Int32) -> MenuItem? { root.find(id) }

  /// All items, a parent before its children.
  var all: [MenuItem] { root.withDescendants }

  /// Whether the same items stand in the same places, whatever their labels say.
  func hasSameShape(as other: TrayMenu) -> Bool { root.hasSameShape(as: other.root) }

  /// The items whose label another menu of the same shape has otherwise.
  func relabelled(since other: TrayMenu) -> [MenuItem] {
    zip(all, other.all).filter { $0.label != $1.label }.map(\.0)
  }
}

extension MenuItem {
  fileprivate func find(_ id: Int32) -> MenuItem? {
    if self.id == id { return self }
    for child in children {
      if let found = child.find(id) { return found }
    }
    return nil
  }

  fileprivate var withDescendants: [MenuItem] { [self] + children.flatMap(\.withDescendants) }

  fileprivate func hasSameShape(as other: MenuItem) -> Bool {
    id == other.id && isEnabled == other.isEnabled && action == other.action
      && children.count == other.children.count
      && zip(children, other.children).allSatisfy { $0.hasSameShape(as: $1) }
  }

  /// The properties as com.canonical.dbusmenu names them; those that have their default are left out.
  ///
  /// - Parameter wanted: their names; empty: all.
  /// - Returns: those that are wanted.
  func properties(_ wanted: [String]) -> PropertyList {
    var list: PropertyList = [:]
    func add(_ key: String, _ value: Variant) {
      if wanted.isEmpty || wanted.contains(key) { list.entries.append((key, value)) }
    }
    if isSeparator { add("type", .string("separator")) }
    if !label.isEmpty { add("label", .string(label)) }
    if !isEnabled { add("enabled", .boolean(false)) }
    if !children.isEmpty || id == 0 { add("children-display", .string("submenu")) }
    return list
  }
}
