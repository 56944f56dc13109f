// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient
@preconcurrency internal import CLinux
internal import Glibc

/// The signals of a process as events of its loop.
final class Signals {
  private let descriptor: Int32
  private var observation: (any Observation)?
  private let before: sigset_t

  /// The signals that ask a process to end.
  static let ending = [SIGINT, SIGTERM, SIGHUP]

  /// Blocks these signals and tells of each that arrives.
  init(_ numbers: [Int32], on loop: any Loop, _ handler: @escaping (Int32) -> Void) {
    var set = sigset_t()
    sigemptyset(&set)
    for number in numbers { sigaddset(&set, number) }
    var old = sigset_t()
    sigprocmask(SIG_BLOCK, &set, &old)
    before = old
    descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
    let source = descriptor
    observation = loop.observe(descriptor: descriptor, for: .readable) { _ in
      var info = signalfd_siginfo()
      while read(source, &info, MemoryLayout<signalfd_siginfo>.size) > 0 {
        handler(Int32(info.ssi_signo))
      }
    }
  }

  deinit {
    observation?.cancel()
    close(descriptor)
    var old = before
    sigprocmask(SIG_SETMASK, &old, nil)
  }

  /// Ends this process by a signal, as if nobody had caught it, so that a shell sees what happened.
  static func die(by number: Int32) -> Never {
    signal(number, SIG_DFL)
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, number)
    raise(number)
    sigprocmask(SIG_UNBLOCK, &set, nil)
    _exit(128 + number)
  }
}
