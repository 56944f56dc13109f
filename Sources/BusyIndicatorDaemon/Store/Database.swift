// SPDX-License-Identifier: MIT

internal import CSQLite

/// SQLite said no.
struct DatabaseError: Error, CustomStringConvertible {
  /// The primary result code, such as `SQLITE_FULL`.
  let code: Int32
  let description: String

  /// Whether the file is no database, or a broken one: it may be put aside.
  var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }
  /// Whether another process has the file.
  var isBusy: Bool { code == SQLITE_BUSY }
  /// Whether the file is a database, but of other tables.
  var isForeign: Bool { code == SQLITE_ERROR || code == SQLITE_MISMATCH }

  /// A database that this program did not write.
  static func foreign(_ reason: String) -> DatabaseError {
    DatabaseError(code: SQLITE_MISMATCH, description: reason)
  }
}

/// An open SQLite database of this process alone.
final class Database {
  private let raw: OpaquePointer

  /// Opens or makes the file, and locks it for as long as this object lives.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - patience: how long to wait for another process that has it, in milliseconds.
  /// - Throws: what SQLite reports; the file is then closed again.
  init(path: String, patience: Int32) throws(DatabaseError) {
    var opened: OpaquePointer?
    let flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
    let result = sqlite3_open_v2(path, &opened, flags, nil)
    guard let opened else { throw DatabaseError(code: SQLITE_NOMEM, description: "out of memory") }
    raw = opened
    guard result == SQLITE_OK else { throw failure(result) }
    sqlite3_extended_result_codes(raw, 0)
    sqlite3_busy_timeout(raw, patience)
    // Exclusive before WAL, so that no shared memory is used. What must survive is the process, not
    // the machine: nothing is synced.
    try execute("PRAGMA locking_mode=EXCLUSIVE")
    try execute("PRAGMA synchronous=OFF")
    try execute("PRAGMA cache_size=-256")
    try execute("PRAGMA temp_store=MEMORY")
    // A commit writes whole pages, so small ones are cheap; this takes effect in a new file only.
    try execute("PRAGMA page_size=1024")
    try execute("PRAGMA journal_mode=WAL")
    try execute("PRAGMA journal_size_limit=1048576")
    // Takes the lock.
    try execute("BEGIN IMMEDIATE")
    try execute("COMMIT")
  }

  deinit { sqlite3_close_v2(raw) }

  /// Runs statements that give nothing back.
  func execute(_ sql: String) throws(DatabaseError) {
    let result = sqlite3_exec(raw, sql, nil, nil, nil)
    guard result == SQLITE_OK else { throw failure(result) }
  }

  /// The number that the program keeps in the file's header for itself; 0 in a new one.
  func userVersion() throws(DatabaseError) -> Int64 {
    let statement = try prepare("PRAGMA user_version")
    var version: Int64 = 0
    try statement.forEachRow { version = $0.integer() }
    return version
  }

  /// Whether nothing has been made in it.
  func isEmpty() throws(DatabaseError) -> Bool {
    let statement = try prepare("SELECT count(*) FROM sqlite_schema")
    var count: Int64 = 0
    try statement.forEachRow { count = $0.integer() }
    return count == 0
  }

  /// A statement to be run often.
  func prepare(_ sql: String) throws(DatabaseError) -> Statement {
    var made: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    let result = sqlite3_prepare_v3(raw, sql, -1, flags, &made, nil)
    guard result == SQLITE_OK, let made else { throw failure(result) }
    return Statement(made, of: self)
  }

  fileprivate func failure(_ result: Int32) -> DatabaseError {
    DatabaseError(
      code: result & 0xff,
      description: sqlite3_errmsg(raw).map { String(cString: $0) } ?? "error \(result)")
  }
}

/// What makes several statements one: all of them, or nothing.
struct Transaction {
  private let database: Database
  // Parsing them anew each time would cost more than what they do.
  private let beginning: Statement
  private let committing: Statement

  init(in database: Database) throws(DatabaseError) {
    self.database = database
    beginning = try database.prepare("BEGIN")
    committing = try database.prepare("COMMIT")
  }

  /// Does `body` as one transaction.
  func run(_ body: () throws(DatabaseError) -> Void) throws(DatabaseError) {
    try beginning.run()
    do throws(DatabaseError) {
      try body()
      try committing.run()
    } catch {
      // It may have been rolled back already: then this fails, and nothing is lost.
      try? database.execute("ROLLBACK")
      throw error
    }
  }
}

/// One prepared statement.
final class Statement {
  private let raw: OpaquePointer
  private let database: Database
  private var position: Int32 = 0
  /// Which parameters hold NULL, as all do at first; what is bound stays so from run to run.
  private var isNull: [Bool]

  fileprivate init(_ raw: OpaquePointer, of database: Database) {
    self.raw = raw
    self.database = database
    isNull = Array(repeating: true, count: Int(sqlite3_bind_parameter_count(raw)))
  }

  deinit { sqlite3_finalize(raw) }

  /// Binds the next parameter; the empty text as NULL, which is read as that again.
  func bind(_ value: String) {
    var value = value
    guard !value.isEmpty else { return bindNulls(1) }
    advance()
    value.withUTF8 { text in
      // SQLITE_TRANSIENT, a cast in C: SQLite takes a copy.
      let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      let start = UnsafeRawPointer(text.baseAddress)?.assumingMemoryBound(to: CChar.self)
      _ = sqlite3_bind_text(raw, position, start, Int32(text.count), transient)
    }
  }

  /// Binds the next parameter; numbers above 2^63 keep their bits.
  func bind(_ value: UInt64) { bind(Int64(bitPattern: value)) }

  /// Binds the next parameter.
  func bind(_ value: UInt32) { bind(Int64(value)) }

  /// Binds the next parameter.
  func bind(_ value: Bool) { bind(UInt32(value ? 1 : 0)) }

  /// Binds the next parameter.
  func bind(_ value: Int64) {
    advance()
    sqlite3_bind_int64(raw, position, value)
  }

  /// Binds the next parameter; nil as NULL.
  func bind(_ value: UInt64?) {
    guard let value else { return bindNulls(1) }
    bind(value)
  }

  /// Binds the next parameter; nil as NULL.
  func bind(_ value: Double?) {
    guard let value else { return bindNulls(1) }
    advance()
    sqlite3_bind_double(raw, position, value)
  }

  /// Binds the next `count` parameters as NULL.
  func bindNulls(_ count: Int32) {
    for _ in 0..<count {
      position += 1
      guard !isNull[Int(position) - 1] else { continue }
      isNull[Int(position) - 1] = true
      sqlite3_bind_null(raw, position)
    }
  }

  /// Goes on to the next parameter, which is about to be bound.
  private func advance() {
    position += 1
    isNull[Int(position) - 1] = false
  }

  /// Runs it with what was bound, once.
  func run() throws(DatabaseError) { try forEachRow { _ in } }

  /// Runs it with what was bound, and hands out each row.
  func forEachRow(_ body: (inout Row) -> Void) throws(DatabaseError) {
    defer {
      sqlite3_reset(raw)
      position = 0
    }
    while true {
      switch sqlite3_step(raw) {
      case SQLITE_ROW:
        var row = Row(raw)
        body(&row)
      case SQLITE_DONE: return
      case let result: throw database.failure(result)
      }
    }
  }
}

/// The row that a statement stands on, read from its first column on.
struct Row {
  private let raw: OpaquePointer
  private var column: Int32 = -1
  fileprivate init(_ raw: OpaquePointer) { self.raw = raw }

  /// The next column.
  mutating func integer() -> Int64 {
    column += 1
    return sqlite3_column_int64(raw, column)
  }

  /// The next column; numbers above 2^63 come back with their bits.
  mutating func bits() -> UInt64 { UInt64(bitPattern: integer()) }

  /// The next column; what is too large for it, in a file that somebody else wrote, is cut.
  mutating func number() -> UInt32 { UInt32(truncatingIfNeeded: integer()) }

  /// The next column.
  mutating func flag() -> Bool { integer() != 0 }

  /// The next column; nil for NULL.
  mutating func optionalBits() -> UInt64? {
    let value = bits()
    return isNull ? nil : value
  }

  /// The next column; nil for NULL.
  mutating func optionalDouble() -> Double? {
    column += 1
    return isNull ? nil : sqlite3_column_double(raw, column)
  }

  /// The next column.
  mutating func text() -> String {
    column += 1
    return sqlite3_column_text(raw, column).map { String(cString: $0) } ?? ""
  }

  private var isNull: Bool { sqlite3_column_type(raw, column) == SQLITE_NULL }
}
