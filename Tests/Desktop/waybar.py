#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Waybar in sway shows the tray plugin, and its menu works."""

import os
import pathlib
import shutil

import tray
from desktop import Desktop, check, pass_time, scene, wait

BAR = """{"layer": "top", "height": 32, "modules-right": ["tray", "clock"],
 "tray": {"icon-size": 22, "spacing": 8}}
"""
STYLE = """* { font-family: DejaVu Sans; font-size: 14px; }
window#waybar { background: #223; color: #fff; } #tray { padding: 0 6px; }
"""
HEIGHT = 32


class Sway(Desktop):
    """A session with sway on the X server."""

    def _begin(self):
        super()._begin()
        directory = self.environment["HOME"]
        config = self.config(
            "sway.conf", "output X11-1 resolution 800x400 position 0,0 bg #e8e8e8 solid_color\n")
        self.environment |= {
            "WLR_BACKENDS": "x11", "WLR_RENDERER": "pixman", "WLR_X11_OUTPUTS": "1",
            "SWAYSOCK": f"{directory}/sway.sock", "XDG_CURRENT_DESKTOP": "sway"}
        drop = []
        # It refuses to run as root; all else stays as it is.
        if os.getuid() == 0:
            drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            for path in [directory, *pathlib.Path(directory).rglob("*")]:
                shutil.chown(path, 65534, 65534)
        self.run(*drop, "sway", "-c", str(config))
        socket = wait(
            lambda: [path for path in self.bus.runtime.glob("wayland-*")
                     if path.suffix != ".lock"], "sway", 15)[0]
        self.environment["WAYLAND_DISPLAY"] = socket.name
        self.environment["GDK_BACKEND"] = "wayland"
        del self.environment["DISPLAY"]


def main():
    scene("waybar")
    with Sway() as desktop:
        config = desktop.config("waybar/config", BAR)
        style = desktop.config("waybar/style.css", STYLE)
        bar = desktop.run("waybar", "-c", str(config), "-s", str(style))
        wait(lambda: desktop.plugin("tray")[0] == "on", "waybar", 15)
        box = (400, 0, 800, HEIGHT)
        tray.play(desktop, "waybar", box)
        bar.terminate()
        wait(lambda: desktop.plugin("tray")[0] == "waiting", "waybar to end")
        desktop.call("ShowIndicator", "again")
        desktop.run("waybar", "-c", str(config), "-s", str(style))
        wait(lambda: desktop.plugin("tray")[0] == "on", "waybar again", 15)
        pass_time(1)
        desktop.ring_at(box)
        check(True, "the ring is back when the bar is")


main()
