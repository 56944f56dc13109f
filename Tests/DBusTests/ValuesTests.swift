// SPDX-License-Identifier: MIT

import Testing

@testable import DBus

@Suite struct ValuesTests {
  private func message() -> Message {
    Message(call: "Do", of: "org.example.Thing", at: "/", on: "org.example")
  }

  @Test func everyTypeComesBackAsItWasSent() throws {
    let sent = message()
    sent.append(
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
    let sent = message()
    sent.append(["a", "b"], ["k": UInt32(7)], [Structure("x", UInt32(1))], [String]())
    #expect(sent.signature == "asa{su}a(su)as")
    let (strings, dictionary, structures, empty) = try sent.read(
      [String].self, [String: UInt32].self, [Structure<String, UInt32>].self, [String].self)
    #expect(strings == ["a", "b"] && dictionary == ["k": 7] && empty.isEmpty)
    #expect(structures.map(\.fields.0) == ["x"] && structures.map(\.fields.1) == [1])
  }

  @Test func aVariantIsReadWhateverItHolds() throws {
    let sent = message()
    let list: PropertyList = ["s": .string("x"), "t": .uint64(.max), "b": .boolean(true)]
    sent.append([list])
    sent.write { writer in
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
    let sent = message()
    sent.append("a", UInt32(1))
    #expect(throws: DBusError.self) { try sent.read(String.self) }
    #expect(throws: DBusError.self) { try sent.read(String.self, Int32.self) }
    #expect(throws: DBusError.self) { try sent.read(String.self, UInt32.self, Bool.self) }
  }

  @Test func optionsKeepOrderAndRepeatedKeysAndDoNotUnpackContainers() throws {
    let sent = message()
    sent.write { writer in
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
    let sent = message()
    sent.write { writer in
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

  @Test func theSizeOfWhatWasWrittenIsKnownRoughly() {
    let sent = message()
    let empty = sent.approximateSize
    sent.append(
      String(repeating: "x", count: 100_000), [String](repeating: "abcdefgh", count: 1000))
    #expect(sent.approximateSize - empty >= 100_000 + 8000)
    #expect(sent.approximateSize - empty < 100_000 + 40_000)
  }
}
