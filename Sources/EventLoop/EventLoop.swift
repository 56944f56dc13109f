// SPDX-License-Identifier: MIT

internal import CLinux
package import DBus
internal import Glibc

/// The clocks that a timer can run on.
package enum LoopClock {
  /// Time since the machine was started, time asleep included.
  case boottime
  /// Time since the machine was started, time asleep left out.
  case monotonic
  /// Time of day. It jumps when somebody sets it.
  case realtime

  var id: clockid_t {
    switch self {
    case .boottime: CLOCK_BOOTTIME
    case .monotonic: CLOCK_MONOTONIC
    case .realtime: CLOCK_REALTIME
    }
  }
}

/// A loop on sd-event(3), for the thread that made it.
///
/// What it makes (timers, observations, deferred work) ends with its owner: keep it for as long as it
/// shall work. Each may be ended within its own handler. Once the loop has ended, arming and enabling
/// do nothing.
package final class EventLoop: Loop {
  private let raw: OpaquePointer
  // Signals and the like, which stay as long as the loop.
  private var sources: [EventSource] = []

  /// A loop with nothing to wait for.
  package init() throws(LoopError) {
    var made: OpaquePointer?
    let result = sd_event_new(&made)
    guard let made else { throw LoopError("sd_event_new", result) }
    raw = made
  }

  deinit { sd_event_unref(raw) }

  /// Waits and calls handlers until ``exit(code:)``.
  ///
  /// - Returns: the code given to it.
  package func run() throws(LoopError) -> Int32 {
    let result = sd_event_loop(raw)
    guard result >= 0 else { throw LoopError("sd_event_loop", result) }
    return result
  }

  /// Ends the loop when the handler that runs now returns; no other one is called.
  ///
  /// - Parameter code: what ``run()`` returns, 0 to 255. The last call decides.
  package func exit(code: Int32) {
    precondition((0...255).contains(code))
    sd_event_exit(raw, code)
  }

  /// The time on `clock` in microseconds, read afresh.
  package func now(_ clock: LoopClock) -> UInt64 {
    var time = timespec()
    clock_gettime(clock.id, &time)
    return UInt64(clamping: time.tv_sec) * 1_000_000 + UInt64(clamping: time.tv_nsec) / 1000
  }

  // MARK: - Loop

  package var monotonicNow: UInt64 { now(.monotonic) }

  package func makeTimer(_ handler: @escaping () -> Void) -> any WakeTimer {
    makeTimer(clock: .monotonic, handler)
  }

  /// Observes a descriptor as ``tryObserve(descriptor:for:_:)`` does, and takes it for a fault of the
  /// program when that is impossible.
  package func observe(
    descriptor: Int32, for interest: Readiness, _ handler: @escaping (Readiness) -> Void
  ) -> any Observation {
    do throws(LoopError) {
      return try tryObserve(descriptor: descriptor, for: interest, handler)
    } catch {
      fatalError("\(error)")
    }
  }

  // MARK: - Sources

  /// Calls `handler` whenever the descriptor is ready for what `interest` names.
  ///
  /// The descriptor stays the caller's, who cancels the observation before closing it. Many
  /// descriptors that others ask for may exceed what the kernel watches for one user (ENOSPC), hence
  /// the error.
  ///
  /// - Throws: EEXIST when it is observed already, EPERM for a file or directory, ENOSPC, ENOMEM.
  package func tryObserve(
    descriptor: Int32, for interest: Readiness, _ handler: @escaping (Readiness) -> Void
  ) throws(LoopError) -> any Observation {
    let source = DescriptorObservation(handler)
    try add(source, "sd_event_add_io") {
      sd_event_add_io(
        raw, &$0, descriptor, interest.epollEvents,
        { _, _, events, context in EventSource.call(context, Readiness(epollEvents: events)) }, $1)
    }
    return source
  }

  /// A timer that calls `handler` once for each time that it is armed: never early, and not put off
  /// to save wake-ups.
  package func makeTimer(clock: LoopClock, _ handler: @escaping () -> Void) -> Timer {
    let source = Timer(handler)
    // An accuracy of 0 would stand for 250 ms.
    addOrTrap(source, "sd_event_add_time") {
      sd_event_add_time(
        raw, &$0, clock.id, .max, 1, { _, _, context in EventSource.call(context) }, $1)
    }
    source.setEnabled(SD_EVENT_OFF)
    return source
  }

  /// Work that is done once each iteration while it is enabled, when nothing else is ready.
  package func makeDeferred(_ handler: @escaping () -> Void) -> Deferred {
    let source = Deferred(handler)
    addOrTrap(source, "sd_event_add_defer") {
      sd_event_add_defer(raw, &$0, { _, context in EventSource.call(context) }, $1)
    }
    source.setEnabled(SD_EVENT_OFF)
    // Deferred work counts as ready for all of its life, so it is always the one that has waited
    // longest: at the priority of the others it would leave them no turn.
    source.setPriority(Int64(SD_EVENT_PRIORITY_NORMAL) + 1)
    return source
  }

  /// Calls `handler` for a signal, which is blocked from now on in this thread and those it makes.
  ///
  /// - Throws: EBUSY when that signal has a handler already.
  package func onSignal(_ signal: Int32, _ handler: @escaping () -> Void) throws(LoopError) {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, signal)
    pthread_sigmask(SIG_BLOCK, &set, nil)
    let source = EventSource { _ in handler() }
    try add(source, "sd_event_add_signal") {
      sd_event_add_signal(raw, &$0, signal, { _, _, context in EventSource.call(context) }, $1)
    }
    sources.append(source)
  }

  /// Tells the service manager regularly that the loop goes round, if it asks for that.
  ///
  /// - Returns: whether it does.
  @discardableResult
  package func enableWatchdog() -> Bool { sd_event_set_watchdog(raw, 1) > 0 }

  // MARK: - Adding

  private typealias Add = (inout OpaquePointer?, _ context: UnsafeMutableRawPointer) -> Int32

  private func add(
    _ source: EventSource, _ operation: StaticString, _ add: Add
  ) throws(LoopError) {
    var made: OpaquePointer?
    let result = add(&made, Unmanaged.passUnretained(source).toOpaque())
    guard result >= 0 || result == -ESTALE else { throw LoopError(operation, result) }
    source.adopt(made)
  }

  // These fail for want of memory or of the loop's own descriptors: not while the program runs.
  private func addOrTrap(_ source: EventSource, _ operation: StaticString, _ add: Add) {
    do throws(LoopError) {
      try self.add(source, operation, add)
    } catch {
      fatalError("\(error)")
    }
  }
}
