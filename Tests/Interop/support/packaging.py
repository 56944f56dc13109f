# SPDX-License-Identifier: MIT
"""What the tests of packaging/ and examples/ share."""

import contextlib
import os
import shutil

from support import contract
from support.harness import BUSYCTL, DAEMON, ROOT, Bus
from support.processes import run

PACKAGING = ROOT / "packaging"
DTD = "/usr/share/xml/dbus-1/introspect.dtd"


def make(*arguments):
    """Runs make on the project's Makefile, whatever make runs this."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    environment.pop("MFLAGS", None)
    run("make", "-s", "-C", ROOT, *arguments, status=0, timeout=60, env=environment)


def link_programs(folder):
    """Puts the programs under test where `make install` shall find them."""
    folder.mkdir()
    for program in (DAEMON, BUSYCTL):
        (folder / program.name).symlink_to(program)
    return folder


def install(tree):
    """Installs all at the place that the files themselves name; the programs are below the tree."""
    programs = link_programs(tree.parent / f"{tree.name}-programs")
    make("install", f"PROGRAMS={programs}", f"DESTDIR={tree}", "PREFIX=")
    for file in (
            tree / "lib/systemd/user/busyindicatord.service",
            tree / f"share/dbus-1/services/{contract.NAME}.service"):
        file.write_text(file.read_text().replace("=/bin/", f"={tree}/bin/"))
    return tree


@contextlib.contextmanager
def session_of(tree, **environment):
    """A session whose bus starts what is installed; without systemd, display, runtime directory."""
    bus = Bus()
    del bus.environment["XDG_RUNTIME_DIR"]
    bus.environment |= environment
    for file in (tree / "share/dbus-1/services").iterdir():
        shutil.copy(file, bus.services)
    with bus:
        yield bus


def call(bus, method, *arguments, status=0):
    """Calls the manager, which starts the daemon; arguments as of busctl."""
    return bus.run(
        "busctl", "--user", "call", contract.NAME, contract.MANAGER, contract.NAME, method,
        *arguments, status=status)
