// SPDX-License-Identifier: MIT

extension Interface {
  /// The `<interface>` element that describes this table.
  package var xml: String {
    var lines = ["  <interface name=\"\(name)\">"]
    for method in methods {
      let arguments =
        method.inputs.enumerated().map { index, argument in
          argument.xml(direction: "in", qtName: "In\(index)")
        }
        + method.outputs.enumerated().map { index, argument in
          argument.xml(direction: "out", qtName: "Out\(index)")
        }
      lines += element("method", name: method.name, content: arguments.flatMap { $0 })
    }
    for signal in signals {
      let arguments = signal.arguments.enumerated().flatMap { index, argument in
        argument.xml(direction: nil, qtName: "Out\(index)")
      }
      lines += element("signal", name: signal.name, content: arguments)
    }
    for property in properties { lines += xml(of: property) }
    lines.append("  </interface>")
    return lines.joined(separator: "\n")
  }

  private func xml(of property: Property<Object>) -> [String] {
    var content: [String] = []
    if property.change != .value {
      content.append(
        annotation(
          "org.freedesktop.DBus.Property.EmitsChangedSignal", property.change.rawValue))
    }
    if let type = qtTypeName(of: property.signature) {
      content.append(annotation("org.qtproject.QtDBus.QtTypeName", type))
    }
    let head =
      "    <property name=\"\(property.name)\" type=\"\(property.signature)\" access=\"read\""
    return content.isEmpty ? [head + "/>"] : [head + ">"] + content + ["    </property>"]
  }

  private func element(_ kind: String, name: MemberName, content: [String]) -> [String] {
    content.isEmpty
      ? ["    <\(kind) name=\"\(name)\"/>"]
      : ["    <\(kind) name=\"\(name)\">"] + content + ["    </\(kind)>"]
  }
}

extension Argument {
  fileprivate func xml(direction: String?, qtName: String) -> [String] {
    let direction = direction.map { " direction=\"\($0)\"" } ?? ""
    var lines = ["      <arg name=\"\(name)\" type=\"\(signature)\"\(direction)/>"]
    if let type = qtTypeName(of: signature) {
      lines.append(annotation("org.qtproject.QtDBus.QtTypeName.\(qtName)", type))
    }
    return lines
  }
}

private func annotation(_ name: String, _ value: String) -> String {
  "      <annotation name=\"\(name)\" value=\"\(value)\"/>"
}

/// What Qt's code generator wants to be told of a compound type; nil for those that it knows.
private func qtTypeName(of signature: String) -> String? {
  switch signature {
  case "a{sv}": "QVariantMap"
  case "aa{sv}": "QList&lt;QVariantMap&gt;"
  case "a(sss)": "QList&lt;BusyIndicatorPlugin&gt;"
  case "a{oa{sa{sv}}}": "QMap&lt;QDBusObjectPath,QMap&lt;QString,QVariantMap&gt; &gt;"
  case "a{sa{sv}}": "QMap&lt;QString,QVariantMap&gt;"
  default: nil
  }
}

/// The document that Introspect answers with, of `<interface>` elements and the names of children.
package func introspectionDocument(interfaces: [String], children: [String] = []) -> String {
  let head = """
    <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
    "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
    <node>
    """
  let nodes = children.map { "  <node name=\"\($0)\"/>" }
  return ([head] + interfaces + nodes + ["</node>"]).joined(separator: "\n") + "\n"
}
