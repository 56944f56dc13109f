// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient
internal import Glibc

/// Looks into the file system.
enum Files {
  /// Whether a file is there that can be run.
  static func isExecutable(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      && access(path, X_OK) == 0
  }

  /// Where a symbolic link leads; nil when it is none.
  static func link(_ path: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = buffer.withUnsafeMutableBytes { bytes in
      readlink(path, bytes.baseAddress!, bytes.count)
    }
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }

  /// The first 64 KiB of a file; nil when it cannot be read.
  static func text(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress!, $0.count) }
    return count >= 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }
}

/// The file by which the bus starts the daemon.
struct ActivationFile: Equatable {
  let path: String
  /// The bus name that it is for.
  private(set) var name = ""
  /// The program that it starts.
  private(set) var program = ""
  /// The unit that it starts instead where there is a service manager.
  private(set) var unit: String?

  /// The one that the bus takes: the first in the order of dbus-daemon(1).
  static func find() -> ActivationFile? {
    for directory in directories {
      let path = "\(directory)/dbus-1/services/\(BusyIndicatorBus.serviceName).service"
      if let text = Files.text(path) { return ActivationFile(path: path, text: text) }
    }
    return nil
  }

  private static var directories: [String] {
    func list(_ variable: String, _ standard: String) -> [String] {
      let value = Console.environment(variable).flatMap { $0.isEmpty ? nil : $0 } ?? standard
      return value.split(separator: ":").map(String.init)
    }
    let home = Console.environment("HOME") ?? ""
    return list("XDG_RUNTIME_DIR", "/run/user/\(getuid())")
      + list("XDG_DATA_HOME", "\(home)/.local/share")
      + list("XDG_DATA_DIRS", "/usr/local/share:/usr/share")
  }

  init(path: String, text: String) {
    self.path = path
    for line in text.split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: "=", maxSplits: 1).map { trim($0) }
      guard parts.count == 2 else { continue }
      switch parts[0] {
      case "Name": name = parts[1]
      case "Exec": program = parts[1].split(separator: " ").first.map(String.init) ?? ""
      case "SystemdService": unit = parts[1]
      default: break
      }
    }
  }

  private func trim(_ text: Substring) -> String {
    var text = text.drop { $0 == " " || $0 == "\t" }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return String(text)
  }
}
