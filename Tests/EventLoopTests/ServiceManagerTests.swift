// SPDX-License-Identifier: MIT

import DBus
import EventLoop
import Glibc
import Testing

/// A service manager's end of `NOTIFY_SOCKET`.
private final class NotifySocket {
  let descriptor: Int32
  private let directory = TemporaryDirectory()

  init() {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    let path = directory.path + "/notify"
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
    }
    precondition(result == 0)
    setenv("NOTIFY_SOCKET", path, 1)
  }

  deinit { close(descriptor) }

  /// The next message, waited for at most ten seconds.
  func receive() -> String? {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&request, 1, 10_000) == 1 else { return nil }
    var buffer = [UInt8](repeating: 0, count: 512)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return String(decoding: buffer[..<count], as: UTF8.self)
  }
}

@Suite struct ServiceManagerTests {
  @Test func tellsTheServiceManager() async {
    await #expect(processExitsWith: .success) {
      let socket = NotifySocket()
      let manager = ServiceManager()
      manager.ready()
      #expect(socket.receive() == "READY=1")
      manager.status("Two lines\r\nREADY=0\nare one")
      #expect(socket.receive() == "STATUS=Two lines READY=0 are one")
      manager.stopping()
      #expect(socket.receive() == "STOPPING=1")
    }
  }

  @Test func isSilentWithoutOne() async {
    await #expect(processExitsWith: .success) {
      unsetenv("NOTIFY_SOCKET")
      let manager = ServiceManager()
      manager.ready()
      manager.status("x")
      manager.stopping()
      unsetenv("WATCHDOG_USEC")
      let loop = try EventLoop()
      #expect(!loop.enableWatchdog())
    }
  }

  @Test func pingsTheWatchdog() async {
    await #expect(processExitsWith: .success) {
      let socket = NotifySocket()
      setenv("WATCHDOG_USEC", "60000", 1)
      setenv("WATCHDOG_PID", "\(getpid())", 1)
      let loop = try EventLoop()
      var count = 0
      let observation = loop.observe(descriptor: socket.descriptor, for: .readable) { _ in
        #expect(socket.receive() == "WATCHDOG=1")
        count += 1
        if count == 3 { loop.exit(code: 0) }
      }
      #expect(loop.enableWatchdog())
      let code = try withExtendedLifetime(observation) { try loop.runWithDeadline() }
      #expect(code == 0)
    }
  }
}
