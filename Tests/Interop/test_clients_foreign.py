# SPDX-License-Identifier: MIT
"""Clients that other people have written: each finds its way with what it takes for granted."""

import json

import dbus
import dbus.bus
import dbus.mainloop.glib
import pytest
from gi.repository import Gio, GLib

from support import contract, glib
from support.glib import turn_until
from support.harness import owner
from support.processes import running
from support.waiting import DEADLINE, wait_until


# dbus-send

def dbus_send(bus, *arguments, status=0):
    done = bus.run("dbus-send", "--session", f"--dest={contract.NAME}", *arguments, status=status)
    return done.stdout if status == 0 else done.stderr


def test_dbus_send(bus, listener):
    manager = (contract.MANAGER,)
    # Without this type it would send a signal, without --print-reply it wants no answer.
    assert dbus_send(
        bus, "--type=method_call", *manager, f"{contract.NAME}.ShowIndicatorFor", "string:a",
        "uint32:60") == ""
    wait_until(lambda: "a" in listener.objects(), "the call without an answer has come")
    # All that is common needs neither an empty container nor a variant.
    for method, words in [
        ("SetTitle", ["string:a", "string:T"]),
        ("SetDetail", ["string:a", "string:D"]),
        ("SetEnabled", ["string:a", "boolean:false"]),
        ("SetProgress", ["string:a", "double:0.5"]),
        ("StartCountdown", ["string:a", "uint32:60"]),
        ("PauseCountdown", ["string:a"]),
        ("ResumeCountdown", ["string:a"]),
        ("ExtendCountdown", ["string:a", "int32:-10"]),
        ("CancelCountdown", ["string:a"]),
        ("ReleaseAll", ["string:a"]),
        ("ShowIndicator", ["string:a"]),
        ("HideIndicator", ["string:a"]),
    ]:
        dbus_send(bus, "--print-reply", *manager, f"{contract.NAME}.{method}", *words)
    text = dbus_send(
        bus, "--print-reply", contract.path_of("a"), f"{contract.PROPERTIES}.GetAll",
        f"string:{contract.CONTROL}")
    for expected in ('string "Title"', 'string "T"', 'string "cancelled"'):
        assert expected in text
    assert "object path" in dbus_send(
        bus, "--print-reply", *manager, f"{contract.OBJECT_MANAGER}.GetManagedObjects")
    complaint = dbus_send(
        bus, "--print-reply", *manager, f"{contract.NAME}.GetControl", "string:b", status=1)
    assert complaint == f"Error {contract.NO_SUCH_CONTROL}: There is no control “b”.\n"


# busctl

def busctl(bus, *arguments, status=0):
    done = bus.run("busctl", "--user", *arguments, status=status)
    return done.stdout if status == 0 else done.stderr


def test_busctl_call(bus, listener):
    call = ("call", contract.NAME, contract.MANAGER, contract.NAME)
    assert busctl(bus, *call, "SetTitle", "ss", "a", "Grüße") == ""
    assert busctl(bus, *call, "Hold", "ssa{sv}", "a", "work", "1", "lease", "s", "none") == "u 1\n"
    assert busctl(bus, *call, "GetControl", "s", "a") == f'o "{contract.path_of("a")}"\n'
    assert busctl(bus, *call, "Release", "us", "1", "done") == ""
    # A one-shot holder is gone before it could be watched.
    busctl(bus, *call, "Hold", "ssa{sv}", "a", "work", "0")
    wait_until(lambda: listener.get("a", "LastResult") == "owner-lost", "its hold has ended")
    assert not listener.get("a", "Busy")
    assert "has no countdown" in busctl(bus, *call, "CancelCountdown", "s", "a", status=1)


def test_busctl_reads(bus, listener):
    listener.call("SetTitle", "a", "T")
    listener.call("ShowIndicator", "a")
    control = (contract.NAME, contract.path_of("a"), contract.CONTROL)
    assert (
        busctl(bus, "get-property", *control, "Title", "Busy", "Progress") == 's "T"\nb true\nd 0\n'
    )
    assert (
        busctl(bus, "get-property", contract.NAME, contract.MANAGER, contract.NAME, "Busy")
        == "b true\n"
    )
    assert "can only be read" in busctl(
        bus, "set-property", *control, "Title", "s", "new", status=1
    )
    assert contract.path_of("a") in busctl(bus, "tree", "--list", contract.NAME)
    read = json.loads(busctl(bus, "--json=short", "get-property", *control, "Holders"))
    assert read["type"] == "aa{sv}" and read["data"][0]["kind"]["data"] == "switch"
    told = json.loads(busctl(
        bus, "--json=short", "call", contract.NAME, contract.MANAGER, contract.OBJECT_MANAGER,
        "GetManagedObjects"))
    assert told["data"][0][contract.path_of("a")][contract.CONTROL]["Title"]["data"] == "T"
    line = next(
        line for line in busctl(bus, "list").splitlines() if line.startswith(contract.NAME))
    assert "busyindicatord" in line


@pytest.mark.parametrize(
    "path, table",
    [
        (contract.MANAGER, contract.MANAGER_PROPERTIES),
        (contract.path_of("a"), contract.CONTROL_PROPERTIES),
    ],
    ids=["manager", "control"],
)
def test_busctl_introspect(bus, listener, path, table):
    listener.call("SetTitle", "a", "T")
    rows = [
        line.split() for line in busctl(bus, "introspect", contract.NAME, path).splitlines()[1:]
    ]
    methods = {row[0].lstrip("."): row[2] for row in rows if row[1] == "method"}
    signals = {row[0].lstrip("."): row[2] for row in rows if row[1] == "signal"}
    assert methods["GetAll"] == "s" and signals["PropertiesChanged"] == "sa{sv}as"
    if path == contract.MANAGER:
        assert contract.METHODS.items() >= {
            name: (signature, contract.METHODS[name][1]) for name, signature in methods.items()
            if name in contract.METHODS and signature != "-"}.items()
        assert set(contract.METHODS) <= set(methods) and set(contract.SIGNALS) <= set(signals)
    flags = {
        "true": "emits-change",
        "const": "const",
        "invalidates": "emits-invalidation",
        "false": "-",
    }
    properties = {row[0].lstrip("."): (row[2], row[-1]) for row in rows if row[1] == "property"}
    assert properties == {name: (kind, flags[emits]) for name, (kind, emits) in table.items()}


def test_busctl_monitor(bus, listener):
    """Who looks on sees valid messages, and does not disturb."""
    seen, errors = bus.directory / "monitor", bus.directory / "monitor.err"
    with seen.open("wb") as stdout, errors.open("wb") as stderr, running(
            "busctl", "--user", "--json=short", "monitor", contract.NAME, env=bus.environment,
            stdout=stdout, stderr=stderr):
        wait_until(lambda: "Monitoring bus" in errors.read_text(), "it looks on")
        listener.call("ShowIndicator", "a")
        number = listener.countdown("a", 0)
        wait_until(lambda: "Finished" in seen.read_text(), "it has seen the end")
    messages = [json.loads(line) for line in seen.read_text().splitlines()]
    told = next(m for m in messages if m.get("member") == "Finished")
    assert told["payload"] == {"type": "su", "data": ["a", number]}


# GLib

def gdbus(bus, verb, *arguments, status=0):
    done = bus.run("gdbus", verb, "--session", "--dest", contract.NAME, *arguments, status=status)
    return done.stdout if status == 0 else done.stderr


def test_gdbus(bus, listener):
    listener.call("SetTitle", "a", "T")
    text = gdbus(bus, "introspect", "--object-path", "/", "--recurse")
    for path in (contract.MANAGER, contract.path_of("a")):
        assert f"node {path} {{" in text
    assert "readonly aa{sv} Holders = [];" in text
    text = gdbus(bus, "introspect", "--object-path", contract.MANAGER, "--xml")
    assert contract.NAME in text
    call = ("call", "--object-path", contract.MANAGER, "--method")
    assert (
        gdbus(bus, *call, f"{contract.NAME}.Hold", "a", "work", "{'lease': <'none'>}")
        == "(uint32 1,)\n"
    )
    # Found by introspection, the types of the arguments are right by themselves.
    assert gdbus(bus, *call, f"{contract.NAME}.SetProgress", "a", "1") == "()\n"
    assert contract.NO_COUNTDOWN in gdbus(
        bus, *call, f"{contract.NAME}.PauseCountdown", "a", status=1)


def test_object_manager_client(bus, listener):
    """GDBusObjectManagerClient follows the state without asking a second time."""
    listener.call("SetTitle", "there", "T")
    connection = glib.connect(bus)
    seen = []
    try:
        client = Gio.DBusObjectManagerClient.new_sync(
            connection, Gio.DBusObjectManagerClientFlags.DO_NOT_AUTO_START, contract.NAME,
            contract.MANAGER, None, None, None)
        client.connect("object-added", lambda _, found: seen.append(
            ("added", contract.name_of(found.get_object_path()))))
        client.connect("object-removed", lambda _, found: seen.append(
            ("removed", contract.name_of(found.get_object_path()))))
        client.connect(
            "interface-proxy-properties-changed",
            lambda _, found, proxy, changed, gone: seen.append(
                ("changed", contract.name_of(found.get_object_path()), changed.unpack(), gone)))
        assert client.get_name_owner() == listener.bus("GetNameOwner", "s", contract.NAME)

        def cached(control, name):
            found = client.get_interface(contract.path_of(control), contract.CONTROL)
            value = found.get_cached_property(name)
            return None if value is None else value.unpack()

        assert cached("there", "Title") == "T"
        listener.call("ShowIndicator", "new")
        turn_until(lambda: ("added", "new") in seen, "it is added")
        assert cached("new", "Busy") is True and cached("new", "Holders")[0]["kind"] == "switch"
        listener.call("ShowIndicator", "there")
        turn_until(lambda: [event for event in seen if event[0] == "changed"], "it has changed")
        _, control, changed, invalidated = seen[-1]
        assert (control, changed["Visible"], invalidated) == ("there", True, ["Holders"])
        assert cached("there", "Busy") is True and cached("there", "DisplayedTitle") == ""
        # Told without its value, it is no longer kept.
        assert cached("there", "Holders") is None
        listener.call("Forget", "new")
        turn_until(lambda: ("removed", "new") in seen, "it is removed")
        assert [found.get_object_path() for found in client.get_objects()] == [
            contract.path_of("there")
        ]
    finally:
        connection.close_sync(None)


def test_gdbus_proxy(bus, listener):
    """A proxy of the manager hears its signals and keeps its properties."""
    connection = glib.connect(bus)
    heard = []
    try:
        proxy = Gio.DBusProxy.new_sync(
            connection,
            Gio.DBusProxyFlags.NONE,
            None,
            contract.NAME,
            contract.MANAGER,
            contract.NAME,
            None,
        )
        proxy.connect(
            "g-signal", lambda _, sender, member, values: heard.append((member, *values.unpack()))
        )
        number = proxy.StartCountdown("(su)", "a", 0)
        proxy.ShowIndicator("(s)", "a")
        turn_until(lambda: ("Finished", "a", number) in heard, "it has heard the end")
        turn_until(lambda: proxy.get_cached_property("Busy").unpack(), "it knows of the change")
        with pytest.raises(GLib.Error) as caught:
            proxy.GetControl("(s)", "unknown")
        assert Gio.DBusError.get_remote_error(caught.value) == contract.NO_SUCH_CONTROL
    finally:
        connection.close_sync(None)


# python-dbus

def test_python_dbus(bus, listener):
    loop = dbus.mainloop.glib.DBusGMainLoop()
    connection = dbus.bus.BusConnection(bus.address, mainloop=loop)
    heard = []
    try:
        connection.add_signal_receiver(
            lambda *values: heard.append(tuple(values)), "Finished", contract.NAME, arg0="a")
        connection.add_signal_receiver(
            lambda interface, changed, invalidated, path: heard.append((path, dict(changed))),
            "PropertiesChanged", contract.PROPERTIES, path_keyword="path")
        # It finds the types of the arguments by introspection: of an empty dictionary, too.
        manager = dbus.Interface(
            connection.get_object(contract.NAME, contract.MANAGER), contract.NAME
        )
        cookie = manager.Hold("a", "work", {})
        assert isinstance(cookie, dbus.UInt32)
        path = manager.GetControl("a")
        assert isinstance(path, dbus.ObjectPath) and path == contract.path_of("a")
        control = dbus.Interface(connection.get_object(contract.NAME, path), contract.PROPERTIES)
        properties = control.GetAll(contract.CONTROL)
        assert isinstance(properties["BusySince"], dbus.UInt64)
        assert properties["Holders"][0]["reason"] == "work"
        number = manager.StartCountdownWithOptions(
            "a", dbus.UInt64(1), {"title": "T", "notify": False})
        turn_until(lambda: ("a", number) in heard, "it has heard the end")
        manager.Release(cookie, "")
        turn_until(
            lambda: any(
                told[0] == path and told[1].get("Busy") == 0
                for told in heard
                if isinstance(told[1], dict)
            ),
            "it has heard of the change",
        )
        with pytest.raises(dbus.exceptions.DBusException) as caught:
            manager.Release(cookie, "")
        assert caught.value.get_dbus_name() == contract.NO_SUCH_HOLD
    finally:
        connection.close()


def test_gdbus_waits_for_the_name(bus, daemon):
    """The name goes with the daemon, at once, and comes back with the next."""
    with bus.connect() as peer:
        assert daemon.terminate() == 0
        assert owner(peer) is None
    waiting = bus.spawn("gdbus", "wait", "--session", contract.NAME)
    daemon.start()
    assert waiting.wait(DEADLINE) == 0
