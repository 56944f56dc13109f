# SPDX-License-Identifier: MIT
"""State that survives the process: what was acknowledged is there afterwards, and nothing else."""

import contextlib
import copy
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import time

import pytest

from harness import CONTROL, DAEMON, MOUNTING, NAME, pass_time, wait_until
from wire import DBusError

ROUNDS = int(os.environ.get("KILL_ROUNDS", "30"))


def database(bus):
    """The one file that the daemon keeps."""
    files = list((bus.runtime / "busyindicator").glob("*.db"))
    assert len(files) == 1, files
    return files[0]


def test_all_of_the_state_is_there_again(bus):
    daemon, client = bus.daemon(), bus.client()
    holder = bus.client()
    client.do("SetTitle", "a", "Titel 'é' \"")
    client.do("SetEnabled", "a", False)
    client.do("ShowIndicatorWithOptions", "a", {"application": ("s", "x"), "icon": ("s", "i")})
    client.do("SetProgress", "a", 0.3)
    client.do("SetDetail", "a", "12 of 90")
    none = client.do("Hold", "a", "why", {"lease": ("s", "none")})
    sender = holder.do("Hold", "a", "mine", {})
    process = client.do("Hold", "a", "process", {"pid": ("u", os.getpid())})
    ttl = client.do("Hold", "a", "ttl", {"ttl-usec": ("t", 60_000_000)})
    number = client.do("StartCountdownWithOptions", "b", 90_000_000, {
        "indicator": ("b", True), "clock": ("s", "monotonic"), "interval": ("u", 7)})
    client.do("StartCountdownWithOptions", "c", 5_000_000, {"paused": ("b", True)})
    client.do("StartCountdown", "d", 0)
    before = client.snapshot()
    daemon.kill()
    bus.daemon()
    assert client.snapshot() == before
    assert client.manager("Busy") is True
    assert client.get("c", "Remaining") == 5_000_000
    assert client.do("Hold", "a", "", {}) == ttl + 1, "cookies go on counting"
    assert client.do("StartCountdown", "b", 9) == number + 3, "so do ids"
    for cookie in [none, sender, process, ttl]:
        client.do("Release", cookie, "")


def test_an_orderly_end_keeps_it_too(bus):
    daemon, client = bus.daemon(), bus.client()
    client.do("SetTitle", "a", "t")
    before = client.snapshot()
    assert daemon.stop() == 0
    bus.daemon()
    assert client.snapshot() == before


def test_what_ended_meanwhile_is_told_once(bus):
    daemon, client, subscriber = bus.daemon(), bus.client(), bus.subscriber()
    gone, stays = bus.client(), bus.client()
    child, other = bus.spawn("sleep", "60"), bus.spawn("sleep", "60")
    finished = client.do("StartCountdown", "finished", 1)
    lost = gone.do("StartCountdownWithOptions", "lost", 60_000_000, {"lease": ("s", "sender")})
    gone.do("Hold", "gone", "", {})
    stays.do("Hold", "stays", "", {})
    process = client.do("Hold", "process", "", {"pid": ("u", child.pid)})
    client.do("Hold", "other", "", {"pid": ("u", other.pid)})
    expired = client.do("Hold", "expired", "", {"ttl-usec": ("t", 100_000)})
    client.do("ShowIndicatorFor", "limited", 1)
    subscriber.settle()
    daemon.kill()
    gone.close()
    child.kill()
    child.wait()
    subscriber.seen.clear()
    client.seen.clear()
    pass_time(1.2)
    bus.daemon()
    subscriber.settle()
    client.settle()
    assert sorted(subscriber.events()) == [
        ("Cancelled", "lost", lost, "owner-lost"), ("Finished", "finished", finished)]
    assert sorted(m.arguments for m in client.signals("HoldEnded")) == [
        [process, "owner-lost"], [expired, "expired"]]
    results = {state[CONTROL]["Name"]: (state[CONTROL]["Busy"], state[CONTROL]["LastResult"])
               for state in client.objects().values()}
    assert results == {
        "finished": (False, "finished"), "lost": (False, "owner-lost"), "gone": (False, "owner-lost"),
        "stays": (True, ""), "process": (False, "owner-lost"), "other": (True, ""),
        "expired": (False, "expired"), "limited": (False, "")}
    other.kill()
    wait_until(lambda: not client.get("other", "Busy"), "it is watched again")
    stays.close()
    wait_until(lambda: not client.get("stays", "Busy"), "so is this")


def test_a_process_of_the_same_number_is_another(bus):
    daemon, client = bus.daemon(), bus.client()
    cookie = client.do("Hold", "a", "", {"pid": ("u", os.getpid())})
    daemon.kill()
    connection = sqlite3.connect(database(bus))
    connection.execute("UPDATE hold SET start_time = start_time - 1")
    connection.commit()
    connection.close()
    bus.daemon()
    assert client.wait_signal("HoldEnded").arguments == [cookie, "owner-lost"]
    assert client.get("a", "Busy") is False


def test_time_goes_on_where_it_is(bus):
    daemon, client, subscriber = bus.daemon(), bus.client(), bus.subscriber()
    begun = time.monotonic()
    number = client.do("StartCountdown", "a", 3)
    client.do("ShowIndicatorWithOptions", "grace", {"grace-usec": ("t", 1_000_000)})
    daemon.kill()
    bus.daemon()
    subscriber.wait_signal("Finished", "a", number)
    assert time.monotonic() - begun >= 3
    visible = subscriber.wait(lambda m: m.member == "PropertiesChanged" and m.arguments[1].get("Visible"),
                              "the end of the grace")
    assert visible.time - begun >= 1
    ticks = [m.arguments[1] for m in subscriber.signals("Tick")]
    assert ticks == [3, 2, 1], "none is lost, doubled or out of step"


def test_what_lingers_does_not_linger_anew(bus):
    daemon, client, subscriber = bus.daemon("--linger=3s"), bus.client(), bus.subscriber()
    client.do("StartCountdown", "idle", 0)
    begun = time.monotonic()
    daemon.kill()
    pass_time(1.5)
    started = time.monotonic()
    bus.daemon("--linger=3s")
    removed = subscriber.wait_signal("InterfacesRemoved").time
    assert removed - begun >= 2.9 and removed - started < 3


def test_killed_between_commit_and_answer(bus):
    """strace ends the daemon as it is about to send: the state is safe by then."""
    daemon, client, subscriber = bus.daemon(), bus.client(), bus.subscriber()
    client.do("SetTitle", "a", "before")
    trace = bus.directory / "trace"
    bus.spawn("strace", "-f", "-o", trace, "-e", "trace=sendmsg,epoll_wait",
              "-e", "inject=sendmsg:signal=KILL:when=1", "-p", daemon.pid)
    wait_until(lambda: trace.exists() and "epoll_wait(" in trace.read_text(), "strace has attached")
    daemon.expected_end = True
    serial = client.post("SetTitle", "a", "after")
    with pytest.raises(DBusError) as error:
        client.result(serial)
    assert error.value.name.endswith("NoReply")
    daemon.wait()
    bus.daemon()
    assert client.get("a", "Title") == "after"


@pytest.mark.parametrize("message", [2, 3])
def test_killed_between_answer_and_signals(bus, message):
    daemon, client, subscriber = bus.daemon(), bus.client(), bus.subscriber()
    client.do("SetTitle", "a", "before")
    trace = bus.directory / "trace"
    bus.spawn("strace", "-f", "-o", trace, "-e", "trace=sendmsg,epoll_wait",
              "-e", f"inject=sendmsg:signal=KILL:when={message}", "-p", daemon.pid)
    wait_until(lambda: trace.exists() and "epoll_wait(" in trace.read_text(), "strace has attached")
    daemon.expected_end = True
    number = client.do("StartCountdown", "a", 0)
    daemon.wait()
    bus.daemon()
    state = client.state("a")
    assert (state["LastResult"], state["LastCountdown"]) == ("finished", number)
    subscriber.settle()
    assert len(subscriber.signals("Finished")) <= 1, "a result does not come twice"


def put_aside(bus):
    return sorted(path.name for path in (bus.runtime / "busyindicator").iterdir()
                  if "broken" in path.name and not path.name.endswith(("-wal", "-shm")))


@pytest.mark.parametrize("damage", ["text", "cut", "newer", "foreign", "row", "contradiction"])
def test_a_file_that_cannot_be_used_is_put_aside(bus, damage):
    daemon, client = bus.daemon(), bus.client()
    client.do("SetTitle", "a", "t")
    client.do("Hold", "a", "", {"lease": ("s", "none")})
    daemon.stop()
    path = database(bus)
    if damage == "text":
        path.write_text("this is no database\n" * 1000)
    elif damage == "cut":
        content = path.read_bytes()
        path.write_bytes(content[:len(content) // 2] + b"\xff" * (len(content) // 2))
    else:
        statement = {"newer": "PRAGMA user_version = 99", "foreign": "DROP TABLE hold",
                     "row": "UPDATE hold SET lease = 'forever'",
                     "contradiction": "UPDATE control SET is_working = 0"}[damage]
        connection = sqlite3.connect(path)
        connection.execute(statement)
        connection.commit()
        connection.close()
    content = path.read_bytes()
    daemon = bus.daemon()
    daemon.expected_warnings = 1
    assert len(put_aside(bus)) == 1 and put_aside(bus)[0].startswith(path.name)
    assert "busyindicator" in daemon.warnings()[0]
    assert (path.parent / put_aside(bus)[0]).read_bytes() == content, "it is not lost"
    assert client.objects() == {}
    client.do("SetTitle", "b", "kept")
    daemon.kill()
    bus.daemon()
    assert client.get("b", "Title") == "kept", "the new file is in use"


def test_files_of_other_buses_are_left_alone(bus):
    directory = bus.runtime / "busyindicator"
    directory.mkdir(mode=0o755)
    other = directory / "0123456789abcdef0123456789abcdef.db"
    other.write_text("another bus's")
    daemon, client = bus.daemon(), bus.client()
    client.do("SetTitle", "a", "t")
    daemon.stop()
    assert other.read_text() == "another bus's"
    assert directory.stat().st_mode & 0o777 == 0o700, "nobody else may look in"


def test_on_another_bus_nobody_inherits(bus):
    daemon, client = bus.daemon(), bus.client()
    client.do("Hold", "a", "", {})
    client.do("ShowIndicator", "b")
    bus.stop()
    assert daemon.wait() == 1
    assert "the bus is gone" in daemon.text()
    bus.restart()
    bus.daemon()
    assert bus.client().objects() == {}
    assert len(list((bus.runtime / "busyindicator").glob("*.db"))) == 2


def test_without_a_runtime_directory_it_goes_on_in_memory(bus):
    daemon = bus.daemon(environment={"XDG_RUNTIME_DIR": None})
    daemon.expected_warnings = 1
    client = bus.client()
    client.do("SetTitle", "a", "t")
    assert client.get("a", "Title") == "t"
    assert "XDG_RUNTIME_DIR" in daemon.warnings()[0]
    daemon.stop()
    assert not (bus.runtime / "busyindicator").exists()


def test_a_file_that_cannot_be_opened_is_waited_for(bus):
    daemon, client = bus.daemon(), bus.client()
    client.do("SetTitle", "a", "t")
    daemon.stop()
    path = database(bus)
    path.unlink()
    path.with_name(path.name + "-wal").unlink(missing_ok=True)
    path.mkdir()
    daemon = bus.daemon()
    daemon.expected_warnings = 1
    client.do("SetTitle", "b", "t")
    path.rmdir()
    wait_until(lambda: "kept again" in daemon.text(), "it has tried again")
    daemon.kill()
    bus.daemon()
    assert client.get("b", "Title") == "t"


def test_a_file_that_a_stranger_has_locked_is_waited_for(bus):
    daemon, client = bus.daemon(), bus.client()
    client.do("SetTitle", "a", "t")
    daemon.stop()
    stranger = sqlite3.connect(database(bus), isolation_level=None)
    stranger.execute("PRAGMA locking_mode = EXCLUSIVE")
    stranger.execute("BEGIN EXCLUSIVE")
    daemon = bus.daemon()
    daemon.expected_warnings = 1
    client.do("SetTitle", "b", "t")
    stranger.close()
    wait_until(lambda: "kept again" in daemon.text(), "it has tried again")
    daemon.kill()
    bus.daemon()
    assert client.get("b", "Title") == "t"


def test_a_full_disk_that_gets_room_again(bus):
    """The daemon's runtime directory is a small tmpfs of its own."""
    mount = f"mount -t tmpfs -o size=300k,mode=700 none {bus.runtime} && exec \"$@\""
    daemon = bus.daemon(wrapper=[*MOUNTING, "sh", "-c", mount, "sh"])
    client = bus.client()
    inside = pathlib.Path(f"/proc/{daemon.pid}/root{bus.runtime}")
    client.do("SetTitle", "before", "t")
    with open(inside / "filler", "wb", buffering=0) as filler, pytest.raises(OSError):
        while True:
            filler.write(bytes(4096))
    for index in range(40):
        client.do("SetTitle", f"c{index}", "x" * 500)
    assert daemon.warnings(), daemon.text()
    daemon.expected_warnings = 1
    assert client.get("c39", "Title") == "x" * 500
    (inside / "filler").unlink()
    wait_until(lambda: "kept again" in daemon.text(), "it has tried again")
    client.do("SetTitle", "after", "t")
    copy_of = bus.directory / "copy"
    copy_of.mkdir()
    for file in (inside / "busyindicator").iterdir():
        (copy_of / file.name).write_bytes(file.read_bytes())
    connection = sqlite3.connect(next(copy_of.glob("*.db")))
    assert connection.execute("SELECT count(*) FROM control").fetchone() == (42,)
    connection.close()


def test_replace_takes_the_state_along(bus):
    old, client = bus.daemon(), bus.client()
    holder = bus.client()
    client.do("SetTitle", "a", "t")
    holder.do("Hold", "a", "", {})
    number = client.do("StartCountdown", "a", 60)
    before = client.snapshot()
    new = bus.daemon("--replace")
    assert old.wait() == 0
    assert client.snapshot() == before
    assert client.get("a", "Countdown") == number
    holder.close()
    wait_until(lambda: not client.get("a", "Busy"), "the holder is watched by the new one")
    assert new.process.poll() is None


def test_calls_during_a_hand_over_are_answered_once(bus):
    old, client = bus.daemon(), bus.client()
    serials, names = [], []
    new = bus.daemon("--replace", ready=False)
    while old.process.poll() is None and len(serials) < 5000:
        name = f"c{len(serials)}"
        names.append(name)
        serials.append(client.post("SetTitle", name, "t"))
        client.read(0)
    for _ in range(20):
        names.append(f"c{len(serials)}")
        serials.append(client.post("SetTitle", names[-1], "t"))
    for serial in serials:
        client.result(serial, 15)
    assert old.wait() == 0
    new.wait_ready()
    assert {state[CONTROL]["Name"] for state in client.objects().values()} == set(names)


@pytest.mark.slow
def test_a_predecessor_that_does_not_let_go(bus):
    old = bus.daemon()
    bus.client().do("SetTitle", "a", "t")
    old.send(signal.SIGSTOP)
    begun = time.monotonic()
    new = bus.daemon("--replace", ready=False)
    assert new.wait() == 1 and time.monotonic() - begun >= 5
    assert str(old.pid) in new.text() and new.text().count("\n") == 1
    old.send(signal.SIGCONT)
    assert old.wait() == 0


# A model of what the daemon has acknowledged, and SIGKILL at any instant.

class Model:
    def __init__(self):
        self.controls, self.cookie, self.countdown = {}, 0, 0

    def control(self, name):
        return self.controls.setdefault(name, {
            "Title": "", "Enabled": True, "switch": False, "holds": [], "Countdown": 0,
            "LastResult": "", "LastCountdown": 0})

    def apply(self, call):
        method, name, *rest = call
        if method == "Forget":
            self.controls.pop(name, None)
            return
        if method == "Release":
            for control in self.controls.values():
                if name in control["holds"]:
                    control["holds"].remove(name)
                    control["LastResult"], control["LastCountdown"] = "released", 0
            return
        if method == "HideIndicator" and name not in self.controls:
            return
        if method == "CancelCountdown":
            control = self.controls.get(name)
            if control and control["Countdown"]:
                control["LastResult"], control["LastCountdown"] = "cancelled", control["Countdown"]
                control["Countdown"] = 0
            return
        control = self.control(name)
        if method == "SetTitle":
            control["Title"] = rest[0]
        elif method == "SetEnabled":
            control["Enabled"] = rest[0]
        elif method in ("ShowIndicator", "HideIndicator"):
            control["switch"] = method == "ShowIndicator"
        elif method == "Hold":
            self.cookie += 1
            control["holds"].append(self.cookie)
        elif method == "StartCountdown":
            self.countdown += 1
            if control["Countdown"]:
                control["LastResult"], control["LastCountdown"] = "replaced", control["Countdown"]
            control["Countdown"] = self.countdown

    def random_call(self, generator):
        name = generator.choice("abcdef")
        return generator.choice([
            ("SetTitle", name, f"t{generator.randrange(100)}"), ("ShowIndicator", name),
            ("HideIndicator", name), ("SetEnabled", name, generator.random() < 0.5),
            ("Hold", name, "r", {"lease": ("s", "none")}),
            ("Release", generator.randint(1, max(1, self.cookie)), ""),
            ("StartCountdown", name, 3600), ("CancelCountdown", name), ("Forget", name)])


def seen(client):
    """The daemon's state in the model's terms."""
    result = {}
    for interfaces in client.objects().values():
        state = interfaces[CONTROL]
        control = {key: state[key] for key in ("Title", "Enabled", "Countdown", "LastResult",
                                               "LastCountdown")}
        kinds = [holder["kind"] for holder in state["Holders"]]
        control["switch"] = "switch" in kinds
        control["holds"] = [h["cookie"] for h in state["Holders"] if h["kind"] == "hold"]
        result[state["Name"]] = control
    return result


def test_killed_at_any_instant_nothing_acknowledged_is_lost(bus):
    generator = random.Random(len(bus.kind))
    model, client, subscriber = Model(), bus.client(), bus.subscriber()
    for _ in range(ROUNDS):
        daemon = bus.daemon()
        assert seen(client) == model.controls
        for _ in range(generator.randint(0, 8)):
            call = model.random_call(generator)
            client.result_or_error(client.post(*call))
            model.apply(call)
        # These are under way when it is killed: any number of them, in their order, may have happened.
        calls, future = [], copy.deepcopy(model)
        for _ in range(generator.randint(0, 6)):
            calls.append(future.random_call(generator))
            future.apply(calls[-1])
        serials = client.write(*calls) if calls else []
        until = time.monotonic() + generator.choice([0, 0.0002, 0.0005, 0.001, 0.003])
        while time.monotonic() < until:
            pass
        daemon.kill()
        wait_until(lambda: not client.bus("NameHasOwner", "s", NAME), "the bus knows")
        client.sent()
        answered = [m.reply_serial for m in client.seen
                    if m.reply_serial in serials and not (m.error or "").endswith("NoReply")
                    and not (m.error or "").endswith("ServiceUnknown")]
        possible = [model]
        for call in calls:
            possible.append(copy.deepcopy(possible[-1]))
            possible[-1].apply(call)
        successor = bus.daemon()
        state = seen(client)
        successor.kill()
        wait_until(lambda: not client.bus("NameHasOwner", "s", NAME), "the bus knows")
        matching = [m for m in possible[len(answered):] if m.controls == state]
        assert matching, (calls, answered, model.controls, state)
        with contextlib.closing(sqlite3.connect(database(bus))) as connection:
            counters = connection.execute(
                "SELECT last_cookie, last_countdown FROM counters").fetchone() or (0, 0)
        model = next(m for m in matching if (m.cookie, m.countdown) == counters)
        client.seen.clear()
    subscriber.sent()
    results = [m.arguments[1] for m in subscriber.signals("Finished", "Cancelled")]
    assert len(results) == len(set(results)), "no result comes twice"


def test_two_daemons_do_not_share_a_file(bus):
    daemon = bus.daemon()
    bus.client().do("SetTitle", "a", "t")
    second = subprocess.run([DAEMON], env=bus.environment, capture_output=True, text=True, timeout=20)
    assert second.returncode == 1
    assert second.stderr.count("\n") == 1 and str(daemon.pid) in second.stderr
    assert bus.client().get("a", "Title") == "t"
