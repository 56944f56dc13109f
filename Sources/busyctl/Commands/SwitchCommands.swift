// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient

/// `show` and `hide`: the switch.
enum SwitchCommands {
  static let show = CommandSpec(
    name: "show", operands: [.control], summary: "Turn a control's indicator on",
    options: [OptionSpec("for", .text("DUR"), "Turn it off by itself after this time")]
      + SimpleCommands.attributes
  ) { invocation throws(Failure) in
    let limit = try invocation.duration("for")
    if limit == .zero { throw .usage("--for: the time limit is above zero") }
    try Session.perform(
      .show(invocation.operands[0], for: limit, invocation.indicatorOptions()))
    return 0
  }

  static let hide = CommandSpec(
    name: "hide", operands: [.control], summary: "Turn a control's indicator off",
    options: [OptionSpec("force", "End every hold of others too")],
    run: hide)

  private static func hide(_ invocation: Invocation) throws(Failure) -> Int32 {
    let name = invocation.operands[0]
    if invocation.has("force") {
      _ = try Session.perform(.releaseAll(of: name))
      return 0
    }
    if Console.isQuiet {
      try Session.perform(.hide(name))
      return 0
    }
    // Both calls are under way at once; the second tells who holds it still.
    let loop = PollLoop()
    let connection = try Session.connect(loop: loop)
    var hidden: Result<Void, IndicatorError>?
    var left: Result<ControlState, IndicatorError>?
    connection.onDisconnected = { loop.stop() }
    connection.submit(.hide(name)) { hidden = $0 }
    connection.submit(.state(of: name)) { left = $0 }
    loop.run { hidden != nil && left != nil }
    if case .failure(let error) = hidden { throw error.failure }
    var state = try? left?.get()
    // While the daemon was only being started, the call that starts nothing did not reach it.
    if case .failure(let error) = left, error.kind == .noDaemon {
      state = try? connection.perform(.state(of: name))
    }
    if let state, state.isBusy {
      Console.remark("“\(name)” is still busy: \(describe(state.holders))")
    }
    return 0
  }

  private static func describe(_ holders: [ControlState.Holder]) -> String {
    let shown = holders.prefix(3).map(\.description).joined(separator: "; ")
    return holders.count > 3 ? "\(shown); and \(holders.count - 3) more" : shown
  }
}

extension ControlState.Holder {
  /// In a few words who it is.
  var description: String {
    var parts: [String] = []
    if !application.isEmpty { parts.append(application) }
    if !reason.isEmpty { parts.append("“\(reason)”") }
    if pid != 0 { parts.append("process \(pid)") }
    let what = cookie == 0 ? kind : "\(kind) \(cookie)"
    return parts.isEmpty ? what : "\(what) (\(parts.joined(separator: ", ")))"
  }
}
