# SPDX-License-Identifier: MIT
"""Which plugins run, how that is told, and that they cost nothing where there is nothing to do."""

import subprocess
import time

import pytest
from standins import (
    DAEMON, NAME, PATH, YES, Dock, Monitor, NotificationServer, Session, Watcher, end,
    pass_time, text, wait)


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
    with Session(*flags, environment=environment) as session:
        assert names(session) == expected


def test_one_that_there_is_not():
    for flag in ("--plugin=clock", "--no-plugin=clock"):
        done = subprocess.run([DAEMON, flag], capture_output=True, text=True, timeout=10)
        assert done.returncode == 64
        assert done.stderr == (
            f"busyindicatord: {flag.split('=')[0]}: “clock” is not one of "
            "tray, launcher, notifications\n")
    # A later version may know it: the environment is that of every version.
    with Session(environment={"BUSYINDICATORD_PLUGINS": "tray,clock"}) as session:
        assert names(session) == ["tray"]
        assert "clock" in session.log.read_text()


def test_all_wait_without_servers_and_then_cost_nothing():
    with Session() as session:
        wait(lambda: all(row[1:] == (
            "waiting", f"{server} has no owner") for row, server in zip(session.get("Plugins"), (
                Watcher.name, Dock.name, NotificationServer.name))), "waiting")
        session.call("ShowIndicator", "(s)", "build")
        with Monitor(session) as monitor:
            pass_time(3)
            assert monitor.messages == []


def test_a_change_is_announced():
    changes = []
    with Session() as session:
        session.client.signal_subscribe(
            None, "org.freedesktop.DBus.Properties", "PropertiesChanged", PATH, NAME, 0,
            lambda *arguments: changes.append(arguments[5].unpack()[1]))
        wait(lambda: session.plugin("launcher")[0] == "waiting", "waiting")
        with Dock(session):
            wait(lambda: any(
                "on" in dict((row[0], row[1]) for row in change["Plugins"]).values()
                for change in changes), "on")
        wait(lambda: "on" not in [row[1] for row in changes[-1]["Plugins"]], "waiting")
        assert changes[-1] == {"Plugins": session.get("Plugins")}


@pytest.mark.parametrize("kind", [Watcher, Dock, NotificationServer])
def test_a_server_that_comes_and_goes_often(kind):
    with Session() as session, kind(session) as server:
        for _ in range(30):
            server.leave()
            server.own()
        wait(lambda: [row[1] for row in session.get("Plugins")].count("on") == 1, "on")
        assert session.log.read_text().count("\n") == 1


@pytest.mark.slow
def test_nothing_is_sent_or_done_in_ten_idle_seconds():
    def switches(session):
        status = open(f"/proc/{session.daemon.pid}/status").read()
        return int(status.split("\nvoluntary_ctxt_switches:")[1].split()[0])

    with Session() as session, Watcher(session), Dock(session), NotificationServer(session):
        wait(lambda: {row[1] for row in session.get("Plugins")} == {"on"}, "on")
        session.call("SetTitle", "(ss)", "tea", "Tea")
        session.countdown("tea", 1, notify=YES, **{"desktop-entry": text("org.example.App")})
        session.countdown("tea", 100)
        session.call("PauseCountdown", "(s)", "tea")
        pass_time(2)
        with Monitor(session) as monitor:
            before = switches(session)
            pass_time(10)
            assert switches(session) == before
            assert monitor.messages == []


def test_hanging_servers_do_not_slow_calls():
    def time_of_calls(session):
        best = float("inf")
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(200):
                session.call("ShowIndicator", "(s)", "build")
                session.call("HideIndicator", "(s)", "build")
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
        xml, = session.client.call_sync(
            NAME, path, "org.freedesktop.DBus.Introspectable", "Introspect", None, None, 0, 5000,
            None).unpack()
        checked = subprocess.run(
            ["xmllint", "--noout", "--nonet", "--dtdvalid",
             "/usr/share/xml/dbus-1/introspect.dtd", "-"],
            input=xml, text=True, capture_output=True, timeout=20)
        assert checked.returncode == 0, checked.stderr


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
        for connection in (session.client, server.connection):
            connection.set_exit_on_close(False)
        end(session.bus)
        wait(lambda: session.daemon.poll() is not None, "end of the daemon")
        assert session.daemon.returncode == 1
        assert "plugin" not in session.log.read_text()
