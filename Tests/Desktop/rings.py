#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Draws the tray's rings, as the daemon sends them, on a light and on a dark panel, for a look.

    rings.py PICTURE.png

Needs python3-gi and dbus, no screen. The daemon is $BUSYINDICATORD, else the release build.
"""

import pathlib
import struct
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Interop"))
from support.standins import Session, Watcher, pass_time, wait  # noqa: E402

ZOOM = 4
PANELS = ((0xF6, 0xF5, 0xF4), (0x1E, 0x1E, 0x22))
GAP = 6


def scenes(session, watcher):
    """Brings the ring into each of its shapes, and reads its pictures there."""
    def settled(shape):
        pass_time(0.5)
        return watcher.all()["IconPixmap"]

    wait(lambda: session.plugin("tray")[0] == "on", "registration")
    yield settled("empty")
    session.call("ShowIndicator", "one")
    pass_time(0.9)
    yield settled("turning")
    yield settled("turning on")
    for fraction in (0.0, 0.02, 0.25, 0.6, 1.0):
        session.call("SetProgress", "one", fraction)
        yield settled(fraction)
    session.call("Forget", "one")
    session.call("StartCountdown", "two", 10)
    pass_time(3)
    session.call("PauseCountdown", "two")
    yield settled("paused")


class Canvas:
    """An RGB picture."""

    def __init__(self, width, height, colour):
        self.width, self.height = width, height
        self.pixels = bytearray(bytes(colour) * (width * height))

    def fill(self, top, height, colour):
        self.pixels[top * self.width * 3:(top + height) * self.width * 3] = (
            bytes(colour) * (self.width * height))

    def blend(self, left, top, size, argb, zoom):
        for row in range(size * zoom):
            for column in range(size * zoom):
                source = ((row // zoom) * size + column // zoom) * 4
                alpha = argb[source]
                target = ((top + row) * self.width + left + column) * 3
                for channel in range(3):
                    below = self.pixels[target + channel]
                    above = argb[source + 1 + channel]
                    self.pixels[target + channel] = (
                        above * alpha + below * (255 - alpha)) // 255

    def save(self, path):
        def chunk(kind, data):
            checked = kind + data
            return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))
        rows = b"".join(
            b"\0" + self.pixels[row * self.width * 3:(row + 1) * self.width * 3]
            for row in range(self.height))
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        path.write_bytes(
            b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def main(target):
    with Session() as session, Watcher(session) as watcher:
        rings = list(scenes(session, watcher))
    sizes = [size for size, _, _ in rings[0]]
    # A row for each size: all shapes as they are, then as they are four times as large.
    small = sum((size + GAP) for size in sizes)
    width = GAP + len(rings) * (max(sizes) + GAP) + len(rings) * (24 * ZOOM + GAP)
    height = small + GAP
    canvas = Canvas(width, height * len(PANELS), PANELS[0])
    for index, colour in enumerate(PANELS):
        top = index * height
        canvas.fill(top, height, colour)
        row = top + GAP
        for place, size in enumerate(sizes):
            for number, ring in enumerate(rings):
                canvas.blend(
                    GAP + number * (max(sizes) + GAP), row, size, bytes(ring[place][2]), 1)
            row += size + GAP
        left = GAP + len(rings) * (max(sizes) + GAP)
        for number, ring in enumerate(rings):
            by_size = {size: bytes(data) for size, _, data in ring}
            column = left + number * (24 * ZOOM + GAP)
            canvas.blend(column, top + GAP, 24, by_size[24], ZOOM)
            canvas.blend(column, top + 2 * GAP + 24 * ZOOM, 16, by_size[16], ZOOM)
    canvas.save(pathlib.Path(target))


if __name__ == "__main__":
    main(*sys.argv[1:])
