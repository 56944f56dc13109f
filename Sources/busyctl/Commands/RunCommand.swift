// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient
internal import Glibc

/// `run`: a command, and a control that is busy for as long as it runs.
///
/// Without `--notify` this process becomes the command: the terminal, the streams, the signals and the
/// status are right by construction, and the hold ends with the process however that ends.
enum RunCommand {
  /// What is not worth to be shown: shorter commands never flash up.
  static let defaultGrace = "300ms"
  /// How long it is shown at least, for the same reason.
  static let defaultMinimum = "500ms"

  static let run = CommandSpec(
    name: "run", operands: [OperandSpec("CMD", .command, .atLeastOne)],
    summary: "Run a command, and keep a control busy until it ends",
    options: [
      OptionSpec("name", .text("NAME"), "The control; default the command's name"),
      OptionSpec("title", .text("TEXT"), "The control's title"),
      OptionSpec("grace", .text("DUR"), "How long it runs before it is shown; default 300ms"),
      OptionSpec("minimum", .text("DUR"), "How long it is shown at least; default 500ms"),
      OptionSpec("exclusive", "Fail with status 75 when the control is busy already"),
      OptionSpec("notify", .optional("AFTER"), "Notify when it ends, after at least this time"),
    ], stopsAtOperand: true,
    run: run)

  private static func run(_ invocation: Invocation) throws(Failure) -> Int32 {
    let words = invocation.operands
    var options = HoldOptions()
    options.indicator.title = invocation["title"]
    options.indicator.grace = try Values.duration(
      invocation["grace"] ?? defaultGrace, what: "--grace")
    options.indicator.minimum = try Values.duration(
      invocation["minimum"] ?? defaultMinimum, what: "--minimum")
    options.isExclusive = invocation.has("exclusive")
    options.lease = .process(UInt32(getpid()))
    if let after = invocation["notify"] {
      options.notifyAfter = after.isEmpty ? .zero : try Values.duration(after, what: "--notify")
    }
    let name = invocation["name"] ?? defaultName(words[0])
    let reason = words.joined(separator: " ").harmless.cut(toBytes: Limits.textBytes)
    let hold = try take(.hold(name, reason: reason, options))
    guard invocation.has("notify") else {
      let failure = ChildProcess.become(ChildProcess.lastWords(words.count))
      hold?.release("exit \(failure.status)")
      throw failure
    }
    return try Parent.run(ChildProcess.lastWords(words.count), hold)
  }

  /// The command's name without its folder.
  static func defaultName(_ command: String) -> String {
    let last = command.split(separator: "/").last.map(String.init) ?? command
    let name = last.harmless.cut(toBytes: Limits.nameBytes)
    return name.isEmpty ? "run" : name
  }

  /// Nil when the command has to do without: an indicator is no reason not to run it.
  private static func take(_ request: IndicatorRequest<UInt32>) throws(Failure) -> HoldInHand? {
    do throws(IndicatorError) {
      let connection = try IndicatorConnection()
      let cookie = try connection.perform(request, timeout: Microseconds(seconds: 5))
      return HoldInHand(connection: connection, cookie: cookie)
    } catch {
      switch error.kind {
      case .busy, .invalidName, .invalidArguments: throw error.failure
      default:
        Console.remark("no indicator: \(error.message)")
        return nil
      }
    }
  }
}

/// A hold and the connection to end it by.
private struct HoldInHand {
  let connection: IndicatorConnection
  let cookie: UInt32

  func release(_ result: String) {
    try? connection.perform(.release(cookie, result: result), timeout: Microseconds(seconds: 2))
  }
}

/// `run --notify`: stays as the parent, so that the hold's end can tell how it went.
private enum Parent {
  static func run(_ words: ChildProcess.Words, _ hold: HoldInHand?) throws(Failure) -> Int32 {
    var before = sigset_t()
    sigprocmask(SIG_BLOCK, nil, &before)
    let end = try runChild(words, hold, before)
    hold?.release(end.text)
    switch end {
    case .exited(let status): return status
    case .signalled(let number):
      // Its core was its own; a second one of ours would only confuse.
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
      Signals.die(by: number)
    }
  }

  private static func runChild(
    _ words: ChildProcess.Words, _ hold: HoldInHand?, _ before: sigset_t
  ) throws(Failure) -> ChildProcess.End {
    let loop = PollLoop()
    var child: ChildProcess?
    var end: ChildProcess.End?
    // The terminal sends SIGINT and SIGQUIT to the child too; here they are only kept off.
    let caught = [SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP]
    let signals = Signals(caught, on: loop) { number in
      switch number {
      case SIGCHLD: end = child?.end()
      case SIGINT, SIGQUIT: break
      default: if let child { kill(child.pid, number) }
      }
    }
    let progress = TerminalProgress(on: loop)
    do throws(Failure) {
      child = try ChildProcess(words, mask: before)
    } catch {
      hold?.release("exit \(error.status)")
      throw error
    }
    progress?.setIndeterminate()
    loop.run { end != nil }
    progress?.clear()
    withExtendedLifetime(signals) {}
    return end ?? .exited(1)
  }
}

extension String {
  /// As many whole characters from the front as make at most so many bytes.
  func cut(toBytes limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var result = ""
    var size = 0
    for scalar in unicodeScalars {
      size += UTF8.width(scalar)
      if size > limit { break }
      result.unicodeScalars.append(scalar)
    }
    return result
  }
}
