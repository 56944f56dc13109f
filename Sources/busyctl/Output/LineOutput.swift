// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient
internal import Glibc

// A panel that does not read for a minute must neither stop this program nor make it grow. So a pipe
// is written without blocking, and of what waits only the newest line of each kind is kept. The pipe is
// opened anew for that: O_NONBLOCK on the descriptor we were given would change it for everybody who
// shares it.

/// Lines to standard output for somebody who may read slowly, or leave.
final class LineOutput {
  /// What a line is about: the bytes of a control's name.
  ///
  /// Swift's strings take two spellings of a letter for one.
  typealias Kind = [UInt8]
  /// A line, as bytes for the same reason.
  private typealias Line = [UInt8]

  private let descriptor: Int32
  private let isOwn: Bool
  private let isSocket: Bool
  private var observation: (any Observation)?
  private let onGone: () -> Void
  /// Called when all is out that had to wait.
  var onDrained: (() -> Void)?
  private var isGone = false

  /// What was begun to be written, and has to be finished first.
  private var begun: [UInt8] = []
  /// The line of each kind that waits, and the order in which the kinds came.
  private var waiting: [Kind: Line] = [:]
  private var order: [Kind] = []
  /// The line of each kind that was written last.
  private var written: [Kind: Line] = [:]

  /// Writes to standard output.
  ///
  /// - Parameters:
  ///   - loop: tells when there is room again.
  ///   - onGone: called once when the reader has gone.
  init(on loop: any Loop, onGone: @escaping () -> Void) {
    self.onGone = onGone
    signal(SIGPIPE, SIG_IGN)
    var status = stat()
    fstat(STDOUT_FILENO, &status)
    let type = status.st_mode & S_IFMT
    isSocket = type == S_IFSOCK
    let opened =
      type == S_IFIFO || isatty(STDOUT_FILENO) == 1
      ? open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) : -1
    isOwn = opened >= 0
    descriptor = isOwn ? opened : STDOUT_FILENO
    // A regular file is always ready, and poll(2) would say so again and again.
    if isOwn || isSocket {
      observation = loop.observe(descriptor: descriptor, for: []) { [unowned self] readiness in
        if readiness.contains(.error) || readiness.contains(.hangUp) { return gone() }
        flush()
        if isEmpty { onDrained?() }
      }
    }
  }

  deinit {
    observation?.cancel()
    if isOwn { close(descriptor) }
  }

  /// Prints a line, unless the last one of its kind was the same.
  ///
  /// One of the same kind that still waits is replaced.
  func put(_ text: String, kind: Kind = []) {
    let line = Line(text.utf8)
    if written[kind] == line {
      if waiting.removeValue(forKey: kind) != nil { order.removeAll { $0 == kind } }
    } else {
      if waiting.updateValue(line, forKey: kind) == nil { order.append(kind) }
    }
    flush()
  }

  /// Forgets what was the last line of a kind, once it is out.
  func drop(kind: Kind) {
    if waiting[kind] == nil { written[kind] = nil }
  }

  /// Whether everything is out.
  var isEmpty: Bool { begun.isEmpty && waiting.isEmpty }

  private func flush() {
    while !isGone {
      if begun.isEmpty {
        guard let kind = order.first else { break }
        order.removeFirst()
        guard let line = waiting.removeValue(forKey: kind) else { continue }
        written[kind] = line
        begun = line + [UInt8(ascii: "\n")]
      }
      let count = begun.withUnsafeBytes { bytes in
        isSocket
          ? send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT))
          : write(descriptor, bytes.baseAddress, bytes.count)
      }
      if count > 0 {
        begun.removeFirst(count)
      } else if errno == EAGAIN {
        break
      } else if errno != EINTR {
        Console.noteOutputError(errno)
        return gone()
      }
    }
    observation?.update(interest: isEmpty ? [] : .writable)
  }

  private func gone() {
    guard !isGone else { return }
    isGone = true
    observation?.cancel()
    onGone()
  }
}
