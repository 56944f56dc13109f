/* SPDX-License-Identifier: MIT */
/* What the Glibc module leaves out. No _GNU_SOURCE here: it clashes with that module. libsystemd is
   linked by the targets that call it, so that busyctl, which only wants getopt, does not load it. */
#ifndef BUSYINDICATOR_CLINUX_H
#define BUSYINDICATOR_CLINUX_H
#include <fcntl.h>
#include <getopt.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

/* Gives those of the descriptors 0, 1 and 2 that are closed to /dev/null, opened so that using it
   fails as before. Else the socket of the bus could come to be one of them, and what is meant for a
   person would be written into it. */
static inline void occupy_standard_streams(void) {
  for (int descriptor = 0; descriptor <= 2; descriptor++)
    if (fcntl(descriptor, F_GETFD) < 0) open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);
}
#endif
