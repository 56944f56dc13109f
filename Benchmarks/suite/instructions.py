# SPDX-License-Identifier: MIT
"""Instructions an operation takes, by callgrind: figures that do not depend on what else runs."""

import re
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from .place import NAME, Bus
from .rows import figure, ratio

GROUP = "Instructions of the service"
CALLS = 1024


class Counter:
    """A service under callgrind, whose counters can be taken."""

    def __init__(self, process, output):
        self.pid, self.output, self.parts = process.pid, output, 0

    def _tell(self, *words):
        subprocess.run(["vgdb", f"--pid={self.pid}", *words], check=True, capture_output=True)

    def count(self, action):
        """The instructions that the service spends while `action` runs."""
        self._tell("zero")
        action()
        self._tell("dump", "bench")
        self.parts += 1
        return total(Path(f"{self.output}.{self.parts}"))


def total(path):
    """The instructions in a file of callgrind's."""
    for line in path.read_text(errors="replace").splitlines():
        match = re.match(r"(?:summary|totals): (\d+)", line)
        if match:
            return int(match[1])
    raise ValueError(f"{path} has no summary")


@contextmanager
def counted(bus, command, name, **options):
    output = bus.directory / f"callgrind.{name}"
    words = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}", *command]
    with bus.service(words, name, patience=60, **options) as process:
        yield Counter(process, output)


def calls(counter, bus, name):
    """Instructions of a show, a hide, 64 in flight and a property read."""
    some = {"service": name, "calls": CALLS, "window": 1}
    for method in ("show", "hide"):
        bus.load("flood", controls=CALLS, **some, **{method: True})
    result = {
        method: counter.count(
            lambda method=method: bus.load(
                "flood", controls=CALLS, **some, **{method: True})) / CALLS
        for method in ("show", "hide")
    }
    some["window"] = 64
    result["in flight"] = counter.count(lambda: bus.load("flood", **some)) / CALLS
    some["window"] = 1
    result["read"] = counter.count(lambda: bus.load("get", **some)) / CALLS
    return result


TICKERS, SHORT, LONG = 100, 2, 7


def daemon_tick(counter, bus):
    """Instructions of a tick that is the only one of its turn."""
    def let_run(seconds):
        bus.load("countdowns", controls=TICKERS, spread=True, seconds=seconds)
        # The last of them begins a second after the first.
        time.sleep(seconds + 3)
    few = counter.count(lambda: let_run(SHORT))
    many = counter.count(lambda: let_run(LONG))
    return (many - few) / (TICKERS * (LONG - SHORT))


def sender_tick(bus, tools):
    """The same for the program in C, which ends with its last countdown."""
    def run(seconds):
        deadlines = bus.directory / "deadlines"
        # Late enough for valgrind to have started.
        first = (time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000) + (seconds + 4) * 1_000_000
        deadlines.write_text(
            "".join(f"{first + i * 1_000_000 // TICKERS}\n" for i in range(TICKERS)))
        output = bus.directory / f"callgrind.tick{seconds}"
        subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}",
             tools / "tick-sender", "org.example.Ticks", deadlines],
            check=True, capture_output=True, env=bus.environment)
        return total(output)
    return (run(LONG) - run(SHORT)) / (TICKERS * (LONG - SHORT))


def measure(tools, _options):
    """The rows."""
    with Bus("dbus-daemon", tools) as bus:
        with counted(bus, [tools.daemon], NAME) as counter:
            own = calls(counter, bus, NAME)
            own_tick = daemon_tick(counter, bus)
        with counted(bus, [tools.daemon], NAME, store=False) as counter:
            bare = calls(counter, bus, NAME)
        name = "org.example.Signals"
        with counted(bus, [tools / "libdbus-service", "signals", name], name) as counter:
            signals = calls(counter, bus, name)
        c_tick = sender_tick(bus, tools)

    def row(work, mine, theirs, bar=None, note=""):
        return ratio(GROUP, work, [mine], [theirs], bar, note=note,
                     parts={"daemon": round(mine), "C": round(theirs)})

    both = (own["show"] + own["hide"]) / 2
    theirs = (signals["show"] + signals["hide"]) / 2
    without = (bare["show"] + bare["hide"]) / 2
    return [
        row("Show/Hide, one at a time, against C that sends the same signals", both, theirs, 1.5),
        row("a show", own["show"], signals["show"]),
        row("a hide", own["hide"], signals["hide"]),
        row("a call, 64 in flight", own["in flight"], signals["in flight"]),
        row("a property read", own["read"], signals["read"],
            note="the C service answers a constant, whatever is asked"),
        row("a tick, alone in its turn", own_tick, c_tick),
        row("Show/Hide without the store", without, theirs),
        figure(GROUP, "the store's share of a call", "%", 100 * (both - without) / both,
               parts={"with": round(both), "without": round(without)}),
        figure(GROUP, "the same, 64 in flight", "%",
               100 * (own["in flight"] - bare["in flight"]) / own["in flight"]),
    ]
