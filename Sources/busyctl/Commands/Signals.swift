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
  ///
  /// One that this process was started to ignore, as by nohup(1), it goes on ignoring: a signalfd
  /// would tell of it all the same.
  init(_ numbers: [Int32], on loop: any Loop, _ handler: @escaping (Int32) -> Void) {
    // Of children somebody wants to hear; an ignored SIGCHLD would never come.
    if numbers.contains(SIGCHLD) { signal(SIGCHLD, SIG_DFL) }
    var set = sigset_t()
    sigemptyset(&set)
    for number in numbers where !Self.isIgnored(number) { sigaddset(&set, number) }
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

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    // A function pointer whose value is SIG_IGN, 1.
    return unsafeBitCast(action.__sigaction_handler, to: Int.self) == 1
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
