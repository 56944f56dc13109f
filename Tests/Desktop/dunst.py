#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""dunst shows the notifications plugin: one at the end, whose action works when it is clicked."""

from desktop import Desktop, bounds, check, pass_time, scene, text, wait
from support.wire import Variant

RC = """
[global]
    width = 340
    height = 200
    origin = top-right
    offset = 20x20
    frame_width = 2
    font = Monospace 10
    format = "<b>%s</b>\\n%b"
    mouse_left_click = do_action, close_current
"""


def main():
    scene("dunst")
    with Desktop() as desktop:
        desktop.config("dunst/dunstrc", RC)
        empty = desktop.picture()
        desktop.run("dunst", "-print")
        wait(lambda: desktop.plugin("notifications")[0] == "on", "dunst")
        yes = Variant("b", True)
        desktop.countdown("tea", 1, notify=yes, title=text("Tea <green>"))
        shown = wait(lambda: empty.difference(desktop.picture()), "notification", 10)
        pass_time(0.5)
        cookie = desktop.call("Hold", "build", "make", {
            "notify-after-usec": Variant("t", 0)})
        pass_time(1.2)
        desktop.call("Release", cookie, "exit 2 & <more>")
        pass_time(1)
        picture = desktop.picture()
        picture.save("dunst")
        left, top, right, _ = bounds(shown)
        desktop.xdotool("mousemove", (left + right) // 2, top + 20, "click", 1)
        wait(lambda: desktop.of("tea", "CountdownState") == "running", "action", 5)
        check(desktop.of("tea", "Duration") == 60_000_000, "a click on the action gives a minute")


main()
