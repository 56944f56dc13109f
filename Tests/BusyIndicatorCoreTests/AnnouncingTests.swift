// SPDX-License-Identifier: MIT

import Testing

@testable import BusyIndicatorCore

/// What a drain says, exactly.
@Suite struct AnnouncingTests {
  @Test func aNewControlIsAddedWithoutChanges() throws {
    var bench = Bench()
    try bench.show()
    try bench.setTitle("c", "Save")
    bench.hide()
    let id = try #require(bench.machine.find(name("c")))
    let drain = bench.machine.drain()
    #expect(drain.changes == [.added(id)])
    #expect(!drain.managerBusyChanged && !drain.managerVisibleChanged)
  }

  @Test func aDrainTakesThePlaceOfTheOneBefore() throws {
    var bench = Bench()
    var drain = Drain()
    try bench.show()
    _ = try bench.hold()
    bench.machine.drain(into: &drain)
    #expect(!drain.isEmpty)
    bench.machine.drain(into: &drain)
    #expect(drain.isEmpty)
  }

  @Test func showAndHideAnnounceJustWhatDiffers() throws {
    var bench = Bench()
    try bench.setTitle("c", "Save")
    _ = bench.machine.drain()
    try bench.show()
    let fields: Fields = [
      .busy, .visible, .displayedTitle, .displayedEnabled, .busySince, .holders,
    ]
    #expect(bench.takeFields() == fields)
    bench.pass(.seconds(1))
    bench.hide()
    #expect(bench.takeFields() == fields)
  }

  @Test func anUntitledOrDisabledControlIsDrawnTheSame() throws {
    var bench = Bench()
    try bench.setEnabled("c", false)
    _ = bench.machine.drain()
    try bench.show()
    #expect(bench.takeFields() == [.busy, .visible, .busySince, .holders])
  }

  @Test func whatIsUndoneWithinATurnIsNotAnnounced() throws {
    var bench = Bench()
    try bench.setTitle("c", "Save")
    _ = bench.machine.drain()
    try bench.show()
    try bench.setTitle("c", "Load")
    bench.hide()
    try bench.setTitle("c", "Save")
    let drain = bench.machine.drain()
    #expect(drain.changes == [] && !drain.managerBusyChanged && !drain.managerVisibleChanged)
    #expect(!bench.machine.hasChanges)
  }

  @Test func hideAndShowWithinATurnIsNoChange() throws {
    var bench = Bench()
    try bench.show()
    _ = bench.machine.drain()
    bench.hide()
    try bench.show()
    #expect(bench.machine.drain().changes == [])
    // By another, or later, it is.
    bench.hide()
    try bench.show(sender: ":1.2")
    #expect(bench.takeFields() == .holders)
    bench.pass(.seconds(1))
    bench.hide()
    try bench.show(sender: ":1.2")
    #expect(bench.takeFields() == [.holders, .busySince])
  }

  @Test func aSwitchThatComesBehindOthersIsAChangeOfHolders() throws {
    var bench = Bench()
    try bench.show()
    try bench.hold()
    _ = bench.machine.drain()
    bench.hide()
    try bench.show()
    #expect(bench.takeFields() == .holders)
    bench.hide()
    try bench.show()
    #expect(bench.takeFields() == [])
    try bench.count("c", .seconds(5)) { $0.indicator = true }
    _ = bench.machine.drain()
    bench.hide()
    try bench.show()
    #expect(bench.takeFields() == .holders)
  }

  @Test func aReplacedIndicatorThatLooksTheSameIsNoChangeOfHolders() throws {
    var bench = Bench()
    try bench.count("c", .seconds(5)) { $0.indicator = true }
    _ = bench.machine.drain()
    try bench.count("c", .seconds(5)) { $0.indicator = true }
    #expect(bench.takeFields() == [.countdown, .lastResult, .lastCountdown])
    try bench.count("c", .seconds(5)) {
      $0.indicator = true
      $0.endsWithSender = true
    }
    #expect(bench.takeFields() == [.countdown, .holders, .lastCountdown])
    try bench.hold()
    _ = bench.machine.drain()
    try bench.count("c", .seconds(5)) {
      $0.indicator = true
      $0.endsWithSender = true
    }
    #expect(bench.takeFields() == [.countdown, .holders, .lastCountdown])
  }

  @Test func holdsThatComeAndGoAreAnnouncedExactly() throws {
    var bench = Bench()
    try bench.hold { $0.lease = .none }
    _ = bench.machine.drain()
    try bench.hold()
    #expect(bench.takeFields() == .holders)
    // One that was never announced leaves no trace but how it ended.
    try bench.hold()
    try bench.release(3)
    #expect(bench.takeFields() == .lastResult)
    try bench.release(2)
    #expect(bench.takeFields() == .holders)
    // As many as before, but others.
    try bench.release(1)
    try bench.hold { $0.lease = .none }
    #expect(bench.takeFields() == .holders)
    try bench.renewIfPossible(4)
    #expect(bench.takeFields() == [])
  }

  @Test func ticksAreNoChange() throws {
    var bench = Bench()
    try bench.count("c", .seconds(5))
    _ = bench.machine.drain()
    bench.pass(.seconds(1))
    bench.machine.advance(to: bench.now)
    let drain = bench.machine.drain()
    #expect(drain.changes == [] && drain.touched == [])
    #expect(drain.events == [.tick(control: name("c"), remaining: 4, countdown: 1)])
  }

  @Test func aCountdownAnnouncesWhatDiffers() throws {
    var bench = Bench()
    try bench.setDetail("c", "x")
    _ = bench.machine.drain()
    let all: Fields = [.countdown, .countdownState, .countdownClock, .duration, .deadline]
    try bench.count("c", .seconds(5))
    #expect(bench.takeFields() == all)
    try bench.extend("c", 1)
    #expect(bench.takeFields() == [.duration, .deadline])
    try bench.extend("c", 0)
    #expect(bench.takeFields() == [])
    try bench.pause()
    #expect(bench.takeFields() == [.countdownState, .deadline])
    try bench.extend("c", 1)
    #expect(bench.takeFields() == .duration)
    try bench.cancel()
    #expect(
      bench.takeFields()
        == all.subtracting(.deadline).union([.lastResult, .lastCountdown, .detail]))
  }

  @Test func progressAndItsValidityAreTwo() throws {
    var bench = Bench()
    try bench.setDetail("c", "x")
    _ = bench.machine.drain()
    try bench.setProgress("c", 0)
    #expect(bench.takeFields() == .progressValid)
    try bench.setProgress("c", 0.5)
    #expect(bench.takeFields() == .progress)
    try bench.setProgress("c", -1)
    #expect(bench.takeFields() == [.progress, .progressValid])
  }

  @Test func controlsComeInTheOrderOfTheirFirstTouch() throws {
    var bench = Bench()
    for control in ["a", "b", "c"] { try bench.setDetail(control, "x") }
    _ = bench.machine.drain()
    try bench.show("c")
    try bench.show("a")
    bench.hide("c")
    try bench.setTitle("c", "Save")
    try bench.show("new")
    let ids = ["c", "a", "new"].map { bench.machine.find(name($0))! }
    let drain = bench.machine.drain()
    #expect(
      drain.changes == [
        .changed(ids[0], [.title, .displayedTitle, .detail]),
        .changed(ids[1], [.busy, .visible, .displayedEnabled, .busySince, .holders]),
        .added(ids[2]),
      ])
    #expect(drain.touched == ids)
  }

  @Test func theManagersPropertiesAreAnnouncedWhenTheyDiffer() throws {
    var bench = Bench()
    try bench.show("a") { $0.holder.grace = .seconds(1) }
    var drain = bench.machine.drain()
    #expect(drain.managerBusyChanged && !drain.managerVisibleChanged)
    try bench.show("b")
    drain = bench.machine.drain()
    #expect(!drain.managerBusyChanged && drain.managerVisibleChanged)
    bench.hide("b")
    drain = bench.machine.drain()
    #expect(!drain.managerBusyChanged && drain.managerVisibleChanged)
    bench.forget("a")
    drain = bench.machine.drain()
    #expect(drain.managerBusyChanged && !drain.managerVisibleChanged)
  }

  // MARK: - Forgotten

  @Test func forgottenAndMadeAgainWithinATurnItIsTheSameObject() throws {
    var bench = Bench()
    try bench.setTitle("c", "Save")
    try bench.show()
    try bench.hold()
    _ = bench.machine.drain()
    bench.forget()
    try bench.show()
    let id = try #require(bench.machine.find(name("c")))
    let drain = bench.machine.drain()
    #expect(drain.changes == [.changed(id, [.title, .holders])])
    #expect(drain.events.map(\.text) == ["hold 1 forgotten to :1.1"])
    #expect(bench.c.title == "" && bench.c.lastResult == "")
  }

  @Test func forgottenAndMadeAgainAsItWasItIsNoChange() throws {
    var bench = Bench()
    try bench.show()
    _ = bench.machine.drain()
    bench.forget()
    try bench.show()
    #expect(bench.machine.drain().changes == [])
  }

  @Test func aResultThatWasForgottenIsAnnouncedAsGone() throws {
    var bench = Bench()
    try bench.count("c", .zero)
    _ = bench.machine.drain()
    bench.forget()
    try bench.setDetail("c", "x")
    #expect(bench.takeFields() == [.lastResult, .lastCountdown, .detail])
  }

  @Test func madeAndForgottenUnseenItLeavesOnlyItsEvents() throws {
    var bench = Bench()
    try bench.show()
    try bench.count("c", .seconds(5))
    bench.forget()
    #expect(bench.machine.find(name("c")) == nil && bench.machine.count == 0)
    let drain = bench.machine.drain()
    #expect(drain.changes == [] && drain.touched == [])
    #expect(drain.events.map(\.text) == ["tick 5 #1", "forgotten #1"])
    bench.machine.checkInvariants()
  }

  @Test func forgottenSeveralTimesItIsRemovedOnce() throws {
    var bench = Bench()
    try bench.show()
    _ = bench.machine.drain()
    bench.forget()
    try bench.show()
    bench.forget()
    #expect(bench.machine.drain().changes == [.removed(name("c"))])
    try bench.show()
    let id = try #require(bench.machine.find(name("c")))
    #expect(bench.machine.drain().changes == [.added(id)])
  }

  @Test func anotherControlDoesNotTakeThePlaceOfOneThatIsToBeAnnouncedAsGone() throws {
    var bench = Bench()
    try bench.show("a")
    let old = try #require(bench.machine.find(name("a")))
    _ = bench.machine.drain()
    bench.forget("a")
    try bench.show("b")
    let new = try #require(bench.machine.find(name("b")))
    #expect(old != new)
    #expect(bench.machine.drain().changes == [.removed(name("a")), .added(new)])
    // Later it may.
    try bench.show("d")
    #expect(bench.machine.find(name("d")) == old)
  }

  // MARK: - Waiting

  @Test func ticksCanBeDroppedAndOnlyTicks() throws {
    var bench = Bench()
    try bench.count("c", .seconds(2))
    try bench.count("d", .seconds(9))
    try bench.hold()
    _ = bench.releaseAll()
    try bench.cancel("d")
    bench.pass(.seconds(1))
    bench.machine.advance(to: bench.now)
    bench.machine.discardTicks()
    bench.pass(.seconds(1))
    bench.machine.advance(to: bench.now)
    bench.machine.discardTicks()
    #expect(
      bench.machine.drain().events.map(\.text) == [
        "hold 1 released-by-other to :1.1", "cancelled #2 d", "finished #1",
      ])
    #expect(bench.machine.drain().isEmpty)
  }

  @Test func changesThatWaitCoalesce() throws {
    var bench = Bench()
    try bench.show()
    _ = bench.machine.drain()
    for step in 1...100 {
      bench.pass(.seconds(1))
      try bench.setProgress("c", Double(step) / 100)
    }
    #expect(bench.takeFields() == [.progress, .progressValid])
    #expect(bench.c.progress == 1)
  }

  @Test func aDrainOfNothingIsEmpty() throws {
    var bench = Bench()
    #expect(!bench.machine.hasChanges && bench.machine.drain().isEmpty)
    try bench.show()
    #expect(bench.machine.hasChanges && !bench.machine.drain().isEmpty)
    #expect(!bench.machine.hasChanges && bench.machine.drain().isEmpty)
  }

  @Test func aViewStaysWhatItWas() throws {
    var bench = Bench()
    try bench.hold("c", "first")
    let view = bench.c
    try bench.release(1)
    try bench.hold("c", "second")
    #expect(view.holders.map(\.reason) == ["first"] && view.lastResult == "")
  }
}

extension Bench {
  fileprivate mutating func renewIfPossible(_ cookie: UInt32) throws {
    try? renew(cookie)
  }
}
