# SPDX-License-Identifier: MIT
"""Ticks: whether they all come, how late, and what they cost; and what is done when nothing is."""

import subprocess
import time
from statistics import median

from .place import Bus, Failure, processor_ns, wakeups
from .rows import figure, ratio

GROUP = "Countdowns"
SENDER = "org.example.Ticks"
# How long each runs, in seconds: none ends while it is listened to.
LENGTH = 600


def boottime_us():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000


def listen(bus, process, deadlines, count, seconds):
    """Hears the ticks of so many countdowns, and takes the sender's processor time meanwhile."""
    before = processor_ns(process.pid)
    got = bus.load("ticks", controls=count, seconds=seconds, deadlines=deadlines)
    got["processor_ms"] = (processor_ns(process.pid) - before) / 1e6
    return got


def pair(kind, tools, count, seconds):
    """The daemon, and then the program in C with the same deadlines."""
    with Bus(kind, tools) as bus:
        deadlines = bus.directory / "deadlines"
        with bus.service([tools.daemon]) as process:
            bus.load("countdowns", controls=count, seconds=LENGTH, deadlines=deadlines)
            own = listen(bus, process, deadlines, count, seconds)
            instants = [int(line) for line in deadlines.read_text().split()]
        # The same distances from each other, as far ahead as they were for the daemon.
        shift = boottime_us() + LENGTH * 1_000_000 - min(instants)
        deadlines.write_text("".join(f"{instant + shift}\n" for instant in instants))
        with bus.service([tools / "tick-sender", SENDER, deadlines], SENDER) as process:
            other = listen(bus, process, deadlines, count, seconds)
    return own, other


def many(kind, tools, options):
    """The rows of 10 000 countdowns."""
    count = 10_000
    pairs = [pair(kind, tools, count, options.tick_seconds) for _ in range(options.tick_pairs)]
    own, other = zip(*pairs, strict=True)
    def column(some, key):
        return [each[key] for each in some]
    label = f"{count} countdowns, one subscriber, {kind}"
    lost = [each["expected"] - each["heard"] + each["doubled"] for each in own]
    return [
        figure(GROUP, f"{label}: ticks lost, doubled or early", "",
               [a + b for a, b in zip(lost, column(own, "early"), strict=True)], 0,
               parts={"expected": own[0]["expected"],
                      "C lost": other[0]["expected"] - other[0]["heard"]}),
        ratio(GROUP, "p99 lateness against C that sends the same at the same instants",
              column(own, "p99_us"), column(other, "p99_us"), 1.5,
              parts={"daemon": f"{median(column(own, 'p99_us')) / 1000:.1f} ms",
                     "C": f"{median(column(other, 'p99_us')) / 1000:.1f} ms"}),
        ratio(GROUP, "p50 lateness", column(own, "p50_us"), column(other, "p50_us"),
              parts={"daemon": f"{median(column(own, 'p50_us')) / 1000:.1f} ms",
                     "C": f"{median(column(other, 'p50_us')) / 1000:.1f} ms"}),
        ratio(GROUP, "processor time against the same", column(own, "processor_ms"),
              column(other, "processor_ms"), 1.25,
              parts={"daemon": f"{median(column(own, 'processor_ms')):.0f} ms",
                     "C": f"{median(column(other, 'processor_ms')):.0f} ms"}),
    ]


def sleep_rows(tools, options):
    """Wake-ups with few countdowns, and system calls with none."""
    rows = []
    with Bus("dbus-daemon", tools) as bus, bus.service([tools.daemon]) as process:
        seconds = options.idle_seconds
        for count in (0, 1, 100):
            if count > 0:
                bus.load("countdowns", controls=count, seconds=3600, align=True)
                time.sleep(1)
            before = wakeups(process.pid)
            time.sleep(seconds)
            rows.append(figure(
                "Sleep", f"wake-ups a minute, {count} countdowns of one phase", "",
                (wakeups(process.pid) - before) * 60 / seconds, 0 if count == 0 else 66,
                note="one a second makes 60" if count else ""))
    rows.insert(0, system_calls(tools))
    return rows


def system_calls(tools):
    """What strace sees in ten seconds with nothing to do."""
    with Bus("dbus-daemon", tools) as bus, bus.service([tools.daemon]) as process:
        bus.load("flood", calls=128)
        time.sleep(0.5)
        log = bus.directory / "strace"
        done = subprocess.run(
            ["timeout", "--signal=INT", "10", "strace", "-f", "-qq", "-e", "signal=none",
             "-o", log, "-p", str(process.pid)], capture_output=True, text=True, check=False)
        if not log.exists():
            raise Failure(f"strace: {done.stderr.strip()}")
        # What it was in when strace came, and is still in when strace goes, is no call of these.
        lines = [line for line in log.read_text().splitlines()
                 if "epoll_wait" not in line or "detached" not in line]
    return figure("Sleep", "system calls in 10 s with nothing to do", "", len(lines), 0)


def measure(tools, options):
    """The rows."""
    rows = []
    for kind in options.buses:
        rows += many(kind, tools, options)
    return rows + sleep_rows(tools, options)
