// SPDX-License-Identifier: MIT

/// How long and how many things may be.
///
/// What goes beyond is refused and changes nothing.
public enum Limits {
  /// The longest name of a control, in bytes of UTF-8; the shortest has one.
  public static var nameBytes: Int { 255 }

  /// The longest title, in bytes of UTF-8.
  public static var titleBytes: Int { 512 }

  /// The longest detail, in bytes of UTF-8.
  public static var detailBytes: Int { 512 }

  /// The longest result, reason, application, icon and desktop entry, in bytes of UTF-8.
  public static var textBytes: Int { 256 }

  /// How many controls there may be, unless the daemon is told otherwise.
  public static var controls: Int { 10_000 }

  /// How many holds there may be on all controls, unless the daemon is told otherwise.
  public static var holds: Int { 10_000 }

  /// How many of the holds one caller may have, unless the daemon is told otherwise.
  public static var holdsPerSender: Int { 1_000 }
}
