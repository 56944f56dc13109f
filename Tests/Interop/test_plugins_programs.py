# SPDX-License-Identifier: MIT
"""Programs as plugins: the hook, and the units to copy. The one for MQTT is run by check-desktop."""

import os
import pathlib
import re
import shlex
import subprocess

import pytest
from standins import ROOT, Session, end, pass_time, wait

UNITS = ROOT / "packaging/systemd"
BUSYCTL = pathlib.Path(os.environ.get("BUSYCTL", ROOT / ".build/release/busyctl"))


def command(unit, home):
    """What a unit runs, as systemd reads it."""
    content = (UNITS / unit).read_text().replace("\\\n", " ")
    line = re.search(r"^ExecStart=(.*)$", content, re.MULTILINE).group(1)
    return shlex.split(line.replace("%h", str(home)))


def test_hooks_run_when_a_control_begins_and_ends():
    with Session("--no-plugin=tray") as session:
        home = pathlib.Path(session.environment["HOME"])
        hooks = home / ".config/busyindicator/hooks"
        programs = home / ".local/bin"
        for directory in (hooks, programs):
            directory.mkdir(parents=True)
        (programs / "busyctl").symlink_to(BUSYCTL.resolve())
        (programs / "busyindicator-hook").symlink_to(UNITS / "busyindicator-hook")
        log = home / "hooks.log"
        log.touch()
        for name in ("busy", "idle"):
            (hooks / name).write_text(f'#!/bin/sh\necho {name} "$1" "[$2]" >>{log}\n')
            (hooks / name).chmod(0o755)
        environment = session.environment | {"PATH": f"{programs}:{session.environment['PATH']}"}
        process = subprocess.Popen(command("busyindicator-hook.service", home), env=environment)
        session.stack.callback(end, process)

        def lines():
            return log.read_text().splitlines()

        session.call("ShowIndicator", "(s)", "a b")
        wait(lambda: lines() == ["busy a b []"], "first hook")
        cookie, = session.call("Hold", "(ssa{sv})", "build", "make", {})
        session.call("HideIndicator", "(s)", "a b")
        wait(lambda: lines()[1:] == ["idle a b []", "busy build []"] or len(lines()) == 3, "more")
        session.call("Release", "(us)", cookie, "exit 2")
        wait(lambda: lines()[-1] == "idle build [released: exit 2]", "result")
        # What is kept over a restart is no beginning.
        session.call("ShowIndicator", "(s)", "kept")
        wait(lambda: lines()[-1] == "busy kept []", "another")
        count = len(lines())
        session.stop()
        session.start()
        pass_time(1)
        assert len(lines()) == count


@pytest.mark.parametrize("unit", ["busyindicator-mqtt.service", "busyindicator-hook.service"])
def test_units_are_sound(unit, tmp_path):
    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", "--man=no", str(UNITS / unit)],
        env=os.environ | {"XDG_RUNTIME_DIR": str(tmp_path)}, capture_output=True, text=True,
        timeout=30)
    assert (done.returncode, done.stderr) == (0, "")
