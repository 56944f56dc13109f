// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// Processes: held by a descriptor, and told apart when a process ID is used again.
///
/// The ID may go to another process between two calls. So open first, read then, and ask at last
/// whether the process has ended: if it has not, what was read is its own.
package enum Pidfd {
  /// A descriptor of the process, readable once that has ended.
  ///
  /// The caller closes it; a command that is started does not inherit it.
  ///
  /// - Throws: ESRCH when there is no such process, EINVAL when `pid` is not positive or is the ID of a
  ///   thread only (of late kernels ENOENT), EMFILE, ENFILE.
  package static func open(_ pid: Int32) throws(Errno) -> Int32 {
    try Errno.retrying { pidfd_open(pid, 0) }
  }

  /// Whether the process has ended, waited for by its parent or not.
  package static func hasEnded(_ descriptor: Int32) throws(Errno) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return try Errno.retrying { poll(&request, 1, 0) } > 0
  }

  /// When the process was started, in clock ticks since boot: field 22 of `/proc/PID/stat`.
  ///
  /// - Throws: ENOENT or ESRCH when there is no such process; EINVAL for a file of another form.
  package static func startTime(of pid: Int32) throws(Errno) -> UInt64 {
    guard let time = startTime(inStat: try read("/proc/\(pid)/stat")) else {
      throw Errno(rawValue: EINVAL)
    }
    return time
  }

  /// The user whose process it is (the real user ID): from `/proc/PID/status`.
  ///
  /// Not the owner of the directory: that is root for a process that may not be dumped.
  ///
  /// - Throws: ENOENT or ESRCH when there is no such process; EINVAL for a file of another form.
  package static func owner(of pid: Int32) throws(Errno) -> UInt32 {
    guard let owner = owner(inStatus: try read("/proc/\(pid)/status")) else {
      throw Errno(rawValue: EINVAL)
    }
    return owner
  }

  // The second field is the command's name in parentheses, where anything may stand, so fields are
  // counted from the last closing one on.
  static func startTime(inStat stat: [UInt8]) -> UInt64? {
    guard let nameEnd = stat.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = stat[(nameEnd + 1)...].split { $0 == UInt8(ascii: " ") || $0 == newline }
    let indexOfField22 = 22 - 3
    guard fields.count > indexOfField22 else { return nil }
    return UInt64(String(decoding: fields[indexOfField22], as: UTF8.self))
  }

  // The command's name stands here too, but with its new lines escaped.
  static func owner(inStatus status: [UInt8]) -> UInt32? {
    for line in status.split(separator: newline) where line.starts(with: Array("Uid:\t".utf8)) {
      let fields = line.split(separator: UInt8(ascii: "\t"))
      return fields.count > 1 ? UInt32(String(decoding: fields[1], as: UTF8.self)) : nil
    }
    return nil
  }

  private static let newline = UInt8(ascii: "\n")

  private static func read(_ path: String) throws(Errno) -> [UInt8] {
    let descriptor = try Errno.retrying { Glibc.open(path, O_RDONLY | O_CLOEXEC) }
    defer { close(descriptor) }
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = try Errno.retrying { Glibc.read(descriptor, &chunk, chunk.count) }
      if count == 0 { return content }
      content += chunk[..<count]
    }
  }
}
