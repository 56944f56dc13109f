// SPDX-License-Identifier: MIT

/// What a connection asks of the loop that drives it.
///
/// The binding knows no loop of its own. A program hands it one: the daemon its sd-event loop,
/// `busyctl` a plain poll(2), an application the loop that its toolkit runs.
public protocol Loop: AnyObject {
  /// Calls `handler` whenever the descriptor is ready for what `interest` names.
  ///
  /// The descriptor stays the caller's, who cancels the observation before closing it. At most one
  /// observation of a descriptor at a time.
  func observe(
    descriptor: Int32, for interest: Readiness, _ handler: @escaping (Readiness) -> Void
  ) -> any Observation

  /// A timer that calls `handler` once for each time that it is armed.
  func makeTimer(_ handler: @escaping () -> Void) -> any WakeTimer

  /// The time on the clock of this loop's timers (CLOCK_MONOTONIC), in microseconds.
  var monotonicNow: UInt64 { get }
}

/// What a descriptor is ready for, or what somebody wants to know of it.
public struct Readiness: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt8
  /// Made of its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// Bytes can be read, or the other end has closed.
  public static let readable = Readiness(rawValue: 1)
  /// Bytes can be written without blocking.
  public static let writable = Readiness(rawValue: 2)
  /// The descriptor is broken (POLLERR); reported whether asked for or not.
  public static let error = Readiness(rawValue: 4)
  /// The other end is gone (POLLHUP); reported whether asked for or not.
  public static let hangUp = Readiness(rawValue: 8)
}

/// One observed descriptor.
public protocol Observation: AnyObject {
  /// Changes what is watched for. An empty set still reports errors and hang-ups.
  func update(interest: Readiness)
  /// Ends the observation; the handler is not called again. Twice does no harm.
  func cancel()
}

/// A one-shot timer on CLOCK_MONOTONIC.
public protocol WakeTimer: AnyObject {
  /// Fires at or after `instant`, in microseconds on CLOCK_MONOTONIC; at once if that has passed.
  /// Replaces an instant set before.
  func arm(at instant: UInt64)
  /// Forgets the instant set. Harmless when there is none.
  func disarm()
}
