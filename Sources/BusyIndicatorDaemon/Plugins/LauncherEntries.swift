// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
internal import DBus

/// What a dock shows at one application's icon.
struct LauncherEntry: Equatable {
  /// How far it all is, in hundredths; nil: no bar.
  var percent: Int?
  /// How many controls are active: the badge.
  var count = 0
  /// Whether one has finished that nobody may have seen yet.
  var isUrgent = false

  /// What it is when nothing goes on.
  static let idle = LauncherEntry()

  /// The properties as com.canonical.Unity.LauncherEntry names them.
  var properties: PropertyList {
    [
      "progress": .double(Double(percent ?? 0) / 100),
      "progress-visible": .boolean(percent != nil),
      "count": .int64(Int64(count)),
      "count-visible": .boolean(count > 0),
      "urgent": .boolean(isUrgent),
    ]
  }
}

/// Gathers the controls of each desktop entry into what its icon shows.
struct LauncherEntries {
  /// What the bar's hundredths are made of, and how often they change.
  static let steps = 100

  /// By desktop entry.
  private(set) var entries: [String: LauncherEntry] = [:]
  /// When one of them changes by itself, in microseconds from now.
  private(set) var nextChange: UInt64?

  /// The bar is the mean of those whose progress is known; the badge counts all.
  ///
  /// - Parameters:
  ///   - activities: what goes on; only those with a desktop entry count.
  ///   - urgent: the desktop entries that want attention.
  init(_ activities: [Activity], urgent: some Collection<String>) {
    var sums: [String: (total: Double, known: Int)] = [:]
    for activity in activities where !activity.desktopEntry.isEmpty {
      let key = activity.desktopEntry
      entries[key, default: .idle].count += 1
      if let fraction = activity.fraction {
        sums[key, default: (0, 0)].total += fraction
        sums[key, default: (0, 0)].known += 1
        nextChange = [nextChange, activity.nextStep(of: Self.steps)].compactMap(\.self).min()
      }
    }
    for (key, sum) in sums {
      entries[key]?.percent = (sum.total / Double(sum.known)).wholeSteps(of: Self.steps)
    }
    for key in urgent { entries[key, default: .idle].isUrgent = true }
  }
}
