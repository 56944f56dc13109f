# SPDX-License-Identifier: MIT
"""The scene that this program is for, typed by hand: with dbus-send alone, and with busctl alone.

A button turns busy and its text goes; a second control counts; at the end both are as before.
"""

import pytest

from support import contract


class DBusSend:
    """Calls and reads with dbus-send."""

    words = {"s": "string", "u": "uint32", "b": "boolean"}

    def __init__(self, bus):
        self.bus = bus

    def _send(self, path, method, *arguments):
        return self.bus.run(
            "dbus-send", "--session", "--print-reply=literal", f"--dest={contract.NAME}", path,
            method, *arguments, status=0).stdout.split()

    def call(self, method, signature, *values):
        self._send(
            contract.MANAGER, f"{contract.NAME}.{method}",
            *(f"{self.words[kind]}:{value}" for kind, value in zip(signature, values)))

    def read(self, control, name):
        return self._send(
            contract.path_of(control), f"{contract.PROPERTIES}.Get",
            f"string:{contract.CONTROL}", f"string:{name}")[-1]


class Busctl:
    """Calls and reads with busctl."""

    def __init__(self, bus):
        self.bus = bus

    def _run(self, *arguments):
        return self.bus.run("busctl", "--user", *arguments, status=0).stdout.split()

    def call(self, method, signature, *values):
        self._run(
            "call", contract.NAME, contract.MANAGER, contract.NAME, method, signature, *values)

    def read(self, control, name):
        return self._run(
            "get-property", contract.NAME, contract.path_of(control), contract.CONTROL,
            name)[-1].strip('"')


@pytest.mark.parametrize("tool", [DBusSend, Busctl])
def test_scene(bus, daemon, listener, tool):
    hand = tool(bus)
    hand.call("SetTitle", "ss", "start", "Start")
    hand.call("SetTitle", "ss", "clock", "Ready")
    hand.call("ShowIndicator", "s", "start")
    assert hand.read("start", "Busy") == "true"
    assert hand.read("start", "DisplayedEnabled") == "false"
    assert hand.read("start", "Title") == "Start"
    assert listener.get("start", "DisplayedTitle") == ""

    hand.call("StartCountdown", "su", "clock", 2)
    assert hand.read("clock", "CountdownState") == "running"
    finished = listener.wait_for("Finished", "clock")
    counted = [
        told for told in listener.heard() if told[1] == "clock" and told[0] != "PropertiesChanged"
    ]
    number = finished.body[1]
    assert counted == [
        ("InterfacesAdded", "clock"), ("Tick", "clock", 2, number), ("Tick", "clock", 1, number),
        ("Finished", "clock", number)]

    hand.call("HideIndicator", "s", "start")
    for control, title in (("start", "Start"), ("clock", "Ready")):
        assert hand.read(control, "DisplayedTitle") == title
        assert hand.read(control, "DisplayedEnabled") == "true"
        assert hand.read(control, "CountdownState") == "none"
    assert hand.read("clock", "LastResult") == "finished"
