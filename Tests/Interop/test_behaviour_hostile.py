# SPDX-License-Identifier: MIT
"""Broken and mean peers: any message gets an answer or an error, and nobody else suffers."""

import contextlib
import os
import random
import string

import pytest

from support import contract, wire
from support.harness import owner
from support.peer import BUS, Disconnected
from support.waiting import wait_until
from support.wire import Variant

EXTREMES = {
    "y": (0, 255),
    "b": (0, 1),
    "n": (-(2**15), 2**15 - 1),
    "q": (0, 2**16 - 1),
    "i": (-(2**31), -1, 0, 1, 2**31 - 1),
    "u": (0, 1, 2**31, 2**32 - 1),
    "x": (-(2**63), -1, 0, 2**63 - 1),
    "t": (0, 1, 2**62, 2**62 + 1, 2**63, 2**64 - 1),
    "d": (0.0, -0.0, 1.0, -1.0, 1e308, -1e308, 5e-324, float("inf"), float("-inf"), float("nan")),
    "s": (
        "",
        "a",
        "b",
        "x" * 255,
        "x" * 256,
        "x" * 512,
        "x" * 513,
        "a\nb",
        "é",
        "\u202e",
        "\U0010ffff",
        "lease",
    ),
    "o": ("/", "/a", contract.MANAGER, contract.path_of("a")),
    "g": ("", "s", "a{sv}"),
}


class Chance(random.Random):
    """Random messages that the bus lets pass."""

    def signature(self, depth=0):
        """One complete type."""
        kind = self.random()
        if depth > 3 or kind < 0.6:
            return self.choice("ybnqiuxtdsog")
        if kind < 0.7:
            return "v"
        if kind < 0.8:
            return "a" + self.signature(depth + 1)
        if kind < 0.9:
            return "(" + "".join(self.signature(depth + 1) for _ in range(self.randint(1, 3))) + ")"
        return "a{" + self.choice("suo") + self.signature(depth + 1) + "}"

    def value(self, kind, depth=0):
        """A value of a type."""
        if kind[0] == "v":
            inner = self.signature(depth + 1)
            return Variant(inner, self.value(inner, depth + 1))
        if kind[0] == "(":
            return tuple(self.value(inner, depth + 1) for inner in wire.types(kind[1:-1]))
        if kind[:2] == "a{":
            key, inner = wire.types(kind[2:-1])
            return [
                (self.value(key), self.value(inner, depth + 1)) for _ in range(self.randint(0, 3))
            ]
        if kind[0] == "a":
            return [self.value(kind[1:], depth + 1) for _ in range(self.randint(0, 3))]
        return self.choice(EXTREMES[kind])

    def options(self):
        """An `a{sv}` with keys that mean something, and values that may."""
        keys = [
            "title", "detail", "icon", "desktop-entry", "application", "grace-usec", "minimum-usec",
            "timeout-usec", "lease", "pid", "ttl-usec", "exclusive", "notify-after-usec",
            "interval", "indicator", "restart", "clock", "paused", "notify", "x-y", "?"]
        words = [
            "sender", "pid", "ttl", "none", "replace", "keep", "reject", "extend", "boottime",
            "monotonic"]
        found = []
        for _ in range(self.randint(0, 4)):
            kind = self.choice("sutbd")
            value = self.choice(words) if kind == "s" and self.random() < 0.7 else self.value(kind)
            found.append((self.choice(keys), Variant(kind, value)))
        return found

    def call(self, peer):
        """A call of a method that there is, with arguments of its types."""
        method = self.choice(list(contract.METHODS))
        signature = contract.METHODS[method][0]
        values = []
        for kind in wire.types(signature):
            if kind == "a{sv}":
                values.append(self.options())
            elif kind == "s" and not values:
                values.append(self.choice("abcd"))
            elif kind == "u" and self.random() < 0.5:
                # A cookie that there may be.
                values.append(self.randint(0, 40))
            else:
                values.append(self.value(kind))
        return peer.request(method, *values)


def check_sense(peer):
    """What is true of every control, whatever has been done to it."""
    objects = peer.objects()
    for name, state in objects.items():
        assert state["Name"] == name
        assert state["Busy"] == bool(state["Holders"]) == bool(state["BusySince"])
        assert state["DisplayedEnabled"] == (state["Enabled"] and not state["Busy"])
        assert state["DisplayedTitle"] == ("" if state["Visible"] else state["Title"])
        assert (state["Countdown"] > 0) == (state["CountdownState"] != "none")
        assert (state["Countdown"] > 0) == (state["CountdownClock"] != "")
        assert (state["Deadline"] > 0) == (state["CountdownState"] == "running")
        assert state["Remaining"] <= state["Duration"] <= contract.LONGEST
        assert 0 <= state["Progress"] <= 1
    assert peer.manager("Busy") == any(state["Busy"] for state in objects.values())
    assert peer.manager("Visible") == any(state["Visible"] for state in objects.values())


@pytest.mark.parametrize("seed", range(2))
def test_random_calls(bus, daemon, listener, seed):
    """Every call is answered, whatever its numbers; every signal and every state makes sense."""
    chance = Chance(seed)
    peers = [bus.connect() for _ in range(4)]
    for _ in range(40):
        for peer in peers:
            answers = peer.ask(*(chance.call(peer) for _ in range(20)))
            assert all(answer.kind in (wire.RETURN, wire.ERROR) for answer in answers)
            for answer in answers:
                if answer.kind == wire.ERROR:
                    assert answer.error.startswith((contract.ERROR, "org.freedesktop.DBus.Error."))
                    assert len(answer.body[0]) < 1000
        if chance.random() < 0.3:
            # One leaves in the middle of it.
            leaver = peers.pop(0)
            leaver.send(*(chance.call(leaver) for _ in range(5)))
            leaver.close()
            peers.append(bus.connect())
        check_sense(listener)
    listener.ping()
    for message in listener.signals:
        assert message.body is not None
        if message.member == "Cancelled":
            assert message.body[2] in ("cancelled", "replaced", "owner-lost", "forgotten")


@pytest.mark.parametrize("seed", range(2))
def test_random_signatures(bus, daemon, listener, seed):
    """Arguments of any type, to any member of any object."""
    chance = Chance(100 + seed)
    members = [
        *contract.METHODS, "Get", "Set", "GetAll", "GetManagedObjects", "Introspect", "Ping",
        "GetMachineId", "Nothing", "_", "x" * 255]
    interfaces = [
        contract.NAME, contract.CONTROL, contract.PROPERTIES, contract.OBJECT_MANAGER,
        contract.INTROSPECTABLE, contract.PEER, None, "a.b", "org.freedesktop.DBus"]
    paths = [
        "/",
        contract.MANAGER,
        contract.CONTROLS,
        contract.path_of("a"),
        "/_",
        "/" + "x/" * 500 + "x",
    ]
    peer = bus.connect()
    listener.call("SetTitle", "a", "A")
    before = listener.objects()
    requests = []
    for _ in range(1500):
        signature = "".join(chance.signature() for _ in range(chance.choice([0, 1, 1, 2, 3])))
        if len(signature) > 200:
            continue
        requests.append(peer.request(
            chance.choice(members), *(chance.value(kind) for kind in wire.types(signature)),
            signature=signature, path=chance.choice(paths), interface=chance.choice(interfaces)))
    for start in range(0, len(requests), 100):
        for answer in peer.ask(*requests[start:start + 100]):
            assert answer.kind in (wire.RETURN, wire.ERROR)
    check_sense(listener)
    assert "a" in before


def test_nested_as_deep_as_may_be(bus, listener):
    """As deep as a message may be, which is 64 of them; who goes deeper is dropped by the bus."""
    for depth, passes in ((30, True), (60, True), (200, False)):
        value = Variant("s", "text")
        for _ in range(depth):
            value = Variant("v", value)
        peer = bus.connect()
        request = peer.request("ShowIndicatorWithOptions", "a", {"title": value})
        if passes:
            answer, = peer.ask(request)
            assert answer.error == contract.INVALID_ARGS
            peer.call("ShowIndicatorWithOptions", "a", {"x-title": value})
        else:
            peer.send(request)
            with pytest.raises((Disconnected, OSError)):
                while True:
                    peer.ping()
    arrays = "a" * 32 + "s"
    nested = ["text"]
    for _ in range(31):
        nested = [nested]
    peer = bus.connect()
    peer.call("ShowIndicatorWithOptions", "a", {"x-deep": Variant(arrays, nested)})
    assert listener.get("a", "Busy")


def test_large_texts(bus, daemon, listener):
    """Megabytes where bytes are meant: refused, and the refusal is short."""
    huge = "é" * (1 << 20)
    before = daemon.memory("VmHWM")
    for method, values in [
            ("ShowIndicator", (huge,)), ("SetTitle", ("a", huge)), ("SetDetail", ("a", huge)),
            ("Hold", ("a", huge, {})), ("GetControl", (huge,)),
            ("Hold", ("a", "", {"application": Variant("s", huge)})),
            ("Hold", ("a", "", {"lease": Variant("s", huge)})),
            ("ShowIndicatorWithOptions", ("a", {huge: Variant("s", "")})),
            ("ShowIndicatorWithOptions", ("a", {"title": Variant("ay", bytes(1 << 20))})),
            ("ShowIndicatorWithOptions", ("a", [(f"k{n}", Variant("b", True)) for n in range(1000)])),
            ("Release", (1, huge))]:
        refusal = listener.refusal(method, *values)
        assert refusal.name in (contract.INVALID_ARGS, contract.INVALID_NAME, contract.NO_SUCH_HOLD)
        assert len(refusal.text) < 1000
    # One that is passed over may be large.
    listener.call("Hold", "a", "", {"x-many": Variant("as", ["x" * 100] * 10_000)})
    listener.call("ShowIndicatorWithOptions", "a", {"x-data": Variant("ay", bytes(4 << 20))})
    assert daemon.memory("VmHWM") - before < 48 << 20


def test_descriptors_that_nobody_asked_for(bus, daemon, listener):
    """They come with a message, and go with it."""
    listener.call("ShowIndicator", "a")
    before = daemon.descriptors()
    with open("/dev/null", "rb") as null:
        for count in (1, 8):
            for method, signature, values in [
                    ("ShowIndicator", "sh", ("a", 0)), ("ShowIndicator", "s", ("a",)),
                    ("ShowIndicatorWithOptions", "sa{sv}", ("a", {"x-fd": Variant("h", 0)})),
                    ("Nothing", "h", (0,))]:
                message = listener.request(method, *values, signature=signature)
                message.fd_count = count
                serial, = listener.send(message, fds=[null.fileno()] * count)
                listener.answer(serial)
    wait_until(lambda: daemon.descriptors() == before, "none of them is left open")


def test_signals_that_others_forge(bus, daemon, listener):
    """What the bus tells, only the bus tells."""
    holder, liar = bus.connect(), bus.connect()
    cookie = holder.call("Hold", "a", "", {})
    liar.listen()
    target = owner(listener)

    def forged(member, signature, *values, interface=BUS, path="/org/freedesktop/DBus"):
        return [wire.signal(to, path, interface, member, signature, values) for to in (None, target)]

    liar.send(
        *forged("NameOwnerChanged", "sss", holder.name, holder.name, ""),
        *forged("NameLost", "s", contract.NAME),
        *forged("NameAcquired", "s", contract.NAME),
        *forged("Tick", "suu", "a", 1, 1, interface=contract.NAME, path=contract.MANAGER),
        *forged("PropertiesChanged", "sa{sv}as", contract.CONTROL, {}, [],
                interface=contract.PROPERTIES, path=contract.path_of("a")),
        *forged("ShowIndicator", "s", "b", interface=contract.NAME, path=contract.MANAGER),
        *forged("HideIndicator", "u", 1, interface=contract.NAME, path=contract.MANAGER))
    liar.ping()
    listener.ping()
    assert [told["cookie"] for told in listener.state("a")["Holders"]] == [cookie]
    assert list(listener.objects()) == ["a"]


def test_answers_that_nobody_waits_for(bus, daemon, listener):
    """Not even when they bear the number of a call that the daemon has made."""
    listener.call("ShowIndicator", "a")
    liar = bus.connect()
    target = owner(listener)
    messages = []
    for serial in range(1, 200):
        messages.append(wire.Message(wire.RETURN, reply_to=serial, destination=target))
        messages.append(
            wire.Message(
                wire.RETURN,
                reply_to=serial,
                destination=target,
                signature="b",
                data=wire.marshal("b", (False,)),
            )
        )
        messages.append(wire.Message(
            wire.ERROR, reply_to=serial, destination=target, error="org.example.Error"))
    liar.send(*messages)
    liar.ping()
    cookie = listener.call("Hold", "a", "", {})
    listener.ping()
    assert cookie in [told["cookie"] for told in listener.state("a")["Holders"]]


def broken_messages(peer):
    """Bytes that are no message, by what is wrong with them."""
    good = peer.request("ShowIndicator", "a").encode(1000)
    yield "no protocol at all", b"GET / HTTP/1.1\r\n\r\n" * 10
    yield "zeroes", bytes(1000)
    yield "another version", good[:3] + b"\x02" + good[4:]
    yield "no kind", good[:1] + b"\0" + good[2:]
    yield "an unknown byte order", b"x" + good[1:]
    yield "a body of four gigabytes", good[:4] + b"\xff\xff\xff\xff" + good[8:]
    yield "a serial of none", good[:8] + bytes(4) + good[12:]
    text = wire.call(
        contract.NAME, contract.MANAGER, contract.NAME, "ShowIndicator", "s", (b"\xff\xfe",)
    )
    yield "a text that is no UTF-8", text.encode(1000)
    text = wire.call(
        contract.NAME, contract.MANAGER, contract.NAME, "ShowIndicator", "s", (b"a\0b",)
    )
    yield "a text with a NUL in it", text.encode(1000)
    yield "a path that is none", peer.request("Ping", signature="", path="//").encode(1000)
    yield "a member that is none", peer.request("9", signature="").encode(1000)
    flag = wire.call(contract.NAME, contract.MANAGER, contract.NAME, "SetEnabled", "su", ("a", 2))
    flag.signature = "sb"
    yield "a boolean of two", flag.encode(1000)
    short = peer.request("SetTitle", "a", "T")
    short.data = short.data[:-3]
    yield "a body that is too short", short.encode(1000)
    yield "the interface of libdbus itself", wire.signal(
        None, "/a", "org.freedesktop.DBus.Local", "Disconnected").encode(1000)
    yield "the path of libdbus itself", wire.signal(
        None, "/org/freedesktop/DBus/Local", "a.b", "Disconnected").encode(1000)


def test_what_is_no_message(bus, daemon, listener):
    """The bus drops who sends it; the daemon and all others go on."""
    listener.call("SetTitle", "a", "A")
    for what, data in broken_messages(listener):
        broken = bus.connect()
        with contextlib.suppress(OSError):
            broken.send_bytes(data)
        broken.close()
        listener.ping()
        assert listener.get("a", "Title") == "A", what
    assert list(listener.objects()) == ["a"]


def test_messages_of_its_own_signals(bus, daemon, listener):
    """libdbus reserves an interface and a path, with which a peer could end others that use it."""
    target = owner(listener)
    for path, interface in (
            ("/a", "org.freedesktop.DBus.Local"), ("/org/freedesktop/DBus/Local", "a.b"),
            ("/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local")):
        for message in (
                wire.signal(target, path, interface, "Disconnected"),
                wire.call(target, path, interface, "Disconnected")):
            liar = bus.connect()
            with contextlib.suppress(Disconnected, OSError):
                liar.send(message)
                liar.bus("GetId")
            listener.ping()
    assert daemon.is_alive


def test_the_other_byte_order(bus, listener):
    """A caller of another architecture, or through a tunnel from one."""
    peer = bus.connect()
    body = wire.Writer(big_endian=True)
    body.write_all(
        "sta{sv}",
        ("ä", 1_000_000_000, {"title": Variant("s", "Grüße"), "paused": Variant("b", True)}),
    )
    head = wire.Writer(big_endian=True)
    head.write_all("yyyyuu", (ord("B"), wire.CALL, 0, 1, len(body.data), 77))
    head.write("a(yv)", [
        (1, Variant("o", contract.MANAGER)), (2, Variant("s", contract.NAME)),
        (3, Variant("s", "StartCountdownWithOptions")), (6, Variant("s", contract.NAME)),
        (8, Variant("g", "sta{sv}"))])
    head.align(8)
    peer.send_bytes(bytes(head.data + body.data))
    answer = peer.answer(77)
    assert answer.body == [1]
    state = listener.state("ä")
    assert (state["Title"], state["Duration"], state["CountdownState"]) == (
        "Grüße",
        10**9,
        "paused",
    )


def test_flags_and_fields_of_the_future(bus, listener):
    """Flags and header fields that nobody knows yet are passed over."""
    listener.call("SetTitle", "a", "A")
    for flags in (4, 8, 0xf8 | 4):
        assert listener.call("GetControl", "a", flags=flags) == contract.path_of("a")
    peer = bus.connect()
    body = wire.marshal("s", ("a",))
    head = wire.Writer()
    head.write_all("yyyyuu", (ord("l"), wire.CALL, 0, 1, len(body), 77))
    head.write(
        "a(yv)",
        [
            (200, Variant("s", "future")),
            (1, Variant("o", contract.MANAGER)),
            (3, Variant("s", "GetControl")),
            (6, Variant("s", contract.NAME)),
            (8, Variant("g", "s")),
            (201, Variant("(uu)", (1, 2))),
        ],
    )
    head.align(8)
    peer.send_bytes(bytes(head.data) + body)
    assert peer.answer(77).body == [contract.path_of("a")]


def test_a_flood_leaves_nothing_behind(bus, daemon, listener):
    """Ten thousand calls that make and forget: it is no larger afterwards."""
    names = [
        "".join(random.Random(index).choices(string.printable[:90], k=60)) for index in range(50)
    ]

    def flood(rounds):
        for _ in range(rounds):
            requests = []
            for name in names:
                requests += [
                    listener.request("Hold", name, "x" * 200, {"title": Variant("s", "x" * 500)}),
                    listener.request("StartCountdown", name, 100), listener.request("Forget", name)]
            listener.ask(*requests)
            listener.messages.clear()

    flood(10)
    listener.ping()
    before = daemon.memory()
    flood(40)
    listener.ping()
    assert listener.objects() == {}
    assert daemon.memory() - before < 4 << 20


def test_peers_that_come_and_go(bus, daemon, listener):
    """Hundreds that call and do not wait for what comes of it."""
    chance = Chance(7)
    for _ in range(150):
        peer = bus.connect()
        peer.send(*(chance.call(peer) for _ in range(10)))
        peer.close()
    check_sense(listener)


def test_its_own_process_as_a_lease(bus, daemon, listener):
    """The daemon may be asked to hold for itself, and for the caller's parent."""
    for pid in (daemon.pid, os.getppid()):
        listener.call("Hold", "a", "", {"pid": Variant("u", pid)})
    assert len(listener.state("a")["Holders"]) == 2
