#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Plank shows the launcher plugin, forgets what has ended, and is told again when it returns."""

import glob
import pathlib
import signal

from desktop import Desktop, check, pass_time, scene, text, wait

ENTRY = "busy-demo"
SETTINGS = """[net/launchpad/plank]
enabled-docks=['dock1']
[net/launchpad/plank/docks/dock1]
dock-items=['busy-demo.dockitem', 'other.dockitem']
icon-size=96
hide-mode='none'
zoom-enabled=false
show-dock-item=false
auto-pinning=false
pinned-only=true
theme='Default'
"""


def prepare(desktop):
    desktop.environment |= {
        "GSETTINGS_BACKEND": "keyfile", "XDG_SESSION_CLASS": "user", "XDG_SESSION_TYPE": "x11"}
    desktop.config("glib-2.0/settings/keyfile", SETTINGS)
    applications = pathlib.Path(desktop.environment["XDG_DATA_HOME"], "applications")
    applications.mkdir()
    for name, icon in ((ENTRY, "system-file-manager"), ("other", "utilities-terminal")):
        file = applications / f"{name}.desktop"
        file.write_text(
            f"[Desktop Entry]\nType=Application\nName={name}\nExec=/bin/true\nIcon={icon}\n")
        desktop.config(
            f"plank/dock1/launchers/{name}.dockitem",
            f"[PlankDockItemPreferences]\nLauncher=file://{file}\n")
    desktop.run("xsetroot", "-solid", "#335577")
    desktop.run("xfwm4", "--compositor=on", "--vblank=off")
    pass_time(1)
    desktop.run(*glob.glob("/usr/libexec/bamf/bamfdaemon") + glob.glob("/usr/lib/*/bamf/bamfdaemon"))
    desktop.wait_for_name("org.ayatana.bamf")


def start_plank(desktop):
    plank = desktop.run("plank", "-n", "dock1")
    wait(lambda: desktop.plugin("launcher")[0] == "on", "plank", 20)
    pass_time(3)
    return plank


def main():
    scene("plank")
    with Desktop(size="600x300") as desktop:
        prepare(desktop)
        plank = start_plank(desktop)
        idle = desktop.picture()

        def shown(what, name):
            """Takes a picture; returns how much of it the idle dock has otherwise."""
            pass_time(2.5)
            picture = desktop.picture()
            picture.save(f"plank-{name}")
            changed = len([1 for x, y in idle.difference(picture)])
            print(f"  {what}: {changed} pixels")
            return changed

        busy = {"desktop-entry": text(ENTRY)}
        desktop.show("one", **busy)
        desktop.show("two", **busy)
        badge = shown("a badge of two", "badge")
        desktop.call("SetProgress", "one", 0.6)
        bar = shown("and a bar", "progress")
        check(badge > 300 and bar > badge, "a badge and a bar show")

        check(desktop.stop() == 0, "the daemon ends")
        check(shown("cleared at the end", "ended") < badge // 4, "both are gone at its end")

        desktop.start()
        check(shown("back", "back") > badge, "both are back with the kept state")
        desktop.stop(signal.SIGKILL)
        desktop.start()
        desktop.call("ReleaseAll", "one")
        desktop.call("ReleaseAll", "two")
        check(
            shown("over, after a SIGKILL", "killed") < badge // 4,
            "nothing is left after a SIGKILL, a restart and the end of it all")

        desktop.show("one", **busy)
        desktop.call("SetProgress", "one", 0.3)
        plank.terminate()
        wait(lambda: desktop.plugin("launcher")[0] == "waiting", "plank to end")
        start_plank(desktop)
        check(shown("a new dock", "new-dock") > badge // 2, "a new dock is told")


main()
