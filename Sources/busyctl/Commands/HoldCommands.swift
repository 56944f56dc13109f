// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient
internal import Glibc

/// `hold` and `release`.
enum HoldCommands {
  static let hold = CommandSpec(
    name: "hold", operands: [.control],
    summary: "Keep a control busy until Ctrl-C, or until what --pid or --ttl names",
    options: [
      OptionSpec("reason", .text("TEXT"), "Why it is busy"),
      OptionSpec("pid", .text("PID"), "Until that process ends; prints the cookie and returns"),
      OptionSpec("ttl", .text("DUR"), "Until not renewed in time; prints the cookie and returns"),
      OptionSpec("exclusive", "Fail with status 75 when it is busy already"),
    ] + SimpleCommands.attributes,
    run: hold)

  static let release = CommandSpec(
    name: "release", operands: [OperandSpec("COOKIE")], summary: "End a hold by its cookie",
    options: [OptionSpec("result", .text("TEXT"), "How it went, such as “exit 2”")]
  ) { invocation throws(Failure) in
    let cookie = try Values.number(invocation.operands[0], what: "COOKIE")
    try Session.perform(.release(cookie, result: invocation["result"] ?? ""))
    return 0
  }

  private static func hold(_ invocation: Invocation) throws(Failure) -> Int32 {
    let name = invocation.operands[0]
    let reason = invocation["reason"] ?? ""
    var options = HoldOptions()
    options.indicator = try invocation.indicatorOptions()
    options.isExclusive = invocation.has("exclusive")
    let pid = try invocation.number("pid")
    let time = try invocation.duration("ttl")
    if pid != nil, time != nil { throw .usage("hold: --pid excludes --ttl") }
    if let pid { options.lease = .process(pid) }
    if let time { options.lease = .time(time) }
    if pid != nil || time != nil {
      let cookie = try Session.perform(.hold(name, reason: reason, options))
      Console.print("\(cookie)")
      return 0
    }
    let keeper = try HoldKeeper(name, reason, options)
    return try keeper.keep()
  }
}

/// A hold for as long as this process lives.
///
/// A daemon that comes back has it in its store, and knows this connection by its name; one without a
/// store is asked again.
private final class HoldKeeper {
  private let name: String
  private let reason: String
  private let options: HoldOptions
  private let loop = PollLoop()
  private let connection: IndicatorConnection
  private var cookie: UInt32
  private var end: Result<Int32, Failure>?

  init(_ name: String, _ reason: String, _ options: HoldOptions) throws(Failure) {
    self.name = name
    self.reason = reason
    self.options = options
    connection = try Session.connect(loop: loop)
    cookie = 0
  }

  func keep() throws(Failure) -> Int32 {
    // Before the hold, so that no signal can end this process with the hold half made.
    let signals = Signals(Signals.ending, on: loop) { [unowned self] _ in finish(.success(0)) }
    connection.onHoldEnded = { [unowned self] cookie, reason in
      guard cookie == self.cookie else { return }
      finish(.failure(.unmet("the hold on “\(name)” has ended: \(reason)")))
    }
    connection.onDisconnected = { [unowned self] in
      finish(.failure(.unavailable("the session bus is gone")))
    }
    cookie = try connection.ask(.hold(name, reason: reason, options))
    var isFirst = true
    let observer = IndicatorObserver(connection, controls: [name]) { [unowned self] event in
      guard case .reset = event else { return }
      if isFirst { isFirst = false } else { check() }
    }
    loop.run { end != nil }
    withExtendedLifetime((signals, observer)) {}
    if case .success = end { try? connection.perform(.release(cookie)) }
    return try (end ?? .success(0)).get()
  }

  private func finish(_ result: Result<Int32, Failure>) {
    if end == nil { end = result }
  }

  /// Looks, when the daemon has gone or come back, whether it still knows the hold.
  private func check() {
    connection.submit(.state(of: name)) { [unowned self] result in
      switch result {
      case .success(let state) where state.holders.contains { $0.cookie == cookie }: break
      case .failure(let error) where error.kind != .noSuchControl: break
      default: holdAgain()
      }
    }
  }

  private func holdAgain() {
    connection.submit(.hold(name, reason: reason, options)) { [unowned self] result in
      switch result {
      case .success(let cookie): self.cookie = cookie
      case .failure(let error): finish(.failure(error.failure))
      }
    }
  }
}
