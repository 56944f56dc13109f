# SPDX-License-Identifier: MIT
"""From the command line to the exit status, and what a service manager is told in between."""

import itertools
import re
import signal
import subprocess

import contract
import pytest
import wire
from harness import DAEMON, Daemon, NotifySocket, end, run, stopped
from peer import describe
from waiting import DEADLINE, Late, boottime, thrice, wait_until


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
        ["--max-holds-per-sender="],
        ["--max-holds=99999999999999999999"],
        ["--version=1"],
        ["--verbose=yes"],
        ["--max=1"],
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


@pytest.mark.one_bus
@pytest.mark.parametrize("duration", ["0", "5", "250ms", "1m30s", "2h", "1:30", "0.5"])
def test_durations(bus, duration):
    daemon = bus.daemon(*(f"--{name}={duration}" for name in ("grace", "minimum", "linger")))
    daemon.check()


# The bus and the name

@pytest.mark.parametrize(
    "environment",
    [
        {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"},
        {"DBUS_SESSION_BUS_ADDRESS": "nonsense"},
        {"XDG_RUNTIME_DIR": "/nonexistent"},
        {},
    ],
    ids=["nobody", "nonsense", "none", "nothing"],
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
    assert second.process.wait(DEADLINE) == 1
    line = one_line(second.log)
    assert str(daemon.pid) in line and contract.NAME in line
    second.process = None
    # The first has noticed nothing.
    assert listener.heard() == []
    assert listener.get("a", "Busy")


def test_the_name_belongs_to_another_program(bus):
    other = bus.connect()
    assert other.bus("RequestName", "su", contract.NAME, 0) == 1
    daemon = Daemon(bus)
    daemon.spawn()
    assert daemon.process.wait(DEADLINE) == 1
    assert str(other.bus("GetConnectionUnixProcessID", "s", other.name)) in one_line(daemon.log)
    daemon.process = None
    # It is not in the queue for it either.
    assert other.bus("ListQueuedOwners", "s", contract.NAME) == [other.name]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(bus, daemon, listener, number):
    listener.bus("AddMatch", "s", f"member='NameOwnerChanged',arg0='{contract.NAME}'")
    listener.call("ShowIndicator", "a")
    listener.heard()
    assert daemon.terminate(number) == 0
    assert daemon.owner(listener) is None
    # Nothing is told that is not so: the state waits for the next start.
    assert [describe(m)[0] for m in listener.signals] == ["InterfacesAdded", "PropertiesChanged"]
    daemon.check_log()
    daemon.start()
    assert listener.get("a", "Busy")


def test_what_was_called_before_its_end_is_answered(bus, daemon, listener):
    """Calls that wait when the signal comes are answered, all of them."""
    with daemon.stopped():
        serials = listener.send(*(
            listener.request("SetTitle", f"c{index}", "T") for index in range(400)))
        listener.bus("GetId")
        daemon.process.send_signal(signal.SIGTERM)
    for serial in serials:
        assert listener.answer(serial).kind == wire.RETURN
    assert daemon.process.wait(DEADLINE) == 0
    daemon.start()
    assert len(listener.objects()) == 400


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_bus_is_gone(bus, daemon, number):
    end(bus.process, number)
    assert daemon.process.wait(DEADLINE) == 1
    daemon.expected.append("bus is gone")
    daemon.check_log()
    assert len(daemon.log.splitlines()) <= 2
    daemon.process = None


def test_a_hangup_of_its_terminal_and_a_closed_log(bus, daemon, client):
    """Nobody who reads its log is no reason to end."""
    second = Daemon(bus)
    assert second.log == ""
    assert daemon.terminate() == 0
    process = subprocess.Popen(
        [DAEMON, "--verbose"],
        env=daemon.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        wait_until(lambda: daemon.owner(client), "it serves")
        process.stderr.close()
        for _ in range(20):
            client.call("ShowIndicator", "a")
            client.call("HideIndicator", "a")
        assert process.poll() is None
        process.terminate()
        assert process.wait(DEADLINE) == 0
    finally:
        end(process)
        daemon.process = None


# The log

@pytest.mark.flags("--verbose")
def test_verbose_logs_calls(daemon, client):
    client.call("SetTitle", "a\u202eb", "T\u2028\"x\"")
    client.refusal("GetControl", "unknown\x1b[31m")
    text = daemon.log
    assert "SetTitle" in text and "GetControl" in text
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


# The service manager

def notified(bus, directory, **environment):
    """A daemon that has somebody to tell, and that somebody."""
    notify = NotifySocket(directory)
    daemon = Daemon(bus, NOTIFY_SOCKET=notify.path, **environment)
    return daemon, notify


def test_ready_status_stopping(bus):
    daemon, notify = notified(bus, bus.directory)
    peer = bus.connect()
    with notify:
        daemon.spawn()
        notify.wait_for("READY=1")
        # By then the name is taken and calls are answered.
        assert daemon.owner(peer)
        peer.ping()
        assert [line for line in notify.lines() if line.startswith("STATUS=")]
        daemon.process.send_signal(signal.SIGTERM)
        notify.wait_for("STOPPING=1")
        assert daemon.process.wait(DEADLINE) == 0
        lines = notify.lines()
        assert lines.count("READY=1") == lines.count("STOPPING=1") == 1
        assert lines.index("READY=1") < lines.index("STOPPING=1")
    daemon.process = None


def test_ready_comes_with_the_state(bus):
    """Objects of the last run are there when it says that it is ready."""
    daemon, notify = notified(bus, bus.directory)
    with notify:
        daemon.start()
        peer = bus.connect()
        for index in range(200):
            peer.call("SetTitle", f"c{index}", "T")
        assert daemon.terminate() == 0
        notify.lines()
        notify.heard.clear()
        daemon.spawn()
        notify.wait_for("READY=1")
        assert len(peer.objects()) == 200
    daemon.check()


@pytest.mark.one_bus
def test_not_ready_without_a_name(bus):
    """While the bus has not given the name, nothing is ready."""
    daemon, notify = notified(bus, bus.directory)
    with notify:
        with stopped(bus.pid):
            daemon.spawn()
            end_ = boottime() + 0.5
            while boottime() < end_:
                notify.pump(end_ - boottime() if end_ > boottime() else 0)
            assert notify.lines() == []
        notify.wait_for("READY=1")
    daemon.check()


def test_not_ready_when_the_name_is_taken(bus, daemon):
    second, notify = notified(bus, bus.directory)
    with notify:
        second.spawn()
        assert second.process.wait(DEADLINE) == 1
        assert "READY=1" not in notify.lines()
    second.process = None


@pytest.mark.xdist_group("time")
def test_watchdog(bus):
    daemon, notify = notified(bus, bus.directory, WATCHDOG_USEC="800000")

    def pings():
        notify.pump(0.05)
        return [when for line, when in notify.heard if line == "WATCHDOG=1"]

    def attempt():
        notify.heard.clear()
        wait_until(lambda: len(pings()) >= 4, "it has said four times that it lives")
        times = pings()
        # Not all the time, either.
        assert times[3] - times[0] > 0.4
        if max(later - earlier for earlier, later in itertools.pairwise(times)) >= 0.8:
            raise Late(f"at {times}")

    with notify:
        daemon.start()
        thrice(attempt)
    daemon.check()


def test_watchdog_of_another_process(bus):
    """Inherited variables that mean another process are not obeyed."""
    daemon, notify = notified(bus, bus.directory, WATCHDOG_USEC="100000", WATCHDOG_PID="1")
    with notify:
        daemon.start()
        end_ = boottime() + 0.4
        while boottime() < end_:
            notify.pump(0.05)
        assert "WATCHDOG=1" not in notify.lines()
    daemon.check()


def test_a_service_manager_that_is_not_there(bus):
    daemon = Daemon(bus, NOTIFY_SOCKET=str(bus.directory / "nobody"))
    daemon.start()
    bus.connect().call("ShowIndicator", "a")
    daemon.check()


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
