// SPDX-License-Identifier: MIT

internal import EventLoop

/// Does a piece of work when it is asked for, at once or as soon as its pace allows.
///
/// However often a client changes a control, what others are sent stays bounded; and while nothing
/// is asked for, nothing wakes up.
final class Pacer {
  /// The least time between two runs, in microseconds.
  var interval: UInt64

  private let loop: EventLoop
  private let work: () -> UInt64?
  private var timer: Timer?
  private var lastRun: UInt64?

  /// - Parameters:
  ///   - loop: whose clock that counts on in suspend is used, so that a late picture is put right at
  ///     once when the machine wakes.
  ///   - interval: the least time between two runs, in microseconds.
  ///   - work: returns when it wants to be done next, if it does, on CLOCK_BOOTTIME.
  init(_ loop: EventLoop, interval: UInt64, _ work: @escaping () -> UInt64?) {
    self.loop = loop
    self.interval = interval
    self.work = work
    timer = loop.makeTimer(clock: .boottime) { [unowned self] in run() }
  }

  /// Asks for the work.
  func request() {
    if let earliest, loop.now(.boottime) < earliest {
      timer?.arm(at: earliest)
    } else {
      run()
    }
  }

  /// Forgets what was asked for.
  func stop() { timer?.disarm() }

  private var earliest: UInt64? { lastRun.map { $0 + interval } }

  private func run() {
    lastRun = loop.now(.boottime)
    guard let next = work(), let earliest else {
      timer?.disarm()
      return
    }
    timer?.arm(at: max(next, earliest))
  }
}
