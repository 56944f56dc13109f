# SPDX-License-Identifier: MIT
"""SIGKILL at any instant, against a model of what has been acknowledged.

KILL_ROUNDS says how often.
"""

import contextlib
import copy
import dataclasses
import os
import random
import sqlite3
import time

from support.harness import owner
from support.peer import BUS
from support.waiting import wait_until
from support.wire import Variant

ROUNDS = int(os.environ.get("KILL_ROUNDS", "30"))


@dataclasses.dataclass
class Control:
    """What of a control the calls below can change."""

    title: str = ""
    enabled: bool = True
    switch: bool = False
    holds: list = dataclasses.field(default_factory=list)
    countdown: int = 0
    result: tuple = ("", 0)


class Model:
    """All controls, and the numbers that were given last."""

    def __init__(self):
        self.controls, self.cookie, self.countdown = {}, 0, 0

    def after(self, call):
        """The model when one more call has been made."""
        model = copy.deepcopy(self)
        model._apply(*call)
        return model

    def _apply(self, method, name, *rest):
        control = self.controls.get(name)
        if method == "Release":
            for control in self.controls.values():
                if name in control.holds:
                    control.holds.remove(name)
                    control.result = ("released", 0)
            return
        if method == "Forget":
            self.controls.pop(name, None)
            return
        if control is None:
            if method in ("HideIndicator", "CancelCountdown"):
                return
            control = self.controls[name] = Control()
        if method == "SetTitle":
            control.title, = rest
        elif method == "SetEnabled":
            control.enabled, = rest
        elif method in ("ShowIndicator", "HideIndicator"):
            control.switch = method == "ShowIndicator"
        elif method == "Hold":
            self.cookie += 1
            control.holds.append(self.cookie)
        elif method == "StartCountdown":
            self.countdown += 1
            if control.countdown:
                control.result = ("replaced", control.countdown)
            control.countdown = self.countdown
        elif control.countdown:
            control.result = ("cancelled", control.countdown)
            control.countdown = 0

    def random_call(self, chance):
        """A call, of which it may be that it is refused."""
        name = chance.choice("abcdef")
        return chance.choice([
            ("SetTitle", name, f"t{chance.randrange(100)}"), ("ShowIndicator", name),
            ("HideIndicator", name), ("SetEnabled", name, chance.random() < 0.5),
            ("Hold", name, "r", {"lease": Variant("s", "none")}),
            ("Release", chance.randint(1, max(1, self.cookie)), ""),
            ("StartCountdown", name, 3600), ("CancelCountdown", name), ("Forget", name)])


def seen(client):
    """The daemon's state in the model's terms."""
    return {
        name: Control(
            state["Title"], state["Enabled"],
            "switch" in [holder["kind"] for holder in state["Holders"]],
            [holder["cookie"] for holder in state["Holders"] if holder["kind"] == "hold"],
            state["Countdown"], (state["LastResult"], state["LastCountdown"]))
        for name, state in client.objects().items()}


def numbers_kept(bus):
    """The last numbers that the file knows of."""
    with contextlib.closing(sqlite3.connect(bus.database())) as connection:
        return connection.execute(
            "SELECT last_cookie, last_countdown FROM counters").fetchone() or (0, 0)


def test_nothing_acknowledged_is_lost(bus, daemon, client, listener):
    chance = random.Random(len(bus.kind))
    model = Model()

    def kill():
        daemon.kill()
        wait_until(lambda: owner(client) is None, "the bus knows")

    for _ in range(ROUNDS):
        assert seen(client) == model.controls
        for _ in range(chance.randint(0, 8)):
            call = model.random_call(chance)
            client.ask(client.request(*call))
            model = model.after(call)
        # These are under way when it is killed: any number of them, in their order, may have been
        # done.
        calls, possible = [], [model]
        for _ in range(chance.randint(0, 6)):
            calls.append(possible[-1].random_call(chance))
            possible.append(possible[-1].after(calls[-1]))
        serials = client.send(*(client.request(*call) for call in calls))
        until = time.monotonic() + chance.choice([0, 0.0002, 0.0005, 0.001, 0.003])
        while time.monotonic() < until:
            pass
        kill()
        # By now the answers of the dead are here.
        client.bus("GetId")
        answered = [m for m in client.messages if m.reply_to in serials and m.sender != BUS]
        daemon.start()
        state = seen(client)
        matching = [m for m in possible[len(answered):] if m.controls == state]
        assert matching, (calls, answered, model.controls, state)
        kill()
        numbers = numbers_kept(bus)
        model = next(m for m in matching if (m.cookie, m.countdown) == numbers)
        client.messages.clear()
        daemon.start()
    listener.ping()
    results = [m.body[1] for m in listener.signals if m.member in ("Finished", "Cancelled")]
    # None comes twice.
    assert len(results) == len(set(results))
