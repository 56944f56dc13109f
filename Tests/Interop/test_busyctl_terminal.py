# SPDX-License-Identifier: MIT
"""busyctl watch and countdown --wait in a terminal, looked at through tmux."""

import os
import re
import signal

import pytest

from support.processes import check_idle
from support.terminal import terminal
from support.waiting import pass_time, wait_until

pytestmark = pytest.mark.one_bus

WIDE = "日本語のタイトルはとても長いです本当に長いです"


def started(shell, session, command="busyctl watch"):
    """Starts a command that stays, and gives its process."""
    shell.command(f"exec_pid() {{ echo pid=$BASHPID; exec {command}; }}; clear; (exec_pid)")
    seen = wait_until(lambda: re.search(r"^pid=(\d+)$", shell.text(), re.M), "it has started")
    return int(seen.group(1))


@pytest.mark.parametrize("columns", [40, 200])
def test_rows_fit(session, columns):
    session.ok("show", "a", f"--title={WIDE}")
    session.ok("progress", "a", "50%")
    session.ok("countdown", "b", "1:40", "--paused", "--title=e\u0301 x")
    session.ok("show", "c", "--title=" + "x" * 500)
    with terminal(session, columns, 12) as shell:
        shell.command("busyctl watch")
        shell.shows("1:40")
        lines = [line for line in shell.lines() if "$" not in line]
        assert len(lines) == 3, lines
        first, second, third = sorted(lines, key=lambda line: "日" not in line)[0], *[
            line for line in lines if "日" not in line]
        assert re.match("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] 日", first)
        assert "█" in first and "░" in first and first.endswith("50%")
        assert any(line.startswith("‖ e\u0301 x") and line.endswith("1:40") for line in lines)
        assert any("xxx" in line and ("…" in line or columns == 200) for line in lines)
        # The bars stand below each other: a wide character counts two.
        def place(line):
            return sum(2 if "\u3000" <= c <= "\u9fff" else 0 if c == "\u0301" else 1
                       for c in line[:re.search("[█░]", line).start()])
        bars = {place(line) for line in lines if re.search("[█░]", line)}
        assert len(bars) == 1


def test_it_draws_in_place_and_leaves_the_terminal_as_it_was(session):
    with terminal(session, 60, 12) as shell:
        shell.command("stty -a >before; clear; busyctl watch")
        shell.shows("nothing is busy")
        session.ok("countdown", "a", "3")
        for text in ("0:03", "0:02", "0:01", "nothing is busy"):
            shell.shows(text)
        session.ok("show", "b")
        shell.shows("b")
        assert len(shell.lines()) == 1, shell.text()
        shell.interrupt()
        shell.command("echo status $?; stty -a | cmp - before && echo same")
        shell.shows("status 0\nsame")


def test_stop_and_go_on(session):
    session.ok("show", "a")
    with terminal(session, 60, 20) as shell:
        shell.command("busyctl watch")
        shell.shows("⠋")
        shell.type("C-z")
        shell.shows("Stopped")
        session.ok("title", "a", "later")
        shell.command("fg")
        shell.shows("later")
        text = shell.text()
        assert text.index("Stopped") < text.index("later")
        assert text.count("later") == 1
        shell.type("C-c")


def test_resize(session):
    session.ok("countdown", "a", "1h", "--paused")
    with terminal(session, 100, 12) as shell:
        shell.command("clear; busyctl watch")
        shell.shows("1:00:00")
        for columns in (40, 120, 20, 60):
            shell.resize(columns, 12)
            wait_until(lambda: len([line for line in shell.lines() if "‖" in line]) == 1
                       and max(map(len, shell.lines())) < columns, "it is drawn anew")
            pass_time(0.2)
            assert len(shell.lines()) == 1, shell.text()


def test_more_controls_than_rows(session):
    for number in range(20):
        session.ok("show", f"n{number:02}")
    with terminal(session, 60, 8) as shell:
        shell.command("busyctl watch")
        shell.shows("+14 more")
        assert shell.lines()[0].endswith("n00") or "n00" in shell.lines()[0]
        for number in range(16):
            session.ok("hide", f"n{number:02}")
        wait_until(lambda: "more" not in shell.text() and "n19" in shell.text(), "they fit now")
        assert len(shell.lines()) == 4, shell.text()


def test_dumb_terminal_gets_lines(session):
    session.ok("show", "a")
    with terminal(session) as shell:
        shell.command("TERM=dumb busyctl watch")
        shell.shows("\na: busy\n")
        session.ok("hide", "a")
        shell.shows("a: busy\na: idle")
        shell.interrupt()
        shell.command("clear; TERM=dumb busyctl countdown b 1s --wait")
        shell.shows("b: finished\n")


def test_color_and_signs(session):
    session.ok("show", "a")
    for variables, has_color in (("", True), ("NO_COLOR=1 ", False), ("NO_COLOR= ", True)):
        with terminal(session) as shell:
            shell.command(f"{variables}busyctl watch")
            shell.shows("⠋")
            colored = shell.tmux("capture-pane", "-e", "-p", "-t", "main")
            assert ("\x1b[36m" in colored) == has_color, variables
            shell.type("C-c")
    with terminal(session) as shell:
        shell.command("clear; LC_ALL=C busyctl --color=never watch")
        wait_until(lambda: any(re.match(r"[|/\\-] a", line) for line in shell.lines()), "ASCII signs")
        shell.type("C-c")


def test_named_controls_are_shown_whatever_they_do(session):
    session.ok("title", "a", "Idle one")
    session.ok("show", "b")
    with terminal(session) as shell:
        shell.command("clear; busyctl watch a")
        assert "idle" in shell.shows("Idle one")
        assert len(shell.lines()) == 1


def test_it_ends_and_the_daemon_comes_back(session):
    session.ok("show", "a")
    with terminal(session) as shell:
        pid = started(shell, session)
        shell.shows("⠋")
        session.daemon.kill()
        shell.shows("busyindicatord is not running")
        check_idle(pid, seconds=1)
        session.start_daemon()
        shell.shows("⠋")
        import os
        os.kill(pid, signal.SIGTERM)
        shell.command("echo status $?")
        shell.shows("status 0")


def test_countdown_draws_one_line(session):
    with terminal(session, 60, 12) as shell:
        shell.command("clear; busyctl countdown a 3 --wait --title=Tea; echo status $?")
        for text in ("Tea  ", "0:03", "0:02", "0:01"):
            shell.shows(text)
        shell.shows("Tea  finished\nstatus 0")
        assert shell.lines()[0] == "Tea  finished"
        shell.command("clear; busyctl countdown a 60 --wait; echo status $?")
        shell.shows("0:59")
        session.ok("pause", "a")
        shell.shows("paused")
        session.ok("cancel", "a")
        shell.shows("Tea  cancelled\nstatus 2")
        shell.command("clear; busyctl countdown a 60 --wait; echo status $?")
        shell.shows("0:59")
        shell.interrupt()
        shell.command("echo status $?")
        shell.shows("the countdown goes on")
        shell.shows("status 130")
