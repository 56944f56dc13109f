# SPDX-License-Identifier: MIT
"""Nothing to do means nothing done: no system call, no wake-up."""

import signal

import pytest
from harness import end, spawn
from waiting import boottime, wait_until
from wire import Variant


class Tracer:
    """strace on the daemon, for as long as a block takes."""

    def __init__(self, bus, daemon):
        self.output = bus.directory / "strace"
        self.errors = bus.directory / "strace.err"
        self.command = ("strace", "-f", "-p", daemon.pid, "-o", self.output)

    def __enter__(self):
        self.process = spawn(*self.command, stderr=self.errors.open("wb"))
        wait_until(lambda: "attached" in self.errors.read_text(), "strace is attached")
        # The call in which it waits is shown once, without its end.
        wait_until(lambda: self.output.stat().st_size > 0, "strace shows where it waits")
        return self

    def __exit__(self, *_):
        end(self.process, signal.SIGINT)

    def calls(self):
        """The system calls that have returned so far."""
        lines = self.output.read_text().splitlines()
        return [line for line in lines if " = " in line and " = ? " not in line]


def busy_life(listener):
    """A bit of everything, after which nothing is left to do."""
    listener.call("SetTitle", "a", "A")
    listener.call("ShowIndicatorFor", "a", 1000)
    cookie = listener.call("Hold", "a", "", {"ttl-usec": Variant("t", 10**9)})
    listener.call("StartCountdown", "a", 1000)
    listener.call("CancelCountdown", "a")
    listener.countdown("b", 0.05)
    listener.wait_for("Finished", "b")
    listener.call("ShowIndicatorWithOptions", "b", {"grace-usec": Variant("t", 10**6)})
    listener.call("HideIndicator", "b")
    listener.call("Release", cookie, "")
    listener.call("HideIndicator", "a")
    listener.call("Forget", "b")
    # For ever, and for nobody's time: busy, but with nothing due.
    listener.call("ShowIndicator", "a")
    listener.call("Hold", "c", "", {"lease": Variant("s", "none")})
    listener.call("StartCountdownWithOptions", "d", 10**9, {"paused": Variant("b", True)})
    listener.ping()


@pytest.mark.slow
@pytest.mark.parametrize("lived", [False, True], ids=["new", "used"])
def test_no_system_call_in_five_seconds(bus, daemon, listener, lived):
    if lived:
        busy_life(listener)
    daemon.wait_until_idle()
    with Tracer(bus, daemon) as tracer:
        begin = boottime()
        wait_until(lambda: boottime() - begin > 5, "five seconds have passed")
        assert tracer.calls() == []
        # And it was not for strace's sake.
        listener.ping()
        wait_until(tracer.calls, "a call is seen")


@pytest.mark.slow
@pytest.mark.one_bus
def test_with_all_plugins_too(bus):
    """Each waits for its server, and does nothing until that comes."""
    daemon = bus.daemon(BUSYINDICATORD_PLUGINS="tray,launcher,notifications")
    listener = bus.connect()
    listener.listen()
    busy_life(listener)
    daemon.wait_until_idle()
    with Tracer(bus, daemon) as tracer:
        begin = boottime()
        wait_until(lambda: boottime() - begin > 5, "five seconds have passed")
        assert tracer.calls() == []
    daemon.check()
