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

  /// A command and its arguments as execvp(3) takes them: byte for byte, with a null behind them.
  typealias Words = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

  /// The last words of this process's own command line, which may be in any encoding.
  static func lastWords(_ count: Int) -> Words {
    CommandLine.unsafeArgv + max(Int(CommandLine.argc) - count, 0)
  }

  /// Starts a command, found by PATH.
  ///
  /// - Parameters:
  ///   - words: the command and its arguments.
  ///   - mask: the signals that it shall find blocked; nil for those that are now.
  /// - Throws: status 126 or 127, as env(1) has them.
  init(_ words: Words, mask: sigset_t? = nil) throws(Failure) {
    // Were it ignored, as a parent may have left it, the kernel would keep the child's end to itself.
    signal(SIGCHLD, SIG_DFL)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    if var mask {
      posix_spawnattr_setsigmask(&attributes, &mask)
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    }
    var made: pid_t = 0
    var result = posix_spawnp(&made, words[0]!, nil, &attributes, words, environ)
    if result == ENOEXEC, let script = Self.find(words[0]!) {
      // A script without its first line, which execvp(3) would hand to the shell itself.
      var count = 0
      while words[count] != nil { count += 1 }
      var shell = [strdup("/bin/sh"), script] + (1...count).map { words[$0] }
      result = posix_spawn(&made, shell[0]!, nil, &attributes, &shell, environ)
      free(shell[0])
      free(script)
    }
    guard result == 0 else { throw Self.startFailure(words[0]!, result) }
    pid = made
  }

  /// Becomes the command; returns only when that failed.
  static func become(_ words: Words) -> Failure {
    execvp(words[0]!, words)
    return startFailure(words[0]!, errno)
  }

  /// The file that PATH leads to, to be freed.
  private static func find(_ command: UnsafeMutablePointer<CChar>) -> UnsafeMutablePointer<CChar>? {
    if strchr(command, Int32(UInt8(ascii: "/"))) != nil { return strdup(command) }
    let path = Console.environment("PATH") ?? "/bin:/usr/bin"
    for directory in path.split(separator: ":", omittingEmptySubsequences: false) {
      let prefix = directory.isEmpty ? "." : String(directory)
      let size = prefix.utf8.count + strlen(command) + 2
      guard let file = calloc(size, 1)?.assumingMemoryBound(to: CChar.self) else { return nil }
      strcat(file, prefix)
      strcat(file, "/")
      strcat(file, command)
      if access(file, X_OK) == 0 { return file }
      free(file)
    }
    return nil
  }

  private static func startFailure(_ command: UnsafePointer<CChar>, _ number: Int32) -> Failure {
    let reason = String(cString: strerror(number))
    return Failure(
      status: number == ENOENT ? 127 : 126,
      message: "“\(String(cString: command))” cannot be run: \(reason)")
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
