#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Copies files, and shows that and how far: copy.py NAME FILE... FOLDER

Its hold ends with its connection, so nothing stays behind however it ends.
"""

import shutil
import sys

from gi.repository import Gio, GLib


def main(name, *paths):
    *files, folder = paths
    manager = Gio.DBusProxy.new_for_bus_sync(
        Gio.BusType.SESSION, Gio.DBusProxyFlags.DO_NOT_LOAD_PROPERTIES, None,
        "org.busyindicator.BusyIndicator1", "/org/busyindicator/BusyIndicator1",
        "org.busyindicator.BusyIndicator1", None)
    # Nothing is drawn for a copy that is done within 300 ms.
    options = {
        "title": GLib.Variant("s", f"Copying to {folder}"),
        "grace-usec": GLib.Variant("t", 300_000),
    }
    cookie = manager.Hold("(ssa{sv})", name, "copying", options)
    result = "failed"
    try:
        for number, file in enumerate(files, 1):
            manager.SetDetail("(ss)", name, f"{number} of {len(files)} files")
            shutil.copy(file, folder)
            manager.SetProgress("(sd)", name, number / len(files))
        result = f"{len(files)} files"
    finally:
        manager.Release("(us)", cookie, result)


main(*sys.argv[1:])
