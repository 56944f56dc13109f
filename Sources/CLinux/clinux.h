/* SPDX-License-Identifier: MIT */
/* What the Glibc module leaves out. No _GNU_SOURCE here: it clashes with that module. libsystemd is
   linked by the targets that call it, so that busyctl, which only wants getopt, does not load it. */
#ifndef BUSYINDICATOR_CLINUX_H
#define BUSYINDICATOR_CLINUX_H
#include <getopt.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#endif
