// SPDX-License-Identifier: MIT

internal import CDBus

/// An error as D-Bus carries it: a name to act on and a sentence to show.
public struct DBusError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The error's name, such as `org.freedesktop.DBus.Error.InvalidArgs`.
  public var name: String
  /// One sentence for a person.
  public var message: String

  /// An error of that name with that sentence.
  public init(name: String, message: String) {
    self.name = name
    self.message = message
  }

  /// The sentence.
  public var description: String { message }

  package static func standard(_ kind: StandardKind, _ message: String) -> DBusError {
    DBusError(name: kind.name, message: message)
  }

  /// The errors of the D-Bus Specification and its reference implementation that are used here.
  package enum StandardKind: String {
    case failed = "Failed"
    case noMemory = "NoMemory"
    case serviceUnknown = "ServiceUnknown"
    case nameHasNoOwner = "NameHasNoOwner"
    case noReply = "NoReply"
    case disconnected = "Disconnected"
    case invalidArgs = "InvalidArgs"
    case limitsExceeded = "LimitsExceeded"
    case unknownMethod = "UnknownMethod"
    case unknownObject = "UnknownObject"
    case unknownInterface = "UnknownInterface"
    case unknownProperty = "UnknownProperty"
    case propertyReadOnly = "PropertyReadOnly"

    package var name: String { "org.freedesktop.DBus.Error." + rawValue }
  }

  package func isStandard(_ kind: StandardKind) -> Bool { name == kind.name }
}

/// Calls a libdbus function that reports through a `DBusError` out parameter, and throws what it
/// reported.
func withRawError<Result>(
  _ body: (UnsafeMutablePointer<CDBus.DBusError>) -> Result
) throws(DBusError) -> Result {
  var raw = CDBus.DBusError()
  dbus_error_init(&raw)
  let result = body(&raw)
  guard dbus_error_is_set(&raw) != 0 else { return result }
  let error = DBusError(
    name: raw.name.map { String(cString: $0) } ?? DBusError.StandardKind.failed.name,
    message: raw.message.map { String(cString: $0) } ?? "")
  dbus_error_free(&raw)
  throw error
}

/// A peer's text as an error quotes it: without control characters, and cut, since an answer longer
/// than a message may be ends the connection.
package func shortened(_ text: String, to most: Int = 64) -> String {
  let printable = String(
    String.UnicodeScalarView(
      text.unicodeScalars.prefix(most).map {
        $0.properties.generalCategory == .control ? "\u{fffd}" : $0
      }))
  return text.unicodeScalars.count > most ? printable + "…" : printable
}
