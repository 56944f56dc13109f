// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT

import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "busyindicatord",
  products: [
    .executable(name: "busyindicatord", targets: ["busyindicatord"]),
    .executable(name: "busyctl", targets: ["busyctl"]),
    .library(name: "BusyIndicatorClient", targets: ["BusyIndicatorClient"]),
  ],
  targets: [
    // C libraries: a module map and a header each.
    .systemLibrary(name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CLinux", providers: [.apt(["libsystemd-dev"])]),
    .systemLibrary(name: "CJSON", pkgConfig: "json-c", providers: [.apt(["libjson-c-dev"])]),

    // Bindings: each alone imports its C library.
    .target(name: "DBus", dependencies: ["CDBus"], swiftSettings: strict),
    .target(
      name: "EventLoop", dependencies: ["CLinux", "DBus"], swiftSettings: strict,
      linkerSettings: [.linkedLibrary("systemd")]),

    // What busy, visible and remaining mean; and the daemon around it.
    .target(name: "BusyIndicatorCore", swiftSettings: strict),
    .target(
      name: "BusyIndicatorDaemon",
      dependencies: ["BusyIndicatorCore", "DBus", "EventLoop", "CLinux", "CSQLite"],
      swiftSettings: strict),
    .executableTarget(
      name: "busyindicatord", dependencies: ["BusyIndicatorDaemon"], swiftSettings: strict),

    // For applications and people.
    .target(
      name: "BusyIndicatorClient", dependencies: ["BusyIndicatorCore", "DBus"],
      swiftSettings: strict),
    .executableTarget(
      name: "busyctl", dependencies: ["BusyIndicatorClient", "CJSON", "CLinux"],
      swiftSettings: strict),

    .testTarget(
      name: "DBusTests", dependencies: ["DBus", "CDBus", "EventLoop"], swiftSettings: strict),
    .testTarget(
      name: "EventLoopTests", dependencies: ["EventLoop", "CLinux"], swiftSettings: strict),
    .testTarget(
      name: "BusyIndicatorCoreTests", dependencies: ["BusyIndicatorCore"], swiftSettings: strict),
    .testTarget(
      name: "BusyIndicatorDaemonTests", dependencies: ["BusyIndicatorDaemon"],
      swiftSettings: strict),
    .testTarget(
      name: "busyctlTests", dependencies: ["busyctl", "BusyIndicatorClient", "DBus"],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
