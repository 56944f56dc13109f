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
    do {
      return try Daemon(settings).run()
    } catch let failure as Daemon.StartFailure {
      write("busyindicatord: \(failure.message)\n", to: 2)
    } catch {
      write("busyindicatord: \(error)\n", to: 2)
    }
    return 1
  }

  private static func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = Glibc.write(
          descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0 && errno != EINTR { return }
        rest = rest.dropFirst(max(0, count))
      }
    }
  }
}
