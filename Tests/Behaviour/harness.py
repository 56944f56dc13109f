# SPDX-License-Identifier: MIT
"""A private bus of either make, the daemon on it, and peers that speak to it."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from wire import Peer

ROOT = pathlib.Path(__file__).resolve().parents[2]
DAEMON = os.environ.get("BUSYINDICATORD", str(ROOT / ".build/release/busyindicatord"))
NAME = "org.busyindicator.BusyIndicator1"
PATH = "/org/busyindicator/BusyIndicator1"
CONTROL = NAME + ".Control"
PROPERTIES = "org.freedesktop.DBus.Properties"
ERROR = NAME + ".Error."
STANDARD = "org.freedesktop.DBus.Error."

# Runs a command where it may mount, which nobody else sees.
MOUNTING = ["unshare", "--mount", "--propagation", "private"] if os.getuid() == 0 else [
    "unshare", "--user", "--map-current-user", "--keep-caps", "--mount"]

CONFIGURATION = """<busconfig>
  <type>session</type>
  <keep_umask/>
  <listen>unix:path={directory}/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
  <limit name="max_match_rules_per_connection">50000</limit>
  <limit name="max_replies_per_connection">50000</limit>
  <limit name="max_incoming_bytes">1000000000</limit>
  <limit name="max_outgoing_bytes">1000000000</limit>
  <limit name="max_message_size">1000000000</limit>
</busconfig>
"""

# What dbus-broker-launch expects of a service manager: a listening socket as descriptor 3, and a journal
# to log to. That one is put into a mount namespace of its own, and what comes to it is printed.
BROKER = """
import os, signal, socket, subprocess, sys
directory = sys.argv[1]
if os.path.isdir("/run/systemd"):
    subprocess.run(["mount", "-t", "tmpfs", "none", "/run/systemd"], check=True)
os.makedirs("/run/systemd/journal", exist_ok=True)
journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
journal.bind("/run/systemd/journal/socket")
listener = socket.socket(socket.AF_UNIX)
listener.bind(directory + "/bus")
listener.listen(128)
listener.setblocking(False)
broker = os.fork()
if broker == 0:
    source = os.dup(listener.fileno())
    os.dup2(source, 3)
    os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
    os.execvp("dbus-broker-launch", ["dbus-broker-launch", "--scope", "user",
                                     "--config-file", directory + "/bus.conf"])
def end(*_):
    os.kill(broker, signal.SIGTERM)
    os.waitpid(broker, 0)
    os._exit(0)
signal.signal(signal.SIGTERM, end)
listener.close()
while True:
    print(journal.recv(65536), flush=True)
"""


def wait_until(condition, what, seconds=30):
    """Waits until the condition holds, and gives what it gave."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s in vain until {what}")
        time.sleep(0.005)
    return value


def pass_time(seconds):
    """Lets time go by, where it is the passing itself that is tested."""
    end = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() >= end, "time has gone by", seconds + 10)


class Bus:
    """A bus and a runtime directory of a test's own; it can activate nothing."""

    def __init__(self, kind):
        self.kind = kind
        # Not pytest's directory: the path of a socket has at most 107 bytes.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="busyind-"))
        self.runtime = self.directory / "run"
        self.runtime.mkdir(mode=0o700)
        (self.directory / "bus.conf").write_text(CONFIGURATION.format(directory=self.directory))
        self.address = f"unix:path={self.directory}/bus"
        self.environment = {
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(self.directory), "LC_ALL": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(self.runtime), "DBUS_SESSION_BUS_ADDRESS": self.address}
        self.log = open(self.directory / "bus.log", "ab")
        self.peers, self.children, self.daemons = [], [], []
        self.process = None
        self.start()

    def start(self):
        if self.kind == "daemon":
            command = ["dbus-daemon", f"--config-file={self.directory}/bus.conf", "--nofork",
                       "--nopidfile"]
        else:
            command = [*MOUNTING, sys.executable, "-c", BROKER, str(self.directory)]
        self.process = subprocess.Popen(
            command, env=self.environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        wait_until(self.answers, f"the bus answers; see {self.directory}/bus.log")

    def answers(self):
        with contextlib.suppress(OSError):
            Peer(self.address).close()
            return True
        return False

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(10)

    def restart(self):
        """Another bus at the same address."""
        self.stop()
        (self.directory / "bus").unlink(missing_ok=True)
        self.start()

    def peer(self, **options):
        peer = Peer(self.address, **options)
        self.peers.append(peer)
        return peer

    def client(self, **options):
        """A peer that speaks to the daemon."""
        client = Client(self.address, **options)
        self.peers.append(client)
        return client

    def subscriber(self, rule=f"type='signal',sender='{NAME}'"):
        """A client that hears the daemon's signals."""
        client = self.client()
        client.match(rule)
        return client

    def daemon(self, *flags, **options):
        return Daemon(self, *flags, **options)

    def run(self, *command, check=True, timeout=30, **options):
        """Runs a program on this bus, and gives what it printed."""
        done = subprocess.run([str(word) for word in command], env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, **options)
        assert not check or done.returncode == 0, (command, done.returncode, done.stdout, done.stderr)
        return done.stdout if check else done

    def spawn(self, *command, **options):
        options.setdefault("env", self.environment)
        options.setdefault("stdin", subprocess.DEVNULL)
        child = subprocess.Popen([str(word) for word in command], **options)
        self.children.append(child)
        return child

    def end(self):
        for daemon in self.daemons:
            daemon.end()
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.wait()
        for peer in self.peers:
            peer.close()
        self.stop()
        self.log.close()
        print((self.directory / "bus.log").read_text(errors="replace"))
        shutil.rmtree(self.directory, ignore_errors=True)


class Daemon:
    """The daemon under test. At the end of the test it has to be alive, and to end in order."""

    def __init__(self, bus, *flags, plugins="", ready=True, environment=None, wrapper=()):
        self.bus = bus
        self.log_path = bus.directory / f"daemon-{len(bus.daemons)}.log"
        self.log = open(self.log_path, "wb")
        settings = {**bus.environment, "BUSYINDICATORD_PLUGINS": plugins, **(environment or {})}
        settings = {key: value for key, value in settings.items() if value is not None}
        self.process = subprocess.Popen(
            [*wrapper, DAEMON, *flags], env=settings, stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log)
        self.pid = self.process.pid
        self.expected_end = False
        self.expected_warnings = 0
        bus.daemons.append(self)
        if ready:
            self.wait_ready()

    def wait_ready(self):
        with Peer(self.bus.address) as peer:
            def serves():
                assert self.process.poll() is None, self.text()
                if not peer.bus("NameHasOwner", "s", NAME):
                    return False
                return peer.bus("GetConnectionUnixProcessID", "s", NAME) == self.pid
            wait_until(serves, "the daemon owns its name")
            peer.call(NAME, PATH, "org.freedesktop.DBus.Peer", "Ping")

    def text(self):
        return self.log_path.read_text(errors="replace")

    def warnings(self):
        return [line for line in self.text().splitlines() if "warning" in line]

    def send(self, number):
        self.process.send_signal(number)
        if number == signal.SIGSTOP:
            wait_until(lambda: self.state() == "T", "the daemon has stopped")

    def state(self):
        return pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def kill(self):
        self.expected_end = True
        self.process.kill()
        self.process.wait(10)

    def stop(self, number=signal.SIGTERM):
        """Ends it in order; gives the exit status."""
        self.expected_end = True
        self.process.send_signal(number)
        return self.process.wait(15)

    def wait(self, seconds=15):
        """Waits for its own end; gives the exit status."""
        self.expected_end = True
        return self.process.wait(seconds)

    def end(self):
        if not self.expected_end:
            assert self.process.poll() is None, f"the daemon has ended: {self.text()}"
            assert self.stop() == 0, self.text()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()
        print(self.text())
        assert len(self.warnings()) == self.expected_warnings, self.text()


class Client(Peer):
    """A peer with the daemon's methods at hand."""

    SIGNATURES = {
        "ShowIndicator": "s", "ShowIndicatorFor": "su", "HideIndicator": "s", "StartCountdown": "su",
        "PauseCountdown": "s", "ResumeCountdown": "s", "ExtendCountdown": "si", "CancelCountdown": "s",
        "SetTitle": "ss", "SetDetail": "ss", "SetEnabled": "sb", "SetProgress": "sd",
        "Hold": "ssa{sv}", "Renew": "u", "Release": "us", "ReleaseAll": "s", "Forget": "s",
        "ShowIndicatorWithOptions": "sa{sv}", "StartCountdownWithOptions": "sta{sv}",
        "GetControl": "s"}

    def words(self, member, *arguments):
        return (NAME, PATH, NAME, member, self.SIGNATURES[member], *arguments)

    def do(self, member, *arguments):
        """Calls a method of the manager and gives its result."""
        return self.call(*self.words(member, *arguments))

    def post(self, member, *arguments, flags=0):
        """Calls it without waiting; gives the serial."""
        return self.send(*self.words(member, *arguments), flags=flags)

    def write(self, *calls):
        """Sends many calls in one write; each is a tuple of the method and its arguments."""
        prepared = [self.prepare(*self.words(*call)) for call in calls]
        self.socket.sendall(b"".join(data for _, data in prepared))
        return [serial for serial, _ in prepared]

    def refused(self, member, *arguments):
        """The name of the error with which it is refused."""
        try:
            result = self.do(member, *arguments)
        except Exception as error:
            assert hasattr(error, "name"), error
            assert error.text.endswith((".", "”")) and "\n" not in error.text, error.text
            return error.name
        raise AssertionError(f"{member}{arguments} was not refused: {result}")

    def settle(self):
        """Receives all that the daemon sent before now: it answers behind what it announces."""
        self.call(NAME, PATH, "org.freedesktop.DBus.Peer", "Ping")

    def get(self, control, name):
        return self.call(NAME, path_of(control), PROPERTIES, "Get", "ss", CONTROL, name)

    def state(self, control):
        return self.call(NAME, path_of(control), PROPERTIES, "GetAll", "s", CONTROL)

    def manager(self, name):
        return self.call(NAME, PATH, PROPERTIES, "Get", "ss", NAME, name)

    def objects(self, seconds=30):
        return self.call(NAME, PATH, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects",
                         seconds=seconds)

    def snapshot(self):
        """All that can be read, but for the time that goes by."""
        objects = self.objects()
        for interfaces in objects.values():
            interfaces[CONTROL].pop("Remaining")
        return objects

    def changes(self, control=None):
        """The PropertiesChanged seen, as pairs of what changed and what was invalidated."""
        path = path_of(control) if control else PATH
        return [(m.arguments[1], m.arguments[2]) for m in self.signals("PropertiesChanged")
                if m.path == path]

    def events(self):
        """The manager's own signals seen: name and arguments."""
        return [(m.member, *m.arguments) for m in self.signals() if m.interface == NAME]


def path_of(control):
    """As sd_bus_path_encode does it."""
    label = "".join(
        chr(byte) if byte < 128 and (chr(byte).isalpha() or chr(byte).isdigit() and index)
        else f"_{byte:02x}" for index, byte in enumerate(control.encode())) or "_"
    return f"{PATH}/control/{label}"
