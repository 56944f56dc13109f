# SPDX-License-Identifier: MIT
"""The launcher plugin, met by a stand-in for a dock."""

import signal

import pytest

from support.contract import NAME
from support.standins import Dock, Monitor, Session, pass_time, text, wait
from support.wire import Variant

IDLE = {
    "progress": 0.0, "progress-visible": False, "count": 0, "count-visible": False, "urgent": False}


@pytest.fixture
def session():
    with Session("--no-plugin=tray", "--no-plugin=notifications") as session:
        yield session


@pytest.fixture
def dock(session):
    with Dock(session) as dock:
        wait(lambda: session.plugin("launcher")[0] == "on", "dock")
        yield dock


def show(session, control, entry="org.example.App", **options):
    session.show(control, **{"desktop-entry": text(entry)}, **options)


def shows(dock, entry="org.example.App", **expected):
    """Waits until an entry shows all that."""
    wait(lambda: dock.last(entry) == {**IDLE, **expected}, f"{entry} with {expected}")


def test_an_entry_shows_the_mean_and_the_count(session, dock):
    show(session, "one")
    shows(dock, count=1, **{"count-visible": True})
    show(session, "two")
    session.call("SetProgress", "one", 0.2)
    session.call("SetProgress", "two", 0.6)
    show(session, "three")
    shows(dock, count=3, progress=0.4, **{"count-visible": True, "progress-visible": True})
    for name in ("one", "two", "three"):
        session.call("HideIndicator", name)
    shows(dock)
    uri, _, sender, path = dock.updates[-1]
    assert uri == "application://org.example.App.desktop"
    assert sender == session.owner(NAME)
    assert path == "/com/canonical/unity/launcherentry/org_2eexample_2eApp"


def test_entries_are_apart_and_others_have_none(session, dock):
    session.call("ShowIndicator", "nameless")
    show(session, "one", "a")
    show(session, "two", "b")
    shows(dock, "a", count=1, **{"count-visible": True})
    shows(dock, "b", count=1, **{"count-visible": True})
    assert {uri for uri, *_ in dock.updates} == {"application://a.desktop", "application://b.desktop"}


def test_a_control_that_changes_its_entry_moves(session, dock):
    show(session, "one", "a")
    shows(dock, "a", count=1, **{"count-visible": True})
    show(session, "one", "b")
    shows(dock, "a")
    shows(dock, "b", count=1, **{"count-visible": True})


def test_a_finished_countdown_is_urgent_until_there_is_something_new(session, dock):
    session.countdown("tea", 0.3, **{"desktop-entry": text("org.example.App")})
    shows(dock, urgent=True)
    show(session, "one")
    shows(dock, count=1, **{"count-visible": True})


@pytest.mark.slow
def test_a_countdown_fills_the_bar_once_a_second(session, dock):
    with Monitor(session) as monitor:
        session.countdown("tea", 10, **{
            "desktop-entry": text("org.example.App"), "interval": Variant("u", 0)})
        pass_time(5)
        updates = monitor.sent("Update")
    assert 4 <= len(updates) <= 6
    progress = [state["progress"] for _, state, *_ in dock.updates]
    assert progress == sorted(progress) and 0.3 < progress[-1] < 0.6


def test_a_restless_client_causes_few_updates(session, dock):
    with Monitor(session) as monitor:
        for number in range(1000):
            show(session, "one")
            session.call("SetProgress", "one", number / 1000)
        pass_time(1)
        updates = monitor.sent("Update")
    assert len(updates) <= (updates[-1] - updates[0]) * 2 + 2
    assert dock.last("org.example.App")["progress"] == 0.99


def test_nothing_is_sent_when_nothing_changed(session, dock):
    show(session, "one")
    shows(dock, count=1, **{"count-visible": True})
    with Monitor(session) as monitor:
        show(session, "one")
        session.call("SetDetail", "one", "half of it")
        pass_time(3)
        assert monitor.sent("Update") == []


def test_without_a_dock_nothing_is_sent(session):
    with Monitor(session) as monitor:
        show(session, "one")
        pass_time(1)
        assert monitor.sent("Update") == []
    assert session.plugin("launcher") == ("waiting", "com.canonical.Unity has no owner")


def test_a_dock_that_returns_is_told_again(session, dock):
    show(session, "one")
    shows(dock, count=1, **{"count-visible": True})
    dock.leave()
    wait(lambda: session.plugin("launcher")[0] == "waiting", "waiting")
    dock.updates.clear()
    session.call("SetProgress", "one", 0.5)
    dock.own()
    shows(dock, count=1, progress=0.5, **{"count-visible": True, "progress-visible": True})


def test_it_clears_at_the_end(session, dock):
    show(session, "one")
    show(session, "two", "idle.App")
    session.call("HideIndicator", "two")
    shows(dock, count=1, **{"count-visible": True})
    assert session.stop() == 0
    shows(dock)


def test_it_clears_at_the_start_what_is_over(session, dock):
    show(session, "one")
    session.show("two", **{
        "desktop-entry": text("short.App"), "timeout-usec": Variant("t", 1_000_000)})
    shows(dock, "short.App", count=1, **{"count-visible": True})
    session.stop(signal.SIGKILL)
    pass_time(1.2)
    dock.updates.clear()
    session.start()
    # What was acknowledged has survived; what ended meanwhile is taken back.
    shows(dock, count=1, **{"count-visible": True})
    shows(dock, "short.App")


def test_an_entry_can_be_asked(session, dock):
    show(session, "one")
    shows(dock, count=1, **{"count-visible": True})
    path = dock.updates[-1][3]
    uri, properties = session.client.call(
        "Query", signature="", path=path, interface=dock.interface)
    assert uri == "application://org.example.App.desktop"
    assert properties == dock.last("org.example.App")
