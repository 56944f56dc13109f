# SPDX-License-Identifier: MIT
"""Holds, and what ends them by themselves."""

import os
import random
import signal
import time

import pytest

from harness import ERROR, NAME, STANDARD, pass_time, wait_until
from wire import SIGNAL, encode


def ended(client):
    return [m.arguments for m in client.signals("HoldEnded")]


def test_a_set_of_tokens(client):
    first = client.do("Hold", "a", "one", {})
    second = client.do("Hold", "a", "two", {})
    assert first >= 1 and second > first
    client.do("Release", first, "")
    assert client.refused("Release", first, "") == ERROR + "NoSuchHold"
    assert client.get("a", "Busy") is True, "a release too many does not end another's hold"
    client.do("HideIndicator", "a")
    assert client.get("a", "Busy") is True
    client.do("Release", second, "exit 2")
    state = client.state("a")
    assert (state["Busy"], state["LastResult"], state["LastCountdown"]) == (False, "released: exit 2", 0)
    third = client.do("Hold", "a", "", {})
    assert client.refused("Release", second, "") == ERROR + "NoSuchHold", "a late release"
    client.do("Release", third, "")
    assert client.get("a", "LastResult") == "released"
    assert ended(client) == [], "its own releases are not told"
    for cookie in [0, 2**32 - 1]:
        assert client.refused("Release", cookie, "") == ERROR + "NoSuchHold"
        assert client.refused("Renew", cookie) == ERROR + "NoSuchHold"


def test_holders_say_why(bus, client):
    client.do("ShowIndicator", "a")
    other = bus.client()
    cookie = other.do("Hold", "a", "backup", {"application": ("s", "cron"), "lease": ("s", "none")})
    client.do("StartCountdownWithOptions", "a", 60_000_000, {"indicator": ("b", True)})
    mine = os.getpid()
    process = client.do("Hold", "a", "p", {"pid": ("u", mine)})
    ttl = client.do("Hold", "a", "t", {"ttl-usec": ("t", 60_000_000)})
    holders = client.get("a", "Holders")
    assert [(h["kind"], h["cookie"], h["reason"], h["lease"], h["pid"]) for h in holders] == [
        ("switch", 0, "", "none", 0), ("hold", cookie, "backup", "none", 0),
        ("countdown", 0, "", "none", 0), ("hold", process, "p", "pid", mine),
        ("hold", ttl, "t", "ttl", 0)]
    assert holders[1]["sender"] == other.name and holders[1]["application"] == "cron"
    assert all(abs(h["since-usec"] / 1e6 - time.time()) < 10 for h in holders)
    times = [h["since-usec"] for h in holders]
    assert times == sorted(times)


@pytest.mark.parametrize("seed", range(3))
def test_many_holders_leave_in_random_order(bus, client, seed):
    holders = [bus.client() for _ in range(30)]
    for holder in holders:
        holder.do("Hold", "a", "", {})
    random.Random(seed).shuffle(holders)
    for left, holder in enumerate(holders, 1):
        holder.close()
        expected = len(holders) - left
        wait_until(lambda: len(client.get("a", "Holders")) == expected, f"{expected} are left")
        assert client.get("a", "Busy") is (expected > 0)
    assert client.get("a", "LastResult") == "owner-lost"


def test_a_holder_that_left_before_it_was_watched(bus, daemon, client):
    """As a one-shot busctl call does: the daemon finds the call when the caller has gone already."""
    holder = bus.client()
    daemon.send(signal.SIGSTOP)
    holder.post("Hold", "a", "", {})
    holder.sent()
    holder.close()
    wait_until(lambda: not client.bus("NameHasOwner", "s", holder.name), "the holder has gone")
    daemon.send(signal.SIGCONT)
    wait_until(lambda: client.get("a", "LastResult") == "owner-lost", "the hold has gone, too")
    assert client.get("a", "Busy") is False


def test_a_forged_departure_is_not_believed(bus, client):
    holder, forger = bus.client(), bus.client()
    holder.do("Hold", "a", "", {})
    forger.serial += 1
    forger.socket.sendall(encode(SIGNAL, forger.serial, {
        "path": "/org/freedesktop/DBus", "interface": "org.freedesktop.DBus",
        "member": "NameOwnerChanged", "destination": NAME}, "sss", (holder.name, holder.name, "")))
    forger.sent()
    client.settle()
    assert client.get("a", "Busy") is True


def test_release_by_another_is_told_to_the_holder_alone(bus, client):
    holder, other = bus.client(), bus.subscriber("type='signal'")
    cookie = holder.do("Hold", "a", "", {})
    client.do("Release", cookie, "bye")
    assert holder.wait_signal("HoldEnded").arguments == [cookie, "released-by-other"]
    other.settle()
    assert ended(other) == [] and ended(client) == []
    assert client.get("a", "LastResult") == "released: bye"


def test_release_all(bus, client):
    holder = bus.client()
    cookies = [holder.do("Hold", "a", "", {}), client.do("Hold", "a", "", {})]
    client.do("ShowIndicator", "a")
    number = client.do("StartCountdownWithOptions", "a", 60_000_000, {"indicator": ("b", True)})
    assert client.do("ReleaseAll", "a") == 2
    assert holder.wait_signal("HoldEnded").arguments == [cookies[0], "released-by-other"]
    assert client.wait_signal("HoldEnded").arguments == [cookies[1], "released-by-other"]
    state = client.state("a")
    assert (state["Busy"], state["Countdown"], state["Holders"]) == (False, number, [])
    assert client.do("ReleaseAll", "a") == 0
    assert client.do("ReleaseAll", "unknown") == 0


def test_exclusive_is_acquire_if_free(bus, client):
    first = client.do("Hold", "a", "first", {"exclusive": ("b", True), "application": ("s", "make")})
    client.do("Hold", "a", "second", {})
    with pytest.raises(Exception) as refusal:
        bus.client().do("Hold", "a", "third", {"exclusive": ("b", True)})
    assert refusal.value.name == ERROR + "Busy"
    assert f"hold {first}" in refusal.value.text and client.name in refusal.value.text
    client.do("ShowIndicator", "b")
    assert client.refused("Hold", "b", "", {"exclusive": ("b", True)}) == ERROR + "Busy"


def test_ttl_and_renew(client):
    begun = time.monotonic()
    cookie = client.do("Hold", "a", "", {"ttl-usec": ("t", 500_000)})
    for _ in range(3):
        pass_time(0.25)
        client.do("Renew", cookie)
    renewed = time.monotonic()
    assert client.wait_signal("HoldEnded").arguments == [cookie, "expired"]
    assert time.monotonic() - begun > 1.2 and time.monotonic() - renewed > 0.4
    assert client.get("a", "LastResult") == "expired"
    assert client.refused("Renew", cookie) == ERROR + "NoSuchHold"
    other = client.do("Hold", "a", "", {})
    assert client.refused("Renew", other) == STANDARD + "InvalidArgs"


def test_a_hold_without_a_lease_outlives_its_caller(bus, client):
    holder = bus.client()
    cookie = holder.do("Hold", "a", "", {"lease": ("s", "none")})
    holder.close()
    client.settle()
    client.settle()
    assert client.get("a", "Busy") is True
    client.do("Release", cookie, "")


def test_a_process_lease_ends_with_the_process(bus, client):
    child = bus.spawn("sleep", "60")
    cookie = client.do("Hold", "a", "", {"pid": ("u", child.pid)})
    assert client.get("a", "Busy") is True
    child.kill()
    child.wait()
    assert client.wait_signal("HoldEnded").arguments == [cookie, "owner-lost"]
    state = client.state("a")
    assert (state["Busy"], state["LastResult"]) == (False, "owner-lost")


def test_a_process_lease_lasts_across_execve(bus, client):
    child = bus.spawn("sh", "-c", "read line; exec sleep 60", stdin=-1)
    client.do("Hold", "a", "", {"pid": ("u", child.pid)})
    child.stdin.write(b"\n")
    child.stdin.close()
    wait_until(lambda: open(f"/proc/{child.pid}/comm").read() == "sleep\n", "it is another program")
    client.settle()
    assert client.get("a", "Busy") is True
    child.kill()
    wait_until(lambda: not client.get("a", "Busy"), "it has ended")


def test_a_process_that_is_none_is_refused(bus, client):
    dead = bus.spawn("true")
    dead.wait()
    zombie = bus.spawn("true")
    wait_until(lambda: open(f"/proc/{zombie.pid}/stat").read().rpartition(")")[2].split()[0] == "Z",
               "it is a zombie")
    for pid in [dead.pid, zombie.pid, 0, 2**31, 2**32 - 1]:
        assert client.refused("Hold", "a", "", {"pid": ("u", pid)}) == STANDARD + "InvalidArgs", pid
    assert client.refused("GetControl", "a") == ERROR + "NoSuchControl"


def test_another_users_process_is_refused(bus, client):
    """Only root can start one; an ordinary user finds root's process 1."""
    if os.getuid() == 0:
        pid = bus.spawn("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sleep", "60").pid
        wait_until(lambda: open(f"/proc/{pid}/comm").read() == "sleep\n", "it has changed its user")
    else:
        pid = 1
    assert client.refused("Hold", "a", "", {"pid": ("u", pid)}) == STANDARD + "InvalidArgs"


def test_two_hundred_processes_at_once_leave_no_descriptors(bus, daemon, client):
    before = daemon.descriptors()
    children = [bus.spawn("sleep", "60") for _ in range(200)]
    for child in children:
        client.do("Hold", "a", "", {"pid": ("u", child.pid)})
    assert daemon.descriptors() >= before + 200
    for child in children:
        child.kill()
    wait_until(lambda: not client.get("a", "Busy"), "all have gone")
    assert len(ended(client)) == 200
    assert daemon.descriptors() == before
    client.do("Hold", "a", "", {"pid": ("u", os.getpid())})
    client.do("ReleaseAll", "a")
    client.settle()
    assert daemon.descriptors() == before


def test_a_thousand_holds_of_one(bus, client, subscriber):
    """A change of Holders is announced without its value: that would be a megabyte for each."""
    holder = bus.client()
    subscriber.settle()
    subscriber.seen.clear()
    for index in range(1000):
        holder.do("Hold", "a", "r" * 200, {"application": ("s", "x" * 200)})
    subscriber.settle()
    assert sum(m.size for m in subscriber.signals()) < 1_000_000
    assert holder.refused("Hold", "a", "", {}) == STANDARD + "LimitsExceeded"
    assert len(client.get("a", "Holders")) == 1000
    subscriber.seen.clear()
    holder.close()
    wait_until(lambda: not client.get("a", "Busy"), "all have gone")
    subscriber.settle()
    assert len(subscriber.changes("a")) == 1, "in one turn"
    assert bus.client().do("Hold", "a", "", {}) == 1001


def test_limits_of_holds(bus):
    bus.daemon("--max-holds=3", "--max-holds-per-sender=2")
    one, two = bus.client(), bus.client()
    cookies = [one.do("Hold", "a", "", {"lease": ("s", "none")}) for _ in range(2)]
    assert one.refused("Hold", "b", "", {}) == STANDARD + "LimitsExceeded"
    two.do("Hold", "a", "", {})
    assert two.refused("Hold", "a", "", {}) == STANDARD + "LimitsExceeded"
    assert one.refused("GetControl", "b") == ERROR + "NoSuchControl"
    one.do("Release", cookies[0], "")
    two.do("Hold", "a", "", {})


def test_a_second_fault_of_a_killed_holder_is_no_success(bus, client):
    holder = bus.client()
    holder.do("Hold", "a", "", {})
    holder.do("Hold", "a", "", {"lease": ("s", "sender"), "notify-after-usec": ("t", 0)})
    holder.close()
    wait_until(lambda: not client.get("a", "Busy"), "both have ended")
    assert client.get("a", "LastResult") == "owner-lost"
