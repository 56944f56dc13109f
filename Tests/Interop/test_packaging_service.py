# SPDX-License-Identifier: MIT
"""The unit and the bus's service file; and sessions that have no systemd, and less still."""

import concurrent.futures
import configparser
import os
import re
import signal
import time

import pytest

from support.contract import NAME
from support.harness import BUSYCTL, Bus, owner_pid
from support.packaging import PACKAGING, call, session_of
from support.processes import run
from support.waiting import wait_until

# What is shipped is the release.
pytestmark = pytest.mark.release_binary

UNIT = PACKAGING / "systemd/busyindicatord.service"


@pytest.fixture
def session(tree):
    with session_of(tree) as bus:
        yield bus


def is_busy(session, control):
    """Whether the daemon that the bus has started says so."""
    return session.connect().get(control, "Busy")


def environment(directory, **more):
    """What systemd's tools see where there is no session."""
    return {"PATH": "/usr/bin:/bin", "HOME": str(directory), "LC_ALL": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(directory), **more}


def test_systemd_finds_no_fault_with_the_unit(tree, tmp_path):
    # It exits with 0 on unknown keys, but not silently.
    done = run(
        "systemd-analyze", "--user", "--man=yes", "verify",
        tree / "lib/systemd/user/busyindicatord.service", status=0,
        env=environment(tmp_path, MANPATH=str(tree / "share/man")))
    assert done.stdout + done.stderr == ""


def test_the_units_exposure_stays_low(tree, tmp_path):
    # A tenth of a point by the last word: 0.9 of 10 when this was written.
    run(
        "systemd-analyze", "--user", "security", "--offline=true", "--threshold=9", "--no-pager",
        tree / "lib/systemd/user/busyindicatord.service", status=0, env=environment(tmp_path))


def test_the_unit_is_as_it_must_be():
    lines = UNIT.read_text().splitlines()
    for line in (
            "Type=dbus", f"BusName={NAME}", "Restart=on-failure", "WatchdogSec=3min",
            "PrivateUsers=yes", "ProtectSystem=strict", "UMask=0077", "NoNewPrivileges=yes",
            "RestrictAddressFamilies=AF_UNIX", "MemoryDenyWriteExecute=yes"):
        assert line in lines
    # It would be emptied at every restart, and the store is in it.
    assert not any(line.startswith("RuntimeDirectory") for line in lines)


def test_the_buss_file_names_the_unit(tree):
    # dbus-broker wants it named for the name.
    file = configparser.ConfigParser(interpolation=None)
    file.optionxform = str
    file.read(tree / f"share/dbus-1/services/{NAME}.service")
    section = file["D-BUS Service"]
    assert section["Name"] == NAME
    assert section["SystemdService"] == UNIT.name
    assert os.access(section["Exec"], os.X_OK)


def test_no_placeholder_is_left(tree):
    for path in tree.rglob("*"):
        if path.is_file() and path.parent.name != "bin":
            assert not re.search(rb"@[a-z]+dir@", path.read_bytes()), path


def test_the_bus_starts_it_without_systemd(session):
    call(session, "ShowIndicator", "s", "first")
    assert is_busy(session, "first")


def test_busyctl_has_the_bus_start_it(session):
    session.run(BUSYCTL, "show", "first", status=0)
    assert is_busy(session, "first")


def test_ten_first_calls_at_once_start_it_once(session):
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        calls = [
            pool.submit(call, session, "ShowIndicator", "s", f"c{number}") for number in range(10)]
        for each in calls:
            each.result()
    for number in range(10):
        assert is_busy(session, f"c{number}")


def test_the_next_call_starts_it_again(session):
    call(session, "ShowIndicator", "s", "first")
    peer = session.connect()
    pid = owner_pid(peer)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: owner_pid(peer) != pid, "the bus has seen that it is gone")
    call(session, "ShowIndicator", "s", "again")
    assert is_busy(session, "again")


@pytest.mark.parametrize("runtime", [None, "absent", ""], ids=["unset", "absent", "empty"])
def test_it_serves_without_a_runtime_directory(tree, tmp_path, runtime):
    variables = {} if runtime is None else {
        "XDG_RUNTIME_DIR": str(tmp_path / runtime) if runtime else ""}
    with session_of(tree, **variables) as session:
        call(session, "ShowIndicator", "s", "first")
        assert is_busy(session, "first")


@pytest.mark.parametrize("program", ["/bin/false", "/no/such/program"])
def test_a_caller_of_a_service_that_cannot_start_gets_an_error(program):
    with Bus() as session:
        session.can_start(program)
        begin = time.monotonic()
        answer = call(session, "ShowIndicator", "s", "first", status=1)
        assert answer.stderr
        answer = session.run(BUSYCTL, "show", "first", status=69)
        assert len(answer.stderr.splitlines()) == 1
        assert time.monotonic() - begin < 10

