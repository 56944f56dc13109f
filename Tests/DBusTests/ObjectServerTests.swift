// SPDX-License-Identifier: MIT

import CDBus
import Testing

@testable import DBus

/// An object to serve.
private final class Counter {
  var count: UInt32 = 0
}

private func makeTable() -> Interface<Counter> {
  Interface(
    "org.example.Counter",
    methods: [
      Method("Add", in: ["amount"], out: ["total"]) {
        (counter: Counter, _: Message, amount: UInt32) throws(DBus.DBusError) -> UInt32 in
        guard amount != 13 else {
          throw DBus.DBusError(name: "org.example.Unlucky", message: "Not 13.")
        }
        counter.count += amount
        return counter.count
      },
      Method("Both", out: ["a", "b"], isReading: true) {
        (counter: Counter, _: Message) throws(DBus.DBusError) -> (UInt32, String) in
        (counter.count, "\(counter.count)")
      },
    ],
    signals: [SignalDescription("Changed", [("options", "a{sv}")])],
    properties: [
      Property("Count", bit: 1) { $0.count },
      Property("Text", .invalidated, bit: 2) { "\($0.count)" },
      Property("Kind", .constant) { _ in "counter" },
      Property("Now", .never) { _ in UInt64(7) },
    ])
}

@Suite struct ObjectServerTests {
  private let server = ObjectServer()
  private let counter = Counter()
  private var children: [String: Counter] = [:]

  init() {
    let left = Counter()
    server.export(counter, at: "/org/example", interfaces: [makeTable()])
    server.exportChildren(
      of: "/org/example/child", interfaces: [makeTable()],
      find: { $0.rawValue == "/org/example/child/left" ? left : nil },
      children: { ["/org/example/child/left"] })
    server.serveObjectManager(at: "/org/example")
  }

  private func call<each Value: DBusEncodable>(
    _ member: MemberName, _ interface: InterfaceName?, at path: ObjectPath = "/org/example",
    _ values: repeat each Value
  ) -> Message {
    let call = Message(
      call: member, of: interface ?? "org.example.None", at: path, on: "org.example",
      repeat each values)
    if interface == nil { dbus_message_set_interface(call.raw, nil) }
    dbus_message_set_serial(call.raw, 1)
    return call
  }

  private func errorName(of call: Message) -> String? { server.answer(to: call)?.errorName }

  @Test func aCallIsAnsweredWithTypedValues() throws {
    let answer = try #require(
      server.answer(to: call("Add", "org.example.Counter", UInt32(5))))
    #expect(try answer.read(UInt32.self) == 5)
    let both = try #require(server.answer(to: call("Both", "org.example.Counter")))
    let (count, text) = try both.read(UInt32.self, String.self)
    #expect(count == 5 && text == "5")
  }

  @Test func aCallWithoutAnInterfaceIsFoundByItsMember() throws {
    let answer = try #require(server.answer(to: call("Add", nil, UInt32(2))))
    #expect(try answer.read(UInt32.self) == 2)
    #expect(server.answer(to: call("Ping", nil))?.kind == .methodReturn)
    #expect(errorName(of: call("Nothing", nil)) == "org.freedesktop.DBus.Error.UnknownMethod")
  }

  @Test func aCallThatWantsNoAnswerGetsNoneAndIsDone() {
    let quiet = call("Add", "org.example.Counter", UInt32(3))
    quiet.expectsReply = false
    #expect(server.answer(to: quiet) == nil)
    #expect(counter.count == 3)
    let wrong = call("Missing", "org.example.Counter")
    wrong.expectsReply = false
    #expect(server.answer(to: wrong) == nil)
  }

  @Test func eachWrongCallHasItsError() {
    let prefix = "org.freedesktop.DBus.Error."
    #expect(errorName(of: call("Add", "org.example.Counter")) == prefix + "InvalidArgs")
    #expect(
      errorName(of: call("Add", "org.example.Counter", "5")) == prefix
        + "InvalidArgs")
    #expect(errorName(of: call("Sub", "org.example.Counter")) == prefix + "UnknownMethod")
    #expect(errorName(of: call("Add", "org.example.Other")) == prefix + "UnknownInterface")
    #expect(
      errorName(of: call("Add", "org.example.Counter", at: "/org/nobody")) == prefix
        + "UnknownObject")
    #expect(
      errorName(of: call("Add", "org.example.Counter", at: "/org/example/child/right")) == prefix
        + "UnknownObject")
    #expect(
      errorName(of: call("Add", "org.example.Counter", at: "/org")) == prefix + "UnknownInterface")
    #expect(
      errorName(of: call("Add", "org.example.Counter", UInt32(13)))
        == "org.example.Unlucky")
    #expect(counter.count == 0)
  }

  @Test func propertiesAreReadAndNotWritten() throws {
    let properties: InterfaceName = .properties
    let get = call("Get", properties, "org.example.Counter", "Kind")
    let kind = try #require(server.answer(to: get)).read(Variant.self)
    #expect(kind == .string("counter"))
    let all = call("GetAll", properties, "org.example.Counter")
    let values = try #require(try server.answer(to: all)?.read([String: Variant].self))
    #expect(
      values == [
        "Count": .uint32(0), "Text": .string("0"), "Kind": .string("counter"), "Now": .uint64(7),
      ])
    let none = call("GetAll", properties, "org.freedesktop.DBus.Properties")
    #expect(try server.answer(to: none)?.read([String: Variant].self).isEmpty == true)
    let prefix = "org.freedesktop.DBus.Error."
    func name(_ member: MemberName, _ interface: String, _ property: String) -> String? {
      errorName(
        of: member == "Set"
          ? call(member, properties, interface, property, Variant.uint32(1))
          : call(member, properties, interface, property))
    }
    #expect(name("Set", "org.example.Counter", "Count") == prefix + "PropertyReadOnly")
    #expect(name("Set", "org.example.Counter", "Color") == prefix + "UnknownProperty")
    #expect(name("Get", "org.example.Counter", "Color") == prefix + "UnknownProperty")
    #expect(name("Get", "org.example.Other", "Count") == prefix + "UnknownInterface")
  }

  @Test func whatOnlyReadsAsksFirst() {
    var asked = 0
    server.willRead = { asked += 1 }
    _ = server.answer(to: call("Add", "org.example.Counter", UInt32(1)))
    _ = server.answer(to: call("Ping", .peer))
    #expect(asked == 0)
    _ = server.answer(to: call("Both", "org.example.Counter"))
    _ = server.answer(to: call("GetManagedObjects", .objectManager))
    _ = server.answer(to: call("Introspect", .introspectable, at: "/"))
    _ = server.answer(to: call("GetAll", .properties, "org.example.Counter"))
    #expect(asked == 4)
  }

  @Test func theTreeIsIntrospectedFromTheRootDown() throws {
    func xml(_ path: ObjectPath) throws -> String {
      try #require(server.answer(to: call("Introspect", .introspectable, at: path))).read(
        String.self)
    }
    #expect(try xml("/").contains("<node name=\"org\"/>"))
    #expect(try xml("/org").contains("<node name=\"example\"/>"))
    #expect(try xml("/org/example").contains("<node name=\"child\"/>"))
    #expect(try xml("/org/example/child").contains("<node name=\"left\"/>"))
    let leaf = try xml("/org/example/child/left")
    #expect(leaf.contains("<method name=\"Add\">"))
    #expect(leaf.contains("<arg name=\"amount\" type=\"u\" direction=\"in\"/>"))
    #expect(leaf.contains("\"org.qtproject.QtDBus.QtTypeName.Out0\" value=\"QVariantMap\""))
    #expect(leaf.contains("value=\"invalidates\"") && leaf.contains("value=\"const\""))
    #expect(!leaf.contains("<interface name=\"org.freedesktop.DBus.ObjectManager\">"))
    #expect(try xml("/org/example").contains("\"org.freedesktop.DBus.ObjectManager\""))
  }

  @Test func managedObjectsAreThoseBelowTheManager() throws {
    let answer = try #require(server.answer(to: call("GetManagedObjects", .objectManager)))
    let objects = try answer.read([ObjectPath: [String: [String: Variant]]].self)
    #expect(objects.keys.map(\.rawValue) == ["/org/example/child/left"])
    #expect(objects["/org/example/child/left"]?.keys.sorted() == ["org.example.Counter"])
  }

  @Test func aChangeNamesWhatChangedAndNothingElse() throws {
    let signal = makeTable().propertiesChanged(of: counter, at: "/org/example", changes: 3)
    let (interface, changed, invalidated) = try signal.read(
      String.self, [String: Variant].self, [String].self)
    #expect(interface == "org.example.Counter")
    #expect(changed == ["Count": .uint32(0)] && invalidated == ["Text"])
  }

  @Test func whatAnErrorQuotesIsCut() throws {
    let long = String(repeating: "ä", count: 100_000)
    for wrong in [
      call("GetAll", .properties, long), call("Get", .properties, "org.example.Counter", long),
    ] {
      let answer = try #require(server.answer(to: wrong))
      #expect(answer.kind == .error && (answer.error?.message.count ?? 0) < 400)
    }
  }

  @Test func anAnswerThatIsTooLongIsAnError() {
    let answer = Message(
      replyTo: call("Ping", .peer), ByteBlock([UInt8](repeating: 0, count: 64 << 20)))
    #expect(answer.errorName == "org.freedesktop.DBus.Error.LimitsExceeded")
  }
}
