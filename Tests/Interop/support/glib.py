# SPDX-License-Identifier: MIT
"""GLib's main loop and its D-Bus connections, which turn and talk only while a test waits."""

import time

import gi

from support.waiting import DEADLINE

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402


def connect(bus):
    """A connection of GDBus to a private bus."""
    flags = Gio.DBusConnectionFlags
    connection = Gio.DBusConnection.new_for_address_sync(
        bus.address, flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None)
    connection.set_exit_on_close(False)
    return connection


def turn():
    """Lets the main loop do what is ready, and waits for a moment when nothing is."""
    context = GLib.MainContext.default()
    GLib.timeout_add(10, lambda: False)
    context.iteration(True)
    while context.pending():
        context.iteration(False)


def turn_until(condition, what, seconds=DEADLINE):
    """Turns the main loop until a condition holds, and returns what it gave."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"in {seconds} s it did not come about: {what}"
        turn()
    return value


def pass_time(seconds):
    """Turns the main loop for so long: what is counted over a time needs that time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        turn()
