#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The unit for MQTT, run by hand against a real mosquitto: what a late subscriber sees."""

import json
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess

from desktop import TESTS, Session, check, end, pass_time, scene, wait

UNIT = TESTS.parent / "packaging/systemd/busyindicator-mqtt.service"
BUSYCTL = os.environ.get("BUSYCTL", str(TESTS.parent / ".build/release/busyctl"))
TOPIC = "busyindicator/here"


def command(key):
    """A command of the unit, as systemd reads it."""
    content = UNIT.read_text().replace("\\\n", " ")
    line = re.search(rf"^{key}=-?(.*)$", content, re.MULTILINE).group(1)
    return shlex.split(line.replace("%l", "here"))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    scene("mqtt")
    with Session() as session:
        home = pathlib.Path(session.environment["HOME"])
        port = free_port()
        configuration = home / "mosquitto.conf"
        configuration.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n")
        (home / "mosquitto_pub").write_text(f"-h 127.0.0.1\n-p {port}\n")
        environment = session.environment | {"XDG_CONFIG_HOME": str(home)}
        bin_directory = home / "bin"
        bin_directory.mkdir()
        (bin_directory / "busyctl").symlink_to(pathlib.Path(BUSYCTL).resolve())
        environment["PATH"] = f"{bin_directory}:/usr/sbin:{environment['PATH']}"

        def subscribe():
            """What somebody who comes now sees first; None when nothing is kept."""
            done = subprocess.run(
                ["mosquitto_sub", "-h", "127.0.0.1", "-p", str(port), "-t", "busyindicator/#", "-C",
                 "1", "-W", "1"], capture_output=True, text=True, timeout=20)
            return json.loads(done.stdout) if done.stdout else None

        def states():
            state = subscribe()
            return state and {control["name"]: control["state"] for control in state["controls"]}

        broker = subprocess.Popen(
            ["mosquitto", "-c", str(configuration)], env=environment, stderr=subprocess.DEVNULL)
        session.stack.callback(end, broker)
        wait(lambda: subprocess.run(
            ["mosquitto_pub", "-t", "x", "-n"], env=environment,
            stderr=subprocess.DEVNULL).returncode == 0, "broker")

        def start():
            return subprocess.Popen(command("ExecStart"), env=environment, start_new_session=True)

        def stop(unit, number):
            os.killpg(unit.pid, number)
            unit.wait(10)

        session.call("ShowIndicator", "build")
        unit = start()
        wait(lambda: states() == {"build": "busy"}, "state")
        check(True, "a subscriber that comes late sees the present state")
        session.call("HideIndicator", "build")
        session.call("StartCountdown", "tea", 60)
        wait(lambda: states() == {"build": "idle", "tea": "counting"}, "newer state")
        check(True, "and the newest one")
        session.stop(signal.SIGKILL)
        session.start()
        wait(lambda: states() == {"build": "idle", "tea": "counting"}, "kept state")
        check(True, "a restart of the daemon is survived")
        stop(unit, signal.SIGKILL)
        wait(lambda: subscribe() is None, "end")
        check(True, "when the machine goes its state goes")
        unit = start()
        wait(lambda: states() is not None, "state")
        stop(unit, signal.SIGTERM)
        subprocess.run(command("ExecStopPost"), env=environment, check=True)
        pass_time(0.3)
        check(subscribe() is None, "when the unit is stopped, too")
        unit = start()
        wait(lambda: states() is not None, "state")
        end(broker)
        pass_time(1)
        session.call("ShowIndicator", "other")
        pass_time(1)
        print("  publisher without its broker:", "ended" if unit.poll() is not None else "waits")
        again = subprocess.Popen(
            ["mosquitto", "-c", str(configuration)], env=environment, stderr=subprocess.DEVNULL)
        session.stack.callback(end, again)
        if unit.poll() is not None:
            unit = start()
        wait(lambda: (states() or {}).get("other") == "busy", "state at a new broker", 40)
        check(True, "a broker that returns has the present state")
        stop(unit, signal.SIGTERM)


main()
