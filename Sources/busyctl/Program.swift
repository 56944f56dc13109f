// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// The program: from its arguments to its exit status.
enum Program {
  /// The version of this program and of the daemon that it came with.
  static let version = "0.1.0"

  /// Parses, runs, and shows what went wrong in one line.
  static func run(_ arguments: [String]) -> Int32 {
    occupy_standard_streams()
    do throws(Failure) {
      let invocation = try CommandLineParser.parse(Array(arguments.dropFirst()))
      var status: Int32 = 0
      if let invocation {
        try checkEncoding(of: invocation)
        status = try invocation.command.run(invocation)
      }
      if let number = Console.outputError {
        throw .failed("the output cannot be written: \(String(cString: strerror(number)))")
      }
      return status
    } catch {
      if let message = error.message { Console.complain(message) }
      return error.status
    }
  }

  /// Refuses what is not UTF-8, which the bus does not carry; a command that is run may have it.
  private static func checkEncoding(of invocation: Invocation) throws(Failure) {
    let foreign = invocation.command.stopsAtOperand ? invocation.operands.count : 0
    let own = Int(CommandLine.argc) - foreign
    for index in 1..<max(own, 1) {
      guard let word = CommandLine.unsafeArgv[index], String(validatingCString: word) == nil else {
        continue
      }
      throw .usage("“\(String(cString: word))” is not UTF-8")
    }
  }
}

/// Why a command ends without having done what it was asked: its exit status, and one line.
struct Failure: Error, Equatable {
  let status: Int32
  let message: String?

  /// The call failed.
  static func failed(_ message: String) -> Failure { Failure(status: 1, message: message) }

  /// The condition that was asked for does not hold.
  static func unmet(_ message: String?) -> Failure { Failure(status: 2, message: message) }

  /// The arguments are not as they should be (EX_USAGE).
  static func usage(_ message: String) -> Failure { Failure(status: 64, message: message) }

  /// There is no bus or no daemon (EX_UNAVAILABLE).
  static func unavailable(_ message: String) -> Failure { Failure(status: 69, message: message) }

  /// It is busy, and was to be had alone (EX_TEMPFAIL).
  static func busy(_ message: String) -> Failure { Failure(status: 75, message: message) }

  /// It did not happen in time, as timeout(1) says it.
  static func timedOut(_ message: String) -> Failure { Failure(status: 124, message: message) }
}
