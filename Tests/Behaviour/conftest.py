# SPDX-License-Identifier: MIT
import pytest

from harness import Bus


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than five seconds")
    config.addinivalue_line("markers", "timing: has a bound on lateness; is run alone")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A skipped test is a failed one: nobody looks at what was not tried."""
    outcome = yield
    report = outcome.get_result()
    if report.skipped:
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped: {report.longrepr}"


@pytest.fixture(params=["daemon", "broker"])
def bus(request):
    """A private bus: dbus-daemon, and then dbus-broker."""
    made = Bus(request.param)
    try:
        yield made
    finally:
        made.end()


@pytest.fixture
def daemon(bus):
    return bus.daemon()


@pytest.fixture
def client(bus, daemon):
    return bus.client()


@pytest.fixture
def subscriber(bus, daemon):
    return bus.subscriber()
