// SPDX-License-Identifier: MIT

import Testing

@testable import DBus

@Suite struct ValuesTests {
  private func message<each Value: DBusEncodable>(_ values: repeat each Value) -> Message {
    Message(
      call: "Do", of: "org.example.Thing", at: "/", on: "org.example", repeat each values)
  }

  private func message(
    of signature: String, _ body: (inout MessageWriter) -> Void
  ) -> Message {
    Message(
      signal: "Did", of: "org.example.Thing", from: "/", signature: signature, body)
  }

  @Test func everyTypeComesBackAsItWasSent() throws {
    let sent = message(
      true, UInt8.max, Int32.min, UInt32.max, Int64.min, UInt64.max, -0.5, "zwölf",
      ObjectPath(validating: "/a/b")!)
    #expect(sent.signature == "byiuxtdso")
    let received = try sent.read(
      Bool.self, UInt8.self, Int32.self, UInt32.self, Int64.self, UInt64.self, Double.self,
      String.self, ObjectPath.self)
    #expect(received.0 && received.1 == .max && received.2 == .min && received.3 == .max)
    #expect(received.4 == .min && received.5 == .max && received.6 == -0.5)
    #expect(received.7 == "zwölf" && received.8.rawValue == "/a/b")
  }

  @Test func containersComeBackAsTheyWereSent() throws {
    let sent = message(["a", "b"], ["k": UInt32(7)], [Structure("x", UInt32(1))], [String]())
    #expect(sent.signature == "asa{su}a(su)as")
    let (strings, dictionary, structures, empty) = try sent.read(
      [String].self, [String: UInt32].self, [Structure<String, UInt32>].self, [String].self)
    #expect(strings == ["a", "b"] && dictionary == ["k": 7] && empty.isEmpty)
    #expect(structures.map(\.fields.0) == ["x"] && structures.map(\.fields.1) == [1])
  }

  @Test func aVariantIsReadWhateverItHolds() throws {
    let list: PropertyList = ["s": .string("x"), "t": .uint64(.max), "b": .boolean(true)]
    let sent = message(of: "aa{sv}vvv") { writer in
      [list].write(to: &writer)
      writer.variant([list])
      writer.variant([Structure("a", UInt32(2))])
      writer.variant(of: "v") { $0.variant(Int32(-1)) }
    }
    #expect(sent.signature == "aa{sv}vvv")
    let (direct, variant, structures, nested) = try sent.read(
      [[String: Variant]].self, Variant.self, Variant.self, Variant.self)
    #expect(direct[0] == ["s": .string("x"), "t": .uint64(.max), "b": .boolean(true)])
    #expect(variant.arrayValue?.first?.propertiesValue == direct[0])
    #expect(structures.arrayValue?.first?.structureValue == [.string("a"), .uint32(2)])
    #expect(nested == .variant(.int32(-1)))
  }

  @Test func readingOtherTypesThanWereSentIsRefused() {
    let sent = message("a", UInt32(1))
    #expect(throws: DBusError.self) { try sent.read(String.self) }
    #expect(throws: DBusError.self) { try sent.read(String.self, Int32.self) }
    #expect(throws: DBusError.self) { try sent.read(String.self, UInt32.self, Bool.self) }
  }

  @Test func optionsKeepOrderAndRepeatedKeysAndDoNotUnpackContainers() throws {
    let sent = message(of: "a{sv}") { writer in
      writer.array(of: "{sv}") { writer in
        for _ in 0..<2 {
          writer.entry {
            $0.append(string: "title")
            $0.variant("x")
          }
        }
        writer.entry {
          $0.append(string: "list")
          $0.variant(["a", "b"])
        }
        writer.entry {
          $0.append(string: "n")
          $0.variant(Int32(1))
        }
      }
    }
    let list = try sent.read(OptionList.self)
    #expect(list.entries.map(\.key) == ["title", "title", "list", "n"])
    #expect(
      list.entries.map(\.value) == [
        .string("x"), .string("x"), .other(signature: "as"), .other(signature: "i"),
      ])
    #expect(!list.isTruncated)
  }

  @Test func anEndlessListOfOptionsIsCutAndSaysSo() throws {
    let sent = message(of: "a{sv}") { writer in
      writer.array(of: "{sv}") { writer in
        for number in 0...OptionList.most {
          writer.entry {
            $0.append(string: "x-\(number)")
            $0.variant(true)
          }
        }
      }
    }
    let list = try sent.read(OptionList.self)
    #expect(list.isTruncated && list.entries.count == OptionList.most)
  }

  @Test func everyTypeBeginsAtAMultipleOfItsSize() throws {
    // A byte before each value throws it off its place.
    let sent = message(
      UInt8(1), true, UInt8(2), Int32(-2), UInt8(3), UInt64(3), UInt8(4), 4.5, UInt8(5), "fünf",
      UInt8(6), [UInt64](), UInt8(7), [Structure(UInt8(7), UInt64(7))], UInt8(8),
      ["k": Variant.uint64(8)])
    #expect(sent.signature == "ybyiytydysyatya(yt)ya{sv}")
    let read = try sent.read(
      UInt8.self, Bool.self, UInt8.self, Int32.self, UInt8.self, UInt64.self, UInt8.self,
      Double.self, UInt8.self, String.self, UInt8.self, [UInt64].self, UInt8.self,
      [Structure<UInt8, UInt64>].self, UInt8.self, [String: Variant].self)
    #expect(read.1 && read.3 == -2 && read.5 == 3 && read.7 == 4.5 && read.9 == "fünf")
    #expect(read.11.isEmpty && read.13.map(\.fields.1) == [7])
    #expect(read.15 == ["k": .uint64(8)] && read.14 == 8)
  }

  @Test func theHeaderSaysWhatWasAskedFor() {
    let call = message("x")
    #expect(call.kind == .methodCall && call.path == "/" && call.interface == "org.example.Thing")
    #expect(call.member == "Do" && call.destination == "org.example" && call.signature == "s")
    #expect(call.expectsReply && call.autoStarts && call.serial == 0)
    let signal = Message(signal: "Did", of: "a.b", from: "/x", to: "a.c", UInt32(1))
    #expect(signal.isSignal("Did", of: "a.b") && signal.path == "/x" && !signal.expectsReply)
    #expect(signal.destination == "a.c" && signal.signature == "u" && signal.serial == 0)
    call.autoStarts = false
    #expect(!call.autoStarts && call.expectsReply)
  }

  @Test func aTextEndsAtItsFirstNUL() throws {
    #expect(try message("a\0b", "c").read(String.self, String.self) == ("a", "c"))
  }

  @Test func theSizeOfAMessageIsKnown() {
    let text = String(repeating: "x", count: 100_000)
    #expect(message(text).size - message("").size == 100_000)
  }
}
