#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""xfce4-panel shows the tray plugin, and its menu works."""

import glob

import tray
from desktop import Desktop, check, pass_time, scene, wait

PANEL = """<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array"><value type="int" value="1"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=6;x=400;y=18"/>
      <property name="length" type="uint" value="100"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="size" type="uint" value="36"/>
      <property name="plugin-ids" type="array">
        <value type="int" value="1"/><value type="int" value="2"/><value type="int" value="3"/>
      </property>
    </property></property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="separator">
      <property name="expand" type="bool" value="true"/>
      <property name="style" type="uint" value="0"/></property>
    <property name="plugin-2" type="string" value="systray">
      <property name="icon-size" type="int" value="22"/>
      <property name="square-icons" type="bool" value="true"/></property>
    <property name="plugin-3" type="string" value="clock"/>
  </property>
</channel>
"""
HEIGHT = 36


def main():
    scene("xfce4-panel")
    with Desktop() as desktop:
        desktop.config("xfce4/xfconf/xfce-perchannel-xml/xfce4-panel.xml", PANEL)
        # Each architecture has it elsewhere.
        desktop.run(*glob.glob("/usr/lib/*/xfce4/xfconf/xfconfd"))
        desktop.wait_for_name("org.xfce.Xfconf")
        desktop.run("xfwm4", "--compositor=off")
        pass_time(1)
        panel = desktop.run("xfce4-panel", "--disable-wm-check")
        wait(lambda: desktop.plugin("tray")[0] == "on", "panel", 15)
        box = (400, 0, 800, HEIGHT)
        tray.play(desktop, "xfce4-panel", box)
        panel.terminate()
        wait(lambda: desktop.plugin("tray")[0] == "waiting", "panel to end")
        desktop.call("ShowIndicator", "again")
        desktop.run("xfce4-panel", "--disable-wm-check")
        wait(lambda: desktop.plugin("tray")[0] == "on", "panel again", 15)
        pass_time(1)
        desktop.ring_at(box)
        check(True, "the ring is back when the panel is")


main()
