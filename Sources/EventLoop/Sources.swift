// SPDX-License-Identifier: MIT

internal import CLinux
internal import DBus
internal import Glibc

/// One source of sd-event and the closure that it calls; ends with its owner.
///
/// It may be ended or dropped while its closure runs: sd-event then keeps its part until the callback
/// returns, and ``call(_:_:)`` keeps the closure. What sd-event holds of this object is no reference,
/// and nothing is called once the source is disabled, so no call meets a freed one.
package class EventSource {
  private var raw: OpaquePointer?
  private var handler: ((Readiness) -> Void)?

  init(_ handler: @escaping (Readiness) -> Void) { self.handler = handler }

  deinit { cancel() }

  /// Ends it; the closure is not called again, and doing it twice does no harm.
  package final func cancel() {
    raw = sd_event_source_disable_unref(raw)
    handler = nil
  }

  /// Takes over the one reference to what sd-event made; nil once the loop has ended.
  final func adopt(_ made: OpaquePointer?) { raw = made }

  /// What sd-event calls, by way of a C function for each kind of source.
  static func call(
    _ context: UnsafeMutableRawPointer?, _ readiness: Readiness = []
  ) -> Int32 {
    guard let context else { return 0 }
    let source = Unmanaged<EventSource>.fromOpaque(context).takeUnretainedValue()
    source.willCall()
    let handler = source.handler
    handler?(readiness)
    return 0
  }

  /// Notes that the closure is about to be called.
  func willCall() {}

  /// Calls a function of sd-event on what it made, as long as there is such a thing.
  fileprivate final func apply(_ operation: (OpaquePointer) -> Int32) {
    guard let raw else { return }
    let result = operation(raw)
    // ESTALE: the loop has ended.
    if result < 0, result != -ESTALE { fatalError("sd-event: \(Errno(rawValue: -result))") }
  }

  final func setEnabled(_ state: Int) {
    apply { sd_event_source_set_enabled($0, Int32(state)) }
  }

  final func setPriority(_ priority: Int64) {
    apply { sd_event_source_set_priority($0, priority) }
  }
}

/// A one-shot timer on one of the loop's clocks.
package final class Timer: EventSource, WakeTimer {
  private var instant: UInt64?

  init(_ handler: @escaping () -> Void) { super.init { _ in handler() } }

  /// Fires at or after `instant`, in microseconds on the timer's clock; at once if that has passed.
  ///
  /// Replaces an instant set before; costs nothing when it is the same.
  package func arm(at instant: UInt64) {
    guard instant != self.instant else { return }
    self.instant = instant
    apply { sd_event_source_set_time($0, instant) }
    setEnabled(SD_EVENT_ONESHOT)
  }

  /// Forgets the instant set; harmless when there is none.
  package func disarm() {
    guard instant != nil else { return }
    instant = nil
    setEnabled(SD_EVENT_OFF)
  }

  override func willCall() { instant = nil }
}

/// Work that is done once each iteration of the loop while it is enabled.
package final class Deferred: EventSource {
  private var isEnabled = false

  init(_ handler: @escaping () -> Void) { super.init { _ in handler() } }

  /// Does the work each iteration from now on.
  package func enable() { set(true) }

  /// Stops that.
  package func disable() { set(false) }

  private func set(_ enabled: Bool) {
    guard enabled != isEnabled else { return }
    isEnabled = enabled
    setEnabled(enabled ? SD_EVENT_ON : SD_EVENT_OFF)
  }
}

/// One observed descriptor.
final class DescriptorObservation: EventSource, Observation {
  func update(interest: Readiness) {
    apply { sd_event_source_set_io_events($0, interest.epollEvents) }
  }
}

extension Readiness {
  /// What epoll has to watch for; errors and hang-ups it reports unasked.
  var epollEvents: UInt32 {
    (contains(.readable) ? EPOLLIN.rawValue : 0) | (contains(.writable) ? EPOLLOUT.rawValue : 0)
  }

  /// What epoll reported.
  init(epollEvents events: UInt32) {
    self = []
    if events & EPOLLIN.rawValue != 0 { insert(.readable) }
    if events & EPOLLOUT.rawValue != 0 { insert(.writable) }
    if events & EPOLLERR.rawValue != 0 { insert(.error) }
    if events & EPOLLHUP.rawValue != 0 { insert(.hangUp) }
  }
}
