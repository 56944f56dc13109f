# SPDX-License-Identifier: MIT
"""D-Bus messages as bytes, and nothing else.

The tests speak the protocol themselves where they must see the exact order of what arrives, send a
thousand calls in one write, or send what no library would. A signature and plain Python values go
in, plain Python values come out; a variant is a Variant both ways. Source: the D-Bus Specification,
"Type System" and "Message Protocol".
"""

import dataclasses
import functools
import struct
from typing import Any, NamedTuple

CALL, RETURN, ERROR, SIGNAL = 1, 2, 3, 4

NO_REPLY_EXPECTED, NO_AUTO_START = 1, 2

# The header's fields, by their numbers.
FIELDS = {
    1: ("path", "o"), 2: ("interface", "s"), 3: ("member", "s"), 4: ("error", "s"),
    5: ("reply_to", "u"), 6: ("destination", "s"), 7: ("sender", "s"), 8: ("signature", "g"),
    9: ("fd_count", "u")}

_FIXED = {
    "y": "B", "b": "I", "n": "h", "q": "H", "i": "i", "u": "I", "x": "q", "t": "Q", "d": "d",
    "h": "I"}
_ALIGNMENT = {
    "y": 1, "g": 1, "v": 1, "n": 2, "q": 2, "b": 4, "i": 4, "u": 4, "h": 4, "s": 4, "o": 4, "a": 4,
    "x": 8, "t": 8, "d": 8, "(": 8, "{": 8}
_CODES = {code: struct.Struct("<" + letter) for code, letter in _FIXED.items()}
_BIG_ENDIAN_CODES = {code: struct.Struct(">" + letter) for code, letter in _FIXED.items()}


class Variant(NamedTuple):
    """A value with its type."""

    signature: str
    value: Any


def plain(value):
    """A value without its variants, however deep."""
    if isinstance(value, Variant):
        return plain(value.value)
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(plain(inner) for inner in value)
    return value


@functools.cache
def types(signature):
    """The single complete types that a signature consists of."""
    found, start = [], 0
    while start < len(signature):
        end = _end_of_type(signature, start)
        found.append(signature[start:end])
        start = end
    return tuple(found)


def _end_of_type(signature, start):
    code = signature[start]
    if code == "a":
        return _end_of_type(signature, start + 1)
    if code in "({":
        closing = {"(": ")", "{": "}"}[code]
        start += 1
        while signature[start] != closing:
            start = _end_of_type(signature, start)
    return start + 1


class Writer:
    """Appends values, each aligned from the beginning of what it writes."""

    def __init__(self, big_endian=False):
        self.data = bytearray()
        self.codes = _BIG_ENDIAN_CODES if big_endian else _CODES

    def align(self, size):
        self.data += bytes(-len(self.data) % size)

    def write_all(self, signature, values):
        kinds = types(signature)
        if len(kinds) != len(values):
            raise ValueError(f"{len(values)} values for “{signature}”")
        for kind, value in zip(kinds, values):
            self.write(kind, value)

    def write(self, kind, value):
        code = kind[0]
        self.align(_ALIGNMENT[code])
        if code in self.codes:
            self.data += self.codes[code].pack(value)
        elif code in "so":
            # Bytes go as they are: a test may want what is no UTF-8.
            raw = value if isinstance(value, bytes) else value.encode()
            self.data += self.codes["u"].pack(len(raw)) + raw + b"\0"
        elif code == "g":
            raw = value.encode()
            self.data += bytes([len(raw)]) + raw + b"\0"
        elif code == "v":
            self.write("g", value.signature)
            self.write(value.signature, value.value)
        elif code == "(":
            self.write_all(kind[1:-1], value)
        else:
            self._write_array(kind[1:], value)

    def _write_array(self, element, values):
        place = len(self.data)
        self.data += bytes(4)
        self.align(_ALIGNMENT[element[0]])
        start = len(self.data)
        if element == "y":
            self.data += bytes(values)
        elif element[0] == "{":
            # A list of pairs may have a key twice, which a dict cannot.
            for pair in values.items() if isinstance(values, dict) else values:
                self.align(8)
                self.write_all(element[1:-1], pair)
        else:
            for value in values:
                self.write(element, value)
        self.codes["u"].pack_into(self.data, place, len(self.data) - start)


class Reader:
    """Reads what a Writer of the same signature would have written."""

    def __init__(self, data, position=0):
        self.data = data
        self.position = position

    def align(self, size):
        self.position += -self.position % size

    def read_all(self, signature):
        return [self.read(kind) for kind in types(signature)]

    def read(self, kind):
        code = kind[0]
        self.align(_ALIGNMENT[code])
        if code in _CODES:
            value, = _CODES[code].unpack_from(self.data, self.position)
            self.position += _CODES[code].size
            return bool(value) if code == "b" else value
        if code in "so":
            return self._read_text(self.read("u"))
        if code == "g":
            return self._read_text(self.read("y"))
        if code == "v":
            signature = self.read("g")
            return Variant(signature, self.read(signature))
        if code == "(":
            return tuple(self.read_all(kind[1:-1]))
        return self._read_array(kind[1:])

    def _read_text(self, size):
        text = bytes(self.data[self.position:self.position + size]).decode()
        self.position += size + 1
        return text

    def _read_array(self, element):
        size = self.read("u")
        self.align(_ALIGNMENT[element[0]])
        end = self.position + size
        values = []
        while self.position < end:
            if element[0] == "{":
                self.align(8)
                values.append(tuple(self.read_all(element[1:-1])))
            else:
                values.append(self.read(element))
        return dict(values) if element[0] == "{" else values


@dataclasses.dataclass
class Message:
    """One message; `body` is read only when somebody asks for it, for it may be large."""

    kind: int
    path: str | None = None
    interface: str | None = None
    member: str | None = None
    signature: str = ""
    destination: str | None = None
    sender: str | None = None
    error: str | None = None
    reply_to: int | None = None
    fd_count: int | None = None
    flags: int = 0
    serial: int = 0
    # When it arrived, in seconds of CLOCK_BOOTTIME, and how many bytes it had.
    when: float = 0.0
    size: int = 0
    data: bytes = b""

    @functools.cached_property
    def body(self):
        """The arguments, as a list."""
        return Reader(self.data).read_all(self.signature)

    def encode(self, serial):
        """The message with that serial."""
        self.serial = serial
        fields = _encode_fields(tuple(getattr(self, name) for name, _ in FIELDS.values()))
        head = struct.pack("<cBBBII", b"l", self.kind, self.flags, 1, len(self.data), serial)
        return head + fields + self.data


@functools.lru_cache(maxsize=256)
def _encode_fields(values):
    """The header's fields, which calls of the same method have in common."""
    writer = Writer()
    # Behind the fixed part of the header.
    writer.data += bytes(12)
    writer.write("a(yv)", [
        (number, Variant(kind, value))
        for (number, (_, kind)), value in zip(FIELDS.items(), values) if value])
    writer.align(8)
    return bytes(writer.data[12:])


def marshal(signature, values):
    """The bytes of a body."""
    writer = Writer()
    writer.write_all(signature, values)
    return bytes(writer.data)


def call(destination, path, interface, member, signature="", values=(), flags=0):
    """A call."""
    return Message(
        CALL, path=path, interface=interface, member=member, signature=signature,
        destination=destination, flags=flags, data=marshal(signature, values))


def signal(destination, path, interface, member, signature="", values=()):
    """A signal, to all when there is no destination."""
    return Message(
        SIGNAL, path=path, interface=interface, member=member, signature=signature,
        destination=destination, data=marshal(signature, values))


def length_of(head):
    """How long the message is that begins with those 16 bytes."""
    body, _, fields = struct.unpack_from("<III", head, 4)
    return 16 + fields + -fields % 8 + body


def decode(data, when):
    """The message that those bytes are."""
    if data[0] != ord("l"):
        raise ValueError("a message in the other byte order")
    reader = Reader(data)
    _, kind, flags, _, body, serial = reader.read_all("yyyyuu")
    message = Message(
        kind, flags=flags, serial=serial, when=when, size=len(data), data=data[len(data) - body:])
    for number, variant in reader.read("a(yv)"):
        if number in FIELDS:
            setattr(message, FIELDS[number][0], variant.value)
    return message
