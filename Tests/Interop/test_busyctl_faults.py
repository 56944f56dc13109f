# SPDX-License-Identifier: MIT
"""Faults that busyctl has had, each by its right behaviour."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from support.harness import BUSYCTL
from support.waiting import wait_until

pytestmark = pytest.mark.one_bus


def ignoring(number, session, *arguments, **options):
    """Runs busyctl as a parent would that ignores a signal."""
    return session.bus.spawn(
        BUSYCTL, *arguments, preexec_fn=lambda: signal.signal(number, signal.SIG_IGN), **options)


def test_a_parent_that_ignores_its_children_does_not_hang_run(session):
    child = ignoring(signal.SIGCHLD, session, "run", "--notify", "--name=q", "sh", "-c", "exit 3")
    assert child.wait(15) == 3
    assert not session.busy("q")


def test_nor_does_it_hide_how_the_command_at_the_end_fared(session):
    child = ignoring(signal.SIGCHLD, session, "countdown", "c", "0", "--on-finish=exit 3")
    assert child.wait(15) == 3


def test_nohup_is_heeded(session):
    child = ignoring(signal.SIGHUP, session, "hold", "h")
    wait_until(lambda: session.busy("h"), "it is held")
    child.send_signal(signal.SIGHUP)
    # What would end it has come by the time that another signal has been dealt with.
    session.ok("title", "h", "still")
    assert child.poll() is None and session.busy("h")
    child.send_signal(signal.SIGTERM)
    assert child.wait(15) == 0


def test_every_percentage_comes_out_as_it_was_put_in(session):
    session.ok("show", "p")
    for percent in range(101):
        session.ok("progress", "p", f"{percent}%")
        assert session.ok("--format={{percent}}", "status", "p") == f"{percent}%\n"


def test_what_holds_already_is_not_too_late(session):
    session.ok("wait", "idle", "--timeout=0")
    session.ok("show", "s")
    session.ok("wait", "s", "--for=busy", "--timeout=0")
    assert session.run("wait", "s", "--timeout=0").returncode == 124


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["list"], ["completion", "bash"]])
def test_output_that_is_lost_is_a_failure(session, arguments):
    session.ok("show", "s")
    with open("/dev/full", "w") as full:
        done = session.run(*arguments, stdout=full)
    assert done.returncode == 1 and done.stderr.count("\n") == 1


def test_a_slow_bar_gets_few_lines_and_the_newest(session):
    """While nobody reads, no line is made that would be replaced before it is read."""
    for index in range(100):
        session.ok("show", f"c{index}", f"--title={'t' * 300}")
    watch = session.start("watch", "--format={{tooltip}}")
    assert watch.stdout.readline()
    for index in range(200):
        session.ok("detail", "c0", f"detail {index}")
    session.ok("detail", "c0", "the last")
    seen = []
    while not (seen and b"the last" in seen[-1]):
        seen.append(watch.stdout.readline())
        assert seen[-1] and len(seen) < 100


@pytest.mark.parametrize("arguments", [["list"], ["watch", "--once"], ["watch", "--once", "--json"]])
def test_a_closed_output_is_named_as_that(session, arguments):
    session.ok("show", "s")
    done = session.bus.run("sh", "-c", '"$0" "$@" >&-', BUSYCTL, *arguments)
    assert (done.returncode, done.stderr) == (
        1, "busyctl: the output cannot be written: Bad file descriptor\n")


def test_a_remark_that_nobody_can_read_does_not_go_to_the_bus(bare):
    """A socket opened while descriptor 2 is closed would be number 2."""
    watch = bare.bus.spawn(
        "sh", "-c", 'exec "$0" "$@" 2>&-', BUSYCTL, "watch", stdout=subprocess.PIPE)
    descriptor = Path(f"/proc/{watch.pid}/fd/2")
    wait_until(
        lambda: descriptor.is_symlink() and "null" in os.readlink(descriptor), "it has begun")
    bare.start_daemon()
    bare.ok("show", "s")
    assert watch.stdout.readline().startswith("s: ")
    watch.terminate()
    assert watch.wait(15) == 0


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_another_spelling_of_a_title_is_a_change(session, options):
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    session.ok("show", "s", f"--title={composed}")
    watch = session.start("watch", *options)
    assert composed.encode() in watch.stdout.readline()
    session.ok("title", "s", decomposed)
    assert decomposed.encode() in watch.stdout.readline()
