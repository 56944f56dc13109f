#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A script with steps shows how far it is: sh job.sh NAME COMMAND...
set -eu

name=$1
shift

# Should this script be killed, the indicator goes after a minute by itself.
busyctl show "$name" --for=1m --title="Job $name"
trap 'busyctl hide "$name"' EXIT

total=$#
done=0
for command in "$@"; do
  busyctl detail "$name" "$((done + 1)) of $total: $command"
  sh -c "$command"
  done=$((done + 1))
  busyctl progress "$name" "$((100 * done / total))%"
  # Each step may take a minute anew.
  busyctl show "$name" --for=1m
done
