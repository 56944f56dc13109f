# SPDX-License-Identifier: MIT
"""The manual pages: well formed, and true to the programs."""

import os
import re
import xml.etree.ElementTree as ElementTree

import pytest

from support.contract import CONTROL, NAME
from support.harness import BUSYCTL, DAEMON
from support.packaging import PACKAGING
from support.processes import run

# What is shipped is the release.
pytestmark = pytest.mark.release_binary

PAGES = sorted((PACKAGING / "man").glob("*.[178]"))
DAEMON_PAGE = PACKAGING / "man/busyindicatord.8"
INTERFACE_PAGE = PACKAGING / "man/busyindicator.7"
COMMAND_PAGE = PACKAGING / "man/busyctl.1"


def options_of_page(text):
    """The long options that a page explains: `.It Fl -name`."""
    return set(re.findall(r"^\.(?:It|Op) .*?Fl -([a-z][a-z-]*)", text, re.MULTILINE))


def options_of_help(text):
    """The long options that a help lists, each at the beginning of its line."""
    return set(re.findall(r"^  (?:-\w, )?--([a-z][a-z-]*)", text, re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_it_is_well_formed(page):
    done = run("mandoc", "-T", "lint", "-W", "style", page)
    # Whether the pages that it refers to are installed says nothing about it.
    complaints = [line for line in done.stdout.splitlines() if "referenced manual" not in line]
    assert complaints == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.parametrize("width", ["40", "80", "200"])
def test_it_renders_without_warnings(page, width):
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": width, "MANROFFSEQ": ""}
    done = run(
        "man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", page, env=environment, status=0)
    assert done.stderr == ""
    assert page.stem.upper() in done.stdout


def test_the_daemons_options_are_those_of_its_help():
    options = options_of_help(run(DAEMON, "--help").stdout)
    assert options_of_page(DAEMON_PAGE.read_text()) == options
    assert "introspect" in options


def section(text, title):
    return text.split(f".Sh {title}\n")[1].split("\n.Sh ")[0]


def names(kind, text):
    """The methods, signals or properties that a section explains."""
    items = re.findall(r"^\.It (.*)$", text, re.MULTILINE)
    return {name for item in items for name in re.findall(rf"{kind} (\w+)", item)}


def test_the_interface_page_has_each_member():
    root = ElementTree.fromstring(run(DAEMON, "--introspect").stdout)
    interfaces = {interface.get("name"): interface for interface in root.iter("interface")}
    text = INTERFACE_PAGE.read_text()

    def members(interface, kind):
        return {member.get("name") for member in interfaces[interface].findall(kind)}

    assert names("Fn", section(text, "METHODS")) == members(NAME, "method")
    assert names("Fn", section(text, "SIGNALS")) == members(NAME, "signal")
    assert names("Va", section(text, "PROPERTIES")) == (
        members(NAME, "property") | members(CONTROL, "property"))


def test_the_interface_page_has_each_argument_and_type():
    root = ElementTree.fromstring(run(DAEMON, "--introspect").stdout)
    text = INTERFACE_PAGE.read_text()
    for interface in root.iter("interface"):
        if interface.get("name") not in (NAME, CONTROL):
            continue
        for member in [*interface.findall("method"), *interface.findall("signal")]:
            words = [f"Fn {member.get('name')}"]
            outputs = []
            for argument in member.findall("arg"):
                text_of = f"\"{argument.get('type')} {argument.get('name')}\""
                (outputs if argument.get("direction") == "out" else words).append(text_of)
            line = " ".join(words)
            if outputs:
                line += r" No \(-> Va " + " ".join(outputs)
            assert f".It {line}\n" in text
        for member in interface.findall("property"):
            assert re.search(rf"^\.It .*Va {member.get('name')} {re.escape(member.get('type'))}( ,|$)",
                             text, re.MULTILINE), member.get("name")


def commands_of_page(text):
    """The options that each command has by its page; those of all commands under ''."""
    options = {}
    current = []
    follows_head = False
    for line in text.splitlines():
        # What becomes `\.It Ic pause` and `\.It Ic resume` in a row shares what comes behind.
        if head := re.match(r"\.It Ic ([a-z]+)(.*)", line):
            current = [*current, head.group(1)] if follows_head else [head.group(1)]
            options.setdefault(head.group(1), set())
        elif line == ".Ss Global options":
            current = [""]
            options[""] = set()
        elif line.startswith(".It Fl "):
            for command in current:
                options[command].update(re.findall(r"Fl -([a-z][a-z-]*)", line))
        follows_head = head is not None
    return options


def test_the_commands_are_those_of_busyctls_help():
    documented = commands_of_page(COMMAND_PAGE.read_text())
    help_text = run(BUSYCTL, "--help").stdout
    assert set(documented) - {""} == set(re.findall(r"^  ([a-z]+)\b", help_text, re.MULTILINE))


def test_the_options_are_those_of_each_commands_help():
    documented = commands_of_page(COMMAND_PAGE.read_text())
    everywhere = documented.pop("")
    for command, options in documented.items():
        offered = options_of_help(run(BUSYCTL, command, "--help").stdout)
        assert options == offered - everywhere, command
