# SPDX-License-Identifier: MIT
"""How many and how much there may be, and that the daemon outlives all of it."""

import signal

import pytest

from support import contract, wire
from support.contract import LIMITS_EXCEEDED
from support.peer import BUS
from support.processes import running, stopped
from support.waiting import Late, boottime, thrice, wait_until
from support.wire import Variant


@pytest.mark.flags("--max-controls=5", "--max-holds=7", "--max-holds-per-sender=4")
def test_each_limit_has_a_flag(bus, listener):
    for index in range(5):
        listener.call("SetTitle", str(index), "T")
    listener.heard()
    for method, more in [
        ("SetTitle", ("T",)),
        ("ShowIndicator", ()),
        ("Hold", ("", {})),
        ("StartCountdown", (1,)),
    ]:
        refusal = listener.refusal(method, "one more", *more)
        assert refusal.name == LIMITS_EXCEEDED and "5" in refusal.text
    assert listener.heard() == [] and len(listener.objects()) == 5

    other = bus.connect()
    for _ in range(4):
        listener.call("Hold", "0", "", {})
    # What is refused makes no control either.
    listener.call("Forget", "4")
    assert listener.refusal("Hold", "4", "", {}).name == LIMITS_EXCEEDED
    assert "4" not in listener.objects()
    refusal = listener.refusal("Hold", "0", "", {})
    assert refusal.name == LIMITS_EXCEEDED and "4" in refusal.text
    # The callers of other leases are counted, too.
    lease = {"lease": Variant("s", "none")}
    assert listener.refusal("Hold", "0", "", lease).name == LIMITS_EXCEEDED
    for _ in range(3):
        last = other.call("Hold", "1", "", lease)
    refusal = other.refusal("Hold", "1", "", {})
    assert refusal.name == LIMITS_EXCEEDED and "7" in refusal.text
    other.call("Release", last, "")
    other.call("Hold", "1", "", {})
    assert other.refusal("Hold", "1", "", {}).name == LIMITS_EXCEEDED
    # Those of one that has left are free again.
    listener.call("ReleaseAll", "0")
    other.call("Hold", "1", "", {})


@pytest.mark.flags("--max-controls=2")
def test_a_countdown_of_no_length_needs_a_place(listener):
    listener.call("SetTitle", "a", "A")
    listener.call("SetTitle", "b", "B")
    assert listener.refusal("StartCountdown", "c", 0).name == LIMITS_EXCEEDED
    listener.call("Forget", "a")
    listener.call("StartCountdown", "c", 0)


def ask_in_blocks(peer, requests, size=2000):
    """Makes calls, a block of them in one write; returns all answers."""
    answers = []
    for start in range(0, len(requests), size):
        answers += peer.ask(*requests[start:start + size])
        # Nobody looks at them again.
        peer.messages.clear()
    return answers


def longest_name(index):
    """A name of 255 bytes, nearly all of which take three in a path."""
    return f"{index:05}".ljust(contract.NAME_BYTES, "_")


@pytest.mark.slow
def test_the_largest_state_is_answered(bus, daemon):
    """All that the limits allow: D-Bus has none larger than 64 MiB, and drops who sends one."""
    text, title = "x" * contract.TEXT_BYTES, "x" * contract.TITLE_BYTES
    # Busy but not visible, the title is displayed, too.
    holder = {"application": Variant("s", text), "grace-usec": Variant("t", 10**12)}
    attributes = {
        "title": Variant("s", title), "detail": Variant("s", title), "icon": Variant("s", text),
        "desktop-entry": Variant("s", text), **holder}
    peers = [bus.connect() for _ in range(10)]
    for number, peer in enumerate(peers):
        names = [longest_name(index) for index in range(number * 1000, number * 1000 + 1000)]
        held = ask_in_blocks(peer, [peer.request("Hold", name, "", {}) for name in names])
        ask_in_blocks(peer, [peer.request("Release", answer.body[0], text) for answer in held])
        for answer in (
            *ask_in_blocks(peer, [peer.request("Hold", name, text, attributes) for name in names]),
            *ask_in_blocks(
                peer, [peer.request("ShowIndicatorWithOptions", name, holder) for name in names]
            ),
            *ask_in_blocks(
                peer,
                [
                    peer.countdown_request(
                        name,
                        10**9,
                        indicator=Variant("b", True),
                        clock=Variant("s", "monotonic"),
                        **holder,
                    )
                    for name in names
                ],
            ),
        ):
            assert answer.kind == wire.RETURN, answer.body
    reader = bus.connect()
    assert reader.refusal("SetTitle", "one more", "T").name == LIMITS_EXCEEDED
    assert reader.refusal("Hold", longest_name(0), "", {}).name == LIMITS_EXCEEDED
    answer, = reader.ask(reader.request(
        "GetManagedObjects", signature="", interface=contract.OBJECT_MANAGER))
    assert answer.kind == wire.RETURN
    # Large, and not too large for an array.
    assert 40 << 20 < answer.size < 64 << 20
    state = reader.state(longest_name(9999))
    assert len(state["Holders"]) == 3 and state["DisplayedTitle"] == title
    assert state["LastResult"] == "released: " + text
    # It lives, and serves others.
    reader.call("SetTitle", longest_name(5), "T")
    assert reader.get(longest_name(5), "Title") == "T"
    # All that depends on one peer goes at once.
    peers[0].close()
    wait_until(lambda: len(reader.state(longest_name(0))["Holders"]) == 2, "its hold is gone")


def test_one_that_never_reads_stalls_nobody(bus, daemon):
    """It subscribes to everything, and leaves it to the bus to keep that."""
    deaf = bus.connect()
    deaf.listen()
    client = bus.connect()
    client.call("HideIndicator", "a")
    before = daemon.memory()
    requests = [
        client.request(method, str(index))
        for index in range(1000) for method in ("ShowIndicator", "HideIndicator", "Forget")]
    for _ in range(4):
        for answer in client.ask(*requests):
            assert answer.kind == wire.RETURN
    assert client.objects() == {}
    daemon.wait_until_idle()
    # What it does not take the bus keeps, not the daemon.
    assert daemon.memory() - before < 8 << 20


def test_a_program_that_never_reads(bus, daemon, listener):
    with running(
            "dbus-test-tool", "black-hole", "--session", "--no-read", "--name=org.example.Hole",
            env=bus.environment):
        wait_until(lambda: listener.bus("NameHasOwner", "s", "org.example.Hole"), "it is there")
        for _ in range(200):
            listener.call("ShowIndicator", "a")
            listener.call("HideIndicator", "a")
        listener.call("Forget", "a")


def test_a_caller_that_never_reads_its_answers(bus, daemon, listener):
    """Thousands of answers that nobody takes: others are served, and the daemon does not grow."""
    for index in range(200):
        listener.call("SetTitle", str(index), "x" * 512)
    before = daemon.memory()
    deaf = bus.connect()
    request = deaf.request("GetManagedObjects", signature="", interface=contract.OBJECT_MANAGER)
    deaf.send(*[request] * 60)
    for _ in range(50):
        listener.ping()
    # The calls before this one are all answered by then, or the bus has dropped who made them.
    daemon.wait_until_idle()
    assert daemon.memory() - before < 48 << 20


@pytest.mark.slow
def test_a_bus_that_does_not_read(bus, daemon, listener):
    """While too much waits to be sent, no calls are read; all are answered afterwards, in order."""
    names = [f"c{index}" for index in range(500)]
    listener.ask(*(listener.request("SetTitle", name, "x" * 512) for name in names))
    size = listener.ask(listener.request(
        "GetManagedObjects", signature="", interface=contract.OBJECT_MANAGER))[0].size
    count = (80 << 20) // size
    request = listener.request("GetManagedObjects", signature="", interface=contract.OBJECT_MANAGER)
    before = daemon.memory("VmHWM")
    with daemon.stopped():
        serials = listener.send(*[request] * count)
        listener.bus("GetId")
        with stopped(bus.pid):
            daemon.process.send_signal(signal.SIGCONT)
            daemon.wait_until_idle()
            # The outbox, and what libdbus has of it.
            assert daemon.memory("VmHWM") - before < 56 << 20
    for serial in serials:
        assert listener.answer(serial).size == size
    replies = [m.reply_to for m in listener.messages if m.sender != BUS and m.reply_to]
    assert replies[-count:] == serials


def test_ticks_to_a_bus_that_does_not_read(bus, daemon, listener):
    """Time goes on behind it: ends are told when it reads again, each once."""
    numbers = [
        answer.body[0]
        for answer in listener.ask(
            *(
                listener.request("StartCountdownWithOptions", f"c{index}", 1_500_000, {})
                for index in range(300)
            )
        )
    ]
    with stopped(bus.pid):
        end = boottime() + 1.8
        wait_until(lambda: boottime() > end, "all are over")
    listener.wait_for("Finished", "c299")
    listener.ping()
    finished = [m.body[1] for m in listener.signals if m.member == "Finished"]
    assert sorted(finished) == numbers


@pytest.mark.timing
def test_three_thousand_countdowns(bus, daemon, listener):
    """All end within a moment: each tick and each end arrives, and none twice."""
    def attempt():
        listener.messages.clear()
        names = [f"c{index}" for index in range(3000)]
        numbers = [answer.body[0] for answer in listener.ask(*(
            listener.request("StartCountdown", name, 2) for name in names))]
        listener.wait_for("Finished", names[-1], numbers[-1])
        listener.ping()
        told = {"Tick": [], "Finished": []}
        for message in listener.messages:
            if message.kind == wire.SIGNAL and message.member in told:
                told[message.member].append(tuple(message.body))
        assert sorted(told["Finished"]) == sorted(zip(names, numbers))
        ticks = [
            (name, left, number) for name, number in zip(names, numbers) for left in (1, 2)]
        assert len(told["Tick"]) == len(set(told["Tick"]))
        assert set(told["Tick"]) <= set(ticks)
        if len(told["Tick"]) < len(ticks):
            # One that is late by a whole second gives way to what comes then.
            raise Late(f"{len(ticks) - len(told['Tick'])} ticks are left out")

    thrice(attempt)


def test_a_storm_of_dbus_test_tool(bus, daemon, listener):
    """A tool made to load a bus, with calls that the daemon does not know."""
    for flags in (("--queue=100", "--payload=hello", "--ignore-errors"),
                  ("--no-reply", "--messages-per-conn=100")):
        bus.run(
            "dbus-test-tool", "spam", "--session", f"--dest={contract.NAME}", "--count=2000",
            *flags, status=0, timeout=60)
    listener.ping()
    assert listener.objects() == {}
