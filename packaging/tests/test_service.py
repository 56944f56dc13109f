# SPDX-License-Identifier: MIT
"""The installed service in a session under `systemd --user`; run by `check-service`."""

import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

UNIT = "busyindicatord.service"
NAME = "org.busyindicator.BusyIndicator1"
PATH = "/org/busyindicator/BusyIndicator1"
PROGRAM = "/usr/local/bin/busyindicatord"
INSTALLED_UNIT = pathlib.Path("/usr/local/lib/systemd/user") / UNIT
MANUAL = pathlib.Path("/usr/local/share/man/man8/busyindicatord.8")
USER_UNITS = pathlib.Path.home() / ".config/systemd/user"
RUNTIME = pathlib.Path(os.environ["XDG_RUNTIME_DIR"])
BUS_KIND = os.environ["SESSION_BUS_KIND"]

# dbus-daemon does not learn that a unit has failed, and gives up after 25 s.
ACTIVATION_TIMEOUT = 40


def run(*command, check=True, timeout=ACTIVATION_TIMEOUT):
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    if check and done.returncode != 0:
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def systemctl(*arguments, **options):
    return run("systemctl", "--user", "--no-pager", *arguments, **options)


def call(method, *arguments, check=True):
    """Calls the manager, starting it if need be; arguments as of busctl, the signature first."""
    return run("busctl", "--user", "call", NAME, PATH, NAME, method, *arguments, check=check)


def control_property(control, name):
    """One property of a control whose name needs no escaping, in busctl's notation."""
    path = f"{PATH}/control/{control}"
    interface = f"{NAME}.Control"
    return run("busctl", "--user", "get-property", NAME, path, interface, name).stdout.strip()


def unit_property(name):
    return systemctl("show", UNIT, "--property", name, "--value").stdout.strip()


def main_pid():
    return int(unit_property("MainPID"))


def owner_pid():
    answer = run(
        "busctl", "--user", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus",
        "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s", NAME, check=False)
    return int(answer.stdout.split()[1]) if answer.returncode == 0 else None


def wait_until(condition, what, seconds=10):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {seconds} s in vain until {what}")


@pytest.fixture(autouse=True)
def stopped():
    """Each test begins with the service stopped, and no drop-in."""
    systemctl("stop", UNIT)
    wait_until(lambda: owner_pid() is None, "the bus has seen that it is gone")
    systemctl("reset-failed", UNIT, check=False)
    yield
    systemctl("stop", UNIT, check=False)


@pytest.fixture
def drop_in():
    """Adds lines to the unit."""
    directory = USER_UNITS / f"{UNIT}.d"
    directory.mkdir(parents=True)
    file = directory / "test.conf"

    def add(text):
        file.write_text(text)
        systemctl("daemon-reload")

    yield add
    file.unlink(missing_ok=True)
    directory.rmdir()
    systemctl("daemon-reload")


def test_the_first_call_starts_it():
    assert unit_property("ActiveState") == "inactive"
    call("ShowIndicator", "s", "first")
    assert unit_property("ActiveState") == "active"
    assert main_pid() == owner_pid()
    assert control_property("first", "Busy") == "b true"
    assert NAME in unit_property("StatusText")


def test_ten_first_calls_at_once_start_it_once():
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        calls = [pool.submit(call, "ShowIndicator", "s", f"c{number}") for number in range(10)]
        for each in calls:
            each.result()
    assert main_pid() == owner_pid()
    assert unit_property("NRestarts") == "0"
    for number in range(10):
        assert control_property(f"c{number}", "Busy") == "b true"


def test_busyctl_starts_it():
    run("busyctl", "show", "tool")
    assert control_property("tool", "Busy") == "b true"
    assert main_pid() == owner_pid()


def test_reading_does_not_start_it():
    assert run("busyctl", "status", "tool", check=False).returncode != 0
    assert unit_property("ActiveState") == "inactive"


def test_it_is_restarted_when_it_hangs(drop_in):
    drop_in("[Service]\nWatchdogSec=2s\n")
    call("ShowIndicator", "s", "hanging")
    pid = main_pid()
    # It lives on while it serves, with nothing to do but the pings.
    time.sleep(5)
    assert main_pid() == pid
    begin = time.monotonic()
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: main_pid() not in (0, pid), "the watchdog has it restarted", 20)
    print(f"restarted {time.monotonic() - begin:.1f} s after it hung")
    assert unit_property("NRestarts") == "1"
    call("ShowIndicator", "s", "again")
    assert control_property("again", "Busy") == "b true"


def test_it_is_restarted_when_it_is_killed():
    call("ShowIndicator", "s", "killed")
    pid = main_pid()
    os.kill(pid, signal.SIGKILL)
    # As soon as the bus has seen that it is gone, a call waits for the next one.
    wait_until(lambda: owner_pid() != pid, "the bus has seen that it is gone")
    call("ShowIndicator", "s", "meanwhile")
    assert control_property("meanwhile", "Busy") == "b true"
    wait_until(lambda: main_pid() not in (0, pid), "it is restarted")
    assert main_pid() == owner_pid()
    assert control_property("killed", "Busy") == "b true"


def test_it_stops_in_order_and_starts_anew():
    call("ShowIndicator", "s", "stopped")
    systemctl("stop", UNIT)
    # It would be "failed" after another status than 0.
    assert unit_property("ActiveState") == "inactive"
    wait_until(lambda: owner_pid() is None, "the bus has seen that it is gone")
    call("ShowIndicator", "s", "anew")
    assert main_pid() == owner_pid()


def test_it_can_be_restarted():
    call("ShowIndicator", "s", "restarted")
    pid = main_pid()
    systemctl("restart", UNIT)
    assert main_pid() not in (0, pid)
    assert main_pid() == owner_pid()
    assert control_property("restarted", "Busy") == "b true"


def test_its_store_is_in_the_runtime_directory():
    call("ShowIndicator", "s", "stored")
    directory = RUNTIME / "busyindicator"
    assert directory.stat().st_mode & 0o777 == 0o700
    (bus_id,) = run(
        "busctl", "--user", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus",
        "org.freedesktop.DBus", "GetId").stdout.split()[1:]
    store = directory / f"{json.loads(bus_id)}.db"
    assert store.stat().st_mode & 0o777 == 0o600
    assert store.stat().st_size > 0


def test_a_second_one_says_who_serves():
    call("ShowIndicator", "s", "taken")
    second = run(PROGRAM, check=False)
    assert second.returncode == 1
    assert str(main_pid()) in second.stderr
    assert len(second.stderr.splitlines()) == 1
    assert main_pid() == owner_pid()


def test_a_drop_in_gives_it_options(drop_in):
    drop_in(f"[Service]\nExecStart=\nExecStart={PROGRAM} --grace=1h\n")
    call("ShowIndicator", "s", "graceful")
    assert control_property("graceful", "Busy") == "b true"
    assert control_property("graceful", "Visible") == "b false"


def test_it_starts_without_user_namespaces_as_the_manual_says(drop_in):
    (lines,) = [
        text for text in MANUAL.read_text().split("\n.Bd -literal -offset indent\n")
        if "\nPrivateUsers=no\n" in text]
    drop_in(lines.split("\n.Ed\n")[0] + "\n")
    call("ShowIndicator", "s", "bare")
    assert control_property("bare", "Busy") == "b true"
    user_namespace = "/proc/{}/ns/user"
    assert os.readlink(user_namespace.format(main_pid())) == os.readlink(
        user_namespace.format("self"))


def test_a_wrong_option_is_not_tried_again(drop_in):
    drop_in(f"[Service]\nExecStart=\nExecStart={PROGRAM} --no-such-option\n")
    systemctl("start", UNIT, check=False)
    assert unit_property("ActiveState") == "failed"
    assert unit_property("ExecMainStatus") == "64"
    assert unit_property("NRestarts") == "0"


def test_a_caller_of_a_unit_that_cannot_start_gets_an_error(drop_in):
    drop_in("[Service]\nExecStart=\nExecStart=/bin/false\n")
    begin = time.monotonic()
    answer = call("ShowIndicator", "s", "broken", check=False)
    seconds = time.monotonic() - begin
    print(f"an error after {seconds:.1f} s: {answer.stderr.strip()}")
    assert answer.returncode != 0
    assert answer.stderr
    if BUS_KIND == "broker":
        assert seconds < 10
    # dbus-daemon goes on waiting, and lets further callers wait, until it has started after all.
    drop_in("")
    systemctl("start", UNIT)
    call("ShowIndicator", "s", "mended")


def test_a_caller_of_a_masked_unit_gets_an_error_at_once():
    systemctl("mask", "--runtime", UNIT)
    try:
        begin = time.monotonic()
        answer = call("ShowIndicator", "s", "masked", check=False)
        assert answer.returncode != 0
        assert time.monotonic() - begin < 5
    finally:
        systemctl("unmask", "--runtime", UNIT)


def test_it_sees_in_its_sandbox_when_a_process_ends():
    for prefix in ([], ["unshare", "--user"]):
        process = subprocess.Popen([*prefix, "sleep", "60"])
        call("Hold", "ssa{sv}", "process", "sleeping", "1", "pid", "u", str(process.pid))
        assert control_property("process", "Busy") == "b true"
        process.kill()
        process.wait()
        wait_until(
            lambda: control_property("process", "Busy") == "b false", "the hold has ended")
        assert control_property("process", "LastResult") == 's "owner-lost"'


def test_it_refuses_processes_of_others_in_its_sandbox():
    # The namespace's first process is root's.
    for pid in ("1", "4194304"):
        answer = call("Hold", "ssa{sv}", "other", "", "1", "pid", "u", pid, check=False)
        assert answer.returncode != 0
        assert pid in answer.stderr


def test_it_sees_in_its_sandbox_when_a_caller_leaves():
    # busctl leaves the bus as soon as it has the answer.
    call("Hold", "ssa{sv}", "sender", "leaving", "0")
    wait_until(lambda: control_property("sender", "Busy") == "b false", "the hold has ended")
    assert control_property("sender", "LastResult") == 's "owner-lost"'


def test_the_sandbox_is_on_the_process():
    call("ShowIndicator", "s", "sandbox")
    status = dict(
        line.split(":\t", 1)
        for line in pathlib.Path(f"/proc/{main_pid()}/status").read_text().splitlines()
        if ":\t" in line)
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    for capabilities in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[capabilities], 16) == 0, capabilities
    for kind in ("mnt", "net", "user", "ipc", "uts"):
        link = f"/proc/{{}}/ns/{kind}"
        assert os.readlink(link.format(main_pid())) != os.readlink(link.format("self")), kind
    limits = pathlib.Path(f"/proc/{main_pid()}/limits").read_text()
    (files,) = [line.split() for line in limits.splitlines() if line.startswith("Max open files")]
    assert files[3] == files[4], "the soft limit was raised to the hard one"


PROBE = r"""
import ctypes, json, mmap, os, pathlib, socket, sys
home, runtime, pid = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
libc = ctypes.CDLL(None, use_errno=True)
def libc_call(function, *arguments):
    if function(*arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")
def internet():
    socket.create_connection(("127.0.0.1", int(sys.argv[4])), 2)
attempts = {
    "write home": lambda: (home / "probe").write_text(""),
    "read home": lambda: (home / "secret").read_text(),
    "write /usr": lambda: pathlib.Path("/usr/local/probe").write_text(""),
    "see /tmp": lambda: pathlib.Path("/tmp/secret").read_text(),
    "inet": internet,
    "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "writable code": lambda: mmap.mmap(
        -1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC),
    "namespace": lambda: libc_call(libc.unshare, 0x10000000),
    "setuid file": lambda: os.chmod(runtime / "busyindicator/probe", 0o4755),
    "priority": lambda: os.nice(-1),
    "chroot": lambda: os.chroot("/"),
    "mount": lambda: libc_call(libc.mount, b"tmpfs", b"/mnt", b"tmpfs", 0, None),
    "signal others": lambda: os.kill(1, 0),
}
result = {}
(runtime / "busyindicator").mkdir(mode=0o700, exist_ok=True)
(runtime / "busyindicator/probe").write_text("")
result["mode"] = (runtime / "busyindicator/probe").stat().st_mode & 0o777
result["pidfd"] = os.pidfd_open(pid) >= 0
result["stat"] = pathlib.Path(f"/proc/{pid}/stat").read_text() != ""
for name, attempt in attempts.items():
    try:
        attempt()
        result[name] = "done"
    except OSError as error:
        result[name] = error.strerror
(runtime / "probe.json").write_text(json.dumps(result))
"""


def test_the_sandbox_holds(tmp_path):
    """What another program can do in the very sandbox of the unit."""
    home = pathlib.Path.home()
    (home / "secret").write_text("secret")
    pathlib.Path("/tmp/secret").write_text("secret")
    script = RUNTIME / "probe.py"
    script.write_text(PROBE)
    server = subprocess.Popen(
        ["/usr/bin/python3", "-c",
         "import socket,time; s=socket.create_server(('127.0.0.1', 0));"
         "print(s.getsockname()[1], flush=True); time.sleep(60)"],
        stdout=subprocess.PIPE, text=True)
    port = server.stdout.readline().strip()
    lines = []
    for line in INSTALLED_UNIT.read_text().splitlines():
        key = line.split("=")[0]
        if key == "ExecStart":
            line = f"ExecStart=/usr/bin/python3 {script} {home} {RUNTIME} {server.pid} {port}"
        elif key == "Type":
            line = "Type=oneshot"
        elif key in ("BusName", "WatchdogSec", "Restart", "RestartPreventExitStatus"):
            continue
        lines.append(line)
    probe = USER_UNITS / "probe.service"
    probe.parent.mkdir(parents=True, exist_ok=True)
    probe.write_text("\n".join(lines) + "\n")
    systemctl("daemon-reload")
    try:
        systemctl("start", "probe.service")
    finally:
        server.kill()
        server.wait()
        probe.unlink()
    result = json.loads((RUNTIME / "probe.json").read_text())
    print(json.dumps(result))
    assert result.pop("mode") == 0o600
    assert result.pop("pidfd") and result.pop("stat")
    assert [name for name, outcome in result.items() if outcome == "done"] == []


def test_verify_prints_nothing():
    done = run("systemd-analyze", "--user", "--man=yes", "verify", str(INSTALLED_UNIT))
    assert done.stdout + done.stderr == ""


def test_security_score():
    done = run(
        "systemd-analyze", "--user", "security", "--offline=true", "--no-pager",
        "--threshold=9", str(INSTALLED_UNIT))
    print(done.stdout.strip().splitlines()[-1])


def test_the_journal_has_its_log():
    call("ShowIndicator", "s", "logged")
    pid = main_pid()

    def priorities():
        # Not --user-unit: the control groups of this session are not where the journal looks.
        lines = run("journalctl", "-q", "-o", "json", f"_PID={pid}", check=False).stdout
        return [json.loads(line)["PRIORITY"] for line in lines.splitlines()]

    assert wait_until(priorities, "the journal tells of its start") == ["6"]
