# SPDX-License-Identifier: MIT
"""The state machine alone, against a dictionary and a heap in C++."""

import json
import math
import subprocess
from statistics import median

from .rows import ratio

GROUP = "Core"
WORK = {"start_ns": "start", "cancel_ns": "cancel", "expire_ns": "expire", "tick_ns": "tick"}


def run(program, count, rounds):
    done = subprocess.run([program, str(count), str(rounds)], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)


def measure(tools, options):
    """The rows."""
    rounds = 5
    programs = (tools / "core-swift", tools / "core-cpp")
    few = [[run(program, 10_000, rounds) for program in programs] for _ in range(options.repeats)]
    # As many rounds: in the first the controls are made, in the others they are there.
    large = [[run(program, 100_000, rounds) for program in programs] for _ in range(2)]
    rows = []
    for key, work in WORK.items():
        own, other = ([one[i][key] for one in few] for i in range(2))
        # Ticks are no part of the contract; they are here to be seen.
        rows.append(ratio(
            GROUP, f"{work}, 10 000 countdowns, against C++", own, other,
            None if work == "tick" else 2,
            parts={"core": f"{median(own):.0f} ns", "C++": f"{median(other):.0f} ns"}))
    # n log n for all of them is log n for each; memory that no longer fits the caches may add to it.
    bar = round(math.log(100_000) / math.log(10_000), 2)
    for key, work in WORK.items():
        own, other = (median(one[i][key] for one in few) for i in range(2))
        cpp = median(one[1][key] for one in large) / other
        rows.append(ratio(GROUP, f"{work}, 100 000 against 10 000", [one[0][key] for one in large],
                          [own] * len(large), None if work == "tick" else bar,
                          parts={"C++": f"{cpp:.2f} ×"}))
    return rows
