// SPDX-License-Identifier: MIT

internal import BusyIndicatorClient
internal import Glibc

/// `doctor`: looks at all that has to be right, and says of each how it is.
enum DoctorCommand {
  static let doctor = CommandSpec(
    name: "doctor", operands: [],
    summary: "Find out what is wrong, and what to do; status 2 when something is", options: []
  ) { _ throws(Failure) in
    var doctor = Doctor()
    doctor.examine()
    print(doctor.findings)
    if doctor.hasNoBus { return 69 }
    return doctor.findings.contains { $0.level == .fault } ? 2 : 0
  }

  private static func print(_ findings: [Finding]) {
    let color = Console.usesColor(STDOUT_FILENO)
    let widest = findings.map { TextWidth.columns($0.subject) }.max() ?? 0
    for finding in findings {
      let mark =
        switch finding.level {
        case .good: Style.green("ok   ", if: color)
        case .remark: Style.yellow("note ", if: color)
        case .fault: Style.red("fault", if: color)
        }
      let subject = TextWidth.pad(finding.subject, to: widest)
      Console.print("\(mark)  \(subject)  \(finding.text.harmless)")
      if let advice = finding.advice {
        Console.print(String(repeating: " ", count: 9 + widest) + "→ " + advice.harmless)
      }
    }
  }
}

/// One thing that was looked at.
struct Finding: Equatable {
  enum Level { case good, remark, fault }

  let level: Level
  let subject: String
  let text: String
  /// What to do about it.
  var advice: String?
}

/// Gathers the findings.
///
/// It changes nothing and starts nothing.
struct Doctor {
  private(set) var findings: [Finding] = []
  private(set) var hasNoBus = false

  private var isActivatable = false
  private var daemonPID: UInt32?

  mutating func examine() {
    examineRuntimeDirectory()
    guard let connection = connect() else { return }
    examineDaemon(connection)
    let file = examineActivation(connection)
    examineUnit(connection, named: file?.unit)
    examineStore(connection)
  }

  private mutating func add(
    _ level: Finding.Level, _ subject: String, _ text: String, _ advice: String? = nil
  ) {
    findings.append(Finding(level: level, subject: subject, text: text, advice: advice))
  }

  // MARK: - The session

  private mutating func examineRuntimeDirectory() {
    let subject = "runtime directory"
    guard let path = Console.environment("XDG_RUNTIME_DIR"), !path.isEmpty else {
      return add(
        .fault, subject, "XDG_RUNTIME_DIR is not set: a restart of the daemon forgets all",
        "log in by a login manager or ssh with pam_systemd, or set it to /run/user/\(getuid())")
    }
    var status = stat()
    guard path.hasPrefix("/"), lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      return add(
        .fault, subject, "XDG_RUNTIME_DIR is \(path), which is no directory",
        "make it: mkdir -m 0700 \(path)")
    }
    guard status.st_uid == geteuid() else {
      return add(
        .fault, subject, "\(path) belongs to the user \(status.st_uid), not to \(geteuid())",
        "set XDG_RUNTIME_DIR to a directory of your own, as su and sudo do not")
    }
    guard status.st_mode & 0o077 == 0 else {
      return add(.remark, subject, "\(path) is open to other users", "chmod 0700 \(path)")
    }
    guard access(path, W_OK) == 0 else {
      return add(.fault, subject, "\(path) cannot be written", "chmod 0700 \(path)")
    }
    add(.good, subject, path)
  }

  private mutating func connect() -> IndicatorConnection? {
    let subject = "session bus"
    let address = Console.environment("DBUS_SESSION_BUS_ADDRESS")
    do throws(IndicatorError) {
      let connection = try IndicatorConnection()
      add(.good, subject, address ?? "found without DBUS_SESSION_BUS_ADDRESS")
      return connection
    } catch {
      hasNoBus = true
      if let address {
        add(
          .fault, subject, "\(address): \(error.message)",
          "is that bus of this session? systemctl --user start dbus.socket starts the user's bus")
      } else {
        add(
          .fault, subject, "DBUS_SESSION_BUS_ADDRESS is not set: \(error.message)",
          "export DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/\(getuid())/bus, or try "
            + "dbus-run-session")
      }
      return nil
    }
  }

  // MARK: - The daemon

  private mutating func examineDaemon(_ connection: IndicatorConnection) {
    let subject = "daemon"
    isActivatable = activatableNames(connection).contains(BusyIndicatorBus.serviceName)
    let name = BusName(unchecked: BusyIndicatorBus.serviceName)
    guard let owner = try? connection.bus.owner(of: name),
      let unique = BusName(validating: owner)
    else {
      if isActivatable {
        add(.good, subject, "not running; the first command that changes something starts it")
      } else {
        add(
          .fault, subject, "not running, and the bus cannot start it",
          "start busyindicatord, or install it with its activation file")
      }
      return
    }
    let pid = try? connection.bus.processID(of: unique)
    daemonPID = pid
    let process = pid.map { "process \($0), \(owner)" } ?? owner
    let state: DaemonState
    do throws(IndicatorError) {
      state = try connection.perform(.daemonState, timeout: Microseconds(seconds: 3))
    } catch {
      return add(
        .fault, subject, "\(process) owns the name, but: \(error.message)",
        "look at it: journalctl --user -u busyindicatord; then kill \(pid ?? 0)")
    }
    add(.good, subject, "\(process), version \(state.version)")
    examineVersion(state.version, pid)
  }

  private mutating func examineVersion(_ version: String, _ pid: UInt32?) {
    if version != Program.version {
      add(
        .fault, "versions", "the daemon is \(version), busyctl is \(Program.version)",
        "restart it: systemctl --user restart busyindicatord, or busyindicatord --replace")
    } else {
      add(.good, "versions", "both are \(version)")
    }
    guard let pid, let program = Files.link("/proc/\(pid)/exe"), program.hasSuffix(" (deleted)")
    else { return }
    add(
      .fault, "versions", "the daemon's file was replaced since it was started",
      "restart it: systemctl --user restart busyindicatord, or busyindicatord --replace")
  }

  private func activatableNames(_ connection: IndicatorConnection) -> [String] {
    let call = Message(
      call: "ListActivatableNames", of: .bus, at: "/org/freedesktop/DBus", on: .bus)
    return (try? connection.bus.callAndWait(call).read([String].self)) ?? []
  }

  // MARK: - How it is started

  private mutating func examineActivation(_ connection: IndicatorConnection) -> ActivationFile? {
    let subject = "activation file"
    guard let file = ActivationFile.find() else {
      if isActivatable {
        add(.remark, subject, "the bus knows one that is in none of the usual directories")
      } else if daemonPID == nil {
        add(
          .fault, subject, "there is no \(BusyIndicatorBus.serviceName).service",
          "install it in ~/.local/share/dbus-1/services or /usr/share/dbus-1/services")
      } else {
        add(.remark, subject, "there is none: somebody has to start the daemon in each session")
      }
      return nil
    }
    if !isActivatable {
      add(
        .fault, subject, "\(file.path) is there, but the bus does not know it",
        "gdbus call --session -d org.freedesktop.DBus -o /org/freedesktop/DBus "
          + "-m org.freedesktop.DBus.ReloadConfig")
    } else if file.name != BusyIndicatorBus.serviceName {
      add(.fault, subject, "\(file.path) is for the name “\(file.name)”", "install it anew")
    } else if !Files.isExecutable(file.program) {
      add(
        .fault, subject, "\(file.path) starts “\(file.program)”, which cannot be run",
        "install busyindicatord there, or mend the line Exec=")
    } else {
      add(.good, subject, file.path)
    }
    return file
  }

  private mutating func examineUnit(_ connection: IndicatorConnection, named name: String?) {
    let subject = "unit"
    let unit = name ?? "busyindicatord.service"
    let manager: BusName = "org.freedesktop.systemd1"
    guard let owner = try? connection.bus.owner(of: manager), !owner.isEmpty else {
      return add(
        .good, subject, "no service manager on this bus; the bus starts the program itself")
    }
    let load = Message(
      call: "LoadUnit", of: "org.freedesktop.systemd1.Manager", at: "/org/freedesktop/systemd1",
      on: manager, unit)
    guard let reply = try? connection.bus.callAndWait(load),
      let path = try? reply.read(ObjectPath.self)
    else { return add(.remark, subject, "the service manager does not tell of \(unit)") }
    func property(_ key: String) -> String {
      let get = Message(
        call: "Get", of: .properties, at: path, on: manager, "org.freedesktop.systemd1.Unit", key)
      let answer = try? connection.bus.callAndWait(get).read(Variant.self)
      return answer?.stringValue ?? ""
    }
    let loaded = property("LoadState")
    let active = property("ActiveState")
    if loaded != "loaded" {
      let level: Finding.Level = name == nil ? .remark : .fault
      add(
        level, subject, "\(unit) is \(loaded)",
        name == nil ? nil : "install it in ~/.config/systemd/user; systemctl --user daemon-reload")
    } else if active == "failed" {
      add(
        .fault, subject, "\(unit) has failed",
        "see journalctl --user -u \(unit); then systemctl --user reset-failed \(unit)")
    } else {
      add(.good, subject, "\(unit) is \(active)")
    }
  }

  // MARK: - What survives a restart

  private mutating func examineStore(_ connection: IndicatorConnection) {
    guard daemonPID != nil, let runtime = Console.environment("XDG_RUNTIME_DIR"),
      let bus = try? connection.bus.busID()
    else { return }
    let path = "\(runtime)/busyindicator/\(bus).db"
    if access(path, F_OK) == 0 {
      add(.good, "store", path)
    } else {
      add(
        .remark, "store", "\(path) is not there: the daemon keeps its state in memory only",
        "see why: journalctl --user -u busyindicatord; then restart it")
    }
  }
}
