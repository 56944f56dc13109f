# SPDX-License-Identifier: MIT
"""busyctl doctor finds each thing that can be wrong, and says what to do."""

import os
import shutil
import subprocess

import pytest

from support.contract import NAME
from support.harness import DAEMON
from support.waiting import wait_until

pytestmark = pytest.mark.one_bus


def findings(session, status):
    """What doctor says, as a dictionary from the subject to (level, text, advice)."""
    done = session.run("doctor")
    assert done.returncode == status, done
    assert done.stderr == ""
    found = {}
    subject = None
    for line in done.stdout.splitlines():
        if "→" in line:
            found[subject][2] = line.split("→ ")[1]
        else:
            level, rest = line.split(None, 1)
            subject, text = rest.split("  ", 1)
            found[subject] = [level, text.strip(), ""]
    for level, _, advice in found.values():
        assert (level == "fault") <= bool(advice), found
    return found


def test_all_is_well(bare):
    bare.bus.can_start()
    bare.start_daemon()
    found = findings(bare, 0)
    assert all(level == "ok" for level, _, _ in found.values()), found
    assert str(bare.daemon.pid) in found["daemon"][1]
    assert found["activation file"][1].endswith(".service")
    assert found["store"][1].endswith(".db")


def test_not_running_but_can_be_started(bare):
    bare.bus.can_start()
    found = findings(bare, 0)
    assert "starts it" in found["daemon"][1]


def test_neither_running_nor_installed(bare):
    found = findings(bare, 2)
    assert found["daemon"][0] == "fault" and found["activation file"][0] == "fault"


def test_no_bus(bare):
    bare.environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nonexistent"
    assert findings(bare, 69)["session bus"][0] == "fault"
    del bare.environment["DBUS_SESSION_BUS_ADDRESS"]
    assert "not set" in findings(bare, 69)["session bus"][1]


def test_activation_file_of_a_program_that_is_not_there(bare):
    bare.bus.can_start(program="/nonexistent/busyindicatord")
    found = findings(bare, 2)["activation file"]
    assert found[0] == "fault" and "/nonexistent/busyindicatord" in found[1]


def test_activation_file_for_another_name(bare):
    bare.bus.can_start(name="org.example.Other")
    bare.bus.can_start(file="good")
    found = findings(bare, 2)["activation file"]
    assert found[0] == "fault" and "org.example.Other" in found[1]


def test_activation_file_that_the_bus_does_not_know(bare):
    bare.environment["XDG_DATA_HOME"] = str(bare.directory / "other")
    place = bare.directory / "other/dbus-1/services"
    place.mkdir(parents=True)
    bare.bus.can_start()
    (bare.bus.services / f"{NAME}.service").rename(place / f"{NAME}.service")
    bare.bus.peers[0].bus("ReloadConfig")
    found = findings(bare, 2)["activation file"]
    assert found[0] == "fault" and "ReloadConfig" in found[2]


def test_runtime_directory(bare):
    bare.start_daemon()
    good = bare.environment["XDG_RUNTIME_DIR"]
    del bare.environment["XDG_RUNTIME_DIR"]
    assert findings(bare, 2)["runtime directory"][0] == "fault"
    bare.environment["XDG_RUNTIME_DIR"] = "/nonexistent"
    assert "no directory" in findings(bare, 2)["runtime directory"][1]
    bare.environment["XDG_RUNTIME_DIR"] = good
    os.chmod(good, 0o755)
    found = findings(bare, 0)["runtime directory"]
    assert found[0] == "note" and "chmod" in found[2]
    os.chmod(good, 0o700)


def test_runtime_directory_of_somebody_else(bare):
    bare.start_daemon()
    other = bare.directory / "other"
    other.mkdir(mode=0o700)
    os.chown(other, 12345, 12345)
    bare.environment["XDG_RUNTIME_DIR"] = str(other)
    assert "12345" in findings(bare, 2)["runtime directory"][1]


def test_state_in_memory_only(bare):
    runtime = bare.environment.pop("XDG_RUNTIME_DIR")
    bare.start_daemon()
    bare.daemon.expect_one_warning("XDG_RUNTIME_DIR")
    bare.environment["XDG_RUNTIME_DIR"] = runtime
    assert findings(bare, 0)["store"][0] == "note"


def test_a_daemon_whose_file_was_replaced(bare):
    copy = bare.directory / "busyindicatord"
    shutil.copy(DAEMON, copy)
    bare.bus.spawn(copy)
    wait_until(lambda: bare.run("list").returncode == 0, "the daemon answers")
    copy.unlink()
    assert "replaced" in findings(bare, 2)["versions"][1]


FAKE = """
import sys
import dbus, dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib
DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()

class Manager(dbus.service.Object):
    @dbus.service.method("org.freedesktop.DBus.Properties", in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        if interface.startswith("org.busy"):
            return {"Version": "9.9.9"}
        return {}

    @dbus.service.method("org.freedesktop.DBus.Properties", in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return {"LoadState": sys.argv[2], "ActiveState": sys.argv[3]}[name]

    @dbus.service.method("org.freedesktop.systemd1.Manager", in_signature="s", out_signature="o")
    def LoadUnit(self, name):
        return "/org/freedesktop/systemd1"

name = dbus.service.BusName(sys.argv[1], bus)
path = "/" + sys.argv[1].replace(".", "/")
manager = Manager(name, path)
print("ready", flush=True)
GLib.MainLoop().run()
"""


def fake(session, *arguments):
    child = session.bus.spawn("python3", "-c", FAKE, *arguments, stdout=subprocess.PIPE)
    assert child.stdout.readline() == "ready\n"


def test_another_version(bare):
    fake(bare, NAME, "", "")
    found = findings(bare, 2)["versions"]
    assert found[0] == "fault" and "9.9.9" in found[1]


def test_a_daemon_that_does_not_answer(bare):
    bare.start_daemon()
    with bare.daemon.stopped():
        assert "did not answer" in findings(bare, 2)["daemon"][1]


@pytest.mark.parametrize("loaded, active, level", [
    ("loaded", "active", "ok"), ("loaded", "inactive", "ok"), ("loaded", "failed", "fault"),
    ("not-found", "inactive", "fault"), ("masked", "inactive", "fault"),
])
def test_unit(bare, loaded, active, level):
    bare.bus.can_start(more="SystemdService=busyindicatord.service\n")
    bare.start_daemon()
    fake(bare, "org.freedesktop.systemd1", loaded, active)
    found = findings(bare, 0 if level == "ok" else 2)["unit"]
    assert found[0] == level
    assert "systemctl --user" in found[2] or level == "ok"
