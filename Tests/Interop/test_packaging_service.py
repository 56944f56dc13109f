# SPDX-License-Identifier: MIT
"""The unit and the bus's service file; and sessions that have no systemd, and less still."""

import concurrent.futures
import configparser
import os
import re
import signal
import subprocess
import time

import pytest
from packaging_support import (
    BUSYCTL, DAEMON, NAME, PACKAGING, bus_with_services, call, control_property, install, owner_pid,
    run, session_environment, wait_until)

# What is shipped is the release.
pytestmark = pytest.mark.release_binary

UNIT = PACKAGING / "systemd/busyindicatord.service"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """All that is installed, at the place that the files themselves name."""
    prefix = tmp_path_factory.mktemp("installed") / "tree"
    install(prefix, "")
    # The programs are then below the tree, and the files must say so.
    for file in (
            prefix / "lib/systemd/user/busyindicatord.service",
            prefix / f"share/dbus-1/services/{NAME}.service"):
        file.write_text(file.read_text().replace("=/bin/", f"={prefix}/bin/"))
    return prefix


@pytest.fixture
def session(tree, tmp_path):
    """A session with a bus that starts services itself, without display or runtime directory."""
    with bus_with_services(tmp_path, tree / "share/dbus-1/services") as (environment, _):
        yield environment


def test_systemd_finds_no_fault_with_the_unit(tree, tmp_path):
    # It exits with 0 on unknown keys, but not silently.
    done = run(
        "systemd-analyze", "--user", "--man=yes", "verify",
        tree / "lib/systemd/user/busyindicatord.service",
        env=session_environment(
            tmp_path, XDG_RUNTIME_DIR=str(tmp_path), MANPATH=str(tree / "share/man")))
    assert done.stdout + done.stderr == ""


def test_the_units_exposure_stays_low(tree, tmp_path):
    # A tenth of a point by the last word: 0.9 of 10 when this was written.
    run(
        "systemd-analyze", "--user", "security", "--offline=true", "--threshold=9", "--no-pager",
        tree / "lib/systemd/user/busyindicatord.service",
        env=session_environment(tmp_path, XDG_RUNTIME_DIR=str(tmp_path)))


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
    assert control_property(session, "first", "Busy") == "b true"


def test_busyctl_has_the_bus_start_it(session):
    run(BUSYCTL, "show", "first", env=session)
    assert control_property(session, "first", "Busy") == "b true"


def test_ten_first_calls_at_once_start_it_once(session):
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        calls = [
            pool.submit(call, session, "ShowIndicator", "s", f"c{number}") for number in range(10)]
        for each in calls:
            each.result()
    for number in range(10):
        assert control_property(session, f"c{number}", "Busy") == "b true"


def test_the_next_call_starts_it_again(session):
    call(session, "ShowIndicator", "s", "first")
    pid = owner_pid(session)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: owner_pid(session) != pid, "the bus has seen that it is gone")
    call(session, "ShowIndicator", "s", "again")
    assert control_property(session, "again", "Busy") == "b true"


@pytest.mark.parametrize("runtime", [None, "absent", ""], ids=["unset", "absent", "empty"])
def test_it_serves_without_a_runtime_directory(tree, tmp_path, runtime):
    environment = session_environment(tmp_path)
    if runtime is not None:
        environment["XDG_RUNTIME_DIR"] = str(tmp_path / runtime) if runtime else ""
    with bus_with_services(tmp_path, tree / "share/dbus-1/services", environment):
        call(environment, "ShowIndicator", "s", "first")
        assert control_property(environment, "first", "Busy") == "b true"


@pytest.mark.parametrize("program", ["/bin/false", "/no/such/program"])
def test_a_caller_of_a_service_that_cannot_start_gets_an_error(tmp_path, program):
    services = tmp_path / "services"
    services.mkdir()
    (services / f"{NAME}.service").write_text(f"[D-BUS Service]\nName={NAME}\nExec={program}\n")
    with bus_with_services(tmp_path, services) as (environment, _):
        begin = time.monotonic()
        answer = call(environment, "ShowIndicator", "s", "first", check=False)
        assert answer.returncode != 0 and answer.stderr
        answer = run(BUSYCTL, "show", "first", env=environment, check=False)
        assert answer.returncode == 69
        assert len(answer.stderr.splitlines()) == 1
        assert time.monotonic() - begin < 10


def test_it_ends_with_the_bus(tree, tmp_path):
    with bus_with_services(tmp_path, tree / "share/dbus-1/services") as (environment, bus):
        daemon = subprocess.Popen([DAEMON], env=environment, stderr=subprocess.PIPE, text=True)
        try:
            wait_until(lambda: owner_pid(environment) == daemon.pid, "it has its name")
            bus.kill()
            assert daemon.wait(10) == 1
            assert "bus" in daemon.stderr.read()
        finally:
            daemon.kill()
            daemon.wait()


def test_without_a_bus_it_says_so_and_ends(tmp_path):
    for environment in (
            session_environment(tmp_path),
            {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}):
        done = run(DAEMON, env=environment, check=False, timeout=20)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1
