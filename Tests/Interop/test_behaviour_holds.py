# SPDX-License-Identifier: MIT
"""Holds: a set of tokens, each of which ends once, and whose holder is told how."""

import random
import time

import pytest

from support import wire
from support.contract import BUSY, HOLDER, INVALID_ARGS, NO_SUCH_HOLD
from support.peer import BUS, describe
from support.waiting import wait_until
from support.wire import Variant


def cookies(state):
    """The cookies of those that hold a control, oldest first."""
    return [holder["cookie"] for holder in state["Holders"]]


def unicast(peer):
    """What a peer was told alone, by the daemon."""
    return [describe(m) for m in peer.signals if m.destination]


def test_busy_while_anybody_holds(listener):
    first = listener.call("Hold", "a", "one", {})
    second = listener.call("Hold", "a", "two", {})
    assert cookies(listener.state("a")) == [first, second]
    listener.call("Release", first, "")
    assert listener.get("a", "Busy")
    listener.call("Release", second, "")
    state = listener.state("a")
    assert not state["Busy"] and state["Holders"] == []


def test_a_release_too_many_harms_nothing(listener):
    """A counter would go wrong both ways: below zero, or on to an end that another has to make."""
    assert listener.refusal("Release", 1, "").name == NO_SUCH_HOLD
    first = listener.call("Hold", "a", "one", {})
    listener.call("Release", first, "")
    assert listener.refusal("Release", first, "").name == NO_SUCH_HOLD
    second = listener.call("Hold", "a", "two", {})
    # Late, and of another hold.
    assert listener.refusal("Release", first, "").name == NO_SUCH_HOLD
    assert cookies(listener.state("a")) == [second]


def test_cookies_are_never_used_again(listener):
    chance = random.Random(2)
    given = []
    for _ in range(100):
        control = chance.choice("abc")
        given.append(listener.call("Hold", control, "", {}))
        if chance.random() < 0.5:
            listener.result(chance.choice([
                listener.request("Release", given[-1], ""), listener.request("ReleaseAll", control),
                listener.request("Forget", control)]))
    assert given[0] == 1
    assert sorted(set(given)) == given


def test_what_a_hold_tells_of_itself(bus, listener):
    other = bus.connect()
    before = time.time_ns() // 1000
    cookie = other.call("Hold", "a", "saving", {"application": Variant("s", "Editor")})
    after = time.time_ns() // 1000
    told = listener.read_property("/org/busyindicator/BusyIndicator1/control/a",
                                  "org.busyindicator.BusyIndicator1.Control", "Holders")
    assert told.signature == "aa{sv}"
    entry, = told.value
    assert {name: value.signature for name, value in entry.items()} == HOLDER
    assert before <= entry["since-usec"].value <= after
    assert wire.plain(entry) == {
        "kind": "hold", "cookie": cookie, "reason": "saving", "application": "Editor",
        "sender": other.name, "pid": 0, "lease": "sender", "since-usec": entry["since-usec"].value}


def test_holders_stand_oldest_first(listener):
    listener.call("Hold", "a", "one", {})
    listener.call("StartCountdownWithOptions", "a", 10**9, {"indicator": Variant("b", True)})
    listener.call("ShowIndicator", "a")
    listener.call("Hold", "a", "two", {})
    holders = listener.state("a")["Holders"]
    assert [holder["kind"] for holder in holders] == ["hold", "countdown", "switch", "hold"]
    since = [holder["since-usec"] for holder in holders]
    assert since == sorted(since)
    assert listener.get("a", "BusySince") == since[0]


def test_holders_are_announced_without_their_value(listener):
    listener.call("ShowIndicator", "a")
    listener.heard()
    listener.call("Hold", "a", "one", {})
    assert listener.heard() == [("PropertiesChanged", "a", {}, ["Holders"])]


def test_ones_own_release_is_not_told(listener):
    cookie = listener.call("Hold", "a", "one", {})
    listener.call("Release", cookie, "")
    listener.ping()
    assert unicast(listener) == []


def test_each_holder_is_told_how_it_ended_and_nobody_else(bus, listener):
    """HoldEnded is for the holder alone, and reaches it without a match rule of its own."""
    holder, other = bus.connect(), bus.connect()
    for peer in (holder, other):
        peer.listen()
    released, swept, forgotten = (holder.call("Hold", name, "work", {}) for name in "abc")
    expired = holder.call("Hold", "d", "work", {"ttl-usec": Variant("t", 50_000)})
    other.call("Release", released, "")
    assert other.call("ReleaseAll", "b") == 1
    other.call("Forget", "c")
    holder.wait_for("HoldEnded", expired)
    assert unicast(holder) == [
        ("HoldEnded", released, "released-by-other"), ("HoldEnded", swept, "released-by-other"),
        ("HoldEnded", forgotten, "forgotten"), ("HoldEnded", expired, "expired")]
    assert all(m.destination == holder.name for m in holder.signals if m.member == "HoldEnded")
    for peer in (other, listener):
        peer.ping()
        assert not [m for m in peer.signals if m.member == "HoldEnded"]


def test_release_all(bus, listener):
    holder, other = bus.connect(), bus.connect()
    own = listener.call("Hold", "a", "own", {})
    theirs = [holder.call("Hold", "a", str(index), {}) for index in range(3)]
    elsewhere = holder.call("Hold", "b", "", {})
    listener.call("ShowIndicator", "a")
    number = listener.call(
        "StartCountdownWithOptions", "a", 10**9, {"indicator": Variant("b", True)})
    assert listener.get("a", "Busy")
    assert listener.call("ReleaseAll", "a") == 4
    state = listener.state("a")
    assert (state["Busy"], state["Holders"]) == (False, [])
    assert (state["Countdown"], state["CountdownState"]) == (number, "running")
    # The caller, too, is told if it is a holder.
    assert unicast(listener) == [("HoldEnded", own, "released-by-other")]
    holder.ping()
    assert unicast(holder) == [("HoldEnded", cookie, "released-by-other") for cookie in theirs]
    assert cookies(listener.state("b")) == [elsewhere]
    assert other.call("ReleaseAll", "a") == 0
    assert other.call("ReleaseAll", "unknown") == 0


@pytest.mark.parametrize("result, told", [
    ("", "released"), ("exit 2", "released: exit 2"), ("é" * 128, "released: " + "é" * 128)])
def test_how_it_went(bus, listener, result, told):
    cookie = listener.call("Hold", "a", "work", {})
    # Whoever releases it.
    bus.connect().call("Release", cookie, result)
    state = listener.state("a")
    assert (state["LastResult"], state["LastCountdown"]) == (told, 0)


def test_last_result_tells_of_the_last(bus, listener):
    number = listener.call("StartCountdown", "a", 0)
    listener.ping()
    assert (listener.get("a", "LastResult"), listener.get("a", "LastCountdown")) == (
        "finished",
        number,
    )
    for end, told in [
            (lambda cookie: listener.call("Release", cookie, "done"), "released: done"),
            (lambda cookie: listener.call("ReleaseAll", "a"), "released-by-other")]:
        end(listener.call("Hold", "a", "", {}))
        assert (listener.get("a", "LastResult"), listener.get("a", "LastCountdown")) == (told, 0)
    number = listener.call("StartCountdown", "a", 1000)
    listener.call("StartCountdown", "a", 1000)
    assert (listener.get("a", "LastResult"), listener.get("a", "LastCountdown")) == (
        "replaced",
        number,
    )
    # The switch is neither a countdown nor a hold.
    listener.call("ShowIndicator", "a")
    listener.call("HideIndicator", "a")
    assert listener.get("a", "LastResult") == "replaced"


@pytest.mark.parametrize("options", [
    {}, {"lease": Variant("s", "sender"), "notify-after-usec": Variant("t", 0)}],
    ids=["one", "two"])
def test_a_holder_that_leaves_is_no_success(bus, listener, options):
    holder = bus.connect()
    holder.call("Hold", "a", "work", {})
    if options:
        holder.call("Hold", "a", "more work", options)
    holder.close()
    listener.wait_for_change("a", "Busy", False)
    assert listener.get("a", "LastResult") == "owner-lost"


def test_many_leave_in_random_order(bus, listener):
    """Busy until the last of forty has left, some of them with several holds."""
    chance = random.Random(3)
    holders = [bus.connect() for _ in range(40)]
    left = []
    for holder in holders:
        for _ in range(chance.choice([1, 1, 3])):
            left.append((holder.name, holder.call("Hold", "a", "", {})))
    # A quarter releases first.
    for holder in chance.sample(holders, 10):
        cookie = chance.choice([cookie for name, cookie in left if name == holder.name])
        holder.call("Release", cookie, "")
        left.remove((holder.name, cookie))
    chance.shuffle(holders)
    for holder in holders:
        holder.close()
        left = [(name, cookie) for name, cookie in left if name != holder.name]
        wait_until(
            lambda: cookies(state := listener.state("a")) == [cookie for _, cookie in left]
            and state["Busy"] == bool(left), f"{len(left)} are left")
    assert not listener.get("a", "Busy")
    changes = [
        describe(m)[2]["Busy"]
        for m in listener.signals
        if m.member == "PropertiesChanged"
        and m.path.endswith("/control/a")
        and "Busy" in describe(m)[2]
    ]
    assert changes == [False]


@pytest.mark.parametrize("flags", [0, wire.NO_REPLY_EXPECTED], ids=["answered", "unanswered"])
def test_a_holder_that_left_before_its_watch_stood(bus, daemon, listener, flags):
    """The one-shot command line: whoever holds and leaves at once would be held for ever."""
    listener.call("SetTitle", "a", "A")
    with daemon.stopped():
        holder = bus.connect()
        holder.send(holder.request("Hold", "a", "", {}, flags=flags))
        holder.bus("GetId")
        name = holder.name
        holder.close()
        wait_until(lambda: not listener.bus("NameHasOwner", "s", name), "it has left")
    wait_until(lambda: listener.get("a", "LastResult") == "owner-lost", "its hold has ended")
    assert not listener.get("a", "Busy")


def test_a_thousand_that_come_and_go(bus, daemon, listener):
    """Nothing is left of peers that have left: no hold, no watch, no descriptor."""
    listener.call("ShowIndicator", "a")
    listener.call("HideIndicator", "a")
    before = daemon.descriptors()
    for number in range(10):
        peers = [bus.connect() for _ in range(20)]
        for peer in peers:
            holds = [peer.request("Hold", "a", "", {}) for _ in range(5)]
            # Every other time they do not even wait for the answers.
            (peer.ask if number % 2 else peer.send)(*holds)
        for peer in peers:
            peer.close()
    wait_until(lambda: not listener.get("a", "Busy"), "all have left")
    assert daemon.descriptors() == before


def test_exclusive(bus, listener):
    exclusive = {"exclusive": Variant("b", True)}
    first = listener.call("Hold", "a", "the first", exclusive)
    listener.call("Hold", "a", "the second", {})
    refused = bus.connect().refusal("Hold", "a", "the third", exclusive)
    assert refused.name == BUSY
    # Which holder that is, and no other.
    assert "the first" in refused.text and "the second" not in refused.text
    assert f"hold {first}" in refused.text and listener.name in refused.text
    assert len(listener.state("a")["Holders"]) == 2
    listener.call("Release", first, "")
    assert "the second" in listener.refusal("Hold", "a", "", exclusive).text
    # The switch, and a countdown that indicates, are holders as well.
    listener.call("ShowIndicator", "b")
    assert listener.refusal("Hold", "b", "", exclusive).name == BUSY
    indicator = {"indicator": Variant("b", True)}
    listener.call("StartCountdownWithOptions", "c", 10**9, indicator)
    assert listener.refusal("Hold", "c", "", exclusive).name == BUSY
    # A countdown that does not is none.
    listener.call("StartCountdown", "d", 1000)
    listener.call("Hold", "d", "", exclusive)
    # What is not asked for is not refused.
    listener.call("Hold", "d", "", {"exclusive": Variant("b", False)})


def test_release_of_another_kind_of_number(listener):
    listener.call("Hold", "a", "", {})
    for number in (0, 2, 2**32 - 1):
        assert listener.refusal("Release", number, "").name == NO_SUCH_HOLD
        assert listener.refusal("Renew", number).name == NO_SUCH_HOLD
    assert listener.refusal("Renew", 1).name == INVALID_ARGS
    assert listener.get("a", "Busy")


def test_a_thousand_holds_of_one(bus, daemon, listener):
    """One by one, which makes as many announcements: what somebody hears of it stays small."""
    holder = bus.connect()
    for _ in range(1000):
        holder.call("Hold", "a", "x" * 256, {})
    refused = holder.refusal("Hold", "a", "", {})
    assert refused.name == "org.freedesktop.DBus.Error.LimitsExceeded"
    listener.ping()
    assert sum(m.size for m in listener.messages if m.sender != BUS) < 1_000_000
    assert len(listener.state("a")["Holders"]) == 1000
    # Others are not kept from holding.
    own = listener.call("Hold", "b", "", {})
    listener.heard()
    holder.close()
    listener.wait_for_change("a", "Busy", False)
    # In one turn: one announcement.
    told = [event for event in listener.heard() if event[1] == "a"]
    assert len(told) == 1 and "Holders" in told[0][3]
    assert cookies(listener.state("b")) == [own]
