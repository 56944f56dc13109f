# SPDX-License-Identifier: MIT
"""strace on the daemon: what it asks of the kernel, and an end at a chosen call."""

import signal

from support.processes import end, spawn
from support.waiting import wait_until


class Tracer:
    """Looks on for as long as a block takes."""

    def __init__(self, bus, daemon, *options):
        self.output = bus.directory / "strace"
        self.errors = bus.directory / "strace.err"
        self.command = ("strace", "-f", "-p", daemon.pid, "-o", self.output, *options)

    def __enter__(self):
        with self.errors.open("wb") as errors:
            self.process = spawn(*self.command, stderr=errors)
        wait_until(lambda: "attached" in self.errors.read_text(), "strace is attached")
        # The call in which it waits is shown once, without its end.
        wait_until(lambda: self.output.stat().st_size > 0, "strace shows where it waits")
        return self

    def __exit__(self, *_):
        end(self.process, signal.SIGINT)

    def calls(self):
        """The system calls that have returned so far."""
        lines = self.output.read_text().splitlines()
        return [line for line in lines if " = " in line and " = ? " not in line]


def killed_at_message(bus, daemon, number):
    """Ends the daemon as it is about to send its next message, or a later one."""
    return Tracer(
        bus, daemon, "-e", "trace=sendmsg,epoll_wait",
        "-e", f"inject=sendmsg:signal=KILL:when={number}")
