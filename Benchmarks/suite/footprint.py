# SPDX-License-Identifier: MIT
"""Memory, size, start, and the whole processes of the command line."""

import time
from statistics import median

from .place import NAME, Bus, memory
from .rows import figure, ratio


def memory_rows(tools, options):
    """Idle, for each control, and whether it stays flat."""
    rows = []
    with Bus("dbus-daemon", tools) as bus:
        with bus.service([tools.daemon]) as process:
            bus.load("flood", controls=1, calls=2)
            time.sleep(0.5)
            resident, anonymous = memory(process.pid)
            bus.load("flood", controls=10_000, calls=10_000, show=True)
            time.sleep(0.5)
            full, full_anonymous = memory(process.pid)
        rows.append(figure("Memory", "idle, resident", "MB", resident / 1024, 11))
        rows.append(figure("Memory", "idle, anonymous", "MB", anonymous / 1024, 2))
        rows.append(figure(
            "Memory", "each of 10 000 controls more", "KiB",
            (full_anonymous - anonymous) / 10_000, 1,
            parts={"resident": f"{(full - resident) / 10_000:.2f} KiB"}))
    rows.append(flat(tools, "1 000 000 show/hide pairs", options, controls=64,
                     calls=options.scaled(2_000_000)))
    # More than there may be at a time, in the quick run, too.
    rows.append(flat(tools, "100 000 different names", options, controls=100_000,
                     calls=200_000 if options.full else 60_000, pairs=True))
    return rows


def flat(tools, work, options, **load):
    """How much memory grows between the first part of many calls and their end."""
    calls = load.pop("calls")
    # A bus of its own, since what the store of another one has would be there from the start.
    with Bus("dbus-daemon", tools) as bus, bus.service([tools.daemon]) as process:
        # With names of their own, until as many are there as may be.
        first = 24_000 if "pairs" in load else calls // 5
        rest = calls - first
        bus.load("flood", calls=first, window=64, **load)
        before = memory(process.pid)[1]
        if "pairs" in load:
            load["first"] = first // 2
        bus.load("flood", calls=rest, window=64, **load)
        after = memory(process.pid)[1]
    note = "" if options.full else f"{calls} calls in the quick run"
    return figure("Memory", f"growth in {work}, from the first {first} calls on", "KiB", after - before,
                  256, parts={"before": f"{before} KiB", "after": f"{after} KiB"}, note=note)


def start_rows(tools, options):
    """From exec to the name owned."""
    name = NAME
    echo = [tools / "libdbus-service", "echo", name]
    with Bus("dbus-daemon", tools) as bus:
        times = bus.run([*bus.command("start", calls=options.runs, service=name),
                         tools.daemon, "--", *echo])["ns"]
    own, other = ([one / 1e6 for one in some] for some in times)
    return [ratio("Start", "start to name owned, against the C echo service", own, other, 3,
                  parts={"daemon": f"{median(own):.1f} ms", "C": f"{median(other):.1f} ms"})]


def size_rows(tools):
    """What is installed."""
    def megabytes(program):
        return program.stat().st_size / 1e6
    rows = [figure("Size", "busyindicatord, stripped", "MB", megabytes(tools.daemon))]
    if tools.busyctl:
        rows.append(figure("Size", "busyctl, stripped", "MB", megabytes(tools.busyctl)))
    return rows


def command_rows(tools, options):
    """busyctl beside the tools that are there already."""
    if not tools.busyctl:
        return []
    path = "/" + NAME.replace(".", "/")
    busyctl = [tools.busyctl]
    show = {
        "busyctl show": [*busyctl, "show", "x"],
        "busctl call": ["busctl", "--user", "call", NAME, path, NAME, "ShowIndicator", "s", "x"],
        "dbus-send": ["dbus-send", "--session", "--print-reply", f"--dest={NAME}", path,
                      f"{NAME}.ShowIndicator", "string:x"],
        "gdbus call": ["gdbus", "call", "--session", "--dest", NAME, "--object-path", path,
                       "--method", f"{NAME}.ShowIndicator", "x"],
    }
    run = {"busyctl run true": [*busyctl, "run", "true"], "true": ["true"]}
    watch = {"busyctl watch": [*busyctl, "watch"],
             "gdbus monitor": ["gdbus", "monitor", "--session", "--dest", NAME]}
    with Bus("dbus-daemon", tools) as bus, bus.service([tools.daemon]):
        shows = spawned(bus, tools, options, show)
        runs = spawned(bus, tools, options, run)
        bus.run([*bus.command("flood", controls=1, calls=1)])
        watches = spawned(bus, tools, options, watch, first_line=True)
    group = "Command line"
    own = shows["busyctl show"]
    def parts(some):
        return {label: f"{median(times):.1f} ms" for label, times in some.items()}
    return [
        ratio(group, "`busyctl show x`, whole process, against `busctl call`", own,
              shows["busctl call"], 1.0, parts=parts(shows)),
        ratio(group, "against `dbus-send`", own, shows["dbus-send"], 2.0),
        ratio(group, "against `gdbus call`", own, shows["gdbus call"]),
        figure(group, "`busyctl run true`", "ms", runs["busyctl run true"], parts=parts(runs)),
        ratio(group, "first line of `busyctl watch`, against that of `gdbus monitor`",
              watches["busyctl watch"], watches["gdbus monitor"], parts=parts(watches)),
    ]


def spawned(bus, tools, options, commands, first_line=False):
    """The wall time of each, in milliseconds."""
    words = [tools / "spawn", *(["-l"] if first_line else []), options.runs]
    for index, command in enumerate(commands.values()):
        words += ["--", *command] if index > 0 else command
    times = bus.run(words)["wall_ns"]
    return {label: [one / 1e6 for one in some]
            for label, some in zip(commands, times, strict=True)}


def measure(tools, options):
    """The rows."""
    return (memory_rows(tools, options) + start_rows(tools, options) + command_rows(tools, options)
            + size_rows(tools))
