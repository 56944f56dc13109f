# SPDX-License-Identifier: MIT
"""Names of controls: which there are, and how they become the names of objects and back."""

import ctypes
import ctypes.util

import pytest

from support import contract
from support.contract import INVALID_NAME

libsystemd = ctypes.CDLL(ctypes.util.find_library("systemd"))
libc = ctypes.CDLL(None)
libc.free.argtypes = [ctypes.c_void_p]


def sd_bus_path_encode(name):
    """What libsystemd makes of a name."""
    path = ctypes.c_void_p()
    done = libsystemd.sd_bus_path_encode(
        contract.CONTROLS.encode(), name.encode(), ctypes.byref(path))
    assert done >= 0
    text = ctypes.string_at(path.value).decode()
    libc.free(path)
    return text


def sd_bus_path_decode(path):
    """The name that libsystemd makes of a path."""
    name = ctypes.c_void_p()
    done = libsystemd.sd_bus_path_decode(
        path.encode(), contract.CONTROLS.encode(), ctypes.byref(name))
    assert done == 1, path
    text = ctypes.string_at(name.value).decode()
    libc.free(name)
    return text


# All ASCII characters that may be in a name, each at its beginning and behind that; and others of
# two, three and four bytes, accents in one piece and apart.
ASCII = [chr(code) for code in range(0x20, 0x7f)]
NAMES = list(
    dict.fromkeys(
        [
            *ASCII,
            *("x" + character for character in ASCII),
            "".join(ASCII),
            "0123",
            "a0b1",
            "__",
            "_5f",
            "_2f_",
            "a/b",
            "//",
            "org.example.App",
            "with space",
            " ",
            "ä",
            "é",
            "e\u0301",
            "日本語",
            "😀",
            "\u00a0",
            "\u0600",
            "\u200d",
            "\u2028",
            "\u202e",
            "\ufeff",
            "\ufffd",
            "\uffff",
            "\U0010ffff",
            "\ue000",
            "ﬁ",
            "İ",
            "ß",
            "x" * 255,
            "0" * 255,
            "_" * 255,
            "é" * 127 + "x",
            "日" * 85,
            "😀" * 63 + "abc",
            "control",
        ]
    )
)


def test_escaping_is_libsystemds_and_can_be_undone(listener):
    for name in NAMES:
        begin = len(listener.messages)
        listener.call("ShowIndicator", name)
        path = listener.call("GetControl", name)
        assert path == sd_bus_path_encode(name) == contract.path_of(name)
        assert sd_bus_path_decode(path) == contract.name_of(path) == name
        assert listener.get(name, "Name") == name
        assert listener.wait_for("InterfacesAdded", name, after=begin).body[0] == path
    # Each is another control: equal to none that is only like it.
    assert sorted(listener.objects()) == sorted(NAMES)


BAD = [
    "", *(chr(code) for code in range(1, 0x20)), "\x7f", *(chr(code) for code in range(0x80, 0xa0)),
    "x" * 256, "é" * 128, "x" * 100_000]


def test_what_is_no_name(listener):
    for name in BAD:
        for text in (name, f"a{name}b") if name and len(name) == 1 else (name,):
            for method in ("ShowIndicator", "GetControl", "HideIndicator", "Forget"):
                refusal = listener.refusal(method, text)
                assert refusal.name == INVALID_NAME, repr(text)
                assert len(refusal.text) < 400
    assert listener.heard() == [] and listener.objects() == {}


@pytest.mark.parametrize("size", [1, 255])
def test_shortest_and_longest(listener, size):
    name = "_" * size
    listener.call("ShowIndicator", name)
    path = listener.call("GetControl", name)
    assert path == contract.CONTROLS + "/" + "_5f" * size
    assert listener.state(name)["Name"] == name
    assert listener.heard()[0] == ("InterfacesAdded", name)
    listener.call("Forget", name)
    assert listener.heard()[-1] == ("InterfacesRemoved", name)


@pytest.mark.parametrize("label", [
    # Paths that no name becomes: upper case, an escape that need not be, one that is cut, a digit.
    "_5F", "_61", "a_62", "_", "_5", "a_", "a_5", "0", "a_zz", "_30_31", "A_c3", "_c3", "_ff"])
def test_paths_that_are_no_controls(listener, label):
    """One control, one object: no other path leads to it."""
    for name in ("_", "a", "ab", "0", "01", "a_", ""):
        if name:
            listener.call("ShowIndicator", name)
    known = {contract.path_of(name) for name in listener.objects()}
    path = f"{contract.CONTROLS}/{label}"
    if path in known:
        return
    refusal = listener.refusal(
        "Get", contract.CONTROL, "Name", signature="ss", path=path, interface=contract.PROPERTIES)
    assert refusal.name == contract.UNKNOWN_OBJECT


def test_arg0_is_the_raw_name(bus, listener):
    """A match rule hears one control."""
    one = bus.connect()
    name = "a,b 'quoted' ä"
    quoted = name.replace("'", "'\\''")
    one.bus("AddMatch", "s", f"type='signal',interface='{contract.NAME}',arg0='{quoted}'")
    for control in (name, "other"):
        one.countdown(control)
        one.call("CancelCountdown", control)
    heard = [told[:2] for told in one.heard()]
    assert heard == [("Tick", name), ("Cancelled", name)]


def test_the_nodes_children(listener):
    """The `control` node lists its children, and only those."""
    for name in ("a", "ä/b", "0"):
        listener.call("ShowIndicator", name)
    listener.call("ShowIndicator", "gone")
    listener.call("Forget", "gone")
    xml = listener.call(
        "Introspect", signature="", path=contract.CONTROLS, interface=contract.INTROSPECTABLE)
    for name in ("a", "ä/b", "0"):
        assert f'<node name="{contract.path_of(name).rpartition("/")[2]}"/>' in xml
    assert xml.count("<node name=") == 3


def test_busctl_finds_every_control(bus, listener):
    names = [name for name in NAMES if len(name) < 10]
    listener.ask(*(listener.request("ShowIndicator", name) for name in names))
    done = bus.run("busctl", "--user", "tree", "--list", contract.NAME, status=0)
    found = {path for path in done.stdout.split() if path.startswith(contract.CONTROLS + "/")}
    assert found == {contract.path_of(name) for name in names}
