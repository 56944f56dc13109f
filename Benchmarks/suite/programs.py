# SPDX-License-Identifier: MIT
"""Builds what is measured and what it is measured against."""

import os
import shutil
import subprocess
from pathlib import Path

from .place import HERE, Failure, say

C_PROGRAMS = {
    "load": (["load.c", "wire.c"], []),
    "spawn": (["spawn.c"], []),
    "libdbus-service": (["libdbus-service.c"], ["dbus-1"]),
    "tick-sender": (["tick-sender.c"], ["dbus-1"]),
    "sdbus-service": (["sdbus-service.c"], ["libsystemd"]),
    "gdbus-service": (["gdbus-service.c"], ["gio-2.0"]),
}
SWIFT_FLAGS = [
    "-O", "-wmo", "-swift-version", "6", "-package-name", "busyindicatord",
    "-enable-upcoming-feature", "ExistentialAny",
    "-enable-upcoming-feature", "MemberImportVisibility",
    "-enable-upcoming-feature", "InternalImportsByDefault",
]


def _run(command):
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{command[0]} fails:\n{done.stdout}{done.stderr}")
    return done.stdout


def _is_newer(target, sources):
    return target.exists() and all(
        target.stat().st_mtime > source.stat().st_mtime for source in sources)


class Programs:
    """Where the programs are."""

    def __init__(self, root, build, daemon, busyctl):
        self.root, self.build = root, build
        self.build.mkdir(parents=True, exist_ok=True)
        self.daemon = self._stripped(daemon, "busyindicatord")
        self.busyctl = self._stripped(busyctl, "busyctl")
        self._build_c()
        self._build_core()

    def __truediv__(self, name):
        return self.build / name

    # Measured is what is installed: without its symbols.
    def _stripped(self, program, name):
        if not Path(program).exists():
            return None
        # Not the name of a program that somebody may run besides.
        target = self.build / "stripped" / name
        target.parent.mkdir(exist_ok=True)
        _run(["strip", "-o", target, program])
        return target

    def _build_c(self):
        flags = ["-std=gnu11", "-O2", "-g", "-Wall", "-Wextra"]
        for name, (sources, packages) in C_PROGRAMS.items():
            paths = [HERE / "c" / source for source in sources]
            if _is_newer(self.build / name, [*paths, HERE / "c" / "wire.h"]):
                continue
            libraries = []
            if packages:
                libraries = _run(["pkg-config", "--cflags", "--libs", *packages]).split()
            _run(["gcc", *flags, "-o", self.build / name, *paths, *libraries])

    def _build_core(self):
        source = HERE / "core" / "core.cpp"
        target = self.build / "core-cpp"
        if not _is_newer(target, [source]):
            _run(["g++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-o", target, source])
        sources = sorted((self.root / "Sources" / "BusyIndicatorCore").rglob("*.swift"))
        main = HERE / "core" / "main.swift"
        target = self.build / "core-swift"
        if _is_newer(target, [*sources, main]):
            return
        say("compiling the core for its own benchmark")
        swift = os.environ.get("SWIFTC") or shutil.which("swiftc") or "swiftc"
        module = "BusyIndicatorCore"
        _run([swift, *SWIFT_FLAGS, "-enable-default-cmo", "-parse-as-library", "-emit-module",
              "-module-name", module, "-emit-module-path",
              self.build / f"{module}.swiftmodule", "-c", "-o", self.build / "core.o", *sources])
        _run([swift, *SWIFT_FLAGS, "-static-stdlib", "-I", self.build, "-o", target, main,
              self.build / "core.o"])
