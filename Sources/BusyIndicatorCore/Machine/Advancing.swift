// SPDX-License-Identifier: MIT

// What happens by itself. In a late wake-up, as after a suspend, much may be overdue at once; it
// happens in the order in which it became due. The two clocks go on at the same rate except that
// one stands still in a suspend, so what is compared across them is how late each thing is.

extension IndicatorStateMachine {
  /// When something will be due, on each clock; nil: nothing will.
  package var nextDeadline: (boottime: Microseconds?, monotonic: Microseconds?) {
    (
      boottime: earlier(expiries.first?.deadline, boottimeQueue.first?.deadline),
      monotonic: earlier(monotonicQueue.first?.deadline, idleQueue.first?.deadline)
    )
  }

  /// Lets all happen that is due by `now`.
  package mutating func advance(to now: Now) {
    while let due = nextDue(now) {
      let slot = Int(due.entry.key)
      switch due.kind {
      case .expiry: expire(hold: slot, now: now, late: due.late)
      case .boottime: boottimeDue(slot, due, now)
      case .monotonic: monotonicDue(slot, due, now)
      case .linger: remove(slot)
      }
    }
  }

  private struct Due {
    enum Kind { case expiry, boottime, monotonic, linger }
    var kind: Kind
    var entry: DeadlineQueue.Entry
    var late: Microseconds
  }

  /// What has been due for longest.
  ///
  /// Of equally late things those that end something come first: work that ends when its grace does
  /// is not shown.
  private func nextDue(_ now: Now) -> Due? {
    var most: Due?
    func consider(_ kind: Due.Kind, _ first: DeadlineQueue.Entry?, _ clock: Microseconds) {
      guard let entry = first, entry.deadline <= clock else { return }
      let late = clock - entry.deadline
      if let most, most.late >= late { return }
      most = Due(kind: kind, entry: entry, late: late)
    }
    consider(.expiry, expiries.first, now.boottime)
    consider(.boottime, boottimeQueue.first, now.boottime)
    consider(.monotonic, monotonicQueue.first, now.monotonic)
    consider(.linger, idleQueue.first, now.monotonic)
    return most
  }

  private mutating func boottimeDue(_ slot: Int, _ due: Due, _ now: Now) {
    let instant = due.entry.deadline
    if records[slot].control.hasReachedLimit(at: instant) { turnOff(slot) }
    runCountdown(slot, on: .boottime, due: instant, now: now)
    rest(slot, due, now)
  }

  private mutating func monotonicDue(_ slot: Int, _ due: Due, _ now: Now) {
    let instant = due.entry.deadline
    runCountdown(slot, on: .monotonic, due: instant, now: now)
    if records[slot].control.isToFlicker(at: instant) { touch(slot) }
    rest(slot, due, now)
  }

  // A tick changes nothing but when the next one is due. There may be ten thousand in a second.
  private mutating func rest(_ slot: Int, _ due: Due, _ now: Now) {
    if records[slot].touch < 0 { schedule(slot) } else { settle(slot, now: now, late: due.late) }
  }
}
