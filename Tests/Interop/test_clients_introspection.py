# SPDX-License-Identifier: MIT
"""Introspection: of every node from / down, valid, and what the daemon does is what it says."""

import pathlib
import xml.etree.ElementTree as ElementTree

import pytest
from gi.repository import Gio, GLib

from support import contract
from support.harness import DAEMON
from support.introspection import described, validate
from support.processes import run

EMITS = "org.freedesktop.DBus.Property.EmitsChangedSignal"

STANDARD = {contract.INTROSPECTABLE, contract.PEER}
OF_OBJECTS = STANDARD | {contract.PROPERTIES}
NODES = {
    "/": STANDARD, "/org": STANDARD, "/org/busyindicator": STANDARD,
    contract.MANAGER: OF_OBJECTS | {contract.NAME, contract.OBJECT_MANAGER},
    contract.CONTROLS: STANDARD,
    contract.path_of("a"): OF_OBJECTS | {contract.CONTROL},
    contract.path_of("ä/b"): OF_OBJECTS | {contract.CONTROL}}


def introspect(peer, path, **options):
    """The XML of a node."""
    options.setdefault("interface", contract.INTROSPECTABLE)
    return peer.call("Introspect", signature="", path=path, **options)


def interfaces(text):
    """The interfaces of a document, by name."""
    return {found.get("name"): found for found in ElementTree.fromstring(text).iter("interface")}


def arguments(member, direction=None):
    """The signature of a member's arguments."""
    return "".join(
        found.get("type") for found in member.findall("arg")
        if direction is None or found.get("direction") == direction)


def check_document(text):
    """A document as the format wants it, down to each signature."""
    validate(text)
    root = ElementTree.fromstring(text)
    for element in root.iter():
        if (signature := element.get("type")) is not None:
            assert GLib.VariantType.string_is_valid(signature), signature
    for name in ("arg", "method", "signal", "property", "interface"):
        for element in root.iter(name):
            assert element.get("name"), f"a {name} without a name"
    # Each once.
    for interface in root.iter("interface"):
        names = [(member.tag, member.get("name")) for member in interface]
        assert len(names) == len(set(names))


@pytest.fixture
def scene(listener):
    for control in ("a", "ä/b"):
        listener.call("ShowIndicator", control)
    return listener


def test_every_node_from_the_root_down(scene):
    found, left = {}, ["/"]
    while left:
        path = left.pop()
        text = introspect(scene, path)
        check_document(text)
        # A parser that takes less than the other.
        assert Gio.DBusNodeInfo.new_for_xml(text) is not None
        found[path] = set(interfaces(text))
        left += [
            f"{path.rstrip('/')}/{child.get('name')}"
            for child in ElementTree.fromstring(text).findall("node")]
    assert found == NODES


def test_the_managers_interface(scene):
    manager = interfaces(introspect(scene, contract.MANAGER))[contract.NAME]
    assert {
        method.get("name"): (arguments(method, "in"), arguments(method, "out"))
        for method in manager.findall("method")} == contract.METHODS
    assert {
        signal.get("name"): arguments(signal) for signal in manager.findall("signal")
    } == contract.SIGNALS


@pytest.mark.parametrize(
    "path, interface, table",
    [
        (contract.MANAGER, contract.NAME, contract.MANAGER_PROPERTIES),
        (contract.path_of("a"), contract.CONTROL, contract.CONTROL_PROPERTIES),
    ],
    ids=["manager", "control"],
)
def test_properties(scene, path, interface, table):
    element = interfaces(introspect(scene, path))[interface]

    def emits(property_):
        marks = [
            mark.get("value")
            for mark in property_.findall("annotation")
            if mark.get("name") == EMITS
        ]
        # Without one it is the interface's, and that has none: the specification's default.
        return marks[0] if marks else "true"

    assert not [mark for mark in element.findall("annotation") if mark.get("name") == EMITS]
    assert {
        found.get("name"): (found.get("type"), emits(found))
        for found in element.findall("property")
    } == table
    assert {found.get("access") for found in element.findall("property")} == {"read"}
    if interface == contract.CONTROL:
        assert not element.findall("method") and not element.findall("signal")


def test_the_standard_interfaces(scene):
    found = interfaces(introspect(scene, contract.MANAGER))
    expected = {
        contract.PROPERTIES: {
            ("method", "Get"): ("ss", "v"), ("method", "GetAll"): ("s", "a{sv}"),
            ("method", "Set"): ("ssv", ""), ("signal", "PropertiesChanged"): "sa{sv}as"},
        contract.OBJECT_MANAGER: {
            ("method", "GetManagedObjects"): ("", "a{oa{sa{sv}}}"),
            ("signal", "InterfacesAdded"): "oa{sa{sv}}", ("signal", "InterfacesRemoved"): "oas"},
        contract.INTROSPECTABLE: {("method", "Introspect"): ("", "s")},
        contract.PEER: {("method", "Ping"): ("", ""), ("method", "GetMachineId"): ("", "s")}}
    for name, members in expected.items():
        assert {
            (member.tag, member.get("name")): arguments(member) if member.tag == "signal" else (
                arguments(member, "in"), arguments(member, "out"))
            for member in found[name]} == members


def test_the_command_line_prints_the_same(scene):
    # It needs no bus for that.
    done = run(DAEMON, "--introspect", env={"PATH": "/usr/bin:/bin"}, status=0)
    assert done.stderr == ""
    check_document(done.stdout)
    printed = interfaces(done.stdout)
    served = {}
    for path in NODES:
        for name, element in interfaces(introspect(scene, path)).items():
            # The same wherever it is.
            assert described(served.setdefault(name, element)) == described(element)
    ours = {contract.NAME, contract.CONTROL}
    assert ours <= set(printed) <= set(served)
    for name, element in printed.items():
        assert described(element) == described(served[name])


def test_names_of_arguments_are_those_of_the_contract(scene):
    manager = interfaces(introspect(scene, contract.MANAGER))[contract.NAME]
    for member in manager:
        for argument in member.findall("arg"):
            assert argument.get("name").replace("_", "").isalnum()
        if member.tag == "method" and member.get("name") not in ("Renew", "Release"):
            assert member.find("arg").get("name") == "control"


def test_a_node_that_is_gone(scene):
    scene.call("Forget", "a")
    refusal = scene.refusal(
        "Introspect", signature="", path=contract.path_of("a"), interface=contract.INTROSPECTABLE)
    assert refusal.name == contract.UNKNOWN_OBJECT


def test_calls_without_an_interface(scene):
    """Such a call is resolved by its member."""
    options = {"interface": None}
    scene.call("SetTitle", "a", "A", **options)
    assert scene.get("a", "Title") == "A"
    assert introspect(scene, "/", **options) == introspect(scene, "/")
    assert scene.call("Ping", signature="", **options) is None
    assert set(scene.call("GetManagedObjects", signature="", **options)) == {
        contract.path_of("a"), contract.path_of("ä/b")}
    for path, interface, name in [
        (contract.MANAGER, contract.NAME, "Busy"),
        (contract.path_of("a"), contract.CONTROL, "Busy"),
    ]:
        assert scene.call("Get", interface, name, signature="ss", path=path, **options) is True
        assert scene.call("GetAll", interface, signature="s", path=path, **options)["Busy"] is True
    refusal = scene.refusal("SetTitle", "a", signature="s", **options)
    assert refusal.name == contract.INVALID_ARGS


def test_peer(scene):
    # The specification's place, and the one that most machines have.
    places = [pathlib.Path(name) for name in ("/var/lib/dbus/machine-id", "/etc/machine-id")]
    machine = next(place for place in places if place.exists()).read_text().strip()
    # At any path: a machine answers for itself.
    for path in ("/", contract.MANAGER, contract.path_of("a"), "/no/such/object"):
        options = {"signature": "", "path": path, "interface": contract.PEER}
        assert scene.call("Ping", **options) is None
        assert scene.call("GetMachineId", **options) == machine


def test_peer_is_answered_in_order(scene):
    peer = {"signature": "", "interface": contract.PEER}
    requests = []
    for index in range(50):
        requests += [
            scene.request("SetTitle", "a", str(index)), scene.request("Ping", **peer),
            scene.request("GetMachineId", **peer), scene.request("GetControl", "a")]
    scene.heard(answers=True)
    serials = scene.send(*requests)
    scene.answer(serials[-1])
    replies = [m.reply_to for m in scene.messages if m.reply_to in set(serials)]
    assert replies == serials


def test_get_all_of_no_interface_is_all(scene):
    """An empty name of an interface means any."""
    options = {"interface": contract.PROPERTIES, "path": contract.path_of("a")}
    assert scene.call("GetAll", "", signature="s", **options) == scene.state("a")
    assert scene.call("Get", "", "Busy", signature="ss", **options) is True
