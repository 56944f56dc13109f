#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Without busyctl, only with what comes with D-Bus: sh hold.sh NAME SECONDS
set -eu

bus_call() {
  method=$1
  shift
  dbus-send --session --print-reply --dest=org.busyindicator.BusyIndicator1 \
    /org/busyindicator/BusyIndicator1 "org.busyindicator.BusyIndicator1.$method" "$@"
}

bus_call SetTitle string:"$1" string:"Copying photographs" >/dev/null
bus_call ShowIndicatorFor string:"$1" uint32:600 >/dev/null
sleep "$2" # what takes its time
bus_call HideIndicator string:"$1" >/dev/null
