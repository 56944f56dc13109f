// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient

// docs/templates.md has the grammar for users:
//   template   = { text | "{{" expression "}}" }
//   expression = field | number | string | function "(" expression { "," expression } ")"

/// A line with fields to fill in, such as `{{title}} {{remaining}}`.
struct Template: Equatable, Sendable {
  private let parts: [Part]

  private enum Part: Equatable, Sendable {
    case text(String)
    case value(Expression)
  }

  indirect enum Expression: Equatable, Sendable {
    case field(Field)
    case string(String)
    case number(Int)
    case call(Function, [Expression])
  }

  /// What can stand in a template.
  enum Field: String, CaseIterable, Sendable {
    case name, title, label, detail, icon, state, remaining, percent, progress, elapsed, result
    case desktopEntry = "desktop_entry"
    case remainingMicroseconds = "remaining_usec"
    case durationMicroseconds = "duration_usec"
    case endsAt = "ends_at"
    case active, more, tooltip
  }

  /// What can be done with it, and how many arguments that takes.
  enum Function: String, CaseIterable, Sendable {
    case json, markup, trunc, `default`, duration
    var argumentCount: Int { self == .trunc || self == .default ? 2 : 1 }
  }

  /// What is wrong with a template, in a sentence.
  struct Fault: Error, Equatable { let message: String }

  /// Reads a template.
  init(_ source: String) throws(Fault) {
    var parts: [Part] = []
    var rest = Substring(source)
    while let open = rest.firstOccurrence(of: "{{") {
      if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
      var parser = TemplateParser(rest[open...].dropFirst(2))
      parts.append(.value(try parser.wholeExpression()))
      rest = parser.rest
    }
    if !rest.isEmpty { parts.append(.text(String(rest))) }
    self.parts = parts
  }

  /// The line for one control.
  func render(_ control: ControlState) -> String { render(BarContext([control])) }

  /// The line for what a bar shows.
  func render(_ context: BarContext) -> String {
    var result = ""
    for part in parts {
      switch part {
      case .text(let text): result += text
      // A line end that no function has taken care of would break the line.
      case .value(let expression): result += Self.evaluate(expression, context).harmless
      }
    }
    return result
  }

  private static func evaluate(_ expression: Expression, _ context: BarContext) -> String {
    switch expression {
    case .field(let field): return context.value(of: field)
    case .string(let text): return text
    case .number(let number): return String(number)
    case .call(let function, let arguments):
      let values = arguments.map { evaluate($0, context) }
      switch function {
      case .json: return JSON.string(values[0]).line
      case .markup: return Markup.escape(values[0])
      case .trunc: return TextWidth.truncate(values[0].harmless, to: Int(values[1]) ?? 0)
      case .default: return values[0].isEmpty ? values[1] : values[0]
      case .duration:
        return UInt64(values[0]).map { TimeText.remaining(Microseconds(rawValue: $0)) } ?? values[0]
      }
    }
  }
}

/// Reads what stands between the braces.
private struct TemplateParser {
  private(set) var rest: Substring

  init(_ rest: Substring) { self.rest = rest }

  /// An expression up to the closing braces, which are taken too.
  mutating func wholeExpression() throws(Template.Fault) -> Template.Expression {
    let result = try expression()
    skipSpace()
    guard take("}}") else {
      throw .init(message: "“}}” is missing before “\(rest.prefix(20))”")
    }
    return result
  }

  private mutating func expression() throws(Template.Fault) -> Template.Expression {
    skipSpace()
    if rest.first == "\"" { return .string(try quoted()) }
    let word = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    rest = rest.dropFirst(word.count)
    if let number = Int(word) { return .number(number) }
    skipSpace()
    guard take("(") else {
      guard let field = Template.Field(rawValue: String(word)) else {
        throw .init(message: word.isEmpty ? "a field is missing" : "unknown field “\(word)”")
      }
      return .field(field)
    }
    guard let function = Template.Function(rawValue: String(word)) else {
      throw .init(message: "unknown function “\(word)”")
    }
    return .call(function, try arguments(of: function))
  }

  private mutating func arguments(
    of function: Template.Function
  ) throws(Template.Fault) -> [Template.Expression] {
    var arguments = [try expression()]
    skipSpace()
    while take(",") {
      arguments.append(try expression())
      skipSpace()
    }
    guard take(")") else { throw .init(message: "“)” is missing after \(function.rawValue)(…") }
    guard arguments.count == function.argumentCount else {
      throw .init(message: "\(function.rawValue) takes \(function.argumentCount) argument(s)")
    }
    if function == .trunc {
      guard case .number = arguments[1] else {
        throw .init(message: "trunc's second argument is a number of columns")
      }
    }
    return arguments
  }

  private mutating func quoted() throws(Template.Fault) -> String {
    rest = rest.dropFirst()
    var result = ""
    while let character = rest.popFirst() {
      switch character {
      case "\"": return result
      case "\\": if let escaped = rest.popFirst() { result.append(escaped) }
      default: result.append(character)
      }
    }
    throw .init(message: "a closing quote is missing")
  }

  private mutating func skipSpace() { rest = rest.drop { $0 == " " } }

  private mutating func take(_ token: String) -> Bool {
    guard rest.hasPrefix(token) else { return false }
    rest = rest.dropFirst(token.count)
    return true
  }
}

extension Substring {
  /// Where `text` begins in this; without Foundation there is no such search.
  func firstOccurrence(of text: String) -> Index? {
    indices.first { self[$0...].hasPrefix(text) }
  }
}

/// The escaping of Pango's markup.
enum Markup {
  /// The text as it has to stand in markup; a line end becomes a reference, so that it stays on its
  /// line.
  static func escape(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "'": result += "&#39;"
      case "\"": result += "&quot;"
      case "\n": result += "&#10;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
