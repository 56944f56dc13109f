// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient

/// The commands that are one call: the attributes, the cookies, the countdown's small changes.
enum SimpleCommands {
  /// What show, hold and countdown take of the control and the holder.
  static let attributes = [
    OptionSpec("title", .text("TEXT"), "The control's title"),
    OptionSpec("detail", .text("TEXT"), "A second line about the work in hand"),
    OptionSpec("icon", .text("ICON"), "An icon theme name"),
    OptionSpec("grace", .text("DUR"), "How long the work lasts before it is shown"),
    OptionSpec("minimum", .text("DUR"), "How long it is shown at least"),
    OptionSpec("desktop-entry", .text("ID"), "The application's desktop file, without .desktop"),
  ]

  static let commands: [CommandSpec] = [
    simple("pause", "Halt a countdown") { .pauseCountdown($0) },
    simple("resume", "Let a paused countdown go on") { .resumeCountdown($0) },
    CommandSpec(
      name: "toggle", operands: [.control], summary: "Pause a countdown, or resume it",
      options: [], run: toggle),
    simple("cancel", "End a countdown before its time") { .cancelCountdown($0) },
    change("extend", "Make a countdown longer", sign: 1),
    change("shorten", "Make a countdown shorter; down to zero it finishes", sign: -1),
    text("title", "Set the text that a control carries when it is not busy") {
      .setTitle($1, of: $0)
    },
    text("detail", "Set a second line about the work in hand") { .setDetail($1, of: $0) },
    CommandSpec(
      name: "progress",
      operands: [.control, OperandSpec("FRACTION|PERCENT%|none", .words(["none"]))],
      summary: "Set how far the work is: 0.4, 40%, or none for not known", options: []
    ) { invocation throws(Failure) in
      let fraction = try Values.progress(invocation.operands[1])
      try Session.perform(.setProgress(fraction, of: invocation.operands[0]))
      return 0
    },
    simple("enable", "Set a control's own enabled flag") { .setEnabled(true, of: $0) },
    simple("disable", "Clear a control's own enabled flag") { .setEnabled(false, of: $0) },
    simple("forget", "End all that a control does and remove it") { .forget($0) },
    cookie("renew", "Restart the time of a hold that was taken with --ttl") { .renew($0) },
  ]

  private static func simple(
    _ name: String, _ summary: String,
    _ request: @escaping @Sendable (String) -> IndicatorRequest<Void>
  ) -> CommandSpec {
    CommandSpec(name: name, operands: [.control], summary: summary, options: []) {
      invocation throws(Failure) in
      try Session.perform(request(invocation.operands[0]))
      return 0
    }
  }

  private static func text(
    _ name: String, _ summary: String,
    _ request: @escaping @Sendable (String, String) -> IndicatorRequest<Void>
  ) -> CommandSpec {
    CommandSpec(
      name: name, operands: [.control, OperandSpec("TEXT")], summary: summary, options: []
    ) { invocation throws(Failure) in
      try Session.perform(request(invocation.operands[0], invocation.operands[1]))
      return 0
    }
  }

  private static func change(_ name: String, _ summary: String, sign: Int32) -> CommandSpec {
    CommandSpec(
      name: name, operands: [.control, OperandSpec("DURATION")], summary: summary, options: []
    ) { invocation throws(Failure) in
      let seconds = try Values.wholeSeconds(invocation.operands[1], what: name)
      try Session.perform(.extendCountdown(invocation.operands[0], seconds: seconds * sign))
      return 0
    }
  }

  private static func cookie(
    _ name: String, _ summary: String,
    _ request: @escaping @Sendable (UInt32) -> IndicatorRequest<Void>
  ) -> CommandSpec {
    CommandSpec(
      name: name, operands: [OperandSpec("COOKIE")], summary: summary, options: []
    ) { invocation throws(Failure) in
      try Session.perform(request(Values.number(invocation.operands[0], what: "COOKIE")))
      return 0
    }
  }

  private static func toggle(_ invocation: Invocation) throws(Failure) -> Int32 {
    let name = invocation.operands[0]
    let connection = try Session.connect()
    let state = try connection.ask(.state(of: name))
    // Without a countdown the daemon says so.
    try connection.ask(
      state.countdown?.isPaused ?? false ? .resumeCountdown(name) : .pauseCountdown(name))
    return 0
  }
}
