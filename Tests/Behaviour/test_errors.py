# SPDX-License-Identifier: MIT
"""What is refused, by which name, and that it changes nothing."""

import pytest

from harness import CONTROL, ERROR, NAME, PATH, PROPERTIES, STANDARD, path_of
from wire import DBusError, split

BAD_NAMES = ["", "x" * 256, "é" * 128, "a\nb", "a\x7fb", "a\x1bb", "\x01", "a\x85b", "a\x9fb"]
NAMED = ["ShowIndicator", "HideIndicator", "PauseCountdown", "ResumeCountdown", "CancelCountdown",
         "ReleaseAll", "Forget", "GetControl"]
INVALID, LIMIT = STANDARD + "InvalidArgs", STANDARD + "LimitsExceeded"
LONG_TITLE, LONG_TEXT = "t" * 513, "t" * 257

REFUSALS = (
    [(method, (name,), ERROR + "InvalidName") for method in NAMED for name in BAD_NAMES]
    + [("ShowIndicatorFor", (name, 1), ERROR + "InvalidName") for name in BAD_NAMES]
    + [("StartCountdown", ("", 1), ERROR + "InvalidName"), ("SetTitle", ("", "t"), ERROR + "InvalidName"),
       ("Hold", ("", "", {}), ERROR + "InvalidName"), ("SetEnabled", ("", True), ERROR + "InvalidName"),
       ("SetDetail", ("", "t"), ERROR + "InvalidName"), ("SetProgress", ("", 0.5), ERROR + "InvalidName"),
       ("ExtendCountdown", ("", 1), ERROR + "InvalidName"),
       ("ShowIndicatorWithOptions", ("", {}), ERROR + "InvalidName"),
       ("StartCountdownWithOptions", ("", 1, {}), ERROR + "InvalidName"),
       ("ShowIndicatorFor", ("a", 0), INVALID), ("SetTitle", ("a", LONG_TITLE), INVALID),
       ("SetTitle", ("a", "é" * 257), INVALID), ("SetDetail", ("a", LONG_TITLE), INVALID),
       ("Hold", ("a", LONG_TEXT, {}), INVALID), ("Release", (1, LONG_TEXT), INVALID),
       ("Release", (999, ""), ERROR + "NoSuchHold"), ("Renew", (999,), ERROR + "NoSuchHold"),
       ("Renew", (1,), INVALID), ("GetControl", ("unknown",), ERROR + "NoSuchControl"),
       ("PauseCountdown", ("held",), ERROR + "NoCountdown"),
       ("ResumeCountdown", ("unknown",), ERROR + "NoCountdown"),
       ("ExtendCountdown", ("held", 1), ERROR + "NoCountdown"),
       ("ExtendCountdown", ("unknown", -2**31), ERROR + "NoCountdown"),
       ("CancelCountdown", ("held",), ERROR + "NoCountdown"),
       ("StartCountdownWithOptions", ("counting", 1, {"restart": ("s", "reject")}),
        ERROR + "CountdownActive"),
       ("Hold", ("held", "", {"exclusive": ("b", True)}), ERROR + "Busy"),
       ("StartCountdownWithOptions", ("a", 2**62 + 1, {}), INVALID),
       ("StartCountdownWithOptions", ("a", 2**64 - 1, {}), INVALID)])

COMMON = {"title": "s", "detail": "s", "icon": "s", "desktop-entry": "s", "application": "s",
          "grace-usec": "t", "minimum-usec": "t"}
OPTIONS = {
    "ShowIndicatorWithOptions": {**COMMON, "timeout-usec": "t"},
    "Hold": {**COMMON, "lease": "s", "pid": "u", "ttl-usec": "t", "exclusive": "b",
             "notify-after-usec": "t"},
    "StartCountdownWithOptions": {**COMMON, "interval": "u", "indicator": "b", "restart": "s",
                                  "clock": "s", "lease": "s", "paused": "b", "notify": "b"},
}
ARGUMENTS = {"ShowIndicatorWithOptions": ("a",), "Hold": ("a", "r"),
             "StartCountdownWithOptions": ("a", 1_000_000)}
WRONG = {"s": [("u", 1), ("as", ["x"]), ("v", ("s", "x"))], "t": [("u", 1), ("x", 1), ("s", "1"), ("d", 1.0)],
         "u": [("t", 1), ("i", 1), ("s", "1")], "b": [("u", 1), ("s", "true"), ("a{sv}", {})]}

OPTION_REFUSALS = (
    [(method, key, {key: value}) for method, keys in OPTIONS.items() for key, kind in keys.items()
     for value in WRONG[kind]]
    + [(method, "nonsense", {"nonsense": ("s", "x")}) for method in OPTIONS]
    + [(method, key, {key: ("s", LONG_TEXT)}) for method in OPTIONS
       for key in ["icon", "desktop-entry", "application"]]
    + [(method, key, {key: ("s", LONG_TITLE)}) for method in OPTIONS for key in ["title", "detail"]]
    + [(method, key, {key: ("t", value)}) for method in OPTIONS
       for key in ["grace-usec", "minimum-usec"] for value in [2**62 + 1, 2**64 - 1]]
    + [("ShowIndicatorWithOptions", "time", {"timeout-usec": ("t", value)})
       for value in [0, 2**62 + 1, 2**64 - 1]]
    + [("Hold", "ttl", {"ttl-usec": ("t", value)}) for value in [0, 2**62 + 1, 2**64 - 1]]
    + [("Hold", "notify-after-usec", {"notify-after-usec": ("t", 2**64 - 1)}),
       ("Hold", "lease", {"lease": ("s", "forever")}), ("Hold", "pid", {"lease": ("s", "pid")}),
       ("Hold", "ttl-usec", {"lease": ("s", "ttl")}),
       ("Hold", "pid", {"lease": ("s", "none"), "pid": ("u", 1)}),
       ("Hold", "ttl-usec", {"lease": ("s", "sender"), "ttl-usec": ("t", 1)}),
       ("Hold", "ttl-usec", {"pid": ("u", 1), "ttl-usec": ("t", 1)}),
       ("ShowIndicatorWithOptions", "lease", {"lease": ("s", "none")}),
       ("StartCountdownWithOptions", "lease", {"lease": ("s", "pid")}),
       ("StartCountdownWithOptions", "restart", {"restart": ("s", "again")}),
       ("StartCountdownWithOptions", "clock", {"clock": ("s", "realtime")})])


@pytest.fixture
def settled(client, subscriber):
    """A daemon with something to lose: its state, and a check that nothing of it has changed."""
    client.do("SetTitle", "titled", "t")
    assert client.do("Hold", "held", "r", {}) == 1
    client.do("StartCountdownWithOptions", "counting", 3_600_000_000, {"interval": ("u", 0)})
    before = client.snapshot()
    subscriber.settle()
    subscriber.seen.clear()
    yield client
    subscriber.settle()
    assert subscriber.signals() == []
    assert client.snapshot() == before


def test_each_refusal_has_its_name_and_changes_nothing(settled):
    for method, arguments, name in REFUSALS:
        assert settled.refused(method, *arguments) == name, (method, arguments)


def test_each_wrong_option_is_refused_by_its_name(settled):
    for method, key, options in OPTION_REFUSALS:
        with pytest.raises(DBusError) as refusal:
            settled.do(method, *ARGUMENTS[method], options)
        assert refusal.value.name == INVALID, (method, options)
        assert key in refusal.value.text, (method, options, refusal.value.text)


def test_a_key_given_twice_is_refused(settled):
    for method, keys in OPTIONS.items():
        value = {"s": ("s", "none"), "t": ("t", 1), "u": ("u", 1), "b": ("b", False)}
        for key, kind in keys.items():
            twice = [(key, value[kind]), (key, value[kind])]
            with pytest.raises(DBusError) as refusal:
                settled.do(method, *ARGUMENTS[method], twice)
            assert refusal.value.name == INVALID and key in refusal.value.text, (method, key)


def test_keys_of_others_are_ignored(client):
    for method in OPTIONS:
        options = [("x-mine", ("s", "x")), ("x-mine", ("ai", [1])), ("x-\u0301accent", ("b", True))]
        client.do(method, *ARGUMENTS[method], options)


def test_wrong_arguments_are_refused_before_anything_happens(settled):
    for method, signature in settled.SIGNATURES.items():
        for wrong, arguments in [("", ()), ("i", (1,)), (signature + "s", None), ("v", (("s", "a"),))]:
            if wrong == signature:
                continue
            if arguments is None:
                sample = {"s": "a", "u": 1, "i": 1, "b": True, "d": 0.5, "t": 1, "a{sv}": {}}
                arguments = [sample[part] for part in split(wrong)]
            with pytest.raises(DBusError) as refusal:
                settled.call(NAME, PATH, NAME, method, wrong, *arguments)
            assert refusal.value.name == INVALID, (method, wrong)
            if signature:
                assert f"“{signature}”" in refusal.value.text


@pytest.mark.parametrize("path, interface, member, signature, arguments, name", [
    (PATH, NAME, "Nonsense", "", (), "UnknownMethod"),
    (PATH, None, "Nonsense", "", (), "UnknownMethod"),
    (PATH, "no.such.Interface", "ShowIndicator", "s", ("a",), "UnknownInterface"),
    ("/nothing", NAME, "ShowIndicator", "s", ("a",), "UnknownObject"),
    ("/", NAME, "ShowIndicator", "s", ("a",), "UnknownInterface"),
    (path_of("unknown"), PROPERTIES, "GetAll", "s", (CONTROL,), "UnknownObject"),
    (path_of("held"), NAME, "ShowIndicator", "s", ("a",), "UnknownInterface"),
    (path_of("held"), "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", "", (),
     "UnknownInterface"),
    (PATH, PROPERTIES, "Get", "ss", (NAME, "Nonsense"), "UnknownProperty"),
    (PATH, PROPERTIES, "Get", "ss", ("no.such", "Busy"), "UnknownInterface"),
    (PATH, PROPERTIES, "GetAll", "s", ("no.such",), "UnknownInterface"),
    (PATH, PROPERTIES, "Set", "ssv", (NAME, "Busy", ("b", True)), "PropertyReadOnly"),
    (PATH, PROPERTIES, "Set", "ssv", (NAME, "Nonsense", ("b", True)), "UnknownProperty"),
    (path_of("held"), PROPERTIES, "Set", "ssv", (CONTROL, "Title", ("s", "x")), "PropertyReadOnly"),
])
def test_unknown_things(settled, path, interface, member, signature, arguments, name):
    with pytest.raises(DBusError) as refusal:
        settled.call(NAME, path, interface, member, signature, *arguments)
    assert refusal.value.name == STANDARD + name


def test_numbers_at_their_extremes_are_answered(client):
    for value in [0, 1, 2**31 - 1, 2**31, 2**32 - 1]:
        for method, arguments in [("ShowIndicatorFor", ("a", value)), ("StartCountdown", ("a", value)),
                                  ("Renew", (value,)), ("Release", (value, ""))]:
            client.result_or_error(client.post(method, *arguments))
    for value in [-2**31, -1, 0, 1, 2**31 - 1]:
        client.result_or_error(client.post("ExtendCountdown", "a", value))
    for value in [0, 1, 2**62 - 1, 2**62, 2**62 + 1, 2**63, 2**64 - 1]:
        for paused in [False, True]:
            client.result_or_error(client.post(
                "StartCountdownWithOptions", "a", value, {"paused": ("b", paused)}))
            client.result_or_error(client.post("ExtendCountdown", "a", 2**31 - 1))
            client.result_or_error(client.post("ExtendCountdown", "a", -2**31))
            client.result_or_error(client.post("ResumeCountdown", "a"))
        for key in ["timeout-usec", "grace-usec", "minimum-usec"]:
            client.result_or_error(client.post("ShowIndicatorWithOptions", "b", {key: ("t", value)}))
        for key in ["ttl-usec", "notify-after-usec", "grace-usec", "minimum-usec"]:
            client.result_or_error(client.post("Hold", "c", "", {key: ("t", value)}))
    for value in [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1.7e308, 5e-324]:
        client.result_or_error(client.post("SetProgress", "a", value))
    client.do("ReleaseAll", "c")
    client.objects()


def test_texts_of_the_longest(client):
    client.do("SetTitle", "a", "é" * 256)
    client.do("SetDetail", "a", "d" * 512)
    cookie = client.do("Hold", "a", "r" * 256, {"application": ("s", "a" * 256), "icon": ("s", "i" * 256),
                                                "desktop-entry": ("s", "e" * 256)})
    client.do("Release", cookie, "x" * 256)
    state = client.state("a")
    assert state["Title"] == "é" * 256 and state["LastResult"] == "released: " + "x" * 256


def test_what_an_error_quotes_is_cut_and_harmless(client):
    with pytest.raises(DBusError) as refusal:
        client.do("ShowIndicator", "\x1b[2J" + "x" * 100_000)
    assert refusal.value.name == ERROR + "InvalidName"
    assert len(refusal.value.text) < 300 and "\x1b" not in refusal.value.text
