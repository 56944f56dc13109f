// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore
internal import EventLoop

/// Keeps the state where it outlives the process: each turn's changes as one transaction, before
/// the turn's answers leave.
///
/// What it cannot write it leaves to the machine, which has it all anyway, says so once, and writes
/// the whole state anew when it can again.
final class Store {
  /// Whether the kept state is the present one.
  private enum Health {
    case kept
    /// It is not, and is to be written anew; not before an instant of the monotonic clock.
    case behind(retry: UInt64)
    /// There is no place to keep it.
    case homeless
  }

  /// Another process has the file and does not let go of it.
  struct Taken: Error {
    let owner: Int32?
  }

  private let path: StorePath?
  private let loop: EventLoop
  private let onHealth: (String?) -> Void
  private var tables: Tables?
  private var health = Health.kept
  private var retryTimer: Timer?
  /// Asks for a turn in which the store may try again.
  var onRetry: () -> Void = {}

  /// How long somebody who only looks into the file may take at start, in milliseconds.
  private static let strangerTime: Int32 = 1000

  /// How long after a failure it tries again, in microseconds.
  private static let retryInterval: UInt64 = 1_000_000

  /// A store that has not been opened.
  ///
  /// - Parameters:
  ///   - busID: the bus whose state it is.
  ///   - loop: where it waits to try again.
  ///   - onHealth: told once why the state is not kept, and by nil that it is again.
  init(busID: String, loop: EventLoop, onHealth: @escaping (String?) -> Void) {
    self.loop = loop
    self.onHealth = onHealth
    do throws(StorePath.Missing) {
      path = try StorePath(busID: busID)
    } catch {
      path = nil
      health = .homeless
      onHealth(error.reason)
    }
    retryTimer = loop.makeTimer(clock: .monotonic) { [unowned self] in onRetry() }
  }

  /// Whether the kept state is the present one.
  var isKept: Bool { if case .kept = health { true } else { false } }

  // MARK: - Opening

  /// What was kept; nothing when there is no file, or none that can be used.
  ///
  /// - Parameter patience: how long to wait for a predecessor that has the file, in milliseconds; nil
  ///   when there is none, and whoever has it is a stranger.
  /// - Returns: nil when nothing was kept.
  /// - Throws: ``Taken`` when the predecessor still has it then.
  func load(patience: Int32?) throws(Taken) -> SavedState? {
    guard let path else { return nil }
    do throws(StoreFailure) {
      let tables = try Tables(path: path.file, patience: patience ?? Self.strangerTime)
      self.tables = tables
      return try tables.load()
    } catch {
      if error.isBusy, patience != nil { throw Taken(owner: path.lockHolder) }
      if error.isUnusable {
        startAnew(path, error)
      } else {
        fallBehind(error)
      }
      return nil
    }
  }

  /// Puts away what was loaded and turned out to make no sense.
  func discard(_ reason: String) {
    guard let path else { return }
    startAnew(path, .unusable(reason))
  }

  // What cannot be read is somebody's all the same: it is put aside, not deleted.
  private func startAnew(_ path: StorePath, _ failure: StoreFailure) {
    tables = nil
    guard let aside = path.putAside() else { return fallBehind(failure) }
    Log.warning("the kept state cannot be used (\(failure)); it is now \(aside)")
    do throws(StoreFailure) {
      tables = try Tables(path: path.file, patience: 0)
    } catch {
      fallBehind(error)
    }
  }

  // MARK: - Writing

  /// Writes what a turn changed, so that it is safe when this returns, unless it cannot be.
  func commit(_ drain: Drain, of machine: IndicatorStateMachine) {
    switch health {
    case .homeless: return
    case .behind(let retry):
      if loop.now(.monotonic) >= retry { catchUp(machine) }
    case .kept:
      guard let tables else { return fallBehind(.unusable("it is not open")) }
      do throws(StoreFailure) {
        try tables.write(drain, of: machine)
      } catch {
        fallBehind(error)
      }
    }
  }

  // The state as a whole, since what has changed since it was last kept nobody knows.
  private func catchUp(_ machine: IndicatorStateMachine) {
    guard let path else { return }
    do throws(StoreFailure) {
      if tables == nil { tables = try Tables(path: path.file, patience: 0) }
      try tables?.writeAll(of: machine)
      health = .kept
      retryTimer?.disarm()
      Log.notice("the state is kept again")
      onHealth(nil)
    } catch {
      if error.isUnusable {
        tables = nil
        if let aside = path.putAside() { Log.warning("\(error); the file is now \(aside)") }
      }
      tables = nil
      fallBehind(error)
    }
  }

  private func fallBehind(_ failure: StoreFailure) {
    if case .kept = health { onHealth("\(failure)") }
    let retry = loop.now(.monotonic) + Self.retryInterval
    health = .behind(retry: retry)
    retryTimer?.arm(at: retry)
  }

  /// Lets go of the file.
  func close() {
    retryTimer?.disarm()
    tables = nil
  }
}
