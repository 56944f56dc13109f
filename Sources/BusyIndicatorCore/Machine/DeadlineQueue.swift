// SPDX-License-Identifier: MIT

/// Who is due when: a binary heap that knows where each of its keys is.
///
/// A key is there once at most, so that moving or removing it costs the logarithm of their number.
/// Keys are slots, small whole numbers. Of several that are due at one instant the one with the
/// lowest tie comes first, so that the order does not depend on how the heap came about.
struct DeadlineQueue: Sendable {
  struct Entry: Sendable {
    var deadline: Microseconds
    var tie: UInt32
    var key: Int32

    // As one number: a branch on what comes first in a heap is one that no processor foresees.
    private var order: UInt128 { UInt128(deadline.rawValue) << 64 | UInt128(tie) }

    func isBefore(_ other: Entry) -> Bool { order < other.order }
  }

  private var heap: [Entry] = []
  // The place of each key in the heap, or -1.
  private var places: [Int32] = []

  /// How many keys are in it.
  var count: Int { heap.count }

  /// The key that is due first.
  var first: Entry? { heap.first }

  /// When a key is due, if it is in the queue.
  func deadline(of key: Int32) -> Microseconds? {
    place(of: key).map { heap[$0].deadline }
  }

  /// Puts a key at `deadline`, wherever it was before; nil takes it out.
  mutating func set(_ key: Int32, to deadline: Microseconds?, tie: UInt32) {
    guard let deadline else { return remove(key) }
    let entry = Entry(deadline: deadline, tie: tie, key: key)
    guard let place = place(of: key) else { return insert(entry) }
    if heap[place].deadline == deadline && heap[place].tie == tie { return }
    if entry.isBefore(heap[place]) { rise(entry, from: place) } else { sink(entry, from: place) }
  }

  /// Takes a key out; nothing when it is not in.
  mutating func remove(_ key: Int32) {
    guard let place = place(of: key) else { return }
    places[Int(key)] = -1
    let last = heap.removeLast()
    guard place < heap.count else { return }
    if last.isBefore(heap[place]) { rise(last, from: place) } else { sink(last, from: place) }
  }

  private func place(of key: Int32) -> Int? {
    let index = Int(key)
    guard index < places.count, places[index] >= 0 else { return nil }
    return Int(places[index])
  }

  private mutating func insert(_ entry: Entry) {
    while places.count <= Int(entry.key) { places.append(-1) }
    heap.append(entry)
    rise(entry, from: heap.count - 1)
  }

  private mutating func rise(_ entry: Entry, from place: Int) {
    withHoles { $0.rise(entry, from: place) }
  }

  private mutating func sink(_ entry: Entry, from place: Int) {
    withHoles { $0.sink(entry, from: place) }
  }

  // Whether the arrays are shared is asked once for all steps of a move.
  private mutating func withHoles(_ body: (Holes) -> Void) {
    heap.withUnsafeMutableBufferPointer { heap in
      places.withUnsafeMutableBufferPointer { places in body(Holes(heap: heap, places: places)) }
    }
  }

  /// The two arrays while an entry moves: others go into its hole until it fits.
  private struct Holes {
    let heap: UnsafeMutableBufferPointer<Entry>
    let places: UnsafeMutableBufferPointer<Int32>

    func rise(_ entry: Entry, from place: Int) {
      var hole = place
      while hole > 0 {
        let parent = (hole - 1) / 2
        guard entry.isBefore(heap[parent]) else { break }
        put(heap[parent], at: hole)
        hole = parent
      }
      put(entry, at: hole)
    }

    /// Moves the hole all the way down and lets the entry rise from there: it comes from the end, or
    /// is due later than before, so it mostly belongs near there, and need not be compared on the way.
    func sink(_ entry: Entry, from place: Int) {
      var hole = place
      var child = 2 * hole + 1
      while child < heap.count {
        // The last may have no sibling; then it is compared with itself.
        let sibling = min(child + 1, heap.count - 1)
        child += heap[sibling].isBefore(heap[child]) ? 1 : 0
        put(heap[child], at: hole)
        hole = child
        child = 2 * hole + 1
      }
      rise(entry, from: hole)
    }

    private func put(_ entry: Entry, at place: Int) {
      heap[place] = entry
      places[Int(entry.key)] = Int32(truncatingIfNeeded: place)
    }
  }

  /// Stops the program when the order or the places are wrong; for tests.
  func checkInvariants() {
    for (place, entry) in heap.enumerated() {
      precondition(places[Int(entry.key)] == place, "a key is not where it is said to be")
      precondition(place == 0 || !entry.isBefore(heap[(place - 1) / 2]), "the heap is in disorder")
    }
    precondition(places.count { $0 >= 0 } == heap.count, "a place without a key")
  }
}
