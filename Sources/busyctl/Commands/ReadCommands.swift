// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient

/// `list`, `status`, `why` and `plugins`: what is, once.
enum ReadCommands {
  static let list = CommandSpec(
    name: "list", operands: [], summary: "List the controls", options: [], hasJSON: true,
    hasFormat: true
  ) { invocation throws(Failure) in
    let format = try Format(invocation)
    let controls = try Session.perform(.allStates)
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    switch format {
    case .json: Console.print(StateJSON.document(controls: controls, withHolders: false))
    case .waybar:
      for control in controls { Console.print(BarLine.waybar([control], idle: nil)) }
    case .template(let template):
      for control in controls { Console.print(template.render(control)) }
    case .plain: printTable(controls)
    }
    return 0
  }

  static let status = CommandSpec(
    name: "status", operands: [.control],
    summary: "Show one control; status 2 when there is none of that name", options: [],
    hasJSON: true, hasFormat: true
  ) { invocation throws(Failure) in
    let format = try Format(invocation)
    let control = try state(of: invocation.operands[0])
    switch format {
    case .json: Console.print(StateJSON.document(control: control))
    case .waybar: Console.print(BarLine.waybar([control], idle: nil))
    case .template(let template): Console.print(template.render(control))
    case .plain: Console.print(sheet(of: control))
    }
    return 0
  }

  static let why = CommandSpec(
    name: "why", operands: [.control],
    summary: "Tell what makes a control busy; status 2 when nothing does", options: [],
    hasJSON: true
  ) { invocation throws(Failure) in
    let control = try state(of: invocation.operands[0])
    if invocation.wantsJSON {
      Console.print(StateJSON.document(holdersOf: control))
    } else if !control.holders.isEmpty {
      printHolders(control.holders)
    }
    guard control.holders.isEmpty else { return 0 }
    throw .unmet(invocation.wantsJSON ? nil : "“\(control.name)” is not busy")
  }

  static let plugins = CommandSpec(
    name: "plugins", operands: [], summary: "List the daemon's plugins and how they fare",
    options: []
  ) { _ throws(Failure) in
    let daemon = try Session.perform(.daemonState)
    var table = TextTable("PLUGIN", "STATE", "DETAIL")
    table.rows = daemon.plugins.map {
      [$0.name.harmless, $0.state.harmless, $0.detail.harmless]
    }
    Console.print(table.text(color: Console.usesColor(1)))
    return 0
  }

  private static func state(of name: String) throws(Failure) -> ControlState {
    let connection = try Session.connect()
    do throws(IndicatorError) {
      return try connection.perform(.state(of: name))
    } catch {
      guard error.kind == .noSuchControl else { throw error.failure }
      throw .unmet("there is no control “\(name)”")
    }
  }

  private static func printTable(_ controls: [ControlState]) {
    var table = TextTable("NAME", "STATE", "REMAINING", "PROGRESS", "TITLE")
    for control in controls {
      let detail = control.detail.isEmpty ? "" : " (\(control.detail.harmless))"
      table.rows.append([
        control.name.harmless, control.activities, control.remainingText ?? "",
        control.progress.map { "\(wholePercent(of: $0))%" } ?? "", control.title.harmless + detail,
      ])
    }
    Console.print(table.text(color: Console.usesColor(1)))
  }

  private static func printHolders(_ holders: [ControlState.Holder]) {
    var table = TextTable(
      "KIND", "COOKIE", "SINCE", "LEASE", "PID", "APPLICATION", "REASON")
    let now = Microseconds.timeOfDay()
    for holder in holders {
      table.rows.append([
        holder.kind.harmless, holder.cookie == 0 ? "" : "\(holder.cookie)",
        TimeText.rough(now - holder.since), holder.lease.harmless,
        holder.pid == 0 ? "" : "\(holder.pid)", holder.application.harmless,
        holder.reason.harmless,
      ])
    }
    Console.print(table.text(color: Console.usesColor(1)))
  }

  private static func sheet(of control: ControlState) -> String {
    var rows: [(String, String)] = [("Name", control.name), ("State", control.activities)]
    func add(_ key: String, _ value: String) {
      if !value.isEmpty { rows.append((key, value)) }
    }
    add("Title", control.title)
    add("Detail", control.detail)
    add("Icon", control.icon)
    add("Desktop entry", control.desktopEntry)
    if let progress = control.progress { add("Progress", "\(wholePercent(of: progress))%") }
    if let countdown = control.countdown {
      let whole = TimeText.remaining(countdown.duration)
      add("Countdown", "\(countdown.id)")
      add("Remaining", "\(TimeText.remaining(countdown.remaining())) of \(whole)")
      add("Clock", countdown.clock.rawValue)
    }
    if control.isBusy {
      add("Busy for", TimeText.rough(Microseconds.timeOfDay() - control.busySince))
      add("Visible", control.isVisible ? "yes" : "not yet")
      for holder in control.holders { add("Held by", holder.description) }
    }
    add("Last result", control.lastResult)
    let color = Console.usesColor(1)
    let widest = rows.map(\.0.count).max() ?? 0
    return rows.map { key, value in
      Style.bold(TextWidth.pad(key + ":", to: widest + 1), if: color) + " " + value.harmless
    }.joined(separator: "\n")
  }
}
