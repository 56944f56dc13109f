# SPDX-License-Identifier: MIT
"""busyctl watch for programs: lines, JSON, panels; readers that are slow, late, or leave."""

import fcntl
import json
import os
import select
import signal
import socket
import time

import jsonschema
import pytest

from support.harness import ROOT
from support.processes import check_idle, status_of, wait_until_idle
from support.waiting import pass_time, wait_until

pytestmark = pytest.mark.one_bus

SCHEMA = json.loads((ROOT / "docs/busyctl-state.schema.json").read_text())
NASTY = "<&\">'\\ \n\x1b[31m 👍🏽 日本 {{name}} %{F#f00} #[fg=red]"


class Reader:
    """Lines of a child, with the time that one has to wait for them."""

    def __init__(self, child):
        self.child = child
        self.rest = b""

    def line(self, seconds=10):
        deadline = time.monotonic() + seconds
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.child.stdout], [], [], deadline - time.monotonic())
            assert ready, "no line came in time"
            data = os.read(self.child.stdout.fileno(), 1 << 16)
            assert data, "the output has ended"
            self.rest += data
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode()

    def until(self, wanted, seconds=10):
        deadline = time.monotonic() + seconds
        while True:
            line = self.line(deadline - time.monotonic())
            if wanted(line):
                return line

    def silent(self, seconds):
        return not self.rest and not select.select([self.child.stdout], [], [], seconds)[0]


def follow(session, *arguments, **options):
    child = session.start("watch", *arguments, **options)
    return child, Reader(child)


def test_lines(session):
    session.ok("show", "a", "--title=Export")
    child, reader = follow(session)
    assert reader.line() == "a: busy Export"
    session.ok("progress", "a", "40%")
    assert reader.line() == "a: busy 40% Export"
    session.ok("progress", "a", "40%")
    session.ok("detail", "a", "12 of 90")
    assert reader.line() == "a: busy 40% Export (12 of 90)"
    session.ok("countdown", "b", "2")
    assert [reader.line() for _ in range(3)] == [
        "b: counting 0:02", "b: counting 0:01", "b: idle (finished)"]
    session.ok("countdown", "b", "90", "--paused")
    assert reader.line() == "b: paused 1:30"
    session.ok("extend", "b", "5")
    assert reader.line() == "b: paused 1:35"
    session.ok("forget", "b")
    assert reader.line() == "b: absent"
    session.ok("hide", "a")
    assert reader.until(lambda line: "busy" not in line) == "a: idle"
    child.terminate()
    assert child.wait(10) == 0


def test_only_the_named_ones(session):
    session.ok("show", "a")
    session.ok("show", "b")
    for names in (["b"], ["b", "c"]):
        child, reader = follow(session, *names)
        assert reader.line() == "b: busy"
        if "c" in names:
            assert reader.line() == "c: absent"
        session.ok("show", "a", "--title=x")
        session.ok("title", "b", "new")
        assert reader.line() == "b: busy new"
        session.ok("title", "b", "")
        assert reader.line() == "b: busy"
        child.terminate()


def test_json_is_the_whole_state_each_time(session):
    session.ok("show", "a", f"--title={NASTY}")
    child, reader = follow(session, "--json")
    first = json.loads(reader.line())
    jsonschema.validate(first, SCHEMA)
    assert [control["name"] for control in first["controls"]] == ["a"]
    assert first["controls"][0]["title"].startswith("<&\">'\\  \ufffd[31m 👍🏽 日本")
    session.ok("countdown", "b", "1.5s", "--title=Tea")
    second = json.loads(reader.until(lambda line: '"b"' in line))
    jsonschema.validate(second, SCHEMA)
    countdown = second["controls"][1]["countdown"]
    assert 0 < countdown["remaining_usec"] <= countdown["duration_usec"] == 1_500_000
    ended = json.loads(reader.until(lambda line: "finished" in line))
    jsonschema.validate(ended, SCHEMA)
    assert ended["controls"][1]["countdown"] is None
    assert reader.silent(1.2)


def test_every_json_is_as_the_schema_says(session):
    session.ok("show", "a", f"--title={NASTY}", "--detail=D", "--icon=I")
    session.ok("hold", "a", "--ttl=1h", f"--reason={NASTY}")
    session.ok("progress", "a", "0.1")
    session.ok("countdown", "b", "1h", "--busy", "--clock=monotonic")
    session.ok("countdown", "c", "5", "--paused")
    session.ok("countdown", "d", "1281023894h")
    session.ok("disable", "e")
    for arguments in (["list"], ["watch", "--once"], ["watch", "--once", "b"],
                      *(["status", name] for name in "abcde"),
                      *(["why", name] for name in "ab")):
        output = session.ok(*arguments, "--json")
        assert output.count("\n") == 1
        jsonschema.validate(json.loads(output), SCHEMA)
    done = session.run("why", "c", "--json")
    assert done.returncode == 2 and done.stderr == ""
    jsonschema.validate(json.loads(done.stdout), SCHEMA)


def test_waybar(session):
    child, reader = follow(session, "--format=waybar", "--idle=all <quiet>")
    keys = {"text": str, "alt": str, "class": str, "percentage": int, "tooltip": str}

    def next_line():
        value = json.loads(reader.line())
        assert {key: type(value[key]) for key in keys} == keys and len(value) == len(keys)
        return value

    assert next_line() == {"text": "all &lt;quiet&gt;", "alt": "idle", "class": "idle",
                           "percentage": 0, "tooltip": ""}
    session.ok("show", "a", f"--title={NASTY}")
    value = next_line()
    assert value["class"] == "busy"
    assert value["text"].startswith("&lt;&amp;&quot;&gt;&#39;\\  \ufffd[31m")
    session.ok("countdown", "b", "60", "--title=Tea", "--paused")
    value = json.loads(reader.until(lambda line: "Tea" in line and "paused" in line))
    assert value["text"] == "Tea 1:00 +1" and value["class"] == "paused"
    lines = value["tooltip"].split("\n")
    assert lines[0].startswith("&lt;") and lines[1] == "Tea  1:00 (paused)"
    child.terminate()


def test_templates(session):
    child, reader = follow(session, "--format={{label}} {{remaining}}{{more}}", "--idle=nothing")
    assert reader.line() == "nothing"
    session.ok("countdown", "a", "3")
    assert [reader.line() for _ in range(4)] == ["a 0:03", "a 0:02", "a 0:01", "nothing"]
    session.ok("show", "b")
    session.ok("show", "c")
    assert reader.until(lambda line: "c" in line) == "c +1"
    session.ok("hide", "c")
    assert reader.line() == "b "
    assert session.ok("watch", "--once", "--format={{label}}") == "b\n"
    assert session.ok("status", "c", "--format={{name}} {{state}}") == "c idle\n"


def test_the_one_that_became_active_last_is_shown(session):
    session.ok("countdown", "old", "1h")
    pass_time(0.02)
    session.ok("show", "young")
    pass_time(0.02)
    session.ok("countdown", "youngest", "1h", "--paused")
    for _ in range(2):
        assert session.ok("watch", "--once", "--format={{name}} {{more}}") == "youngest +2\n"
    session.ok("cancel", "youngest")
    assert session.ok("watch", "--once", "--format={{json(tooltip)}}") == '"old  1:00:00\\nyoung"\n'


def test_several_panels_show_the_same(session):
    panels = [follow(session, "--format={{label}} {{remaining}} {{more}}", "--idle=-")
              for _ in range(4)]
    for _, reader in panels:
        assert reader.line() == "-"
    session.ok("countdown", "a", "3")
    session.ok("show", "b")
    session.ok("hide", "b")
    seen = []
    for _, reader in panels:
        lines = []
        while not lines or lines[-1] != "-":
            lines.append(reader.line())
        seen.append([line for line in lines if line.startswith("a")])
    assert seen[0][-2:] == ["a 0:02 ", "a 0:01 "]
    assert all(one[-2:] == seen[0][-2:] for one in seen)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_survives_the_daemon(session, number):
    session.ok("show", "a", "--title=T")
    lines, line_reader = follow(session)
    documents, document_reader = follow(session, "--json")
    bar, bar_reader = follow(session, "--format={{label}}", "--idle=idle")
    assert line_reader.line() == "a: busy T"
    assert bar_reader.line() == "T"
    json.loads(document_reader.line())
    session.daemon.terminate(number)
    assert line_reader.line() == "a: absent"
    assert bar_reader.line() == "idle"
    assert json.loads(document_reader.line()) == {
        "version": 1, "daemon_running": False, "controls": []}
    session.start_daemon()
    assert line_reader.line() == "a: busy T"
    assert bar_reader.line() == "T"
    assert json.loads(document_reader.until(lambda line: '"a"' in line))["daemon_running"]


def test_it_waits_for_a_daemon_and_never_starts_it(bare):
    bare.bus.can_start()
    child, reader = follow(bare, "--format={{label}}", "--idle=idle")
    assert reader.line() == "idle"
    assert reader.silent(0.5)
    bare.start_daemon()
    bare.ok("show", "a")
    assert reader.line() == "a"


def test_once_without_a_daemon(bare):
    assert bare.ok("watch", "--once") == ""
    assert bare.ok("watch", "--once", "--format={{label}}", "--idle=idle") == "idle\n"


def test_a_reader_that_leaves(session):
    for arguments in ([], ["--json"], ["--format=waybar"]):
        child, reader = follow(session, *arguments)
        session.ok("show", "a")
        reader.line()
        child.stdout.close()
        # At once, not only when there is something to write.
        assert child.wait(10) == 0
        assert child.stderr.read() == b""
        child.stdout = None
    shell = session.bus.run("bash", "-c", "busyctl watch | head -n 1")
    assert (shell.stdout, shell.stderr) == ("a: busy\n", "")


@pytest.mark.parametrize("arguments", [["--json"], [], ["--format={{label}}"]])
def test_a_slow_reader_gets_the_newest(session, arguments):
    session.ok("show", "a")
    child, reader = follow(session, *arguments)
    fcntl.fcntl(child.stdout, fcntl.F_SETPIPE_SZ, 4096)
    reader.line()
    flags = fcntl.fcntl(child.stdout, fcntl.F_GETFL)
    peer = session.bus.connect()
    for number in range(3000):
        peer.call("SetTitle", "a", f"{number:0500}")
        if number == 1000:
            before = status_of(child.pid, "RssAnon")
    peer.call("SetTitle", "a", "newest")
    wait_until_idle(child.pid)
    assert status_of(child.pid, "RssAnon") - before < 1 << 20
    line = reader.until(lambda line: "newest" in line)
    assert line
    assert reader.silent(0.3)
    assert flags & os.O_NONBLOCK == 0
    check_idle(child.pid)


def test_lines_are_whole(session):
    """A line is one write, also when it is longer than a pipe takes at once."""
    for number in range(200):
        session.ok("show", f"control {number}", "--title=" + "x" * 500)
    child, reader = follow(session, "--json")
    fcntl.fcntl(child.stdout, fcntl.F_SETPIPE_SZ, 4096)
    assert len(json.loads(reader.line())["controls"]) == 200
    session.ok("hide", "control 7")
    state = json.loads(reader.line())
    assert [c["name"] for c in state["controls"] if not c["busy"]] == ["control 7"]


def test_output_to_a_file_and_a_socket(session):
    ours, theirs = socket.socketpair()
    session.ok("show", "a")
    child = session.start("watch", "--format={{label}}", stdout=theirs)
    theirs.close()
    assert ours.recv(100) == b"a\n"
    ours.close()
    assert child.wait(10) == 0
    path = session.directory / "file"
    with path.open("wb") as file:
        child = session.start("watch", "--format={{label}}", stdout=file)
    wait_until(lambda: path.read_text() == "a\n", "the line is in the file")
    session.ok("show", "b")
    wait_until(lambda: path.read_text() == "a\nb\n", "the next line is there")
    check_idle(child.pid)
