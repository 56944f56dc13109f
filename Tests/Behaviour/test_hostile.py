# SPDX-License-Identifier: MIT
"""Peers that send what no library would, never read, or come by the thousand."""

import random

import pytest

from harness import CONTROL, NAME, PATH, STANDARD, path_of, wait_until
from wire import ERROR, REPLY, SIGNAL, encode, split

TYPES = ["y", "b", "n", "q", "i", "u", "x", "t", "d", "s", "o", "g", "v", "as", "a{sv}", "(si)", "aay",
         "a{oa{sa{sv}}}", "ai", "av"]


def value_of(kind, generator):
    first = kind[0]
    if first in "ybnqiuxtd":
        top = {"y": 255, "b": 1, "n": 2**15 - 1, "q": 2**16 - 1, "i": 2**31 - 1, "u": 2**32 - 1,
               "x": 2**63 - 1, "t": 2**64 - 1, "d": 1e308}[first]
        low = -top - 1 if first in "nix" else 0
        return generator.choice([low, 0, 1, top]) if first != "d" else generator.choice(
            [0.0, float("nan"), float("inf"), -1e308])
    if first == "s":
        return generator.choice(["", "a", "x" * 300, "é\u202e\x1b[2J", "x-y"])
    if first == "o":
        return generator.choice(["/", "/a/b", path_of("a")])
    if first == "g":
        return generator.choice(["", "s", "a{sv}"])
    if first == "v":
        inner = generator.choice(["s", "u", "t", "b", "as", "i"])
        return (inner, value_of(inner, generator))
    if kind == "(si)":
        return (value_of("s", generator), value_of("i", generator))
    if kind == "a{sv}":
        keys = ["title", "pid", "ttl-usec", "lease", "grace-usec", "interval", "restart", "nonsense"]
        return [(generator.choice(keys), value_of("v", generator))
                for _ in range(generator.randrange(4))]
    if kind == "a{oa{sa{sv}}}":
        return []
    return [value_of(kind[1:], generator) for _ in range(generator.randrange(3))]


@pytest.mark.parametrize("seed", range(4))
def test_any_message_is_answered(bus, daemon, client, seed):
    """Any method, interface and path with any arguments: an answer or an error, never silence."""
    generator = random.Random(seed)
    client.do("SetTitle", "a", "t")
    members = [*client.SIGNATURES, "Get", "GetAll", "Set", "Introspect", "Ping", "GetManagedObjects",
               "GetMachineId", "Nonsense"]
    interfaces = [NAME, CONTROL, None, "org.freedesktop.DBus.Properties", "org.freedesktop.DBus.Peer",
                  "org.freedesktop.DBus.ObjectManager", "org.freedesktop.DBus.Introspectable"]
    paths = [PATH, path_of("a"), path_of("b"), PATH + "/control", "/", "/org", "/nothing"]
    for _ in range(400):
        member = generator.choice(members)
        known = client.SIGNATURES.get(member)
        if known and generator.random() < 0.7:
            kinds = split(known)
        else:
            kinds = [generator.choice(TYPES) for _ in range(generator.randrange(4))]
        arguments = [value_of(kind, generator) for kind in kinds]
        serial = client.send(NAME, generator.choice(paths), generator.choice(interfaces), member,
                             "".join(kinds), *arguments)
        client.result_or_error(serial)
    client.objects()


def test_signals_errors_and_answers_to_nothing_are_ignored(bus, daemon, client):
    peer = bus.client()
    for kind, fields in [
        (SIGNAL, {"path": PATH, "interface": NAME, "member": "Tick"}),
        (SIGNAL, {"path": "/org/freedesktop/DBus", "interface": "org.freedesktop.DBus",
                  "member": "NameLost"}),
        (REPLY, {"reply_serial": 1}), (REPLY, {"reply_serial": 2**32 - 1}),
        (ERROR, {"reply_serial": 3, "error": "a.b.C"}),
    ]:
        for serial in range(1, 12):
            peer.serial += 1
            if "reply_serial" in fields:
                fields = {**fields, "reply_serial": serial}
            arguments = (NAME,) if kind == SIGNAL else ()
            peer.socket.sendall(encode(kind, peer.serial, {**fields, "destination": NAME},
                                       "s" if arguments else "", arguments))
    peer.sent()
    client.settle()
    client.do("Hold", "a", "", {})
    assert client.get("a", "Busy") is True


def test_a_hostile_option_costs_nothing(bus, daemon, client):
    """A variant of a million elements, a thousand keys, a name of a megabyte."""
    for options in [{"title": ("ay", [0] * 1_000_000)}, {"x-big": ("as", ["x" * 100] * 10_000)},
                    [(f"x-{n}", ("b", True)) for n in range(1000)],
                    [(f"k{n}", ("b", True)) for n in range(1000)]]:
        client.result_or_error(client.post("Hold", "a", "", options))
    assert client.result_or_error(client.post("ShowIndicator", "n" * 1_000_000)).endswith("InvalidName")
    assert client.result_or_error(client.post("SetTitle", "a", "t" * 10_000_000)) == (
        STANDARD + "InvalidArgs")
    client.settle()


def test_a_peer_that_never_reads_stalls_nobody(bus, daemon, client):
    """It hears every signal and takes none; the bus keeps what it does not take, not the daemon."""
    deaf = bus.client(receive_buffer=4096)
    deaf.match(f"type='signal',sender='{NAME}'")
    before = resident(daemon)
    for index in range(3000):
        client.do("SetTitle", "a", f"{index}" + "t" * 400)
    client.do("ShowIndicator", "a")
    assert client.get("a", "Busy") is True
    assert resident(daemon) - before < 8_000


def resident(daemon):
    """In KiB."""
    with open(f"/proc/{daemon.pid}/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1])


def test_a_caller_that_never_reads_its_answers(bus, daemon, client):
    deaf = bus.client(receive_buffer=4096)
    for index in range(200):
        client.do("SetTitle", f"c{index}", "t" * 500)
    for _ in range(80):
        deaf.send(NAME, PATH, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
    client.settle()
    client.do("ShowIndicator", "a")
    assert client.get("a", "Busy") is True
    deaf.close()
    client.settle()


def test_peers_that_come_and_go(bus, daemon, client):
    before = daemon.descriptors()
    for _ in range(300):
        with bus.client() as peer:
            peer.post("Hold", "a", "", {})
            peer.post("ShowIndicatorFor", "b", 60)
    wait_until(lambda: not client.get("a", "Busy"), "all of them have gone", 20)
    assert daemon.descriptors() == before


def test_names_that_differ_only_by_how_they_are_written(client):
    """To Swift's == an accent written apart is the same letter; on the bus they are two controls."""
    composed, apart = "caf\u00e9", "cafe\u0301"
    client.do("SetTitle", composed, "one")
    client.do("SetTitle", apart, "two")
    assert client.get(composed, "Title") == "one" and client.get(apart, "Title") == "two"
    assert len(client.objects()) == 2
    client.do("SetTitle", "t", composed)
    client.do("SetTitle", "t", apart)
    assert client.get("t", "Title").encode() == apart.encode()


@pytest.mark.slow
def test_the_largest_answer_that_the_limits_allow(bus):
    """Past 64 MiB in an array the bus drops the sender."""
    daemon, client = bus.daemon(), bus.client()
    long = {"icon": ("s", "i" * 256), "desktop-entry": ("s", "e" * 256), "detail": ("s", "d" * 512),
            "application": ("s", "a" * 256), "lease": ("s", "none"), "title": ("s", "t" * 512)}
    peers = [bus.client() for _ in range(10)]
    number = 0
    for peer in peers:
        for _ in range(10):
            calls = []
            for _ in range(100):
                name = f"{number:05}" + "\u00e9" * 125
                calls.append(("Hold", name, "r" * 256, long))
                number += 1
            for serial in peer.write(*calls):
                peer.result(serial, 60)
            peer.seen.clear()
    assert client.refused("Hold", "x", "", {}) == STANDARD + "LimitsExceeded"
    assert client.refused("ShowIndicator", "x") == STANDARD + "LimitsExceeded"
    serial = client.send(NAME, PATH, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
    reply = client.wait(lambda m: m.reply_serial == serial and m.kind in (REPLY, ERROR), "an answer", 60)
    assert reply.kind == REPLY and len(reply.arguments[0]) == 10_000
    assert reply.size < 64 << 20
    client.seen.clear()
    client.settle()
    assert daemon.process.poll() is None
