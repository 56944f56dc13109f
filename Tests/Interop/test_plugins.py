# SPDX-License-Identifier: MIT
"""Which plugins run, how that is told, and that they cost nothing where there is nothing to do."""

import time

import pytest

from support.contract import INTROSPECTABLE
from support.harness import DAEMON
from support.introspection import validate
from support.processes import run, status_of
from support.standins import (
    YES, Dock, Monitor, NotificationServer, Session, Watcher, pass_time, text, wait)


class Silent:
    """A server that owns its name and never answers."""

    def __init__(self, kind, session):
        self.server = kind(session)
        self.server.mode = "hang"

    def __enter__(self):
        return self.server.__enter__()

    def __exit__(self, *error):
        self.server.__exit__(*error)


def names(session):
    return [row[0] for row in session.get("Plugins")]


@pytest.mark.parametrize("flags, variable, expected", [
    ([], None, ["tray", "launcher", "notifications"]),
    (["--no-plugin=tray"], None, ["launcher", "notifications"]),
    ([], "launcher", ["launcher"]),
    ([], "", []),
    ([], " tray , notifications", ["tray", "notifications"]),
    (["--plugin", "tray"], "launcher", ["tray", "launcher"]),
    (["--plugin=tray", "--no-plugin=tray"], "", []),
])
def test_which_ones_run(flags, variable, expected):
    environment = {} if variable is None else {"BUSYINDICATORD_PLUGINS": variable}
    with Session(*flags, **environment) as session:
        assert names(session) == expected


def test_one_that_there_is_not():
    for flag in ("--plugin=clock", "--no-plugin=clock"):
        done = run(DAEMON, flag, status=64)
        assert done.stderr == (
            f"busyindicatord: {flag.split('=')[0]}: “clock” is not one of "
            "tray, launcher, notifications\n")
    # A later version may know it: the environment is that of every version.
    with Session(BUSYINDICATORD_PLUGINS="tray,clock") as session:
        assert names(session) == ["tray"]
        assert "clock" in session.daemon.log


def test_all_wait_without_servers_and_then_cost_nothing():
    with Session() as session:
        wait(lambda: all(row[1:] == (
            "waiting", f"{server} has no owner") for row, server in zip(session.get("Plugins"), (
                Watcher.name, Dock.name, NotificationServer.name))), "waiting")
        session.call("ShowIndicator", "build")
        with Monitor(session) as monitor:
            pass_time(3)
            assert monitor.messages == []


def test_a_change_is_announced():
    def is_told(state):
        listener.wait_for_signal(lambda told: told[:2] == ("PropertiesChanged", "manager") and (
            dict(row[:2] for row in told[2]["Plugins"])["launcher"] == state), state, begin)

    with Session() as session:
        listener = session.bus.listen()
        wait(lambda: session.plugin("launcher")[0] == "waiting", "waiting")
        begin = len(listener.messages)
        with Dock(session):
            is_told("on")
            begin = len(listener.messages)
        is_told("waiting")
        assert listener.heard()[-1][2] == {"Plugins": session.get("Plugins")}


@pytest.mark.parametrize("kind", [Watcher, Dock, NotificationServer])
def test_a_server_that_comes_and_goes_often(kind):
    with Session() as session, kind(session) as server:
        for _ in range(30):
            server.leave()
            server.own()
        wait(lambda: [row[1] for row in session.get("Plugins")].count("on") == 1, "on")
        assert session.daemon.log.count("\n") == 1


@pytest.mark.slow
def test_nothing_is_sent_or_done_in_ten_idle_seconds():
    def switches(session):
        return status_of(session.daemon.pid, "voluntary_ctxt_switches")

    with Session() as session, Watcher(session), Dock(session), NotificationServer(session):
        wait(lambda: {row[1] for row in session.get("Plugins")} == {"on"}, "on")
        session.call("SetTitle", "tea", "Tea")
        session.countdown("tea", 1, notify=YES, **{"desktop-entry": text("org.example.App")})
        session.countdown("tea", 100)
        session.call("PauseCountdown", "tea")
        pass_time(2)
        with Monitor(session) as monitor:
            before = switches(session)
            pass_time(10)
            assert switches(session) == before
            assert monitor.messages == []


@pytest.mark.timing
def test_hanging_servers_do_not_slow_calls():
    def time_of_calls(session):
        best = float("inf")
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(200):
                session.call("ShowIndicator", "build")
                session.call("HideIndicator", "build")
            best = min(best, time.perf_counter() - start)
        return best

    with Session() as session:
        alone = time_of_calls(session)
        with Silent(Watcher, session), Silent(Dock, session), Silent(NotificationServer, session):
            hanging = time_of_calls(session)
    assert hanging < alone * 1.5


@pytest.mark.parametrize("path", ["/", "/StatusNotifierItem", "/StatusNotifierItem/Menu"])
def test_their_objects_can_be_explored(path):
    with Session() as session:
        validate(session.client.call(
            "Introspect", signature="", path=path, interface=INTROSPECTABLE))


def test_ending_while_servers_hang():
    with Session() as session, Silent(Watcher, session), Silent(NotificationServer, session):
        assert isinstance(session.get("Plugins"), list)
        assert session.stop() == 0


def test_the_end_of_the_bus_is_told_once():
    with Session() as session, Watcher(session), NotificationServer(session) as server:
        wait(lambda: session.plugin("notifications")[0] == "on", "on")
        server.mode = "hang"
        session.countdown("tea", 0, notify=YES)
        wait(lambda: server.called("Notify"), "notification")
        session.bus.stop()
        assert session.daemon.wait() == 1
        assert "plugin" not in session.daemon.log
