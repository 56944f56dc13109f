// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
internal import Glibc

// The state machine alone: core-swift COUNT ROUNDS. See core.cpp, which does the same with less.

func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

func oneDecimal(_ value: Double) -> String {
  let tenths = Int((value * 10).rounded())
  return "\(tenths / 10).\(tenths % 10)"
}

struct Benchmark {
  let names: [ControlName]
  var machine: IndicatorStateMachine
  var now: UInt64 = 1_000_000
  var random: UInt64 = 88_172_645_463_325_252
  var drain = Drain()
  var drained = 0
  var sinceDrain = 0
  var start: [Double] = []
  var cancel: [Double] = []
  var expire: [Double] = []
  var tick: [Double] = []

  init(count: Int) throws {
    names = try (0..<count).map { index in
      let digits = String(index)
      return try ControlName(
        "control" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits)
    }
    var configuration = Configuration()
    configuration.maxControls = count
    machine = IndicatorStateMachine(configuration: configuration)
  }

  var instant: Now {
    let time = Microseconds(rawValue: now)
    return Now(boottime: time, monotonic: time, realtime: time)
  }

  mutating func turn(_ most: Int) {
    sinceDrain += 1
    guard sinceDrain >= most else { return }
    sinceDrain = 0
    machine.drain(into: &drain)
    drained += drain.events.count
  }

  mutating func start(_ name: ControlName, _ duration: UInt64, interval: UInt32) throws {
    var options = CountdownOptions()
    options.interval = interval
    _ = try machine.startCountdown(
      name, duration: Microseconds(rawValue: duration), options, sender: ":1.1", now: instant)
  }

  // The linger of controls that have come to rest lies behind all countdowns, and is not waited for.
  mutating func round() throws {
    let count = names.count
    var from = processorTime()
    for name in names {
      random ^= random << 13
      random ^= random >> 7
      random ^= random << 17
      now += 10
      try start(name, 10_000_000 + random % 10_000_000, interval: 0)
      turn(64)
    }
    start.append((processorTime() - from) / Double(count))

    from = processorTime()
    for index in stride(from: 0, to: count, by: 2) {
      now += 10
      try machine.cancelCountdown(names[index], now: instant)
      turn(64)
    }
    cancel.append((processorTime() - from) / Double((count + 1) / 2))

    from = processorTime()
    while let next = machine.nextDeadline.boottime {
      now = next.rawValue
      machine.advance(to: instant)
      turn(1)
    }
    expire.append((processorTime() - from) / Double(count / 2))

    for name in names {
      now += 1_000_000 / UInt64(count)
      try start(name, 20_000_000, interval: 1)
    }
    turn(1)
    let before = drained
    from = processorTime()
    let end = now + 10_000_000
    while now < end, let next = machine.nextDeadline.boottime {
      now = next.rawValue
      machine.advance(to: instant)
      turn(1)
    }
    tick.append((processorTime() - from) / Double(drained - before))
    for name in names { try machine.cancelCountdown(name, now: instant) }
    turn(1)
  }
}

guard CommandLine.arguments.count == 3, let count = Int(CommandLine.arguments[1]),
  let rounds = Int(CommandLine.arguments[2])
else { exit(64) }
var benchmark = try Benchmark(count: count)
for _ in 0..<rounds { try benchmark.round() }
print(
  """
  {"start_ns": \(oneDecimal(median(benchmark.start))), \
  "cancel_ns": \(oneDecimal(median(benchmark.cancel))), \
  "expire_ns": \(oneDecimal(median(benchmark.expire))), \
  "tick_ns": \(oneDecimal(median(benchmark.tick)))}
  """)
