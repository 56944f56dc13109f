/* SPDX-License-Identifier: MIT */
#ifndef BUSYINDICATOR_CSQLITE_H
#define BUSYINDICATOR_CSQLITE_H
#include <sqlite3.h>
#endif
