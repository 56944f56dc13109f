// SPDX-License-Identifier: MIT

internal import BusyIndicatorCore

/// Why the state cannot be kept, or what was kept cannot be used.
enum StoreFailure: Error, CustomStringConvertible {
  case database(DatabaseError)
  /// The file is not what this program writes.
  case unusable(String)

  var isBusy: Bool { if case .database(let error) = self { error.isBusy } else { false } }

  /// Whether the file itself is at fault, and another one would do.
  var isUnusable: Bool {
    switch self {
    case .database(let error): error.isDamage
    case .unusable: true
    }
  }

  var description: String {
    switch self {
    case .database(let error): error.description
    case .unusable(let reason): reason
    }
  }
}

/// The open file with its statements.
final class Tables {
  private let database: Database
  private let transaction: Transaction
  private let replaceControl: Statement
  private let deleteControl: Statement
  private let replaceHold: Statement
  private let deleteHold: Statement
  private let replaceCounters: Statement
  private var writtenCounters: Counters?

  /// Opens the file, and makes the tables in a new one.
  init(path: String, patience: Int32) throws(StoreFailure) {
    do throws(DatabaseError) {
      database = try Database(path: path, patience: patience)
      let version = try database.userVersion()
      let isEmpty = try database.isEmpty()
      transaction = try Transaction(in: database)
      if version == 0, isEmpty {
        let database = database
        try transaction.run { () throws(DatabaseError) in
          try database.execute(Schema.creation)
        }
      } else if version != Schema.version {
        throw DatabaseError.foreign("its version is \(version), not \(Schema.version)")
      }
      replaceControl = try database.prepare(Schema.replace("control", Schema.controlColumns))
      deleteControl = try database.prepare("DELETE FROM control WHERE name = ?")
      replaceHold = try database.prepare(Schema.replace("hold", Schema.holdColumns))
      deleteHold = try database.prepare("DELETE FROM hold WHERE cookie = ?")
      replaceCounters = try database.prepare("REPLACE INTO counters VALUES (1, ?, ?)")
    } catch {
      // A missing table or column is SQLITE_ERROR: somebody else's file.
      throw error.isForeign ? .unusable(error.description) : .database(error)
    }
  }

  /// Reads all of it.
  func load() throws(StoreFailure) -> SavedState {
    var state = SavedState()
    var isMalformed = false
    do throws(DatabaseError) {
      let counters = try database.prepare(
        "SELECT last_cookie, last_countdown FROM counters")
      try counters.forEachRow { state.counters = $0.counters() }
      let controls = try database.prepare(Schema.select("control", Schema.controlColumns))
      try controls.forEachRow { row in
        if let control = try? row.control() {
          state.controls.append(control)
        } else {
          isMalformed = true
        }
      }
      let holds = try database.prepare(Schema.select("hold", Schema.holdColumns))
      try holds.forEachRow { row in
        if let hold = try? row.hold() { state.holds.append(hold) } else { isMalformed = true }
      }
    } catch {
      throw error.isForeign ? .unusable(error.description) : .database(error)
    }
    if isMalformed { throw .unusable("a row in it makes no sense") }
    writtenCounters = state.counters
    return state
  }

  /// Writes what a turn changed, as one transaction; none when it changed nothing that is kept.
  func write(_ drain: Drain, of machine: IndicatorStateMachine) throws(StoreFailure) {
    let counters = machine.counters
    var removed = 0
    for case .removed in drain.changes { removed += 1 }
    let statements =
      removed + drain.touched.count + drain.endedHolds.count + drain.changedHolds.count
      + (counters == writtenCounters ? 0 : 1)
    guard statements > 0 else { return }
    // A single statement is a transaction by itself, at half the price.
    try commit(isImplicit: statements == 1) { [self] () throws(DatabaseError) in
      for case .removed(let name) in drain.changes {
        deleteControl.bind(name.rawValue)
        try deleteControl.run()
      }
      for id in drain.touched { try write(machine.saved(id)) }
      for cookie in drain.endedHolds {
        deleteHold.bind(cookie)
        try deleteHold.run()
      }
      for cookie in drain.changedHolds {
        if let hold = machine.savedHold(cookie) { try write(hold) }
      }
      if counters != writtenCounters { try write(counters) }
    }
  }

  /// Writes all of the state in place of what is there.
  func writeAll(of machine: IndicatorStateMachine) throws(StoreFailure) {
    try commit { [self] () throws(DatabaseError) in
      try database.execute("DELETE FROM control; DELETE FROM hold; DELETE FROM counters")
      for id in machine.controls { try write(machine.saved(id)) }
      for cookie in machine.allHolds {
        if let hold = machine.savedHold(cookie) { try write(hold) }
      }
      try write(machine.counters)
    }
  }

  private func commit(
    isImplicit: Bool = false, _ body: () throws(DatabaseError) -> Void
  ) throws(StoreFailure) {
    do throws(DatabaseError) {
      if isImplicit { try body() } else { try transaction.run(body) }
    } catch {
      // What was written of them in the transaction is not there any more.
      writtenCounters = nil
      throw .database(error)
    }
  }

  private func write(_ saved: (name: ControlName, control: Control)) throws(DatabaseError) {
    replaceControl.bind(saved.name, saved.control)
    try replaceControl.run()
  }

  private func write(_ hold: SavedHold) throws(DatabaseError) {
    replaceHold.bind(hold)
    try replaceHold.run()
  }

  private func write(_ counters: Counters) throws(DatabaseError) {
    replaceCounters.bind(counters)
    try replaceCounters.run()
    writtenCounters = counters
  }
}
