# SPDX-License-Identifier: MIT
"""How long the first call after login takes, activation included; run by `check-service`.

Each is stopped and called a few times in turn, from a client that is connected already: this
service, this service without its sandbox, and dconf's, a small one in C that is on every desktop.
"""

import os
import pathlib
import statistics
import subprocess
import time

from gi.repository import Gio, GLib

ROUNDS = 15
# What an unconfined service keeps.
KEPT = ("Type", "BusName", "ExecStart", "Restart", "WatchdogSec", "Slice", "TimeoutStopSec")


def systemctl(*arguments):
    subprocess.run(["systemctl", "--user", *arguments], check=True)


def first_call(connection, unit, name, path, interface, method, parameters):
    systemctl("stop", unit)
    # The bus may not have seen yet that the last one is gone.
    while connection.call_sync(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
            "NameHasOwner", GLib.Variant("(s)", (name,)), None, Gio.DBusCallFlags.NONE, -1,
            None).unpack()[0]:
        time.sleep(0.001)
    begin = time.perf_counter()
    connection.call_sync(
        name, path, interface, method, parameters, None, Gio.DBusCallFlags.NONE, 30000, None)
    return (time.perf_counter() - begin) * 1000


def main():
    connection = Gio.bus_get_sync(Gio.BusType.SESSION)
    ours = (
        "busyindicatord.service", "org.busyindicator.BusyIndicator1",
        "/org/busyindicator/BusyIndicator1", "org.busyindicator.BusyIndicator1",
        "ShowIndicator", GLib.Variant("(s)", ("measured",)))
    bare = pathlib.Path("/usr/local/lib/systemd/user/busyindicatord.service").read_text()
    bare = [line for line in bare.splitlines()
            if line.startswith("[") or line.split("=")[0] in KEPT]
    unit_file = pathlib.Path.home() / ".config/systemd/user/busyindicatord.service"
    dconf = (
        "dconf.service", "ca.desrt.dconf", "/ca/desrt/dconf/Writer/user",
        "org.freedesktop.DBus.Peer", "Ping", None)

    times = {"busyindicatord": [], "busyindicatord, no sandbox": [], "dconf-service": []}
    first = {}
    for number in range(ROUNDS + 1):
        for what, service in (("busyindicatord", ours), ("dconf-service", dconf)):
            taken = first_call(connection, *service)
            # The very first reads the program from disk.
            if number == 0:
                first[what] = taken
            else:
                times[what].append(taken)
    unit_file.parent.mkdir(parents=True, exist_ok=True)
    unit_file.write_text("\n".join(bare) + "\n")
    systemctl("daemon-reload")
    for number in range(ROUNDS):
        times["busyindicatord, no sandbox"].append(first_call(connection, *ours))

    print(f"The first call, activation included, on dbus-{os.environ['SESSION_BUS_KIND']}, in ms:")
    for what, taken in times.items():
        cold = f"  the very first {first[what]:.0f}" if what in first else ""
        print(f"  {what:28} median {statistics.median(taken):6.1f}  "
              f"least {min(taken):6.1f}  most {max(taken):6.1f}{cold}")


main()
