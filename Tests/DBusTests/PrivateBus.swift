// SPDX-License-Identifier: MIT

import Glibc

/// A bus of a test's own, which activates nothing; ended with this object.
final class PrivateBus {
  let address: String
  private let directory: String
  private var process: pid_t = 0

  /// The bus could not be started.
  struct Failure: Error { let operation: String }

  init() throws {
    var template = Array("/tmp/busyindicator-test-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw Failure(operation: "mkdtemp") }
    directory = String(cString: made)
    address = "unix:path=\(directory)/bus"
    try write(
      """
      <busconfig><type>session</type><listen>\(address)</listen><auth>EXTERNAL</auth>
      <policy context="default"><allow send_destination="*" eavesdrop="true"/>
      <allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
      """, to: "\(directory)/bus.conf")
    try start()
  }

  private func write(_ text: String, to path: String) throws {
    guard let file = fopen(path, "w") else { throw Failure(operation: "fopen") }
    fputs(text, file)
    fclose(file)
  }

  private func start() throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Failure(operation: "pipe") }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    // Tests run on threads that block all signals, and a child would inherit that.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    let words = [
      "dbus-daemon", "--config-file=\(directory)/bus.conf", "--nofork", "--nopidfile",
      "--print-address=1",
    ]
    var arguments = words.map { strdup($0) } + [nil]
    let result = posix_spawnp(&process, words[0], &actions, &attributes, &arguments, environ)
    for argument in arguments { free(argument) }
    posix_spawn_file_actions_destroy(&actions)
    posix_spawnattr_destroy(&attributes)
    close(ends[1])
    // It prints its address once it listens.
    var byte: UInt8 = 0
    let count = result == 0 ? read(ends[0], &byte, 1) : 0
    close(ends[0])
    guard count == 1 else { throw Failure(operation: "posix_spawn dbus-daemon") }
  }

  /// Ends the bus now, as when a session ends.
  func stop() {
    guard process > 0 else { return }
    kill(process, SIGTERM)
    waitpid(process, nil, 0)
    process = 0
  }

  deinit {
    stop()
    unlink("\(directory)/bus.conf")
    unlink("\(directory)/bus")
    rmdir(directory)
  }
}
