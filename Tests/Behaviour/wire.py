# SPDX-License-Identifier: MIT
"""A D-Bus peer down to its bytes: sees messages in the order in which they come, and can send what no
library would send. The protocol is that of the D-Bus Specification, little-endian."""

import os
import select
import socket
import struct
import time

CALL, REPLY, ERROR, SIGNAL = 1, 2, 3, 4
NO_REPLY = 1
HEADER = {1: ("path", "o"), 2: ("interface", "s"), 3: ("member", "s"), 4: ("error", "s"),
          5: ("reply_serial", "u"), 6: ("destination", "s"), 7: ("sender", "s"),
          8: ("signature", "g"), 9: ("descriptors", "u")}
CODES = {name: code for code, (name, _) in HEADER.items()}
FIXED = {"y": "B", "b": "I", "n": "h", "q": "H", "i": "i", "u": "I", "x": "q", "t": "Q", "d": "d",
         "h": "I"}


def alignment(kind):
    if kind in "yvg":
        return 1
    if kind in "nq":
        return 2
    return 8 if kind in "xtd({" else 4


def split(signature):
    """The complete types that a signature is made of."""
    types, start = [], 0
    while start < len(signature):
        end = start
        while signature[end] == "a":
            end += 1
        depth = 0
        while True:
            depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(signature[end], 0)
            end += 1
            if depth == 0:
                break
        types.append(signature[start:end])
        start = end
    return types


class Writer:
    def __init__(self):
        self.data = bytearray()

    def pad(self, size):
        self.data += bytes(-len(self.data) % size)

    def write(self, kind, value):
        first = kind[0]
        self.pad(alignment(first))
        if first in FIXED:
            self.data += struct.pack("<" + FIXED[first], value)
        elif first in "so":
            raw = value if isinstance(value, bytes) else value.encode()
            self.data += struct.pack("<I", len(raw)) + raw + b"\0"
        elif first == "g":
            self.data += bytes([len(value)]) + value.encode() + b"\0"
        elif first == "v":
            self.write("g", value[0])
            self.write(value[0], value[1])
        elif first == "a":
            self.write_array(kind[1:], value)
        else:
            inner = split(kind[1:-1])
            assert len(inner) == len(value), (kind, value)
            for part, item in zip(inner, value):
                self.write(part, item)

    def write_array(self, element, values):
        length_at = len(self.data)
        self.data += b"\0\0\0\0"
        self.pad(alignment(element[0]))
        start = len(self.data)
        for item in values.items() if isinstance(values, dict) else values:
            self.write(element, item)
        struct.pack_into("<I", self.data, length_at, len(self.data) - start)


class Reader:
    def __init__(self, data, position=0):
        self.data, self.position = data, position

    def pad(self, size):
        self.position += -self.position % size

    def read(self, kind):
        first = kind[0]
        self.pad(alignment(first))
        if first in FIXED:
            form = "<" + FIXED[first]
            value, = struct.unpack_from(form, self.data, self.position)
            self.position += struct.calcsize(form)
            return bool(value) if first == "b" else value
        if first in "sog":
            length = self.read("y" if first == "g" else "u")
            raw = bytes(self.data[self.position:self.position + length])
            self.position += length + 1
            return raw.decode()
        if first == "v":
            return self.read(self.read("g"))
        if first == "a":
            return self.read_array(kind[1:])
        return tuple(self.read(part) for part in split(kind[1:-1]))

    def read_array(self, element):
        end = self.read("u")
        self.pad(alignment(element[0]))
        end += self.position
        values = []
        while self.position < end:
            values.append(self.read(element))
        return dict(values) if element[0] == "{" else values


class Message:
    """One that came: its header fields, its arguments, and when."""

    def __init__(self, kind, flags, serial, fields, arguments, size, when):
        self.kind, self.flags, self.serial, self.size, self.time = kind, flags, serial, size, when
        for name, _ in HEADER.values():
            setattr(self, name, fields.get(name))
        self.arguments = arguments

    def __repr__(self):
        name = {CALL: "call", REPLY: "reply", ERROR: "error", SIGNAL: "signal"}[self.kind]
        return f"<{name} {self.member or self.error or self.reply_serial} {self.path} {self.arguments}>"


def encode(kind, serial, fields, signature="", arguments=(), flags=0):
    body = Writer()
    for part, value in zip(split(signature), arguments, strict=True):
        body.write(part, value)
    if signature:
        fields = {**fields, "signature": signature}
    head = Writer()
    head.data += struct.pack("<BBBBII", ord("l"), kind, flags, 1, len(body.data), serial)
    head.write("a(yv)", [(CODES[name], (HEADER[CODES[name]][1], value))
                         for name, value in fields.items()])
    head.pad(8)
    return bytes(head.data + body.data)


class DBusError(Exception):
    def __init__(self, name, text):
        super().__init__(f"{name}: {text}")
        self.name, self.text = name, text


class Peer:
    """A connection of its own. All that comes is kept in `seen`, in order."""

    def __init__(self, address, receive_buffer=None):
        path = dict(item.split("=", 1) for item in address.split(":", 1)[1].split(","))["path"]
        self.socket = socket.socket(socket.AF_UNIX)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(path)
        self.buffer = bytearray()
        self.seen, self.serial = [], 0
        uid = str(os.getuid()).encode().hex().encode()
        self.socket.sendall(b"\0AUTH EXTERNAL " + uid + b"\r\n")
        while b"\r\n" not in self.buffer:
            data = self.socket.recv(4096)
            if not data:
                raise ConnectionError("the bus refuses the connection")
            self.buffer += data
        assert self.buffer.startswith(b"OK "), self.buffer
        self.buffer.clear()
        self.socket.sendall(b"BEGIN\r\n")
        self.name = self.bus("Hello")

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # Sending

    def prepare(self, destination, path, interface, member, signature="", *arguments, flags=0):
        """A call's bytes, to be sent later; gives them with the serial."""
        self.serial += 1
        fields = {"path": path, "member": member, "destination": destination}
        if interface:
            fields["interface"] = interface
        return self.serial, encode(CALL, self.serial, fields, signature, arguments, flags)

    def send(self, *words, flags=0):
        """Sends a call and does not wait; gives its serial."""
        serial, data = self.prepare(*words, flags=flags)
        self.socket.sendall(data)
        return serial

    def call(self, *words, seconds=30):
        """Sends a call and gives its results: nothing, one, or a list."""
        return self.result(self.send(*words), seconds)

    def result(self, serial, seconds=30):
        reply = self.wait(lambda m: m.kind in (REPLY, ERROR) and m.reply_serial == serial,
                          f"an answer to call {serial}", seconds)
        if reply.kind == ERROR:
            raise DBusError(reply.error, reply.arguments[0] if reply.arguments else "")
        if len(reply.arguments) == 1:
            return reply.arguments[0]
        return reply.arguments or None

    def result_or_error(self, serial):
        """Its result, or the name of the error: an answer of either kind."""
        try:
            return self.result(serial)
        except DBusError as error:
            return error.name

    def bus(self, member, signature="", *arguments):
        return self.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                         member, signature, *arguments)

    def match(self, rule):
        self.bus("AddMatch", "s", rule)

    def sent(self):
        """Waits until the bus has taken all that was sent."""
        self.bus("GetId")

    # Receiving

    def read(self, seconds):
        """Reads what comes within that time; whether anything did."""
        ready, _, _ = select.select([self.socket], [], [], max(0, seconds))
        if not ready:
            return False
        data = self.socket.recv(1 << 20)
        if not data:
            raise ConnectionError("the bus closed the connection")
        self.buffer += data
        now = time.monotonic()
        position = 0
        while (size := self.next_size(position)) is not None:
            self.seen.append(self.decode(bytes(self.buffer[position:position + size]), now))
            position += size
        del self.buffer[:position]
        return True

    def next_size(self, position):
        if len(self.buffer) - position < 16:
            return None
        body, _, fields = struct.unpack_from("<III", self.buffer, position + 4)
        size = 16 + fields + (-fields % 8) + body
        return size if len(self.buffer) - position >= size else None

    @staticmethod
    def decode(data, now):
        kind, flags = data[1], data[2]
        serial, = struct.unpack_from("<I", data, 8)
        reader = Reader(data, 12)
        fields = {HEADER[code][0]: value for code, value in reader.read("a(yv)") if code in HEADER}
        reader.pad(8)
        body = Reader(data[reader.position:])
        arguments = [body.read(part) for part in split(fields.get("signature", ""))]
        return Message(kind, flags, serial, fields, arguments, len(data), now)

    def wait(self, condition, what, seconds=30):
        """The first message, of those seen and those to come, for which the condition holds."""
        deadline = time.monotonic() + seconds
        looked = 0
        while True:
            for message in self.seen[looked:]:
                if condition(message):
                    return message
            looked = len(self.seen)
            left = deadline - time.monotonic()
            if left <= 0:
                raise AssertionError(f"waited {seconds} s in vain for {what}; came: {self.seen[-20:]}")
            self.read(left)

    def wait_signal(self, member, *first, seconds=30):
        """The first signal of that name with those first arguments."""
        return self.wait(
            lambda m: m.kind == SIGNAL and m.member == member
            and tuple(m.arguments[:len(first)]) == first, f"the signal {member}{first}", seconds)

    def signals(self, *members):
        """The signals seen, all or those of these names."""
        return [m for m in self.seen if m.kind == SIGNAL and m.sender != "org.freedesktop.DBus"
                and (not members or m.member in members)]
