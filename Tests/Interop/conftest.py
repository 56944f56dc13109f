# SPDX-License-Identifier: MIT
"""The fixtures of the tests of the programs, and what holds for all of them.

    test_behaviour_*  each rule of the interface, met by a peer that sees every message in its order
    test_daemon_*     how the daemon starts and ends, what it tells its surroundings, what it costs
    test_clients_*    clients that other people have written
    test_plugins_*    the daemon's plugins, met by stand-ins for the desktop's programs
    test_busyctl_*    busyctl, in pipes and in terminals
    test_packaging_*  what is installed, the manual, the examples
    support/          the harness (a private bus and the daemon on it), the peer, the stand-ins

A test that asks for `bus` runs on dbus-daemon and on dbus-broker, unless it is marked `one_bus`.
It gets

    bus       a private bus with a runtime directory; `bus.connect()` makes a peer, and
              `bus.daemon()` starts the daemon; at the end that has to be alive, to end in order,
              and to have warned of nothing
    daemon    the daemon on it, started with the flags of the marker `flags`
    client    a peer that knows the daemon's interface
    listener  another one, which hears all signals
    bare      a session with busyctl on the path, and no daemon
    session   the same with the daemon
    tree      a folder in which everything is installed

When a test fails, the logs of its buses and of their daemons stand below it.
"""

import signal

import pytest

from support.busyctl import Session
from support.harness import DAEMON, KINDS, Bus
from support.packaging import install

MARKERS = {
    "slow": "takes more than five seconds",
    "timing": "has a bound on lateness; is run alone",
    "flags(*flags)": "the daemon's command line",
    "one_bus": "runs on dbus-daemon alone: the other would show nothing new",
    "release_binary": "is about the release binary, and left out for others",
}


def pytest_configure(config):
    for marker, text in MARKERS.items():
        config.addinivalue_line("markers", f"{marker}: {text}")


def pytest_generate_tests(metafunc):
    if "bus" in metafunc.fixturenames:
        alone = metafunc.definition.get_closest_marker("one_bus")
        metafunc.parametrize("bus", KINDS[:1] if alone else KINDS, indirect=True)


def pytest_collection_modifyitems(config, items):
    if "debug" in DAEMON.resolve().parts:
        left_out = [item for item in items if item.get_closest_marker("release_binary")]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


def pytest_runtest_setup():
    Bus.made.clear()


# Far more than any test takes, in seconds.
PATIENCE = 300


@pytest.fixture(autouse=True)
def bounded():
    """Ends a test that waits for what never comes."""
    def give_up(*_):
        raise TimeoutError(f"the test has not ended within {PATIENCE} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE)
    yield
    signal.alarm(0)


def fail_if_skipped(report):
    """What was not tested is not known to work."""
    if report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped: {report.longrepr}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    report = (yield).get_result()
    fail_if_skipped(report)
    if report.failed:
        item.has_failed = True
        for bus in Bus.made:
            report.sections.append((f"log of {bus.kind}", bus.log))
            for daemon in bus.daemons:
                flags = " ".join(daemon.flags)
                report.sections.append((f"log of busyindicatord {flags}", daemon.log))


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report():
    fail_if_skipped((yield).get_result())


@pytest.fixture
def bus(request):
    with Bus(request.param) as bus:
        yield bus
        # What failed already need not do so once more.
        if not hasattr(request.node, "has_failed"):
            bus.check()


@pytest.fixture
def daemon(bus, request):
    marker = request.node.get_closest_marker("flags")
    return bus.daemon(*marker.args if marker else ())


@pytest.fixture
def client(bus, daemon):
    return bus.connect()


@pytest.fixture
def listener(bus, daemon):
    return bus.listen()


@pytest.fixture
def bare(bus):
    return Session(bus)


@pytest.fixture
def session(bare):
    bare.start_daemon()
    return bare


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    return install(tmp_path_factory.mktemp("installed") / "tree")
