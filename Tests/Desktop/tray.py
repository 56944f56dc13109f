# SPDX-License-Identifier: MIT
"""What a person does with the tray's item, whichever panel shows it."""

import collections

from desktop import bounds, check, pass_time, text, wait


def play(desktop, name, box):
    """Plays every scene of the tray in a panel that is there.

    `box` is where the panel is.
    """
    pass_time(1)
    check(not desktop.picture().find(desktop.ring, box=box), "nothing is shown while nothing is busy")

    desktop.show("build", title=text("Build & <test>"))
    pass_time(1.5)
    spinner = desktop.ring_at(box)
    frames = []
    for _ in range(8):
        frames.append(desktop.picture().find(desktop.ring, box=box))
        pass_time(0.25)
    desktop.picture().save(f"{name}-turning")
    check(len({tuple(frame) for frame in frames}) > 3, "the ring turns")

    desktop.call("SetProgress", "build", 0.25)
    pass_time(1)
    quarter = len(desktop.picture().find(desktop.ring, box=box))
    desktop.call("SetProgress", "build", 0.9)
    pass_time(1)
    nearly = desktop.picture().find(desktop.ring, box=box)
    desktop.picture().save(f"{name}-filled")
    check(len(nearly) > 2.5 * quarter, "the ring fills")
    left, top, right, bottom = bounds(nearly)
    icon = (left + right) // 2, (top + bottom) // 2
    check(abs(icon[0] - spinner[0]) < 10, "the icon stays where it is")

    desktop.countdown("tea", 125, title=text("Tea"))
    pass_time(1)
    before = desktop.picture()
    desktop.xdotool("mousemove", *icon, "sleep", 1.5)
    pass_time(1)
    picture = desktop.picture()
    picture.save(f"{name}-tooltip")
    check(len(before.difference(picture)) > 1500, "a tooltip shows")
    desktop.away()

    desktop.xdotool("mousemove", *icon, "sleep", 0.3, "click", 3)
    pass_time(1.2)
    desktop.picture().save(f"{name}-menu-of-two")
    # With the mouse: not every compositor gives the keyboard to a bar's menu.
    left, top, right, bottom = menu_box(desktop)
    desktop.xdotool(
        "mousemove", (left + right) // 2, top + (bottom - top) // 4, "sleep", 0.4, "click", 1)
    pass_time(1)
    desktop.picture().save(f"{name}-submenu")
    # It opens to the left, where there is room, beside the row.
    submenu_left, _, _, _ = menu_box(desktop)
    check(submenu_left < left, "a submenu opens")
    desktop.xdotool(
        "mousemove", (submenu_left + left) // 2, top + (bottom - top) // 4, "sleep", 0.4, "click", 1)
    wait(lambda: not desktop.of("build", "Busy"), "the first control hidden", 5)
    check(desktop.of("tea", "CountdownState") == "running", "Hide in a submenu hides its control")
    desktop.away()

    click_in_menu(desktop, "Pause", name)
    wait(lambda: desktop.of("tea", "CountdownState") == "paused", "pause", 5)
    pass_time(1.3)
    desktop.picture().save(f"{name}-paused")
    check(True, "Pause pauses")
    click_in_menu(desktop, "Resume", name)
    wait(lambda: desktop.of("tea", "CountdownState") == "running", "run", 5)
    check(True, "Resume resumes")
    click_in_menu(desktop, "Cancel countdown", name)
    wait(lambda: desktop.of("tea", "CountdownState") == "none", "cancel", 5)
    check(True, "Cancel cancels")
    pass_time(1.5)
    check(not desktop.picture().find(desktop.ring, box=box), "the icon goes when all is over")

    desktop.call("ShowIndicator", "one")
    pass_time(0.6)
    desktop.call("ShowIndicator", "two")
    pass_time(1)
    icon = desktop.ring_at(box)
    desktop.xdotool("mousemove", *icon, "sleep", 0.3, "click", 4, "sleep", 0.4, "click", 5)
    pass_time(1)
    check(desktop.of("one", "Busy") and desktop.of("two", "Busy"), "scrolling harms nothing")
    desktop.call("HideIndicator", "one")
    desktop.call("HideIndicator", "two")


# The rows of the menu of one control that only counts: a heading, a line, then these.
ROWS = {"Pause": 1, "Resume": 1, "Cancel countdown": 2}


def click_in_menu(desktop, label, name):
    """Opens the menu of the one control, and clicks on a row with the mouse."""
    pass_time(1.2)
    shown = []
    for colour in (desktop.ring, desktop.paused_ring):
        shown += desktop.picture().find(colour)
    if shown:
        left, top, right, bottom = bounds(shown)
    icon = desktop.tray_icon if not shown else ((left + right) // 2, (top + bottom) // 2)
    desktop.tray_icon = icon
    desktop.xdotool("mousemove", *icon, "sleep", 0.3, "click", 3)
    pass_time(1.2)
    desktop.picture().save(f"{name}-menu-{label.split()[0].lower()}")
    left, top, right, bottom = menu_box(desktop)
    # Three rows of text and the line between them.
    row = (bottom - top - 12) / 3
    line = ROWS[label]
    y = int(top + (row / 2 if line == 0 else row * (line + 0.5) + 10))
    desktop.xdotool("mousemove", (left + right) // 2, y, "sleep", 0.4, "click", 1)
    pass_time(0.5)
    desktop.away()


def menu_box(desktop):
    """Where menus are: they alone are of a pure white; a text may be, but is not as much of it."""
    white = desktop.picture().find((255, 255, 255), tolerance=2)
    rows, columns = collections.Counter(y for _, y in white), collections.Counter(x for x, _ in white)
    deep = [y for y, count in rows.items() if count > 60]
    wide = [x for x, count in columns.items() if count > 15]
    return min(wide), min(deep), max(wide) + 1, max(deep) + 1
