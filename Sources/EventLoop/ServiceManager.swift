// SPDX-License-Identifier: MIT

internal import CLinux

/// Tells the service manager how this service fares, by sd_notify(3).
///
/// All of it does nothing where none asked for that with `NOTIFY_SOCKET`.
package struct ServiceManager {
  /// Somebody to tell.
  package init() {}

  /// The service has started.
  package func ready() { sd_notify(0, "READY=1") }

  /// The service has begun to end.
  package func stopping() { sd_notify(0, "STOPPING=1") }

  /// One line for people, shown by `systemctl status`.
  package func status(_ text: String) {
    // A new line would begin another variable.
    sd_notify(0, "STATUS=" + String(text.map { $0.isNewline ? " " : $0 }))
  }
}
