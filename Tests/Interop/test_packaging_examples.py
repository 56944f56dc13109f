# SPDX-License-Identifier: MIT
"""Each example does what it says."""

import os
import subprocess

import pytest

from support.harness import BUSYCTL, ROOT
from support.packaging import session_of
from support.peer import Refused
from support.processes import run
from support.waiting import wait_until

# What is shipped is the release.
pytestmark = pytest.mark.release_binary

EXAMPLES = ROOT / "examples"


@pytest.fixture
def session(tree):
    """A bus that can start the daemon, and busyctl on the path."""
    with session_of(tree) as bus:
        bus.environment["PATH"] = f"{BUSYCTL.parent}:{bus.environment['PATH']}"
        yield bus


@pytest.fixture
def client(session):
    return session.connect()


class Lines:
    """A program of the session whose lines are read while it runs."""

    def __init__(self, session, *command, **options):
        self.process = session.spawn(*command, stdout=subprocess.PIPE, text=False, **options)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.text = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def has(self, line):
        self.text += (self.process.stdout.read() or b"").decode()
        return line in self.text.splitlines()


def of(client, control, name):
    """A property of a control; None while there is none, or no daemon."""
    try:
        return client.get(control, name)
    except Refused:
        return None


def test_job_sh_shows_its_steps(session, client, tmp_path):
    go = tmp_path / "go"
    steps = ("true", f"until [ -e {go} ]; do sleep 0.02; done")
    with Lines(session, "sh", EXAMPLES / "job.sh", "build", *steps) as job:
        wait_until(lambda: "2 of 2" in (of(client, "build", "Detail") or ""), "the second step runs")
        assert client.get("build", "Progress") == 0.5
        assert client.get("build", "Title") == "Job build"
        go.touch()
        assert job.process.wait(20) == 0
    assert client.get("build", "Busy") is False


def test_job_sh_hides_when_a_step_fails(session, client):
    session.run("sh", EXAMPLES / "job.sh", "build", "exit 3", status=3)
    assert client.get("build", "Busy") is False


def test_hold_sh_needs_no_busyctl(session, client):
    session.environment["PATH"] = "/usr/bin:/bin"
    with Lines(session, "sh", EXAMPLES / "hold.sh", "photos", "1") as script:
        wait_until(lambda: of(client, "photos", "Busy"), "it is busy")
        assert script.process.wait(20) == 0
    assert client.get("photos", "Busy") is False


def test_copy_py_copies_and_tells_how_it_went(session, client, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    files = [tmp_path / name for name in ("one", "two", "three")]
    for file in files:
        file.write_text(file.name)
    session.run("/usr/bin/python3", EXAMPLES / "copy.py", "copy", *files, folder, status=0)
    assert sorted(path.name for path in folder.iterdir()) == ["one", "three", "two"]
    assert client.get("copy", "LastResult") == "released: 3 files"


def test_copy_py_leaves_nothing_when_it_is_killed(session, client, tmp_path):
    # It waits for who types in there.
    terminal = os.openpty()
    with Lines(session, "/usr/bin/python3", EXAMPLES / "copy.py", "copy", "/etc/hostname",
               os.ttyname(terminal[1]), tmp_path):
        wait_until(lambda: "2 of 2" in (of(client, "copy", "Detail") or ""), "it copies")
        assert client.get("copy", "Busy")
    wait_until(lambda: not client.get("copy", "Busy"), "its hold has ended")
    for descriptor in terminal:
        os.close(descriptor)


@pytest.fixture
def countdown(tmp_path):
    """The example in C, compiled."""
    flags = run("pkg-config", "--cflags", "--libs", "libsystemd", status=0).stdout.split()
    run("cc", "-std=c17", "-Wall", "-Wextra", "-Werror", EXAMPLES / "countdown.c",
        "-o", tmp_path / "countdown", *flags, status=0)
    return tmp_path / "countdown"


def test_countdown_c_prints_each_tick(session, countdown):
    done = session.run(countdown, "tea", "2", status=0)
    assert done.stdout.splitlines() == ["2", "1", "finished"]


def test_countdown_c_tells_why_it_ended(session, client, countdown):
    with Lines(session, countdown, "tea", "60") as lines:
        wait_until(lambda: lines.has("60"), "it counts")
        client.call("CancelCountdown", "tea")
        wait_until(lambda: lines.has("cancelled"), "it is told")
        assert lines.process.wait(20) == 1


def test_watch_js_follows_what_happens(session, client):
    with Lines(session, "gjs", EXAMPLES / "watch.js") as watch:
        # It starts no daemon, and sees the one that starts later.
        session.run("busyctl", "title", "disk", "Backup", status=0)
        wait_until(lambda: watch.has("Backup: idle"), "it sees the control")
        client.call("ShowIndicator", "disk")
        wait_until(lambda: watch.has("Backup: busy"), "it sees that it is busy")
        client.call("SetProgress", "disk", 0.5)
        wait_until(lambda: watch.has("Backup: busy, 50 %"), "it sees how far it is")
        client.call("ReleaseAll", "disk")
        wait_until(lambda: watch.text.count("Backup: idle") == 2 or watch.has(""), "it is idle again")
