# SPDX-License-Identifier: MIT
"""Private buses, the programs on them, and what the kernel says about those."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NAME = "org.busyindicator.BusyIndicator1"
HERE = Path(__file__).resolve().parent.parent


class Failure(Exception):
    """Something that is needed did not work; one sentence."""


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def runtime_root():
    """Where a session's runtime directory would be: memory, not a disk."""
    for place in ("/dev/shm", tempfile.gettempdir()):
        if os.access(place, os.W_OK):
            return place
    raise Failure("no directory for temporary files")


CONFIGURATION = """<busconfig><type>session</type><listen>unix:path={}</listen>
<auth>EXTERNAL</auth><policy context="default"><allow send_destination="*" eavesdrop="true"/>
<allow eavesdrop="true"/><allow own="*"/></policy>
<limit name="max_incoming_bytes">1000000000</limit>
<limit name="max_outgoing_bytes">1000000000</limit>
<limit name="max_message_size">1000000000</limit>
<limit name="max_connections_per_user">100000</limit>
<limit name="max_completed_connections">100000</limit>
<limit name="max_match_rules_per_connection">50000</limit>
<limit name="max_replies_per_connection">50000</limit></busconfig>
"""

# dbus-broker-launch wants a socket from a service manager, and a journal. The journal it gets in a
# mount namespace of its own.
BROKER = r"""
import ctypes, os, signal, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b"tmpfs", b"/run/systemd", b"tmpfs", 0, b"mode=755"):
    sys.exit("mount: " + os.strerror(ctypes.get_errno()))
os.makedirs("/run/systemd/journal")
journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
journal.bind("/run/systemd/journal/socket")
listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listener.bind(sys.argv[1])
listener.listen(1024)
listener.setblocking(False)
child = os.fork()
if child == 0:
    os.dup2(listener.fileno(), 3)
    os.set_inheritable(3, True)
    os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()), LISTEN_FDNAMES="dbus.socket",
                      DBUS_SESSION_BUS_ADDRESS="unix:path=" + sys.argv[1])
    os.execvp("dbus-broker-launch", ["dbus-broker-launch", "--scope", "user"])
listener.close()
signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
journal.settimeout(0.5)
while True:
    if os.waitpid(child, os.WNOHANG)[0]:
        break
    try:
        journal.recv(65536)
    except TimeoutError:
        pass
"""


def stop(process, patience=5):
    """Ends a process that was started here, and what it printed is kept by its pipe."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Bus:
    """A message bus of its own, with a directory that is the session's runtime directory."""

    def __init__(self, kind, tools):
        self.kind, self.tools = kind, tools
        self.directory = Path(tempfile.mkdtemp(prefix="busybench.", dir=runtime_root()))
        self.address = f"unix:path={self.directory}/bus"
        self.environment = {
            key: value for key, value in os.environ.items()
            if key not in ("DISPLAY", "WAYLAND_DISPLAY", "NOTIFY_SOCKET")
        } | {
            "DBUS_SESSION_BUS_ADDRESS": self.address,
            "XDG_RUNTIME_DIR": str(self.directory),
            "LC_ALL": "C.UTF-8",
        }
        self.children = []
        self.process = None

    def __enter__(self):
        if self.kind == "dbus-broker":
            enter = ["unshare", "--mount", "--propagation", "private"]
            if os.geteuid() != 0:
                enter = ["unshare", "--user", "--map-current-user", "--keep-caps", "--mount"]
            command = [*enter, sys.executable, "-c", BROKER, f"{self.directory}/bus"]
        else:
            configuration = self.directory / "bus.conf"
            configuration.write_text(CONFIGURATION.format(f"{self.directory}/bus"))
            command = ["dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=self.environment)
        deadline = time.monotonic() + 10
        while True:
            done = subprocess.run(
                [self.tools / "load", "--service", "org.freedesktop.DBus", "wait"],
                env=self.environment, stderr=subprocess.DEVNULL, check=False)
            if done.returncode == 0:
                return self
            if time.monotonic() > deadline or self.process.poll() is not None:
                self.__exit__()
                raise Failure(f"{self.kind} does not start")
            time.sleep(0.05)

    def __exit__(self, *_):
        for child in reversed(self.children):
            stop(child)
        stop(self.process)
        shutil.rmtree(self.directory, ignore_errors=True)

    @contextlib.contextmanager
    def service(self, command, name=NAME, *, store=True, patience=20, directory=None):
        """Runs a service until the block is left; waits until it owns its name."""
        environment = dict(self.environment)
        if not store:
            environment.pop("XDG_RUNTIME_DIR")
        process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=environment, cwd=directory)
        self.children.append(process)
        try:
            self.load("wait", service=name, seconds=patience)
            yield process
        finally:
            stop(process)
            self.children.remove(process)

    def command(self, mode, *arguments, **options):
        """The command line of a load generator."""
        words = [str(self.tools / "load")]
        for key, value in options.items():
            if value is True:
                words.append(f"--{key}")
            elif value is not None and value is not False:
                words.append(f"--{key}={value}")
        return [*words, mode, *map(str, arguments)]

    def load(self, mode, *arguments, **options):
        """Runs a load generator, and gives what it measured."""
        return self.run(self.command(mode, *arguments, **options))

    def run(self, command):
        """Runs a program that prints JSON, or nothing."""
        done = subprocess.run(
            [str(part) for part in command], env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False, timeout=600)
        if done.returncode != 0:
            raise Failure(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        return json.loads(lines[-1]) if lines else {}

    @contextlib.contextmanager
    def subscribers(self, count):
        """So many connections that hear all signals; gives nothing."""
        if count == 0:
            yield
            return
        process = subprocess.Popen(
            self.command("subscribe", count), env=self.environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        try:
            process.stdout.readline()
            yield
        finally:
            process.communicate()


# What the kernel says about a process.


def processor_ns(pid):
    """The processor time that all its threads have had."""
    return sum(
        int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat"))


def status(pid, key):
    """A number of /proc/PID/status."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    raise Failure(f"/proc/{pid}/status has no {key}")


def memory(pid):
    """Resident and anonymous memory in KiB."""
    return status(pid, "VmRSS"), status(pid, "RssAnon")


def wakeups(pid):
    """How often it has gone to sleep of itself."""
    return status(pid, "voluntary_ctxt_switches")
