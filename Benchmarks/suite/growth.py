# SPDX-License-Identifier: MIT
"""What happens to the cost as there is more of everything."""

import time
from statistics import median

from .place import Bus, processor_ns
from .rows import figure

GROUP = "As it grows"


def per_call(bus, process, calls, **options):
    """The daemon's processor time a call, and the calls a second, 64 in flight."""
    before = processor_ns(process.pid)
    got = bus.load("flood", calls=calls, window=64, **options)
    return (processor_ns(process.pid) - before) / calls / 1000, got["calls_per_s"]


def controls(tools, options):
    """Show and hide 64 of so many controls that are there."""
    rows = []
    for count in (1, 100, 10_000):
        with Bus("dbus-daemon", tools) as bus, bus.service([tools.daemon]) as process:
            bus.load("flood", controls=count, calls=count, show=True)
            used = min(count, 64)
            per_call(bus, process, 2000, controls=used)
            costs = [per_call(bus, process, options.calls, controls=used)
                     for _ in range(options.repeats)]
            rows.append(figure(
                GROUP, f"processor time of a call, {count} controls there", "µs",
                [cost for cost, _ in costs], parts={"rate": f"{median(c[1] for c in costs):.0f}/s"},
                note="one control shown and hidden is announced once a turn" if count == 1 else ""))
            if count >= 100:
                rows.append(managed(bus, process, count, options))
    return rows


def managed(bus, process, count, options):
    """GetManagedObjects."""
    times, spent, size = [], [], 0
    for _ in range(options.repeats):
        before = processor_ns(process.pid)
        got = bus.load("managed")
        spent.append((processor_ns(process.pid) - before) / 1e6)
        times.append(got["ns"] / 1e6)
        size = got["bytes"]
    return figure(GROUP, f"GetManagedObjects, {count} controls", "ms", times,
                  parts={"bytes": size, "daemon": f"{median(spent):.1f} ms",
                         "a control": f"{1000 * median(times) / count:.1f} µs"})


def countdowns(tools, options):
    """What a tick costs among so many, each at an instant of its own."""
    rows = []
    for count in (1, 100, 10_000):
        with Bus("dbus-daemon", tools) as bus, bus.service([tools.daemon]) as process:
            bus.load("countdowns", controls=count, seconds=3600, spread=True)
            time.sleep(0.5)
            seconds = options.idle_seconds
            before = processor_ns(process.pid)
            time.sleep(seconds)
            rows.append(figure(
                GROUP, f"processor time of a tick, {count} countdowns", "µs",
                (processor_ns(process.pid) - before) / seconds / count / 1000))
    return rows


def subscribers(tools, options):
    """How the bus divides what it sends to so many."""
    rows = []
    for count in (0, 1, 10):
        with Bus("dbus-daemon", tools) as bus, bus.service([tools.daemon]) as process, \
                bus.subscribers(count):
            per_call(bus, process, 2000)
            costs = [per_call(bus, process, options.calls) for _ in range(options.repeats)]
            rows.append(figure(
                GROUP, f"processor time of a call, {count} subscribers", "µs",
                [cost for cost, _ in costs],
                parts={"rate": f"{median(c[1] for c in costs):.0f}/s"}))
    return rows


def clients(tools, options):
    """One call in flight each."""
    rows = []
    for count in (1, 100):
        with Bus("dbus-daemon", tools) as bus, bus.service([tools.daemon]) as process:
            bus.load("flood", calls=256)
            costs, rates = [], []
            for _ in range(options.repeats):
                before = processor_ns(process.pid)
                got = bus.load("clients", count, calls=options.calls)
                costs.append((processor_ns(process.pid) - before) / options.calls / 1000)
                rates.append(got["calls_per_s"])
            rows.append(figure(
                GROUP, f"processor time of a call, {count} clients", "µs", costs,
                parts={"rate": f"{median(rates):.0f}/s"}))
    return rows


def measure(tools, options):
    """The rows."""
    return (controls(tools, options) + countdowns(tools, options) + subscribers(tools, options)
            + clients(tools, options))
