# SPDX-License-Identifier: MIT
"""What the daemon promises to everyone: names, signatures, properties, errors.

Written down a second time, not taken from the daemon: the tests compare the two.
"""

NAME = "org.busyindicator.BusyIndicator1"
MANAGER = "/org/busyindicator/BusyIndicator1"
CONTROLS = MANAGER + "/control"
CONTROL = NAME + ".Control"
ERROR = NAME + ".Error."

PROPERTIES = "org.freedesktop.DBus.Properties"
OBJECT_MANAGER = "org.freedesktop.DBus.ObjectManager"
INTROSPECTABLE = "org.freedesktop.DBus.Introspectable"
PEER = "org.freedesktop.DBus.Peer"

# Of each method of the manager what goes in and what comes out.
METHODS = {
    "ShowIndicator": ("s", ""),
    "ShowIndicatorFor": ("su", ""),
    "HideIndicator": ("s", ""),
    "StartCountdown": ("su", "u"),
    "PauseCountdown": ("s", ""),
    "ResumeCountdown": ("s", ""),
    "ExtendCountdown": ("si", ""),
    "CancelCountdown": ("s", ""),
    "SetTitle": ("ss", ""),
    "SetDetail": ("ss", ""),
    "SetEnabled": ("sb", ""),
    "SetProgress": ("sd", ""),
    "Hold": ("ssa{sv}", "u"),
    "Renew": ("u", ""),
    "Release": ("us", ""),
    "ReleaseAll": ("s", "u"),
    "Forget": ("s", ""),
    "ShowIndicatorWithOptions": ("sa{sv}", ""),
    "StartCountdownWithOptions": ("sta{sv}", "u"),
    "GetControl": ("s", "o"),
}

SIGNALS = {"Tick": "suu", "Finished": "su", "Cancelled": "sus", "HoldEnded": "us"}

# Of each property its type, and how its changes are announced (EmitsChangedSignal).
MANAGER_PROPERTIES = {
    "Version": ("s", "const"), "Plugins": ("a(sss)", "true"), "Busy": ("b", "true"),
    "Visible": ("b", "true")}
CONTROL_PROPERTIES = {
    "Name": ("s", "const"),
    "Title": ("s", "true"), "DisplayedTitle": ("s", "true"),
    "Enabled": ("b", "true"), "DisplayedEnabled": ("b", "true"),
    "Detail": ("s", "true"), "Icon": ("s", "true"), "DesktopEntry": ("s", "true"),
    "Busy": ("b", "true"), "Visible": ("b", "true"),
    "Progress": ("d", "true"), "ProgressValid": ("b", "true"),
    "BusySince": ("t", "true"),
    "Holders": ("aa{sv}", "invalidates"),
    "Countdown": ("u", "true"), "CountdownState": ("s", "true"), "CountdownClock": ("s", "true"),
    "Duration": ("t", "true"), "Deadline": ("t", "true"), "Remaining": ("t", "false"),
    "LastResult": ("s", "true"), "LastCountdown": ("u", "true"),
}

# A control that nobody has done anything with, but for its name and its title.
FRESH = {
    "Title": "", "DisplayedTitle": "", "Enabled": True, "DisplayedEnabled": True, "Detail": "",
    "Icon": "", "DesktopEntry": "", "Busy": False, "Visible": False, "Progress": 0.0,
    "ProgressValid": False, "BusySince": 0, "Holders": [], "Countdown": 0,
    "CountdownState": "none", "CountdownClock": "", "Duration": 0, "Deadline": 0, "Remaining": 0,
    "LastResult": "", "LastCountdown": 0,
}

# Of each entry of Holders.
HOLDER = {
    "kind": "s", "cookie": "u", "reason": "s", "application": "s", "sender": "s", "pid": "u",
    "lease": "s", "since-usec": "t"}

NO_SUCH_CONTROL = ERROR + "NoSuchControl"
NO_COUNTDOWN = ERROR + "NoCountdown"
COUNTDOWN_ACTIVE = ERROR + "CountdownActive"
BUSY = ERROR + "Busy"
NO_SUCH_HOLD = ERROR + "NoSuchHold"
INVALID_NAME = ERROR + "InvalidName"
INVALID_ARGS = "org.freedesktop.DBus.Error.InvalidArgs"
LIMITS_EXCEEDED = "org.freedesktop.DBus.Error.LimitsExceeded"
UNKNOWN_METHOD = "org.freedesktop.DBus.Error.UnknownMethod"
UNKNOWN_INTERFACE = "org.freedesktop.DBus.Error.UnknownInterface"
UNKNOWN_OBJECT = "org.freedesktop.DBus.Error.UnknownObject"
UNKNOWN_PROPERTY = "org.freedesktop.DBus.Error.UnknownProperty"
PROPERTY_READ_ONLY = "org.freedesktop.DBus.Error.PropertyReadOnly"

# The longest texts, in bytes, and the longest duration, in microseconds.
NAME_BYTES, TITLE_BYTES, TEXT_BYTES = 255, 512, 256
LONGEST = 1 << 62

_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DIGITS = b"0123456789"


def path_of(control):
    """The path of a control's object."""
    return CONTROLS + "/" + "".join(
        chr(byte) if byte in _LETTERS or (byte in _DIGITS and index > 0) else f"_{byte:02x}"
        for index, byte in enumerate(control.encode()))


def name_of(path):
    """The name of the control at a path; “manager” for the manager, other paths as they are."""
    if path == MANAGER:
        return "manager"
    if not path.startswith(CONTROLS + "/"):
        return path
    first, *rest = path[len(CONTROLS) + 1:].split("_")
    raw = first.encode() + b"".join(
        bytes([int(part[:2], 16)]) + part[2:].encode() for part in rest)
    return raw.decode()
