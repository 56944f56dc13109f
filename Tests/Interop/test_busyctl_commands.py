# SPDX-License-Identifier: MIT
"""busyctl's commands against the real daemon, each documented option once at least."""

import datetime
import pathlib
import re
import signal
import time

import pytest

from support import contract
from support.harness import BUSYCTL
from support.processes import check_idle, run, wait_until_idle
from support.waiting import pass_time, wait_until

pytestmark = pytest.mark.one_bus


def busctl_property(session, control, name):
    """Another client's view of a control."""
    return session.bus.run(
        "busctl", "--user", "get-property", contract.NAME, contract.path_of(control),
        contract.CONTROL, name, status=0).stdout.strip()


def test_show_and_hide(session):
    session.ok("show", "a")
    assert busctl_property(session, "a", "Busy") == "b true"
    session.ok("show", "a")
    session.ok("hide", "a")
    assert busctl_property(session, "a", "Busy") == "b false"
    session.ok("hide", "a")


def test_show_options(session):
    session.ok(
        "show", "a", "--title=T", "--detail=D", "--icon=I", "--desktop-entry=E",
        "--grace=1h", "--minimum=1ms")
    state = session.state("a")
    assert (state["title"], state["detail"], state["icon"], state["desktop_entry"]) == tuple("TDIE")
    assert state["busy"] and not state["visible"] and state["state"] == "idle"
    session.ok("show", "b", "--for=300ms")
    assert session.busy("b")
    wait_until(lambda: not session.busy("b"), "the time limit is over")
    assert "above zero" in session.fails(64, "show", "b", "--for=0")


def test_hide_tells_who_holds_it_and_force_ends_them(session):
    cookie = session.ok("hold", "a", "--ttl=1h", "--reason=writing").strip()
    session.ok("show", "a")
    done = session.run("hide", "a")
    assert done.returncode == 0
    assert done.stderr == f"busyctl: “a” is still busy: hold {cookie} (“writing”)\n"
    assert session.run("hide", "a", "--quiet").stderr == ""
    session.ok("hide", "--force", "a")
    assert not session.busy("a")
    assert session.state("a")["last_result"] == "released-by-other"


def test_countdown_options(session):
    session.ok(
        "countdown", "a", "1h", "--busy", "--clock=monotonic", "--interval=0", "--paused",
        "--notify", "--title=T", "--detail=D", "--icon=I", "--desktop-entry=E", "--grace=1h",
        "--minimum=1s")
    state = session.state("a")
    assert state["busy"] and state["state"] == "paused" and not state["visible"]
    assert state["countdown"]["clock"] == "monotonic"
    assert state["countdown"]["remaining_usec"] == 3_600_000_000
    assert (state["title"], state["detail"], state["icon"], state["desktop_entry"]) == tuple("TDIE")
    assert state["holders"][0]["kind"] == "countdown"


def test_countdown_restart_policies(session):
    first = session.ok("countdown", "a", "60", "--print-id").strip()
    assert session.ok("countdown", "a", "60", "--restart=keep", "--print-id").strip() == first
    session.ok("countdown", "a", "60", "--restart=extend")
    assert session.state("a")["countdown"]["duration_usec"] == 120_000_000
    assert "already" in session.fails(1, "countdown", "a", "60", "--restart=reject")
    second = session.ok("countdown", "a", "60", "--restart=replace", "--print-id").strip()
    assert int(second) > int(first)


def test_countdown_until_a_time_of_day(session):
    end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=90)
    session.ok("countdown", "a", f"--until={end:%H:%M}")
    remaining = session.state("a")["countdown"]["remaining_usec"] / 1e6
    assert 88 * 60 < remaining <= 90 * 60
    session.fails(64, "countdown", "a", "5", "--until=17:00")
    session.fails(64, "countdown", "a")
    session.fails(64, "countdown", "a", "--until=25:00")


def test_countdown_changes(session):
    session.ok("countdown", "a", "1:40")
    session.ok("pause", "a")
    session.ok("pause", "a")
    before = session.state("a")["countdown"]
    assert before["paused"] and before["ends_at"] is None
    session.ok("extend", "a", "1m")
    session.ok("shorten", "a", "30s")
    after = session.state("a")["countdown"]
    assert after["remaining_usec"] == before["remaining_usec"] + 30_000_000
    session.ok("toggle", "a")
    assert session.state("a")["state"] == "counting"
    session.ok("toggle", "a")
    session.ok("resume", "a")
    assert session.state("a")["state"] == "counting"
    session.ok("cancel", "a")
    for command in ("pause", "resume", "toggle", "cancel"):
        assert "no countdown" in session.fails(1, command, "a")
    assert "whole number" in session.fails(64, "extend", "a", "250ms")
    session.fails(64, "shorten", "a", "2147483648")


def test_attributes(session):
    session.ok("title", "a", "Export")
    session.ok("show", "a")
    session.ok("detail", "a", "12 of 90 files")
    session.ok("progress", "a", "40%")
    session.ok("disable", "a")
    state = session.state("a")
    assert state["progress"] == 0.4 and state["enabled"] is False
    assert (state["title"], state["detail"]) == ("Export", "12 of 90 files")
    session.ok("progress", "a", "0.25")
    assert session.state("a")["progress"] == 0.25
    session.ok("progress", "a", "none")
    assert session.state("a")["progress"] is None
    session.ok("enable", "a")
    assert session.state("a")["enabled"] is True
    session.fails(64, "progress", "a", "140%")
    session.ok("forget", "a")
    session.ok("forget", "a")
    assert session.state("a") is None


def test_hold_until_interrupted(session):
    holder = session.start("hold", "a", "--reason=R", "--title=T", "--detail=D", "--icon=I",
                           "--desktop-entry=E", "--grace=1h", "--minimum=1s")
    wait_until(lambda: session.busy("a"), "it is held")
    state = session.state("a")
    assert state["holders"][0]["reason"] == "R" and state["holders"][0]["lease"] == "sender"
    assert state["title"] == "T" and not state["visible"]
    holder.send_signal(signal.SIGINT)
    assert holder.wait(10) == 0
    assert not session.busy("a")
    assert session.state("a")["last_result"] == "released"


def test_hold_that_somebody_else_ends(session):
    holder = session.start("hold", "a")
    wait_until(lambda: session.busy("a"), "it is held")
    session.ok("hide", "--force", "a")
    assert holder.wait(10) == 2
    assert "released-by-other" in holder.stderr.read().decode()


def test_hold_survives_the_daemon(session):
    holder = session.start("hold", "a")
    wait_until(lambda: session.busy("a"), "it is held")
    session.daemon.kill()
    session.start_daemon()
    wait_until(lambda: session.busy("a"), "it is held again")
    holder.terminate()
    assert holder.wait(10) == 0
    assert not session.busy("a")


def test_hold_with_another_lease(session):
    sleeper = session.bus.spawn("sleep", "60")
    cookie = session.ok("hold", "a", f"--pid={sleeper.pid}").strip()
    assert cookie.isdigit()
    assert session.state("a")["holders"][0]["pid"] == sleeper.pid
    sleeper.kill()
    wait_until(lambda: not session.busy("a"), "the process's end is seen")
    assert session.state("a")["last_result"] == "owner-lost"
    cookie = session.ok("hold", "b", "--ttl=2s").strip()
    for _ in range(5):
        pass_time(0.5)
        session.ok("renew", cookie)
    assert session.busy("b")
    wait_until(lambda: not session.busy("b"), "its time is over")
    assert "cookie" in session.fails(1, "renew", cookie)
    session.fails(64, "hold", "b", "--pid=1", "--ttl=5")
    session.fails(64, "hold", "b", "--pid=x")
    session.fails(1, "hold", "b", "--pid=4294967295")


def test_release(session):
    cookie = session.ok("hold", "a", "--ttl=1h").strip()
    session.ok("release", cookie, "--result=exit 2")
    assert session.state("a")["last_result"] == "released: exit 2"
    session.fails(1, "release", cookie)
    session.fails(64, "release", "-1")


def test_exclusive(session):
    session.ok("hold", "a", "--ttl=1h", "--exclusive")
    assert "busy" in session.fails(75, "hold", "a", "--ttl=1h", "--exclusive")
    assert "busy" in session.fails(75, "run", "--name=a", "--exclusive", "touch", "/nonexistent")


def test_list_status_why(session):
    assert session.ok("list").split() == ["NAME", "STATE", "REMAINING", "PROGRESS", "TITLE"]
    session.ok("show", "b", "--title=Bee")
    session.ok("countdown", "a", "90", "--paused")
    assert [line.split() for line in session.ok("list").splitlines()[1:]] == [
        ["a", "paused", "1:30"], ["b", "busy", "Bee"]]
    assert "Bee" in session.ok("status", "b")
    assert "no control" in session.fails(2, "status", "c")
    assert session.ok("why", "b").splitlines()[1].split()[0] == "switch"
    assert "not busy" in session.fails(2, "why", "a")
    assert session.ok("plugins").startswith("PLUGIN")


def test_color(session):
    assert "\x1b" not in session.ok("list")
    assert "\x1b" in session.ok("list", "--color=always")
    assert "\x1b" not in session.ok("--color=never", "list")
    assert "\x1b" not in session.ok("--color=auto", "list")


def test_control_characters_are_replaced(session):
    session.ok("show", "a", "--title=x\x1b[31m\ny\x9b\x07", "--detail=\x1b]0;z\x07")
    for command in (["list"], ["status", "a"], ["status", "a", "--json"], ["watch", "--once"],
                    ["list", "--format=waybar"], ["list", "--format={{title}} {{detail}}"]):
        output = session.ok(*command)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", output), output
        assert "\\u001b" not in output


@pytest.mark.parametrize("arguments", [
    [], ["nope"], ["show"], ["show", "a", "b"], ["show", "--nope", "a"], ["show", "a", "--for"],
    ["show", "a", "--for=x"], ["hide", "a", "--force=1"], ["list", "--format=x"],
    ["list", "--format={{nope}}"], ["list", "--json", "--format=waybar"], ["show", "--json", "a"],
    ["countdown", "a", "5", "--clock=wall"], ["countdown", "a", "-5"], ["wait", "a", "--for=x"],
    ["run"], ["completion", "ksh"], ["--color=blue", "list"], ["-Z"],
])
def test_usage_errors_are_one_line(bare, arguments):
    message = bare.fails(64, *arguments)
    assert message.startswith("busyctl: ") and message.count("\n") == 1 and len(message) < 120


@pytest.mark.parametrize("name", ["x" * 256, "", "a\x01b"])
def test_names_that_are_none(session, name):
    session.fails(1, "show", name)
    session.fails(2, "status", name)


def test_any_name_can_be_used(session):
    for name in ("x" * 255, "日本 語", "a/b", "%s{{name}}", "-x", " "):
        session.ok("show", "--", name)
        assert session.state(name)["name"] == name if not name.startswith("-") else True
        assert name in session.ok("list", "--format={{name}}").splitlines()


def test_no_daemon(bare):
    for command in (["list"], ["status", "a"], ["why", "a"], ["plugins"], ["wait", "a"]):
        assert bare.fails(69, *command) == "busyctl: busyindicatord is not running\n"
    assert "could not be started" in bare.fails(69, "show", "a")
    bare.environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nonexistent"
    assert "bus" in bare.fails(69, "list")


def test_only_what_changes_starts_the_daemon(bare):
    bare.bus.can_start()
    bare.fails(69, "list")
    bare.fails(69, "wait", "a", "--timeout=5")
    bare.ok("hide", "a")
    bare.ok("list")


def test_help_and_version(bare):
    overview = bare.ok("--help")
    assert overview == bare.ok("help") == bare.ok("-h")
    assert re.fullmatch(r"busyctl \d+\.\d+\.\d+\n", bare.ok("--version"))
    for line in overview.split("Commands:\n")[1].split("\n\n")[0].splitlines():
        command = line.split()[0]
        assert bare.ok("help", command) == bare.ok(command, "--help")


def test_every_documented_option_is_run_by_a_test(bare):
    sources = "".join(
        path.read_text() for path in pathlib.Path(__file__).parent.glob("test_busyctl_*.py"))
    commands = [line.split()[0] for line in
                bare.ok("--help").split("Commands:\n")[1].split("\n\n")[0].splitlines()]
    for command in commands:
        for option in re.findall(r"--[a-z-]+", bare.ok(command, "--help")):
            assert f'"{option}' in sources or f" {option}" in sources, (command, option)


def test_countdown_wait_finished_and_cancelled(session):
    started = time.monotonic()
    done = session.run("countdown", "a", "700ms", "--wait", "--title=Tea")
    assert (done.returncode, done.stdout) == (0, "Tea: finished\n")
    assert 0.7 <= time.monotonic() - started < 3
    waiting = session.start("countdown", "a", "60", "--wait")
    wait_until(lambda: (session.state("a") or {}).get("countdown"), "it counts")
    session.ok("cancel", "a")
    assert waiting.wait(10) == 2
    waiting = session.start("countdown", "a", "60", "--wait")
    wait_until(lambda: session.state("a")["countdown"], "it counts")
    session.ok("countdown", "a", "0")
    assert waiting.wait(10) == 2
    assert session.run("countdown", "a", "0", "--wait", "--quiet").stdout == ""


def test_countdown_on_finish(session, tmp_path):
    mark = tmp_path / "mark"
    assert session.run("countdown", "a", "100ms", f"--on-finish=echo $((1+1)) >{mark}; exit 3",
                       ).returncode == 3
    assert mark.read_text() == "2\n"
    waiting = session.start("countdown", "a", "60", f"--on-finish=rm {mark}")
    wait_until(lambda: (session.state("a") or {}).get("countdown"), "it counts")
    session.ok("forget", "a")
    assert waiting.wait(10) == 2
    assert mark.exists()


def test_interrupted_countdown_goes_on(session):
    waiting = session.start("countdown", "a", "60", "--wait")
    wait_until(lambda: (session.state("a") or {}).get("countdown"), "it counts")
    waiting.send_signal(signal.SIGINT)
    assert waiting.wait(10) == -signal.SIGINT
    assert session.state("a")["countdown"]


def test_wait_for_busy_and_idle(session):
    session.ok("wait", "a")
    session.fails(124, "wait", "a", "--for=busy", "--timeout=100ms")
    waiting = session.start("wait", "a", "--for=busy")
    wait_until_idle(waiting.pid)
    session.ok("show", "a")
    assert waiting.wait(10) == 0
    session.ok("wait", "a", "--for=busy")
    waiting = session.start("wait", "a", "--for=idle")
    wait_until_idle(waiting.pid)
    assert waiting.poll() is None
    session.ok("hide", "a")
    assert waiting.wait(10) == 0
    session.fails(124, "wait", "b", "--for=busy", "--timeout=0")


def test_wait_for_the_end_of_a_countdown(session):
    assert "no control" in session.fails(2, "wait", "a", "--for=finished")
    session.ok("show", "a")
    assert "no countdown" in session.fails(2, "wait", "a", "--for=finished")
    session.ok("countdown", "a", "500ms")
    session.ok("wait", "a", "--for=finished")
    session.ok("wait", "a", "--for=finished")
    session.ok("countdown", "a", "60")
    session.fails(124, "wait", "a", "--for=finished", "--timeout=100ms")
    waiting = session.start("wait", "a", "--for=finished")
    wait_until_idle(waiting.pid)
    session.ok("shorten", "a", "10m")
    assert waiting.wait(10) == 0
    session.ok("countdown", "a", "60")
    waiting = session.start("wait", "a", "--for=finished")
    wait_until_idle(waiting.pid)
    session.ok("cancel", "a")
    assert waiting.wait(10) == 2
    assert "cancelled" in session.fails(2, "wait", "a", "--for=finished")


@pytest.mark.parametrize("away", [0, 1.5])
def test_waiting_survives_a_restart_of_the_daemon(session, away):
    session.ok("countdown", "a", "1s")
    session.ok("show", "b")
    finished = session.start("wait", "a", "--for=finished")
    counting = session.start("countdown", "c", "1s", "--wait")
    idle = session.start("wait", "b")
    wait_until(lambda: session.state("c"), "both count")
    wait_until_idle(idle.pid)
    session.daemon.kill()
    pass_time(away)
    session.start_daemon()
    assert finished.wait(10) == 0
    assert counting.wait(10) == 0
    assert idle.poll() is None
    session.ok("hide", "b")
    assert idle.wait(10) == 0


def test_the_bus_ends(session):
    waiting = [session.start("wait", "a", "--for=busy"), session.start("watch"),
               session.start("hold", "b"), session.start("countdown", "c", "60", "--wait")]
    wait_until(lambda: session.busy("b") and session.state("c"), "all are there")
    session.bus.stop()
    assert [one.wait(10) for one in waiting] == [69] * 4
    assert session.daemon.wait() == 1


def test_waiting_costs_nothing(session):
    waiting = [session.start("wait", "a", "--for=busy"), session.start("watch"),
               session.start("hold", "b")]
    wait_until(lambda: session.busy("b"), "it is held")
    check_idle(*(one.pid for one in waiting), seconds=2)


def test_it_needs_neither_foundation_nor_a_database():
    libraries = run("ldd", BUSYCTL, status=0).stdout
    assert "Foundation" not in libraries and "sqlite" not in libraries
    assert "libsystemd" not in run("readelf", "-d", BUSYCTL, status=0).stdout


def test_output_that_cannot_be_written(session):
    with open("/dev/full", "wb") as full:
        done = session.run("list", stdout=full)
        assert done.returncode == 1 and "No space left" in done.stderr
        watching = session.start("watch", "--json", stdout=full)
        assert watching.wait(10) == 1
    assert session.run("list", "--nope").stdout == ""


@pytest.mark.parametrize("name", ["it's", "a,b='c'", "a\\b", "日本 e\u0301", "'", "x" * 255, "*?"])
def test_waiting_with_any_name(session, name):
    done = session.run("countdown", name, "300ms", "--wait")
    assert (done.returncode, done.stdout) == (0, f"{name}: finished\n")
    watching = session.start("watch", name)
    assert watching.stdout.readline().decode() == f"{name}: idle (finished)\n"
    session.ok("show", name)
    assert watching.stdout.readline().decode() == f"{name}: busy\n"


def test_two_spellings_are_two_controls(session):
    """é in one character and in two: what a peer can tell apart is different."""
    session.ok("show", "\u00e9")
    session.ok("title", "e\u0301", "two")
    assert session.busy("\u00e9") and not session.busy("e\u0301")
    assert session.ok("watch", "--once").splitlines() == ["e\u0301: idle", "\u00e9: busy"]
