# SPDX-License-Identifier: MIT
"""Stand-ins for the desktop programs that the daemon's plugins speak to, and a bus to meet them on.

All of them live in this process, each on a connection of its own, and are driven by one main loop that
turns only while a test waits: nothing here needs a thread, and nothing sleeps.
"""

import contextlib
import signal
import tempfile
import time

from gi.repository import Gio, GLib

from support import glib
from support.contract import NAME, PROPERTIES
from support.glib import pass_time  # noqa: F401
from support.glib import turn_until as wait
from support.harness import Bus, Daemon, owner
from support.processes import end, spawn
from support.wire import Variant


class Session:
    """A private bus with the daemon and its plugins on it, met through GLib."""

    def __init__(self, *flags, **environment):
        self.flags = flags
        self.more = {"BUSYINDICATORD_PLUGINS": None, **environment}
        self.bus = Bus()
        self.address = self.bus.address
        self.environment = self.bus.environment

    def __enter__(self):
        self.stack = contextlib.ExitStack()
        try:
            self._begin()
        except BaseException:
            self.stack.close()
            raise
        return self

    def _begin(self):
        self.stack.enter_context(self.bus)
        self.client = self.bus.connect()
        self.daemon = Daemon(self.bus, *self.flags, **self.more)
        self.start()

    def __exit__(self, *_):
        with self.stack:
            if not self.daemon.has_ended:
                assert self.stop() == 0

    def start(self):
        """Starts the daemon and waits until it serves."""
        self.daemon.start()

    def stop(self, number=signal.SIGTERM):
        """Ends the daemon, which may speak to stand-ins meanwhile."""
        self.daemon.process.send_signal(number)
        wait(lambda: not self.daemon.is_alive, "end of the daemon")
        return self.daemon.wait()

    def owner(self, name):
        """The unique name of a name's owner, or None."""
        return owner(self.client, name)

    def call(self, method, *arguments):
        """Calls the manager."""
        return self.client.call(method, *arguments)

    def get(self, name):
        """A property of the manager."""
        return self.client.manager(name)

    def of(self, control, name):
        """A property of a control."""
        return self.client.get(control, name)

    def plugin(self, name):
        """State and detail of a plugin; None when it does not run."""
        return {row[0]: row[1:] for row in self.get("Plugins")}.get(name)

    def countdown(self, control, seconds, **options):
        """Starts a countdown with options."""
        return self.call(
            "StartCountdownWithOptions", control, int(seconds * 1e6), options)

    def show(self, control, **options):
        """Turns a control's switch on, with options."""
        self.call("ShowIndicatorWithOptions", control, options)


def text(value):
    """A string as an option."""
    return Variant("s", value)


YES = Variant("b", True)


class StandIn:
    """An object with interfaces that owns a name; by mode it answers, fails, or says nothing."""

    name = path = xml = None

    def __init__(self, session):
        self.session = session
        self.connection = glib.connect(session.bus)
        self.mode = "answer"
        self.calls = []
        for interface in Gio.DBusNodeInfo.new_for_xml(self.xml).interfaces:
            self.connection.register_object(self.path, interface, self._called, None, None)

    def __enter__(self):
        self.own()
        return self

    def __exit__(self, *_):
        if not self.connection.is_closed():
            self.connection.close_sync(None)

    def own(self):
        """Takes the name."""
        self._bus("RequestName", "(su)", self.name, 0)

    def leave(self):
        """Gives the name back."""
        self._bus("ReleaseName", "(s)", self.name)

    def _bus(self, method, signature, *arguments):
        self.connection.call_sync(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", method,
            GLib.Variant(signature, arguments), None, 0, 5000, None)

    def _called(self, _connection, sender, _path, _interface, method, arguments, invocation):
        self.calls.append((method, arguments.unpack(), sender))
        if self.mode == "fail":
            invocation.return_dbus_error("org.example.Error.Broken", "out of order")
        elif self.mode == "answer":
            invocation.return_value(self.answer(method, arguments.unpack()))

    def answer(self, method, arguments):
        """What a method returns."""
        return None

    def called(self, method):
        """The arguments of all calls of a method."""
        return [arguments for name, arguments, _ in self.calls if name == method]


class Watcher(StandIn):
    """The watcher of the tray, and a host that reads as hosts do."""

    name = "org.kde.StatusNotifierWatcher"
    path = "/StatusNotifierWatcher"
    xml = """<node><interface name="org.kde.StatusNotifierWatcher">
      <method name="RegisterStatusNotifierItem"><arg name="s" type="s" direction="in"/></method>
    </interface></node>"""
    item_interface = "org.kde.StatusNotifierItem"
    menu_interface = "com.canonical.dbusmenu"

    def __init__(self, session):
        super().__init__(session)
        self.signals = []
        for interface in (self.item_interface, self.menu_interface):
            self.connection.signal_subscribe(
                None, interface, None, None, None, 0, self._signalled)

    def _signalled(self, _connection, _sender, _path, _interface, member, arguments):
        self.signals.append((member, arguments.unpack(), time.monotonic()))

    def item(self):
        """The name of the item that registered last."""
        return wait(lambda: self.called("RegisterStatusNotifierItem"), "registration")[-1][0]

    def all(self):
        """All properties of the item, as a host reads them at each frame."""
        return self._call(
            "/StatusNotifierItem", PROPERTIES, "GetAll", "(s)",
            self.item_interface)[0]

    def item_call(self, method, signature, *arguments):
        """Calls the item."""
        return self._call("/StatusNotifierItem", self.item_interface, method, signature, *arguments)

    def menu_call(self, method, signature, *arguments):
        """Calls the item's menu."""
        return self._call(self.all()["Menu"], self.menu_interface, method, signature, *arguments)

    def _call(self, path, interface, method, signature, *arguments):
        return self.connection.call_sync(
            self.item(), path, interface, method, GLib.Variant(signature, arguments), None, 0, 5000,
            None).unpack()

    def labels(self):
        """The menu as labels by their ids, a list for each level."""
        def walk(item):
            number, properties, children = item
            return [
                (number, properties.get("label", "—")),
                *[entry for child in children for entry in walk(child)]]
        return dict(walk(self.menu_call("GetLayout", "(iias)", 0, -1, [])[1])[1:])

    def id_of(self, label):
        """The id of the item with a label."""
        return next(number for number, other in self.labels().items() if other == label)

    def heard(self, member):
        """When a signal came, each time."""
        return [when for name, _, when in self.signals if name == member]


class Dock(StandIn):
    """A dock: listens to LauncherEntry, and never asks."""

    name = "com.canonical.Unity"
    path = "/com/canonical/Unity"
    xml = "<node/>"
    interface = "com.canonical.Unity.LauncherEntry"

    def __init__(self, session):
        super().__init__(session)
        self.updates = []
        self.connection.signal_subscribe(
            None, self.interface, "Update", None, None, 0, self._updated)

    def _updated(self, _connection, sender, path, _interface, _member, arguments):
        uri, properties = arguments.unpack()
        self.updates.append((uri, properties, sender, path))

    def last(self, entry):
        """What an entry shows."""
        uri = f"application://{entry}.desktop"
        return next((state for other, state, *_ in reversed(self.updates) if other == uri), None)


class NotificationServer(StandIn):
    """A notification server."""

    name = "org.freedesktop.Notifications"
    path = "/org/freedesktop/Notifications"
    xml = """<node><interface name="org.freedesktop.Notifications">
      <method name="GetCapabilities"><arg type="as" direction="out"/></method>
      <method name="Notify">
        <arg type="s" direction="in"/><arg type="u" direction="in"/><arg type="s" direction="in"/>
        <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="as" direction="in"/>
        <arg type="a{sv}" direction="in"/><arg type="i" direction="in"/>
        <arg type="u" direction="out"/>
      </method>
    </interface></node>"""

    def __init__(self, session, capabilities=("actions", "body", "body-markup")):
        super().__init__(session)
        self.capabilities = list(capabilities)
        # Real ones do not start at 1.
        self.last_id = 41

    def answer(self, method, arguments):
        if method == "GetCapabilities":
            return GLib.Variant("(as)", (self.capabilities,))
        self.last_id += 1
        return GLib.Variant("(u)", (self.last_id,))

    def emit(self, member, signature, *arguments):
        """Sends a signal of the interface."""
        self.connection.emit_signal(
            None, self.path, self.name, member, GLib.Variant(signature, arguments))

    def notifications(self):
        """All that were shown."""
        keys = ("application", "replaces", "icon", "title", "body", "actions", "hints", "timeout")
        return [dict(zip(keys, arguments)) for arguments in self.called("Notify")]


class Monitor:
    """Counts what the daemon sends, with the time at which the bus had it."""

    def __init__(self, session):
        sender = session.owner(NAME)
        self.output = tempfile.TemporaryFile("w+")
        self.process = spawn(
            "stdbuf", "-oL", "dbus-monitor", "--address", session.address, "--profile",
            f"sender='{sender}'", stdout=self.output)
        # It tells of its own coming once it listens.
        wait(lambda: "NameLost" in self._text(), "monitor")
        self.first = len(self._text())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end(self.process)

    def _text(self):
        self.output.seek(0)
        return self.output.read()

    @property
    def messages(self):
        """Member and time of each message."""
        rows = [line.split("\t") for line in self._text()[self.first:].splitlines()]
        return [(row[7] if len(row) > 7 else row[0], float(row[1])) for row in rows]

    def sent(self, member):
        """When a message with this member was sent, each time."""
        return [when for name, when in self.messages if name == member]
