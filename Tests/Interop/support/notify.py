# SPDX-License-Identifier: MIT
"""What a service manager has: the socket that hears sd_notify(3)."""

import select
import socket

from support.waiting import DEADLINE, boottime


class NotifySocket:
    """Hears what a daemon says of itself."""

    def __init__(self, directory):
        self.path = str(directory / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        # Each assignment with the time of its arrival.
        self.heard = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def pump(self, seconds):
        """Takes what has come, or waits for that so long; says whether something came."""
        if not select.select([self.socket], [], [], seconds)[0]:
            return False
        when = boottime()
        self.heard += [(line, when) for line in self.socket.recv(4096).decode().split("\n")]
        return True

    def lines(self):
        """What has been said so far."""
        while self.pump(0):
            pass
        return [line for line, _ in self.heard]

    def wait_for(self, line, seconds=DEADLINE):
        """Waits until something is said."""
        end_ = boottime() + seconds
        while line not in [said for said, _ in self.heard]:
            rest = end_ - boottime()
            assert rest > 0, f"{line} was not said, but {self.heard}"
            self.pump(rest)
