// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

@Suite struct DeadlineQueueTests {
  @Test func theEarliestComesFirstAndOfEqualOnesTheLowestTie() {
    var queue = DeadlineQueue()
    for (key, deadline, tie) in [(3, 20, 1), (0, 10, 9), (7, 10, 2), (5, 30, 0)] {
      queue.set(Int32(key), to: Microseconds(rawValue: UInt64(deadline)), tie: UInt32(tie))
    }
    var order: [Int32] = []
    while let first = queue.first {
      order.append(first.key)
      queue.remove(first.key)
      queue.checkInvariants()
    }
    #expect(order == [7, 0, 3, 5])
  }

  @Test func aKeyIsThereOnceAtMost() {
    var queue = DeadlineQueue()
    queue.set(4, to: .seconds(2), tie: 0)
    queue.set(4, to: .seconds(1), tie: 0)
    #expect(queue.count == 1)
    #expect(queue.deadline(of: 4) == .seconds(1))
    queue.set(4, to: nil, tie: 0)
    #expect(queue.first == nil && queue.deadline(of: 4) == nil)
    queue.remove(4)
    queue.remove(1000)
    #expect(queue.count == 0)
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func itDoesWhatASortedListDoes(seed: UInt64) {
    var random = SplitMix(state: seed)
    var queue = DeadlineQueue()
    var list: [Int32: (UInt64, UInt32)] = [:]
    for _ in 0..<4_000 {
      let key = Int32.random(in: 0..<60, using: &random)
      if random.oneIn(3) {
        queue.remove(key)
        list[key] = nil
      } else {
        let (deadline, tie) = (UInt64.random(in: 0..<40, using: &random), UInt32(key))
        queue.set(key, to: Microseconds(rawValue: deadline), tie: tie)
        list[key] = (deadline, tie)
      }
      queue.checkInvariants()
      let first = list.min { $0.value < $1.value }
      #expect(queue.first?.key == first?.key && queue.count == list.count)
    }
  }
}
