// SPDX-License-Identifier: MIT

import Testing

@testable import DBus

@Suite struct NamesTests {
  static let prefix: ObjectPath = "/a/b"

  @Test(arguments: [
    ("submit", "/a/b/submit"), ("", "/a/b/_"), ("1a", "/a/b/_31a"), ("a1", "/a/b/a1"),
    ("a.b/c", "/a/b/a_2eb_2fc"), ("_", "/a/b/_5f"), ("a-B_z Z9", "/a/b/a_2dB_5fz_20Z9"),
    ("é", "/a/b/_c3_a9"), ("\u{1f600}", "/a/b/_f0_9f_98_80"),
  ])
  func aLabelIsEscapedAsSystemdDoesIt(label: String, path: String) {
    #expect(ObjectPath(encoding: label, below: Self.prefix).rawValue == path)
    #expect(ObjectPath(unchecked: path).decodedLabel(below: Self.prefix) == label)
  }

  @Test func everyByteIsEscapedReversiblyToAValidPath() {
    for first in UInt8(1)...127 {
      for rest in ["", "x", "7", "_41"] {
        let label = String(UnicodeScalar(first)) + rest
        let path = ObjectPath(encoding: label, below: Self.prefix)
        #expect(ObjectPath(validating: path.rawValue) != nil, "\(path)")
        #expect(path.decodedLabel(below: Self.prefix) == label)
      }
    }
  }

  @Test(arguments: [
    "/a/b", "/a/b/", "/a/bc", "/a/b/_", "/x/y/z", "/a/b/_4", "/a/b/_4G", "/a/b/_41", "/a/b/_2E",
    "/a/b/1a", "/a/b/c/d", "/a/b/_ff", "/a/b/a_31", "/a/b/_c3",
  ])
  func whatNoLabelMakesIsNoLabel(path: String) {
    let label = ObjectPath(unchecked: path).decodedLabel(below: Self.prefix)
    #expect(label == (path == "/a/b/_" ? "" : nil))
  }

  @Test func namesAreChecked() {
    #expect(BusName(validating: "org.example") != nil)
    #expect(BusName(validating: ":1.5")?.isUnique == true)
    #expect(BusName(validating: "org") == nil)
    #expect(BusName(validating: "org.ex\0ample") == nil)
    #expect(ObjectPath(validating: "/") != nil)
    #expect(ObjectPath(validating: "/a//b") == nil)
    #expect(ObjectPath(validating: "a") == nil)
    #expect(InterfaceName(validating: "a.b") != nil)
    #expect(InterfaceName(validating: "a.1") == nil)
    #expect(MemberName(validating: "Show") != nil)
    #expect(MemberName(validating: "Show.It") == nil)
    #expect(MemberName(validating: "") == nil)
  }

  @Test func aMatchRuleQuotesItsValues() {
    let rule = MatchRule(
      sender: "org.example", path: "/a", interface: "a.b", member: "C", argument0: "it's, \\ok")
    #expect(
      rule.text == "type='signal',sender='org.example',path='/a',interface='a.b',member='C',"
        + "arg0='it'\\''s, \\ok'")
  }
}
