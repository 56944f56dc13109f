// SPDX-License-Identifier: MIT
// The baseline for countdowns: tick-sender NAME DEADLINES
//
// Sends the Tick signals of countdowns whose deadlines, in microseconds of CLOCK_BOOTTIME, stand in a
// file, one a line; the same signals at the same instants as the daemon, from a heap and a timerfd.
// It has no controls, no calls and no state besides.
#include <dbus/dbus.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define INTERFACE "org.busyindicator.BusyIndicator1"
#define PATH "/org/busyindicator/BusyIndicator1"

struct countdown {
  uint64_t next, deadline;
  uint32_t id;
  char name[32];
};

static struct countdown *heap;
static size_t count;

static void sink(size_t hole, struct countdown item) {
  for (;;) {
    size_t child = 2 * hole + 1;
    if (child >= count) break;
    if (child + 1 < count && heap[child + 1].next < heap[child].next) child++;
    if (heap[child].next >= item.next) break;
    heap[hole] = heap[child];
    hole = child;
  }
  heap[hole] = item;
}

static uint64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (uint64_t)now.tv_sec * 1000000U + (uint64_t)now.tv_nsec / 1000U;
}

static void send_tick(DBusConnection *connection, const struct countdown *item, uint64_t now) {
  const char *name = item->name;
  dbus_uint32_t remaining = (dbus_uint32_t)((item->deadline - now + 999999U) / 1000000U);
  dbus_uint32_t id = item->id;
  DBusMessage *signal = dbus_message_new_signal(PATH, INTERFACE, "Tick");
  dbus_message_append_args(
    signal, DBUS_TYPE_STRING, &name, DBUS_TYPE_UINT32, &remaining, DBUS_TYPE_UINT32, &id,
    DBUS_TYPE_INVALID);
  dbus_connection_send(connection, signal, NULL);
  dbus_message_unref(signal);
}

static void send_due(DBusConnection *connection) {
  uint64_t now = now_us();
  while (count > 0 && heap[0].next <= now) {
    struct countdown item = heap[0];
    if (item.deadline <= now) {
      item = heap[--count];
    } else {
      send_tick(connection, &item, now);
      // The next instant at which a whole number of seconds is left.
      item.next = item.deadline - (item.deadline - now - 1) / 1000000U * 1000000U;
    }
    if (count > 0) sink(0, item);
  }
}

static void read_deadlines(const char *name) {
  FILE *file = fopen(name, "r");
  if (file == NULL) exit(66);
  size_t capacity = 0;
  uint64_t deadline, now = now_us();
  while (fscanf(file, "%lu", &deadline) == 1) {
    if (count == capacity) {
      capacity = capacity == 0 ? 1024 : capacity * 2;
      heap = realloc(heap, capacity * sizeof *heap);
    }
    if (deadline <= now) continue;
    struct countdown *item = &heap[count];
    item->deadline = deadline;
    item->next = deadline - (deadline - now - 1) / 1000000U * 1000000U;
    item->id = (uint32_t)count + 1;
    snprintf(item->name, sizeof item->name, "control%06zu", count);
    count++;
  }
  fclose(file);
  for (size_t i = count / 2; i-- > 0;) sink(i, heap[i]);
}

int main(int argument_count, char **arguments) {
  if (argument_count != 3) return 64;
  read_deadlines(arguments[2]);
  DBusError error = DBUS_ERROR_INIT;
  DBusConnection *connection = dbus_bus_get_private(DBUS_BUS_SESSION, &error);
  if (connection == NULL ||
      dbus_bus_request_name(connection, arguments[1], DBUS_NAME_FLAG_DO_NOT_QUEUE, &error) < 0) {
    fprintf(stderr, "tick-sender: %s\n", error.message);
    return 1;
  }
  int timer = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
  struct pollfd polls[2] = {{.fd = timer, .events = POLLIN}, {.events = POLLIN}};
  dbus_connection_get_unix_fd(connection, &polls[1].fd);
  while (count > 0) {
    struct itimerspec when = {
      .it_value = {.tv_sec = (time_t)(heap[0].next / 1000000U),
                   .tv_nsec = (long)(heap[0].next % 1000000U) * 1000}};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
    bool waiting = dbus_connection_has_messages_to_send(connection);
    polls[1].events = (short)(POLLIN | (waiting ? POLLOUT : 0));
    if (poll(polls, 2, -1) < 0 && errno != EINTR) return 1;
    if (polls[1].revents != 0) {
      dbus_connection_read_write(connection, 0);
      while (dbus_connection_dispatch(connection) == DBUS_DISPATCH_DATA_REMAINS) continue;
    }
    uint64_t expired;
    if (read(timer, &expired, sizeof expired) > 0 || heap[0].next <= now_us()) send_due(connection);
  }
  dbus_connection_flush(connection);
  return 0;
}
