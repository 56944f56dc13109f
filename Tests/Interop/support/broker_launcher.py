# SPDX-License-Identifier: MIT
"""Becomes a dbus-broker on a private socket, on a machine with or without systemd.

    broker_launcher.py SOCKET CONFIGURATION

dbus-broker-launch wants two things that systemd gives: a listening socket as descriptor 3, and
/run/systemd/journal/socket, without which it ends at once. A datagram socket stands in for that,
whose lines go to the standard error: in a mount namespace of its own. Where that may not be had the
machine's journal has to do; and where there is none, in a container then, the stand-in takes its
place.
"""

import ctypes
import fcntl
import os
import signal
import socket
import sys

JOURNAL = "/run/systemd/journal/socket"
# Says that what is there is no journal.
MARK = "/run/systemd/journal/stand-in"
CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
PR_SET_PDEATHSIG = 1

libc = ctypes.CDLL(None, use_errno=True)


def checked(result):
    """The result of a system call; an error raises."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def has_journal():
    """Whether somebody listens there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(JOURNAL)
        except OSError:
            return False
        return True


def enter_namespace():
    """Gets a /run of its own; an ordinary user does so under the same number."""
    user, group = os.getuid(), os.getgid()
    checked(libc.unshare(CLONE_NEWNS if user == 0 else CLONE_NEWNS | CLONE_NEWUSER))
    if user != 0:
        for file, text in (
                ("setgroups", "deny"), ("uid_map", f"{user} {user} 1"),
                ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{file}", "w", encoding="ascii") as target:
                target.write(text)
    checked(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    checked(libc.mount(b"tmpfs", b"/run", b"tmpfs", 0, b"mode=755"))


def serve_journal(listener, lock):
    """Stands in for the journal, in a process that ends with this one."""
    os.makedirs(os.path.dirname(JOURNAL), exist_ok=True)
    journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    own = f"{JOURNAL}.{os.getpid()}"
    journal.bind(own)
    os.rename(own, JOURNAL)
    parent = os.getpid()
    if os.fork() > 0:
        journal.close()
        return
    listener.close()
    checked(libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM))
    if os.getppid() != parent:
        os._exit(0)
    while True:
        for line in journal.recv(1 << 16).split(b"\n"):
            if line.startswith(b"MESSAGE="):
                os.write(2, b"dbus-broker: " + line[8:] + b"\n")
                if lock is not None and b"Ready" in line:
                    lock = lock.close()


def main():
    """Prepares, and becomes the launcher, whose process id is then the bus's."""
    path, configuration = sys.argv[1:]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(1024)
    listener.setblocking(False)
    try:
        enter_namespace()
        serve_journal(listener, None)
    except PermissionError:
        if os.path.exists(MARK) or not has_journal():
            # One at a time: the place is shared, and each wants to find its own there.
            os.makedirs(os.path.dirname(JOURNAL), exist_ok=True)
            lock = open(MARK, "w", encoding="ascii")
            fcntl.flock(lock, fcntl.LOCK_EX)
            serve_journal(listener, lock)
    if listener.fileno() != 3:
        os.dup2(listener.fileno(), 3)
    os.set_inheritable(3, True)
    os.environ.update(
        LISTEN_FDS="1", LISTEN_PID=str(os.getpid()), LISTEN_FDNAMES="dbus.socket",
        DBUS_SESSION_BUS_ADDRESS=f"unix:path={path}")
    os.execvp("dbus-broker-launch", [
        "dbus-broker-launch", "--scope", "user", "--verbose", f"--config-file={configuration}"])


main()
