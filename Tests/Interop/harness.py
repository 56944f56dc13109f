# SPDX-License-Identifier: MIT
"""A private bus of either make, and the daemon on it; both in a directory of their own.

Whatever is started here is ended here, by its process id, and ends by itself when the tests are
killed.
"""

import contextlib
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile

import contract
from peer import Client, Disconnected, Refused
from waiting import DEADLINE, boottime, wait_until

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CONFIGURATION = HERE.parent / "Fixtures/private-bus.conf"


def binary(default, *variables):
    """The program to test: what one of the variables says, else the release build's."""
    named = [os.environ[variable] for variable in variables if os.environ.get(variable)]
    # Relative to the repository, wherever pytest runs.
    return ROOT / (named[0] if named else default)


DAEMON = binary(".build/release/busyindicatord", "BUSYINDICATORD", "BUSYINDICATORD")
BUSYCTL = binary(".build/release/busyctl", "BUSYCTL")

KINDS = ("dbus-daemon", "dbus-broker")


def spawn(*command, **options):
    """Starts a program that ends with this one; text in and out."""
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", *map(str, command)], text=True, **options)


def end(process, number=signal.SIGTERM):
    """Ends a process started here, stopped or not, and returns its exit status."""
    if process.poll() is None:
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        try:
            process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()
    return process.returncode


def run(*command, **options):
    """Runs a program to its end; its output is text."""
    options.setdefault("timeout", DEADLINE)
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([*map(str, command)], capture_output=True, text=True, **options)


def process_state(pid):
    """The letter that /proc has for it: S sleeping, T stopped, …; and its processor time."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return fields[0], int(fields[11]) + int(fields[12])


@contextlib.contextmanager
def stopped(*pids):
    """Keeps processes from running for a while."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        wait_until(lambda: all(process_state(pid)[0] == "T" for pid in pids), "all have stopped")
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


class Bus:
    """A private bus with a home and a runtime directory for its session."""

    def __init__(self, kind):
        self.kind = kind
        # In /tmp, since the path of a socket has at most 107 bytes.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="busy-", dir="/tmp"))
        self.runtime = self.directory / "run"
        self.runtime.mkdir(mode=0o700)
        self.address = f"unix:path={self.directory}/bus"
        # All that a program sees: no display, nothing of who runs the tests.
        self.environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": str(self.directory), "LC_ALL": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(self.runtime), "DBUS_SESSION_BUS_ADDRESS": self.address}
        self.log = self.directory / "bus.log"
        self.last_log = ""
        self.peers = []
        self.daemons = []
        self.process = None
        self.pid = None

    def start(self):
        """Starts it, and returns when it answers."""
        with open(self.log, "ab") as log:
            if self.kind == "dbus-broker":
                command = [
                    "/usr/bin/python3", HERE / "broker_launcher.py", self.directory / "bus",
                    CONFIGURATION]
            else:
                command = [
                    "dbus-daemon", f"--config-file={CONFIGURATION}", f"--address={self.address}",
                    "--nofork", "--nopidfile", "--nosyslog"]
            self.process = spawn(*command, env=self.environment, stderr=log, stdout=log)
        first = wait_until(self._first_peer, "the bus answers")
        # With dbus-broker the process that was started is not the one that carries messages.
        self.pid = first.bus("GetConnectionUnixProcessID", "s", "org.freedesktop.DBus")

    def _first_peer(self):
        assert self.process.poll() is None, self.log.read_text()
        try:
            return self.connect()
        except (OSError, Disconnected):
            return None

    def connect(self):
        """One more peer, which leaves with the bus at the latest."""
        peer = Client(self.address)
        self.peers.append(peer)
        return peer

    def daemon(self, *flags, **environment):
        """Starts the daemon, and returns when it serves."""
        daemon = Daemon(self, *flags, **environment)
        daemon.start()
        return daemon

    def stop(self):
        """Ends the bus alone."""
        return end(self.process)

    def close(self):
        """Ends everything, and removes the directory."""
        for peer in self.peers:
            peer.close()
        for daemon in self.daemons:
            if daemon.process:
                end(daemon.process, signal.SIGKILL)
        self.stop()
        # Looked at when the directory is gone, if something was wrong.
        for daemon in self.daemons:
            daemon.last_log = daemon.log
        self.last_log = self.log.read_text(errors="replace") if self.log.exists() else ""
        shutil.rmtree(self.directory, ignore_errors=True)


class Daemon:
    """The daemon on a bus, with its log."""

    def __init__(self, bus, *flags, **environment):
        self.bus = bus
        self.flags = flags
        # Without plugins, which have tests of their own, unless a test wants them.
        self.environment = {**bus.environment, "BUSYINDICATORD_PLUGINS": "", **environment}
        self.log_file = bus.directory / f"daemon-{len(bus.daemons)}.log"
        self.process = None
        self.last_log = ""
        # Regular expressions of the warnings that a test provokes.
        self.expected = []
        bus.daemons.append(self)

    def spawn(self):
        """Starts the process and returns at once."""
        with open(self.log_file, "ab") as log:
            self.process = spawn(
                DAEMON, *self.flags, env=self.environment, stderr=log, stdout=log)

    def start(self):
        """Starts it, and returns when it serves."""
        with Client(self.bus.address) as watcher:
            watcher.bus("AddMatch", "s", f"member='NameOwnerChanged',arg0='{contract.NAME}'")
            self.spawn()
            while self.owner(watcher) is None:
                assert self.process.poll() is None, f"the daemon has ended: {self.log}"
                # Woken by the change of owner; the bound is for a daemon that ends.
                watcher.pump(0.05)
            # Calls wait until it is ready.
            watcher.ping()

    @staticmethod
    def owner(peer):
        """The unique name of the name's owner, or None."""
        try:
            return peer.bus("GetNameOwner", "s", contract.NAME)
        except Refused:
            return None

    @property
    def pid(self):
        """Its process id."""
        return self.process.pid

    @property
    def log(self):
        """What it has written."""
        if not self.log_file.exists():
            return self.last_log
        return self.log_file.read_text(errors="replace")

    @property
    def is_alive(self):
        """Whether it runs."""
        return self.process is not None and self.process.poll() is None

    def stopped(self):
        """Keeps it from running for a while."""
        return stopped(self.pid)

    def descriptors(self):
        """How many descriptors it has open when it has done with all calls so far."""
        with Client(self.bus.address) as peer:
            peer.ping()
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def memory(self, field="VmRSS"):
        """How much memory it has, in bytes; VmHWM is the most that it ever had."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE)[1]) * 1024

    def wait_until_idle(self):
        """Waits until it sleeps and has used no processor time for as long as a turn may take."""
        since, before = boottime(), None

        def look():
            nonlocal since, before
            now = process_state(self.pid)
            if now != before or now[0] != "S":
                since, before = boottime(), now
            return boottime() - since > 0.1

        wait_until(look, "the daemon has nothing to do")

    def terminate(self, number=signal.SIGTERM):
        """Ends it in order, and returns its exit status."""
        return end(self.process, number)

    def check(self):
        """What must be true at the end of every test: it lives, ends in order, has not warned."""
        if self.process is None:
            return
        assert self.is_alive, f"the daemon has ended with {self.process.returncode}"
        assert self.terminate() == 0
        self.check_log()

    def check_log(self):
        """Checks that it has not warned of what no test has provoked."""
        odd = [
            line for line in self.log.splitlines()
            if re.search(r"warning|error|fatal|crash|assert|sanitizer", line, re.IGNORECASE)
            and not any(re.search(pattern, line) for pattern in self.expected)]
        assert not odd, odd


class NotifySocket:
    """What a service manager has: it hears sd_notify(3)."""

    def __init__(self, directory):
        self.path = str(directory / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        # Each assignment with the time of its arrival.
        self.heard = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def pump(self, seconds):
        """Takes what has come, or waits for that so long; says whether something came."""
        if not select.select([self.socket], [], [], seconds)[0]:
            return False
        when = boottime()
        self.heard += [(line, when) for line in self.socket.recv(4096).decode().split("\n")]
        return True

    def lines(self):
        """What has been said so far."""
        while self.pump(0):
            pass
        return [line for line, _ in self.heard]

    def wait_for(self, line, seconds=DEADLINE):
        """Waits until something is said."""
        end_ = boottime() + seconds
        while line not in [said for said, _ in self.heard]:
            rest = end_ - boottime()
            assert rest > 0, f"{line} was not said, but {self.heard}"
            self.pump(rest)
