// SPDX-License-Identifier: MIT

/// Something to ask of the daemon: a method call that is not sent yet.
///
/// Hand it to ``IndicatorConnection/perform(_:timeout:)``, which waits for the answer, or to
/// ``IndicatorConnection/submit(_:then:)``, which does not. Requests that change something let the
/// bus start the daemon; those that only read never do.
public struct IndicatorRequest<Reply> {
  let message: () -> Message
  let isReading: Bool
  let decode: (Message) throws(DBusError) -> Reply

  /// A method of the manager that changes something.
  init<each Argument: DBusEncodable>(
    _ method: MemberName, _ arguments: repeat each Argument,
    decode: @escaping (Message) throws(DBusError) -> Reply
  ) {
    isReading = false
    self.decode = decode
    message = {
      Message(
        call: method, of: Service.managerInterface, at: Service.manager, on: Service.name,
        repeat each arguments)
    }
  }

  /// A method that only reads.
  init<each Argument: DBusEncodable>(
    reading method: MemberName, of interface: InterfaceName, at path: ObjectPath,
    _ arguments: repeat each Argument,
    decode: @escaping (Message) throws(DBusError) -> Reply
  ) {
    isReading = true
    self.decode = decode
    message = {
      let call = Message(
        call: method, of: interface, at: path, on: Service.name, repeat each arguments)
      call.autoStarts = false
      return call
    }
  }
}

private func nothing(_: Message) throws(DBusError) {}

// MARK: - The switch and the attributes

extension IndicatorRequest where Reply == Void {
  /// Turns a control's switch on; one that is on stays as it is, but for what the options name.
  ///
  /// ShowIndicator, ShowIndicatorWithOptions. Errors: `invalidName`, `invalidArguments`,
  /// `limitsExceeded`.
  ///
  /// - Parameters:
  ///   - control: the control's name; it comes into being if there is none.
  ///   - time: a time limit above 0, counted from this call; nil for none.
  ///   - options: attributes of the control, and flicker control.
  /// - Returns: the request.
  public static func show(
    _ control: String, for time: Microseconds? = nil, _ options: IndicatorOptions = .init()
  ) -> Self {
    var list = options.list
    list.add("timeout-usec", time)
    guard !list.entries.isEmpty else { return Self("ShowIndicator", control, decode: nothing) }
    return Self("ShowIndicatorWithOptions", control, list, decode: nothing)
  }

  /// Turns a control's switch off; success when it is off already, or there is no such control.
  public static func hide(_ control: String) -> Self {
    Self("HideIndicator", control, decode: nothing)
  }

  /// Sets the text that a control carries when it is not busy, of at most 512 bytes.
  public static func setTitle(_ title: String, of control: String) -> Self {
    Self("SetTitle", control, title, decode: nothing)
  }

  /// Sets a second line about the work in hand, of at most 512 bytes.
  public static func setDetail(_ detail: String, of control: String) -> Self {
    Self("SetDetail", control, detail, decode: nothing)
  }

  /// Sets a control's own enabled flag.
  public static func setEnabled(_ isEnabled: Bool, of control: String) -> Self {
    Self("SetEnabled", control, isEnabled, decode: nothing)
  }

  /// Sets how far the work is, 0…1; nil makes it indeterminate again.
  public static func setProgress(_ fraction: Double?, of control: String) -> Self {
    Self("SetProgress", control, fraction ?? -1, decode: nothing)
  }

  /// Ends all that a control does and removes it; success when there is none.
  public static func forget(_ control: String) -> Self {
    Self("Forget", control, decode: nothing)
  }
}

// MARK: - Holds

extension IndicatorRequest where Reply == UInt32 {
  /// Adds one holder to a control, and gives its cookie, which is never 0 and never used again.
  ///
  /// Errors: `busy` when `isExclusive` and it is busy; `invalidName`, `invalidArguments`,
  /// `limitsExceeded`. When the hold ends without this connection's release,
  /// ``IndicatorConnection/onHoldEnded`` is told.
  public static func hold(
    _ control: String, reason: String = "", _ options: HoldOptions = .init()
  ) -> Self {
    Self("Hold", control, reason, options.list) { (reply) throws(DBusError) in
      try reply.read(UInt32.self)
    }
  }

  /// Turns the switch off and ends every hold, whoever has it; gives how many holds there were.
  ///
  /// A countdown goes on, but no longer makes the control busy.
  public static func releaseAll(of control: String) -> Self {
    Self("ReleaseAll", control) { (reply) throws(DBusError) in try reply.read(UInt32.self) }
  }

  /// Starts a countdown, and gives its id, which is never 0 and never used again.
  ///
  /// Errors: `countdownActive` when there is one and `restart` is `.reject`; `invalidName`,
  /// `invalidArguments`, `limitsExceeded`.
  ///
  /// - Parameters:
  ///   - control: the control's name; it comes into being if there is none.
  ///   - duration: at most ``Microseconds/longest``.
  ///   - options: how it runs, and attributes of the control.
  /// - Returns: the request.
  public static func startCountdown(
    _ control: String, for duration: Microseconds, _ options: CountdownOptions = .init()
  ) -> Self {
    Self("StartCountdownWithOptions", control, duration.rawValue, options.list) {
      (reply) throws(DBusError) in try reply.read(UInt32.self)
    }
  }
}

extension IndicatorRequest where Reply == Void {
  /// Ends one hold.
  ///
  /// Error: `noSuchHold` when it has ended already.
  ///
  /// - Parameters:
  ///   - cookie: what ``hold(_:reason:_:)`` gave.
  ///   - result: how the work went, such as "exit 2", of at most 256 bytes; may be empty.
  /// - Returns: the request.
  public static func release(_ cookie: UInt32, result: String = "") -> Self {
    Self("Release", cookie, result, decode: nothing)
  }

  /// Restarts the time of a hold with the lease `.ttl`.
  ///
  /// Errors: `noSuchHold` when it has ended, `invalidArguments` when it has no such lease.
  public static func renew(_ cookie: UInt32) -> Self { Self("Renew", cookie, decode: nothing) }

  // MARK: - Countdowns

  /// Halts a countdown; success when it is paused already.
  ///
  /// Error: `noCountdown`.
  public static func pauseCountdown(_ control: String) -> Self {
    Self("PauseCountdown", control, decode: nothing)
  }

  /// Lets a paused countdown go on; success when it runs already.
  ///
  /// Error: `noCountdown`.
  public static func resumeCountdown(_ control: String) -> Self {
    Self("ResumeCountdown", control, decode: nothing)
  }

  /// Makes a countdown longer, or shorter when negative; down to zero it finishes at once.
  ///
  /// Error: `noCountdown`.
  public static func extendCountdown(_ control: String, seconds: Int32) -> Self {
    Self("ExtendCountdown", control, seconds, decode: nothing)
  }

  /// Ends a countdown before its time.
  ///
  /// Error: `noCountdown`.
  public static func cancelCountdown(_ control: String) -> Self {
    Self("CancelCountdown", control, decode: nothing)
  }
}

// MARK: - Reading

extension IndicatorRequest where Reply == ControlState {
  /// Reads one control with its holders.
  ///
  /// Error: `noSuchControl`.
  public static func state(of control: String) -> Self {
    let path = ObjectPath(encoding: control, below: Service.controls)
    return Self(
      reading: "GetAll", of: .properties, at: path, BusyIndicatorBus.controlInterface
    ) { (reply) throws(DBusError) in ControlState(try reply.read([String: Variant].self)) }
  }
}

extension IndicatorRequest where Reply == [ControlState] {
  /// Reads every control with its holders, in no particular order.
  public static var allStates: Self {
    Self(reading: "GetManagedObjects", of: .objectManager, at: Service.manager) {
      (reply) throws(DBusError) in
      try reply.read([ObjectPath: [String: [String: Variant]]].self).values.compactMap {
        $0[BusyIndicatorBus.controlInterface].map(ControlState.init)
      }
    }
  }
}

extension IndicatorRequest where Reply == DaemonState {
  /// Reads the manager's properties.
  public static var daemonState: Self {
    Self(
      reading: "GetAll", of: .properties, at: Service.manager, BusyIndicatorBus.managerInterface
    ) { (reply) throws(DBusError) in DaemonState(try reply.read([String: Variant].self)) }
  }
}
