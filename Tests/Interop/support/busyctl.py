# SPDX-License-Identifier: MIT
"""What the tests of busyctl share: a session in which it is called, the daemon when it is wanted."""

import json
import subprocess

from support.harness import BUSYCTL


class Session:
    """A private bus with busyctl on the path; the daemon is started on demand."""

    def __init__(self, bus):
        self.bus = bus
        self.directory = bus.directory
        (self.directory / "bin").mkdir()
        (self.directory / "bin/busyctl").symlink_to(BUSYCTL)
        self.environment = bus.environment
        self.environment |= {
            "PATH": f"{self.directory}/bin:/usr/bin:/bin", "TERM": "xterm-256color", "TZ": "UTC",
            "XDG_DATA_HOME": f"{self.directory}/data",
            "XDG_DATA_DIRS": f"{self.directory}/nothing"}
        self.daemon = None

    def start_daemon(self):
        """Starts the daemon, or starts it again, and returns when it serves."""
        if self.daemon:
            self.daemon.start()
        else:
            self.daemon = self.bus.daemon(BUSYINDICATORD_PLUGINS=None)

    def start(self, *arguments, **options):
        """Starts busyctl; its output is a pipe of bytes."""
        options = {
            "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": False, **options}
        return self.bus.spawn(BUSYCTL, *arguments, **options)

    def run(self, *arguments, **options):
        """Runs busyctl to its end."""
        return self.bus.run(BUSYCTL, *arguments, **options)

    def ok(self, *arguments, **options):
        """Runs busyctl, which shall succeed and have nothing to remark; gives what it printed."""
        done = self.run(*arguments, **options)
        assert (done.returncode, done.stderr) == (0, ""), (arguments, done)
        return done.stdout

    def fails(self, status, *arguments, **options):
        """Runs busyctl, which shall end with that status; gives its one line about it."""
        done = self.run(*arguments, status=status, **options)
        assert done.stderr.count("\n") <= 1, done.stderr
        return done.stderr

    def state(self, name):
        """A control with its holders; None when there is none."""
        done = self.run("status", "--json", name)
        assert done.returncode in (0, 2), done
        return json.loads(done.stdout)["control"] if done.returncode == 0 else None

    def busy(self, name):
        """Whether a control is busy."""
        state = self.state(name)
        return bool(state and state["busy"])
