// SPDX-License-Identifier: MIT

internal import Glibc

/// A child, in the same process group, so that the terminal's signals reach it as they reach us.
struct ChildProcess {
  let pid: pid_t

  enum End: Equatable {
    case exited(Int32)
    case signalled(Int32)

    /// As Release tells it: `exit 2`, `signal 9`.
    var text: String {
      switch self {
      case .exited(let status): "exit \(status)"
      case .signalled(let number): "signal \(number)"
      }
    }
  }

  /// Starts a command, found by PATH.
  ///
  /// - Parameters:
  ///   - words: the command and its arguments.
  ///   - mask: the signals that it shall find blocked; nil for those that are now.
  /// - Throws: status 126 or 127, as env(1) has them.
  init(_ words: [String], mask: sigset_t? = nil) throws(Failure) {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    if var mask {
      posix_spawnattr_setsigmask(&attributes, &mask)
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    }
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var made: pid_t = 0
    let result = posix_spawnp(&made, arguments[0]!, nil, &attributes, &arguments, environ)
    guard result == 0 else { throw Self.startFailure(words[0], result) }
    pid = made
  }

  /// Becomes the command; returns only when that failed.
  static func become(_ words: [String]) -> Failure {
    var arguments = words.map { strdup($0) } + [nil]
    execvp(arguments[0]!, &arguments)
    let number = errno
    for argument in arguments { free(argument) }
    return startFailure(words[0], number)
  }

  private static func startFailure(_ command: String, _ number: Int32) -> Failure {
    let reason = String(cString: strerror(number))
    return Failure(
      status: number == ENOENT ? 127 : 126, message: "“\(command)” cannot be run: \(reason)")
  }

  /// How it ended, if it has.
  func end() -> End? {
    var status: Int32 = 0
    return waitpid(pid, &status, WNOHANG) == pid ? Self.end(of: status) : nil
  }

  /// Waits for it.
  func waitForEnd() -> End {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) == -1, errno == EINTR {}
    return Self.end(of: status)
  }

  // The macros of wait(2) do not import.
  private static func end(of status: Int32) -> End {
    let number = status & 0x7F
    return number == 0 ? .exited((status >> 8) & 0xFF) : .signalled(number)
  }
}
