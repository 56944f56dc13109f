# SPDX-License-Identifier: MIT
"""The tests' own protocol against GLib's: what it writes is read so, and the other way round."""

from gi.repository import Gio, GLib

from support import wire
from support.wire import Variant

VALUES = [
    ("y", 255), ("b", True), ("n", -2**15), ("q", 2**16 - 1), ("i", -2**31), ("u", 2**32 - 1),
    ("x", -2**63), ("t", 2**64 - 1), ("d", 0.1), ("s", "Grüße"), ("s", ""), ("o", "/a/b"),
    ("g", "a{sv}"),
    ("as", ["a", "", "ccc"]), ("as", []), ("ay", [1, 2, 3]), ("at", []), ("(ss)", ("a", "b")),
    ("a(yt)", [(1, 2), (3, 4)]), ("a{sv}", {"k": Variant("t", 1), "l": Variant("as", ["x"])}),
    ("v", Variant("v", Variant("(bv)", (False, Variant("d", -1.5))))),
    ("a{oa{sa{sv}}}", {"/a": {"i": {"p": Variant("aa{sv}", [{}, {"x": Variant("y", 1)}])}}}),
    ("aai", [[1], [], [2, 3]])]


def of_glib(value):
    """A value as GLib wants it: each variant a GLib.Variant."""
    if isinstance(value, Variant):
        return GLib.Variant(value.signature, of_glib(value.value))
    if isinstance(value, dict):
        return {key: of_glib(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(of_glib(inner) for inner in value)
    return value


def test_what_is_written():
    for signature, value in VALUES:
        # A byte in front, so that everything has to be aligned.
        message = wire.call(
            "org.example.A", "/a", "org.example.A", "M", "y" + signature, (7, value)
        )
        parsed = Gio.DBusMessage.new_from_blob(message.encode(9), Gio.DBusCapabilityFlags.NONE)
        assert (parsed.get_serial(), parsed.get_member(), parsed.get_path()) == (9, "M", "/a")
        assert parsed.get_body().unpack() == (7, wire.plain(value)), signature


def test_what_is_read():
    for signature, value in VALUES:
        message = Gio.DBusMessage.new_signal("/a", "org.example.A", "S")
        message.set_byte_order(Gio.DBusMessageByteOrder.LITTLE_ENDIAN)
        message.set_serial(9)
        message.set_body(GLib.Variant(f"(y{signature})", (7, of_glib(value))))
        data = message.to_blob(Gio.DBusCapabilityFlags.NONE)
        assert wire.length_of(data[:16]) == len(data)
        read = wire.decode(data, 1.5)
        assert (read.kind, read.serial, read.member, read.path, read.when) == (
            wire.SIGNAL,
            9,
            "S",
            "/a",
            1.5,
        )
        assert read.body == [7, value], signature
