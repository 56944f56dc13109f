// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore

/// What a control has to show at one moment: a spinner, or a countdown, or both.
struct Activity: Equatable {
  /// A countdown as a ring or a bar shows it.
  struct Countdown: Equatable {
    var remaining: Microseconds
    var duration: Microseconds
    var isPaused: Bool
  }

  var name: ControlName
  /// The control's own title, or its name where it has none.
  var label: String
  var detail: String
  var icon: String
  var desktopEntry: String
  var isBusy: Bool
  var isVisible: Bool
  /// How far the work is, where that is known.
  var progress: Double?
  var countdown: Countdown?
}

extension Activity {
  /// Nil for a control that has nothing to show: a busy one whose grace has not passed, too.
  init?(_ view: ControlView, remaining: @autoclosure () -> Microseconds) {
    guard view.visible || view.countdownState != .none else { return nil }
    name = view.name
    label = view.title.isEmpty ? view.name.rawValue : view.title
    detail = view.detail
    icon = view.icon
    desktopEntry = view.desktopEntry
    isBusy = view.busy
    isVisible = view.visible
    progress = view.progressValid ? view.progress : nil
    if view.countdownState != .none {
      countdown = Countdown(
        remaining: remaining(), duration: view.duration,
        isPaused: view.countdownState == .paused)
    }
  }

  /// How much of it is done, from 0 to 1: the progress that it tells, else its countdown's share.
  var fraction: Double? { progress ?? countdown?.elapsedShare }

  /// When ``step(of:)`` of the fraction changes by itself, in microseconds from now; nil: never.
  func nextStep(of steps: Int) -> UInt64? {
    guard progress == nil, let countdown, !countdown.isPaused else { return nil }
    return countdown.nextStep(of: steps)
  }

  /// When its line of text changes by itself, in microseconds from now; nil: never.
  var nextTextChange: UInt64? {
    guard let countdown, !countdown.isPaused else { return nil }
    return Texts.nextChange(ofLeft: countdown.remaining)
  }

  /// The fraction in whole steps, so that pictures are drawn anew only when they would differ.
  func step(of steps: Int) -> Int? {
    fraction.map { $0.wholeSteps(of: steps) }
  }
}

extension Double {
  /// A fraction in whole steps: 0.29 is 29 of 100, though the product is a little less.
  func wholeSteps(of steps: Int) -> Int {
    min(steps, max(0, Int(self * Double(steps) + 1e-6)))
  }
}

extension Activity.Countdown {
  /// How much of it has passed, from 0 to 1.
  var elapsedShare: Double {
    guard duration > .zero else { return 1 }
    return 1 - min(1, Double(remaining.rawValue) / Double(duration.rawValue))
  }

  /// How long it takes until one more of `steps` equal parts has passed.
  fileprivate func nextStep(of steps: Int) -> UInt64? {
    guard duration > .zero, remaining > .zero else { return nil }
    let part = max(1, duration.rawValue / UInt64(steps))
    // Parts are reckoned from the end: what remains then is a whole number of them.
    let beyond = remaining.rawValue % part
    return beyond == 0 ? part : beyond
  }
}

extension Turn {
  /// What all controls have to show; in an order that does not change while they exist, so that
  /// nothing jumps about in a menu.
  ///
  /// It costs as much as there are controls; its callers keep a pace.
  func activities(at now: Now) -> [Activity] {
    machine.controls.compactMap { id in
      Activity(machine[id], remaining: machine.remaining(of: id, now: now))
    }
  }
}
