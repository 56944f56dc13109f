// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient
internal import Glibc

// From the words of the command line to values, with a usage error for what is none.

extension Invocation {
  /// The option's duration; nil when it was not given.
  func duration(_ option: String) throws(Failure) -> Microseconds? {
    guard let text = self[option] else { return nil }
    return try Values.duration(text, what: "--\(option)")
  }

  /// The option's word as one of an enum's.
  func word<Word: RawRepresentable>(_ option: String, _: Word.Type) -> Word?
  where Word.RawValue == String {
    self[option].flatMap(Word.init(rawValue:))
  }

  /// The option's whole number; nil when it was not given.
  func number(_ option: String) throws(Failure) -> UInt32? {
    guard let text = self[option] else { return nil }
    return try Values.number(text, what: "--\(option)")
  }

  /// What show, run, hold and countdown take of a control and a holder.
  func indicatorOptions() throws(Failure) -> IndicatorOptions {
    var options = IndicatorOptions()
    options.title = self["title"]
    options.detail = self["detail"]
    options.icon = self["icon"]
    options.desktopEntry = self["desktop-entry"]
    options.grace = try duration("grace")
    options.minimum = try duration("minimum")
    return options
  }
}

/// Readers of words.
enum Values {
  static func duration(_ text: String, what: String) throws(Failure) -> Microseconds {
    guard let value = Microseconds(durationText: text) else {
      throw .usage("\(what): “\(text)” is no duration such as 5, 1m30s, 250ms or 1:30")
    }
    return value
  }

  /// A duration of whole seconds, as ExtendCountdown takes it.
  static func wholeSeconds(_ text: String, what: String) throws(Failure) -> Int32 {
    let duration = try duration(text, what: what)
    let (seconds, rest) = duration.rawValue.quotientAndRemainder(
      dividingBy: Microseconds.perSecond)
    guard rest == 0, let value = Int32(exactly: seconds) else {
      throw .usage("\(what): “\(text)” is no whole number of at most \(Int32.max) seconds")
    }
    return value
  }

  static func number(_ text: String, what: String) throws(Failure) -> UInt32 {
    // UInt32's own reader would take a sign.
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let value = UInt32(text)
    else { throw .usage("\(what): “\(text)” is no number from 0 to \(UInt32.max)") }
    return value
  }

  /// `0.4`, `40%` or `none`.
  static func progress(_ text: String) throws(Failure) -> Double? {
    if text == "none" { return nil }
    let isPercent = text.hasSuffix("%")
    let digits = isPercent ? String(text.dropLast()) : text
    let isPlain = digits.utf8.allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".")
    }
    guard isPlain, let number = Double(digits) else {
      throw .usage("“\(text)” is no progress such as 0.4, 40% or none")
    }
    let fraction = isPercent ? number / 100 : number
    guard fraction <= 1 else { throw .usage("“\(text)” is more than 1 or 100%") }
    return fraction
  }

  /// How long it is until a time of day, such as `17:00` or `17:00:30`: today, else tomorrow.
  ///
  /// - Parameters:
  ///   - text: the local time of day.
  ///   - now: the time of day now, on CLOCK_REALTIME.
  /// - Returns: how long it is until then, above zero.
  /// - Throws: a usage error for what is no time of day.
  static func timeUntil(_ text: String, now: Microseconds) throws(Failure) -> Microseconds {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.map { part in
      part.utf8.count <= 2 && !part.isEmpty && part.utf8.allSatisfy { $0 >= 48 && $0 <= 57 }
        ? Int32(part) : nil
    }
    guard (2...3).contains(parts.count), let hour = numbers[0], let minute = numbers[1],
      let second = numbers.count == 3 ? numbers[2] : 0, hour < 24, minute < 60, second < 60
    else { throw .usage("--until: “\(text)” is no time of day such as 17:00") }
    var seconds = time_t(clamping: now.rawValue / Microseconds.perSecond)
    var local = tm()
    localtime_r(&seconds, &local)
    local.tm_hour = hour
    local.tm_min = minute
    local.tm_sec = second
    local.tm_isdst = -1
    var target = local
    var instant = mktime(&target)
    if instant <= seconds {
      local.tm_mday += 1
      target = local
      instant = mktime(&target)
    }
    let end = Microseconds(rawValue: UInt64(clamping: instant) * Microseconds.perSecond)
    return end - now
  }
}
