# SPDX-License-Identifier: MIT
"""A turn: what leaves in which order, and what does not leave at all."""

import signal

from harness import CONTROL, NAME, PATH, PROPERTIES, pass_time, path_of, wait_until
from wire import NO_REPLY, REPLY, SIGNAL


def kinds(messages):
    """Answers and the daemon's signals, by name, in order."""
    return ["answer" if m.kind == REPLY else m.member for m in messages
            if m.sender != "org.freedesktop.DBus" and m.kind in (REPLY, SIGNAL)]


def stopped(daemon, client, *calls):
    """Lets the daemon find all these calls at once; gives their serials."""
    daemon.send(signal.SIGSTOP)
    serials = client.write(*calls)
    client.sent()
    daemon.send(signal.SIGCONT)
    return serials


def test_the_answer_leaves_first_and_changes_before_events(subscriber):
    subscriber.do("SetTitle", "a", "t")
    subscriber.settle()
    before = len(subscriber.seen)
    subscriber.do("StartCountdownWithOptions", "a", 0, {})
    subscriber.wait_signal("Finished", "a")
    assert kinds(subscriber.seen[before:]) == ["answer", "PropertiesChanged", "Finished"]


def test_the_whole_order_of_a_turn(daemon, subscriber):
    subscriber.do("ShowIndicator", "old")
    subscriber.do("SetTitle", "gone", "t")
    subscriber.settle()
    before = len(subscriber.seen)
    serials = stopped(daemon, subscriber, ("StartCountdown", "old", 9), ("HideIndicator", "old"),
                      ("Forget", "gone"), ("StartCountdown", "new", 0), ("SetTitle", "new", "n"))
    subscriber.wait_signal("InterfacesRemoved")
    came = [m for m in subscriber.seen[before:] if m.sender != "org.freedesktop.DBus"]
    assert [m.reply_serial for m in came[:5]] == serials, "answers in the order of the calls"
    assert [(m.member, m.path) for m in came[5:]] == [
        ("InterfacesAdded", PATH), ("PropertiesChanged", path_of("old")), ("PropertiesChanged", PATH),
        ("Tick", PATH), ("Finished", PATH), ("InterfacesRemoved", PATH)]
    added = came[5].arguments
    assert added[0] == path_of("new") and list(added[1]) == [CONTROL]
    assert added[1][CONTROL]["Title"] == "n" and added[1][CONTROL]["LastResult"] == "finished"
    assert came[-1].arguments == [path_of("gone"), [CONTROL]]


def test_what_does_not_change_is_not_announced(subscriber):
    subscriber.do("ShowIndicator", "a")
    subscriber.do("SetTitle", "a", "t")
    subscriber.settle()
    before = len(subscriber.seen)
    for _ in range(3):
        subscriber.do("ShowIndicator", "a")
        subscriber.do("SetTitle", "a", "t")
        subscriber.do("SetEnabled", "a", True)
        subscriber.do("SetProgress", "a", -1.0)
        subscriber.do("HideIndicator", "unknown")
        subscriber.do("Forget", "unknown")
    subscriber.settle()
    assert set(kinds(subscriber.seen[before:])) == {"answer"}
    assert len(subscriber.objects()) == 1


def test_a_change_names_just_what_changed(subscriber):
    subscriber.do("SetTitle", "a", "t")
    subscriber.settle()
    subscriber.seen.clear()
    subscriber.do("ShowIndicator", "a")
    subscriber.settle()
    (changed, invalidated), = subscriber.changes("a")
    assert set(changed) == {"DisplayedTitle", "DisplayedEnabled", "Busy", "Visible", "BusySince"}
    assert (changed["DisplayedTitle"], changed["DisplayedEnabled"]) == ("", False)
    assert invalidated == ["Holders"]
    assert subscriber.changes() == [({"Busy": True, "Visible": True}, [])]
    subscriber.seen.clear()
    subscriber.do("SetDetail", "a", "12 of 90")
    subscriber.settle()
    assert subscriber.changes("a") == [({"Detail": "12 of 90"}, [])]
    assert subscriber.changes() == []


def test_no_properties_change_with_the_seconds(client, subscriber):
    client.do("StartCountdown", "a", 3)
    subscriber.settle()
    subscriber.seen.clear()
    subscriber.wait_signal("Tick", "a", 1)
    assert {m.member for m in subscriber.signals()} == {"Tick"}


def test_a_reader_is_told_when_what_it_read_is_no_longer_true(daemon, client, subscriber):
    client.do("SetTitle", "a", "t")
    subscriber.settle()
    subscriber.seen.clear()
    daemon.send(signal.SIGSTOP)
    show, read, hide = (client.prepare(*words) for words in (
        client.words("ShowIndicator", "a"),
        (NAME, path_of("a"), PROPERTIES, "Get", "ss", CONTROL, "Visible"),
        client.words("HideIndicator", "a")))
    client.socket.sendall(show[1] + read[1] + hide[1])
    client.sent()
    daemon.send(signal.SIGCONT)
    assert client.result(read[0]) is True
    client.result(hide[0])
    subscriber.settle()
    assert [c[0].get("Visible") for c in subscriber.changes("a")] == [True, False]


def test_show_and_hide_within_a_turn_change_nothing(daemon, client, subscriber):
    client.do("SetTitle", "a", "t")
    subscriber.settle()
    subscriber.seen.clear()
    serials = stopped(daemon, client, ("ShowIndicator", "a"), ("HideIndicator", "a"))
    client.result(serials[-1])
    subscriber.settle()
    assert subscriber.signals() == []


def test_forgotten_and_made_again_it_is_the_same_object(daemon, client, subscriber):
    client.do("SetTitle", "a", "t")
    client.do("ShowIndicator", "a")
    subscriber.settle()
    subscriber.seen.clear()
    serials = stopped(daemon, client, ("Forget", "a"), ("SetTitle", "a", "new"))
    client.result(serials[-1])
    subscriber.settle()
    assert [m.member for m in subscriber.signals() if m.path != PATH] == ["PropertiesChanged"]
    assert not subscriber.signals("InterfacesAdded", "InterfacesRemoved")
    changed, invalidated = subscriber.changes("a")[0]
    assert changed["Title"] == "new" and changed["Busy"] is False and invalidated == ["Holders"]


def test_made_and_forgotten_unseen(daemon, client, subscriber):
    serials = stopped(daemon, client, ("StartCountdown", "a", 9), ("Forget", "a"))
    number = client.result(serials[0])
    client.result(serials[1])
    subscriber.settle()
    assert subscriber.events() == [("Tick", "a", 9, number), ("Cancelled", "a", number, "forgotten")]
    assert [m.member for m in subscriber.signals()] == ["Tick", "Cancelled"]


def test_a_thousand_calls_in_one_write(client, subscriber):
    calls = [("ShowIndicator" if index % 2 == 0 else "HideIndicator", f"c{index % 100 // 2}")
             for index in range(1000)]
    serials = client.write(*calls)
    for serial in serials:
        client.result(serial)
    answers = [m.reply_serial for m in client.seen if m.kind == REPLY and m.reply_serial in set(serials)]
    assert answers == serials
    subscriber.settle()
    assert not any(state[CONTROL]["Busy"] for state in client.objects().values())
    # What an observer makes of the signals is the state.
    seen = {}
    for message in subscriber.signals():
        if message.member == "InterfacesAdded":
            seen[message.arguments[0]] = message.arguments[1][CONTROL]["Busy"]
        elif message.member == "PropertiesChanged" and message.path != PATH:
            seen[message.path] = message.arguments[1].get("Busy", seen[message.path])
    assert len(seen) == 50 and not any(seen.values())


def test_who_wants_no_answer_gets_none(client, subscriber):
    client.post("ShowIndicator", "a", flags=NO_REPLY)
    client.post("StartCountdown", "a", 5, flags=NO_REPLY)
    client.post("GetControl", "unknown", flags=NO_REPLY)
    client.send(NAME, PATH, NAME, "Nonsense", flags=NO_REPLY)
    before = len(client.seen)
    assert client.get("a", "Busy") is True
    client.sent()
    assert len([m for m in client.seen[before:] if m.sender != "org.freedesktop.DBus"]) == 1


def test_peer_is_answered_in_order(daemon, subscriber):
    subscriber.do("SetTitle", "a", "t")
    daemon.send(signal.SIGSTOP)
    show = subscriber.post("ShowIndicator", "a")
    ping = subscriber.send(NAME, PATH, "org.freedesktop.DBus.Peer", "Ping")
    subscriber.sent()
    daemon.send(signal.SIGCONT)
    subscriber.result(ping)
    order = [m.reply_serial for m in subscriber.seen if m.kind == REPLY and m.sender != "org.freedesktop.DBus"]
    assert order[-2:] == [show, ping]


def test_ticks_of_many_countdowns_come_in_one_wake_up(client, subscriber):
    client.write(*[("StartCountdown", f"c{index}", 2) for index in range(100)])
    subscriber.wait(lambda m: len(subscriber.signals("Finished")) == 100, "a hundred ends")
    for index in range(100):
        assert [e[0] for e in subscriber.events() if e[1] == f"c{index}"] == ["Tick", "Tick", "Finished"]


def test_nothing_to_do_is_nothing_done(bus, daemon, client):
    """No system call while nothing is pending, controls with a title and an idle switch included."""
    client.do("SetTitle", "a", "t")
    client.do("ShowIndicator", "a")
    client.settle()
    trace = bus.directory / "trace"
    strace = bus.spawn("strace", "-f", "-o", trace, "-p", daemon.pid)
    wait_until(lambda: trace.exists() and "epoll_wait(" in trace.read_text(), "strace has attached")
    pass_time(5)
    strace.terminate()
    strace.wait()
    lines = [line for line in trace.read_text().splitlines() if "resumed" not in line]
    assert len(lines) <= 2 and "epoll_wait(" in lines[0], lines
