/* SPDX-License-Identifier: MIT */
#ifndef BUSYINDICATOR_CJSON_H
#define BUSYINDICATOR_CJSON_H
#include <json-c/json.h>
#endif
