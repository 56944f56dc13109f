# SPDX-License-Identifier: MIT
"""--replace: a successor takes the name and the state, and no call is lost meanwhile."""

import pytest

from support import wire
from support.harness import Daemon
from support.waiting import boottime, wait_until


def test_it_takes_the_state_along(bus, daemon, client):
    holder = bus.connect()
    client.call("SetTitle", "a", "t")
    holder.call("Hold", "a", "", {})
    number = client.call("StartCountdown", "a", 60)
    before = client.lasting_objects()
    bus.daemon("--replace")
    assert daemon.wait() == 0
    assert client.lasting_objects() == before
    assert client.get("a", "Countdown") == number
    # Its successor watches the holder.
    holder.close()
    wait_until(lambda: not client.get("a", "Busy"), "the hold has ended")


def test_calls_during_a_hand_over_are_answered_once(bus, daemon, client):
    successor = Daemon(bus, "--replace")
    serials = []

    def call():
        serials.extend(client.send(client.request("SetTitle", f"c{len(serials)}", "t")))

    successor.spawn()
    while daemon.is_alive and len(serials) < 5000:
        call()
        client.pump(0)
    for _ in range(20):
        call()
    for serial in serials:
        assert client.answer(serial).kind == wire.RETURN
    assert daemon.wait() == 0
    successor.wait_until_it_serves()
    answered = [m.reply_to for m in client.messages if m.reply_to in set(serials)]
    assert sorted(answered) == serials
    assert set(client.objects()) == {f"c{index}" for index in range(len(serials))}


@pytest.mark.slow
def test_a_predecessor_that_does_not_let_go(bus, daemon, client):
    client.call("SetTitle", "a", "t")
    successor = Daemon(bus, "--replace")
    with daemon.stopped():
        begin = boottime()
        successor.spawn()
        assert successor.wait() == 1 and boottime() - begin >= 5
        assert str(daemon.pid) in successor.log and successor.log.count("\n") == 1
    assert daemon.wait() == 0
