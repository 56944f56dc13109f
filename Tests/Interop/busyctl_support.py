# SPDX-License-Identifier: MIT
"""What the tests of busyctl share: a bus and a daemon of their own, and ways to call busyctl."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DAEMON = os.environ.get("BUSYINDICATORD") or str(
    ROOT / ".build/release/busyindicatord")
BUSYCTL = os.environ.get("BUSYCTL", str(ROOT / ".build/release/busyctl"))
NAME = "org.busyindicator.BusyIndicator1"

CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={directory}/bus</listen>
  <auth>EXTERNAL</auth>
  <servicedir>{directory}/data/dbus-1/services</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


def wait_until(condition, what, seconds=15):
    """Waits for a condition, and returns what it has returned."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {seconds} s in vain until {what}")


def cpu_ticks(pid):
    """How much processor time a process has had."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def heed_signals():
    """In a child: tests that were started in the background would hand on that Ctrl-C is ignored."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Session:
    """A private bus, runtime directory and home; the daemon is started on demand."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.runtime = self.directory / "run"
        self.runtime.mkdir(mode=0o700)
        self.services = self.directory / "data/dbus-1/services"
        self.services.mkdir(parents=True)
        (self.directory / "bin").mkdir()
        (self.directory / "bin/busyctl").symlink_to(BUSYCTL)
        self.environment = {
            "PATH": f"{self.directory}/bin:/usr/bin:/bin",
            "HOME": str(self.directory),
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm-256color",
            "TZ": "UTC",
            "XDG_RUNTIME_DIR": str(self.runtime),
            "XDG_DATA_HOME": str(self.directory / "data"),
            "XDG_DATA_DIRS": str(self.directory / "nothing"),
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.directory}/bus",
        }
        self.children = []
        self.bus = None
        self.daemon = None
        self.log = (self.directory / "log").open("ab")

    def start_bus(self, kind="dbus-daemon"):
        configuration = self.directory / "bus.conf"
        configuration.write_text(CONFIGURATION.format(directory=self.directory))
        command = ["dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile"]
        if kind == "dbus-broker":
            launcher = pathlib.Path(__file__).parent / "broker_launcher.py"
            command = ["/usr/bin/python3", launcher, self.directory / "bus", configuration]
        self.bus = self.spawn(command, stderr=self.log, stdout=self.log)
        wait_until((self.directory / "bus").exists, "the bus listens")

    def start_daemon(self, *arguments):
        self.daemon = self.spawn([DAEMON, *arguments], stderr=self.log)
        wait_until(lambda: self.run("list").returncode == 0, "the daemon answers")

    def stop_daemon(self, number=signal.SIGTERM):
        self.daemon.send_signal(number)
        self.daemon.wait(15)

    def install_activation(self, program=DAEMON, name=NAME):
        (self.services / f"{NAME}.service").write_text(
            f"[D-BUS Service]\nName={name}\nExec={program}\n")

    def spawn(self, command, **options):
        options.setdefault("env", self.environment)
        options.setdefault("preexec_fn", heed_signals)
        options.setdefault("stdin", subprocess.DEVNULL)
        child = subprocess.Popen([str(word) for word in command], **options)
        self.children.append(child)
        return child

    def start(self, *arguments, **options):
        """Starts busyctl; its output is a pipe."""
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return self.spawn([BUSYCTL, *arguments], **options)

    def run(self, *arguments, **options):
        """Runs busyctl to its end."""
        options.setdefault("env", self.environment)
        options.setdefault("timeout", 30)
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("capture_output", True)
        return subprocess.run([BUSYCTL, *[str(word) for word in arguments]], text=True, **options)

    def ok(self, *arguments, **options):
        """Runs busyctl, which shall succeed and have nothing to remark; gives what it printed."""
        done = self.run(*arguments, **options)
        assert (done.returncode, done.stderr) == (0, ""), (arguments, done)
        return done.stdout

    def fails(self, status, *arguments, **options):
        """Runs busyctl, which shall end with that status; gives its one line about it."""
        done = self.run(*arguments, **options)
        assert done.returncode == status, (arguments, done)
        assert done.stderr.count("\n") <= 1, done.stderr
        return done.stderr

    def state(self, name):
        """A control with its holders; None when there is none."""
        done = self.run("status", "--json", name)
        assert done.returncode in (0, 2), done
        return json.loads(done.stdout)["control"] if done.returncode == 0 else None

    def busy(self, name):
        state = self.state(name)
        return bool(state and state["busy"])

    def end(self):
        for child in reversed(self.children):
            if child.poll() is None:
                child.terminate()
        for child in reversed(self.children):
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(5)
            if child.poll() is None:
                child.kill()
                child.wait()
            for stream in (child.stdout, child.stderr):
                if stream:
                    stream.close()
        self.log.close()
        print((self.directory / "log").read_text(errors="replace"))


@contextlib.contextmanager
def new_session():
    # Not pytest's own directory: a socket's path has at most 107 bytes.
    directory = tempfile.mkdtemp(prefix="busyctl-")
    session = Session(directory)
    try:
        yield session
    finally:
        session.end()
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def bare():
    """A session with a bus and no daemon."""
    with new_session() as session:
        session.start_bus(os.environ.get("BUSYCTL_TEST_BUS", "dbus-daemon"))
        yield session


@pytest.fixture
def session(bare):
    """A session with the daemon."""
    bare.start_daemon()
    return bare


class Terminal:
    """A shell in a tmux of its own."""

    count = 0

    def __init__(self, session, columns=80, rows=24, **environment):
        # One of its own: a server that was told to end may still have the old one.
        Terminal.count += 1
        self.socket = session.directory / f"tmux{Terminal.count}"
        self.environment = {**session.environment, **environment}
        self.session = session
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", rows,
                  "-c", session.directory, "-s", "main", "env PS1='$ ' bash --norc --noprofile")
        self.pid = int(self.tmux("display-message", "-p", "#{pid}"))
        wait_until(lambda: "$" in self.text(), "the shell is there")

    def tmux(self, *arguments):
        command = ["tmux", "-S", self.socket, *arguments]
        done = subprocess.run(
            [str(word) for word in command], env=self.environment, capture_output=True, text=True,
            timeout=20)
        assert done.returncode == 0, done
        return done.stdout

    def type(self, *keys):
        self.tmux("send-keys", "-t", "main", *keys)

    def command(self, text):
        self.type(text, "Enter")

    def interrupt(self):
        """Ctrl-C, and waits for the prompt: what is typed too early the terminal throws away."""
        self.type("C-c")
        wait_until(lambda: self.lines()[-1].endswith("$"), f"the prompt is back; {self.text()}")

    def text(self):
        return self.tmux("capture-pane", "-p", "-t", "main")

    def lines(self):
        return self.text().rstrip("\n").split("\n")

    def shows(self, text):
        """Waits until the terminal shows a text."""
        seen = ""

        def look():
            nonlocal seen
            seen = self.text()
            return seen if text in seen else None

        try:
            return wait_until(look, f"the terminal shows {text!r}")
        except AssertionError as error:
            raise AssertionError(f"{error}; it shows:\n{seen}") from None

    def resize(self, columns, rows):
        self.tmux("resize-window", "-t", "main", "-x", columns, "-y", rows)

    def end(self):
        with contextlib.suppress(AssertionError):
            self.tmux("kill-server")


@contextlib.contextmanager
def terminal(session, *arguments, **options):
    made = Terminal(session, *arguments, **options)
    try:
        yield made
    finally:
        made.end()
