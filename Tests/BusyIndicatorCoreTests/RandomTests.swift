// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

/// Random events on the machine and the naive model, which must never differ in what can be seen.
@Suite struct RandomTests {
  @Test(arguments: 0..<10 as Range<UInt64>)
  func theMachineDoesWhatTheNaiveModelDoes(seed: UInt64) {
    var trial = Trial(seed: seed, keepsHistory: false)
    for step in 0..<10_000 {
      trial.step()
      guard let difference = trial.difference else { continue }
      // The same again, to see how it came about.
      var again = Trial(seed: seed, keepsHistory: true)
      for _ in 0...step { again.step() }
      Issue.record("seed \(seed), step \(step): \(difference)\n\(again.history)")
      return
    }
  }
}

struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements.randomElement(using: &self)!
  }
}

/// What can be written in short in a trial's history.
protocol Options {
  var attributes: Attributes { get }
  var holder: HolderOptions { get }
}

extension ShowOptions: Options {}
extension HoldOptions: Options {}
extension CountdownOptions: Options {}

extension Options {
  /// All that is given.
  var inShort: String {
    [attributes as Any, holder, self].flatMap { Mirror(reflecting: $0).children }
      .filter { !["attributes", "holder"].contains($0.label) && "\($0.value)" != "nil" }
      .map { "\($0.label!)=\($0.value)" }.joined(separator: " ")
  }
}
