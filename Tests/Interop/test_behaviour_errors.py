# SPDX-License-Identifier: MIT
"""Every refusal with its error, after which state and signals are exactly as before."""

import math

import pytest

from support import contract
from support.contract import (
    BUSY, COUNTDOWN_ACTIVE, INVALID_ARGS, INVALID_NAME, LONGEST, NO_COUNTDOWN, NO_SUCH_CONTROL,
    NO_SUCH_HOLD, PROPERTY_READ_ONLY, UNKNOWN_INTERFACE, UNKNOWN_METHOD, UNKNOWN_OBJECT,
    UNKNOWN_PROPERTY)
from support.wire import Variant

# Arguments that are all right behind the name of a control.
ARGUMENTS = {
    "ShowIndicator": (), "ShowIndicatorFor": (1,), "HideIndicator": (), "StartCountdown": (1,),
    "PauseCountdown": (), "ResumeCountdown": (), "ExtendCountdown": (1,), "CancelCountdown": (),
    "SetTitle": ("T",), "SetDetail": ("D",), "SetEnabled": (False,), "SetProgress": (0.5,),
    "Hold": ("R", {}), "ReleaseAll": (), "Forget": (), "ShowIndicatorWithOptions": ({},),
    "StartCountdownWithOptions": (1, {}), "GetControl": ()}

# Of each kind of invalid name one; the rest stands in test_names.py.
BAD_NAMES = [
    "", "x" * 256, "é" * 128, "a\nb", "\x01", "a\x1bb", "\x7f", "\u0085", "a\u009fb"]

OPTIONS = {"exclusive": Variant("b", True)}
REJECT = {"restart": Variant("s", "reject")}

# Method, arguments, error; "counting" is busy, has a countdown and the hold 1.
REFUSALS = [
    ("ShowIndicatorFor", ("counting", 0), INVALID_ARGS),
    ("PauseCountdown", ("idle",), NO_COUNTDOWN),
    ("PauseCountdown", ("unknown",), NO_COUNTDOWN),
    ("ResumeCountdown", ("idle",), NO_COUNTDOWN),
    ("ResumeCountdown", ("unknown",), NO_COUNTDOWN),
    ("ExtendCountdown", ("idle", 1), NO_COUNTDOWN),
    ("ExtendCountdown", ("unknown", 0), NO_COUNTDOWN),
    ("ExtendCountdown", ("endless", 2**31 - 1), INVALID_ARGS),
    ("CancelCountdown", ("idle",), NO_COUNTDOWN),
    ("CancelCountdown", ("unknown",), NO_COUNTDOWN),
    ("SetTitle", ("idle", "x" * 513), INVALID_ARGS),
    ("SetTitle", ("unknown", "é" * 257), INVALID_ARGS),
    ("SetDetail", ("idle", "x" * 513), INVALID_ARGS),
    ("SetProgress", ("idle", math.nan), INVALID_ARGS),
    ("SetProgress", ("idle", -math.nan), INVALID_ARGS),
    ("SetProgress", ("idle", math.inf), INVALID_ARGS),
    ("SetProgress", ("unknown", 1.0000000000000002), INVALID_ARGS),
    ("SetProgress", ("idle", 1.7976931348623157e308), INVALID_ARGS),
    ("Hold", ("idle", "x" * 257, {}), INVALID_ARGS),
    ("Hold", ("counting", "", OPTIONS), BUSY),
    ("Hold", ("unknown", "", {"pid": Variant("u", 0)}), INVALID_ARGS),
    ("Hold", ("unknown", "", {"ttl-usec": Variant("t", 0)}), INVALID_ARGS),
    ("Renew", (0,), NO_SUCH_HOLD),
    ("Renew", (2**32 - 1,), NO_SUCH_HOLD),
    ("Renew", (1,), INVALID_ARGS),
    ("Release", (0, ""), NO_SUCH_HOLD),
    ("Release", (2**32 - 1, ""), NO_SUCH_HOLD),
    ("Release", (1, "x" * 257), INVALID_ARGS),
    ("ShowIndicatorWithOptions", ("idle", {"timeout-usec": Variant("t", 0)}), INVALID_ARGS),
    ("StartCountdownWithOptions", ("idle", LONGEST + 1, {}), INVALID_ARGS),
    ("StartCountdownWithOptions", ("idle", 2**64 - 1, {}), INVALID_ARGS),
    ("StartCountdownWithOptions", ("counting", 1, REJECT), COUNTDOWN_ACTIVE),
    ("GetControl", ("unknown",), NO_SUCH_CONTROL),
    *((method, (name, *more), INVALID_NAME)
      for method, more in ARGUMENTS.items() for name in BAD_NAMES),
]


@pytest.fixture
def scene(listener):
    """Controls in several states; the listener has taken note of all that made them."""
    listener.call("Hold", "counting", "the holder", {})
    listener.countdown("counting")
    listener.call("StartCountdownWithOptions", "endless", LONGEST, {"paused": Variant("b", True)})
    listener.call("SetTitle", "idle", "Idle")
    listener.heard()
    return listener


class Unchanged:
    """Checks that a block has changed nothing and was told to nobody."""

    def __init__(self, peer):
        self.peer = peer

    def __enter__(self):
        self.peer.heard()
        self.before = self._all()

    def __exit__(self, kind, *_):
        if kind is None:
            assert self.peer.heard() == []
            assert self._all() == self.before

    def _all(self):
        manager = self.peer.call(
            "GetAll", contract.NAME, signature="s", interface=contract.PROPERTIES)
        return manager, self.peer.lasting_objects()


def test_each_refusal(scene):
    wrong = []
    for method, arguments, error in REFUSALS:
        with Unchanged(scene):
            answer, = scene.ask(scene.request(method, *arguments))
        if answer.error != error:
            wrong.append((method, arguments, answer.error))
            continue
        text, = answer.body
        # One sentence, fit to be shown.
        assert text.endswith(".") and len(text) < 400 and text.isprintable(), text
    assert wrong == []


def test_the_text_names_what_offends(scene):
    for method, arguments, offender in [
            ("GetControl", ("some control",), "some control"),
            ("CancelCountdown", ("idle",), "idle"),
            ("Release", (4711, ""), "4711"),
            ("Renew", (4711,), "4711"),
            ("SetProgress", ("idle", 1.5), "1.5"),
            ("SetTitle", ("idle", "x" * 513), "513"),
            ("Hold", ("counting", "", OPTIONS), "the holder"),
            ("ShowIndicator", ("x" * 256,), "256"),
            ("StartCountdownWithOptions", ("idle", LONGEST + 1, {}), str(LONGEST + 1)),
            ("StartCountdownWithOptions", ("idle", 1, {"strange": Variant("b", True)}), "strange"),
            ("Hold", ("idle", "", {"pid": Variant("u", 2**32 - 1)}), str(2**32 - 1))]:
        assert offender in scene.refusal(method, *arguments).text


@pytest.mark.parametrize("name", [
    "\u202eevil", "\u2028line", "a\x1b[31m", "x" * 255 + "\n", "\x1b[2J" + "x" * 100_000],
    ids=["direction", "line", "color", "end", "long"])
def test_a_text_is_harmless(scene, name):
    """What a peer wrote ends on a terminal: nothing in it may be taken for more than text."""
    for method in ("GetControl", "CancelCountdown"):
        text = scene.refusal(method, name).text
        assert text.isprintable() and len(text) < 300


@pytest.mark.parametrize("method", contract.METHODS)
def test_wrong_signatures(scene, method):
    """The signature is checked before anything else."""
    right = contract.METHODS[method][0]
    values = {
        "": (), "s": ("idle",), "ss": ("idle", "T"), "u": (1,), "su": ("idle", 1),
        "si": ("idle", 1), "sb": ("idle", True), "sd": ("idle", 0.5), "us": (1, ""),
        "ssa{sv}": ("idle", "", {}), "sa{sv}": ("idle", {}), "sta{sv}": ("idle", 1, {}),
        "ssss": ("idle",) * 4, "v": (Variant("s", "idle"),), "as": (["idle"],), "o": ("/",),
        "st": ("idle", 1), "sssa{sv}": ("idle", "", "", {}), "ssa{ss}": ("idle", "", {}),
        "sa{ss}": ("idle", {}), "(s)": (("idle",),), "g": ("s",)}
    with Unchanged(scene):
        for signature, arguments in values.items():
            if signature == right:
                continue
            refusal = scene.refusal(method, *arguments, signature=signature)
            assert refusal.name == INVALID_ARGS, signature
            assert f"“{right}”" in refusal.text


STANDARD = [
    (contract.PROPERTIES, "Get", "ss"), (contract.PROPERTIES, "Set", "ssv"),
    (contract.PROPERTIES, "GetAll", "s"), (contract.OBJECT_MANAGER, "GetManagedObjects", ""),
    (contract.INTROSPECTABLE, "Introspect", ""), (contract.PEER, "Ping", ""),
    (contract.PEER, "GetMachineId", "")]


def test_wrong_signatures_of_the_standard_interfaces(scene):
    with Unchanged(scene):
        for interface, method, _ in STANDARD:
            refusal = scene.refusal(method, 1, signature="u", interface=interface)
            assert refusal.name == INVALID_ARGS, method


def test_unknown_things(scene):
    path = contract.path_of("idle")
    properties = contract.PROPERTIES
    unknown = contract.path_of("unknown")
    for error, method, options in [
            (UNKNOWN_METHOD, "NoSuchMethod", {}),
            (UNKNOWN_METHOD, "showIndicator", {}),
            (UNKNOWN_METHOD, "Tick", {}),
            (UNKNOWN_METHOD, "Ping", {}),
            (UNKNOWN_METHOD, "ShowIndicator", {"interface": contract.PEER}),
            (UNKNOWN_METHOD, "NoSuchMethod", {"interface": properties}),
            (UNKNOWN_METHOD, "NoSuchMethod", {"interface": None}),
            (UNKNOWN_METHOD, "ShowIndicator", {"interface": None, "path": path}),
            (UNKNOWN_METHOD, "ShowIndicator", {"path": path, "interface": contract.CONTROL}),
            (UNKNOWN_INTERFACE, "ShowIndicator", {"interface": "org.example.Other"}),
            (UNKNOWN_INTERFACE, "ShowIndicator", {"path": path}),
            (UNKNOWN_INTERFACE, "ShowIndicator", {"path": "/"}),
            (UNKNOWN_INTERFACE, "ShowIndicator", {"path": contract.CONTROLS}),
            (UNKNOWN_INTERFACE, "GetManagedObjects",
             {"path": path, "interface": contract.OBJECT_MANAGER}),
            (UNKNOWN_OBJECT, "ShowIndicator", {"path": "/nothing"}),
            (UNKNOWN_OBJECT, "ShowIndicator", {"path": unknown}),
            (UNKNOWN_OBJECT, "ShowIndicator", {"path": contract.MANAGER + "/other"}),
            (UNKNOWN_OBJECT, "ShowIndicator", {"path": path + "/below"}),
            (UNKNOWN_OBJECT, "ShowIndicator", {"path": "/org/busyindicator/BusyIndicator"}),
            (UNKNOWN_OBJECT, "ShowIndicator", {"path": contract.CONTROLS + "/idl"}),
            (UNKNOWN_OBJECT, "Introspect",
             {"path": unknown, "interface": contract.INTROSPECTABLE})]:
        with Unchanged(scene):
            refusal = scene.refusal(method, signature="", **options)
        assert refusal.name == error, (method, options)


@pytest.mark.parametrize("path, interface, table", [
    (contract.MANAGER, contract.NAME, contract.MANAGER_PROPERTIES),
    (contract.path_of("idle"), contract.CONTROL, contract.CONTROL_PROPERTIES)],
    ids=["manager", "control"])
def test_properties_can_only_be_read(scene, path, interface, table):
    options = {"path": path, "interface": contract.PROPERTIES}
    with Unchanged(scene):
        for name, (signature, _) in table.items():
            value = scene.read_property(path, interface, name)
            assert value.signature == signature
            for new in (value, Variant("s", "new"), Variant("u", 0)):
                for named in (interface, ""):
                    refusal = scene.refusal("Set", named, name, new, signature="ssv", **options)
                    assert refusal.name == PROPERTY_READ_ONLY, name
        for named, name, error in [
                (interface, "NoSuchProperty", UNKNOWN_PROPERTY), (interface, "", UNKNOWN_PROPERTY),
                (interface, "busy", UNKNOWN_PROPERTY), ("", "NoSuchProperty", UNKNOWN_PROPERTY),
                ("org.example.Other", "Busy", UNKNOWN_INTERFACE),
                (contract.PEER, "Busy", UNKNOWN_PROPERTY), ("?", "Busy", UNKNOWN_INTERFACE)]:
            assert scene.refusal("Get", named, name, signature="ss", **options).name == error
            assert scene.refusal(
                "Set", named, name, Variant("b", True), signature="ssv", **options).name == error
        assert scene.refusal(
            "GetAll", "org.example.Other", signature="s", **options).name == UNKNOWN_INTERFACE
        for standard in (contract.PROPERTIES, contract.PEER, contract.INTROSPECTABLE):
            assert scene.call("GetAll", standard, signature="s", **options) == {}


def test_properties_of_what_is_no_object(scene):
    for path, error in (
            ("/", UNKNOWN_INTERFACE), ("/org", UNKNOWN_INTERFACE),
            (contract.CONTROLS, UNKNOWN_INTERFACE), (contract.path_of("unknown"), UNKNOWN_OBJECT)):
        options = {"path": path, "interface": contract.PROPERTIES}
        for method, signature, arguments in [
                ("Get", "ss", (contract.CONTROL, "Busy")), ("GetAll", "s", (contract.CONTROL,)),
                ("Set", "ssv", (contract.CONTROL, "Busy", Variant("b", True)))]:
            refusal = scene.refusal(method, *arguments, signature=signature, **options)
            assert refusal.name == error, path


def test_what_is_not_refused(scene):
    """Success, and nothing told, for what is so already."""
    for method, arguments in [
            ("HideIndicator", ("unknown",)), ("HideIndicator", ("idle",)), ("Forget", ("unknown",)),
            ("ReleaseAll", ("unknown",)), ("SetTitle", ("idle", "Idle")),
            ("PauseCountdown", ("endless",)), ("ResumeCountdown", ("counting",)),
            ("SetProgress", ("idle", -1e300)), ("SetEnabled", ("idle", True))]:
        with Unchanged(scene):
            scene.call(method, *arguments)


def test_extremes_of_u(scene):
    for number in (0, 1, 2**31, 2**32 - 1):
        assert scene.call("StartCountdown", "numbers", number) > 0
        if number:
            scene.call("ShowIndicatorFor", "numbers", number)
    assert scene.get("numbers", "Duration") == (2**32 - 1) * 10**6
    assert scene.get("numbers", "Busy")


def test_numbers_at_their_extremes_are_answered(client):
    """Each alone and upon what the one before has left; whether taken or refused does not matter."""
    def ask(*calls):
        client.ask(*(client.request(*call) for call in calls))

    for number in (0, 1, 2**31 - 1, 2**31, 2**32 - 1):
        ask(("ShowIndicatorFor", "a", number), ("StartCountdown", "a", number),
            ("Renew", number), ("Release", number, ""))
    for number in (-2**31, -1, 0, 1, 2**31 - 1):
        ask(("ExtendCountdown", "a", number))
    for number in (0, 1, LONGEST - 1, LONGEST, LONGEST + 1, 2**63, 2**64 - 1):
        duration = Variant("t", number)
        for paused in (False, True):
            ask(("StartCountdownWithOptions", "a", number, {"paused": Variant("b", paused)}),
                ("ExtendCountdown", "a", 2**31 - 1), ("ExtendCountdown", "a", -2**31),
                ("ResumeCountdown", "a"))
        ask(*(("ShowIndicatorWithOptions", "b", {key: duration})
              for key in ("timeout-usec", "grace-usec", "minimum-usec")),
            *(("Hold", "c", "", {key: duration})
              for key in ("ttl-usec", "notify-after-usec", "grace-usec", "minimum-usec")))
    for number in (0.0, -0.0, math.inf, -math.inf, math.nan, 1.7e308, 5e-324):
        ask(("SetProgress", "a", number))
    client.call("ReleaseAll", "c")
    assert {"a", "b", "c"} == set(client.objects())


def test_the_longest_texts(client):
    client.call("SetTitle", "a", "é" * 256)
    client.call("SetDetail", "a", "d" * 512)
    cookie = client.call("Hold", "a", "r" * 256, {
        key: Variant("s", key[0] * 256) for key in ("application", "icon", "desktop-entry")})
    state = client.state("a")
    assert (state["Title"], state["Detail"]) == ("é" * 256, "d" * 512)
    assert (state["Icon"], state["DesktopEntry"]) == ("i" * 256, "d" * 256)
    holder, = state["Holders"]
    assert (holder["reason"], holder["application"]) == ("r" * 256, "a" * 256)
    client.call("Release", cookie, "x" * 256)
    assert client.get("a", "LastResult") == "released: " + "x" * 256
