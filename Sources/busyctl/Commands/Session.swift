// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient

/// The connection of a command, and what its errors mean for the exit status.
enum Session {
  static func connect(loop: (any Loop)? = nil) throws(Failure) -> IndicatorConnection {
    do throws(IndicatorError) {
      return try IndicatorConnection(loop: loop)
    } catch {
      throw error.failure
    }
  }

  /// Connects, asks for one thing, and waits for it.
  static func perform<Reply>(_ request: IndicatorRequest<Reply>) throws(Failure) -> Reply {
    try connect().ask(request)
  }
}

extension IndicatorConnection {
  /// Asks for something and waits for it.
  func ask<Reply>(_ request: IndicatorRequest<Reply>) throws(Failure) -> Reply {
    do throws(IndicatorError) {
      return try perform(request)
    } catch {
      throw error.failure
    }
  }
}

extension IndicatorError {
  /// The exit status and the line for it.
  var failure: Failure {
    switch kind {
    case .noBus, .noDaemon: .unavailable(message)
    case .busy: .busy(message)
    default: .failed(message)
    }
  }
}
