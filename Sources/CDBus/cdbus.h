/* SPDX-License-Identifier: MIT */
#ifndef BUSYINDICATOR_CDBUS_H
#define BUSYINDICATOR_CDBUS_H
#include <dbus/dbus.h>
#endif
