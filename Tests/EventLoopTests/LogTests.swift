// SPDX-License-Identifier: MIT

import Glibc
import Testing

@testable import EventLoop

@Suite struct LogTests {
  @Test func quotesWhatAPeerSaid() {
    #expect(Log.quoted("") == #""""#)
    #expect(Log.quoted("Größe 進捗 🙂") == #""Größe 進捗 🙂""#)
    #expect(Log.quoted(#"a "b" \n"#) == #""a \"b\" \\n""#)
    #expect(Log.quoted("a\r\n\tb\0") == #""a\r\n\tb\u{0}""#)
    #expect(Log.quoted("\u{1B}[2J\u{7F}\u{9B}") == #""\u{1B}[2J\u{7F}\u{9B}""#)
    #expect(Log.quoted("\u{202E}x\u{2028}\u{2029}") == #""\u{202E}x\u{2028}\u{2029}""#)
  }

  @Test func cutsLongQuotations() {
    let most = String(repeating: "é", count: Log.longestQuotation)
    #expect(Log.quoted(most) == "\"\(most)\"")
    #expect(Log.quoted(most + "é") == "\"\(most)\"…")
  }

  @Test func writesOneLine() {
    #expect(Log.line(.error, "a\nb", forJournal: true) == "<3>a\\nb\n")
    #expect(Log.line(.warning, "a", forJournal: true) == "<4>a\n")
    #expect(Log.line(.notice, "a", forJournal: true) == "<5>a\n")
    #expect(Log.line(.info, "a", forJournal: true) == "<6>a\n")
    #expect(Log.line(.debug, "a", forJournal: true) == "<7>a\n")
    #expect(Log.line(.error, "a", forJournal: false).hasSuffix(": error: a\n"))
    #expect(Log.line(.info, "a\u{1B}", forJournal: false).hasSuffix(": a\\u{1B}\n"))
  }

  @Test func knowsTheJournal() async {
    await #expect(processExitsWith: .success) {
      let written = writtenToAJournal {
        Log.debug("not shown")
        Log.showsDebug = true
        Log.debug("detail")
        Log.warning("of \(Log.quoted("a\nb"))")
      }
      #expect(written == ["<7>detail", #"<4>of "a\nb""#])
    }
  }

  @Test func mistakesNothingElseForTheJournal() async {
    await #expect(processExitsWith: .success) {
      var status = stat()
      fstat(STDERR_FILENO, &status)
      unsetenv("JOURNAL_STREAM")
      #expect(!JournalStream.isJournal(STDERR_FILENO))
      for value in ["", "1", "\(status.st_dev):", "\(status.st_dev):\(status.st_ino)0"] {
        setenv("JOURNAL_STREAM", value, 1)
        #expect(!JournalStream.isJournal(STDERR_FILENO))
      }
      setenv("JOURNAL_STREAM", "\(status.st_dev):\(status.st_ino)", 1)
      #expect(!JournalStream.isJournal(-1))
    }
  }
}

/// The lines that come while the standard error leads to what `JOURNAL_STREAM` names.
private func writtenToAJournal(_ work: () -> Void) -> [String] {
  let journal = SocketPair()
  let standardError = dup(STDERR_FILENO)
  dup2(journal.far, STDERR_FILENO)
  var status = stat()
  fstat(STDERR_FILENO, &status)
  setenv("JOURNAL_STREAM", "\(status.st_dev):\(status.st_ino)", 1)
  work()
  dup2(standardError, STDERR_FILENO)
  var buffer = [UInt8](repeating: 0, count: 512)
  let count = read(journal.near, &buffer, buffer.count)
  return buffer[..<count].split(separator: UInt8(ascii: "\n")).map {
    String(decoding: $0, as: UTF8.self)
  }
}
