// SPDX-License-Identifier: MIT

internal import Glibc

/// A small loop on poll(2), for a program that has none of its own.
///
/// For the thread that made it. What it makes (timers, observations) ends with its owner: keep it for
/// as long as it shall work. Each may be ended within its own handler.
public final class PollLoop: Loop {
  private struct Weak<Object: AnyObject> { weak var object: Object? }

  private var observations: [Weak<PollObservation>] = []
  private var timers: [Weak<PollTimer>] = []
  private var isStopped = false

  /// A loop with nothing to wait for.
  public init() {}

  /// Waits and calls handlers until ``stop()``.
  public func run() { run { false } }

  /// Waits and calls handlers until ``stop()``, or until `condition` holds.
  ///
  /// - Parameter condition: asked at first, and after each wake-up.
  public func run(until condition: () -> Bool) {
    isStopped = false
    while !condition(), !isStopped { turn() }
  }

  /// Lets ``run()`` return once the handler that runs now has.
  public func stop() { isStopped = true }

  /// The time on CLOCK_MONOTONIC, in microseconds.
  public var monotonicNow: UInt64 { Microseconds.now(on: CLOCK_MONOTONIC).rawValue }

  /// Observes a descriptor: see ``Loop``.
  public func observe(
    descriptor: Int32, for interest: Readiness, _ handler: @escaping (Readiness) -> Void
  ) -> any Observation {
    let made = PollObservation(descriptor, interest, handler)
    observations.append(Weak(object: made))
    return made
  }

  /// Makes a timer that is not armed yet: see ``Loop``.
  public func makeTimer(_ handler: @escaping () -> Void) -> any WakeTimer {
    let made = PollTimer(handler)
    timers.append(Weak(object: made))
    return made
  }

  private func turn() {
    observations.removeAll { $0.object?.isCancelled ?? true }
    timers.removeAll { $0.object == nil }
    let asked = observations.compactMap(\.object)
    var entries = asked.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
    let count = poll(&entries, nfds_t(entries.count), waitingTime())
    if count > 0 {
      for (entry, observation) in zip(entries, asked) where entry.revents != 0 {
        observation.isReady(for: entry.revents)
        if isStopped { return }
      }
    }
    fireTimers()
  }

  /// How long to wait for the next timer, in whole milliseconds, rounded up so as not to be early.
  private func waitingTime() -> Int32 {
    guard let next = timers.compactMap({ $0.object?.instant }).min() else { return -1 }
    let now = monotonicNow
    guard next > now else { return 0 }
    return Int32(clamping: (next - now - 1) / 1000 + 1)
  }

  private func fireTimers() {
    let now = monotonicNow
    for timer in timers.compactMap(\.object) {
      guard let instant = timer.instant, instant <= now else { continue }
      timer.disarm()
      timer.handler()
      if isStopped { return }
    }
  }
}

private final class PollObservation: Observation {
  let descriptor: Int32
  private(set) var events: Int16 = 0
  private(set) var isCancelled = false
  private let handler: (Readiness) -> Void

  init(_ descriptor: Int32, _ interest: Readiness, _ handler: @escaping (Readiness) -> Void) {
    self.descriptor = descriptor
    self.handler = handler
    update(interest: interest)
  }

  func update(interest: Readiness) {
    events = 0
    if interest.contains(.readable) { events |= Int16(POLLIN) }
    if interest.contains(.writable) { events |= Int16(POLLOUT) }
  }

  func cancel() { isCancelled = true }

  func isReady(for events: Int16) {
    guard !isCancelled else { return }
    var readiness: Readiness = []
    if events & Int16(POLLIN) != 0 { readiness.insert(.readable) }
    if events & Int16(POLLOUT) != 0 { readiness.insert(.writable) }
    if events & Int16(POLLERR | POLLNVAL) != 0 { readiness.insert(.error) }
    if events & Int16(POLLHUP) != 0 { readiness.insert(.hangUp) }
    handler(readiness)
  }
}

private final class PollTimer: WakeTimer {
  private(set) var instant: UInt64?
  let handler: () -> Void

  init(_ handler: @escaping () -> Void) { self.handler = handler }

  func arm(at instant: UInt64) { self.instant = instant }
  func disarm() { instant = nil }
}
