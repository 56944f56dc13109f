#!/bin/sh
# SPDX-License-Identifier: MIT
# Xfce's Generic Monitor: 1. Copy this file to ~/.local/bin and make it executable.
# 2. Panel, Add New Items, Generic Monitor. 3. Command: this file; no label; period 1 s.
# 4. Try: busyctl countdown tea 4m --title=Tea
# 5. Genmon asks each second; the answer takes two milliseconds and never starts the daemon.
exec busyctl --quiet watch --once \
  --idle='<txt></txt><tool>nothing is busy</tool>' --format='<txt>'\
'{{markup(trunc(label, 30))}} {{default(remaining, percent)}} {{more}}</txt>'\
'<tool>{{markup(tooltip)}}</tool>'
