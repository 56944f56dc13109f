# SPDX-License-Identifier: MIT
"""The table, on the terminal, as JSON and as Markdown."""

import os
import platform
import subprocess
from datetime import UTC, datetime


def number(value):
    if abs(value) >= 100 or value == int(value):
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def amount(row):
    unit = row["unit"]
    text = number(row["value"])
    return f"{text} {unit}".strip() if unit not in ("×", "%") else f"{text} {unit}"


def spread(row):
    if row["low"] == row["high"]:
        return ""
    return f"{number(row['low'])}…{number(row['high'])}"


def bar(row):
    if row["bar"] is None:
        return ""
    return ("≥ " if row["at_least"] else "≤ ") + number(row["bar"])


def verdict(row):
    return {None: "", True: "met", False: "NOT MET"}[row["met"]]


def parts(row):
    text = ", ".join(f"{label} {value}" for label, value in row["parts"].items())
    return text + (f" ({row['note']})" if row["note"] and text else row["note"])


def as_text(rows):
    lines, group = [], None
    for row in (one.as_json() for one in rows):
        if row["group"] != group:
            group = row["group"]
            lines.append(f"\n{group}")
        lines.append(f"  {row['work'][:76]:76} {amount(row):>12} {spread(row):>15} "
                     f"{bar(row):>7} {verdict(row):8} {parts(row)}")
    bars = [row for row in rows if row.met is not None]
    lines.append(f"\n{sum(row.met for row in bars)} of {len(bars)} bars met")
    return "\n".join(lines)


def first_line(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "?"
    return (done.stdout or done.stderr).splitlines()[0] if done.stdout or done.stderr else "?"


def as_json(rows, options, failures):
    return {
        "version": 1,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "full": options.full,
        "machine": {
            "processors": os.cpu_count(),
            "kernel": platform.release(),
            "load": round(os.getloadavg()[0], 2),
            "bus": first_line(["dbus-daemon", "--version"]),
            "broker": first_line(["dbus-broker", "--version"]),
        },
        "failures": failures,
        "rows": [row.as_json() for row in rows],
    }


HEAD = """# Performance

What `make bench` measured; it writes this page, and the same as JSON to `.build/bench/results.json`.

The figures that matter are ratios: everything is measured in one run, the daemon and what it is
compared with in turn (A B A B), on a private bus. The baselines are built beside it, from
`Benchmarks/`: services on libdbus, sd-bus and GDBus that only answer; one on libdbus that also sends
the signals that the daemon sends; a sender of ticks; a dictionary and a heap in C++. Given are the
median, how far the single measurements spread, and the bar where there is one. Instruction counts
are callgrind's and do not depend on what else the machine does; times do.

The daemon is the one that is installed: stripped, the runtime linked statically, its store in a
runtime directory that lies in memory.
"""


def as_markdown(result, findings):
    machine = result["machine"]
    kind = "The full run" if result["full"] else "A quick run (`make bench-quick`)"
    lines = [HEAD, f"{kind} of {result['date']}: {machine['processors']} processors, Linux "
             f"{machine['kernel']}, {machine['bus']}, {machine['broker']}; load at the end "
             f"{machine['load']}.\n"]
    bars = [row for row in result["rows"] if row["met"] is not None]
    missed = [row for row in bars if not row["met"]]
    lines.append(f"{len(bars) - len(missed)} of {len(bars)} bars are met.\n")
    for failure in result["failures"]:
        lines.append(f"Not measured: {failure}\n")
    group = None
    for row in result["rows"]:
        if row["group"] != group:
            group = row["group"]
            lines += [f"\n## {group}\n", "| work | median | spread | bar | | figures |",
                      "|---|---:|---:|---:|---|---|"]
        lines.append("| " + " | ".join((row["work"], amount(row), spread(row), bar(row),
                                        verdict(row), parts(row))) + " |")
    if findings.exists():
        lines += ["", findings.read_text().rstrip()]
    return "\n".join(lines) + "\n"
