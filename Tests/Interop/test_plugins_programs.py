# SPDX-License-Identifier: MIT
"""Programs as plugins: the hook, and the units to copy. The one for MQTT is run by check-desktop."""

import os
import pathlib
import re
import shlex

import pytest

from support.harness import BUSYCTL, ROOT
from support.processes import run
from support.standins import Session, pass_time, wait

UNITS = ROOT / "packaging/systemd"


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
        session.environment["PATH"] = f"{programs}:{session.environment['PATH']}"
        session.bus.spawn(*command("busyindicator-hook.service", home))

        def lines():
            return log.read_text().splitlines()

        session.call("ShowIndicator", "a b")
        wait(lambda: lines() == ["busy a b []"], "first hook")
        cookie = session.call("Hold", "build", "make", {})
        session.call("HideIndicator", "a b")
        wait(lambda: lines()[1:] == ["idle a b []", "busy build []"] or len(lines()) == 3, "more")
        session.call("Release", cookie, "exit 2")
        wait(lambda: lines()[-1] == "idle build [released: exit 2]", "result")
        # What is kept over a restart is no beginning.
        session.call("ShowIndicator", "kept")
        wait(lambda: lines()[-1] == "busy kept []", "another")
        count = len(lines())
        session.stop()
        session.start()
        pass_time(1)
        assert len(lines()) == count


@pytest.mark.parametrize("unit", ["busyindicator-mqtt.service", "busyindicator-hook.service"])
def test_units_are_sound(unit, tmp_path):
    done = run(
        "systemd-analyze", "--user", "verify", "--man=no", UNITS / unit, status=0,
        env=os.environ | {"XDG_RUNTIME_DIR": str(tmp_path)})
    assert done.stderr == ""
