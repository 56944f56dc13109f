// SPDX-License-Identifier: MIT

/// What Show takes besides the name, and Hold and StartCountdown take too.
///
/// Nil leaves the matter as it is. The first four belong to the control, and the last caller wins; the
/// others belong to the one holder.
public struct IndicatorOptions: Equatable, Sendable {
  /// The text that the control carries when it is not busy.
  public var title: String?
  /// A second line about the work in hand.
  public var detail: String?
  /// An icon theme name.
  public var icon: String?
  /// The id of the application's desktop file, without `.desktop`.
  public var desktopEntry: String?
  /// Who asks, for people.
  public var application: String?
  /// How long the work has to last before it is shown.
  public var grace: Microseconds?
  /// How long it is shown at least, once it is.
  public var minimum: Microseconds?

  /// No options.
  public init() {}

  var list: PropertyList {
    var list: PropertyList = [:]
    list.add("title", title)
    list.add("detail", detail)
    list.add("icon", icon)
    list.add("desktop-entry", desktopEntry)
    list.add("application", application)
    list.add("grace-usec", grace)
    list.add("minimum-usec", minimum)
    return list
  }
}

/// What Hold takes besides the name and the reason.
public struct HoldOptions: Equatable, Sendable {
  /// What Show takes too.
  public var indicator = IndicatorOptions()
  /// What ends the hold without anybody's doing.
  public var lease = Lease.sender
  /// Refuse with the error `busy` when the control is busy.
  public var isExclusive = false
  /// A desktop notification when the hold ends after at least this time; zero: always.
  public var notifyAfter: Microseconds?

  /// What ends a hold without anybody's doing.
  public enum Lease: Equatable, Sendable {
    /// This connection leaves the bus.
    case sender
    /// That process ends.
    case process(UInt32)
    /// So much time passes without a renewal.
    case time(Microseconds)
    /// Nothing: it holds until it is released.
    case none
  }

  /// A hold for as long as this connection lives.
  public init() {}

  var list: PropertyList {
    var list = indicator.list
    switch lease {
    case .sender: break
    case .process(let pid): list.add("pid", .uint32(pid))
    case .time(let time): list.add("ttl-usec", time)
    case .none: list.add("lease", .string(LeaseKind.none.rawValue))
    }
    if isExclusive { list.add("exclusive", .boolean(true)) }
    list.add("notify-after-usec", notifyAfter)
    return list
  }
}

/// What StartCountdown takes besides the name and the duration.
public struct CountdownOptions: Equatable, Sendable {
  /// What Show takes too.
  public var indicator = IndicatorOptions()
  /// Seconds between ticks; 0 for none; nil for the daemon's default, 1.
  public var interval: UInt32?
  /// Whether the control is busy for as long as the countdown lives.
  public var isBusy = false
  /// What happens when there is a countdown already; nil for the daemon's default, `.replace`.
  public var restart: RestartPolicy?
  /// The clock that it runs on; nil for the daemon's default, `.boottime`.
  public var clock: Clock?
  /// Cancel it when this connection leaves the bus.
  public var endsWithConnection = false
  /// Start it paused.
  public var isPaused = false
  /// A desktop notification when it finishes.
  public var notify = false

  /// A countdown as StartCountdown makes it.
  public init() {}

  var list: PropertyList {
    var list = indicator.list
    if let interval { list.add("interval", .uint32(interval)) }
    if isBusy { list.add("indicator", .boolean(true)) }
    list.add("restart", restart?.rawValue)
    list.add("clock", clock?.rawValue)
    if endsWithConnection { list.add("lease", .string(LeaseKind.sender.rawValue)) }
    if isPaused { list.add("paused", .boolean(true)) }
    if notify { list.add("notify", .boolean(true)) }
    return list
  }
}

extension PropertyList {
  mutating func add(_ key: String, _ value: Variant) { entries.append((key: key, value: value)) }

  mutating func add(_ key: String, _ value: String?) {
    if let value { add(key, .string(value)) }
  }

  mutating func add(_ key: String, _ value: Microseconds?) {
    if let value { add(key, .uint64(value.rawValue)) }
  }
}

/// The daemon as its manager object shows it.
public struct DaemonState: Equatable, Sendable {
  /// The daemon's version.
  public var version = ""
  /// Whether any control is busy.
  public var isBusy = false
  /// Whether any control is visible.
  public var isVisible = false
  /// What the daemon brings the state to besides D-Bus.
  public var plugins: [Plugin] = []

  /// One of the daemon's plugins.
  public struct Plugin: Equatable, Sendable {
    /// What it is called.
    public var name = ""
    /// How it fares, in a word.
    public var state = ""
    /// More about that; may be empty.
    public var detail = ""

    /// A plugin about which nothing is known.
    public init() {}
  }

  /// A daemon about which nothing is known.
  public init() {}

  init(_ properties: [String: Variant]) {
    version = properties["Version"]?.stringValue ?? ""
    isBusy = properties["Busy"]?.boolValue ?? false
    isVisible = properties["Visible"]?.boolValue ?? false
    plugins = (properties["Plugins"]?.arrayValue ?? []).compactMap { entry in
      guard let fields = entry.structureValue, fields.count == 3 else { return nil }
      var plugin = Plugin()
      plugin.name = fields[0].stringValue ?? ""
      plugin.state = fields[1].stringValue ?? ""
      plugin.detail = fields[2].stringValue ?? ""
      return plugin
    }
  }
}
