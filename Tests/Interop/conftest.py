# SPDX-License-Identifier: MIT
"""The fixtures of the interop tests, and what holds for all of them.

A test that asks for `bus` runs on dbus-daemon and on dbus-broker, unless it is marked `one_bus`.
It gets

    bus       a private bus with a runtime directory; `bus.connect()` makes a peer
    daemon    the daemon on it, started with the flags of the marker `flags`; at the end it has to
              be alive, to end in order, and to have warned of nothing
    client    a peer that knows the daemon's interface
    listener  another one, which hears all signals

When a test fails, the logs of the bus and of its daemons stand below it.
"""

import pytest
from harness import DAEMON, KINDS, Bus

MARKERS = {
    "slow": "takes more than five seconds",
    "flags(*flags)": "the daemon's command line",
    "one_bus": "runs on dbus-daemon alone: the other would show nothing new",
    "release_binary": "is about the release binary, and left out for others",
}


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    for marker, text in MARKERS.items():
        config.addinivalue_line("markers", f"{marker}: {text}")
    # So that tests that measure time can stay out of each other's way: see the marker xdist_group.
    if getattr(config.option, "dist", "no") == "load":
        config.option.dist = "loadgroup"


def pytest_generate_tests(metafunc):
    if "bus" in metafunc.fixturenames:
        alone = metafunc.definition.get_closest_marker("one_bus")
        metafunc.parametrize("bus", KINDS[:1] if alone else KINDS, indirect=True)


def pytest_collection_modifyitems(config, items):
    if "debug" in DAEMON.resolve().parts:
        left_out = [item for item in items if item.get_closest_marker("release_binary")]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    report = (yield).get_result()
    if report.skipped:
        # What was not tested is not known to work.
        report.outcome = "failed"
        report.longrepr = f"skipped: {report.longrepr}"
    bus = getattr(item, "funcargs", {}).get("bus")
    if report.failed and isinstance(bus, Bus):
        for daemon in bus.daemons:
            report.sections.append((f"log of busyindicatord {' '.join(daemon.flags)}", daemon.log))
        text = bus.log.read_text(errors="replace") if bus.log.exists() else bus.last_log
        report.sections.append((f"log of {bus.kind}", text))


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    report = (yield).get_result()
    if report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped: {report.longrepr}"


@pytest.fixture
def bus(request):
    bus = Bus(request.param)
    try:
        bus.start()
        yield bus
    finally:
        bus.close()


@pytest.fixture
def daemon(bus, request):
    marker = request.node.get_closest_marker("flags")
    daemon = bus.daemon(*marker.args if marker else ())
    yield daemon
    daemon.check()


@pytest.fixture
def client(bus, daemon):
    return bus.connect()


@pytest.fixture
def listener(bus, daemon):
    peer = bus.connect()
    peer.listen()
    return peer
