// SPDX-License-Identifier: MIT
//
// Counts down and prints each tick: countdown NAME SECONDS
//
//   cc countdown.c -o countdown $(pkg-config --cflags --libs libsystemd)

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define NAME "org.busyindicator.BusyIndicator1"
#define PATH "/org/busyindicator/BusyIndicator1"

static uint32_t countdown; // ours; 0 before it is known
static int status = -1;    // how to exit, once that is known

// Tick, Finished and Cancelled of this control; its name is argument 0 of each.
static int on_signal(sd_bus_message *signal, void *data, sd_bus_error *error) {
  (void)data, (void)error;
  const char *control, *reason;
  uint32_t remaining, id;

  if (sd_bus_message_is_signal(signal, NAME, "Tick") &&
      sd_bus_message_read(signal, "suu", &control, &remaining, &id) >= 0 && id == countdown) {
    printf("%" PRIu32 "\n", remaining);
  } else if (sd_bus_message_is_signal(signal, NAME, "Finished") &&
             sd_bus_message_read(signal, "su", &control, &id) >= 0 && id == countdown) {
    puts("finished");
    status = EXIT_SUCCESS;
  } else if (sd_bus_message_is_signal(signal, NAME, "Cancelled") &&
             sd_bus_message_read(signal, "sus", &control, &id, &reason) >= 0 && id == countdown) {
    puts(reason);
    status = EXIT_FAILURE;
  }
  return 0;
}

int main(int argc, char **argv) {
  sd_bus *bus = NULL;
  sd_bus_message *reply = NULL;
  sd_bus_error error = SD_BUS_ERROR_NULL;
  char rule[512];

  // A quote would end the rule's value.
  if (argc != 3 || strlen(argv[1]) > 255 || strchr(argv[1], '\'')) return 64;
  snprintf(rule, sizeof rule, "type='signal',sender='" NAME "',interface='" NAME "',arg0='%s'",
           argv[1]);
  if (sd_bus_open_user(&bus) < 0 || sd_bus_add_match(bus, NULL, rule, on_signal, NULL) < 0) {
    fputs("no session bus\n", stderr);
    return 69;
  }
  if (sd_bus_call_method(bus, NAME, PATH, NAME, "StartCountdown", &error, &reply, "su", argv[1],
                         (uint32_t)strtoul(argv[2], NULL, 10)) < 0) {
    fprintf(stderr, "%s\n", error.message);
    return EXIT_FAILURE;
  }
  // The answer comes before the first tick.
  sd_bus_message_read(reply, "u", &countdown);
  setvbuf(stdout, NULL, _IOLBF, 0);
  while (status < 0 && sd_bus_wait(bus, UINT64_MAX) >= 0)
    while (sd_bus_process(bus, NULL) > 0) continue;

  sd_bus_message_unref(reply);
  sd_bus_error_free(&error);
  sd_bus_flush_close_unref(bus);
  return status;
}
