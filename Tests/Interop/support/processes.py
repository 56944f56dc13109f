# SPDX-License-Identifier: MIT
"""Processes: whatever is started here is ended by its id, and leaves by itself with the tests."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess

from support.waiting import DEADLINE, boottime, pass_time, wait_until


def heed_signals():
    """In a child: tests that were started in the background would hand on that Ctrl-C is ignored."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def spawn(*command, **options):
    """Starts a program that ends with this one; text in and out."""
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("text", True)
    options.setdefault("preexec_fn", heed_signals)
    return subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *words(command)], **options)


def run(*command, status=None, **options):
    """Runs a program to its end; its output is text. Another status than that is a fault."""
    options.setdefault("timeout", DEADLINE)
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    options.setdefault("text", True)
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run(words(command), **options)
    assert status in (None, done.returncode), done
    return done


def words(command):
    """A command as the system takes it; bytes may be what is no UTF-8."""
    return [word if isinstance(word, bytes) else str(word) for word in command]


def end(process, number=signal.SIGTERM):
    """Ends a process started here, stopped or not, and returns its exit status."""
    if process.poll() is None:
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        try:
            process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()
    return process.returncode


@contextlib.contextmanager
def running(*command, **options):
    """A program for as long as a block takes; it may end before."""
    process = spawn(*command, **options)
    try:
        yield process
    finally:
        end(process, signal.SIGKILL)


@contextlib.contextmanager
def stopped(*pids):
    """Keeps processes from running for a while."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        wait_until(lambda: all(state(pid)[0] == "T" for pid in pids), "all have stopped")
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def state(pid):
    """The letter that /proc has for it: S sleeping, T stopped, …; and its processor time."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return fields[0], int(fields[11]) + int(fields[12])


def wait_until_idle(pid):
    """Waits until it sleeps and has used no processor time for as long as a turn may take."""
    since, before = boottime(), None

    def look():
        nonlocal since, before
        now = state(pid)
        if now != before or now[0] != "S":
            since, before = boottime(), now
        return boottime() - since > 0.1

    wait_until(look, f"process {pid} has nothing to do")


def check_idle(*pids, seconds=0.5):
    """Checks that they use no processor time once they have nothing to do."""
    for pid in pids:
        wait_until_idle(pid)
    before = list(map(state, pids))
    pass_time(seconds)
    assert list(map(state, pids)) == before


def program_of(pid):
    """What it runs."""
    return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()


def status_of(pid, field):
    """A number that /proc/PID/status has: bytes of memory, context switches, …"""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    number, unit = re.search(rf"^{field}:\s+(\d+)( kB)?$", text, re.MULTILINE).groups()
    return int(number) * (1024 if unit else 1)
