# SPDX-License-Identifier: MIT
"""The completion scripts in the real shells."""

import pytest

from support.terminal import terminal

pytestmark = pytest.mark.one_bus


def bash(session, line):
    """What bash would offer for a line, the cursor at its end."""
    script = r"""
source <(busyctl completion bash)
line=$1
read -ra words <<<"$line"
[[ $line == *" " ]] && words+=("")
# As readline does, = is a word of its own.
COMP_WORDS=()
for word in "${words[@]}"; do
  if [[ $word == --*=* ]]; then
    COMP_WORDS+=("${word%%=*}" = "${word#*=}")
  else
    COMP_WORDS+=("$word")
  fi
done
[[ ${COMP_WORDS[-1]} == "" && ${COMP_WORDS[-2]} == = ]] && unset 'COMP_WORDS[-1]'
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
COMP_LINE=$line
COMP_POINT=${#line}
compopt() { :; }
_busyctl
printf '%s\n' "${COMPREPLY[@]}"
"""
    done = session.bus.run("bash", "-uc", script, "bash", line)
    assert done.stderr == "", done
    return [word for word in done.stdout.splitlines() if word]


def fish(session, line):
    done = session.bus.run(
        "fish", "-c", "busyctl completion fish | source; complete -C $argv[1]", line)
    assert done.stderr == "", done
    return [word.split("\t")[0] for word in done.stdout.splitlines()]


@pytest.fixture
def names(session):
    for name in ("alpha", "beta gamma"):
        session.ok("show", name)
    return session


@pytest.mark.parametrize("offers", [bash, fish])
def test_commands_and_options(names, offers):
    assert "countdown" in offers(names, "busyctl ")
    assert offers(names, "busyctl cou") == ["countdown"]
    assert {"show", "shorten"} == set(offers(names, "busyctl sh"))
    options = [word.rstrip("=") for word in offers(names, "busyctl countdown --")]
    for option in ("--until", "--busy", "--on-finish", "--restart", "--json", "--color"):
        assert option in options
    assert "--reason" not in options


@pytest.mark.parametrize("offers", [bash, fish])
def test_live_names(names, offers):
    found = offers(names, "busyctl hide ")
    assert "alpha" in found
    assert any(word.replace("\\", "") == "beta gamma" for word in found)
    assert offers(names, "busyctl hide al") == ["alpha"]
    assert "alpha" in offers(names, "busyctl watch ")


@pytest.mark.parametrize("offers", [bash, fish])
def test_words(names, offers):
    assert {"bash", "zsh", "fish"} <= set(offers(names, "busyctl completion "))
    values = [word.rpartition("=")[2] for word in offers(names, "busyctl wait --for=")]
    assert set(values) == {"idle", "busy", "finished"}
    assert "none" in offers(names, "busyctl progress alpha ")
    assert "countdown" in offers(names, "busyctl help ")


def test_bash_options_with_values(names):
    assert bash(names, "busyctl --color a") == ["auto", "always"]
    assert bash(names, "busyctl --color=auto hi") == ["hide"]
    assert bash(names, "busyctl list --format w") == ["waybar"]
    assert bash(names, "busyctl show --title x al") == ["alpha"]
    assert bash(names, "busyctl show alpha ") == []
    assert "sleep" in bash(names, "busyctl run slee")
    assert "sleep" in bash(names, "busyctl run --name x slee")
    assert bash(names, "busyctl hide --force al") == ["alpha"]


def test_no_daemon_is_no_noise(bare):
    bare.bus.can_start()
    assert bash(bare, "busyctl hide ") == []
    assert bare.run("list").returncode == 69


def completes(shell, text, expected):
    """Checks what a tabulator makes of a line."""
    shell.type("C-u")
    shell.type("C-l")
    shell.type("-l", text)
    shell.type("Tab")
    shell.shows(expected)


def test_zsh(names):
    """In a real terminal, since zsh completes nowhere else."""
    functions = names.directory / "functions"
    functions.mkdir()
    (functions / "_busyctl").write_text(names.ok("completion", "zsh"))
    (names.directory / ".zshrc").write_text(
        f"fpath=({functions} $fpath)\nautoload -U compinit\ncompinit -u\nPS1='zsh> '\n"
        "setopt no_beep\nbindkey '^I' complete-word\n")
    with terminal(names, 160, 40) as shell:
        shell.command("clear; exec zsh -i")
        shell.shows("zsh>")

        completes(shell, "busyctl cou", "zsh> busyctl countdown")
        completes(shell, "busyctl hide al", "zsh> busyctl hide alpha")
        completes(shell, "busyctl hide be", "zsh> busyctl hide beta\\ gamma")
        completes(shell, "busyctl countdown --until=17:00 --res", "--restart=")
        completes(shell, "busyctl wait --for=f", "--for=finished")
        completes(shell, "busyctl --color=al", "--color=always")
        completes(shell, "busyctl completion f", "zsh> busyctl completion fish")
        completes(shell, "busyctl run --name=x sle", "sleep")
        completes(shell, "busyctl ", "Turn a control's indicator on")


def test_scripts_can_be_loaded(names):
    for shell in ("bash", "zsh", "fish"):
        done = names.bus.run(shell, "-n", "/dev/stdin", input=names.ok("completion", shell))
        assert (done.returncode, done.stderr) == (0, "")


def test_bash_in_a_terminal(names):
    with terminal(names, 160, 20) as shell:
        shell.command("source <(busyctl completion bash); bind 'set bell-style none'; "
                      "clear; echo loaded")
        shell.shows("loaded\n$")

        completes(shell, "busyctl cou", "$ busyctl countdown")
        completes(shell, "busyctl hide al", "$ busyctl hide alpha")
        completes(shell, "busyctl hide be", "$ busyctl hide beta\\ gamma")
        completes(shell, "busyctl wait alpha --for=f", "--for=finished")
        completes(shell, "busyctl countdown --res", "--restart=")
        completes(shell, "busyctl --color=al", "--color=always")
        completes(shell, "busyctl run --name=x sleep --vers", "sleep --vers")
