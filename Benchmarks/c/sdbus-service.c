// SPDX-License-Identifier: MIT
// The baseline on sd-bus, which only answers: sdbus-service NAME
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define INTERFACE "org.busyindicator.BusyIndicator1"
#define PATH "/org/busyindicator/BusyIndicator1"

static int answer(sd_bus_message *call, void *context, sd_bus_error *error) {
  (void)context;
  (void)error;
  const char *name;
  int result = sd_bus_message_read(call, "s", &name);
  return result < 0 ? result : sd_bus_reply_method_return(call, NULL);
}

static const sd_bus_vtable table[] = {
  SD_BUS_VTABLE_START(0),
  SD_BUS_METHOD("ShowIndicator", "s", "", answer, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD("HideIndicator", "s", "", answer, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_VTABLE_END};

int main(int count, char **arguments) {
  sd_bus *bus = NULL;
  if (count != 2) return 64;
  int result = sd_bus_open_user(&bus);
  if (result >= 0) result = sd_bus_add_object_vtable(bus, NULL, PATH, INTERFACE, table, NULL);
  if (result >= 0) result = sd_bus_request_name(bus, arguments[1], 0);
  while (result >= 0) {
    result = sd_bus_process(bus, NULL);
    if (result == 0) result = sd_bus_wait(bus, UINT64_MAX);
  }
  fprintf(stderr, "sdbus-service: %s\n", strerror(-result));
  return 1;
}
