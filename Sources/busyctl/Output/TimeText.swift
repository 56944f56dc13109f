// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient
internal import Glibc

/// Times as people and programs read them.
enum TimeText {
  /// What remains, in whole seconds rounded up: `0:12`, `1:02:03`.
  static func remaining(_ time: Microseconds) -> String {
    let whole = time.rawValue / Microseconds.perSecond
    return clock(whole + (time.rawValue % Microseconds.perSecond == 0 ? 0 : 1))
  }

  /// A number of seconds as a clock shows it.
  static func clock(_ seconds: UInt64) -> String {
    let (minutes, second) = seconds.quotientAndRemainder(dividingBy: 60)
    let (hour, minute) = minutes.quotientAndRemainder(dividingBy: 60)
    return hour > 0 ? "\(hour):\(two(minute)):\(two(second))" : "\(minute):\(two(second))"
  }

  /// How long ago something was, roughly: `3 s`, `12 min`, `5 h`, `3 d`.
  static func rough(_ time: Microseconds) -> String {
    let seconds = time.rawValue / Microseconds.perSecond
    switch seconds {
    case 0..<100: return "\(seconds) s"
    case 100..<6000: return "\(seconds / 60) min"
    case 6000..<172_800: return "\(seconds / 3600) h"
    default: return "\(seconds / 86_400) d"
    }
  }

  /// A time of day in RFC 3339, in UTC and to the millisecond; nil beyond the year 9999.
  static func rfc3339(_ instant: Microseconds) -> String? {
    let (seconds, rest) = instant.rawValue.quotientAndRemainder(dividingBy: Microseconds.perSecond)
    guard seconds < 253_402_300_800 else { return nil }
    var time = time_t(seconds)
    var utc = tm()
    gmtime_r(&time, &utc)
    let year = four(UInt64(utc.tm_year + 1900))
    let date = "\(year)-\(two(UInt64(utc.tm_mon + 1)))-\(two(UInt64(utc.tm_mday)))"
    let clock = "\(two(UInt64(utc.tm_hour))):\(two(UInt64(utc.tm_min))):\(two(UInt64(utc.tm_sec)))"
    return "\(date)T\(clock).\(three(rest / 1000))Z"
  }

  private static func two(_ number: UInt64) -> String { pad(number, 2) }
  private static func three(_ number: UInt64) -> String { pad(number, 3) }
  private static func four(_ number: UInt64) -> String { pad(number, 4) }

  private static func pad(_ number: UInt64, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(width - text.count, 0)) + text
  }
}
