// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
internal import DBus

// org.kde.StatusNotifierItem, by the Status Notifier Item specification of freedesktop.org, with the
// two descriptions for screen readers that Ayatana's indicators added and GNOME's host asks for.
// The host hears of a change by New… signals and then reads; PropertiesChanged is not used.

/// The names of the interface and its partners.
enum StatusNotifier {
  static let interface: InterfaceName = "org.kde.StatusNotifierItem"
  static let itemPath: ObjectPath = "/StatusNotifierItem"
  static let menuPath: ObjectPath = "/StatusNotifierItem/Menu"
  static let watcher: BusName = "org.kde.StatusNotifierWatcher"
  static let watcherInterface: InterfaceName = "org.kde.StatusNotifierWatcher"
  static let watcherPath: ObjectPath = "/StatusNotifierWatcher"
}

/// Pictures as the interface carries them: width, height, pixels.
typealias Pixmaps = [Structure<Int32, Int32, ByteBlock>]

/// What the item shows; the properties are read from it, so that they only change when that is said.
struct ItemAppearance: Equatable {
  /// A ring in all sizes, ready to be sent; drawn once for all hosts.
  struct Icon: Equatable {
    let ring: Ring
    let pixmaps: Pixmaps

    init(_ ring: Ring) {
      self.ring = ring
      pixmaps = Ring.sizes.map { size in
        Structure(Int32(size), Int32(size), ByteBlock(ring.pixels(size: size)))
      }
    }

    static func == (left: Icon, right: Icon) -> Bool { left.ring == right.ring }
  }

  var icon = Icon(.empty)
  /// Whether there is anything for a person to see.
  var isActive = false
  /// A line for screen readers.
  var description = Texts.idle
  /// The tooltip: a heading, and text that may hold markup.
  var heading = Texts.application
  var text = Texts.idle

  var status: String { isActive ? "Active" : "Passive" }
}

/// The item's own interface.
func makeItemInterface() -> Interface<Tray> {
  Interface(
    StatusNotifier.interface,
    methods: [
      Method("ContextMenu", in: ["x", "y"]) {
        (_: Tray, _: Message, _: Int32, _: Int32) throws(DBusError) -> Void in
      },
      Method("Activate", in: ["x", "y"]) {
        (_: Tray, _: Message, _: Int32, _: Int32) throws(DBusError) -> Void in
      },
      Method("SecondaryActivate", in: ["x", "y"]) {
        (_: Tray, _: Message, _: Int32, _: Int32) throws(DBusError) -> Void in
      },
      // One host says -1 for a notch, another 120: only the direction is meant.
      Method("Scroll", in: ["delta", "orientation"]) {
        (tray: Tray, _: Message, delta: Int32, _: String) throws(DBusError) -> Void in
        tray.scrolled(Int(delta.signum()))
      },
    ],
    signals: [
      SignalDescription("NewTitle"), SignalDescription("NewIcon"),
      SignalDescription("NewAttentionIcon"), SignalDescription("NewOverlayIcon"),
      SignalDescription("NewToolTip"), SignalDescription("NewStatus", [("status", "s")]),
    ],
    properties: fixedProperties() + changingProperties())
}

private func fixedProperties() -> [Property<Tray>] {
  [
    Property("Category", .constant) { _ in "ApplicationStatus" },
    Property("Id", .constant) { _ in "busyindicatord" },
    Property("Title", .constant) { _ in Texts.application },
    Property("WindowId", .constant) { _ in Int32(0) },
    Property("IconThemePath", .constant) { _ in "" },
    Property("Menu", .constant) { _ in StatusNotifier.menuPath },
    // There is nothing to activate: a click opens the menu.
    Property("ItemIsMenu", .constant) { _ in true },
    Property("IconName", .constant) { _ in "" },
    Property("OverlayIconName", .constant) { _ in "" },
    Property("OverlayIconPixmap", .constant) { _ in Pixmaps() },
    Property("AttentionIconName", .constant) { _ in "" },
    Property("AttentionIconPixmap", .constant) { _ in Pixmaps() },
    Property("AttentionMovieName", .constant) { _ in "" },
  ]
}

private func changingProperties() -> [Property<Tray>] {
  [
    Property("Status", .never) { $0.appearance.status },
    Property("IconPixmap", .never) { $0.appearance.icon.pixmaps },
    Property("IconAccessibleDesc", .never) { $0.appearance.description },
    Property("AttentionAccessibleDesc", .never) { $0.appearance.description },
    Property("ToolTip", .never) {
      Structure("", Pixmaps(), $0.appearance.heading, $0.appearance.text)
    },
  ]
}

/// GetAll of the item, which hosts call at each frame: the answer is kept until something changes.
func makeKeptPropertiesInterface() -> Interface<Tray> {
  Interface(
    .properties,
    methods: [
      Method(
        "GetAll", in: [("interface_name", "s")], out: [("properties", "a{sv}")]
      ) { (tray: Tray, call: Message) throws(DBusError) -> Message in
        let interface = try call.read(String.self)
        guard interface.isEmpty || interface == StatusNotifier.interface.rawValue else {
          // xfce4-panel asks for the properties of Properties.
          return Message(replyTo: call, [:] as PropertyList)
        }
        return tray.allProperties(replyTo: call)
      }
    ])
}
