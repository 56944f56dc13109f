# SPDX-License-Identifier: MIT
"""A private bus of either make, and the daemon on it; both in a directory of their own."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import tempfile

from support import contract, processes
from support.peer import Client, Disconnected, Refused
from support.processes import end, spawn
from support.waiting import DEADLINE, wait_until

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
KINDS = ("dbus-daemon", "dbus-broker")


def binary(variable, name):
    """The program to test: what the variable says, else the release build's."""
    # Relative to the repository, wherever pytest runs.
    return ROOT / (os.environ.get(variable) or f".build/release/{name}")


DAEMON = binary("BUSYINDICATORD", "busyindicatord")
BUSYCTL = binary("BUSYCTL", "busyctl")

CONFIGURATION = f"""<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <include>{ROOT}/Tests/Fixtures/private-bus.conf</include>
  <servicedir>%s</servicedir>
</busconfig>
"""


class Bus:
    """A private bus with a home and a runtime directory for its session."""

    # All that there were in the present test, for a look at their logs.
    made = []

    def __init__(self, kind=KINDS[0]):
        self.kind = kind
        # In /tmp, since the path of a socket has at most 107 bytes.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="busy-", dir="/tmp"))
        self.runtime = self.directory / "run"
        self.runtime.mkdir(mode=0o700)
        # What is described in there the bus can start: nothing, unless a test wants it.
        self.services = self.directory / "data/dbus-1/services"
        self.services.mkdir(parents=True)
        self.configuration = self.directory / "bus.conf"
        self.configuration.write_text(CONFIGURATION % self.services)
        self.socket = self.directory / "bus"
        self.address = f"unix:path={self.socket}"
        # All that a program sees: no display, nothing of who runs the tests.
        self.environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": str(self.directory), "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
            "XDG_RUNTIME_DIR": str(self.runtime), "DBUS_SESSION_BUS_ADDRESS": self.address}
        self.log_file = self.directory / "bus.log"
        self.last_log = ""
        self.peers, self.children, self.daemons = [], [], []
        self.process = None
        self.pid = None
        Bus.made.append(self)

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def start(self):
        """Starts it, and returns when it answers."""
        command = [
            "dbus-daemon", f"--config-file={self.configuration}", f"--address={self.address}",
            "--nofork", "--nopidfile", "--nosyslog"]
        if self.kind == "dbus-broker":
            command = [
                "/usr/bin/python3", HERE / "broker_launcher.py", self.socket, self.configuration]
        with self.log_file.open("ab") as log:
            self.process = spawn(*command, env=self.environment, stderr=log, stdout=log)
        first = wait_until(self._first_peer, "the bus answers")
        # With dbus-broker the process that was started is not the one that carries messages.
        self.pid = first.bus("GetConnectionUnixProcessID", "s", "org.freedesktop.DBus")

    def _first_peer(self):
        assert self.process.poll() is None, self.log
        try:
            return self.connect()
        except (OSError, Disconnected):
            return None

    @property
    def log(self):
        """What it, and what was started in its session, has written."""
        if not self.log_file.exists():
            return self.last_log
        return self.log_file.read_text(errors="replace")

    def connect(self):
        """One more peer, which leaves with the bus at the latest."""
        peer = Client(self.address)
        self.peers.append(peer)
        return peer

    def listen(self):
        """One that hears all signals of the daemon."""
        peer = self.connect()
        peer.listen()
        return peer

    def daemon(self, *flags, **options):
        """Starts the daemon, and returns when it serves."""
        daemon = Daemon(self, *flags, **options)
        daemon.start()
        return daemon

    def spawn(self, *command, **options):
        """Starts a program in the session, which ends with the bus at the latest."""
        options.setdefault("env", self.environment)
        with self.log_file.open("ab") as log:
            options.setdefault("stdout", log)
            options.setdefault("stderr", log)
            self.children.append(spawn(*command, **options))
        return self.children[-1]

    def run(self, *command, **options):
        """Runs a program of the session to its end."""
        options.setdefault("env", self.environment)
        return processes.run(*command, **options)

    def can_start(self, program=DAEMON, name=contract.NAME, file=contract.NAME, more=""):
        """Describes a service to the bus."""
        (self.services / f"{file}.service").write_text(
            f"[D-BUS Service]\nName={name}\nExec={program}\n{more}")
        if self.process:
            self.peers[0].bus("ReloadConfig")

    def databases(self):
        """The files in which the daemon keeps its state, one for each bus that it has met."""
        return list((self.runtime / "busyindicator").glob("*.db"))

    def database(self):
        """The one of this bus, where it has met no other."""
        path, = self.databases()
        return path

    def stop(self, number=signal.SIGTERM):
        """Ends the bus alone."""
        end(self.process, number)

    def restart(self):
        """Another bus at the same address."""
        self.stop()
        self.socket.unlink(missing_ok=True)
        self.start()

    def check(self):
        """What must be true of every daemon at the end of a test."""
        for daemon in self.daemons:
            daemon.check()

    def close(self):
        """Ends everything, and removes the directory."""
        for peer in self.peers:
            peer.close()
        for process in (*self.children, *(d.process for d in self.daemons if d.process)):
            end(process, signal.SIGKILL)
        if self.process:
            self.stop()
        # Looked at when the directory is gone, if something was wrong.
        for maker in (self, *self.daemons):
            maker.last_log = maker.log
        shutil.rmtree(self.directory, ignore_errors=True)


class Daemon:
    """The daemon on a bus, with its log."""

    def __init__(self, bus, *flags, wrapper=(), **environment):
        self.bus = bus
        self.flags = flags
        # A command that becomes the one that follows it.
        self.wrapper = wrapper
        # Without plugins, which have tests of their own, unless a test wants them.
        settings = {**bus.environment, "BUSYINDICATORD_PLUGINS": "", **environment}
        self.environment = {name: value for name, value in settings.items() if value is not None}
        self.log_file = bus.directory / f"daemon-{len(bus.daemons)}.log"
        self.last_log = ""
        self.process = None
        # Whether a test has seen to its end itself.
        self.has_ended = False
        # Regular expressions of what a test provokes, and lines that it has found once.
        self.expected, self.found = [], []
        bus.daemons.append(self)

    def spawn(self, **options):
        """Starts the process and returns at once."""
        self.has_ended = False
        with self.log_file.open("ab") as log:
            self.process = spawn(*self.wrapper, DAEMON, *self.flags, env=self.environment, **{
                "stderr": log, "stdout": log, **options})

    def start(self):
        """Starts it, and returns when it serves."""
        self.spawn()
        self.wait_until_it_serves()

    def wait_until_it_serves(self):
        """Returns when it has the name and is ready."""
        with Client(self.bus.address) as watcher:
            watcher.bus("AddMatch", "s", f"member='NameOwnerChanged',arg0='{contract.NAME}'")
            while owner_pid(watcher) != self.pid:
                assert self.is_alive, f"the daemon has ended: {self.log}"
                # Woken by the change of owner; the bound is for a daemon that ends.
                watcher.pump(0.05)
            # Calls wait until it is ready.
            watcher.ping()

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
    def warnings(self):
        """Of its log the lines that warn."""
        return [line for line in self.log.splitlines() if "warning" in line]

    def expect_one_warning(self, text):
        """Checks that it has warned once, and of this; it may not do so again."""
        line, = self.warnings
        assert text in line
        self.found = [line]

    @property
    def is_alive(self):
        """Whether it runs."""
        return self.process is not None and self.process.poll() is None

    def stopped(self):
        """Keeps it from running for a while."""
        return processes.stopped(self.pid)

    def descriptors(self):
        """How many descriptors it has open when it has done with all calls so far."""
        with Client(self.bus.address) as peer:
            peer.ping()
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def memory(self, field="VmRSS"):
        """How much memory it has, in bytes; VmHWM is the most that it ever had."""
        return processes.status_of(self.pid, field)

    def wait_until_idle(self):
        """Waits until it has nothing to do."""
        processes.wait_until_idle(self.pid)

    def terminate(self, number=signal.SIGTERM):
        """Ends it, in order or not, and returns its exit status."""
        self.has_ended = True
        return end(self.process, number)

    def kill(self):
        """Ends it at once, in the middle of what it does."""
        self.terminate(signal.SIGKILL)

    def wait(self):
        """Waits until it ends by itself, and returns its exit status."""
        self.has_ended = True
        return self.process.wait(DEADLINE)

    def check(self):
        """What must be true at the end of every test: it lives, ends in order, has not warned."""
        if self.process is None:
            return
        if not self.has_ended:
            assert self.is_alive, f"the daemon has ended with {self.process.returncode}"
            assert self.terminate() == 0
        if self.process.returncode in (0, -signal.SIGKILL):
            self.check_log()

    def check_log(self):
        """Checks that it has not warned of what no test has provoked."""
        odd = [
            line for line in self.log.splitlines()
            if re.search(r"warning|error|fatal|crash|assert|sanitizer", line, re.IGNORECASE)
            and not any(re.search(pattern, line) for pattern in self.expected)]
        assert odd == self.found


def owner_pid(peer, name=contract.NAME):
    """The process that owns a name, or None."""
    with contextlib.suppress(Refused):
        return peer.bus("GetConnectionUnixProcessID", "s", name)
    return None


def owner(peer, name=contract.NAME):
    """The unique name of a name's owner, or None."""
    with contextlib.suppress(Refused):
        return peer.bus("GetNameOwner", "s", name)
    return None
