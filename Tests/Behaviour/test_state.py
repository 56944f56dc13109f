# SPDX-License-Identifier: MIT
"""The switch, title, enabled flag, progress and detail; flicker control; what lingers."""

import itertools
import time

import pytest

from harness import CONTROL, ERROR, PATH, STANDARD, pass_time, wait_until

MS = 1000


@pytest.mark.parametrize("order", list(itertools.permutations(["show", "show2", "set", "hide"])))
def test_title_and_flag_are_what_was_set_whatever_the_order(client, order):
    client.do("SetTitle", "a", "before")
    client.do("SetEnabled", "a", True)
    on = False
    for step in order:
        if step == "hide":
            client.do("HideIndicator", "a")
            on = False
        elif step == "set":
            client.do("SetTitle", "a", "after")
            client.do("SetEnabled", "a", False)
        else:
            client.do("ShowIndicator", "a")
            on = True
        state = client.state("a")
        assert state["Busy"] is on and state["Visible"] is on
        assert state["DisplayedTitle"] == ("" if on else state["Title"])
        assert state["DisplayedEnabled"] == (state["Enabled"] and not on)
    client.do("HideIndicator", "a")
    state = client.state("a")
    assert (state["Title"], state["DisplayedTitle"]) == ("after", "after")
    assert (state["Enabled"], state["DisplayedEnabled"]) == (False, False)


def test_hide_before_show_and_twice_harms_nothing(client):
    client.do("HideIndicator", "a")
    client.do("ShowIndicator", "a")
    assert client.get("a", "Busy") is True
    client.do("HideIndicator", "a")
    client.do("HideIndicator", "a")
    client.do("ShowIndicator", "a")
    assert client.get("a", "Busy") is True


def test_a_time_limit_ends_the_switch(client, subscriber):
    client.do("ShowIndicatorFor", "a", 1)
    begun = time.monotonic()
    client.do("ShowIndicator", "a")
    subscriber.wait(lambda m: m.member == "PropertiesChanged" and m.arguments[1].get("Busy") is False,
                    "the end of busy")
    assert time.monotonic() - begun >= 0.99, "a plain show leaves the limit as it is"


def test_each_show_for_counts_anew(client):
    client.do("ShowIndicatorWithOptions", "a", {"timeout-usec": ("t", 400 * MS)})
    begun = time.monotonic()
    client.do("ShowIndicatorFor", "a", 1)
    wait_until(lambda: not client.get("a", "Busy"), "it is over")
    assert time.monotonic() - begun >= 0.98


def test_progress_and_detail_go_with_the_work(client):
    client.do("SetProgress", "a", 0.25)
    client.do("SetDetail", "a", "12 of 90")
    client.do("ShowIndicator", "a")
    state = client.state("a")
    assert (state["Progress"], state["ProgressValid"], state["Detail"]) == (0.25, True, "12 of 90")
    client.do("StartCountdown", "a", 60)
    client.do("HideIndicator", "a")
    assert client.get("a", "Detail") == "12 of 90", "it still counts"
    client.do("CancelCountdown", "a")
    state = client.state("a")
    assert (state["Progress"], state["ProgressValid"], state["Detail"]) == (0.0, False, "")
    client.do("SetDetail", "a", "again")
    client.do("StartCountdown", "a", 0)
    assert client.get("a", "Detail") == "", "a countdown of nothing was work, too"


@pytest.mark.parametrize("value, valid", [(0.0, True), (1.0, True), (-0.1, False),
                                          (float("-inf"), False), (-0.0, True), (5e-324, True)])
def test_progress_that_is_taken(client, value, valid):
    client.do("SetProgress", "a", value)
    assert client.get("a", "ProgressValid") is valid
    assert client.get("a", "Progress") == (value if valid else 0)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1.0000001, 2.0, 1e308])
def test_progress_that_is_refused(client, value):
    assert client.refused("SetProgress", "a", value) == STANDARD + "InvalidArgs"
    assert client.refused("GetControl", "a") == ERROR + "NoSuchControl"


def visible_times(subscriber):
    return [(m.arguments[1]["Visible"], m.time) for m in subscriber.signals("PropertiesChanged")
            if m.path != PATH and "Visible" in m.arguments[1]]


def test_grace_hides_short_work(client, subscriber):
    client.do("SetTitle", "a", "t")
    client.do("ShowIndicatorWithOptions", "a", {"grace-usec": ("t", 1000 * MS)})
    state = client.state("a")
    assert state["Busy"] and not state["Visible"] and not state["DisplayedEnabled"]
    assert state["DisplayedTitle"] == "t", "it follows Visible"
    client.do("HideIndicator", "a")
    pass_time(1.2)
    subscriber.settle()
    assert visible_times(subscriber) == [], "a grace timer that fires after hide is the classic fault"


def test_grace_ends_and_minimum_keeps(client, subscriber):
    client.do("SetTitle", "a", "t")
    begun = time.monotonic()
    client.do("ShowIndicatorWithOptions", "a", {
        "grace-usec": ("t", 200 * MS), "minimum-usec": ("t", 1500 * MS)})
    subscriber.wait(lambda m: visible_times(subscriber), "it is visible")
    client.do("HideIndicator", "a")
    state = client.state("a")
    assert not state["Busy"] and state["Visible"] and state["DisplayedEnabled"]
    assert state["DisplayedTitle"] == ""
    subscriber.wait(lambda m: len(visible_times(subscriber)) == 2, "it is hidden")
    (_, on), (_, off) = visible_times(subscriber)
    assert on - begun >= 0.2 and off - begun >= 1.7


def test_a_new_holder_within_the_minimum_goes_on_without_a_gap(client, subscriber):
    client.do("ShowIndicatorWithOptions", "a", {"minimum-usec": ("t", 1000 * MS)})
    client.do("HideIndicator", "a")
    client.do("Hold", "a", "", {"grace-usec": ("t", 60_000 * MS)})
    pass_time(1.3)
    assert client.get("a", "Visible") is True
    assert not [v for v, _ in visible_times(subscriber) if v is False]


def test_defaults_of_flicker_control(bus):
    bus.daemon("--grace=10s", "--minimum=20s")
    client = bus.client()
    client.do("ShowIndicator", "a")
    assert client.get("a", "Visible") is False
    client.do("ShowIndicatorWithOptions", "a", {"grace-usec": ("t", 0)})
    assert client.get("a", "Visible") is True
    client.do("HideIndicator", "a")
    assert client.get("a", "Visible") is True


def test_an_idle_control_lingers_and_goes(bus):
    bus.daemon("--linger=400ms")
    subscriber = bus.subscriber()
    subscriber.do("StartCountdown", "a", 0)
    begun = time.monotonic()
    subscriber.do("SetTitle", "titled", "t")
    subscriber.do("SetEnabled", "disabled", False)
    subscriber.do("ShowIndicatorWithOptions", "optioned", {"title": ("s", "t")})
    subscriber.do("HideIndicator", "optioned")
    assert subscriber.get("a", "LastResult") == "finished"
    subscriber.wait(lambda m: len(subscriber.signals("InterfacesRemoved")) == 2, "both have gone")
    assert time.monotonic() - begun >= 0.4
    assert subscriber.refused("GetControl", "a") == ERROR + "NoSuchControl"
    names = {state[CONTROL]["Name"] for state in subscriber.objects().values()}
    assert names == {"titled", "disabled"}
    subscriber.do("SetTitle", "titled", "")
    subscriber.do("SetEnabled", "disabled", True)
    subscriber.wait(lambda m: len(subscriber.signals("InterfacesRemoved")) == 4, "these have, too")


def test_at_the_limit_the_longest_idle_goes_early(bus):
    bus.daemon("--max-controls=3")
    subscriber = bus.subscriber()
    for name in ["first", "second"]:
        subscriber.do("StartCountdown", name, 0)
    subscriber.do("SetTitle", "kept", "t")
    subscriber.do("ShowIndicator", "new")
    subscriber.settle()
    assert [m.arguments[0].rsplit("/", 1)[1] for m in subscriber.signals("InterfacesRemoved")] == ["first"]
    subscriber.do("ShowIndicator", "newer")
    assert subscriber.refused("ShowIndicator", "newest") == STANDARD + "LimitsExceeded"
    names = {state[CONTROL]["Name"] for state in subscriber.objects().values()}
    assert names == {"kept", "new", "newer"}


def test_forget(client, subscriber):
    client.do("SetTitle", "a", "t")
    client.do("ShowIndicator", "a")
    cookie = client.do("Hold", "a", "r", {})
    number = client.do("StartCountdown", "a", 60)
    client.do("Forget", "a")
    subscriber.settle()
    assert ("Cancelled", "a", number, "forgotten") in subscriber.events()
    assert client.wait_signal("HoldEnded", cookie).arguments == [cookie, "forgotten"]
    assert client.refused("GetControl", "a") == ERROR + "NoSuchControl"
    assert client.objects() == {} and client.manager("Busy") is False
    assert client.refused("Release", cookie, "") == ERROR + "NoSuchHold"


def test_the_manager_tells_of_all(client, subscriber):
    client.do("ShowIndicator", "a")
    client.do("ShowIndicator", "b")
    client.do("HideIndicator", "a")
    assert client.manager("Busy") is True and client.manager("Visible") is True
    client.do("HideIndicator", "b")
    assert client.manager("Busy") is False and client.manager("Visible") is False
    subscriber.settle()
    assert [c[0] for c in subscriber.changes()] == [
        {"Busy": True, "Visible": True}, {"Busy": False, "Visible": False}]


def test_options_set_the_attributes(client):
    client.do("ShowIndicatorWithOptions", "a", {
        "title": ("s", "T"), "detail": ("s", "D"), "icon": ("s", "I"), "desktop-entry": ("s", "E"),
        "application": ("s", "A"), "x-private": ("as", ["ignored"])})
    state = client.state("a")
    assert [state[key] for key in ("Title", "Detail", "Icon", "DesktopEntry")] == ["T", "D", "I", "E"]
    assert state["Holders"][0]["application"] == "A"
    since = state["BusySince"]
    assert abs(since / 1e6 - time.time()) < 5
    client.do("ShowIndicatorWithOptions", "a", {"application": ("s", "B")})
    state = client.state("a")
    assert state["Holders"][0]["application"] == "B" and state["BusySince"] == since
