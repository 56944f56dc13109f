# SPDX-License-Identifier: MIT
"""Waiting for a condition, never for a time: with a deadline that only a fault reaches."""

import time

# Far beyond what anything takes, even where eight processes share a core.
DEADLINE = 30


def wait_until(condition, what, seconds=DEADLINE):
    """Waits until a condition holds, and returns what it gave."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"in {seconds} s it did not come about that {what}")
        time.sleep(0.003)
    return value


def pass_time(seconds):
    """Lets time go by, where it is the passing itself that is tested."""
    end = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() >= end, "time has gone by", seconds + DEADLINE)


def boottime():
    """The clock by which countdowns run, in seconds."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def thrice(attempt):
    """Tries what may be late: a busy machine is late now and then, a slow daemon is so always.

    Only lateness is forgiven; whatever else an attempt finds wrong counts at once.
    """
    for again in (True, True, False):
        try:
            return attempt()
        except Late:
            if not again:
                raise


class Late(AssertionError):
    """Something happened as it should, but not in time."""


# How late an event may arrive at a subscriber.
LATENESS = 0.150


def check_instant(when, due):
    """Checks that an event came at an instant or up to LATENESS after it, and never before."""
    assert when >= due, f"{(due - when) * 1000:.3f} ms too early"
    if when - due > LATENESS:
        raise Late(f"{(when - due) * 1000:.0f} ms late")
