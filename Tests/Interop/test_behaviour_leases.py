# SPDX-License-Identifier: MIT
"""What ends a hold by itself: a process, a time, or nothing."""

import contextlib
import os
import pathlib
import subprocess
import threading

import pytest

from support.contract import INVALID_ARGS, NO_SUCH_HOLD
from support.peer import describe
from support.processes import program_of, running
from support.waiting import boottime, wait_until
from support.wire import Variant


def pid_lease(pid):
    """The options of a hold that ends with a process."""
    return {"pid": Variant("u", pid)}


def ttl_lease(seconds):
    """The options of a hold that ends unless it is renewed."""
    return {"ttl-usec": Variant("t", round(seconds * 1e6))}


def descriptors_at_rest(daemon, peer):
    """How many descriptors the daemon has once it has opened all that it keeps open."""
    peer.call("ShowIndicator", "warming up")
    peer.call("Forget", "warming up")
    return daemon.descriptors()


def test_it_ends_with_its_process(bus, listener):
    holder = bus.connect()
    with running("sleep", "600") as process:
        cookie = holder.call("Hold", "a", "work", pid_lease(process.pid))
        told, = listener.state("a")["Holders"]
        assert (told["pid"], told["lease"], told["sender"]) == (process.pid, "pid", holder.name)
        process.kill()
        process.wait()
    holder.wait_for("HoldEnded", cookie, "owner-lost")
    state = listener.state("a")
    assert (state["Busy"], state["LastResult"]) == (False, "owner-lost")


def test_its_caller_may_leave(bus, listener):
    with running("sleep", "600") as process:
        holder = bus.connect()
        cookie = holder.call(
            "Hold", "a", "", {**pid_lease(process.pid), "lease": Variant("s", "pid")}
        )
        holder.close()
        wait_until(lambda: not listener.bus("NameHasOwner", "s", holder.name), "it has left")
        listener.ping()
        assert listener.state("a")["Holders"][0]["cookie"] == cookie
    listener.wait_for_change("a", "Busy", False)
    assert listener.get("a", "LastResult") == "owner-lost"


def test_another_program_in_the_same_process(listener):
    """execve makes no other process of it."""
    with running("sh", "-c", "read line; exec sleep 600", stdin=subprocess.PIPE) as process:
        listener.call("Hold", "a", "", pid_lease(process.pid))
        process.stdin.write("\n")
        process.stdin.flush()
        wait_until(lambda: program_of(process.pid) == "sleep", "it has become another program")
        listener.ping()
        assert listener.get("a", "Busy")
        process.kill()
        process.wait()
        listener.wait_for_change("a", "Busy", False)


def test_a_process_that_ends_itself(listener):
    """One that ends while it is still there for its parent to look at has ended."""
    with running("cat", stdin=subprocess.PIPE) as process:
        listener.call("Hold", "a", "", pid_lease(process.pid))
        process.stdin.close()
        listener.wait_for_change("a", "Busy", False)
        assert listener.refusal("Hold", "a", "", pid_lease(process.pid)).name == INVALID_ARGS


def some_dead_process():
    """The number of a process that there is no more."""
    with running("true") as process:
        process.wait()
    return process.pid


@pytest.mark.parametrize("pid", [0, 2**31 - 1, 2**31, 2**32 - 1, "dead"])
def test_no_such_process(listener, pid):
    pid = some_dead_process() if pid == "dead" else pid
    refused = listener.refusal("Hold", "a", "", pid_lease(pid))
    assert refused.name == INVALID_ARGS
    assert str(pid) in refused.text
    assert listener.heard() == [] and listener.objects() == {}


def test_a_thread_is_no_process(listener):
    going_on = threading.Event()
    thread = threading.Thread(target=going_on.wait)
    thread.start()
    try:
        refused = listener.refusal("Hold", "a", "", pid_lease(thread.native_id))
        assert refused.name == INVALID_ARGS
    finally:
        going_on.set()
        thread.join()


@contextlib.contextmanager
def foreign_process():
    """A living process of another user."""
    if os.getuid() == 0:
        command = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sleep", "600")
        with running(*command) as process:
            wait_until(lambda: program_of(process.pid) == "sleep", "it is another user's")
            yield process.pid
    else:
        yield next(
            int(entry.name) for entry in pathlib.Path("/proc").iterdir()
            if entry.name.isdigit() and entry.stat().st_uid != os.getuid())


def test_another_users_process(listener):
    with foreign_process() as pid:
        refused = listener.refusal("Hold", "a", "", pid_lease(pid))
        assert refused.name == INVALID_ARGS
        assert str(pid) in refused.text
    assert listener.heard() == [] and listener.objects() == {}


def test_two_hundred_processes(daemon, listener):
    """All are watched at once, and no descriptor is left behind, whichever way a hold ends."""
    before = descriptors_at_rest(daemon, listener)
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(running("sleep", "600")) for _ in range(200)]
        given = [answer.body[0] for answer in listener.ask(*(
            listener.request("Hold", "a", "", pid_lease(process.pid)) for process in processes))]
        assert daemon.descriptors() == before + 200
        for cookie in given[:50]:
            listener.call("Release", cookie, "")
        forgotten = listener.call("Hold", "b", "", pid_lease(processes[0].pid))
        listener.call("Forget", "b")
        swept = listener.call("Hold", "c", "", pid_lease(processes[0].pid))
        listener.call("ReleaseAll", "c")
        assert daemon.descriptors() == before + 150
        for process in processes[50:]:
            process.kill()
        listener.wait_for_change("a", "Busy", False)
        listener.ping()
        ended = [told[1] for told in map(describe, listener.signals) if told[0] == "HoldEnded"]
        assert sorted(ended) == [*given[50:], forgotten, swept]
        assert daemon.descriptors() == before


def test_refusals_leave_no_descriptor(daemon, listener):
    before = descriptors_at_rest(daemon, listener)
    with foreign_process() as pid:
        for _ in range(50):
            listener.refusal("Hold", "a", "", pid_lease(pid))
            # Wrong otherwise, with a process that could be watched.
            listener.refusal("Hold", "", "", pid_lease(os.getpid()))
            listener.refusal("Hold", "a", "x" * 257, pid_lease(os.getpid()))
            listener.refusal("Hold", "a", "", {
                **pid_lease(os.getpid()), "lease": Variant("s", "ttl")})
    assert daemon.descriptors() == before


def test_ttl_expires(bus, listener):
    holder = bus.connect()
    begin = boottime()
    cookie = holder.call("Hold", "a", "", ttl_lease(1))
    told, = listener.state("a")["Holders"]
    assert (told["lease"], told["pid"]) == ("ttl", 0)
    ended = holder.wait_for("HoldEnded", cookie, "expired")
    assert ended.when - begin >= 1
    assert listener.get("a", "LastResult") == "expired"
    assert not listener.get("a", "Busy")
    assert holder.refusal("Renew", cookie).name == NO_SUCH_HOLD


def test_ttl_goes_on_without_its_caller(bus, listener):
    holder = bus.connect()
    begin = boottime()
    holder.call("Hold", "a", "", {**ttl_lease(0.5), "lease": Variant("s", "ttl")})
    holder.close()
    assert listener.wait_for_change("a", "Busy", False).when - begin >= 0.5
    assert listener.get("a", "LastResult") == "expired"


def test_renew(bus, listener):
    cookie = listener.call("Hold", "a", "", ttl_lease(1.5))
    other = bus.connect()
    for _ in range(2):
        listener.read_until(boottime() + 0.8)
        listener.heard()
        begin = boottime()
        # Any caller may.
        other.call("Renew", cookie)
        # Nobody has to hear of it.
        assert listener.heard() == []
    assert listener.wait_for("HoldEnded", cookie, "expired").when - begin >= 1.5


def test_renew_what_has_no_time(listener):
    for options in ({}, {"lease": Variant("s", "none")}, pid_lease(os.getpid())):
        cookie = listener.call("Hold", "a", "", options)
        refused = listener.refusal("Renew", cookie)
        assert refused.name == INVALID_ARGS
        assert str(cookie) in refused.text
    assert len(listener.state("a")["Holders"]) == 3


def test_a_renewal_that_comes_too_late(daemon, listener):
    """What is due happens before calls, however late the timer is."""
    begin = boottime()
    cookie = listener.call("Hold", "a", "", ttl_lease(0.4))
    after = boottime()
    with daemon.stopped():
        serial, = listener.send(listener.request("Renew", cookie))
        listener.bus("GetId")
        listener.read_until(after + 0.45)
    assert listener.answer(serial).error == NO_SUCH_HOLD
    assert listener.wait_for("HoldEnded", cookie, "expired").when - begin >= 0.4


def test_none_holds_until_it_is_released(bus, listener):
    holder = bus.connect()
    cookie = holder.call("Hold", "a", "", {"lease": Variant("s", "none")})
    holder.close()
    wait_until(lambda: not listener.bus("NameHasOwner", "s", holder.name), "it has left")
    listener.ping()
    told, = listener.state("a")["Holders"]
    assert (told["lease"], told["pid"], told["sender"]) == ("none", 0, holder.name)
    listener.call("Release", cookie, "")
    assert not listener.get("a", "Busy")


def test_one_peer_with_all_leases(bus, listener):
    """When it leaves, only what depended on it ends."""
    holder = bus.connect()
    with running("sleep", "600") as process:
        holder.call("Hold", "a", "", {})
        kept = [
            holder.call("Hold", "a", "", options)
            for options in (pid_lease(process.pid), ttl_lease(600), {"lease": Variant("s", "none")})
        ]
        holder.call("Hold", "a", "", {"lease": Variant("s", "sender")})
        holder.close()
        wait_until(
            lambda: [told["cookie"] for told in listener.state("a")["Holders"]] == kept,
            "the others are left")


def test_a_countdown_with_its_caller(bus, listener):
    owner = bus.connect()
    lease = {"lease": Variant("s", "sender")}
    number = owner.call("StartCountdownWithOptions", "a", 10**9, lease)
    kept = owner.call("StartCountdown", "b", 1000)
    owner.close()
    listener.wait_for("Cancelled", "a", number, "owner-lost")
    state = listener.state("a")
    assert (state["LastResult"], state["LastCountdown"]) == ("owner-lost", number)
    assert listener.get("b", "Countdown") == kept
    # One that has been replaced is none of its former caller's any more.
    owner = bus.connect()
    owner.call("StartCountdownWithOptions", "c", 10**9, lease)
    number = listener.call("StartCountdown", "c", 1000)
    owner.close()
    wait_until(lambda: not listener.bus("NameHasOwner", "s", owner.name), "it has left")
    listener.ping()
    assert listener.get("c", "Countdown") == number
