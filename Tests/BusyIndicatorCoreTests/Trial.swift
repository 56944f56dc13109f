// SPDX-License-Identifier: MIT

@testable import BusyIndicatorCore

/// One run of the machine beside the model, watched by an observer who knows the drains alone.
struct Trial {
  var machine: IndicatorStateMachine
  var model: NaiveModel
  var observer = Observer()
  /// The same for all drains, so that its memory is used again.
  var drained = Drain()
  var now: Now
  var random: SplitMix
  // A class, so that a text is made only when it is needed, and may be of anything here.
  private let report = Report()

  private final class Report {
    var keepsHistory = false
    var lines: [String] = []
    var difference: String?
  }

  var difference: String? { report.difference }
  var history: String { report.lines.suffix(40).joined(separator: "\n") }

  init(seed: UInt64, keepsHistory: Bool) {
    report.keepsHistory = keepsHistory
    random = SplitMix(state: seed)
    var configuration = Configuration()
    configuration.maxControls = random.pick([3, 5, 20])
    configuration.maxHolds = random.pick([6, 40])
    configuration.maxHoldsPerSender = random.pick([3, 20])
    configuration.linger = .seconds(random.pick([0, 0.5, 3]))
    configuration.grace = .seconds(random.pick([0, 0, 0.3]))
    configuration.minimum = .seconds(random.pick([0, 0, 0.5]))
    now = Now(boottime: .seconds(5000), monotonic: .seconds(3000), realtime: .seconds(17e8))
    machine = IndicatorStateMachine(configuration: configuration)
    model = NaiveModel(configuration: configuration, now: now)
  }

  mutating func step() {
    if random.oneIn(3) { pass() }
    model.now = now
    model.advance()
    if random.oneIn(8) {
      note("advance to \(now.monotonic)")
      machine.advance(to: now)
    } else {
      call()
    }
    machine.checkInvariants()
    compare()
    if random.oneIn(4) {
      drain()
      if random.oneIn(50) { restart() }
    }
  }

  // Times are multiples of 100 ms, so that much falls on one instant.
  private mutating func duration(_ most: Int) -> Microseconds {
    Microseconds(rawValue: UInt64(Int.random(in: 0...most, using: &random)) * 100_000)
  }

  private mutating func pass() {
    let time = random.oneIn(6) ? duration(60) : duration(6)
    let isSuspended = random.oneIn(10)
    now.boottime = now.boottime + time
    now.realtime = now.realtime + time
    if !isSuspended { now.monotonic = now.monotonic + time }
    note("\(time) pass" + (isSuspended ? " in a suspend" : ""))
  }

  func note(_ text: @autoclosure () -> String) {
    if report.keepsHistory { report.lines.append(text()) }
  }

  func expect(_ isSame: Bool, _ text: @autoclosure () -> String) {
    if !isSame, report.difference == nil { report.difference = text() }
  }

  // MARK: - Calls

  private var controlName: String {
    mutating get { random.pick(["a", "b", "c", "d", "e", "f", "g"]) }
  }

  private var sender: String { mutating get { random.pick([":1.1", ":1.2", ":1.3", ":1.4"]) } }

  private var cookie: UInt32 {
    mutating get {
      let recent = max(0, Int(model.lastCookie) - 20)
      return UInt32(Int.random(in: recent...Int(model.lastCookie) + 1, using: &random))
    }
  }

  private mutating func attributes() -> Attributes {
    var attributes = Attributes()
    if random.oneIn(6) { attributes.title = random.pick(["", "Save", "Load"]) }
    if random.oneIn(6) { attributes.detail = random.pick(["", "1 of 9", "2 of 9"]) }
    if random.oneIn(9) { attributes.icon = random.pick(["", "disk"]) }
    if random.oneIn(9) { attributes.desktopEntry = random.pick(["", "org.example.Editor"]) }
    return attributes
  }

  private mutating func holder() -> HolderOptions {
    var holder = HolderOptions()
    if random.oneIn(4) { holder.application = random.pick(["", "make", "cp"]) }
    if random.oneIn(3) { holder.grace = duration(8) }
    if random.oneIn(3) { holder.minimum = duration(12) }
    return holder
  }

  private mutating func call() {
    switch Int.random(in: 0..<24, using: &random) {
    case 0...3: show()
    case 4, 5:
      let control = controlName
      note("hide \(control)")
      machine.hide(name(control), now: now)
      model.hide(control)
    case 6...9: hold()
    case 10, 11: release()
    case 12, 13: startCountdown()
    case 14...17: changeCountdown()
    case 18, 19: setSomething()
    default: callRarely()
    }
  }

  private mutating func show() {
    var options = ShowOptions()
    if random.oneIn(2) {
      options.attributes = attributes()
      options.holder = holder()
      if random.oneIn(2) { options.timeout = duration(20) }
    }
    let (control, sender) = (controlName, sender)
    note("show \(control) by \(sender) " + options.inShort)
    let real = outcome { (machine, now) throws(Refusal) in
      try machine.show(name(control), options, sender: sender, now: now)
    }
    same(real, model.show(control, options, sender))
  }

  private mutating func hold() {
    var options = HoldOptions(reason: random.pick(["", "build", "copy"]))
    options.attributes = attributes()
    options.holder = holder()
    options.exclusive = random.oneIn(8)
    if random.oneIn(4) { options.notifyAfter = duration(10) }
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1: options.lease = .ttl(duration(30))
    case 2: options.lease = .process(pid: 42, startTime: 1)
    case 3: options.lease = .none
    default: options.lease = .sender
    }
    let (control, sender) = (controlName, sender)
    note("hold \(control) by \(sender) " + options.inShort)
    let real = number { (machine, now) throws(Refusal) in
      try machine.hold(name(control), options, sender: sender, now: now)
    }
    same(real, model.hold(control, options, sender))
  }

  private mutating func release() {
    let (cookie, sender, result) = (cookie, sender, random.pick(["", "exit 2"]))
    note("release \(cookie) by \(sender) \(result)")
    let real = outcome { (machine, now) throws(Refusal) in
      try machine.release(cookie: cookie, result: result, sender: sender, now: now)
    }
    same(real, model.release(cookie, result, sender))
  }

  private mutating func startCountdown() {
    var options = CountdownOptions()
    options.attributes = attributes()
    options.holder = holder()
    options.interval = random.pick([0, 1, 1, 1, 2, 3])
    options.indicator = random.oneIn(2)
    options.restart = random.pick([.replace, .replace, .keep, .reject, .extend])
    options.clock = random.pick([.boottime, .monotonic])
    options.endsWithSender = random.oneIn(3)
    options.paused = random.oneIn(5)
    options.notify = random.oneIn(5)
    let (control, sender, time) = (controlName, sender, random.oneIn(8) ? .zero : duration(60))
    note("start \(control) \(time) by \(sender) " + options.inShort)
    let real = number { (machine, now) throws(Refusal) in
      try machine.startCountdown(
        name(control), duration: time, options, sender: sender, now: now)
    }
    same(real, model.startCountdown(control, time.rawValue, options, sender))
  }

  private mutating func changeCountdown() {
    let control = controlName
    let subject = name(control)
    switch Int.random(in: 0..<5, using: &random) {
    case 0:
      note("pause \(control)")
      let real = outcome { (machine, now) throws(Refusal) in
        try machine.pauseCountdown(subject, now: now)
      }
      same(real, model.pause(control))
    case 1, 2:
      note("resume \(control)")
      let real = outcome { (machine, now) throws(Refusal) in
        try machine.resumeCountdown(subject, now: now)
      }
      same(real, model.resume(control))
    case 3:
      let seconds = Int32.random(in: -4...4, using: &random)
      note("extend \(control) \(seconds)")
      let real = outcome { (machine, now) throws(Refusal) in
        try machine.extendCountdown(subject, seconds: seconds, now: now)
      }
      same(real, model.extend(control, seconds))
    default:
      note("cancel \(control)")
      let real = outcome { (machine, now) throws(Refusal) in
        try machine.cancelCountdown(subject, now: now)
      }
      same(real, model.cancel(control))
    }
  }

  private mutating func setSomething() {
    let control = controlName
    let subject = name(control)
    switch Int.random(in: 0..<5, using: &random) {
    case 0, 1:
      let title = random.pick(["", "", "Save", "Load"])
      note("title \(control) \(title)")
      let real = outcome { (machine, now) throws(Refusal) in
        try machine.setTitle(subject, title, now: now)
      }
      let naive = model.set(control) {
        $0.title = title
        $0.titleIsHeld = title != ""
      }
      same(real, naive)
    case 2:
      let detail = random.pick(["", "1 of 9", "2 of 9"])
      note("detail \(control) \(detail)")
      let real = outcome { (machine, now) throws(Refusal) in
        try machine.setDetail(subject, detail, now: now)
      }
      same(real, model.set(control) { $0.detail = detail })
    case 3:
      let enabled = !random.oneIn(3)
      note("enabled \(control) \(enabled)")
      let real = outcome { (machine, now) throws(Refusal) in
        try machine.setEnabled(subject, enabled, now: now)
      }
      same(real, model.set(control) { $0.enabled = enabled })
    default:
      let fraction = random.pick([-1, 0, 0.5, 1])
      note("progress \(control) \(fraction)")
      let real = outcome { (machine, now) throws(Refusal) in
        try machine.setProgress(subject, fraction, now: now)
      }
      same(real, model.set(control) { $0.progress = fraction < 0 ? nil : fraction })
    }
  }

  private mutating func callRarely() {
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      let control = controlName
      note("release all \(control)")
      let released = machine.releaseAll(name(control), now: now)
      let expected = model.releaseAll(control)
      expect(released == expected, "released \(released), not \(expected)")
    case 1:
      let control = controlName
      note("forget \(control)")
      machine.forget(name(control), now: now)
      model.forget(control)
    case 2:
      let sender = sender
      note("\(sender) leaves")
      machine.senderLeft(sender, now: now)
      model.senderLeft(sender)
    case 3:
      let cookie = cookie
      note("process of \(cookie) ends")
      machine.processEnded(cookie: cookie, now: now)
      model.processEnded(cookie)
    default:
      let cookie = cookie
      note("renew \(cookie)")
      let real = outcome { (machine, now) throws(Refusal) in
        try machine.renew(cookie: cookie, now: now)
      }
      same(real, model.renew(cookie))
    }
  }

  private mutating func outcome(
    _ body: (inout IndicatorStateMachine, Now) throws(Refusal) -> Void
  ) -> String? {
    do throws(Refusal) {
      try body(&machine, now)
      return nil
    } catch {
      return error.errorName
    }
  }

  private mutating func number(
    _ body: (inout IndicatorStateMachine, Now) throws(Refusal) -> UInt32
  ) -> String {
    do throws(Refusal) {
      return try "\(body(&machine, now))"
    } catch {
      return error.errorName
    }
  }

  private func same(_ real: String?, _ naive: ErrorName?) {
    expect(real == naive?.rawValue, "\(real ?? "done"), not \(naive?.rawValue ?? "done")")
  }

  private func same(_ real: String, _ naive: Result<UInt32, NaiveError>) {
    let expected =
      switch naive {
      case .success(let number): "\(number)"
      case .failure(let error): error.name.rawValue
      }
    expect(real == expected, "\(real), not \(expected)")
  }
}
