# SPDX-License-Identifier: MIT
"""State that survives the process: what was acknowledged is there afterwards, and nothing else."""

import os
import signal
import sqlite3

import pytest

from support.peer import BUS
from support.processes import end
from support.strace import killed_at_message
from support.waiting import boottime, wait_until
from support.wire import Variant


def told_of_holds(peer):
    """What a peer was told of its own holds."""
    return [tuple(m.body) for m in peer.signals if m.member == "HoldEnded"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_all_of_it_is_there_again(bus, daemon, client, number):
    holder = bus.connect()
    client.call("SetTitle", "a", "Titel 'é' \"")
    client.call("SetEnabled", "a", False)
    client.call("ShowIndicatorWithOptions", "a", {
        "application": Variant("s", "x"), "icon": Variant("s", "i")})
    client.call("SetProgress", "a", 0.3)
    client.call("SetDetail", "a", "12 of 90")
    cookies = [
        client.call("Hold", "a", "why", {"lease": Variant("s", "none")}),
        holder.call("Hold", "a", "mine", {}),
        client.call("Hold", "a", "process", {"pid": Variant("u", os.getpid())}),
        client.call("Hold", "a", "ttl", {"ttl-usec": Variant("t", 60_000_000)})]
    ident = client.call("StartCountdownWithOptions", "b", 90_000_000, {
        "indicator": Variant("b", True), "clock": Variant("s", "monotonic"),
        "interval": Variant("u", 7)})
    client.call("StartCountdownWithOptions", "c", 5_000_000, {"paused": Variant("b", True)})
    client.call("StartCountdown", "d", 0)
    before = client.lasting_objects()
    assert daemon.terminate(number) == (0 if number == signal.SIGTERM else -number)
    daemon.start()
    assert client.lasting_objects() == before
    assert client.manager("Busy") is True
    assert client.get("c", "Remaining") == 5_000_000
    # Numbers go on where they were.
    assert client.call("Hold", "a", "", {}) == cookies[-1] + 1
    assert client.call("StartCountdown", "b", 9) == ident + 3
    for cookie in cookies:
        client.call("Release", cookie, "")


def test_what_ended_meanwhile_is_told_once(bus, daemon, client, listener):
    gone, stays = bus.connect(), bus.connect()
    child, other = bus.spawn("sleep", "60"), bus.spawn("sleep", "60")
    finished = client.call("StartCountdown", "finished", 1)
    lost = gone.call(
        "StartCountdownWithOptions", "lost", 60_000_000, {"lease": Variant("s", "sender")})
    gone.call("Hold", "gone", "", {})
    stays.call("Hold", "stays", "", {})
    process = client.call("Hold", "process", "", {"pid": Variant("u", child.pid)})
    client.call("Hold", "other", "", {"pid": Variant("u", other.pid)})
    expired = client.call("Hold", "expired", "", {"ttl-usec": Variant("t", 100_000)})
    begin = boottime()
    client.call("ShowIndicatorFor", "limited", 1)
    listener.heard()
    daemon.kill()
    gone.close()
    end(child)
    wait_until(lambda: boottime() > begin + 1.2, "all of it has ended")
    daemon.start()
    events = [told for told in listener.heard() if told[0] in ("Tick", "Finished", "Cancelled")]
    assert sorted(events) == [
        ("Cancelled", "lost", lost, "owner-lost"), ("Finished", "finished", finished)]
    client.ping()
    assert sorted(told_of_holds(client)) == [(process, "owner-lost"), (expired, "expired")]
    assert {name: (state["Busy"], state["LastResult"])
            for name, state in client.objects().items()} == {
        "finished": (False, "finished"), "lost": (False, "owner-lost"),
        "gone": (False, "owner-lost"), "stays": (True, ""), "process": (False, "owner-lost"),
        "other": (True, ""), "expired": (False, "expired"), "limited": (False, "")}
    # Those that are left are watched again.
    end(other)
    listener.wait_for_change("other", "Busy", False)
    stays.close()
    listener.wait_for_change("stays", "Busy", False)


def test_a_process_of_the_same_number_is_another(bus, daemon, client):
    cookie = client.call("Hold", "a", "", {"pid": Variant("u", os.getpid())})
    daemon.kill()
    with sqlite3.connect(bus.database()) as connection:
        connection.execute("UPDATE hold SET start_time = start_time - 1")
    connection.close()
    daemon.start()
    client.wait_for("HoldEnded", cookie, "owner-lost")
    assert client.get("a", "Busy") is False


def test_time_goes_on_where_it_is(daemon, listener):
    begin = boottime()
    number = listener.call("StartCountdown", "a", 3)
    listener.call("ShowIndicatorWithOptions", "grace", {"grace-usec": Variant("t", 1_000_000)})
    daemon.kill()
    daemon.start()
    assert listener.wait_for("Finished", "a", number).when - begin >= 3
    assert listener.wait_for_change("grace", "Visible", True).when - begin >= 1
    # None is lost, doubled or out of step.
    assert [m.body[1] for m in listener.signals if m.member == "Tick"] == [3, 2, 1]


@pytest.mark.flags("--linger=3s")
def test_what_lingers_does_not_linger_anew(daemon, listener):
    begin = boottime()
    listener.call("StartCountdown", "idle", 0)
    daemon.kill()
    listener.read_until(begin + 1.5)
    again = boottime()
    daemon.start()
    removed = listener.wait_for("InterfacesRemoved", "idle").when
    assert removed - begin >= 3 and removed - again < 3


def test_killed_between_commit_and_answer(bus, daemon, client):
    client.call("SetTitle", "a", "before")
    with killed_at_message(bus, daemon, 1):
        answer, = client.ask(client.request("SetTitle", "a", "after"))
        assert answer.error == BUS + ".Error.NoReply"
        daemon.wait()
    daemon.start()
    # It was safe by then.
    assert client.get("a", "Title") == "after"


@pytest.mark.parametrize("message", [2, 3])
def test_killed_between_answer_and_signals(bus, daemon, listener, message):
    listener.call("SetTitle", "a", "before")
    with killed_at_message(bus, daemon, message):
        number = listener.call("StartCountdown", "a", 0)
        daemon.wait()
    daemon.start()
    state = listener.state("a")
    assert (state["LastResult"], state["LastCountdown"]) == ("finished", number)
    listener.ping()
    # A result does not come twice.
    assert len([m for m in listener.signals if m.member == "Finished"]) <= 1


def test_on_another_bus_nobody_inherits(bus, daemon, client):
    client.call("Hold", "a", "", {})
    client.call("ShowIndicator", "b")
    bus.stop()
    assert daemon.wait() == 1
    daemon.expected.append("the bus is gone")
    bus.restart()
    daemon.start()
    assert bus.connect().objects() == {}
    assert len(bus.databases()) == 2
