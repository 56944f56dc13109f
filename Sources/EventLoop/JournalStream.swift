// SPDX-License-Identifier: MIT

internal import Glibc

/// Whether a descriptor leads to the system's journal.
enum JournalStream {
  /// Compares a descriptor with what `JOURNAL_STREAM` says, as systemd.exec(5) describes.
  ///
  /// The variable is inherited, the stream may have been replaced: so both numbers count.
  static func isJournal(_ descriptor: Int32) -> Bool {
    guard let expected = getenv("JOURNAL_STREAM") else { return false }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    return String(cString: expected) == "\(status.st_dev):\(status.st_ino)"
  }
}
