# SPDX-License-Identifier: MIT
"""The notifications plugin, met by a stand-in for a server."""

import time

import pytest

from support import wire
from support.processes import status_of
from support.standins import YES, Monitor, NotificationServer, Session, pass_time, text, wait
from support.wire import Variant


@pytest.fixture
def session():
    with Session("--no-plugin=tray", "--no-plugin=launcher") as session:
        yield session


@pytest.fixture
def server(session):
    with NotificationServer(session) as server:
        wait(lambda: session.plugin("notifications")[0] == "on", "server")
        yield server


def one(server):
    """The one notification that there is."""
    wait(server.notifications, "notification")
    pass_time(0.3)
    shown, = server.notifications()
    return shown


def hold(session, control, **options):
    cookie = session.call("Hold", control, "work", options)
    return cookie


ALWAYS = {"notify-after-usec": Variant("t", 0)}


def test_a_finished_countdown(session, server):
    session.countdown("tea", 0.5, notify=YES, title=text("Tea"), icon=text("tea-cup"), **{
        "desktop-entry": text("org.example.Tea")})
    assert one(server) == {
        "application": "Busy indicators", "replaces": 0, "icon": "tea-cup", "title": "Tea",
        "body": "The countdown of 500 ms has finished.", "actions": ["one-more-minute", "+1 min"],
        "hints": {"sound-name": "complete", "urgency": 1, "desktop-entry": "org.example.Tea"},
        "timeout": -1}


def test_only_those_that_ask(session, server):
    session.countdown("tea", 0.1)
    session.countdown("cancelled", 5, notify=YES)
    session.call("CancelCountdown", "cancelled")
    session.call("Release", hold(session, "quiet"), "")
    long = hold(session, "short", **{"notify-after-usec": Variant("t", 60_000_000)})
    session.call("Release", long, "")
    pass_time(0.5)
    assert server.notifications() == []


@pytest.mark.parametrize("result, body", [
    ("", "Done after "), ("exit 2", "Ended after "), ("a < b & c", "Ended after ")])
def test_a_hold_that_ends(session, server, result, body):
    session.call("Release", hold(session, "build", **ALWAYS), result)
    shown = one(server)
    assert shown["title"] == "build" and shown["actions"] == []
    assert shown["body"].startswith(body)
    assert shown["body"].endswith(result.replace("&", "&amp;").replace("<", "&lt;") or ".")


def test_a_lost_holder_is_no_success(session, server):
    with session.bus.connect() as holder:
        holder.call("Hold", "build", "", ALWAYS)
    assert one(server)["body"].startswith("Ended unexpectedly after ")


def test_one_more_minute(session, server):
    session.countdown("tea", 0.2, notify=YES)
    one(server)
    server.emit("ActionInvoked", "(us)", server.last_id + 1, "one-more-minute")
    server.emit("ActionInvoked", "(us)", server.last_id, "other")
    pass_time(0.3)
    assert session.of("tea", "CountdownState") == "none"
    server.emit("ActionInvoked", "(us)", server.last_id, "one-more-minute")
    server.emit("NotificationClosed", "(uu)", server.last_id, 2)
    wait(lambda: session.of("tea", "CountdownState") == "running", "countdown")
    assert 55e6 < session.of("tea", "Remaining") <= 60e6
    server.emit("ActionInvoked", "(us)", server.last_id, "one-more-minute")
    pass_time(0.3)
    assert session.of("tea", "Duration") == 60_000_000


def test_one_more_minute_for_one_that_was_started_again(session, server):
    session.countdown("tea", 0.2, notify=YES)
    one(server)
    session.countdown("tea", 100)
    server.emit("ActionInvoked", "(us)", server.last_id, "one-more-minute")
    wait(lambda: session.of("tea", "Duration") == 160_000_000, "extension")


def test_somebody_else_cannot_act(session, server):
    session.countdown("tea", 0.2, notify=YES)
    one(server)
    session.client.send(wire.signal(
        None, server.path, server.name, "ActionInvoked", "us",
        (server.last_id, "one-more-minute")))
    pass_time(0.3)
    assert session.of("tea", "CountdownState") == "none"


def test_a_server_without_actions_or_markup(session):
    with NotificationServer(session, capabilities=["body"]) as server:
        wait(lambda: session.plugin("notifications")[0] == "on", "server")
        session.countdown("tea", 0.1, notify=YES)
        assert one(server)["actions"] == []
        server.calls.clear()
        session.call("Release", hold(session, "build", **ALWAYS), "a < b")
        assert one(server)["body"].endswith("a < b")


def test_each_new_server_is_asked(session, server):
    server.leave()
    with NotificationServer(session, capabilities=[]) as other:
        wait(lambda: other.called("GetCapabilities"), "question")
        session.countdown("tea", 0.1, notify=YES)
        assert one(other)["actions"] == []
    server.own()
    wait(lambda: len(server.called("GetCapabilities")) == 2, "second question")
    session.countdown("tea", 0.1, notify=YES)
    assert one(server)["actions"]


def test_what_ends_while_the_server_is_asked_waits(session):
    with NotificationServer(session) as server:
        session.countdown("tea", 0, notify=YES)
        assert one(server)["actions"]


def test_without_a_server_none_is_started(session):
    with Monitor(session) as monitor:
        session.countdown("tea", 0, notify=YES, interval=Variant("u", 0))
        pass_time(0.5)
        assert "Notify" not in [member for member, _ in monitor.messages]
    assert session.plugin("notifications") == (
        "waiting", "org.freedesktop.Notifications has no owner")


@pytest.mark.slow
def test_a_server_that_hangs(session):
    def memory():
        return session.daemon.memory("RssAnon")

    def burst(times):
        for _ in range(times):
            session.countdown("tea", 0, notify=YES)

    with NotificationServer(session) as server:
        wait(lambda: session.plugin("notifications")[0] == "on", "server")
        burst(500)
        pass_time(0.5)
        server.mode = "hang"
        before, start = memory(), time.monotonic()
        burst(2000)
        assert time.monotonic() - start < 10
        pass_time(1)
        # What waits for it is bounded, and the rest is dropped.
        assert memory() - before < 1 << 20
        server.mode = "answer"
        wait(lambda: session.plugin("notifications")[0] == "failed", "time limit", 15)
        pass_time(1)
        server.calls.clear()
        burst(1)
        one(server)
        assert session.plugin("notifications")[0] == "on"
    assert session.daemon.log.count("plugin notifications") == 1


def test_a_server_that_fails(session, server):
    server.mode = "fail"
    for _ in range(5):
        session.countdown("tea", 0, notify=YES)
    wait(lambda: session.plugin("notifications")[0] == "failed", "failure")
    assert session.daemon.log.count("plugin notifications") == 1
    assert "out of order" in session.plugin("notifications")[1]
    server.mode = "answer"
    session.countdown("tea", 0, notify=YES)
    wait(lambda: session.plugin("notifications")[0] == "on", "recovery")


def test_others_notifications_do_not_wake_it(session, server):
    session.countdown("tea", 0, notify=YES)
    one(server)
    server.emit("NotificationClosed", "(uu)", server.last_id, 2)
    pass_time(0.3)

    def switches():
        return status_of(session.daemon.pid, "voluntary_ctxt_switches")

    before = switches()
    for number in range(20):
        server.emit("NotificationClosed", "(uu)", number, 2)
        server.emit("ActionInvoked", "(us)", number, "default")
    pass_time(0.5)
    assert switches() == before
