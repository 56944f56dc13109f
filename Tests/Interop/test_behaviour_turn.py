# SPDX-License-Identifier: MIT
"""The turn: in which order messages leave, and that signals and answers never disagree.

To get several calls into one turn, they are sent while the daemon is stopped.
"""

import contextlib
import random
from unittest.mock import ANY

import pytest

from support import contract, wire
from support.harness import owner
from support.peer import BUS, describe


@contextlib.contextmanager
def one_turn(daemon, *peers):
    """What the peers send in this block, the daemon finds all at once."""
    with daemon.stopped():
        yield
        for peer in peers:
            # The bus handles a peer's messages in order: it has passed all of them on by now.
            peer.bus("GetId")


def in_one_turn(daemon, peer, *requests):
    """Makes calls in one turn; tells what then comes, in the order of arrival."""
    peer.heard()
    with one_turn(daemon, peer):
        serials = peer.send(*requests)
    for serial in serials:
        if not requests[serials.index(serial)].flags & wire.NO_REPLY_EXPECTED:
            peer.answer(serial)
    # The bus's own answer, to one_turn, is not counted.
    return peer.heard(answers=True)


def test_the_order_in_which_messages_leave(daemon, listener):
    request = listener.request
    cookie = listener.call("Hold", "gone", "work", {})
    lost = listener.countdown("gone")
    listener.call("SetTitle", "old", "Before")
    told = in_one_turn(
        daemon, listener,
        request("Forget", "gone"),
        request("ShowIndicator", "new"),
        request("SetTitle", "old", "After"),
        listener.countdown_request("old"),
        request("SetTitle", "newer", "Newer"))
    number = told[3][1]
    assert told[:5] == [("answer",), ("answer",), ("answer",), ("answer", number), ("answer",)]
    assert sorted(told[5:7]) == [("InterfacesAdded", "new"), ("InterfacesAdded", "newer")]
    # The one that is gone changes no more. The manager was busy with it, and is so with another.
    assert told[7] == (
        "PropertiesChanged",
        "old",
        {
            "Title": "After",
            "DisplayedTitle": "After",
            "Countdown": number,
            "CountdownState": "running",
            "CountdownClock": "boottime",
            "Duration": 1000 * 10**6,
            "Deadline": ANY,
        },
        [],
    )
    assert sorted(told[8:10]) == [
        ("Cancelled", "gone", lost, "forgotten"),
        ("HoldEnded", cookie, "forgotten"),
    ]
    assert told[10:] == [("Tick", "old", 1000, number), ("InterfacesRemoved", "gone")]


def test_all_kinds_of_signals_in_one_turn(daemon, listener):
    listener.call("ShowIndicator", "old")
    listener.call("SetTitle", "gone", "T")
    request = listener.request
    told = in_one_turn(
        daemon, listener, listener.countdown_request("old"), request("HideIndicator", "old"),
        request("Forget", "gone"), request("StartCountdown", "new", 0),
        request("SetTitle", "new", "N"))
    number, none = told[0][1], told[3][1]
    assert told[:5] == [
        ("answer", number), ("answer",), ("answer",), ("answer", none), ("answer",)]
    assert [event[:2] for event in told[5:8]] == [
        ("InterfacesAdded", "new"), ("PropertiesChanged", "old"), ("PropertiesChanged", "manager")]
    assert told[8:] == [
        ("Tick", "old", 1000, number), ("Finished", "new", none), ("InterfacesRemoved", "gone")]
    added, removed = (listener.wait_for(*event) for event in (told[5], told[-1]))
    state = wire.plain(added.body[1])[contract.CONTROL]
    assert (state["Title"], state["LastResult"]) == ("N", "finished")
    assert removed.body == [contract.path_of("gone"), [contract.CONTROL]]


def test_the_managers_change_is_the_last(daemon, listener):
    listener.call("SetTitle", "a", "A")
    listener.call("SetTitle", "b", "B")
    told = in_one_turn(
        daemon,
        listener,
        listener.request("ShowIndicator", "b"),
        listener.request("ShowIndicator", "a"),
    )
    assert [event[:2] for event in told[:2]] == [("answer",), ("answer",)]
    assert sorted(event[1] for event in told[2:4]) == ["a", "b"]
    assert told[4:] == [("PropertiesChanged", "manager", {"Busy": True, "Visible": True}, [])]


def test_an_answer_comes_before_what_it_causes(listener):
    listener.heard()
    listener.call("ShowIndicator", "a")
    assert [event[0] for event in listener.heard(answers=True)] == [
        "answer", "InterfacesAdded", "PropertiesChanged"]
    number = listener.countdown("a")
    assert [event[:2] for event in listener.heard(answers=True)] == [
        ("answer", number), ("PropertiesChanged", "a"), ("Tick", "a")]
    listener.call("CancelCountdown", "a")
    assert [event[0] for event in listener.heard(answers=True)] == [
        "answer", "PropertiesChanged", "Cancelled"]
    listener.call("Forget", "a")
    assert [event[0] for event in listener.heard(answers=True)] == [
        "answer", "PropertiesChanged", "InterfacesRemoved"]


def test_a_new_control_comes_with_its_full_state(listener):
    cookie = listener.call("Hold", "a", "work", {"title": wire.Variant("s", "T")})
    added = listener.wait_for("InterfacesAdded", "a")
    path, interfaces = added.body
    assert path == contract.path_of("a")
    assert list(interfaces) == [contract.CONTROL]
    assert {name: value.signature for name, value in interfaces[contract.CONTROL].items()} == {
        name: signature for name, (signature, _) in contract.CONTROL_PROPERTIES.items()}
    told = wire.plain(interfaces[contract.CONTROL])
    assert told == listener.state("a")
    assert told["Title"] == "T" and told["Holders"][0]["cookie"] == cookie


def test_nothing_is_told_when_nothing_changes(listener):
    for method, values in [
            ("SetTitle", ("a", "T")), ("SetDetail", ("a", "D")), ("SetEnabled", ("a", False)),
            ("SetProgress", ("a", 0.5)), ("ShowIndicator", ("a",))]:
        listener.call(method, *values)
        assert listener.heard(), method
        listener.call(method, *values)
        assert listener.heard() == [], method
    listener.call("ShowIndicatorFor", "b", 1000)
    listener.heard()
    for method in ("ShowIndicator", "ShowIndicatorFor", "ShowIndicatorWithOptions"):
        more = {"ShowIndicatorFor": (1000,), "ShowIndicatorWithOptions": ({},)}
        listener.call(method, "b", *more.get(method, ()))
        assert listener.heard() == [], method
    for method in ("HideIndicator", "Forget", "ReleaseAll"):
        listener.call(method, "unknown")
        assert listener.heard() == [], method
    assert "unknown" not in listener.objects()
    listener.call("HideIndicator", "b")
    listener.heard()
    listener.call("HideIndicator", "b")
    listener.call("SetProgress", "b", -1)
    assert listener.heard() == []


def test_what_comes_to_nothing_in_a_turn_is_not_told(daemon, listener):
    listener.call("SetTitle", "a", "A")
    request = listener.request
    told = in_one_turn(
        daemon, listener, request("ShowIndicator", "a"), request("SetTitle", "a", "B"),
        request("SetTitle", "a", "A"), request("HideIndicator", "a"))
    assert told == [("answer",)] * 4
    told = in_one_turn(
        daemon, listener, request("SetTitle", "a", "B"), request("SetTitle", "a", "C")
    )
    assert told == [
        ("answer",), ("answer",),
        ("PropertiesChanged", "a", {"Title": "C", "DisplayedTitle": "C"}, [])]


def test_a_reader_is_told_when_it_stops_being_true(daemon, bus):
    """Show, read, hide in one turn: without a signal behind the answer a spinner stays."""
    panel, application = bus.connect(), bus.connect()
    panel.listen()
    path = contract.path_of("a")
    reads = [
        panel.request("Get", contract.CONTROL, "Busy", signature="ss", path=path,
                      interface=contract.PROPERTIES),
        panel.request("GetAll", contract.CONTROL, signature="s", path=path,
                      interface=contract.PROPERTIES),
        panel.request("GetManagedObjects", signature="", interface=contract.OBJECT_MANAGER)]
    for read in reads:
        panel.heard()
        with one_turn(daemon, application, panel):
            show, = application.send(application.request("ShowIndicator", "a"))
            application.bus("GetId")
            serial, = panel.send(read)
            panel.bus("GetId")
            hide, = application.send(application.request("HideIndicator", "a"))
        answer = panel.answer(serial)
        application.answer(show)
        application.answer(hide)
        assert "True" in repr(wire.plain(answer.body))
        panel.ping()
        behind = [
            describe(m) for m in panel.messages[panel.messages.index(answer) + 1:]
            if m.kind == wire.SIGNAL and m.member == "PropertiesChanged"]
        assert any(
            told[1] == "a" and told[2].get("Busy") is False for told in behind), behind


def test_what_falls_due_while_reading_is_told(daemon, listener):
    """Over, read, shown again in one turn: told of neither, the reader would take it for idle."""
    request = listener.request
    listener.call("SetTitle", "a", "A")
    listener.heard()
    with one_turn(daemon, listener):
        serials = listener.send(
            request("ShowIndicatorWithOptions", "a", {"timeout-usec": wire.Variant("t", 1)}),
            request("GetManagedObjects", signature="", interface=contract.OBJECT_MANAGER),
            request("ShowIndicator", "a"))
    answer = listener.answer(serials[1])
    listener.answer(serials[2])
    listener.ping()
    known = wire.plain(answer.body[0])[contract.path_of("a")][contract.CONTROL]
    for message in listener.messages[listener.messages.index(answer) + 1:]:
        if message.kind == wire.SIGNAL and describe(message)[:2] == ("PropertiesChanged", "a"):
            known.update(describe(message)[2])
    for name in ("Busy", "Visible", "DisplayedTitle", "BusySince"):
        assert known[name] == listener.get("a", name), name


def test_a_thousand_calls_in_one_write(listener):
    calls = []
    for index in range(250):
        name = f"c{index}"
        calls += [
            listener.request("ShowIndicator", name), listener.request("SetTitle", name, str(index)),
            listener.request("Hold", name, "work", {}), listener.request("HideIndicator", name)]
    serials = listener.send(*calls)
    for serial in serials:
        assert listener.answer(serial).kind == wire.RETURN
    replies = [m.reply_to for m in listener.messages if m.reply_to in set(serials)]
    assert replies == serials
    objects = listener.objects()
    assert len(objects) == 250
    for index in range(250):
        assert objects[f"c{index}"]["Title"] == str(index)
        assert [holder["kind"] for holder in objects[f"c{index}"]["Holders"]] == ["hold"]
    # What was told is no more than what a turn ends with.
    listener.heard()
    added = [m for m in listener.signals if m.member == "InterfacesAdded"]
    assert len(added) == 250


def test_a_thousand_switchings_in_one_write(daemon, listener):
    """However many of them a turn has, what was told last is what is true."""
    calls = [
        listener.request(method, "a")
        for _ in range(500)
        for method in ("ShowIndicator", "HideIndicator")
    ]
    for count in (1000, 999):
        begin = len(listener.messages)
        with one_turn(daemon, listener):
            serials = listener.send(*calls[:count])
        for serial in serials:
            assert listener.answer(serial).kind == wire.RETURN
        state = listener.state("a")
        assert state["Busy"] is (count % 2 == 1)
        assert told_state(listener)["a"]["Busy"] is state["Busy"]
        changes = [m for m in listener.messages[begin:] if m.member == "PropertiesChanged"]
        assert len(changes) < count / 4


def test_no_answer_where_none_is_wanted(daemon, listener):
    request = listener.request
    quiet = {"flags": wire.NO_REPLY_EXPECTED}
    told = in_one_turn(
        daemon,
        listener,
        request("SetTitle", "a", "A", **quiet),
        request("SetTitle", "a" * 256, "A", **quiet),
        request(
            "StartCountdownWithOptions", "a", 10**9, {"interval": wire.Variant("u", 0)}, **quiet
        ),
        request("NoSuchMethod", signature="", **quiet),
        request(
            "Get",
            contract.CONTROL,
            "Title",
            signature="ss",
            path=contract.path_of("a"),
            interface=contract.PROPERTIES,
            **quiet,
        ),
        request("Ping", signature="", interface=contract.PEER, **quiet),
        request("SetTitle", "b", "B"),
    )
    # The one that reads ends a turn before it, wanted answer or not.
    assert told == [("InterfacesAdded", "a"), ("answer",), ("InterfacesAdded", "b")]
    assert listener.get("a", "Title") == "A"


@pytest.mark.one_bus
def test_unwanted_answers_are_not_even_sent(bus, daemon, listener):
    """A bus drops them, so only who looks over its shoulder can tell."""
    monitor = bus.connect()
    monitor.result(wire.call(
        BUS, "/org/freedesktop/DBus", BUS + ".Monitoring", "BecomeMonitor", "asu", ([], 0)))
    quiet = {"flags": wire.NO_REPLY_EXPECTED}
    listener.send(
        listener.request("SetTitle", "a", "A", **quiet),
        listener.request("SetTitle", "", "A", **quiet),
        listener.request("Nothing", signature="", **quiet),
    )
    wanted, = listener.send(listener.request("GetControl", "a"))
    listener.answer(wanted)
    monitor.until(
        lambda: [
            m for m in monitor.messages if m.destination == listener.name and m.reply_to == wanted
        ],
        "the wanted answer is seen",
    )
    assert [
        m.reply_to for m in monitor.messages
        if m.sender == owner(listener) and m.kind in (wire.RETURN, wire.ERROR)] == [wanted]


def test_forgotten_and_made_again(daemon, listener):
    """Within a turn it is the same object: only its changes are told."""
    listener.call("SetTitle", "a", "A")
    cookie = listener.call("Hold", "a", "work", {})
    told = in_one_turn(
        daemon, listener, listener.request("Forget", "a"), listener.request("SetDetail", "a", "new")
    )
    assert told == [
        ("answer",), ("answer",),
        ("PropertiesChanged", "a",
         {"Title": "", "Detail": "new", "Busy": False, "Visible": False, "BusySince": 0,
          "DisplayedEnabled": True, **last_result(told)}, ["Holders"]),
        ("PropertiesChanged", "manager", {"Busy": False, "Visible": False}, []),
        ("HoldEnded", cookie, "forgotten")]


def last_result(told):
    """What is told of LastResult, if anything: the new object may know of the old one's end."""
    changes = next(event[2] for event in told if event[:2] == ("PropertiesChanged", "a"))
    return {name: changes[name] for name in ("LastResult",) if name in changes}


def test_made_and_forgotten_unseen(daemon, listener):
    request = listener.request
    told = in_one_turn(
        daemon, listener, request("ShowIndicator", "a"), request("SetTitle", "a", "A"),
        request("Forget", "a"))
    assert told == [("answer",)] * 3
    # Its events are told all the same.
    told = in_one_turn(daemon, listener, listener.countdown_request("a"), request("Forget", "a"))
    number = told[0][1]
    assert told[2:] == [
        ("Tick", "a", 1000, number), ("Cancelled", "a", number, "forgotten")]


def told_state(peer):
    """All controls' properties, as somebody knows them who has listened from the first."""
    known = {}
    for message in peer.signals:
        told = describe(message)
        if told[0] == "InterfacesAdded":
            assert told[1] not in known, f"{told[1]} is added twice"
            known[told[1]] = wire.plain(message.body[1])[contract.CONTROL]
        elif told[0] == "InterfacesRemoved":
            del known[told[1]]
        elif told[0] == "PropertiesChanged" and told[1] != "manager":
            before = known[told[1]]
            for name, value in told[2].items():
                assert before[name] != value, f"{told[1]}.{name} is told to be {value!r} twice"
            before.update(told[2])
    return known


def test_signals_alone_tell_the_whole_state(listener):
    """A thousand random calls, in bursts: who only listens knows what a reader reads."""
    chance = random.Random(20)
    names = list("abcd")
    cookies = []
    makers = [
        lambda: ("ShowIndicator", chance.choice(names)),
        lambda: ("HideIndicator", chance.choice(names)),
        lambda: ("SetTitle", chance.choice(names), chance.choice(["", "A", "B"])),
        lambda: ("SetDetail", chance.choice(names), chance.choice(["", "A", "B"])),
        lambda: ("SetEnabled", chance.choice(names), chance.random() < 0.5),
        lambda: ("SetProgress", chance.choice(names), chance.choice([-1, 0, 0.5, 1])),
        lambda: ("StartCountdown", chance.choice(names), chance.choice([0, 1, 1000])),
        lambda: ("PauseCountdown", chance.choice(names)),
        lambda: ("ResumeCountdown", chance.choice(names)),
        lambda: ("ExtendCountdown", chance.choice(names), chance.choice([-500, 500])),
        lambda: ("CancelCountdown", chance.choice(names)),
        lambda: ("Hold", chance.choice(names), "work", {}),
        lambda: ("Release", chance.choice(cookies or [1]), "done"),
        lambda: ("ReleaseAll", chance.choice(names)),
        lambda: ("Forget", chance.choice(names)),
    ]
    for _ in range(100):
        calls = [chance.choice(makers)() for _ in range(chance.choice([1, 1, 30]))]
        for call, answer in zip(calls, listener.ask(*(listener.request(*call) for call in calls))):
            if call[0] == "Hold":
                cookies.append(answer.body[0])
        # Now and then a read in between.
        if chance.random() < 0.2:
            listener.objects()
    read = listener.objects()
    listener.ping()
    known = told_state(listener)
    for told in (*known.values(), *read.values()):
        # Only read, never told by value.
        del told["Remaining"], told["Holders"]
    assert known == read


def test_the_answers_of_two_peers_are_apart(daemon, bus):
    """Each has its own answers in the order of its calls, and hears nothing else."""
    peers = [bus.connect() for _ in range(20)]
    with one_turn(daemon, *peers):
        serials = [
            peer.send(*(peer.request("SetTitle", f"{index}-{n}", "T") for n in range(10)),
                      peer.request("GetControl", f"{index}-3"))
            for index, peer in enumerate(peers)]
    for index, peer in enumerate(peers):
        for serial in serials[index]:
            peer.answer(serial)
        assert peer.answer(serials[index][-1]).body == [contract.path_of(f"{index}-3")]
        assert [m.reply_to for m in peer.messages if m.sender != BUS] == serials[index]
