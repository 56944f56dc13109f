// SPDX-License-Identifier: MIT

/// What busy, visible and remaining mean: the state of all controls, and what each event does to it.
///
/// It reads no clock and tells nobody. Each event is a `mutating func` with the time at which it
/// happens as an argument; what is due by then happens before it. Whoever drives it arms a timer
/// for ``nextDeadline``, calls ``advance(to:)`` then, and hands on what ``drain()`` returns.
///
/// Every event goes the same way: check all that can be refused; `touch` the control, which keeps
/// what was last announced of it; change it; `settle` it, which draws the consequences and puts its
/// deadlines into the queues.
package struct IndicatorStateMachine: Sendable {
  /// A place for a control.
  ///
  /// While one that was forgotten is still to be announced as gone, it keeps its place, so that one
  /// made again under its name is the same object.
  struct Record: Sendable {
    var name: ControlName
    var exists = false
    /// Its state; of one that does not exist, nothing.
    ///
    /// It is no Optional, since reading a part of that copies the whole.
    var control = Control(serial: 0)
    /// Where it is among `touched`, or -1.
    var touch: Int32 = -1
  }

  /// A control that may differ from what was last announced of it.
  struct Touched: Sendable {
    var slot: Int32
    /// Whether it has not been announced at all.
    var isNew: Bool
    var announced: Announced
  }

  let configuration: Configuration

  // The controls: places, those of them that are free, and where each name is.
  var records: [Record] = []
  var freeRecords: [Int32] = []
  var slots: [ControlName: Int32] = [:]
  package internal(set) var count = 0

  // The holds: likewise.
  // A free place has the cookie 0.
  var holds: [Hold] = []
  var freeHolds: [Int32] = []
  var holdSlots: [UInt32: Int32] = [:]

  var senders: [String: SenderRecord] = [:]

  // Numbers given last. None is given twice.
  package internal(set) var lastCookie: UInt32
  package internal(set) var lastCountdown: UInt32
  var lastOrder: UInt64 = 0
  var lastSerial: UInt32 = 0

  // What is due when. The keys are slots of holds in the first, of controls in the others.
  var expiries = DeadlineQueue()
  var boottimeQueue = DeadlineQueue()
  var monotonicQueue = DeadlineQueue()
  var idleQueue = DeadlineQueue()

  var busyCount = 0
  var visibleCount = 0

  // What the next drain has to look at.
  var touched: [Touched] = []
  var touchedSenders: [String] = []
  var events: [Event] = []
  var changedHolds: [UInt32] = []
  var endedHolds: [UInt32] = []
  var announcedBusy = false
  var announcedVisible = false

  /// A machine without controls.
  ///
  /// - Parameters:
  ///   - configuration: limits, and defaults of flicker control.
  ///   - lastCookie: the cookie after which to go on.
  ///   - lastCountdown: the countdown's id after which to go on.
  package init(
    configuration: Configuration, lastCookie: UInt32 = 0, lastCountdown: UInt32 = 0
  ) {
    self.configuration = configuration
    self.lastCookie = lastCookie
    self.lastCountdown = lastCountdown
  }

  // MARK: - Reading

  /// The control of a name, if it exists.
  package func find(_ name: ControlName) -> ControlID? {
    existingSlot(of: name).map { ControlID(slot: Int32(truncatingIfNeeded: $0)) }
  }

  /// What the properties of a control are; it has to exist.
  package subscript(id: ControlID) -> ControlView {
    let slot = Int(id.slot)
    return ControlView(records[slot].name, records[slot].control, holds)
  }

  /// All controls; their order is not that of anything.
  package var controls: some Sequence<ControlID> {
    records.indices.lazy.filter { records[$0].exists }
      .map { ControlID(slot: Int32(truncatingIfNeeded: $0)) }
  }

  /// Whether any control is busy.
  package var busy: Bool { busyCount > 0 }

  /// Whether any control is visible.
  package var visible: Bool { visibleCount > 0 }

  /// What is left of a control's countdown; zero when it has none.
  package func remaining(of id: ControlID, now: Now) -> Microseconds {
    records[Int(id.slot)].control.countdown?.remaining(now: now) ?? .zero
  }

  // MARK: - Places

  /// Where a control is, or was until this turn.
  func place(of name: ControlName) -> Int? { slots[name].map { Int($0) } }

  /// The slot of a control that exists.
  func existingSlot(of name: ControlName) -> Int? {
    guard let slot = place(of: name), records[slot].exists else { return nil }
    return slot
  }

  /// The slot of a control, which comes to exist if it does not; in either case it is touched.
  ///
  /// - Throws: ``Refusal/limitsExceeded(_:)`` when there are too many and none that is only kept for
  ///   late callers. It is the last thing an event may be refused for, since it changes something.
  mutating func makeSlot(of name: ControlName) throws(Refusal) -> Int {
    try makeSlot(of: name, at: place(of: name))
  }

  /// The same when it is known where it is or was.
  mutating func makeSlot(of name: ControlName, at place: Int?) throws(Refusal) -> Int {
    if let place, records[place].exists {
      touch(place)
      return place
    }
    if count >= configuration.maxControls {
      guard let idlest = idleQueue.first else {
        throw .limitsExceeded(
          "There are \(count) controls already, so \(name.rawValue.quoted) cannot be added.")
      }
      remove(Int(idlest.key))
    }
    let slot = place ?? newPlace(for: name)
    touch(slot)
    lastSerial &+= 1
    records[slot].exists = true
    records[slot].control.serial = lastSerial
    count += 1
    return slot
  }

  private mutating func newPlace(for name: ControlName) -> Int {
    let slot: Int
    if let free = freeRecords.popLast() {
      slot = Int(free)
      records[slot].name = name
    } else {
      slot = records.count
      records.append(Record(name: name))
    }
    slots[name] = Int32(truncatingIfNeeded: slot)
    return slot
  }

  /// Removes a control, from which everything that has to be told has been taken already.
  mutating func remove(_ slot: Int) {
    touch(slot)
    let key = Int32(truncatingIfNeeded: slot)
    boottimeQueue.remove(key)
    monotonicQueue.remove(key)
    idleQueue.remove(key)
    if records[slot].control.busySince != nil { busyCount -= 1 }
    if records[slot].control.isVisible { visibleCount -= 1 }
    records[slot].exists = false
    records[slot].control = Control(serial: 0)
    count -= 1
  }

  // MARK: - Before and after a change

  /// Keeps what was last announced of a control; has to precede its first change in a turn.
  mutating func touch(_ slot: Int) {
    guard records[slot].touch < 0 else { return }
    records[slot].touch = Int32(truncatingIfNeeded: touched.count)
    touched.append(
      Touched(
        slot: Int32(truncatingIfNeeded: slot), isNew: !records[slot].exists,
        announced: Announced(&records[slot].control)))
  }

  /// Draws the consequences of a change; has to follow an event's last.
  ///
  /// What happened by itself was due `late` ago.
  mutating func settle(_ slot: Int, now: Now, late: Microseconds = .zero) {
    let edges = records[slot].control.settle(now: now, instant: now.monotonic - late, holds)
    busyCount += edges.busy
    visibleCount += edges.visible
    schedule(slot)
  }

  /// Puts a control where its state says into the queues.
  mutating func schedule(_ slot: Int) {
    let key = Int32(truncatingIfNeeded: slot)
    let deadlines = records[slot].control.deadlines()
    let tie = records[slot].control.serial
    boottimeQueue.set(key, to: deadlines.boottime, tie: tie)
    monotonicQueue.set(key, to: deadlines.monotonic, tie: tie)
    let idleSince = records[slot].control.idleSince
    idleQueue.set(key, to: idleSince.map { $0 + configuration.linger }, tie: tie)
  }

  /// What a new holder is.
  mutating func makeHolder(_ options: HolderOptions, sender: String, now: Now) -> Holder {
    // It wraps only behind a store that was tampered with; then it is unclear who is older.
    lastOrder &+= 1
    return Holder(
      sender: sender, application: options.application ?? "", since: now.monotonic,
      sinceRealtime: now.realtime, grace: options.grace ?? configuration.grace,
      minimum: options.minimum ?? configuration.minimum, order: lastOrder)
  }
}
