// SPDX-License-Identifier: MIT

internal import Glibc

/// Where a bus's state is kept: `$XDG_RUNTIME_DIR/busyindicator/<bus id>.db`.
///
/// It goes with the session, and another bus's is another file, so that nobody inherits what belongs
/// to a caller of the same unique name there.
struct StorePath {
  /// The file.
  let file: String

  /// Why there is no such place; one sentence.
  struct Missing: Error {
    let reason: String
  }

  /// Makes the directory where it is missing.
  ///
  /// - Parameter busID: the bus's own identity.
  /// - Throws: ``Missing`` when there is no such directory and none can be made.
  init(busID: String) throws(Missing) {
    guard let runtime = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }),
      runtime.hasPrefix("/")
    else { throw Missing(reason: "XDG_RUNTIME_DIR is not set") }
    guard !busID.isEmpty, busID.utf8.allSatisfy({ isHexDigit($0) }) else {
      throw Missing(reason: "the bus has no identity")
    }
    let directory = runtime + "/busyindicator"
    if mkdir(directory, 0o700) != 0, errno != EEXIST {
      throw Missing(reason: "\(directory): \(String(cString: strerror(errno)))")
    }
    var status = stat()
    guard lstat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      status.st_uid == geteuid()
    else { throw Missing(reason: "\(directory) is not a directory of this user") }
    // One that others could enter would show them what this user does.
    if status.st_mode & 0o077 != 0 { chmod(directory, 0o700) }
    file = directory + "/" + busID + ".db"
  }

  /// Renames the file, with what belongs to it, to a name that is free.
  ///
  /// - Returns: the new name; nil when it cannot be renamed.
  func putAside() -> String? {
    for number in 1...1000 {
      let aside = "\(file).broken-\(number)"
      guard access(aside, F_OK) != 0 else { continue }
      guard rename(file, aside) == 0 else { return nil }
      // A log without its database would be taken for the next one's.
      for suffix in ["-wal", "-shm", "-journal"] {
        if rename(file + suffix, aside + suffix) != 0 { unlink(file + suffix) }
      }
      return aside
    }
    return nil
  }

  /// The process that has locked the file; nil when none has.
  var lockHolder: Int32? {
    let descriptor = open(file, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // SQLite's locks are on the bytes from here on (its file format, "The Lock-Byte Page").
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = 0x4000_0000
    lock.l_len = 512
    guard fcntl(descriptor, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return nil }
    return lock.l_pid
  }
}

private func isHexDigit(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
  default: false
  }
}
