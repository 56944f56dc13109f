# SPDX-License-Identifier: MIT
"""What the tests of packaging/ and examples/ share."""

import contextlib
import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
NAME = "org.busyindicator.BusyIndicator1"
CONTROL = "org.busyindicator.BusyIndicator1.Control"
DAEMON = pathlib.Path(os.environ.get("BUSYINDICATORD", ROOT / ".build/release/busyindicatord"))
BUSYCTL = pathlib.Path(os.environ.get("BUSYCTL", ROOT / ".build/release/busyctl"))

CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <keep_umask/>
  <listen>unix:path={directory}/bus</listen>
  <auth>EXTERNAL</auth>
  <servicedir>{services}</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


def run(*command, check=True, timeout=60, **options):
    """Runs a command to its end; its output is text."""
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=timeout, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def make(*arguments):
    """Runs make on the project's Makefile, whatever make runs this."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    environment.pop("MFLAGS", None)
    return run("make", "-s", "-C", ROOT, *arguments, env=environment)


def install(tree, prefix):
    """Installs the programs under test into a tree."""
    programs = tree.parent / f"{tree.name}-programs"
    programs.mkdir()
    (programs / "busyindicatord").symlink_to(DAEMON)
    (programs / "busyctl").symlink_to(BUSYCTL)
    make("install", f"PROGRAMS={programs}", f"DESTDIR={tree}", f"PREFIX={prefix}")


def session_environment(directory, **more):
    """The environment of a session that has a bus and nothing else."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(directory),
        "LC_ALL": "C.UTF-8",
        "DBUS_SESSION_BUS_ADDRESS": f"unix:path={directory}/bus",
        "PYTHONDONTWRITEBYTECODE": "1",
        **more,
    }


@contextlib.contextmanager
def bus_with_services(directory, services, environment=None):
    """A private dbus-daemon, without systemd, that can start what `services` describes."""
    configuration = directory / "bus.conf"
    configuration.write_text(CONFIGURATION.format(directory=directory, services=services))
    environment = environment or session_environment(directory)
    log = (directory / "bus.log").open("w")
    bus = subprocess.Popen(
        ["dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile"],
        env=environment, stderr=log)
    try:
        wait_until((directory / "bus").exists, "the bus listens")
        yield environment, bus
    finally:
        # What the bus has started leaves with it.
        bus.terminate()
        bus.wait(10)
        log.close()
        print((directory / "bus.log").read_text())


def wait_until(condition, what, seconds=20):
    """Waits for a condition, and returns what it has returned."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {seconds} s in vain until {what}")


def busctl(environment, *arguments, check=True):
    return run("busctl", "--user", *arguments, env=environment, check=check)


def call(environment, method, *arguments, check=True):
    """Calls the manager; arguments as of busctl."""
    path = "/org/busyindicator/BusyIndicator1"
    return busctl(environment, "call", NAME, path, NAME, method, *arguments, check=check)


def control_property(environment, control, name):
    """One property of a control whose name needs no escaping, in busctl's notation."""
    path = f"/org/busyindicator/BusyIndicator1/control/{control}"
    return busctl(environment, "get-property", NAME, path, CONTROL, name).stdout.strip()


def owner_pid(environment):
    """The process that has the daemon's name; None when none has."""
    answer = busctl(
        environment, "call", "org.freedesktop.DBus", "/org/freedesktop/DBus",
        "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s", NAME, check=False)
    return int(answer.stdout.split()[1]) if answer.returncode == 0 else None
