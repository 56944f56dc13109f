# SPDX-License-Identifier: MIT
"""The interface XML that is installed: as the daemon's own, and usable by code generators."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from gi.repository import GLib

from support.contract import CONTROL, NAME
from support.harness import DAEMON
from support.introspection import described, validate
from support.packaging import PACKAGING
from support.processes import run

# What is shipped is the release.
pytestmark = pytest.mark.release_binary

FILES = {name: PACKAGING / f"dbus/{name}.xml" for name in (NAME, CONTROL)}


def members(interface):
    return {(member.tag, member.get("name")): described(member) for member in interface}


@pytest.fixture(scope="module")
def introspected():
    """The interfaces that the daemon prints, by name."""
    root = ElementTree.fromstring(run(DAEMON, "--introspect").stdout)
    return {interface.get("name"): interface for interface in root.iter("interface")}


@pytest.mark.parametrize("name", FILES)
def test_each_member_is_the_daemons(introspected, name):
    shipped = members(ElementTree.parse(FILES[name]).getroot().find("interface"))
    own = members(introspected[name])
    assert sorted(shipped) == sorted(own)
    for member, description in own.items():
        assert shipped[member] == description


@pytest.mark.parametrize("name", FILES)
def test_each_member_and_argument_is_explained(name):
    # gdbus-codegen's form: the member's name, then its arguments, then text.
    text = FILES[name].read_text()
    for member in ElementTree.parse(FILES[name]).getroot().find("interface"):
        comment = re.search(
            rf"<!--\s+{member.get('name')}:\n(.*?)-->\s+<{member.tag} name=\"{member.get('name')}\"",
            text, re.DOTALL)
        assert comment, f"{member.get('name')} has no comment"
        explained = re.findall(r"^\s+@(\w+): \S", comment.group(1), re.MULTILINE)
        assert explained == [argument.get("name") for argument in member.findall("arg")]
        assert re.search(r"\n\n\s+\S", "\n" + comment.group(1)), member.get("name")


@pytest.mark.parametrize("name", FILES)
def test_signatures_are_valid(name):
    # No code generator looks at them closely.
    for element in ElementTree.parse(FILES[name]).getroot().iter():
        if signature := element.get("type"):
            assert GLib.VariantType.string_is_valid(signature), signature


@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_xmllint_accepts_it(file):
    validate(file.read_text())


def test_gdbus_codegen_accepts_them(tmp_path):
    for made in ("--generate-c-code", "--generate-docbook"):
        done = run(
            "gdbus-codegen", made, tmp_path / "made", "--c-namespace", "Busy",
            "--interface-prefix", "org.busyindicator.", *FILES.values(), status=0)
        assert done.stderr == ""
    assert "busy_indicator1_call_show_indicator" in re.sub(
        r"busy_busy_", "busy_", (tmp_path / "made.h").read_text())


@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_qdbusxml2cpp_accepts_it(tmp_path, file):
    done = run("qdbusxml2cpp", "-p", "proxy", file, cwd=tmp_path, status=0)
    assert done.stderr == ""
    assert (tmp_path / "proxy.h").exists()
