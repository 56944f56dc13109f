// SPDX-License-Identifier: MIT

/// What one caller has.
struct SenderRecord: Sendable {
  /// How many holds, whatever their lease.
  var holdCount = 0
  /// The cookies of its holds with a sender lease.
  var holds: Set<UInt32> = []
  /// The slots of the controls whose countdown ends with it.
  var countdowns: Set<Int32> = []
  /// Whether the last drain left it watched.
  var isWatched = false
  /// Whether it is among those that the next drain looks at.
  var isTouched = false

  /// Whether anything depends on its being on the bus.
  var needsWatch: Bool { !holds.isEmpty || !countdowns.isEmpty }

  /// Whether nothing has to be known of it.
  var isUseless: Bool { holdCount == 0 && !needsWatch && !isTouched }

  /// Makes a change.
  ///
  /// - Returns: what is to be done with the record in its table.
  fileprivate mutating func apply(_ change: (inout SenderRecord) -> Void) -> Consequence {
    change(&self)
    if needsWatch != isWatched, !isTouched {
      isTouched = true
      return .touch
    }
    return isUseless ? .remove : .keep
  }

  fileprivate enum Consequence { case keep, touch, remove }
}

extension IndicatorStateMachine {
  /// Changes what a caller has, and keeps no record of one that has nothing.
  mutating func changeSender(_ sender: String, _ change: (inout SenderRecord) -> Void) {
    switch senders[sender, default: SenderRecord()].apply(change) {
    case .keep: break
    case .touch: touchedSenders.append(sender)
    case .remove: senders[sender] = nil
    }
  }

  /// Says which callers are to be watched from now on, and which no longer.
  ///
  /// One on which something came to depend and ceased to within a turn is in neither list.
  mutating func drainSenders(into drain: inout Drain) {
    for sender in touchedSenders {
      var record = senders[sender]!
      record.isTouched = false
      if record.needsWatch, !record.isWatched { drain.sendersToWatch.append(sender) }
      if !record.needsWatch, record.isWatched { drain.sendersToUnwatch.append(sender) }
      record.isWatched = record.needsWatch
      senders[sender] = record.isUseless ? nil : record
    }
    touchedSenders.clear()
  }
}
