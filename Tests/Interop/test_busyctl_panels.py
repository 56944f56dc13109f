# SPDX-License-Identifier: MIT
"""The recipes of packaging/panels, as far as they can be tried without a desktop."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from support.harness import ROOT
from support.terminal import terminal
from support.waiting import pass_time, wait_until

pytestmark = pytest.mark.one_bus

PANELS = ROOT / "packaging/panels"
TITLES = [
    "Plain", "<&\">'\\", "a\nb\tc", "\x1b[31mred\x1b]0;x\x07", "👍🏽 日本語 e\u0301", "%{F#f00}x%{F-}",
    "#[fg=red]x", "</txt><tool>", "$(touch /tmp/never) `id`", "x" * 512, "é" * 256, "{{name}} %s",
]


def shell(session, command):
    done = session.bus.run("sh", "-c", command)
    assert done.stderr == "", done
    return done.stdout


def recipe(file, key):
    """The command that a recipe gives to its panel."""
    return re.search(rf"^\s*{key}\s*=\s*(.*)$", (PANELS / file).read_text(), re.M).group(1)


def once(command):
    """The same command, ending after the present state."""
    return command.replace("busyctl watch ", "busyctl watch --once ")


def waybar():
    text = "\n".join(line for line in (PANELS / "waybar.jsonc").read_text().splitlines()
                     if not line.lstrip().startswith("//"))
    return json.loads(text)["custom/busy"]


@pytest.mark.parametrize("title", TITLES)
def test_titles(session, title):
    session.ok("show", "a", f"--title={title}")
    value = json.loads(shell(session, once(waybar()["exec"])))
    for key in ("text", "tooltip"):
        ElementTree.fromstring(f"<markup>{value[key]}</markup>")
    plain = ElementTree.fromstring(f"<markup>{value['tooltip']}</markup>").text
    assert plain == re.sub("[\x00-\x1f]", lambda c: " " if c[0] in "\n\t" else "\ufffd", title)

    genmon = shell(session, f"sh {PANELS}/xfce4-genmon.sh")
    assert genmon.count("\n") == 1
    tree = ElementTree.fromstring(f"<genmon>{genmon}</genmon>")
    assert [child.tag for child in tree] == ["txt", "tool"]
    assert tree[1].text == plain

    blocks = shell(session, once(recipe("i3blocks.conf", "command")))
    assert blocks.count("\n") == 1
    ElementTree.fromstring(blocks)

    line = shell(session, once(recipe("polybar.ini", "exec")))
    assert line.count("\n") == 1 and "%{" not in line

    line = shell(session, once(re.search(r"#\((.*?)\) %H", (PANELS / "tmux.conf").read_text())[1]))
    assert line.count("\n") == 1 and not re.search(r"#[\[({]", line)


def test_a_long_title_leaves_room_for_what_comes_behind_it(session):
    session.ok("show", "a", "--title=A")
    session.ok("show", "b", f"--title={'x' * 512}")
    session.ok("progress", "b", "40%")
    text = json.loads(shell(session, once(waybar()["exec"])))["text"]
    assert text == f"{'x' * 29}… 40% +1" and len(text) <= waybar()["max-length"]


def test_several_and_none(session):
    assert shell(session, f"sh {PANELS}/xfce4-genmon.sh") == (
        "<txt></txt><tool>nothing is busy</tool>\n")
    assert json.loads(shell(session, once(waybar()["exec"])))["text"] == ""
    session.ok("show", "a", "--title=A")
    pass_time(0.02)
    session.ok("countdown", "b", "90", "--title=B", "--paused")
    assert shell(session, f"sh {PANELS}/xfce4-genmon.sh") == (
        "<txt>B 1:30 +1</txt><tool>A&#10;B  1:30 (paused)</tool>\n")
    assert shell(session, once(recipe("polybar.ini", "exec"))) == "B 1:30 +1\n"


def test_genmon_without_a_daemon_is_quiet(bare):
    assert shell(bare, f"sh {PANELS}/xfce4-genmon.sh") == "<txt></txt><tool>nothing is busy</tool>\n"


def test_clicks(session):
    session.ok("countdown", "tea time", "90")
    for command in (waybar()["on-click"], recipe("polybar.ini", "click-left")):
        before = session.state("tea time")["countdown"]["paused"]
        shell(session, command)
        assert session.state("tea time")["countdown"]["paused"] != before


def test_tmux_shows_it(session):
    """The one panel that is here, drawn in another one of its kind."""
    session.ok("show", "a", f"--title=#[fg=red]Tea #(touch {session.directory}/never) %H 日本")
    with terminal(session, 100, 10) as outer:
        outer.command(f"env -u TMUX tmux -S {session.directory}/inner -f {PANELS}/tmux.conf new sh")
        outer.shows("# [fg=red]Tea # (touch")
        session.ok("countdown", "b", "5")
        outer.shows("b 0:0")
        session.ok("hide", "a")
        wait_until(lambda: not re.search("Tea|b 0:0", outer.text()), "tmux shows nothing")
        outer.command("exit")
    assert not (session.directory / "never").exists()


def test_every_recipe_is_listed_and_says_how():
    text = (PANELS / "README.md").read_text()
    for path in PANELS.iterdir():
        if path.name != "README.md":
            assert path.name in text
            head = path.read_text().splitlines()[:7]
            assert any("SPDX" in line for line in head)
            assert path.suffix == ".css" or any("1." in line for line in head)
