# SPDX-License-Identifier: MIT
"""make install and uninstall, and what the Debian package is made of."""

import os
import re
import stat

import pytest

from support.contract import NAME
from support.harness import BUSYCTL, DAEMON, ROOT
from support.packaging import PACKAGING, link_programs, make
from support.processes import run

# What is shipped is the release.
pytestmark = pytest.mark.release_binary


@pytest.fixture
def programs(tmp_path):
    return link_programs(tmp_path / "programs")


def entries(tree):
    return sorted(str(path.relative_to(tree)) for path in tree.rglob("*"))


@pytest.mark.parametrize("prefix", ["/usr", "/usr/local", "/opt/busy"])
def test_uninstall_leaves_nothing(tmp_path, programs, prefix):
    tree = tmp_path / "a tree"
    for folder in ("bin", "lib", "share/man", "share/doc/other"):
        (tree / prefix[1:] / folder).mkdir(parents=True)
    before = entries(tree)
    variables = [f"DESTDIR={tree}", f"PREFIX={prefix}", f"PROGRAMS={programs}"]
    make("install", *variables)
    # What is installed twice is installed once.
    once = entries(tree)
    make("install", *variables)
    assert entries(tree) == once != before
    make("uninstall", *variables)
    assert entries(tree) == before


def test_everybody_can_read_what_is_installed(tmp_path, programs):
    tree = tmp_path / "tree"
    scripts = [
        path.name for folder in (PACKAGING / "panels", PACKAGING / "systemd", ROOT / "examples")
        for path in folder.rglob("*") if path.is_file() and os.access(path, os.X_OK)]
    previous = os.umask(0o077)
    try:
        make("install", f"DESTDIR={tree}", "PREFIX=/usr", f"PROGRAMS={programs}")
    finally:
        os.umask(previous)
    for path in tree.rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        program = path.is_dir() or path.parent == tree / "usr/bin" or path.name in scripts
        assert mode == (0o755 if program else 0o644), path


def test_each_directory_can_be_chosen(tmp_path, programs):
    variables = (
        "bindir", "mandir", "docdir", "paneldir", "unitdir", "dbusservicedir", "dbusinterfacedir",
        "bashcompletiondir", "zshcompletiondir", "fishcompletiondir", "systemduserunitdir")
    chosen = [f"{variable}=/x/{variable}" for variable in variables]
    make("install", f"DESTDIR={tmp_path}/tree", f"PROGRAMS={programs}", *chosen)
    assert sorted(path.name for path in (tmp_path / "tree").iterdir()) == ["x"]
    unit = (tmp_path / "tree/x/systemduserunitdir/busyindicatord.service").read_text()
    assert "ExecStart=/x/bindir/busyindicatord\n" in unit
    service = (tmp_path / f"tree/x/dbusservicedir/{NAME}.service").read_text()
    assert "Exec=/x/bindir/busyindicatord\n" in service


def test_a_home_has_its_units_where_systemd_looks(tmp_path, programs):
    home = tmp_path / "home"
    make("install", f"HOME={home}", f"PREFIX={home}/.local", f"PROGRAMS={programs}")
    assert (home / ".local/share/systemd/user/busyindicatord.service").exists()


def test_the_completions_are_read_by_their_shell(tmp_path, programs):
    tree = tmp_path / "tree"
    make("install", f"DESTDIR={tree}", "PREFIX=/usr", f"PROGRAMS={programs}")
    file = tree / "usr/share/bash-completion/completions/busyctl"
    run("bash", "-n", file, status=0)
    for file in ("zsh/site-functions/_busyctl", "fish/vendor_completions.d/busyctl.fish"):
        assert "busyctl" in (tree / "usr/share" / file).read_text()


def test_the_packages_version_is_the_programs():
    changelog = (PACKAGING / "debian/changelog").read_text()
    packaged = re.match(r"busyindicator \(([^)]+)\)", changelog).group(1)
    assert run(DAEMON, "--version").stdout == f"busyindicatord {packaged}\n"
    assert run(BUSYCTL, "--version").stdout.split() == ["busyctl", packaged]


def test_the_packages_licence_is_the_projects():
    def words(text):
        return re.sub(r"\n \.\n", "\n", text).split()

    licence = words((ROOT / "LICENSE").read_text().split("\n\n", 2)[2])
    stanza = (PACKAGING / "debian/copyright").read_text().split("License: Expat\n")[2]
    assert words(stanza.split("\nComment:")[0]) == licence


def test_scripts_are_well_formed():
    scripts = [path for path in (PACKAGING / "tests").iterdir() if path.is_file() and not path.suffix]
    assert len(scripts) >= 4
    for script in scripts:
        run("bash", "-n", script, status=0)
