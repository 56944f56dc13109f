# SPDX-License-Identifier: MIT
"""How the daemon starts and ends, and what it says of that."""

import os
import signal
import socket
import subprocess

import pytest

from harness import DAEMON, NAME, wait_until


def run(bus, *flags, **environment):
    settings = {**bus.environment, **environment}
    settings = {key: value for key, value in settings.items() if value is not None}
    return subprocess.run([DAEMON, *flags], env=settings, capture_output=True, text=True, timeout=20,
                          stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_in_order(bus, number):
    daemon, client = bus.daemon(), bus.client()
    daemon.send(signal.SIGSTOP)
    serials = client.write(*[("SetTitle", f"c{index}", "t") for index in range(50)])
    client.sent()
    daemon.process.send_signal(number)
    daemon.expected_end = True
    daemon.send(signal.SIGCONT)
    for serial in serials:
        client.result(serial)
    assert daemon.wait() == 0
    wait_until(lambda: not client.bus("NameHasOwner", "s", NAME), "the name is free")


def test_the_name_is_taken(bus, daemon):
    second = run(bus)
    assert second.returncode == 1 and second.stdout == ""
    assert second.stderr.count("\n") == 1 and f"process {daemon.pid}" in second.stderr


def test_the_bus_goes(bus):
    daemon = bus.daemon()
    bus.stop()
    assert daemon.wait() == 1
    bus.restart()


@pytest.mark.parametrize("address", ["unix:path=/nonexistent/bus", "nonsense", "tcp:host=nowhere"])
def test_there_is_no_bus(bus, address):
    done = run(bus, DBUS_SESSION_BUS_ADDRESS=address)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done


def test_there_is_no_address(bus):
    done = run(bus, DBUS_SESSION_BUS_ADDRESS=None, XDG_RUNTIME_DIR=None)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done


@pytest.mark.parametrize("flags", [
    ["--nonsense"], ["-x"], ["operand"], ["--grace"], ["--grace=soon"], ["--linger=-1"],
    ["--max-controls=0"], ["--max-holds=1e9"], ["--max=1"], ["--no-plugin=nonsense"], ["--version=1"]])
def test_a_wrong_flag_is_one_line(bus, flags):
    done = run(bus, *flags)
    assert done.returncode == 64 and done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert flags[0].split("=")[-1] in done.stderr or flags[0].split("=")[0] in done.stderr


def test_version_and_help_and_introspect_need_no_bus(bus):
    for flag in ["--version", "--help", "--introspect"]:
        done = run(bus, flag, DBUS_SESSION_BUS_ADDRESS="unix:path=/nonexistent")
        assert done.returncode == 0 and done.stderr == "" and done.stdout
    assert run(bus, "--version").stdout.split()[0] == "busyindicatord"
    client_version = run(bus, "--version").stdout.split()[1]
    bus.daemon()
    assert bus.client().manager("Version") == client_version


class ServiceManager:
    """What sd_notify(3) speaks to."""

    def __init__(self, directory):
        self.path = str(directory / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.said = []

    def receive(self, seconds=10):
        self.socket.settimeout(seconds)
        lines = self.socket.recv(65536).decode().splitlines()
        self.said += lines
        return lines

    def wait(self, line):
        while line not in self.said:
            self.receive()


def test_the_service_manager_is_told(bus):
    manager = ServiceManager(bus.directory)
    daemon = bus.daemon(ready=False, environment={"NOTIFY_SOCKET": manager.path})
    client = bus.client()
    manager.wait("READY=1")
    assert client.bus("NameHasOwner", "s", NAME), "the name comes before READY"
    client.settle()
    manager.wait(f"STATUS=Serving {NAME}")
    daemon.expected_end = True
    daemon.process.terminate()
    manager.wait("STOPPING=1")
    assert daemon.wait() == 0


def test_the_service_manager_is_told_what_is_not_kept(bus):
    manager = ServiceManager(bus.directory)
    daemon = bus.daemon(environment={"NOTIFY_SOCKET": manager.path, "XDG_RUNTIME_DIR": None})
    daemon.expected_warnings = 1
    manager.wait("READY=1")
    assert any(line.startswith("STATUS=") and "XDG_RUNTIME_DIR" in line for line in manager.said)


def test_the_watchdog_is_fed(bus):
    """By sd-event, while the loop goes round."""
    manager = ServiceManager(bus.directory)
    # WATCHDOG_PID is the daemon's, which execve leaves the shell's.
    script = f'WATCHDOG_PID=$$ WATCHDOG_USEC=400000 NOTIFY_SOCKET={manager.path} exec "$@"'
    bus.daemon(wrapper=["sh", "-c", script, "sh"])
    for _ in range(3):
        manager.said.clear()
        manager.wait("WATCHDOG=1")


def test_the_journal_gets_priorities(bus):
    """Standard error is the journal when JOURNAL_STREAM names it by device and inode."""
    log = bus.directory / "journal"
    with open(log, "wb") as stream:
        status = os.fstat(stream.fileno())
        process = subprocess.Popen(
            [DAEMON], stderr=stream, stdin=subprocess.DEVNULL,
            env={**bus.environment, "JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"})
        bus.children.append(process)
        client = bus.client()
        wait_until(lambda: client.bus("NameHasOwner", "s", NAME), "it serves")
        process.terminate()
        process.wait(10)
    lines = log.read_text().splitlines()
    assert lines and all(line[0] == "<" and line[1].isdigit() and line[2] == ">" for line in lines)


def test_calls_are_logged_on_request_only(bus):
    daemon = bus.daemon("--verbose")
    client = bus.client()
    client.do("SetTitle", "quo\"te\u202e", "secret")
    client.refused("ShowIndicator", "\x1b[31m\n")
    text = daemon.text()
    assert "SetTitle" in text and client.name in text and "secret" not in text
    assert "\x1b" not in text and "\u202e" not in text and '\\"' in text
    daemon.stop()
    quiet = bus.daemon()
    client.do("SetTitle", "b", "t")
    assert "SetTitle" not in quiet.text()


def test_a_log_that_nobody_reads_does_not_end_it(bus):
    reading, writing = os.pipe()
    process = subprocess.Popen([DAEMON, "--verbose"], stderr=writing, stdin=subprocess.DEVNULL,
                               env=bus.environment)
    bus.children.append(process)
    os.close(writing)
    client = bus.client()
    wait_until(lambda: client.bus("NameHasOwner", "s", NAME), "it serves")
    os.close(reading)
    client.do("SetTitle", "a", "t")
    client.do("SetTitle", "b", "t")
    assert process.poll() is None


def test_who_takes_the_name_is_let(bus):
    """A replacement that is no busyindicatord: the daemon ends all the same."""
    daemon = bus.daemon()
    taker = bus.client()
    taker.bus("RequestName", "su", NAME, 2)
    assert daemon.wait() == 0

