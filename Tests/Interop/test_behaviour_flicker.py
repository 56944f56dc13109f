# SPDX-License-Identifier: MIT
"""Flicker control: Visible follows Busy with a grace and a minimum, all else does at once.

The table of all cases stands in the core's tests; these show that the bus hears of them.
"""

import pytest

from support.waiting import boottime
from support.wire import Variant


def flicker(grace=None, minimum=None):
    """Options with those two times, in seconds."""
    named = (("grace-usec", grace), ("minimum-usec", minimum))
    return {key: Variant("t", round(value * 1e6)) for key, value in named if value is not None}


def work(state):
    """What of a control flicker control is about."""
    return state["Busy"], state["Visible"], state["DisplayedTitle"], state["DisplayedEnabled"]


IDLE = (False, False, "Start", True)
QUIETLY_BUSY = (True, False, "Start", False)
BUSY = (True, True, "", False)
LINGERING = (False, True, "", True)


@pytest.fixture
def titled(listener):
    """A listener, and a control "a" with a title."""
    listener.call("SetTitle", "a", "Start")
    return listener


def visible(peer, value, after=0):
    """Waits until Visible is announced as that; returns when."""
    return peer.wait_for_change("a", "Visible", value, after=after).when


def test_without_it_all_turn_at_once(titled):
    titled.heard()
    titled.call("ShowIndicator", "a")
    assert work(titled.state("a")) == BUSY
    titled.call("HideIndicator", "a")
    assert work(titled.state("a")) == IDLE
    on, manager_on, off, manager_off = titled.heard()
    assert on[2].keys() == {"Busy", "Visible", "DisplayedTitle", "DisplayedEnabled", "BusySince"}
    assert off[2].keys() == {"Busy", "Visible", "DisplayedTitle", "DisplayedEnabled", "BusySince"}
    assert on[3] == off[3] == ["Holders"]
    assert manager_on[2] == {"Busy": True, "Visible": True}
    assert manager_off[2] == {"Busy": False, "Visible": False}


def test_grace_passes(titled):
    titled.heard()
    begin = boottime()
    titled.call("ShowIndicatorWithOptions", "a", flicker(grace=1))
    assert work(titled.state("a")) == QUIETLY_BUSY
    busy, manager = titled.heard()
    assert busy[2].keys() == {"Busy", "DisplayedEnabled", "BusySince"}
    assert manager[2] == {"Busy": True}
    assert visible(titled, True) - begin >= 1
    assert work(titled.state("a")) == BUSY
    shown, manager = titled.heard()
    assert shown == ("PropertiesChanged", "a", {"Visible": True, "DisplayedTitle": ""}, [])
    assert manager[2] == {"Visible": True}


def test_short_work_is_never_seen(titled):
    """And its grace timer does not fire after the hide."""
    titled.ask(
        titled.request("ShowIndicatorWithOptions", "a", flicker(grace=0.3)),
        titled.request("HideIndicator", "a"))
    assert work(titled.state("a")) == IDLE
    titled.heard()
    titled.read_until(boottime() + 0.5)
    assert titled.heard() == []


def test_each_work_has_its_own_grace(titled):
    """What is left of the last one's counts for nothing."""
    titled.call("ShowIndicatorWithOptions", "a", flicker(grace=1))
    titled.read_until(boottime() + 0.5)
    titled.call("HideIndicator", "a")
    begin = boottime()
    titled.call("ShowIndicatorWithOptions", "a", flicker(grace=1))
    assert visible(titled, True) - begin >= 1


def test_a_minimum_is_kept(titled):
    begin = boottime()
    titled.call("ShowIndicatorWithOptions", "a", flicker(minimum=1))
    assert work(titled.state("a")) == BUSY
    titled.call("HideIndicator", "a")
    # Whoever may press again may do so at once.
    assert work(titled.state("a")) == LINGERING
    assert titled.state("a")["BusySince"] == 0
    assert visible(titled, False) - begin >= 1
    assert work(titled.state("a")) == IDLE
    assert not titled.manager("Visible")


def test_after_the_minimum_it_goes_at_once(titled):
    titled.call("ShowIndicatorWithOptions", "a", flicker(minimum=0.2))
    titled.read_until(boottime() + 0.3)
    titled.call("HideIndicator", "a")
    assert work(titled.state("a")) == IDLE


def test_grace_alone_would_still_flash(titled):
    """Of work a bit longer than its grace: the minimum counts from when it is seen."""
    begin = boottime()
    titled.call("ShowIndicatorWithOptions", "a", flicker(grace=0.3, minimum=1))
    visible(titled, True)
    titled.call("HideIndicator", "a")
    assert work(titled.state("a")) == LINGERING
    assert visible(titled, False) - begin >= 1.3


def test_a_new_holder_keeps_it_on(titled):
    """Within the minimum there is no gap, whatever the newcomer's grace."""
    *_, hold = titled.ask(
        titled.request("ShowIndicatorWithOptions", "a", flicker(minimum=0.4)),
        titled.request("HideIndicator", "a"),
        titled.request("Hold", "a", "", flicker(grace=600)))
    cookie, = hold.body
    assert work(titled.state("a")) == BUSY
    begin = len(titled.messages)
    titled.read_until(boottime() + 0.6)
    assert work(titled.state("a")) == BUSY
    assert not any(
        "Visible" in m.body[1] for m in titled.messages[begin:] if m.member == "PropertiesChanged")
    titled.call("Release", cookie, "")
    assert work(titled.state("a")) == IDLE


def test_the_longest_minimum_counts(titled):
    begin = boottime()
    first = titled.call("Hold", "a", "", flicker(minimum=0.1))
    second = titled.call("Hold", "a", "", flicker(minimum=1))
    titled.call("Release", second, "")
    titled.call("Release", first, "")
    assert work(titled.state("a")) == LINGERING
    assert visible(titled, False) - begin >= 1


def test_the_earliest_of_several_graces_counts(titled):
    begin = boottime()
    *holds, released = titled.ask(
        *(titled.request("Hold", "a", "", flicker(grace=grace)) for grace in (600, 0.3, 0.1)),
        # One that has left counts no more.
        titled.request("Release", 3, ""))
    assert [hold.body[0] for hold in holds] == [1, 2, 3] and released.error is None
    assert visible(titled, True) - begin >= 0.3


def test_a_countdown_that_indicates_has_them_too(titled):
    begin = boottime()
    titled.call("StartCountdownWithOptions", "a", 10**9, {
        "indicator": Variant("b", True), **flicker(grace=1, minimum=600)})
    assert work(titled.state("a")) == QUIETLY_BUSY
    assert visible(titled, True) - begin >= 1
    titled.call("CancelCountdown", "a")
    assert work(titled.state("a")) == LINGERING


def test_an_idle_control_stays_while_it_is_seen(titled):
    """It has a minimum to keep, and has to be told to be invisible before it goes."""
    titled.call("ShowIndicatorWithOptions", "b", flicker(minimum=1))
    titled.call("HideIndicator", "b")
    assert "b" in titled.objects()
    titled.wait_for_change("b", "Visible", False)


def test_options_upon_a_switch_that_is_on(titled):
    """A new grace counts from the switch's own since, a new minimum joins the longest."""
    begin = boottime()
    titled.call("ShowIndicatorWithOptions", "a", flicker(grace=600))
    titled.read_until(boottime() + 0.5)
    since = titled.get("a", "BusySince")
    titled.call("ShowIndicatorWithOptions", "a", flicker(grace=1.5))
    assert work(titled.state("a")) == QUIETLY_BUSY
    assert visible(titled, True) - begin >= 1.5
    assert titled.get("a", "BusySince") == since
    titled.call("ShowIndicatorWithOptions", "a", flicker(minimum=600))
    titled.call("HideIndicator", "a")
    assert work(titled.state("a")) == LINGERING
    # A grace that has passed already is over at once.
    titled.call("ShowIndicatorWithOptions", "b", flicker(grace=600))
    titled.call("ShowIndicatorWithOptions", "b", flicker(grace=0))
    assert titled.get("b", "Visible")


@pytest.mark.flags("--grace=1", "--minimum=1")
def test_the_daemons_own_defaults(titled):
    begin = boottime()
    titled.call("ShowIndicator", "a")
    assert work(titled.state("a")) == QUIETLY_BUSY
    assert visible(titled, True) - begin >= 1
    titled.call("HideIndicator", "a")
    assert work(titled.state("a")) == LINGERING
    assert visible(titled, False) - begin >= 2
    # A caller's own come first.
    titled.call("ShowIndicatorWithOptions", "a", flicker(grace=0, minimum=0))
    assert work(titled.state("a")) == BUSY
    titled.call("HideIndicator", "a")
    assert work(titled.state("a")) == IDLE


def test_times_without_end(titled):
    """The longest that is taken is never over, and ends nothing."""
    titled.call("ShowIndicatorWithOptions", "a", {
        "grace-usec": Variant("t", 1 << 62), "minimum-usec": Variant("t", 1 << 62)})
    assert work(titled.state("a")) == QUIETLY_BUSY
    titled.call("HideIndicator", "a")
    assert work(titled.state("a")) == IDLE
    titled.call("ShowIndicatorWithOptions", "a", {"minimum-usec": Variant("t", 1 << 62)})
    titled.call("HideIndicator", "a")
    assert work(titled.state("a")) == LINGERING
    titled.call("Forget", "a")
    assert titled.objects() == {}
