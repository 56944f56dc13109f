// SPDX-License-Identifier: MIT

// All that can be wrong with a call's arguments by themselves is found here, before anything is
// touched: what is refused changes nothing.

/// Refuses a text that is too long.
func check(_ text: String?, _ what: String, most: Int) throws(Refusal) {
  guard let text else { return }
  let count = text.utf8.count
  guard count <= most else {
    throw .invalidArgument("The \(what) \(text.quoted) has \(count) bytes, more than \(most).")
  }
}

/// Refuses a duration that is too long, or no time at all where there has to be some.
func check(_ duration: Microseconds?, _ what: String, above least: Microseconds? = nil)
  throws(Refusal)
{
  guard let duration else { return }
  guard duration <= .longest else {
    throw .invalidArgument("The \(what) of \(duration) is longer than \(Microseconds.longest).")
  }
  if let least, duration <= least {
    throw .invalidArgument("The \(what) of \(duration) is not above \(least.rawValue).")
  }
}

extension Attributes {
  func validate() throws(Refusal) {
    if isEmpty { return }
    try check(title, "title", most: Limits.titleBytes)
    try check(detail, "detail", most: Limits.detailBytes)
    try check(icon, "icon", most: Limits.textBytes)
    try check(desktopEntry, "desktop-entry", most: Limits.textBytes)
  }
}

extension HolderOptions {
  func validate() throws(Refusal) {
    if isEmpty { return }
    try check(application, "application", most: Limits.textBytes)
    try check(grace, "grace-usec")
    try check(minimum, "minimum-usec")
  }
}

extension ShowOptions {
  func validate() throws(Refusal) {
    try attributes.validate()
    try holder.validate()
    try check(timeout, "time limit", above: .zero)
  }
}

extension HoldOptions {
  func validate() throws(Refusal) {
    try check(reason, "reason", most: Limits.textBytes)
    try attributes.validate()
    try holder.validate()
    try check(notifyAfter, "notify-after-usec")
    if case .ttl(let duration) = lease { try check(duration, "ttl-usec", above: .zero) }
  }
}

extension CountdownOptions {
  func validate(duration: Microseconds) throws(Refusal) {
    try check(duration, "duration")
    try attributes.validate()
    try holder.validate()
  }
}

/// What SetProgress's argument means: nil is a progress that is not known.
///
/// - Throws: ``Refusal/invalidArgument(_:)`` when it is not a number or above 1.
func progress(of fraction: Double) throws(Refusal) -> Double? {
  // A comparison with NaN is false, so this refuses it, too.
  guard fraction <= 1 else {
    throw .invalidArgument("The progress \(fraction) is not a number up to 1.")
  }
  if fraction < 0 { return nil }
  // There is a negative zero, equal to the other, that nobody wants to be shown.
  return fraction == 0 ? 0 : fraction
}
