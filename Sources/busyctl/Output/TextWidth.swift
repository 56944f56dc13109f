// SPDX-License-Identifier: MIT

/// How many columns of a terminal a text takes.
enum TextWidth {
  /// The columns of a text without control characters.
  static func columns(_ text: String) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + columns($1) }
  }

  /// The columns of one character as a reader sees it: a letter with its accents, an emoji.
  static func columns(_ character: Character) -> Int {
    var width = 0
    var isJoined = false
    for scalar in character.unicodeScalars {
      switch scalar.value {
      // The variation selector that asks for the emoji picture, which is two columns wide.
      case 0xFE0F: width = max(width, 2)
      // A skin color changes the emoji before it.
      case 0x1F3FB...0x1F3FF where width > 0: break
      case 0x200D: isJoined = true
      default:
        // Joined to an emoji, another one is part of the same picture.
        if !(isJoined && width >= 2) { width += columns(scalar) }
        isJoined = false
      }
    }
    return width
  }

  private static func columns(_ scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x300 { return scalar.value == 0xAD ? 0 : 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator:
      return 0
    default: break
    }
    // The second and third part of a Korean syllable that is written in parts.
    if (0x1160...0x11FF).contains(scalar.value) { return 0 }
    return isWide(scalar.value) ? 2 : 1
  }

  private static func isWide(_ value: UInt32) -> Bool {
    guard value >= 0x1100 else { return false }
    var low = 0
    var high = wideRanges.count
    while low < high {
      let middle = (low + high) / 2
      if wideRanges[middle].contains(value) { return true }
      if value < wideRanges[middle].lowerBound { high = middle } else { low = middle + 1 }
    }
    return false
  }

  /// The text cut to at most so many columns, with an ellipsis where it was cut.
  static func truncate(_ text: String, to limit: Int, ellipsis: String = "…") -> String {
    guard columns(text) > limit else { return text }
    let room = limit - columns(ellipsis)
    guard room >= 0 else { return "" }
    var result = ""
    var used = 0
    for character in text {
      let width = columns(character)
      if used + width > room { break }
      result.append(character)
      used += width
    }
    return result + ellipsis
  }

  /// The text with spaces behind it, up to so many columns.
  static func pad(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(width - columns(text), 0))
  }
}

extension String {
  /// The text without what could move a cursor, change a line or turn its direction.
  ///
  /// Tabs and line ends become spaces, other control characters U+FFFD.
  var harmless: String {
    if utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return self }
    var result = ""
    for scalar in unicodeScalars {
      switch scalar.value {
      case 0x09, 0x0A, 0x0D, 0x85, 0x2028, 0x2029: result.unicodeScalars.append(" ")
      case 0..<0x20, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069:
        result.unicodeScalars.append("\u{FFFD}")
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
