// SPDX-License-Identifier: MIT

// The words of the interface (lease kinds, clocks, reasons, limits, Microseconds) and the loop
// protocol are part of this library's API; whoever imports it needs no second import for them.
@_exported public import BusyIndicatorCore
@_exported public import DBus

extension Microseconds {
  /// A duration of the standard library in whole microseconds, rounded down; negative ones are zero.
  public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else {
      self = .zero
      return
    }
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: Self.perSecond)
    self = overflow ? Microseconds(rawValue: .max) : Microseconds(rawValue: whole)
    self = self + Microseconds(rawValue: UInt64(attoseconds) / 1_000_000_000_000)
  }
}

/// Names of the bus as the binding's validated types.
enum Service {
  static let name = BusName(unchecked: BusyIndicatorBus.serviceName)
  static let manager = ObjectPath(unchecked: BusyIndicatorBus.managerPath)
  static let controls = ObjectPath(unchecked: BusyIndicatorBus.controlPathPrefix)
  static let managerInterface = InterfaceName(unchecked: BusyIndicatorBus.managerInterface)
  static let controlInterface = InterfaceName(unchecked: BusyIndicatorBus.controlInterface)
}
