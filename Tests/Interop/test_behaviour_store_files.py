# SPDX-License-Identifier: MIT
"""The file in which state is kept: what cannot be used, opened or written, and what is others'."""

import os
import pathlib
import shutil
import sqlite3

import pytest

from support.waiting import wait_until
from support.wire import Variant

# Runs a command where it may mount, which nobody else sees.
MOUNTING = ["unshare", "--mount", "--propagation", "private"] if os.getuid() == 0 else [
    "unshare", "--user", "--map-current-user", "--keep-caps", "--mount"]

STATEMENTS = {
    "newer": "PRAGMA user_version = 99", "foreign": "DROP TABLE hold",
    "row": "UPDATE hold SET lease = 'forever'",
    "contradiction": "UPDATE control SET is_working = 0"}


def put_aside(bus):
    """The files that could not be used."""
    return [path for path in (bus.runtime / "busyindicator").glob("*broken*")
            if not path.name.endswith(("-wal", "-shm"))]


def damage(path, how):
    """Makes a file one that the daemon cannot use."""
    if how == "text":
        path.write_text("this is no database\n" * 1000)
    elif how == "cut":
        content = path.read_bytes()
        path.write_bytes(content[:len(content) // 2] + b"\xff" * (len(content) // 2))
    else:
        connection = sqlite3.connect(path)
        connection.execute(STATEMENTS[how])
        connection.commit()
        connection.close()


@pytest.mark.parametrize("how", ["text", "cut", *STATEMENTS])
def test_what_cannot_be_used_is_put_aside(bus, daemon, client, how):
    client.call("SetTitle", "a", "t")
    client.call("Hold", "a", "", {"lease": Variant("s", "none")})
    assert daemon.terminate() == 0
    path = bus.database()
    damage(path, how)
    content = path.read_bytes()
    daemon.start()
    daemon.expect_one_warning("busyindicator")
    aside, = put_aside(bus)
    assert aside.name.startswith(path.name)
    # It is not lost.
    assert aside.read_bytes() == content
    assert client.objects() == {}
    client.call("SetTitle", "b", "kept")
    daemon.kill()
    daemon.start()
    assert client.get("b", "Title") == "kept"


def test_files_of_other_buses_are_left_alone(bus):
    directory = bus.runtime / "busyindicator"
    directory.mkdir(mode=0o755)
    other = directory / "0123456789abcdef0123456789abcdef.db"
    other.write_text("another bus's")
    daemon = bus.daemon()
    bus.connect().call("SetTitle", "a", "t")
    assert daemon.terminate() == 0
    assert other.read_text() == "another bus's"
    # Nobody else may look in.
    assert directory.stat().st_mode & 0o777 == 0o700


def test_without_a_runtime_directory_it_goes_on_in_memory(bus):
    daemon, client = bus.daemon(XDG_RUNTIME_DIR=None), bus.connect()
    client.call("SetTitle", "a", "t")
    assert client.get("a", "Title") == "t"
    daemon.expect_one_warning("XDG_RUNTIME_DIR")
    assert daemon.terminate() == 0
    assert not (bus.runtime / "busyindicator").exists()


@pytest.fixture
def before(daemon, client):
    """A daemon that has kept something, and has ended."""
    client.call("SetTitle", "a", "t")
    assert daemon.terminate() == 0
    return daemon


def check_that_it_tries_again(daemon, client, repair):
    """What is told while its file cannot be had is kept once that can be."""
    daemon.start()
    client.call("SetTitle", "b", "t")
    repair()
    wait_until(lambda: "kept again" in daemon.log, "it has tried again")
    daemon.expect_one_warning("")
    daemon.kill()
    daemon.start()
    assert client.get("b", "Title") == "t"


def test_what_cannot_be_opened_is_waited_for(bus, before, client):
    path = bus.database()
    path.unlink()
    path.with_name(path.name + "-wal").unlink(missing_ok=True)
    path.mkdir()
    check_that_it_tries_again(before, client, path.rmdir)


def test_what_a_stranger_has_locked_is_waited_for(bus, before, client):
    stranger = sqlite3.connect(bus.database(), isolation_level=None)
    stranger.execute("PRAGMA locking_mode = EXCLUSIVE")
    stranger.execute("BEGIN EXCLUSIVE")
    check_that_it_tries_again(before, client, stranger.close)


def test_a_full_disk_that_gets_room_again(bus):
    """The daemon's runtime directory is a small tmpfs of its own."""
    mount = f"mount -t tmpfs -o size=300k,mode=700 none {bus.runtime} && exec \"$@\""
    daemon = bus.daemon(wrapper=[*MOUNTING, "sh", "-c", mount, "sh"])
    client = bus.connect()
    inside = pathlib.Path(f"/proc/{daemon.pid}/root{bus.runtime}")
    client.call("SetTitle", "before", "t")
    with (inside / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError):
        while True:
            filler.write(bytes(4096))
    for index in range(40):
        client.call("SetTitle", f"c{index}", "x" * 500)
    daemon.expect_one_warning("")
    assert client.get("c39", "Title") == "x" * 500
    (inside / "filler").unlink()
    wait_until(lambda: "kept again" in daemon.log, "it has tried again")
    client.call("SetTitle", "after", "t")
    copy = bus.directory / "copy"
    shutil.copytree(inside / "busyindicator", copy)
    connection = sqlite3.connect(next(copy.glob("*.db")))
    assert connection.execute("SELECT count(*) FROM control").fetchone() == (42,)
    connection.close()
