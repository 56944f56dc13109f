# SPDX-License-Identifier: MIT
"""Countdowns: which ticks come when, and what pausing, extending and restarting make of them."""

import random
import signal

import pytest

from support import contract
from support.contract import INVALID_ARGS, NO_COUNTDOWN
from support.peer import describe
from support.waiting import Late, boottime, check_instant, thrice
from support.wire import Variant

# In microseconds.
SECOND = 1_000_000
HOUR = 3600


def events(messages, control="a"):
    """Of signals those that are told of a countdown."""
    return [
        told for told in map(describe, messages)
        if told[0] in contract.SIGNALS and told[1] == control]


def ends(peer):
    """The countdowns of whose end somebody has heard."""
    return [m.body[1] for m in peer.signals if m.member in ("Finished", "Cancelled")]


def deadline_of(peer, control):
    """When a countdown ends, in seconds of its clock."""
    return peer.get(control, "Deadline") / SECOND


def start(peer, control, seconds, **options):
    """Starts a countdown that ticks each second, of a fraction of one or with options."""
    return peer.call("StartCountdownWithOptions", control, round(seconds * SECOND), options)


@pytest.mark.timing
def test_each_tick_in_its_time(listener):
    lengths = {"whole": (3, [3, 2, 1]), "half": (2.5, [2.5, 2, 1]), "short": (0.3, [0.3])}

    def attempt():
        begin = len(listener.messages)
        numbers = {name: start(listener, name, seconds) for name, (seconds, _) in lengths.items()}
        deadlines = {name: deadline_of(listener, name) for name in lengths}
        for name, (_, ticks) in lengths.items():
            number = numbers[name]
            listener.wait_for("Finished", name, number, after=begin)
            heard = [m for m in listener.messages[begin:] if events([m], name)]
            assert events(heard, name) == [
                *(("Tick", name, -(-left // 1), number) for left in ticks),
                ("Finished", name, number)]
            for message, left in zip(heard, [*ticks, 0]):
                # Instants are whole microseconds, which a float may miss by a few nanoseconds.
                check_instant(message.when, deadlines[name] - left - 1e-6)
            # None a second: one at the start, one at the end.
            changes = [told for told in map(describe, listener.messages[begin:])
                       if told[:2] == ("PropertiesChanged", name)]
            assert len(changes) <= 2, changes
            state = listener.state(name)
            assert (state["LastResult"], state["LastCountdown"]) == ("finished", number)
            assert (state["CountdownState"], state["Countdown"]) == ("none", 0)
            assert state["Deadline"] == state["Duration"] == state["Remaining"] == 0

    thrice(attempt)


def test_none_at_all(listener):
    expected = []
    for options in ({}, {"paused": Variant("b", True)}):
        number = start(listener, "a", 0, **options)
        listener.wait_for("Finished", "a", number)
        expected.append(("Finished", "a", number))
        assert events(listener.signals) == expected
        assert listener.state("a")["CountdownState"] == "none"
        assert listener.get("a", "LastCountdown") == number


def test_the_longest(listener):
    number = listener.call("StartCountdown", "a", 2**32 - 1)
    assert ("Tick", "a", 2**32 - 1, number) in listener.heard()
    state = listener.state("a")
    assert state["Duration"] == (2**32 - 1) * SECOND
    assert 0 < state["Duration"] - state["Remaining"] < 60 * SECOND
    # More seconds than a Tick can tell.
    number = listener.call("StartCountdownWithOptions", "a", contract.LONGEST, {})
    assert listener.heard()[-1] == ("Tick", "a", 2**32 - 1, number)
    assert listener.get("a", "Duration") == contract.LONGEST
    listener.call("CancelCountdown", "a")
    assert listener.heard()[-1] == ("Cancelled", "a", number, "cancelled")


def test_what_can_be_read(listener):
    before = boottime()
    number = listener.call("StartCountdown", "a", HOUR)
    state = listener.state("a")
    after = boottime()
    assert state["Countdown"] == number > 0
    assert (state["CountdownState"], state["CountdownClock"]) == ("running", "boottime")
    assert state["Duration"] == HOUR * SECOND
    assert before <= state["Deadline"] / SECOND - HOUR <= after
    assert before <= (state["Deadline"] - state["Remaining"]) / SECOND <= after
    assert not state["Busy"] and state["DisplayedEnabled"]
    listener.call("CancelCountdown", "a")
    assert {
        name: value for name, value in listener.state("a").items()
        if name not in ("Name", "LastResult", "LastCountdown")
    } == {
        name: value for name, value in contract.FRESH.items()
        if name not in ("LastResult", "LastCountdown")}
    assert listener.get("a", "LastResult") == "cancelled"
    assert listener.get("a", "LastCountdown") == number


@pytest.mark.timing
def test_a_stopped_daemon_ticks_once(daemon, listener):
    """After a late wake-up there is one Tick with the current value, and no burst."""
    def attempt():
        number = listener.call("StartCountdown", "a", 5)
        deadline = deadline_of(listener, "a")
        with daemon.stopped():
            # Behind all that it had sent by then.
            listener.bus("GetId")
            missed = len(listener.messages)
            listener.read_until(deadline - 2.5)
            assert len(listener.messages) == missed
        if boottime() > deadline - 2.1:
            raise Late("the test itself was not woken in time")
        listener.wait_for("Tick", "a", 2, after=missed)
        assert events(listener.messages[missed:]) == [
            ("Tick", "a", 3, number), ("Tick", "a", 2, number)]

    thrice(attempt)


def test_a_daemon_stopped_beyond_the_end(daemon, listener):
    number = start(listener, "a", 1.5)
    listener.wait_for("Tick", "a", 2)
    with daemon.stopped():
        missed = len(listener.messages)
        listener.read_until(boottime() + 1.6)
    listener.wait_for("Finished", "a")
    listener.ping()
    assert events(listener.messages[missed:]) == [("Finished", "a", number)]


@pytest.mark.parametrize("at_once", [False, True], ids=["one_by_one", "in_one_write"])
def test_ten_restarts(listener, at_once):
    requests = [listener.request("StartCountdown", "a", 1) for _ in range(10)]
    if at_once:
        numbers = [answer.body[0] for answer in listener.ask(*requests)]
    else:
        numbers = [listener.result(request) for request in requests]
    assert sorted(set(numbers)) == numbers
    listener.wait_for("Finished", "a", numbers[-1])
    told = events(listener.signals)
    for number in numbers[:-1]:
        own = [event for event in told if event[-1 if event[0] != "Cancelled" else 2] == number]
        ticked = [("Tick", "a", 1, number), ("Cancelled", "a", number, "replaced")]
        # One that nobody has seen need not have ticked; nothing comes after its end.
        assert own == ticked or at_once and own == ticked[1:]
    last = [event for event in told if event[-1] == numbers[-1]]
    assert last == [("Tick", "a", 1, numbers[-1]), ("Finished", "a", numbers[-1])]
    assert [event[2] for event in told if event[0] == "Cancelled"] == numbers[:-1]
    assert len([event for event in told if event[0] == "Finished"]) == 1
    # Each is ended before the next begins.
    order = [event[2] if event[0] == "Cancelled" else event[-1] for event in told]
    assert order == sorted(order)


def test_pause_keeps_what_is_left(listener):
    number = listener.countdown("a", 100.5)
    assert listener.wait_for("Tick").body[1] == 101
    listener.heard()
    listener.call("PauseCountdown", "a")
    (_, _, changes, invalidated), = listener.heard()
    assert changes == {"CountdownState": "paused", "Deadline": 0} and not invalidated
    left = listener.get("a", "Remaining")
    assert 100.5 * SECOND >= left > 70 * SECOND
    assert listener.get("a", "Remaining") == left
    listener.call("PauseCountdown", "a")
    assert listener.heard() == []
    listener.read_until(boottime() + 0.6)
    assert listener.heard() == []

    begin = boottime()
    listener.call("ResumeCountdown", "a")
    change, tick = listener.heard()
    assert change[2]["CountdownState"] == "running"
    assert begin <= change[2]["Deadline"] / SECOND - left / SECOND <= boottime()
    assert tick == ("Tick", "a", -(-left // SECOND), number)
    listener.call("ResumeCountdown", "a")
    assert listener.heard() == []


def test_extensions(listener):
    number = listener.countdown("a", 100)
    first = listener.get("a", "Deadline")
    listener.heard()
    listener.call("ExtendCountdown", "a", 60)
    change, tick = listener.heard()
    assert change[2] == {"Duration": 160 * SECOND, "Deadline": first + 60 * SECOND}
    assert tick[:2] == ("Tick", "a") and 130 < tick[2] <= 160
    listener.call("ExtendCountdown", "a", -60)
    change, tick = listener.heard()
    assert change[2] == {"Duration": 100 * SECOND, "Deadline": first}
    assert tick[:2] == ("Tick", "a") and 70 < tick[2] <= 100
    # Paused, too.
    listener.call("PauseCountdown", "a")
    left = listener.get("a", "Remaining")
    listener.heard()
    listener.call("ExtendCountdown", "a", 10)
    change, tick = listener.heard()
    assert change[2] == {"Duration": 110 * SECOND}
    assert tick == ("Tick", "a", -(-left // SECOND) + 10, number)
    assert listener.get("a", "Remaining") == left + 10 * SECOND
    assert listener.get("a", "CountdownState") == "paused"


@pytest.mark.parametrize("seconds", [-100, -101, -2**31])
@pytest.mark.parametrize("paused", [False, True], ids=["running", "paused"])
def test_shortened_to_nothing(listener, seconds, paused):
    number = listener.countdown("a", 100)
    if paused:
        listener.call("PauseCountdown", "a")
    listener.heard()
    listener.call("ExtendCountdown", "a", seconds)
    told = listener.heard()
    assert [event for event in told if event[0] != "PropertiesChanged"] == [
        ("Finished", "a", number)
    ]
    state = listener.state("a")
    assert (state["Countdown"], state["Remaining"], state["LastResult"]) == (0, 0, "finished")
    assert listener.refusal("ExtendCountdown", "a", 1).name == NO_COUNTDOWN


def test_an_extension_that_comes_too_late(daemon, listener):
    """What is due happens before calls, however late the timer is."""
    number = start(listener, "a", 0.4)
    deadline = deadline_of(listener, "a")
    with daemon.stopped():
        serial, = listener.send(listener.request("ExtendCountdown", "a", 60))
        # By then the bus has passed the call on.
        listener.bus("GetId")
        listener.read_until(deadline + 0.05)
    assert listener.answer(serial).error == NO_COUNTDOWN
    listener.ping()
    assert events(listener.signals) == [("Tick", "a", 1, number), ("Finished", "a", number)]


# What becomes of a countdown: the error, or the state behind each call.
TRANSITIONS = {
    "none": {
        "PauseCountdown": NO_COUNTDOWN, "ResumeCountdown": NO_COUNTDOWN,
        "ExtendCountdown": NO_COUNTDOWN, "CancelCountdown": NO_COUNTDOWN,
        "StartCountdown": "running", "ReleaseAll": "none", "Forget": None},
    "running": {
        "PauseCountdown": "paused", "ResumeCountdown": "running", "ExtendCountdown": "running",
        "CancelCountdown": "none", "StartCountdown": "running", "ReleaseAll": "running",
        "Forget": None},
    "paused": {
        "PauseCountdown": "paused", "ResumeCountdown": "running", "ExtendCountdown": "paused",
        "CancelCountdown": "none", "StartCountdown": "running", "ReleaseAll": "paused",
        "Forget": None},
    # Due, but the daemon has not been awake to see it.
    "due": {
        "PauseCountdown": NO_COUNTDOWN, "ResumeCountdown": NO_COUNTDOWN,
        "ExtendCountdown": NO_COUNTDOWN, "CancelCountdown": NO_COUNTDOWN,
        "StartCountdown": "running", "ReleaseAll": "none", "Forget": None},
}


@pytest.mark.parametrize("state", TRANSITIONS)
def test_every_call_in_every_state(daemon, listener, state):
    more = {"ExtendCountdown": (60,), "StartCountdown": (HOUR,)}
    for method in TRANSITIONS[state]:
        listener.call("SetTitle", method, "Title")
        if state in ("running", "paused"):
            listener.call("StartCountdown", method, HOUR)
        if state == "paused":
            listener.call("PauseCountdown", method)
    requests = {m: listener.request(m, m, *more.get(m, ())) for m in TRANSITIONS[state]}
    if state == "due":
        last = boottime()
        for method in TRANSITIONS[state]:
            start(listener, method, 0.5)
            last = max(last, deadline_of(listener, method))
        with daemon.stopped():
            serials = dict(zip(requests, listener.send(*requests.values())))
            listener.bus("GetId")
            listener.read_until(last + 0.05)
        answers = {method: listener.answer(serial) for method, serial in serials.items()}
    else:
        answers = dict(zip(requests, listener.ask(*requests.values())))
    for method, expected in TRANSITIONS[state].items():
        if expected is not None and "Error" in expected:
            assert answers[method].error == expected, method
            assert listener.get(method, "CountdownState") == "none"
            continue
        assert answers[method].error is None, method
        assert (method in listener.objects()) == (expected is not None)
        if expected:
            assert listener.get(method, "CountdownState") == expected, method
    # Every countdown ends once at most.
    ended = ends(listener)
    assert len(ended) == len(set(ended))


@pytest.mark.parametrize("seconds", [0, 1, 2**31 - 1, -1, -2**31])
def test_extremes_of_an_extension(listener, seconds):
    for name, duration in (("short", 1000 * SECOND), ("long", contract.LONGEST)):
        listener.call("StartCountdownWithOptions", name, duration, {})
        before = listener.get(name, "Duration")
        if before + seconds * SECOND > contract.LONGEST:
            assert listener.refusal("ExtendCountdown", name, seconds).name == INVALID_ARGS
            assert listener.get(name, "Duration") == before
        else:
            listener.call("ExtendCountdown", name, seconds)
            state = listener.state(name)
            assert state["Duration"] == max(0, before + seconds * SECOND)
            assert state["Remaining"] <= state["Duration"]


def test_ids_are_never_used_again(listener):
    chance = random.Random(1)
    numbers = []
    for _ in range(60):
        control = chance.choice("abc")
        numbers.append(start(listener, control, chance.choice([0, 0.001, 100])))
        if chance.random() < 0.3:
            listener.call("Forget", control)
    assert 0 not in numbers
    assert sorted(set(numbers)) == numbers
    listener.ping()
    for control in "abc":
        listener.call("Forget", control)
    listener.ping()
    # Each has ended, and once.
    assert sorted(ends(listener)) == numbers


def test_a_thousand_end_together(listener):
    """All of them are due in one turn or a few, and every one is told."""
    requests = [
        listener.request("StartCountdownWithOptions", f"c{index}", 700_000, {})
        for index in range(1000)
    ]
    numbers = [answer.body[0] for answer in listener.ask(*requests)]
    last = listener.wait_for("Finished", f"c{999}")
    listener.ping()
    told = [m.body[1] for m in listener.signals if m.member == "Finished"]
    assert sorted(told) == numbers
    assert last.body[1] == numbers[-1]


def test_a_signal_that_ends_the_daemon_ends_no_countdown_silently(daemon, listener):
    """State stays for the next start: nothing is told of a countdown that goes on there."""
    listener.countdown("a", HOUR)
    listener.heard()
    assert daemon.terminate(signal.SIGTERM) == 0
    listener.bus("GetId")
    assert events(listener.signals)[1:] == []
    daemon.start()
    assert listener.get("a", "CountdownState") == "running"
