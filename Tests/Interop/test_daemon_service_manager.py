# SPDX-License-Identifier: MIT
"""What a service manager is told: ready, what it does, that it lives, and that it ends."""

import itertools
import signal

import pytest

from support import contract
from support.harness import Daemon, owner
from support.notify import NotifySocket
from support.processes import stopped
from support.waiting import Late, boottime, thrice, wait_until


def notified(bus, **options):
    """A daemon that has somebody to tell, and that somebody."""
    notify = NotifySocket(bus.directory)
    return Daemon(bus, NOTIFY_SOCKET=notify.path, **options), notify


def test_ready_status_stopping(bus):
    daemon, notify = notified(bus)
    peer = bus.connect()
    with notify:
        daemon.spawn()
        notify.wait_for("READY=1")
        # By then the name is taken and calls are answered.
        assert owner(peer)
        peer.ping()
        notify.wait_for(f"STATUS=Serving {contract.NAME}")
        daemon.process.send_signal(signal.SIGTERM)
        notify.wait_for("STOPPING=1")
        assert daemon.wait() == 0
        lines = notify.lines()
        assert lines.count("READY=1") == lines.count("STOPPING=1") == 1
        assert lines.index("READY=1") < lines.index("STOPPING=1")


def test_ready_comes_with_the_state(bus):
    """Objects of the last run are there when it says that it is ready."""
    daemon, notify = notified(bus)
    with notify:
        daemon.start()
        peer = bus.connect()
        for index in range(200):
            peer.call("SetTitle", f"c{index}", "T")
        assert daemon.terminate() == 0
        notify.lines()
        notify.heard.clear()
        daemon.spawn()
        notify.wait_for("READY=1")
        assert len(peer.objects()) == 200


@pytest.mark.one_bus
def test_not_ready_without_a_name(bus):
    """While the bus has not given the name, nothing is ready."""
    daemon, notify = notified(bus)
    with notify:
        with stopped(bus.pid):
            daemon.spawn()
            end_ = boottime() + 0.5
            while boottime() < end_:
                notify.pump(end_ - boottime() if end_ > boottime() else 0)
            assert notify.lines() == []
        notify.wait_for("READY=1")


def test_not_ready_when_the_name_is_taken(bus, daemon):
    second, notify = notified(bus)
    with notify:
        second.spawn()
        assert second.wait() == 1
        assert "READY=1" not in notify.lines()


@pytest.mark.timing
def test_watchdog(bus):
    # As systemd does it, for this process alone; execve leaves the number to the daemon.
    daemon, notify = notified(
        bus, WATCHDOG_USEC="800000",
        wrapper=("sh", "-c", 'WATCHDOG_PID=$$ exec "$@"', "sh"))

    def pings():
        notify.pump(0.05)
        return [when for line, when in notify.heard if line == "WATCHDOG=1"]

    def attempt():
        notify.heard.clear()
        wait_until(lambda: len(pings()) >= 4, "it has said four times that it lives")
        times = pings()
        # Not all the time, either.
        assert times[3] - times[0] > 0.4
        if max(later - earlier for earlier, later in itertools.pairwise(times)) >= 0.8:
            raise Late(f"at {times}")

    with notify:
        daemon.start()
        thrice(attempt)


def test_watchdog_of_another_process(bus):
    """Inherited variables that mean another process are not obeyed."""
    daemon, notify = notified(bus, WATCHDOG_USEC="100000", WATCHDOG_PID="1")
    with notify:
        daemon.start()
        end_ = boottime() + 0.4
        while boottime() < end_:
            notify.pump(0.05)
        assert "WATCHDOG=1" not in notify.lines()


def test_it_is_told_what_is_not_kept(bus):
    daemon, notify = notified(bus, XDG_RUNTIME_DIR=None)
    with notify:
        daemon.start()
        notify.wait_for("READY=1")
        daemon.expect_one_warning("XDG_RUNTIME_DIR")
        assert [line for line in notify.lines()
                if line.startswith("STATUS=") and "XDG_RUNTIME_DIR" in line]


def test_a_service_manager_that_is_not_there(bus):
    bus.daemon(NOTIFY_SOCKET=str(bus.directory / "nobody"))
    bus.connect().call("ShowIndicator", "a")
