# SPDX-License-Identifier: MIT
"""The tray plugin, met by a stand-in for a watcher that is a host as well."""

import pytest
from gi.repository import GLib

from support.contract import NAME
from support.standins import Monitor, Session, Watcher, pass_time, text, wait
from support.wire import Variant


@pytest.fixture
def session():
    with Session("--no-plugin=launcher", "--no-plugin=notifications") as session:
        yield session


@pytest.fixture
def watcher(session):
    with Watcher(session) as watcher:
        wait(lambda: session.plugin("tray")[0] == "on", "registration")
        yield watcher


def event(number, name="clicked", data=GLib.Variant("i", 0)):
    return number, name, GLib.Variant("v", data).get_variant(), 0


def pixmaps(watcher):
    return [(width, bytes(pixels)) for width, _, pixels in watcher.all()["IconPixmap"]]


def test_it_registers_under_a_name_of_its_own(session, watcher):
    assert watcher.item().startswith("org.kde.StatusNotifierItem-")
    assert session.owner(watcher.item()) == session.owner(NAME)


def test_passive_until_something_is_shown(session, watcher):
    assert watcher.all()["Status"] == "Passive"
    session.call("ShowIndicator", "build")
    wait(lambda: ("NewStatus", ("Active",)) in [entry[:2] for entry in watcher.signals], "Active")
    assert watcher.all()["Status"] == "Active"
    session.call("HideIndicator", "build")
    wait(lambda: ("NewStatus", ("Passive",)) in [entry[:2] for entry in watcher.signals], "Passive")
    assert watcher.all()["Status"] == "Passive"


def test_what_is_busy_but_not_visible_is_not_shown(session, watcher):
    session.show("build", **{"grace-usec": Variant("t", 60_000_000)})
    pass_time(0.5)
    assert watcher.all()["Status"] == "Passive" and not watcher.signals


def test_the_pictures_are_argb_in_network_byte_order(session, watcher):
    session.call("ShowIndicator", "build")
    session.call("SetProgress", "build", 1.0)
    wait(lambda: watcher.heard("NewIcon"), "frame")
    sizes = pixmaps(watcher)
    assert [size for size, _ in sizes] == [16, 22, 24, 32, 48]
    for size, pixels in sizes:
        assert len(pixels) == size * size * 4
        # At the top in the middle the ring is blue and opaque, in the centre there is nothing.
        alpha, red, _, blue = pixels[(2 * size + size // 2) * 4:][:4]
        assert alpha > 200 and blue > red
        assert pixels[(size // 2 * size + size // 2) * 4] == 0


def keeps_pace(times, rate):
    """Whether there are never more than so many a second; each may be late by a little.

    What comes late brings the next one nearer, so single distances say nothing.
    """
    return all(
        after - before <= rate * (times[after] - times[before]) + 1.5
        for before in range(len(times)) for after in range(before, len(times)))


def test_the_ring_turns_at_most_five_times_a_second(session, watcher):
    session.call("ShowIndicator", "build")
    wait(lambda: watcher.heard("LayoutUpdated"), "menu")
    pictures = set()
    watcher.signals.clear()
    with Monitor(session) as monitor:
        for _ in range(6):
            pass_time(0.35)
            pictures.add(pixmaps(watcher)[0][1])
        assert len(pictures) >= 4
        frames = monitor.sent("NewIcon")
        assert len(frames) > 6 and keeps_pace(frames, 5)
    assert {name for name, *_ in watcher.signals} == {"NewIcon"}


def test_a_restless_client_causes_no_more_frames(session, watcher):
    with Monitor(session) as monitor:
        for number in range(1500):
            method = "HideIndicator" if number % 2 else "ShowIndicator"
            session.call(method, "build")
            session.call("SetDetail", "build", str(number))
        pass_time(0.5)
        for member in ("NewIcon", "NewStatus", "NewToolTip", "LayoutUpdated"):
            assert keeps_pace(monitor.sent(member), 5)


def test_a_flag_stills_it():
    with Session("--still") as session, Watcher(session) as watcher:
        wait(lambda: session.plugin("tray")[0] == "on", "registration")
        session.call("ShowIndicator", "build")
        wait(lambda: watcher.heard("NewIcon"), "picture")
        with Monitor(session) as monitor:
            pass_time(2)
        assert monitor.messages == []


@pytest.mark.slow
def test_nothing_is_sent_in_ten_idle_seconds(session, watcher):
    session.call("SetTitle", "build", "Build")
    session.call("ShowIndicator", "build")
    session.call("HideIndicator", "build")
    pass_time(1)
    with Monitor(session) as monitor:
        pass_time(10)
    assert monitor.messages == []


@pytest.mark.slow
@pytest.mark.parametrize("visible, most", [(True, 5), (False, 1)])
def test_frames_of_a_countdown(session, watcher, visible, most):
    with Monitor(session) as monitor:
        session.countdown(
            "tea", 10, indicator=Variant("b", visible), interval=Variant("u", 0))
        wait(lambda: session.of("tea", "LastResult") == "finished", "end", 15)
        pass_time(0.5)
        frames = monitor.sent("NewIcon")
    assert 9 <= len(frames) <= 10 * most + 1 and keeps_pace(frames, most)


@pytest.mark.slow
def test_a_long_countdown_sends_next_to_nothing(session, watcher):
    session.countdown("tea", 7200, interval=Variant("u", 0))
    wait(lambda: watcher.heard("NewIcon"), "picture")
    with Monitor(session) as monitor:
        pass_time(5)
    assert monitor.messages == []


def test_the_tooltip_lists_what_is_active(session, watcher):
    session.show("export", title=text("Ex & <port>"), detail=text("12 of 90"))
    session.call("SetProgress", "export", 0.6)
    session.countdown("tea", 90)
    pass_time(0.5)
    _, _, heading, body = watcher.all()["ToolTip"]
    assert heading == "2 active"
    assert body == "Ex &amp; &lt;port&gt;: 60 %, 12 of 90\ntea: 2 min left"
    assert watcher.all()["IconAccessibleDesc"] == "Ex & <port>: 60 %, 12 of 90"
    assert watcher.all()["AttentionAccessibleDesc"] == watcher.all()["IconAccessibleDesc"]


def test_the_tooltip_and_the_menu_stay_short(session, watcher):
    for number in range(30):
        session.call("ShowIndicator", f"n{number}")
    pass_time(0.5)
    lines = watcher.all()["ToolTip"][3].split("\n")
    assert len(lines) == 9 and lines[-1] == "… and 22 more"
    assert "… and 18 more" in watcher.labels().values()


# The menu.


@pytest.mark.parametrize("how", ["Event", "EventGroup"])
@pytest.mark.parametrize("data", [GLib.Variant("i", 0), GLib.Variant("s", "")])
def test_hide_pause_resume_cancel(session, watcher, how, data):
    def click(label):
        number = wait(lambda: next(
            (key for key, value in watcher.labels().items() if value == label), None), label)
        if how == "Event":
            watcher.menu_call("Event", "(isvu)", number, "clicked", data, 0)
        else:
            watcher.menu_call("EventGroup", "(a(isvu))", [(number, "clicked", data, 0)])

    session.call("ShowIndicator", "tea")
    cookie = session.call("Hold", "tea", "brewing", {})
    assert cookie
    session.countdown("tea", 60)
    click("Pause")
    assert session.of("tea", "CountdownState") == "paused"
    click("Resume")
    assert session.of("tea", "CountdownState") == "running"
    click("Hide")
    assert not session.of("tea", "Busy")
    click("Cancel countdown")
    assert session.of("tea", "CountdownState") == "none"
    assert session.of("tea", "LastResult") == "cancelled"
    wait(lambda: list(watcher.labels().values()) == ["Nothing is busy"], "empty menu")


def test_other_events_do_nothing(session, watcher):
    session.call("ShowIndicator", "tea")
    pass_time(0.3)
    number = watcher.id_of("Hide")
    for name in ("opened", "closed", "hovered", ""):
        watcher.menu_call("Event", "(isvu)", number, name, GLib.Variant("i", 0), 0)
        watcher.menu_call("Event", "(isvu)", 0, name, GLib.Variant("s", ""), 0)
    assert session.of("tea", "Busy")


def test_a_late_click_hits_nothing_else(session, watcher):
    session.call("ShowIndicator", "one")
    pass_time(0.3)
    stale = watcher.id_of("Hide")
    session.call("Forget", "one")
    session.call("ShowIndicator", "two")
    pass_time(0.5)
    with pytest.raises(GLib.Error):
        watcher.menu_call("Event", "(isvu)", stale, "clicked", GLib.Variant("i", 0), 0)
    with pytest.raises(GLib.Error):
        watcher.menu_call("EventGroup", "(a(isvu))", [(stale, "clicked", GLib.Variant("i", 0), 0)])
    mixed = [(number, "opened", GLib.Variant("i", 0), 0) for number in (0, stale)]
    assert watcher.menu_call("EventGroup", "(a(isvu))", mixed) == ([stale],)
    assert session.of("two", "Busy")


@pytest.mark.parametrize("depth", [-2**31, -1, 0, 1, 2, 2**31 - 1])
def test_any_depth(session, watcher, depth):
    for name in ("one", "two"):
        session.call("ShowIndicator", name)
    pass_time(0.5)
    _, (root, properties, children) = watcher.menu_call("GetLayout", "(iias)", 0, depth, [])
    assert root == 0 and properties["children-display"] == "submenu"
    assert len(children) == (0 if depth == 0 else 2)
    if depth:
        assert [len(child[2]) for child in children] == [0 if depth == 1 else 1] * 2
        assert all(child[1]["children-display"] == "submenu" for child in children)


def test_reading_the_menu_in_parts(session, watcher):
    for name in ("one", "two"):
        session.call("ShowIndicator", name)
    pass_time(0.5)
    first = min(watcher.labels())
    layout = watcher.menu_call("GetLayout", "(iias)", first, -1, ["label"])[1]
    assert layout[1] == {"label": "one: busy"} and layout[2][0][1] == {"label": "Hide"}
    assert watcher.menu_call("GetProperty", "(is)", first, "label") == ("one: busy",)
    assert watcher.menu_call("GetGroupProperties", "(aias)", [first], ["label"]) == (
        [(first, {"label": "one: busy"})],)
    assert len(watcher.menu_call("GetGroupProperties", "(aias)", [], [])[0]) == 5
    assert watcher.menu_call("AboutToShow", "(i)", 0) == (False,)
    assert watcher.menu_call("AboutToShowGroup", "(ai)", [0, 99999]) == ([], [99999])
    for method, signature, arguments in (
            ("GetLayout", "(iias)", (99999, -1, [])), ("GetProperty", "(is)", (99999, "label")),
            ("GetProperty", "(is)", (first, "nonsense")), ("AboutToShow", "(i)", (-1,))):
        with pytest.raises(GLib.Error, match="InvalidArgs"):
            watcher.menu_call(method, signature, *arguments)


def test_underlines_are_no_key_marks(session, watcher):
    session.call("ShowIndicator", "a_b")
    pass_time(0.3)
    assert "a__b: busy" in watcher.labels().values()


def test_a_text_that_changes_is_pushed_alone(session, watcher):
    session.countdown("tea", 5)
    pass_time(0.3)
    watcher.signals.clear()
    pass_time(2.5)
    updates = [arguments for name, arguments, _ in watcher.signals
               if name == "ItemsPropertiesUpdated"]
    assert [list(entry[0][0][1].values()) for entry in updates] == [
        ["tea: 4 s left"], ["tea: 3 s left"]]
    assert not watcher.heard("LayoutUpdated")


# The item.


@pytest.mark.parametrize("delta", [-2**31, -120, -2, -1, 0, 1, 120, 2**31 - 1])
def test_scrolling_by_any_size_goes_one_on(session, watcher, delta):
    for name in ("a", "b", "c"):
        session.call("ShowIndicator", name)
    pass_time(0.5)
    watcher.item_call("Scroll", "(is)", delta, "vertical")
    pass_time(0.5)
    expected = "a" if delta == 0 else "b" if delta > 0 else "c"
    assert watcher.all()["IconAccessibleDesc"] == f"{expected}: busy"


def test_clicks_on_the_item_are_taken(session, watcher):
    for method in ("Activate", "SecondaryActivate", "ContextMenu"):
        assert watcher.item_call(method, "(ii)", -5, 2**31 - 1) == ()
    assert watcher.all()["ItemIsMenu"] is True


@pytest.mark.parametrize("interface, isEmpty", [
    ("", False), ("org.freedesktop.DBus.Properties", True)])
def test_properties_of_other_interfaces(session, watcher, interface, isEmpty):
    reply, = watcher._call(
        "/StatusNotifierItem", "org.freedesktop.DBus.Properties", "GetAll", "(s)", interface)
    assert (reply == {}) is isEmpty


def test_single_properties_and_introspection(session, watcher):
    for name in ("IconName", "IconPixmap", "IconAccessibleDesc", "IconThemePath"):
        value, = watcher._call(
            "/StatusNotifierItem", "org.freedesktop.DBus.Properties", "Get", "(ss)",
            "org.kde.StatusNotifierItem", name)
        assert value == watcher.all()[name]
    for path in ("/StatusNotifierItem", "/StatusNotifierItem/Menu"):
        xml, = watcher._call(path, "org.freedesktop.DBus.Introspectable", "Introspect", "()")
        assert xml.count('<interface name="org.freedesktop.DBus.Properties">') == 1


# The watcher.


def test_it_registers_again_when_the_watcher_returns(session, watcher):
    session.call("ShowIndicator", "build")
    watcher.leave()
    wait(lambda: session.plugin("tray")[0] == "waiting", "waiting")
    pass_time(0.3)
    watcher.signals.clear()
    pass_time(1)
    assert not watcher.signals
    watcher.own()
    wait(lambda: len(watcher.called("RegisterStatusNotifierItem")) == 2, "second registration")
    wait(lambda: watcher.heard("NewIcon"), "frame")
    assert session.plugin("tray") == ("on", "org.kde.StatusNotifierWatcher is there")


@pytest.mark.slow
def test_a_watcher_that_fails_or_hangs(session):
    with Watcher(session) as watcher:
        watcher.leave()
        watcher.mode = "fail"
        for _ in range(3):
            watcher.own()
            wait(lambda: session.plugin("tray")[0] == "failed", "failure")
            watcher.leave()
            wait(lambda: session.plugin("tray")[0] == "waiting", "waiting")
        watcher.mode = "hang"
        watcher.own()
        session.call("ShowIndicator", "build")
        wait(lambda: session.plugin("tray")[0] == "failed", "time limit", 15)
        session.call("HideIndicator", "build")
        assert not watcher.signals
        watcher.leave()
        watcher.mode = "answer"
        watcher.own()
        wait(lambda: session.plugin("tray")[0] == "on", "registration")
    lines = [line for line in session.daemon.log.splitlines() if "plugin tray" in line]
    # One for the error, one for the silence.
    assert len(lines) == 2


def test_the_item_goes_with_the_daemon(session, watcher):
    item = watcher.item()
    assert session.stop() == 0
    assert session.owner(item) is None
