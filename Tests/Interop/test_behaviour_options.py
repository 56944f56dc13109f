# SPDX-License-Identifier: MIT
"""The `a{sv}` of three methods: each key with its meaning, and every way of getting it wrong."""

import os
import time

import pytest

from support.contract import COUNTDOWN_ACTIVE, INVALID_ARGS, LONGEST
from support.waiting import boottime
from support.wire import Variant

# The keys of each method with the type of their values.
ATTRIBUTES = {"title": "s", "detail": "s", "icon": "s", "desktop-entry": "s"}
COMMON = {**ATTRIBUTES, "application": "s", "grace-usec": "t", "minimum-usec": "t"}
OPTIONS = {
    "ShowIndicatorWithOptions": {**COMMON, "timeout-usec": "t"},
    "Hold": {
        **COMMON, "lease": "s", "pid": "u", "ttl-usec": "t", "exclusive": "b",
        "notify-after-usec": "t"},
    "StartCountdownWithOptions": {
        **COMMON, "interval": "u", "indicator": "b", "restart": "s", "clock": "s", "lease": "s",
        "paused": "b", "notify": "b"},
}
ARGUMENTS = {
    "ShowIndicatorWithOptions": (), "Hold": ("reason",), "StartCountdownWithOptions": (10**9,)}

# A value that each key takes; the strings that are not here take any.
GOOD = {
    "lease": "none", "restart": "keep", "clock": "monotonic", "grace-usec": 1, "minimum-usec": 1,
    "timeout-usec": 10**9, "pid": os.getpid(), "ttl-usec": 10**9, "exclusive": True,
    "notify-after-usec": 0, "interval": 1, "indicator": True, "paused": True, "notify": False}

VALUES = {
    "s": Variant("s", "text"), "b": Variant("b", True), "u": Variant("u", 1), "t": Variant("t", 1),
    "i": Variant("i", 1), "x": Variant("x", 1), "d": Variant("d", 1.0), "y": Variant("y", 1),
    "v": Variant("v", Variant("s", "text")), "o": Variant("o", "/"), "g": Variant("g", "s"),
    "as": Variant("as", ["text"]), "a{sv}": Variant("a{sv}", {}), "(s)": Variant("(s)", ("text",)),
    "n": Variant("n", 1), "q": Variant("q", 1), "ay": Variant("ay", b"text"),
}


def ask(peer, method, options, control="a"):
    """Calls one of the three."""
    return peer.call(method, control, *ARGUMENTS[method], options)


def refused(peer, method, options):
    """Expects InvalidArgs, and that nothing has happened; returns what was said."""
    before = peer.lasting_objects()
    peer.heard()
    refusal = peer.refusal(method, "a", *ARGUMENTS[method], options)
    assert refusal.name == INVALID_ARGS, (options, refusal)
    # Others may count meanwhile.
    assert [told for told in peer.heard() if told[0] != "Tick" or told[1] == "a"] == []
    assert peer.lasting_objects() == before
    return refusal.text


@pytest.mark.parametrize("method", OPTIONS)
def test_each_key_is_taken(listener, method):
    for key, kind in OPTIONS[method].items():
        ask(listener, method, {key: Variant(kind, GOOD.get(key, "text"))}, control=f"control {key}")
    assert len(listener.objects()) == len(OPTIONS[method])


@pytest.mark.parametrize("method", OPTIONS)
def test_a_value_of_the_wrong_type(listener, method):
    for key, kind in OPTIONS[method].items():
        for other, value in VALUES.items():
            if other != kind:
                assert key in refused(listener, method, {key: value})


@pytest.mark.parametrize("method", OPTIONS)
def test_a_key_given_twice(listener, method):
    for key, kind in OPTIONS[method].items():
        value = Variant(kind, GOOD.get(key, "text"))
        assert key in refused(listener, method, [(key, value), (key, value)])
        assert key in refused(listener, method, [(key, value), ("x-other", value), (key, value)])


@pytest.mark.parametrize("method", OPTIONS)
def test_an_unknown_key(listener, method):
    strange = ["", "Title", "title ", "titles", "X-title", "xtitle", "x", "ä", "icon\u0301"]
    others = {key for table in OPTIONS.values() for key in table} - set(OPTIONS[method])
    for key in [*strange, *others]:
        text = refused(listener, method, {key: Variant("s", "text")})
        assert key in text
    # Beside a good one as well, and nothing of that is done.
    refused(listener, method, {"title": Variant("s", "text"), "unknown": Variant("s", "")})


@pytest.mark.parametrize("method", OPTIONS)
def test_private_keys_are_passed_over(listener, method):
    ask(listener, method, [
        *((f"x-{kind}", value) for kind, value in VALUES.items()),
        ("x-", VALUES["s"]), ("x-", VALUES["u"]), ("x-s", VALUES["u"]),
        ("x-\u0301", VALUES["s"]), ("title", Variant("s", "T"))])
    assert listener.get("a", "Title") == "T"


def test_a_lease_without_its_key_or_with_the_others(listener):
    pid, ttl = Variant("u", os.getpid()), Variant("t", 10**9)
    for words, key in [
            ({"lease": "pid"}, "pid"), ({"lease": "ttl"}, "ttl-usec"),
            ({"lease": "pid", "ttl-usec": ttl}, "ttl-usec"), ({"lease": "ttl", "pid": pid}, "pid"),
            ({"lease": "sender", "pid": pid}, "pid"), ({"lease": "none", "pid": pid}, "pid"),
            ({"lease": "sender", "ttl-usec": ttl}, "ttl-usec"),
            ({"lease": "none", "ttl-usec": ttl}, "ttl-usec"),
            ({"lease": "pid", "pid": pid, "ttl-usec": ttl}, "ttl-usec"),
            ({"lease": "ttl", "pid": pid, "ttl-usec": ttl}, "pid"),
            ({"pid": pid, "ttl-usec": ttl}, "ttl-usec")]:
        options = {
            name: value if isinstance(value, Variant) else Variant("s", value)
            for name, value in words.items()}
        assert key in refused(listener, "Hold", options), options
    for word in ("", "Sender", "pids", "ttl "):
        assert "lease" in refused(listener, "Hold", {"lease": Variant("s", word)})


def test_a_key_alone_implies_its_lease(listener):
    listener.call("Hold", "a", "", {"pid": Variant("u", os.getpid())})
    listener.call("Hold", "a", "", {"ttl-usec": Variant("t", 10**9)})
    listener.call("Hold", "a", "", {})
    assert [holder["lease"] for holder in listener.state("a")["Holders"]] == [
        "pid",
        "ttl",
        "sender",
    ]


@pytest.mark.parametrize("method, key, words", [
    ("StartCountdownWithOptions", "restart", ["replaces", "", "KEEP"]),
    ("StartCountdownWithOptions", "clock", ["realtime", "", "Boottime"]),
    ("StartCountdownWithOptions", "lease", ["pid", "ttl", "", "Sender"]),
])
def test_a_word_that_is_none(listener, method, key, words):
    for word in words:
        assert key in refused(listener, method, {key: Variant("s", word)})


@pytest.mark.parametrize("method", OPTIONS)
def test_extremes_of_a_duration(listener, method):
    for key, kind in OPTIONS[method].items():
        if kind != "t":
            continue
        for number in (LONGEST + 1, 2**63, 2**64 - 1):
            text = refused(listener, method, {key: Variant("t", number)})
            assert str(number) in text or key in text
        ask(listener, method, {key: Variant("t", LONGEST)}, control=key)
        if key in ("timeout-usec", "ttl-usec"):
            refused(listener, method, {key: Variant("t", 0)})
        else:
            ask(listener, method, {key: Variant("t", 0)}, control=key)


def test_extremes_of_an_interval(listener):
    for interval in (0, 1, 2**32 - 1):
        ask(listener, "StartCountdownWithOptions", {"interval": Variant("u", interval)})
        assert listener.get("a", "CountdownState") == "running"


@pytest.mark.parametrize("method", OPTIONS)
def test_texts_that_are_too_long(listener, method):
    for key, most in {
            "title": 512, "detail": 512, "icon": 256, "desktop-entry": 256,
            "application": 256}.items():
        ask(listener, method, {key: Variant("s", "é" * (most // 2))}, control=key)
        # Bytes count, not characters.
        text = refused(listener, method, {key: Variant("s", "é" * (most // 2) + "x")})
        assert key in text
        # It names what is wrong, and does not repeat it all.
        refused(listener, method, {key: Variant("s", "x" * 1_000_000)})


@pytest.mark.parametrize("method", OPTIONS)
def test_attributes(listener, method):
    attributes = {
        key: Variant("s", key.upper()) for key in ("title", "detail", "icon", "desktop-entry")}
    ask(listener, method, attributes)
    state = listener.state("a")
    assert (state["Title"], state["Detail"], state["Icon"], state["DesktopEntry"]) == (
        "TITLE", "DETAIL", "ICON", "DESKTOP-ENTRY")
    # The last caller wins, in what he names.
    listener.heard()
    ask(listener, method, {"icon": Variant("s", "other")})
    assert listener.heard()[0][2].get("Icon") == "other"
    assert listener.get("a", "Title") == "TITLE"


@pytest.mark.flags("--linger=50ms")
def test_attributes_keep_no_idle_control_alive(listener):
    listener.call("ShowIndicatorWithOptions", "a", {
        key: Variant("s", "text") for key in ("title", "detail", "icon", "desktop-entry")})
    listener.call("HideIndicator", "a")
    listener.wait_for("InterfacesRemoved", "a")


def test_show_changes_only_what_its_options_name(bus, listener):
    listener.call("ShowIndicatorWithOptions", "a", {
        "application": Variant("s", "First"), "timeout-usec": Variant("t", 10**9)})
    before = listener.state("a")
    listener.heard()
    bus.connect().call("ShowIndicatorWithOptions", "a", {"application": Variant("s", "Second")})
    assert listener.heard() == [("PropertiesChanged", "a", {}, ["Holders"])]
    after = listener.state("a")
    assert after["Holders"] == [{**before["Holders"][0], "application": "Second"}]
    listener.call("ShowIndicatorWithOptions", "a", {"detail": Variant("s", "D")})
    assert listener.heard() == [("PropertiesChanged", "a", {"Detail": "D"}, [])]


# Countdowns

def start(peer, seconds=1000.0, control="a", **options):
    """Starts a countdown with options."""
    return peer.countdown(control, seconds, **options)


@pytest.mark.timing
def test_interval(listener):
    number = start(listener, 3, interval=Variant("u", 2))
    quiet = start(listener, 1, "b", interval=Variant("u", 0))
    listener.wait_for("Finished", "a", number)
    told = [event for event in listener.heard() if event[0] in ("Tick", "Finished")]
    assert [event for event in told if event[1] == "a"] == [
        ("Tick", "a", 3, number), ("Tick", "a", 2, number), ("Finished", "a", number)]
    # Without ticks there is not even the first.
    assert [event for event in told if event[1] == "b"] == [("Finished", "b", quiet)]


def test_indicator(listener):
    number = start(listener, 1, indicator=Variant("b", True), application=Variant("s", "Timer"))
    state = listener.state("a")
    assert state["Busy"] and state["Visible"] and not state["DisplayedEnabled"]
    holder, = state["Holders"]
    assert {key: value for key, value in holder.items() if key != "since-usec"} == {
        "kind": "countdown", "cookie": 0, "reason": "", "application": "Timer",
        "sender": listener.name, "pid": 0, "lease": "none"}
    listener.heard()
    listener.wait_for("Finished", "a", number)
    # The state is told before the event.
    told = listener.heard()
    assert [event[:2] for event in told] == [
        ("PropertiesChanged", "a"), ("PropertiesChanged", "manager"), ("Finished", "a")]
    assert told[0][2]["Busy"] is False and told[0][3] == ["Holders"]


def test_restart_replace(listener):
    first = start(listener)
    second = start(listener, restart=Variant("s", "replace"))
    assert second > first
    assert ("Cancelled", "a", first, "replaced") in listener.heard()


def test_restart_keep(listener):
    first = start(listener, 1000)
    listener.heard()
    assert start(
        listener, 5, restart=Variant("s", "keep"), title=Variant("s", "T"),
        indicator=Variant("b", True)) == first
    assert listener.heard() == []
    state = listener.state("a")
    assert (state["Duration"], state["Title"], state["Busy"]) == (10**9, "", False)
    # Where there is none, it starts one.
    assert start(listener, 5, "b", restart=Variant("s", "keep")) > first


def test_restart_reject(listener):
    first = start(listener, restart=Variant("s", "reject"))
    listener.heard()
    refusal = listener.refusal("StartCountdownWithOptions", "a", 1, {
        "restart": Variant("s", "reject"), "title": Variant("s", "T")})
    assert refusal.name == COUNTDOWN_ACTIVE
    assert listener.heard() == []
    assert listener.get("a", "Countdown") == first and listener.get("a", "Title") == ""


@pytest.mark.parametrize("paused", [False, True])
def test_restart_extend(listener, paused):
    first = start(listener, 1000, paused=Variant("b", paused))
    listener.heard()
    assert start(
        listener, 5.5, restart=Variant("s", "extend"), title=Variant("s", "T"),
        paused=Variant("b", not paused)) == first
    change, tick = listener.heard()
    assert change[2]["Duration"] == 1_005_500_000
    assert tick[0] == "Tick" and 900 < tick[2] <= 1006
    state = listener.state("a")
    assert (state["CountdownState"], state["Title"]) == ("paused" if paused else "running", "")
    # It cannot grow beyond what a duration may be.
    refusal = listener.refusal("StartCountdownWithOptions", "a", LONGEST, {
        "restart": Variant("s", "extend")})
    assert refusal.name == INVALID_ARGS
    assert listener.get("a", "Duration") == 1_005_500_000


@pytest.mark.parametrize("clock, number", [
    ("boottime", time.CLOCK_BOOTTIME), ("monotonic", time.CLOCK_MONOTONIC)])
def test_clock(listener, clock, number):
    before = time.clock_gettime(number)
    ident = start(listener, 1, clock=Variant("s", clock))
    state = listener.state("a")
    assert state["CountdownClock"] == clock
    assert before <= state["Deadline"] / 1e6 - 1 <= time.clock_gettime(number)
    assert listener.wait_for("Finished", "a", ident)
    assert time.clock_gettime(number) * 1e6 >= state["Deadline"]
    assert listener.get("a", "CountdownClock") == ""


def test_paused(listener):
    begin = boottime()
    number = start(listener, 0.5, paused=Variant("b", True))
    state = listener.state("a")
    assert (state["CountdownState"], state["Deadline"], state["Remaining"]) == (
        "paused",
        0,
        500_000,
    )
    # It ticks at once, though it does not run.
    assert listener.heard()[-1] == ("Tick", "a", 1, number)
    listener.read_until(begin + 0.7)
    assert listener.heard() == []
    begin = boottime()
    listener.call("ResumeCountdown", "a")
    assert listener.wait_for("Finished", "a", number).when - begin >= 0.5


def test_extremes_of_a_duration_itself(listener):
    for duration in (LONGEST + 1, 2**63, 2**64 - 1):
        refusal = listener.refusal("StartCountdownWithOptions", "a", duration, {})
        assert refusal.name == INVALID_ARGS and str(duration) in refusal.text
    assert listener.objects() == {}
    for duration in (0, 1, LONGEST):
        assert listener.call("StartCountdownWithOptions", "a", duration, {}) > 0


def test_a_multitude_of_options(listener):
    """However many keys there are, there is an answer."""
    many = [(f"x-{index}", Variant("u", index)) for index in range(20_000)]
    for method in OPTIONS:
        request = listener.request(method, "a", *ARGUMENTS[method], many)
        answer, = listener.ask(request)
        assert answer.error in (None, INVALID_ARGS)
