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
    """The daemon and all baselines; gives each one's name and process."""
    services = {"daemon": (NAME, stack.enter_context(bus.service([tools.daemon])))}
    for label, (program, mode, name) in BASELINES.items():
        command = [tools / program, *([mode] if mode else []), name]
        services[label] = name, stack.enter_context(bus.service(command, name))
    return services


def on_bus(kind, tools, options):
    """p50 and rate on one kind of bus."""
    group = f"Calls on {kind}"
    pairs = options.pairs
    with ExitStack() as stack:
        bus = stack.enter_context(Bus(kind, tools))
        services = start_all(stack, bus, tools)
        times, processor, rates = ({label: [] for label in services} for _ in range(3))
        few, in_pairs = ({label: [] for label in ("daemon", "C, same signals")} for _ in range(2))
        for _ in range(pairs):
            for label, (name, process) in services.items():
                before = processor_ns(process.pid)
                got = bus.load("latency", service=name, calls=options.calls)
                spent = processor_ns(process.pid) - before
                # Two rounds of the 64 controls come before those that are timed.
                processor[label].append(spent / (options.calls + 128) / 1000)
                times[label].append(got["p50_ns"] / 1000)
        for _ in range(pairs):
            for label, (name, _) in services.items():
                got = bus.load("flood", service=name, calls=options.calls * 4, window=64)
                rates[label].append(got["calls_per_s"])
        for _ in range(pairs):
            for label, some in few.items():
                got = bus.load("flood", service=services[label][0], calls=options.calls * 4,
                               window=64, controls=16)
                some.append(got["calls_per_s"])
        for _ in range(pairs):
            for label, some in in_pairs.items():
                got = bus.load("flood", service=services[label][0], calls=options.calls * 4,
                               window=64, pairs=True)
                some.append(got["calls_per_s"])
    p50 = {label: round(median(some), 1) for label, some in times.items()}
    spent = {label: f"{median(some):.1f} µs" for label, some in processor.items()}
    rate = {label: round(median(some)) for label, some in rates.items()}
    own = times["daemon"]
    return [
        ratio(group, "p50 of Show/Hide, one at a time, against C that sends the same signals", own,
              times["C, same signals"], 1.15, parts={k: f"{v} µs" for k, v in p50.items()}),
        ratio(group, "the same p50 against GDBus that only answers", own, times["GDBus echo"], 0.8),
        ratio(group, "against sd-bus that only answers", own, times["sd-bus echo"]),
        ratio(group, "against libdbus in C that only answers", own, times["C echo"]),
        ratio(group, "the service's processor time for it, against C that sends the same signals",
              processor["daemon"], processor["C, same signals"], parts=spent),
        ratio(group, "calls a second, 64 in flight, against C that sends the same signals",
              rates["daemon"], rates["C, same signals"], 1.1, at_least=True,
              parts={k: f"{v}/s" for k, v in rate.items()}),
        ratio(group, "the same over 16 controls, so that what is in flight holds each four times",
              few["daemon"], few["C, same signals"],
              parts={label: f"{median(some):.0f}/s" for label, some in few.items()}),
        ratio(group, "the same with each control hidden right after it was shown",
              in_pairs["daemon"], in_pairs["C, same signals"],
              parts={label: f"{median(some):.0f}/s" for label, some in in_pairs.items()}),
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
