# SPDX-License-Identifier: MIT
"""How long calls take, and how many a second there are: A B A B on one bus."""

from contextlib import ExitStack
from statistics import median

from .place import NAME, Bus, processor_ns
from .rows import figure, ratio

BASELINES = {
    "C, same signals": ("libdbus-service", "signals", "org.example.Signals"),
    "C echo": ("libdbus-service", "echo", "org.example.Echo"),
    "sd-bus echo": ("sdbus-service", None, "org.example.SdBus"),
    "GDBus echo": ("gdbus-service", None, "org.example.GDBus"),
}


def start_all(stack, bus, tools):
    """The daemon and all baselines; gives the name of each on the bus."""
    stack.enter_context(bus.service([tools.daemon]))
    names = {"daemon": NAME}
    for label, (program, mode, name) in BASELINES.items():
        command = [tools / program, *([mode] if mode else []), name]
        stack.enter_context(bus.service(command, name))
        names[label] = name
    return names


def on_bus(kind, tools, options):
    """p50 and rate on one kind of bus."""
    group = f"Calls on {kind}"
    pairs = options.pairs
    with ExitStack() as stack:
        bus = stack.enter_context(Bus(kind, tools))
        names = start_all(stack, bus, tools)
        times = {label: [] for label in names}
        rates = {label: [] for label in names}
        for _ in range(pairs):
            for label, name in names.items():
                got = bus.load("latency", service=name, calls=options.calls)
                times[label].append(got["p50_ns"] / 1000)
        for _ in range(pairs):
            for label, name in names.items():
                got = bus.load("flood", service=name, calls=options.calls * 4, window=64)
                rates[label].append(got["calls_per_s"])
    p50 = {label: round(median(some), 1) for label, some in times.items()}
    rate = {label: round(median(some)) for label, some in rates.items()}
    own = times["daemon"]
    return [
        ratio(group, "p50 of Show/Hide, one at a time, against C that sends the same signals", own,
              times["C, same signals"], 1.15, parts={k: f"{v} µs" for k, v in p50.items()}),
        ratio(group, "the same p50 against GDBus that only answers", own, times["GDBus echo"], 0.8),
        ratio(group, "against sd-bus that only answers", own, times["sd-bus echo"]),
        ratio(group, "against libdbus in C that only answers", own, times["C echo"]),
        ratio(group, "calls a second, 64 in flight, against C that sends the same signals",
              rates["daemon"], rates["C, same signals"], 1.1, at_least=True,
              parts={k: f"{v}/s" for k, v in rate.items()}),
    ]


def store_share(tools, options):
    """What the store adds to a call: two daemons, one of them without a runtime directory."""
    with ExitStack() as stack:
        buses = [stack.enter_context(Bus("dbus-daemon", tools)) for _ in range(2)]
        processes = [
            stack.enter_context(bus.service([tools.daemon], store=store))
            for bus, store in zip(buses, (True, False), strict=True)
        ]
        times = [[], []]
        processor = [[], []]
        for _ in range(options.pairs):
            for i, bus in enumerate(buses):
                before = processor_ns(processes[i].pid)
                got = bus.load("latency", calls=options.calls)
                spent = processor_ns(processes[i].pid) - before
                times[i].append(got["p50_ns"] / 1000)
                processor[i].append(spent / options.calls / 1000)
    def shares(some):
        return [100 * (on - off) / on for on, off in zip(*some, strict=True)]
    return [
        figure("Store", "the store's share of a call: of the p50 that a caller sees", "%",
               shares(times), 10,
               parts={"with": f"{median(times[0]):.1f} µs", "without": f"{median(times[1]):.1f} µs"}),
        figure("Store", "of the daemon's processor time for it", "%", shares(processor),
               parts={"with": f"{median(processor[0]):.1f} µs",
                      "without": f"{median(processor[1]):.1f} µs"}),
    ]


def measure(tools, options):
    """The rows."""
    rows = []
    for kind in options.buses:
        rows += on_bus(kind, tools, options)
    return rows + store_share(tools, options)
