# SPDX-License-Identifier: MIT
"""Nothing to do means nothing done: no system call, no wake-up."""

import pytest

from support.strace import Tracer
from support.waiting import pass_time, wait_until
from support.wire import Variant


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


def check_that_nothing_is_done(bus, daemon, seconds=5):
    """Looks at a daemon that has nothing to do, and then at whether that was strace's doing."""
    daemon.wait_until_idle()
    with Tracer(bus, daemon) as tracer:
        pass_time(seconds)
        assert tracer.calls() == []
        bus.connect().ping()
        wait_until(tracer.calls, "a call is seen")


@pytest.mark.slow
@pytest.mark.parametrize("lived", [False, True], ids=["new", "used"])
def test_no_system_call_in_five_seconds(bus, daemon, listener, lived):
    if lived:
        busy_life(listener)
    check_that_nothing_is_done(bus, daemon)


@pytest.mark.slow
@pytest.mark.one_bus
def test_with_all_plugins_too(bus):
    """Each waits for its server, and does nothing until that comes."""
    daemon = bus.daemon(BUSYINDICATORD_PLUGINS="tray,launcher,notifications")
    busy_life(bus.listen())
    check_that_nothing_is_done(bus, daemon)
