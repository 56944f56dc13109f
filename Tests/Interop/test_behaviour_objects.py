# SPDX-License-Identifier: MIT
"""Controls as objects: when there is one, how long it stays, and what is left of one that went."""

import pytest

from support import contract
from support.contract import NO_SUCH_CONTROL, NO_SUCH_HOLD
from support.waiting import boottime
from support.wire import Variant


@pytest.mark.parametrize("method, more", [
    ("ShowIndicator", ()), ("ShowIndicatorFor", (1000,)), ("ShowIndicatorWithOptions", ({},)),
    ("Hold", ("", {})), ("StartCountdown", (1000,)), ("StartCountdown", (0,)),
    ("StartCountdownWithOptions", (10**9, {})), ("SetTitle", ("T",)), ("SetTitle", ("",)),
    ("SetDetail", ("D",)), ("SetEnabled", (True,)), ("SetEnabled", (False,)),
    ("SetProgress", (0.5,)), ("SetProgress", (-1,))])
def test_what_makes_one(listener, method, more):
    listener.call(method, "a", *more)
    path = listener.call("GetControl", "a")
    assert path == contract.path_of("a")
    assert listener.heard()[0] == ("InterfacesAdded", "a")
    assert list(listener.objects()) == ["a"]
    assert listener.get("a", "Name") == "a"


@pytest.mark.parametrize(
    "method, more",
    [
        ("HideIndicator", ()),
        ("ReleaseAll", ()),
        ("Forget", ()),
        ("GetControl", ()),
        ("PauseCountdown", ()),
        ("ResumeCountdown", ()),
        ("ExtendCountdown", (1,)),
        ("CancelCountdown", ()),
    ],
)
def test_what_makes_none(listener, method, more):
    listener.ask(listener.request(method, "a", *more))
    assert listener.objects() == {} and listener.heard() == []


def test_a_fresh_one(listener):
    listener.call("SetTitle", "a", "")
    assert listener.state("a") == {"Name": "a", **contract.FRESH}


def test_managed_objects(listener):
    for name in ("a", "b", "ä"):
        listener.call("SetTitle", name, name.upper())
    reply, = listener.ask(listener.request(
        "GetManagedObjects", signature="", interface=contract.OBJECT_MANAGER))
    assert reply.signature == "a{oa{sa{sv}}}"
    for name in ("a", "b", "ä"):
        (interface, properties), = reply.body[0][contract.path_of(name)].items()
        assert interface == contract.CONTROL
        assert {key: value.signature for key, value in properties.items()} == {
            key: signature for key, (signature, _) in contract.CONTROL_PROPERTIES.items()}
    objects = listener.objects()
    assert objects == {name: listener.state(name) for name in objects}


def test_the_manager(listener):
    reply, = listener.ask(listener.request(
        "GetAll", contract.NAME, signature="s", interface=contract.PROPERTIES))
    properties = reply.body[0]
    assert {key: value.signature for key, value in properties.items()} == {
        key: signature for key, (signature, _) in contract.MANAGER_PROPERTIES.items()}
    assert properties["Version"].value and not properties["Busy"].value
    for name, value in properties.items():
        assert listener.read_property(contract.MANAGER, contract.NAME, name) == value


def test_forget(listener):
    listener.call("SetTitle", "a", "A")
    cookie = listener.call("Hold", "a", "", {})
    number = listener.countdown("a")
    listener.heard()
    listener.call("Forget", "a")
    told = listener.heard()
    # The manager is no longer busy; of the control nothing is told but its events and its end.
    assert told[0] == ("PropertiesChanged", "manager", {"Busy": False, "Visible": False}, [])
    assert sorted(told[1:3]) == [
        ("Cancelled", "a", number, "forgotten"),
        ("HoldEnded", cookie, "forgotten"),
    ]
    assert told[3:] == [("InterfacesRemoved", "a")]
    removed = listener.signals[-1]
    assert removed.body == [contract.path_of("a"), [contract.CONTROL]]
    assert listener.objects() == {}
    assert listener.refusal("GetControl", "a").name == NO_SUCH_CONTROL
    assert listener.refusal("Release", cookie, "").name == NO_SUCH_HOLD
    # The next of that name knows nothing of it.
    listener.call("SetDetail", "a", "")
    assert listener.state("a") == {"Name": "a", **contract.FRESH}


def removal(peer, control, after=0):
    """Waits until a control's object is gone; returns when."""
    return peer.wait_for("InterfacesRemoved", control, after=after).when


@pytest.mark.flags("--linger=400ms")
def test_linger(listener):
    listener.call("ShowIndicator", "a")
    begin = boottime()
    listener.call("HideIndicator", "a")
    number = listener.countdown("b", 0)
    for control in "ab":
        assert removal(listener, control) - begin >= 0.4
    assert ("Finished", "b", number) in listener.heard()
    assert listener.objects() == {}


@pytest.mark.flags("--linger=2")
def test_a_late_caller_reads_the_result(listener):
    cookie = listener.call("Hold", "a", "", {})
    listener.call("Release", cookie, "exit 2")
    listener.read_until(boottime() + 0.2)
    assert listener.get("a", "LastResult") == "released: exit 2"


@pytest.mark.flags("--linger=1")
def test_linger_counts_from_the_last_work(listener):
    listener.call("SetDetail", "a", "x")
    listener.read_until(boottime() + 0.5)
    listener.call("ShowIndicator", "a")
    listener.read_until(boottime() + 0.6)
    begin = boottime()
    listener.call("HideIndicator", "a")
    assert removal(listener, "a") - begin >= 1


@pytest.mark.flags("--linger=200ms")
def test_what_keeps_one(listener):
    listener.call("SetTitle", "title", "T")
    listener.call("SetEnabled", "disabled", False)
    listener.call("ShowIndicator", "shown")
    listener.call("Hold", "held", "", {})
    listener.countdown("counting")
    listener.countdown("paused", paused=Variant("b", True))
    listener.call("ShowIndicatorWithOptions", "visible", {"minimum-usec": Variant("t", 10**9)})
    listener.call("HideIndicator", "visible")
    # None of these keeps one; and nor does a title that came by options.
    listener.call("ShowIndicatorWithOptions", "none", {"title": Variant("s", "T")})
    listener.call("SetDetail", "none", "D")
    listener.call("SetProgress", "none", 0.5)
    listener.call("HideIndicator", "none")
    removal(listener, "none")
    listener.read_until(boottime() + 0.3)
    assert sorted(listener.objects()) == [
        "counting", "disabled", "held", "paused", "shown", "title", "visible"]
    # What keeps it, may end.
    begin = boottime()
    listener.call("SetTitle", "title", "")
    listener.call("SetEnabled", "disabled", True)
    listener.call("CancelCountdown", "counting")
    listener.call("CancelCountdown", "paused")
    for control in ("title", "disabled", "counting", "paused"):
        assert removal(listener, control) - begin >= 0.2
    assert sorted(listener.objects()) == ["held", "shown", "visible"]


@pytest.mark.flags("--linger=0")
def test_without_linger(listener):
    """What nobody would see is not told of; events are."""
    number = listener.countdown("a", 0)
    told = listener.heard()
    assert ("Finished", "a", number) in told
    assert listener.objects() == {}
    listener.call("ShowIndicator", "b")
    assert list(listener.objects()) == ["b"]
    listener.call("HideIndicator", "b")
    removal(listener, "b")
    assert listener.objects() == {}


@pytest.mark.flags("--max-controls=3")
def test_the_longest_idle_goes_early(listener):
    for name in ("one", "two", "three"):
        listener.call("ShowIndicator", name)
    assert listener.refusal("ShowIndicator", "four").name == contract.LIMITS_EXCEEDED
    listener.call("HideIndicator", "two")
    listener.call("HideIndicator", "one")
    listener.heard()
    listener.call("ShowIndicator", "four")
    assert sorted(listener.objects()) == ["four", "one", "three"]
    told = listener.heard()
    assert told[0] == ("InterfacesAdded", "four")
    assert ("InterfacesRemoved", "two") in told
    listener.call("ShowIndicator", "five")
    assert sorted(listener.objects()) == ["five", "four", "three"]
    # What is kept for its title or flag is not idle enough.
    listener.call("HideIndicator", "five")
    listener.call("SetTitle", "five", "T")
    assert listener.refusal("ShowIndicator", "six").name == contract.LIMITS_EXCEEDED
    # Those that are there go on working.
    listener.call("ShowIndicator", "five")
    listener.call("SetDetail", "three", "D")
