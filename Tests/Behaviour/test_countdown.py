# SPDX-License-Identifier: MIT
"""Countdowns on the bus: when ticks and the end come, and that each ends once."""

import signal
import time

import pytest

from harness import ERROR, STANDARD, pass_time

LATE = 0.15


def instants(subscriber, control, start):
    """What the subscriber heard of a countdown: name, value, seconds since `start`."""
    return [(m.member, m.arguments[1] if m.member == "Tick" else None, m.time - start)
            for m in subscriber.signals("Tick", "Finished", "Cancelled") if m.arguments[0] == control]


@pytest.mark.timing
def test_three_seconds(client, subscriber):
    start = time.monotonic()
    number = client.do("StartCountdown", "submit", 3)
    begun = time.monotonic()
    subscriber.wait_signal("Finished", "submit", number)
    heard = instants(subscriber, "submit", start)
    assert [event[:2] for event in heard] == [("Tick", 3), ("Tick", 2), ("Tick", 1), ("Finished", None)]
    for (_, _, when), due in zip(heard, [0, 1, 2, 3]):
        assert when >= due, "never early"
        assert when <= due + (begun - start) + LATE
    state = client.state("submit")
    assert (state["LastResult"], state["LastCountdown"], state["CountdownState"]) == (
        "finished", number, "none")
    assert state["Deadline"] == state["Duration"] == state["Remaining"] == 0


def test_two_and_a_half_seconds(client, subscriber):
    start = time.monotonic()
    client.do("StartCountdownWithOptions", "a", 2_500_000, {})
    subscriber.wait_signal("Finished", "a")
    heard = instants(subscriber, "a", start)
    assert [event[:2] for event in heard] == [("Tick", 3), ("Tick", 2), ("Tick", 1), ("Finished", None)]
    assert all(when >= due for (_, _, when), due in zip(heard, [0, 0.5, 1.5, 2.5]))


def test_no_time_at_all_is_finished_alone(client, subscriber):
    number = client.do("StartCountdown", "a", 0)
    paused = client.do("StartCountdownWithOptions", "a", 0, {"paused": ("b", True)})
    subscriber.wait_signal("Finished", "a", paused)
    subscriber.settle()
    assert subscriber.events() == [("Finished", "a", number), ("Finished", "a", paused)]
    assert client.get("a", "CountdownState") == "none"


def test_the_longest(client, subscriber):
    seconds = 2**32 - 1
    client.do("StartCountdown", "a", seconds)
    assert subscriber.wait_signal("Tick", "a").arguments[1] == seconds
    client.do("StartCountdownWithOptions", "b", 2**62, {})
    assert subscriber.wait_signal("Tick", "b").arguments[1] == seconds
    assert client.get("a", "Duration") == seconds * 1_000_000
    assert client.get("b", "Duration") == 2**62


def test_a_stopped_daemon_goes_on_with_one_tick(daemon, client, subscriber):
    client.do("StartCountdown", "a", 60)
    subscriber.wait_signal("Tick", "a", 59)
    daemon.send(signal.SIGSTOP)
    pass_time(3.2)
    before = len(subscriber.seen)
    daemon.send(signal.SIGCONT)
    client.get("a", "Remaining")
    subscriber.settle()
    late = [m.arguments[1] for m in subscriber.seen[before:] if m.member == "Tick"]
    assert len(late) == 1 and 54 <= late[0] <= 56, late


def test_a_daemon_stopped_past_the_end_says_finished_once(daemon, client, subscriber):
    number = client.do("StartCountdown", "a", 1)
    daemon.send(signal.SIGSTOP)
    pass_time(1.3)
    serial = client.post("ExtendCountdown", "a", 10)
    daemon.send(signal.SIGCONT)
    with pytest.raises(Exception) as refusal:
        client.result(serial)
    assert refusal.value.name == ERROR + "NoCountdown", "what is due happens before calls"
    subscriber.wait_signal("Finished", "a", number)
    subscriber.settle()
    assert subscriber.events() == [("Tick", "a", 1, number), ("Finished", "a", number)]


def test_ten_restarts_in_a_row(client, subscriber):
    numbers = [client.do("StartCountdown", "a", 1) for _ in range(10)]
    assert len(set(numbers)) == 10 and 0 not in numbers
    subscriber.wait_signal("Finished", "a", numbers[-1])
    subscriber.settle()
    expected = []
    for index, number in enumerate(numbers):
        if index:
            expected.append(("Cancelled", "a", numbers[index - 1], "replaced"))
        expected.append(("Tick", "a", 1, number))
    expected.append(("Finished", "a", numbers[-1]))
    assert subscriber.events() == expected


def test_pause_resume_extend_cancel(client, subscriber):
    number = client.do("StartCountdown", "a", 30)
    client.do("PauseCountdown", "a")
    client.do("PauseCountdown", "a")
    state = client.state("a")
    assert (state["CountdownState"], state["Deadline"]) == ("paused", 0)
    assert 29_000_000 < state["Remaining"] <= 30_000_000
    assert client.get("a", "Remaining") == state["Remaining"], "it stands still"
    client.do("ExtendCountdown", "a", 10)
    assert client.get("a", "Remaining") == state["Remaining"] + 10_000_000
    assert client.get("a", "Duration") == 40_000_000
    client.do("ResumeCountdown", "a")
    client.do("ResumeCountdown", "a")
    assert client.get("a", "CountdownState") == "running"
    client.do("ExtendCountdown", "a", -5)
    client.do("CancelCountdown", "a")
    subscriber.settle()
    assert subscriber.events() == [
        ("Tick", "a", 30, number), ("Tick", "a", 40, number), ("Tick", "a", 40, number),
        ("Tick", "a", 35, number), ("Cancelled", "a", number, "cancelled")]
    for method in ["PauseCountdown", "ResumeCountdown", "CancelCountdown"]:
        assert client.refused(method, "a") == ERROR + "NoCountdown"
        assert client.refused(method, "unknown") == ERROR + "NoCountdown"
    assert client.refused("ExtendCountdown", "a", 1) == ERROR + "NoCountdown"


def test_shortened_to_nothing_it_finishes(client, subscriber):
    number = client.do("StartCountdown", "a", 30)
    client.do("ExtendCountdown", "a", -(2**31))
    assert subscriber.wait_signal("Finished", "a", number)
    paused = client.do("StartCountdownWithOptions", "a", 5_000_000, {"paused": ("b", True)})
    client.do("ExtendCountdown", "a", -5)
    assert subscriber.wait_signal("Finished", "a", paused)


def test_extensions_stop_at_the_limit(client):
    client.do("StartCountdownWithOptions", "a", 2**62 - 1_000_000, {})
    before = client.state("a")["Duration"]
    assert client.refused("ExtendCountdown", "a", 2**31 - 1) == STANDARD + "InvalidArgs"
    assert client.refused("StartCountdownWithOptions", "b", 2**62 + 1, {}) == STANDARD + "InvalidArgs"
    assert client.refused("StartCountdownWithOptions", "b", 2**64 - 1, {}) == STANDARD + "InvalidArgs"
    assert client.state("a")["Duration"] == before
    assert client.refused("GetControl", "b") == ERROR + "NoSuchControl"


def test_restart_policies(client, subscriber):
    first = client.do("StartCountdown", "a", 50)
    options = {"restart": ("s", "keep"), "indicator": ("b", True)}
    assert client.do("StartCountdownWithOptions", "a", 10_000_000, options) == first
    assert client.get("a", "Busy") is False, "its other options are ignored"
    options = {"restart": ("s", "reject")}
    assert client.refused("StartCountdownWithOptions", "a", 1, options) == ERROR + "CountdownActive"
    options = {"restart": ("s", "extend")}
    assert client.do("StartCountdownWithOptions", "a", 10_000_000, options) == first
    assert client.get("a", "Duration") == 60_000_000
    options = {"restart": ("s", "replace")}
    assert client.do("StartCountdownWithOptions", "a", 10_000_000, options) != first
    subscriber.settle()
    assert ("Cancelled", "a", first, "replaced") in subscriber.events()


def test_an_indicator_lives_as_long_as_the_countdown(client, subscriber):
    client.do("StartCountdownWithOptions", "a", 700_000,
              {"indicator": ("b", True), "application": ("s", "cook")})
    state = client.state("a")
    assert state["Busy"] and state["Visible"] and not state["DisplayedEnabled"]
    assert [(h["kind"], h["application"]) for h in state["Holders"]] == [("countdown", "cook")]
    subscriber.wait_signal("Finished", "a")
    assert client.get("a", "Busy") is False


@pytest.mark.timing
def test_an_interval_of_its_own(client, subscriber):
    client.do("StartCountdownWithOptions", "none", 1_200_000, {"interval": ("u", 0)})
    client.do("StartCountdownWithOptions", "two", 3_000_000, {"interval": ("u", 2)})
    subscriber.wait_signal("Finished", "two")
    assert [m.arguments[:2] for m in subscriber.signals("Tick")] == [["two", 3], ["two", 2]]
    assert subscriber.signals("Finished")[0].arguments[0] == "none"


def test_a_countdown_that_ends_with_its_caller(bus, client, subscriber):
    owner = bus.client()
    number = owner.do("StartCountdownWithOptions", "a", 60_000_000, {"lease": ("s", "sender")})
    other = owner.do("StartCountdown", "b", 60)
    owner.close()
    subscriber.wait_signal("Cancelled", "a", number)
    assert subscriber.events()[-1] == ("Cancelled", "a", number, "owner-lost")
    assert client.get("b", "Countdown") == other


@pytest.mark.parametrize("clock", ["boottime", "monotonic"])
def test_the_deadline_is_on_the_clock_it_names(client, clock):
    client.do("StartCountdownWithOptions", "a", 60_000_000, {"clock": ("s", clock)})
    state = client.state("a")
    assert state["CountdownClock"] == clock
    number = {"boottime": time.CLOCK_BOOTTIME, "monotonic": time.CLOCK_MONOTONIC}[clock]
    left = state["Deadline"] - time.clock_gettime_ns(number) // 1000
    assert 55_000_000 < left <= state["Remaining"] <= 60_000_000
