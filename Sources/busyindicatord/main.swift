// SPDX-License-Identifier: MIT

internal import BusyIndicatorDaemon
internal import Glibc

Program.run(Array(CommandLine.arguments.dropFirst()))

/// The program: parse, build, run.
enum Program {
  /// Runs to the end of the process.
  static func run(_ arguments: [String]) -> Never {
    switch Settings.parse(arguments) {
    case .print(let text):
      write(text, to: 1)
      exit(0)
    case .refuse(let line):
      write(line + "\n", to: 2)
      exit(64)
    case .serve(let settings):
      exit(serve(settings))
    }
  }

  private static func serve(_ settings: Settings) -> Int32 {
    do throws(Daemon.StartFailure) {
      return try Daemon(settings).run()
    } catch {
      write("busyindicatord: \(error.message)\n", to: 2)
      return 1
    }
  }

  private static func write(_ text: String, to descriptor: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno != EINTR { return }
      rest = rest.dropFirst(max(0, count))
    }
  }
}
