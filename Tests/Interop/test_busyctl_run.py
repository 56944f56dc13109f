# SPDX-License-Identifier: MIT
"""busyctl run: it is the command, whatever happens to that."""

import re
import signal

import pytest

from support.processes import wait_until_idle
from support.terminal import terminal
from support.waiting import pass_time, wait_until

pytestmark = pytest.mark.one_bus


def test_it_becomes_the_command(session):
    running = session.start("run", "--name=job", "--title=T", "sh", "-c", "echo $$; exec sleep 60")
    assert int(running.stdout.readline()) == running.pid
    state = session.state("job")
    assert state["title"] == "T"
    holder = state["holders"][0]
    assert (holder["pid"], holder["lease"], holder["reason"]) == (
        running.pid, "pid", "sh -c echo $$; exec sleep 60")
    running.kill()
    running.wait(10)
    wait_until(lambda: not session.busy("job"), "the indicator ends with the process")
    assert session.state("job")["last_result"] == "owner-lost"


def test_the_control_has_the_commands_name(session):
    running = session.start("run", "/usr/bin/sleep", "60")
    wait_until(lambda: session.busy("sleep"), "it runs")
    running.terminate()
    assert running.wait(10) == -signal.SIGTERM


def test_short_commands_never_flash_up(session):
    running = session.start("run", "--name=a", "sleep", "60")
    other = session.start("run", "--name=b", "--grace=0", "--minimum=1s", "sleep", "60")
    wait_until(lambda: session.busy("a") and session.busy("b"), "both run")
    assert session.state("b")["visible"]
    wait_until(lambda: session.state("a")["visible"], "a is worth to be shown")
    running.terminate()
    other.terminate()
    assert not session.fails(64, "run", "--grace=x", "true") == ""


@pytest.mark.parametrize("extra", [[], ["--notify"], ["--notify=1h"]])
def test_status(session, extra):
    assert session.run("run", *extra, "true").returncode == 0
    assert session.run("run", *extra, "sh", "-c", "exit 42").returncode == 42
    assert session.run("run", *extra, "sh", "-c", "kill -9 $$").returncode == -9
    assert session.run("run", *extra, "/nonexistent").returncode == 127
    assert session.run("run", *extra, "nonexistent-command").returncode == 127
    assert session.run("run", *extra, "/etc/passwd").returncode == 126
    done = session.run("run", *extra, "printf", "%s|", "a b", "--json", "-x", "*")
    assert (done.stdout, done.stderr) == ("a b|--json|-x|*|", "")
    done = session.run("run", *extra, "--", "cat", input="through\n", stdin=None)
    assert done.stdout == "through\n"


def test_what_cannot_be_run_leaves_no_indicator(session):
    session.run("run", "--name=a", "/nonexistent")
    assert session.state("a")["last_result"] == "released: exit 127"
    assert not session.busy("a")


def test_notify_tells_how_it_went(session):
    session.run("run", "--name=a", "--notify=1h", "sh", "-c", "exit 2")
    assert session.state("a")["last_result"] == "released: exit 2"
    session.run("run", "--name=a", "--notify=1h", "sh", "-c", "kill -9 $$")
    assert session.state("a")["last_result"] == "released: signal 9"
    session.run("run", "--name=a", "--notify", "true")
    assert session.state("a")["last_result"] == "released: exit 0"


def test_notify_passes_signals_on(session):
    for number in (signal.SIGTERM, signal.SIGHUP):
        running = session.start("run", "--name=a", "--notify", "sleep", "60")
        wait_until(lambda: session.busy("a"), "it runs")
        wait_until_idle(running.pid)
        running.send_signal(number)
        assert running.wait(10) == -number
        assert session.state("a")["last_result"] == f"released: signal {int(number)}"


def test_the_command_finds_the_signals_as_they_were(session):
    command = ["sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status"]
    # 32 and 33 are the C library's own.
    def masks(text):
        return [int(line.split()[1], 16) & 0x7FFFFFFF for line in text.splitlines()]
    before = masks(session.bus.run(*command).stdout)
    for extra in ([], ["--notify"]):
        assert masks(session.run("run", *extra, *command).stdout) == before
    # And no descriptor is left to it but its streams.
    listing = session.run("run", "ls", "/proc/self/fd").stdout.split()
    assert listing == ["0", "1", "2", "3"]


@pytest.mark.parametrize("extra", [[], ["--notify"]])
def test_no_daemon_is_no_reason_not_to_run(bare, extra):
    done = bare.run("run", *extra, "sh", "-c", "echo ran; exit 5")
    assert (done.returncode, done.stdout) == (5, "ran\n")
    assert done.stderr.count("\n") == 1 and "no indicator" in done.stderr
    assert bare.run("--quiet", "run", *extra, "true").stderr == ""
    bare.environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nonexistent"
    done = bare.run("run", *extra, "sh", "-c", "exit 5")
    assert done.returncode == 5 and done.stderr.count("\n") == 1


def test_a_name_that_is_none_is_an_error(session):
    assert "name" in session.fails(1, "run", "--name=", "true")


@pytest.mark.parametrize("extra", ["", "--notify"])
def test_in_a_terminal(session, extra):
    with terminal(session) as shell:
        shell.command(f"busyctl run {extra} --name=job sh -c 'test -t 0 && echo is-a-tty; cat'")
        shell.shows("is-a-tty\n")
        wait_until(lambda: session.busy("job"), "it runs")
        shell.command("echoed")
        shell.shows("echoed\nechoed")
        shell.type("C-z")
        shell.shows("Stopped")
        shell.command("jobs; fg")
        pass_time(0.3)
        shell.command("again")
        shell.shows("again\nagain")
        shell.interrupt()
        shell.command("echo status $?")
        shell.shows("status 130")
        wait_until(lambda: not session.busy("job"), "it has ended")
        shell.command(f"busyctl run {extra} sh -c 'trap \"echo trapped; exit 3\" INT; "
                      "echo ready; while :; do sleep 0.1; done'")
        shell.shows("\nready")
        shell.type("C-c")
        shell.shows("^Ctrapped")
        shell.command("echo status $?")
        shell.shows("status 3")


def test_terminal_progress_is_set_and_cleared(session):
    """`script` records what a terminal that is known to show progress would get."""
    record = session.directory / "record"
    for number, command in enumerate((
            "busyctl run --notify sleep 0.3",
            "busyctl run --notify sh -c 'kill -9 $$'",
            "busyctl countdown a 1s --wait",
            "busyctl countdown a 60 --wait & until grep -q 9.4.1 $RECORD; do sleep 0.05; done; "
            "busyctl cancel a; wait",
            "timeout -s INT 2 busyctl countdown a 60 --wait")):
        name = f"{record}{number}"
        quote = '"' if "'" in command else "'"
        session.bus.spawn(
            "script", "-qefc", f"bash -c {quote}{command}{quote}", name,
            env={**session.environment, "TERM_PROGRAM": "ghostty", "RECORD": name}).wait(20)
        sequences = re.findall("\x1b]9;4;([0-9;]*)\x1b\\\\", open(name, errors="replace").read())
        assert sequences, (command, open(name).read())
        assert sequences[-1] == "0;0" and sequences[0] != "0;0", (command, sequences)
        assert sequences[0] == ("3;0" if "run" in command else "1;0")
    name = f"{record}-unknown"
    session.bus.spawn("script", "-qec", "busyctl run --notify true", name).wait(20)
    assert "]9;4" not in open(name).read()


def test_arguments_of_any_encoding(session):
    """What is run gets its words byte for byte; what the bus shall carry has to be UTF-8."""
    word = b"a\xff\xfe b"
    for extra in ([], ["--notify"]):
        done = session.run("run", *extra, "printf", "%s", word, text=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, word, b"")
    for arguments in (["show", word], ["run", b"--name=" + word, "true"]):
        done = session.run(*arguments, text=False)
        assert done.returncode == 64 and b"UTF-8" in done.stderr


@pytest.mark.parametrize("extra", [[], ["--notify"]])
def test_a_script_without_its_first_line(session, extra):
    script = session.directory / "bin/bare-script"
    script.write_text("echo \"$# $1\"; exit 4\n")
    script.chmod(0o755)
    for command in ("bare-script", str(script)):
        done = session.run("run", *extra, command, "a b", "c")
        assert (done.returncode, done.stdout) == (4, "2 a b\n"), done
