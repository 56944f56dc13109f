# SPDX-License-Identifier: MIT
"""A desktop without a screen: a private bus, an X server in memory, the daemon, and a camera.

Everything that is started here is ended here, by its process id.
"""

import os
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "Interop"))
from support.processes import end  # noqa: E402, F401
from support.standins import Session, pass_time, text, wait  # noqa: E402, F401

PICTURES = pathlib.Path(os.environ.get("PICTURES", TESTS.parent / ".build/desktop"))


def bounds(pixels):
    """The box around some points: left, top, right, bottom."""
    across = [x for x, _ in pixels]
    down = [y for _, y in pixels]
    return min(across), min(down), max(across) + 1, max(down) + 1


class Picture:
    """What stood on the screen."""

    def __init__(self, environment):
        data = subprocess.run(
            ["import", "-window", "root", "-depth", "8", "ppm:-"], env=environment, check=True,
            capture_output=True, timeout=30).stdout
        _, size, _, self.pixels = data.split(b"\n", 3)
        self.width, self.height = map(int, size.split())

    def at(self, x, y):
        """The colour of a pixel."""
        return tuple(self.pixels[(y * self.width + x) * 3:][:3])

    def find(self, colour, tolerance=24, box=None):
        """The pixels of about a colour."""
        left, top, right, bottom = box or (0, 0, self.width, self.height)
        found = []
        for y in range(top, bottom):
            row = self.pixels[y * self.width * 3:(y + 1) * self.width * 3]
            for x in range(left, right):
                if all(abs(row[x * 3 + c] - colour[c]) <= tolerance for c in range(3)):
                    found.append((x, y))
        return found

    def difference(self, other):
        """The pixels that another picture has otherwise."""
        if self.pixels == other.pixels:
            return []
        found = []
        for y in range(self.height):
            start, stop = y * self.width * 3, (y + 1) * self.width * 3
            mine, its = self.pixels[start:stop], other.pixels[start:stop]
            if mine != its:
                found += [(x, y) for x in range(self.width)
                          if mine[x * 3:x * 3 + 3] != its[x * 3:x * 3 + 3]]
        return found

    def save(self, name):
        """Leaves the picture for a look."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        target = PICTURES / f"{name}.png"
        header = f"P6\n{self.width} {self.height}\n255\n".encode()
        subprocess.run(
            ["convert", "ppm:-", str(target)], input=header + self.pixels, check=True, timeout=30)
        print(f"  {target}")


class Desktop(Session):
    """A session with an X server."""

    ring = (0x2E, 0x86, 0xE6)
    paused_ring = (0xE0, 0x96, 0x10)

    def __init__(self, *flags, size="800x400"):
        super().__init__(*flags)
        self.size = size
        self.processes = []

    def _begin(self):
        super()._begin()
        self.stack.callback(self._end_all)
        home = self.environment["HOME"]
        for name in ("CONFIG", "CACHE", "DATA"):
            directory = pathlib.Path(home, name.lower())
            directory.mkdir(exist_ok=True)
            self.environment[f"XDG_{name}_HOME"] = str(directory)
        self.environment |= {
            "NO_AT_BRIDGE": "1", "GTK_A11Y": "none", "GSETTINGS_BACKEND": "memory",
            "LANG": "C.UTF-8", "LIBGL_ALWAYS_SOFTWARE": "1", "GDK_BACKEND": "x11"}
        reader, writer = os.pipe()
        self.run("Xvfb", "-displayfd", str(writer), "-screen", "0", self.size + "x24",
                 "-nolisten", "tcp", pass_fds=[writer])
        os.close(writer)
        with os.fdopen(reader) as display:
            self.environment["DISPLAY"] = ":" + display.readline().strip()
        self.x = dict(self.environment)

    def _end_all(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(3)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait(3)

    def run(self, *command, environment=None, **options):
        """Starts a program of the desktop; its output goes to a file beside the session's."""
        log = pathlib.Path(self.environment["HOME"], pathlib.Path(command[0]).name + ".log")
        with open(log, "ab") as output:
            process = subprocess.Popen(
                command, env=environment or self.environment, stdout=output, stderr=output,
                stdin=subprocess.DEVNULL, **options)
        self.processes.append(process)
        return process

    def config(self, name, content):
        """Writes a file below the configuration directory."""
        path = pathlib.Path(self.environment["XDG_CONFIG_HOME"], name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    def wait_for_name(self, name, seconds=15):
        """Waits until a program owns its name."""
        return wait(lambda: self.owner(name), name, seconds)

    def picture(self):
        """What stands on the screen."""
        return Picture(self.x)

    def xdotool(self, *words):
        """Moves, clicks, presses."""
        subprocess.run(
            ["xdotool", *map(str, words)], env=self.x, check=True, timeout=30,
            stdout=subprocess.DEVNULL)

    def away(self):
        """Takes the pointer where nothing is, and lets what it was over settle."""
        self.xdotool("mousemove", self.picture_width() // 2, self.picture_height() - 5)
        pass_time(0.8)

    def picture_width(self):
        return int(self.size.split("x")[0])

    def picture_height(self):
        return int(self.size.split("x")[1])

    def ring_at(self, box=None, colour=None):
        """The middle of the ring, once there is one."""
        def look():
            found = self.picture().find(colour or self.ring, box=box)
            return found if len(found) > 8 else None
        left, top, right, bottom = bounds(wait(look, "ring", 10))
        return (left + right) // 2, (top + bottom) // 2


def check(condition, what):
    """Says what holds; ends with what does not."""
    if not condition:
        raise AssertionError(what)
    print(f"  ok: {what}")


def scene(title):
    """Says what is about to be played."""
    print(title, flush=True)
