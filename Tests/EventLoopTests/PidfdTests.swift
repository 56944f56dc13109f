// SPDX-License-Identifier: MIT

import DBus
import Glibc
import Testing

@testable import EventLoop

@Suite struct PidfdTests {
  @Test func tellsTheLoopThatAProcessEnded() throws {
    let loop = try EventLoop()
    let child = ChildProcess()
    let descriptor = try Pidfd.open(child.pid)
    defer { close(descriptor) }
    #expect(try !Pidfd.hasEnded(descriptor))
    var observation: (any Observation)?
    let after = loop.makeTimer(clock: .monotonic) { loop.exit(code: 0) }
    observation = loop.observe(descriptor: descriptor, for: .readable) { readiness in
      #expect(readiness.contains(.readable))
      observation?.cancel()
      after.arm(at: loop.monotonicNow + 1000)
    }
    child.end()
    #expect(try loop.runWithDeadline() == 0)
    #expect(try Pidfd.hasEnded(descriptor))
    child.wait()
    #expect(try Pidfd.hasEnded(descriptor))
    observation = nil
  }

  @Test func closesTheDescriptorInCommands() throws {
    let descriptor = try Pidfd.open(getpid())
    defer { close(descriptor) }
    #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC)
  }

  @Test func refusesWhatIsNoProcess() throws {
    let child = ChildProcess()
    child.end()
    child.wait()
    #expect(throws: Errno(rawValue: ESRCH)) { try Pidfd.open(child.pid) }
    #expect(throws: Errno(rawValue: ENOENT)) { try Pidfd.startTime(of: child.pid) }
    #expect(throws: Errno(rawValue: ENOENT)) { try Pidfd.owner(of: child.pid) }
    for pid: Int32 in [0, -1, .min] {
      #expect(throws: Errno(rawValue: EINVAL)) { try Pidfd.open(pid) }
    }
    #expect(throws: Errno.self) { try Pidfd.open(.max) }
  }

  @Test func readsStartTimeAndOwner() throws {
    let directory = TemporaryDirectory()
    let path = directory.path + "/x) R 9 (y\nUid:\t7"
    precondition(symlink("/bin/sh", path) == 0)
    let child = ChildProcess(path: path)
    let started = try Pidfd.startTime(of: child.pid)
    let ticks = UInt64(sysconf(Int32(_SC_CLK_TCK)))
    var now = timespec()
    clock_gettime(CLOCK_BOOTTIME, &now)
    #expect(try started >= Pidfd.startTime(of: getpid()))
    #expect(started <= (UInt64(now.tv_sec) + 1) * ticks)
    #expect(try Pidfd.owner(of: child.pid) == getuid())
    #expect(try Pidfd.owner(of: 1) == 0)
    child.end()
    var information = siginfo_t()
    precondition(waitid(P_PID, UInt32(child.pid), &information, WEXITED | WNOWAIT) == 0)
    #expect(try Pidfd.startTime(of: child.pid) == started)
  }

  @Test func readsThe22ndField() {
    let fields = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 23 24"
    for name in ["sh", "a b", ")", "(", "x) R 9 (y", "a\nb", "1) S 2 (3) S 4", ""] {
      #expect(Pidfd.startTime(inStat: Array("17 (\(name)) \(fields)\n".utf8)) == 4242)
    }
    for text in ["", "17", "17 (sh)", "17 (sh) S 1 2 3", "17 (sh) " + fields.prefix(40)] {
      #expect(Pidfd.startTime(inStat: Array(text.utf8)) == nil)
    }
    #expect(
      Pidfd.startTime(inStat: Array("17 (sh) \(fields)".replacing("4242", with: "x").utf8)) == nil)
  }

  @Test func readsTheRealUser() {
    let status = "Name:\tx\\nUid:\\t7\nTgid:\t1\nUid:\t1000\t0\t0\t0\nGid:\t5\t5\t5\t5\n"
    #expect(Pidfd.owner(inStatus: Array(status.utf8)) == 1000)
    #expect(Pidfd.owner(inStatus: Array("Name:\tx\n".utf8)) == nil)
    #expect(Pidfd.owner(inStatus: Array("Uid:\t\n".utf8)) == nil)
  }
}
