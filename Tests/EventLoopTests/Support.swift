// SPDX-License-Identifier: MIT

import DBus
import EventLoop
import Glibc

/// What a loop returns that had to be ended because nothing more came.
let timedOut: Int32 = 255

extension EventLoop {
  /// Runs until a handler ends the loop, or for ten seconds.
  func runWithDeadline() throws -> Int32 {
    let deadline = makeTimer(clock: .monotonic) { [unowned self] in exit(code: timedOut) }
    deadline.arm(at: now(.monotonic) + 10_000_000)
    return try withExtendedLifetime(deadline) { try run() }
  }
}

/// Two connected sockets, closed with this object.
final class SocketPair {
  let near: Int32
  let far: Int32

  init() {
    var descriptors: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    precondition(socketpair(AF_UNIX, type, 0, &descriptors) == 0)
    (near, far) = (descriptors[0], descriptors[1])
  }

  deinit {
    close(near)
    close(far)
  }

  func sendFromFar() { precondition(write(far, "x", 1) == 1) }

  func receiveAtNear() {
    var byte: UInt8 = 0
    precondition(read(near, &byte, 1) == 1)
  }
}

/// A new directory, removed with the files in it.
final class TemporaryDirectory {
  let path: String

  init() {
    var template = Array("/tmp/busyindicator-test-XXXXXX".utf8CString)
    precondition(mkdtemp(&template) != nil)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    if let directory = opendir(path) {
      while let entry = readdir(directory) {
        let size = Int(entry.pointee.d_reclen)
        withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: size) {
            _ = unlinkat(dirfd(directory), $0, 0)
          }
        }
      }
      closedir(directory)
    }
    rmdir(path)
  }
}

/// A shell that waits until ``end()``.
final class ChildProcess {
  let pid: Int32
  private let input = SocketPair()
  private var isWaitedFor = false

  /// Starts it under the name `path`, which leads to a shell.
  init(path: String = "/bin/sh") {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, input.far, STDIN_FILENO)
    let arguments: [UnsafeMutablePointer<CChar>?] =
      ["sh", "-c", "read line"].map { (argument: String) in strdup(argument) } + [nil]
    var started: pid_t = 0
    let result = posix_spawn(&started, path, &actions, nil, arguments, environ)
    precondition(result == 0)
    posix_spawn_file_actions_destroy(&actions)
    for argument in arguments { free(argument) }
    pid = started
  }

  deinit {
    end()
    wait()
  }

  /// Lets it end; it stays a zombie until ``wait()``.
  func end() { shutdown(input.near, Int32(SHUT_WR)) }

  func wait() {
    if !isWaitedFor { waitpid(pid, nil, 0) }
    isWaitedFor = true
  }
}
