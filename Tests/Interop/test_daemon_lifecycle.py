# SPDX-License-Identifier: MIT
"""From the command line to the exit status: the bus, the name, the log."""

import os
import re
import signal

import pytest

from support import contract, wire
from support.harness import DAEMON, Daemon, owner, owner_pid
from support.peer import describe
from support.processes import run


def one_line(text):
    """Checks that it is one line of one sentence, and returns it."""
    assert text.count("\n") == 1 and text.endswith("\n"), text
    return text.rstrip("\n")


def run_daemon(*flags, environment=None):
    """Runs the daemon, which shall end by itself."""
    return run(DAEMON, *flags, env=environment or {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})


# The command line

def test_version():
    done = run_daemon("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"busyindicatord \d+\.\d+\.\d+", one_line(done.stdout))


def test_the_version_is_the_one_on_the_bus(client):
    assert run_daemon("--version").stdout.split()[1] == client.manager("Version")


def test_help():
    done = run_daemon("--help")
    assert (done.returncode, done.stderr) == (0, "")
    for flag in ("grace", "minimum", "linger", "max-controls", "max-holds", "max-holds-per-sender",
                 "replace", "introspect", "verbose", "version", "help"):
        assert f"--{flag}" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.parametrize(
    "flags",
    [
        ["--nonsense"],
        ["-x"],
        ["word"],
        ["--", "word"],
        ["--grace"],
        ["--grace="],
        ["--grace=soon"],
        ["--grace=-1"],
        ["--minimum=1 s"],
        ["--linger=1y"],
        ["--linger=99999999999999999999"],
        ["--max-controls=0"],
        ["--max-controls=-1"],
        ["--max-holds=many"],
        ["--max-holds=1.5"],
        ["--max-holds=1e9"],
        ["--max-holds-per-sender="],
        ["--max-holds=99999999999999999999"],
        ["--version=1"],
        ["--verbose=yes"],
        ["--max=1"],
        ["--no-plugin=nonsense"],
        ["--grace=1", "--nonsense"],
        ["--grace=\x1b[31m"],
    ],
    ids=" ".join,
)
def test_a_wrong_command_line(flags):
    done = run_daemon(*flags)
    assert (done.returncode, done.stdout) == (64, "")
    line = one_line(done.stderr)
    assert line.startswith("busyindicatord: ") and len(line) < 300
    # It names what is wrong.
    assert flags[-1].split("=")[0].lstrip("-") in line


@pytest.mark.one_bus
@pytest.mark.parametrize("duration", ["0", "5", "250ms", "1m30s", "2h", "1:30", "0.5"])
def test_durations(bus, duration):
    bus.daemon(*(f"--{name}={duration}" for name in ("grace", "minimum", "linger")))


# The bus and the name

@pytest.mark.parametrize(
    "environment",
    [
        {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"},
        {"DBUS_SESSION_BUS_ADDRESS": "nonsense"},
        {"DBUS_SESSION_BUS_ADDRESS": "tcp:host=nowhere"},
        {"XDG_RUNTIME_DIR": "/nonexistent"},
        {},
    ],
    ids=["nobody", "nonsense", "nowhere", "none", "nothing"],
)
def test_no_bus(environment):
    done = run_daemon(environment={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **environment})
    assert (done.returncode, done.stdout) == (1, "")
    one_line(done.stderr)


def test_the_name_is_taken(bus, daemon, listener):
    listener.call("ShowIndicator", "a")
    listener.heard()
    second = Daemon(bus)
    second.spawn()
    assert second.wait() == 1
    line = one_line(second.log)
    assert f"process {daemon.pid}" in line and contract.NAME in line
    # The first has noticed nothing.
    assert listener.heard() == []
    assert listener.get("a", "Busy")


def test_the_name_belongs_to_another_program(bus):
    other = bus.connect()
    assert other.bus("RequestName", "su", contract.NAME, 0) == 1
    daemon = Daemon(bus)
    daemon.spawn()
    assert daemon.wait() == 1
    assert f"process {owner_pid(other)}" in one_line(daemon.log)
    # It is not in the queue for it either.
    assert other.bus("ListQueuedOwners", "s", contract.NAME) == [other.name]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(bus, daemon, listener, number):
    listener.bus("AddMatch", "s", f"member='NameOwnerChanged',arg0='{contract.NAME}'")
    listener.call("ShowIndicator", "a")
    listener.heard()
    assert daemon.terminate(number) == 0
    assert owner(listener) is None
    # Nothing is told that is not so: the state waits for the next start.
    assert [describe(m)[0] for m in listener.signals] == ["InterfacesAdded", "PropertiesChanged"]
    daemon.start()
    assert listener.get("a", "Busy")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_was_called_before_its_end_is_answered(daemon, listener, number):
    """Calls that wait when the signal comes are answered, all of them."""
    with daemon.stopped():
        serials = listener.send(*(
            listener.request("SetTitle", f"c{index}", "T") for index in range(400)))
        listener.bus("GetId")
        daemon.process.send_signal(number)
    for serial in serials:
        assert listener.answer(serial).kind == wire.RETURN
    assert daemon.wait() == 0
    assert owner(listener) is None
    daemon.start()
    assert len(listener.objects()) == 400


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_bus_is_gone(bus, daemon, number):
    bus.stop(number)
    assert daemon.wait() == 1
    assert "bus is gone" in daemon.log and len(daemon.log.splitlines()) <= 2


def test_who_takes_the_name_is_let(bus, daemon):
    """A successor that is no busyindicatord: the daemon ends all the same."""
    taker = bus.connect()
    assert taker.bus("RequestName", "su", contract.NAME, 2) == 1
    assert daemon.wait() == 0
    assert owner(taker) == taker.name


# The log

def test_a_closed_log(bus):
    """Nobody who reads its log is no reason to end."""
    client = bus.connect()
    daemon = Daemon(bus, "--verbose")
    reading, writing = os.pipe()
    daemon.spawn(stderr=writing)
    os.close(writing)
    daemon.wait_until_it_serves()
    os.close(reading)
    for _ in range(20):
        client.call("ShowIndicator", "a")
        client.call("HideIndicator", "a")
    assert daemon.is_alive


def test_the_journal_gets_priorities(bus):
    """The standard error is the journal when JOURNAL_STREAM names it by device and inode."""
    daemon = Daemon(bus)
    daemon.log_file.touch()
    journal = daemon.log_file.stat()
    daemon.environment["JOURNAL_STREAM"] = f"{journal.st_dev}:{journal.st_ino}"
    daemon.start()
    assert daemon.terminate() == 0
    lines = daemon.log.splitlines()
    assert lines and all(re.match(r"<[0-7]>", line) for line in lines), lines


@pytest.mark.flags("--verbose")
def test_verbose_logs_calls(daemon, client):
    client.call("SetTitle", "a\u202eb\"c", "T\u2028\"secret\"")
    client.refusal("GetControl", "unknown\x1b[31m")
    text = daemon.log
    assert "SetTitle" in text and "GetControl" in text and client.name in text
    # The values are not, and a quote is none of the log's.
    assert "secret" not in text and '\\"' in text
    # What a peer said cannot be taken for the daemon's own.
    assert "\u202e" not in text and "\x1b" not in text and "\u2028" not in text
    # Not an error of the daemon.
    daemon.expected.append("GetControl")


def test_without_it_calls_are_not_logged(daemon, client):
    before = daemon.log
    client.call("ShowIndicator", "a")
    client.refusal("GetControl", "unknown")
    client.ping()
    assert daemon.log == before


# The binary

@pytest.mark.release_binary
def test_the_binary_needs_little():
    needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-dW", DAEMON).stdout)
    assert needed
    for library in needed:
        assert re.match(r"(libdbus-1|libsystemd|libsqlite3|libc|libm|ld-linux)", library), library
    assert not re.search(r"RUNPATH|RPATH", run("readelf", "-dW", DAEMON).stdout)
    linked = run("ldd", DAEMON).stdout
    assert "not found" not in linked
    assert not re.search(r"swift|Foundation|dispatch", linked, re.IGNORECASE)


@pytest.mark.release_binary
def test_the_binary_contains_no_foundation():
    """Statically linked, it would not stand among the libraries."""
    strings = run("strings", "-a", DAEMON).stdout
    assert "FoundationEssentials" not in strings and "NSObject" not in strings
