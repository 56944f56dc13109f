# SPDX-License-Identifier: MIT
"""A terminal that can be looked at: a shell in tmux."""

import contextlib

from support.processes import run
from support.waiting import wait_until


class Terminal:
    """A shell in a tmux of its own."""

    count = 0

    def __init__(self, session, columns=80, rows=24, **environment):
        # One of its own: a server that was told to end may still have the old one.
        Terminal.count += 1
        self.socket = session.directory / f"tmux{Terminal.count}"
        self.environment = {**session.environment, **environment}
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", rows,
                  "-c", session.directory, "-s", "main", "env PS1='$ ' HISTFILE= bash --norc --noprofile")
        self.pid = int(self.tmux("display-message", "-p", "#{pid}"))
        wait_until(lambda: "$" in self.text(), "the shell is there")

    def tmux(self, *arguments):
        return run(
            "tmux", "-S", self.socket, *arguments, status=0, env=self.environment).stdout

    def type(self, *keys):
        self.tmux("send-keys", "-t", "main", *keys)

    def command(self, text):
        self.type(text, "Enter")

    def interrupt(self):
        """Ctrl-C, and waits for the prompt: what is typed too early the terminal throws away."""
        self.type("C-c")
        wait_until(lambda: self.lines()[-1].endswith("$"), f"the prompt is back; {self.text()}")

    def text(self):
        return self.tmux("capture-pane", "-p", "-t", "main")

    def lines(self):
        return self.text().rstrip("\n").split("\n")

    def shows(self, text):
        """Waits until the terminal shows a text."""
        seen = ""

        def look():
            nonlocal seen
            seen = self.text()
            return seen if text in seen else None

        try:
            return wait_until(look, f"the terminal shows {text!r}")
        except AssertionError as error:
            raise AssertionError(f"{error}; it shows:\n{seen}") from None

    def resize(self, columns, rows):
        self.tmux("resize-window", "-t", "main", "-x", columns, "-y", rows)

    def end(self):
        with contextlib.suppress(AssertionError):
            self.tmux("kill-server")


@contextlib.contextmanager
def terminal(session, *arguments, **options):
    made = Terminal(session, *arguments, **options)
    try:
        yield made
    finally:
        made.end()
