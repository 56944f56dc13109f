// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
internal import DBus

// com.canonical.dbusmenu, as libdbusmenu documents it in dbus-menu.xml. GTK's importers send
// EventGroup and AboutToShowGroup, Qt's and GNOME's the single ones; the data of an event is an
// integer here and a string there; some ask for one level at a time.

/// The interface of a tray's menu.
func makeMenuInterface() -> Interface<Tray> {
  Interface(
    "com.canonical.dbusmenu",
    methods: readingMethods() + eventMethods(),
    signals: [
      SignalDescription(
        "ItemsPropertiesUpdated",
        [("updatedProps", "a(ia{sv})"), ("removedProps", "a(ias)")]),
      SignalDescription("LayoutUpdated", [("revision", "u"), ("parent", "i")]),
      SignalDescription("ItemActivationRequested", [("id", "i"), ("timestamp", "u")]),
    ],
    properties: [
      Property("Version", .constant) { _ in UInt32(3) },
      Property("TextDirection", .constant) { _ in "ltr" },
      Property("Status", .constant) { _ in "normal" },
      Property("IconThemePath", .constant) { _ in [String]() },
    ])
}

private func readingMethods() -> [Method<Tray>] {
  [
    Method(
      "GetLayout", in: ["parentId", "recursionDepth", "propertyNames"],
      out: ["revision", "layout"], isReading: true
    ) {
      (tray: Tray, _: Message, parent: Int32, depth: Int32, names: [String]) throws(DBusError)
        -> (UInt32, MenuLayout) in
      let item = try tray.menuItem(parent)
      return (tray.menuRevision, MenuLayout(item: item, depth: depth, properties: names))
    },
    Method(
      "GetGroupProperties", in: ["ids", "propertyNames"], out: ["properties"], isReading: true
    ) {
      (tray: Tray, _: Message, ids: [Int32], names: [String]) throws(DBusError)
        -> [Structure<Int32, PropertyList>] in
      let wanted = Set(ids)
      return tray.menu.all.filter { wanted.isEmpty || wanted.contains($0.id) }
        .map { Structure($0.id, $0.properties(names)) }
    },
    Method("GetProperty", in: ["id", "name"], out: ["value"], isReading: true) {
      (tray: Tray, _: Message, id: Int32, name: String) throws(DBusError) -> Variant in
      let entries = try tray.menuItem(id).properties([name]).entries
      guard let entry = entries.first else {
        throw .standard(.invalidArgs, "The item \(id) has no such property.")
      }
      return entry.value
    },
    // What is pushed is never older than the pace of the tray allows; there is nothing to fetch.
    Method("AboutToShow", in: ["id"], out: ["needUpdate"], isReading: true) {
      (tray: Tray, _: Message, id: Int32) throws(DBusError) -> Bool in
      _ = try tray.menuItem(id)
      return false
    },
    Method(
      "AboutToShowGroup", in: ["ids"], out: ["updatesNeeded", "idErrors"], isReading: true
    ) {
      (tray: Tray, _: Message, ids: [Int32]) throws(DBusError) -> ([Int32], [Int32]) in
      ([], ids.filter { tray.menu.item($0) == nil })
    },
  ]
}

private func eventMethods() -> [Method<Tray>] {
  [
    Method("Event", in: ["id", "eventId", "data", "timestamp"]) {
      (tray: Tray, _: Message, id: Int32, event: String, _: IgnoredVariant, _: UInt32)
        throws(DBusError) -> Void in
      let item = try tray.menuItem(id)
      if event == "clicked" { tray.clicked(item) }
    },
    Method("EventGroup", in: ["events"], out: ["idErrors"]) {
      (tray: Tray, _: Message, events: [Structure<Int32, String, IgnoredVariant, UInt32>])
        throws(DBusError) -> [Int32] in
      var unknown: [Int32] = []
      for event in events {
        let (id, name, _, _) = event.fields
        if let item = tray.menu.item(id) {
          if name == "clicked" { tray.clicked(item) }
        } else {
          unknown.append(id)
        }
      }
      guard unknown.count < events.count || events.isEmpty else {
        throw .standard(.invalidArgs, "There is none of these items in the menu.")
      }
      return unknown
    },
  ]
}

extension Tray {
  fileprivate func menuItem(_ id: Int32) throws(DBusError) -> MenuItem {
    guard let item = menu.item(id) else {
      throw .standard(.invalidArgs, "There is no item \(id) in the menu.")
    }
    return item
  }
}

/// An item as GetLayout hands it out, with its children down to a depth: `(ia{sv}av)`.
private struct MenuLayout: DBusEncodable {
  let item: MenuItem
  /// How many levels of children go along; all when it is negative.
  let depth: Int32
  let properties: [String]

  static var signature: String { "(ia{sv}av)" }

  func write(to writer: inout MessageWriter) {
    writer.structure { writer in
      item.id.write(to: &writer)
      item.properties(properties).write(to: &writer)
      writer.array(of: "v") { writer in
        guard depth != 0 else { return }
        for child in item.children {
          writer.variant(
            MenuLayout(item: child, depth: depth < 0 ? -1 : depth - 1, properties: properties))
        }
      }
    }
  }
}
