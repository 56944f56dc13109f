# SPDX-License-Identifier: MIT
"""A peer of the bus that keeps everything that it receives, in the order of arrival.

Answers to its own calls stand in the same list as the signals that it has asked for, so a test can
see what came before what. It reads only while a test waits for something.
"""

import array
import os
import select
import socket
import time

from support import contract, wire
from support.waiting import DEADLINE, boottime

BUS = "org.freedesktop.DBus"


class Refused(Exception):
    """The error that came for an answer."""

    def __init__(self, name, text):
        super().__init__(f"{name}: {text}")
        self.name = name
        self.text = text


class Disconnected(Exception):
    """The bus has closed the connection."""


class Peer:
    """A connection that has said Hello; `name` is what the bus calls it."""

    def __init__(self, address):
        self.messages = []
        self._answers = {}
        self._serial = 0
        self._buffer = bytearray()
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(DEADLINE)
        # select(2) knows no more than 1024 descriptors.
        self._readable = select.poll()
        self._readable.register(self.socket, select.POLLIN)
        try:
            self.socket.connect(address.removeprefix("unix:path="))
            self._authenticate()
            self.name = self.bus("Hello")
        except BaseException:
            self.socket.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Leaves the bus, at once and without a word."""
        self.socket.close()

    def _authenticate(self):
        identity = str(os.getuid()).encode().hex()
        self.socket.sendall(f"\0AUTH EXTERNAL {identity}\r\n".encode())
        self._expect("OK ")
        self.socket.sendall(b"NEGOTIATE_UNIX_FD\r\n")
        self._expect("AGREE_UNIX_FD")
        self.socket.sendall(b"BEGIN\r\n")

    def _expect(self, word):
        line = b""
        while not line.endswith(b"\r\n"):
            byte = self.socket.recv(1)
            if not byte:
                raise Disconnected("during the authentication")
            line += byte
        assert line.decode().startswith(word), line

    # Sending

    def send(self, *messages, fds=()):
        """Sends messages in one write, and gives their serials."""
        data = bytearray()
        serials = []
        for message in messages:
            self._serial += 1
            serials.append(self._serial)
            data += message.encode(self._serial)
        self.send_bytes(data, fds)
        return serials

    def send_bytes(self, data, fds=()):
        """Sends bytes, which need not be messages."""
        view = memoryview(data)
        if fds:
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))
            view = view[self.socket.sendmsg([view], [rights]):]
        self.socket.sendall(view)

    # Receiving

    def pump(self, seconds):
        """Reads what has come, or waits for that so long; says whether something came."""
        if not self._readable.poll(max(0, seconds) * 1000):
            return False
        chunk = self.socket.recv(1 << 20)
        when = boottime()
        if not chunk:
            raise Disconnected
        self._buffer += chunk
        start = 0
        while len(self._buffer) - start >= 16:
            end = start + wire.length_of(self._buffer[start:start + 16])
            if len(self._buffer) < end:
                break
            self._keep(wire.decode(bytes(self._buffer[start:end]), when))
            start = end
        del self._buffer[:start]
        return True

    def _keep(self, message):
        self.messages.append(message)
        if message.reply_to:
            self._answers[message.reply_to] = message

    def until(self, condition, what, seconds=DEADLINE):
        """Reads until a condition holds, and returns what it gave."""
        end = time.monotonic() + seconds
        while not (value := condition()):
            rest = end - time.monotonic()
            assert rest > 0, f"in {seconds} s it did not come about that {what}"
            self.pump(rest)
        return value

    def read_until(self, instant):
        """Reads up to an instant of CLOCK_BOOTTIME."""
        while (rest := instant - boottime()) > 0:
            self.pump(rest)

    def answer(self, serial):
        """Waits for the answer to a call, be it an error."""
        return self.until(lambda: self._answers.get(serial), f"the call {serial} is answered")

    def has_answer(self, serial):
        """Whether the answer to a call has been read."""
        return serial in self._answers

    def ask(self, *messages):
        """Sends calls in one write, and waits for all answers."""
        return [self.answer(serial) for serial in self.send(*messages)]

    def result(self, message):
        """Makes one call; its result as plain values: none, the one, or a list."""
        reply, = self.ask(message)
        if reply.kind == wire.ERROR:
            raise Refused(reply.error, reply.body[0] if reply.body else "")
        values = wire.plain(reply.body)
        return values[0] if len(values) == 1 else values or None

    def bus(self, member, signature="", *values):
        """Calls the bus itself."""
        return self.result(wire.call(BUS, "/org/freedesktop/DBus", BUS, member, signature, values))


class Client(Peer):
    """A peer that knows the daemon's interface."""

    def __init__(self, address):
        super().__init__(address)
        self._taken = 0

    # Calling

    def request(self, method, *values, signature=None, path=contract.MANAGER,
                interface=contract.NAME, flags=0):
        """A call of a method of the manager, for `send` and `ask`."""
        if signature is None:
            signature = contract.METHODS[method][0]
        return wire.call(
            contract.NAME, path, interface, method, signature, values,
            flags | wire.NO_AUTO_START)

    def call(self, method, *values, **options):
        """Calls the manager, and returns the plain result; an error raises Refused."""
        return self.result(self.request(method, *values, **options))

    def countdown_request(self, control, seconds=1000, **options):
        """A call that starts a countdown, with options as Variants.

        It ticks at once and then no more, unless `interval` says otherwise: so what a test hears
        does not depend on how long it takes.
        """
        options.setdefault("interval", wire.Variant("u", 2**32 - 1))
        return self.request(
            "StartCountdownWithOptions", control, round(seconds * 1_000_000), options)

    def countdown(self, control, seconds=1000, **options):
        """Starts such a countdown, and returns its id."""
        return self.result(self.countdown_request(control, seconds, **options))

    def refusal(self, method, *values, **options):
        """Makes a call that has to be refused, and returns the Refused."""
        try:
            result = self.call(method, *values, **options)
        except Refused as refused:
            return refused
        raise AssertionError(f"{method}{values} was not refused, but returned {result!r}")

    def ping(self):
        """A round trip to the daemon: all that it sent before has been read afterwards."""
        self.call("Ping", signature="", interface=contract.PEER)

    # Reading

    def read_property(self, path, interface, name):
        """One property, with its type."""
        reply, = self.ask(self.request(
            "Get", interface, name, signature="ss", path=path, interface=contract.PROPERTIES))
        if reply.kind == wire.ERROR:
            raise Refused(reply.error, reply.body[0])
        return reply.body[0]

    def get(self, control, name):
        """One property of a control."""
        path = contract.path_of(control)
        return wire.plain(self.read_property(path, contract.CONTROL, name))

    def state(self, control):
        """All properties of a control."""
        return self.call(
            "GetAll", contract.CONTROL, signature="s", path=contract.path_of(control),
            interface=contract.PROPERTIES)

    def manager(self, name):
        """One property of the manager."""
        return wire.plain(self.read_property(contract.MANAGER, contract.NAME, name))

    def objects(self):
        """The properties of all controls, by their names."""
        found = self.call("GetManagedObjects", signature="", interface=contract.OBJECT_MANAGER)
        return {
            contract.name_of(path): interfaces[contract.CONTROL]
            for path, interfaces in found.items()}

    def lasting_objects(self):
        """The same without what changes by itself, for a comparison with what was before."""
        objects = self.objects()
        for properties in objects.values():
            del properties["Remaining"]
        return objects

    # Listening

    def listen(self):
        """Asks for all signals of the daemon, whoever that is."""
        self.bus("AddMatch", "s", f"type='signal',sender='{contract.NAME}'")
        self._taken = len(self.messages)

    @property
    def signals(self):
        """All signals of the daemon so far."""
        return [m for m in self.messages if m.kind == wire.SIGNAL and m.sender != BUS]

    def heard(self, answers=False):
        """What has come since it was last asked, told by `describe`; signals only, or answers too.

        All that was sent before has come by then.
        """
        before = len(self.messages)
        serial, = self.send(self.request("Ping", signature="", interface=contract.PEER))
        pong = self.answer(serial)
        assert len(self.messages) >= before
        new = [m for m in self.messages[self._taken:] if m is not pong and m.sender != BUS]
        self._taken = len(self.messages)
        return [describe(m) for m in new if answers or m.kind == wire.SIGNAL]

    def wait_for(self, *wanted, after=0):
        """Waits for a signal whose description begins with those words, and returns the message.

        Looks at the messages after an index.
        """
        return self.wait_for_signal(
            lambda told: told[:len(wanted)] == wanted, f"{wanted} is signalled", after)

    def wait_for_change(self, control, name, value, after=0):
        """Waits until a property is announced with a value; returns the message."""
        return self.wait_for_signal(
            lambda told: told[:2] == ("PropertiesChanged", control) and told[2].get(name) == value,
            f"{name} of {control} becomes {value!r}", after)

    def wait_for_signal(self, condition, what, after=0):
        """Waits for a signal of whose description a condition holds, and returns the message."""
        position = after

        def look():
            nonlocal position
            while position < len(self.messages):
                message = self.messages[position]
                position += 1
                if (message.kind == wire.SIGNAL and message.sender != BUS
                        and condition(describe(message))):
                    return message
            return None

        return self.until(look, what)


def describe(message):
    """A message in short: ("Tick", "start", 3, 1), ("PropertiesChanged", "start", {…}, […])."""
    if message.kind == wire.ERROR:
        return ("error", message.error)
    body = wire.plain(message.body)
    if message.kind == wire.RETURN:
        return ("answer", *body)
    if message.member == "PropertiesChanged":
        return (message.member, contract.name_of(message.path), body[1], body[2])
    if message.member in ("InterfacesAdded", "InterfacesRemoved"):
        return (message.member, contract.name_of(body[0]))
    return (message.member, *body)
