# SPDX-License-Identifier: MIT
"""Each example does what it says."""

import os
import subprocess

import pytest
from packaging_support import (
    BUSYCTL, NAME, ROOT, bus_with_services, call, control_property, install, run, wait_until)

# What is shipped is the release.
pytestmark = pytest.mark.release_binary

EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    tree = tmp_path_factory.mktemp("installed") / "tree"
    install(tree, "")
    file = tree / f"share/dbus-1/services/{NAME}.service"
    file.write_text(file.read_text().replace("=/bin/", f"={tree}/bin/"))
    return file.parent


@pytest.fixture
def session(services, tmp_path):
    """A bus that can start the daemon, and busyctl on the path."""
    with bus_with_services(tmp_path, services) as (environment, _):
        yield {**environment, "PATH": f"{BUSYCTL.parent}:{environment['PATH']}"}


class Lines:
    """A program whose lines are read while it runs."""

    def __init__(self, *command, environment):
        self.process = subprocess.Popen(
            [str(word) for word in command], env=environment, stdout=subprocess.PIPE)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.text = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def has(self, line):
        self.text += (self.process.stdout.read() or b"").decode()
        return line in self.text.splitlines()


def test_job_sh_shows_its_steps(session, tmp_path):
    go = tmp_path / "go"
    with Lines("sh", EXAMPLES / "job.sh", "build", "true", f"until [ -e {go} ]; do sleep 0.02; done",
               environment=session) as job:
        wait_until(
            lambda: "2 of 2" in control_property_or_none(session, "build", "Detail"),
            "the second step runs")
        assert control_property(session, "build", "Progress") == "d 0.5"
        assert control_property(session, "build", "Title") == 's "Job build"'
        go.touch()
        assert job.process.wait(20) == 0
    assert control_property(session, "build", "Busy") == "b false"


def test_job_sh_hides_when_a_step_fails(session):
    assert run("sh", EXAMPLES / "job.sh", "build", "exit 3", env=session, check=False).returncode == 3
    assert control_property(session, "build", "Busy") == "b false"


def test_hold_sh_needs_no_busyctl(session):
    plain = {**session, "PATH": "/usr/bin:/bin"}
    with Lines("sh", EXAMPLES / "hold.sh", "photos", "1", environment=plain) as script:
        wait_until(lambda: control_property_or_none(session, "photos", "Busy") == "b true", "it is busy")
        assert script.process.wait(20) == 0
    assert control_property(session, "photos", "Busy") == "b false"


def test_copy_py_copies_and_tells_how_it_went(session, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    files = [tmp_path / name for name in ("one", "two", "three")]
    for file in files:
        file.write_text(file.name)
    run("/usr/bin/python3", EXAMPLES / "copy.py", "copy", *files, folder, env=session)
    assert sorted(path.name for path in folder.iterdir()) == ["one", "three", "two"]
    assert control_property(session, "copy", "LastResult") == 's "released: 3 files"'


def test_copy_py_leaves_nothing_when_it_is_killed(session, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # It waits for who writes into the pipe.
    with Lines("/usr/bin/python3", EXAMPLES / "copy.py", "copy", "/etc/hostname", "/dev/stdin", tmp_path,
               environment=session):
        pass
    call(session, "SetTitle", "ss", "copy", "Copies")
    wait_until(lambda: control_property(session, "copy", "Busy") == "b false", "its hold has ended")


def test_countdown_c_prints_each_tick(session, tmp_path):
    program = tmp_path / "countdown"
    flags = run("pkg-config", "--cflags", "--libs", "libsystemd").stdout.split()
    run("cc", "-std=c17", "-Wall", "-Wextra", "-Werror", EXAMPLES / "countdown.c", "-o", program, *flags)
    done = run(program, "tea", "2", env=session)
    assert done.stdout.splitlines() == ["2", "1", "finished"]


def test_countdown_c_tells_why_it_ended(session, tmp_path):
    program = tmp_path / "countdown"
    flags = run("pkg-config", "--cflags", "--libs", "libsystemd").stdout.split()
    run("cc", EXAMPLES / "countdown.c", "-o", program, *flags)
    with Lines(program, "tea", "60", environment=session) as countdown:
        wait_until(lambda: countdown.has("60"), "it counts")
        call(session, "CancelCountdown", "s", "tea")
        wait_until(lambda: countdown.has("cancelled"), "it is told")
        assert countdown.process.wait(20) == 1


def test_watch_js_follows_what_happens(session):
    with Lines("gjs", EXAMPLES / "watch.js", environment=session) as watch:
        # It starts no daemon, and sees the one that starts later.
        call(session, "SetTitle", "ss", "disk", "Backup")
        wait_until(lambda: watch.has("Backup: idle"), "it sees the control")
        call(session, "ShowIndicator", "s", "disk")
        wait_until(lambda: watch.has("Backup: busy"), "it sees that it is busy")
        call(session, "SetProgress", "sd", "disk", "0.5")
        wait_until(lambda: watch.has("Backup: busy, 50 %"), "it sees how far it is")
        call(session, "ReleaseAll", "s", "disk")
        wait_until(lambda: watch.text.count("Backup: idle") == 2 or watch.has(""), "it is idle again")


def control_property_or_none(session, control, name):
    try:
        return control_property(session, control, name)
    except AssertionError:
        return ""
