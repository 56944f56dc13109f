# SPDX-License-Identifier: MIT
"""The switch of a control: Show and Hide, and what they do to its title and its enabled flag."""

import itertools
import time

from support.waiting import boottime
from support.wire import Variant


def displayed(state):
    """What is drawn: the text, and whether it can be pressed."""
    return state["DisplayedTitle"], state["DisplayedEnabled"]


def test_title_and_enabled_in_every_order(listener):
    """What is displayed never gets into what is kept, whatever is done in whatever order."""
    acts = ("show", "show", "hide", "title", "disable")
    for number, order in enumerate(sorted(set(itertools.permutations(acts)))):
        name = f"c{number}"
        title, enabled, on = "Old", True, False
        listener.call("SetTitle", name, title)
        for act in order:
            if act == "title":
                title = "New"
                listener.call("SetTitle", name, title)
            elif act == "disable":
                enabled = False
                listener.call("SetEnabled", name, enabled)
            else:
                on = act == "show"
                listener.call("ShowIndicator" if on else "HideIndicator", name)
            state = listener.state(name)
            assert (state["Title"], state["Enabled"], state["Busy"]) == (title, enabled, on), order
            assert displayed(state) == ("" if on else title, enabled and not on), order
        listener.call("HideIndicator", name)
        assert displayed(listener.state(name)) == ("New", False), order


def test_a_second_show_harms_nothing(listener):
    # Nor does a hide before the first.
    listener.call("HideIndicator", "a")
    listener.call("SetTitle", "a", "Start")
    for _ in range(3):
        listener.call("ShowIndicator", "a")
    listener.call("HideIndicator", "a")
    assert displayed(listener.state("a")) == ("Start", True)
    # A hide too many neither.
    listener.call("HideIndicator", "a")
    listener.call("ShowIndicator", "a")
    assert listener.get("a", "Busy")


def test_a_disabled_control_stays_disabled(listener):
    listener.call("SetEnabled", "a", False)
    listener.call("ShowIndicator", "a")
    listener.call("HideIndicator", "a")
    assert displayed(listener.state("a")) == ("", False)
    listener.call("ShowIndicator", "a")
    listener.call("SetEnabled", "a", True)
    assert displayed(listener.state("a")) == ("", False)
    listener.call("HideIndicator", "a")
    assert displayed(listener.state("a")) == ("", True)


def test_the_title_set_meanwhile_comes_back(listener):
    listener.call("SetTitle", "a", "Start")
    listener.call("ShowIndicator", "a")
    listener.heard()
    listener.call("SetTitle", "a", "Stop")
    # What is drawn does not change, so only the other is told.
    assert listener.heard() == [("PropertiesChanged", "a", {"Title": "Stop"}, [])]
    listener.call("HideIndicator", "a")
    change, _ = listener.heard()
    assert change[2]["DisplayedTitle"] == "Stop"


def test_hide_at_once(listener):
    """Hide right behind show is not ignored, and the control can be pressed again at once."""
    listener.ask(listener.request("ShowIndicator", "a"), listener.request("HideIndicator", "a"))
    state = listener.state("a")
    assert not state["Busy"] and not state["Visible"] and state["DisplayedEnabled"]
    assert state["BusySince"] == 0 and state["Holders"] == []


def test_what_the_switch_tells_of_itself(bus, listener):
    other = bus.connect()
    before = time.time_ns() // 1000
    other.call("ShowIndicatorWithOptions", "a", {"application": Variant("s", "Editor")})
    after = time.time_ns() // 1000
    listener.call("ShowIndicator", "a")
    state = listener.state("a")
    holder, = state["Holders"]
    assert before <= state["BusySince"] <= after
    assert holder == {
        "kind": "switch", "cookie": 0, "reason": "", "application": "Editor", "sender": other.name,
        "pid": 0, "lease": "none", "since-usec": state["BusySince"]}
    # It is nobody's lease.
    other.close()
    listener.ping()
    assert listener.get("a", "Busy")


def test_anybody_may_hide(bus, listener):
    listener.call("ShowIndicator", "a")
    bus.connect().call("HideIndicator", "a")
    assert not listener.get("a", "Busy")


def test_holds_of_others_stay(bus, listener):
    other = bus.connect()
    cookie = other.call("Hold", "a", "work", {})
    listener.call("ShowIndicator", "a")
    listener.call("HideIndicator", "a")
    state = listener.state("a")
    assert state["Busy"] and [holder["cookie"] for holder in state["Holders"]] == [cookie]


def test_a_time_limit_ends_it(listener):
    begin = boottime()
    listener.call("ShowIndicatorFor", "a", 1)
    assert listener.get("a", "Busy")
    change = listener.wait_for_change("a", "Busy", False)
    assert change.when - begin >= 1
    assert listener.state("a")["Holders"] == []


def test_a_time_limit_counts_anew_from_each_call(listener):
    listener.call("ShowIndicatorFor", "a", 2)
    listener.read_until(boottime() + 1)
    begin = boottime()
    listener.call("ShowIndicatorFor", "a", 2)
    assert listener.wait_for_change("a", "Busy", False).when - begin >= 2


def test_a_plain_show_leaves_the_time_limit(listener):
    begin = boottime()
    listener.call("ShowIndicatorFor", "a", 1)
    listener.call("ShowIndicator", "a")
    assert listener.wait_for_change("a", "Busy", False).when - begin >= 1


def test_a_time_limit_upon_a_plain_show(listener):
    listener.call("ShowIndicator", "a")
    begin = boottime()
    listener.call("ShowIndicatorWithOptions", "a", {"timeout-usec": Variant("t", 300_000)})
    assert listener.wait_for_change("a", "Busy", False).when - begin >= 0.3


def test_a_time_limit_goes_with_the_switch(listener):
    """One that was hidden, and shown again without a limit, stays."""
    listener.call("ShowIndicatorWithOptions", "a", {"timeout-usec": Variant("t", 300_000)})
    listener.call("HideIndicator", "a")
    listener.call("ShowIndicator", "a")
    listener.read_until(boottime() + 0.5)
    assert listener.get("a", "Busy")


def test_any_control_makes_the_manager_busy(listener):
    assert not listener.manager("Busy") and not listener.manager("Visible")
    listener.call("ShowIndicator", "a")
    listener.call("ShowIndicator", "b")
    assert listener.manager("Busy") and listener.manager("Visible")
    listener.call("HideIndicator", "a")
    assert listener.manager("Busy")
    listener.call("HideIndicator", "b")
    assert not listener.manager("Busy") and not listener.manager("Visible")
    assert [told[2:] for told in listener.heard() if told[1] == "manager"] == [
        ({"Busy": True, "Visible": True}, []), ({"Busy": False, "Visible": False}, [])]


def test_detail_and_progress_belong_to_the_work(listener):
    listener.call("SetDetail", "a", "12 of 90 files")
    listener.call("SetProgress", "a", 0.25)
    listener.call("ShowIndicator", "a")
    cookie = listener.call("Hold", "a", "work", {})
    listener.call("HideIndicator", "a")
    state = listener.state("a")
    assert (state["Detail"], state["Progress"], state["ProgressValid"]) == (
        "12 of 90 files",
        0.25,
        True,
    )
    listener.call("Release", cookie, "")
    state = listener.state("a")
    assert (state["Detail"], state["Progress"], state["ProgressValid"]) == ("", 0.0, False)
    # A countdown is work, too; one of no length as well.
    for end in ("CancelCountdown", None):
        listener.call("SetDetail", "a", "soon")
        listener.call("SetProgress", "a", 1)
        listener.call("StartCountdown", "a", 1000 if end else 0)
        if end:
            assert listener.get("a", "Detail") == "soon"
            listener.call(end, "a")
        state = listener.state("a")
        assert (state["Detail"], state["Progress"], state["ProgressValid"]) == ("", 0.0, False)


def test_progress(listener):
    for fraction, told in [
            (0, (0.0, True)), (1, (1.0, True)), (-0.1, (0.0, False)), (5e-324, (5e-324, True)),
            (float("-inf"), (0.0, False)), (-0.0, (0.0, True))]:
        listener.call("SetProgress", "a", fraction)
        state = listener.state("a")
        assert (state["Progress"], state["ProgressValid"]) == told


def test_texts_that_look_the_same_are_two(listener):
    """To Swift's == an accent that is written apart is the same letter."""
    listener.call("SetTitle", "a", "caf\u00e9")
    assert listener.get("a", "Title") == "caf\u00e9"
    listener.heard()
    listener.call("SetTitle", "a", "cafe\u0301")
    assert listener.get("a", "Title") == "cafe\u0301"
    assert [told[2]["Title"] for told in listener.heard()] == ["cafe\u0301"]
