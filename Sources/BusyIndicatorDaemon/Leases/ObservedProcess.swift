// SPDX-License-Identifier: MIT

internal import DBus
internal import EventLoop
internal import Glibc

/// A living process of this user, held by a descriptor for as long as a hold depends on it.
final class ObservedProcess {
  /// When it was started, in the kernel's ticks; with its number it names a process for good.
  let startTime: UInt64

  private let pid: UInt32
  private let descriptor: Int32
  private var observation: (any Observation)?

  /// Opens the process `pid`.
  ///
  /// - Throws: InvalidArgs when there is none or it is another user's; LimitsExceeded when no more can
  ///   be opened.
  init(pid: UInt32) throws(DBusError) {
    let gone = DBusError.standard(.invalidArgs, "There is no process \(pid).")
    guard let number = pid_t(exactly: pid), number > 0 else { throw gone }
    let opened: Int32
    do throws(Errno) {
      opened = try Pidfd.open(number)
    } catch {
      guard error.rawValue != EMFILE, error.rawValue != ENFILE else {
        throw .standard(.limitsExceeded, "No more processes can be watched than are now.")
      }
      throw gone
    }
    do throws(Errno) {
      startTime = try Pidfd.startTime(of: number)
      let owner = try Pidfd.owner(of: number)
      // Only now is it sure that the two were read of the process that was opened.
      guard try !Pidfd.hasEnded(opened) else { throw Errno(rawValue: ESRCH) }
      guard owner == getuid() else { throw Errno(rawValue: EPERM) }
    } catch {
      Glibc.close(opened)
      guard error.rawValue == EPERM else { throw gone }
      throw .standard(.invalidArgs, "The process \(pid) belongs to another user.")
    }
    descriptor = opened
    self.pid = pid
  }

  deinit { Glibc.close(descriptor) }

  /// Calls `handler` once when the process has ended.
  ///
  /// - Throws: LimitsExceeded when the system watches no more descriptors for this user.
  func observe(on loop: EventLoop, _ handler: @escaping () -> Void) throws(DBusError) {
    do throws(LoopError) {
      observation = try loop.tryObserve(descriptor: descriptor, for: .readable) { _ in handler() }
    } catch {
      throw .standard(.limitsExceeded, "No more processes can be watched than are now.")
    }
  }

  /// Ends the observation; the handler is not called again.
  func cancel() {
    observation?.cancel()
    observation = nil
  }
}
