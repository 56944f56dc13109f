// SPDX-License-Identifier: MIT

/// A control while it exists.
///
/// When it has gone, another may come to have the same.
package struct ControlID: Hashable, Sendable {
  /// Its slot in the machine.
  let slot: Int32
}

/// The properties of a control whose changes are announced, a bit for each.
package struct Fields: OptionSet, Hashable, Sendable {
  /// The bits.
  package let rawValue: UInt32
  /// Takes the bits.
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let title = Fields(rawValue: 1 << 0)
  package static let displayedTitle = Fields(rawValue: 1 << 1)
  package static let enabled = Fields(rawValue: 1 << 2)
  package static let displayedEnabled = Fields(rawValue: 1 << 3)
  package static let detail = Fields(rawValue: 1 << 4)
  package static let icon = Fields(rawValue: 1 << 5)
  package static let desktopEntry = Fields(rawValue: 1 << 6)
  package static let busy = Fields(rawValue: 1 << 7)
  package static let visible = Fields(rawValue: 1 << 8)
  package static let progress = Fields(rawValue: 1 << 9)
  package static let progressValid = Fields(rawValue: 1 << 10)
  package static let busySince = Fields(rawValue: 1 << 11)
  package static let holders = Fields(rawValue: 1 << 12)
  package static let countdown = Fields(rawValue: 1 << 13)
  package static let countdownState = Fields(rawValue: 1 << 14)
  package static let countdownClock = Fields(rawValue: 1 << 15)
  package static let duration = Fields(rawValue: 1 << 16)
  package static let deadline = Fields(rawValue: 1 << 17)
  package static let lastResult = Fields(rawValue: 1 << 18)
  package static let lastCountdown = Fields(rawValue: 1 << 19)
}

/// What happened, to be told in the order in which it did.
package enum Event: Equatable, Sendable {
  /// A countdown tells what is left of it, in whole seconds rounded up.
  case tick(control: ControlName, remaining: UInt32, countdown: UInt32)
  /// A countdown ran out.
  case finished(FinishedCountdown)
  /// A countdown ended before its time.
  case cancelled(control: ControlName, countdown: UInt32, reason: CancelReason)
  /// A hold ended other than by its holder's own Release; `recipient` is the holder's unique name.
  case holdEnded(cookie: UInt32, reason: HoldEndReason, recipient: String)
  /// A hold ended that wanted a notification and lasted long enough for one.
  case holdNotification(EndedHold)
}

/// A countdown that ran out.
package struct FinishedCountdown: Equatable, Sendable {
  /// Its control.
  package var control: ControlName
  /// Its id.
  package var countdown: UInt32
  /// Whether that is worth a notification.
  package var notify: Bool
  /// How long it lasted, without its pauses.
  package var duration: Microseconds
  /// The control's own title.
  package var title: String
}

/// A hold that lasted long enough for a notification.
package struct EndedHold: Equatable, Sendable {
  /// Its control.
  package var control: ControlName
  /// The control's own title.
  package var title: String
  /// How it ended, as LastResult says it.
  package var result: String
  /// How long it lasted, on the monotonic clock.
  package var heldFor: Microseconds
}

/// All that a turn changed, for those who tell others of it or keep it.
package struct Drain: Equatable, Sendable {
  /// What came of one control that was touched.
  package enum ControlChange: Equatable, Sendable {
    /// It is new.
    case added(ControlID)
    /// These of its properties differ from what was last announced.
    case changed(ControlID, Fields)
    /// It has gone.
    case removed(ControlName)
  }

  /// The controls that changed, in the order in which they were first touched.
  package var changes: [ControlChange] = []
  /// Whether the manager's Busy differs from what was last announced.
  package var managerBusyChanged = false
  /// Whether the manager's Visible differs from what was last announced.
  package var managerVisibleChanged = false
  /// What happened, in order.
  package var events: [Event] = []
  /// Callers on whose being on the bus something depends now.
  package var sendersToWatch: [String] = []
  /// Callers on whose being on the bus nothing depends any longer.
  package var sendersToUnwatch: [String] = []
  /// The controls that were touched and exist, whether or not something visible changed.
  package var touched: [ControlID] = []
  /// The cookies of holds that are new or were renewed, and have not ended since.
  package var changedHolds: [UInt32] = []
  /// The cookies of holds that have ended, even those that never saw a drain.
  package var endedHolds: [UInt32] = []

  /// Nothing.
  package init() {}

  /// Makes it nothing, and keeps its memory.
  mutating func removeAll() {
    changes.clear()
    events.clear()
    sendersToWatch.clear()
    sendersToUnwatch.clear()
    touched.clear()
    changedHolds.clear()
    endedHolds.clear()
  }

  /// Whether nothing is in it.
  package var isEmpty: Bool {
    changes.isEmpty && !managerBusyChanged && !managerVisibleChanged && events.isEmpty
      && sendersToWatch.isEmpty && sendersToUnwatch.isEmpty && touched.isEmpty
      && changedHolds.isEmpty && endedHolds.isEmpty
  }
}
