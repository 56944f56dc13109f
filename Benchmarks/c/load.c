// SPDX-License-Identifier: MIT
// The load generator. One mode a run; prints one JSON object on a line.
//
//   load [OPTION]... MODE [ARGUMENT]...
//
//   latency              shows, then hides, all the controls, one call at a time
//   flood                the same with --window calls in flight
//   clients K            the same by K connections with one call in flight each
//   get                  reads the property Busy of the controls, --window in flight
//   countdowns           starts a countdown of --seconds on each control, all in one write, and
//                        prints the deadlines to --deadlines; with --align they are made one
//   ticks                hears Tick for --seconds and compares it with --deadlines
//   managed              GetManagedObjects
//   wait                 until the name of the service is owned, --seconds at most
//   subscribe K          K connections that ask for all signals and read them, until stdin ends
//   start COMMAND... [-- COMMAND...]...
//                        from exec to the name owned, --calls times each, interleaved
//
// The address of the bus is DBUS_SESSION_BUS_ADDRESS.
#include "wire.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAME "org.busyindicator.BusyIndicator1"
#define PATH "/org/busyindicator/BusyIndicator1"

extern char **environ;

static const char *address;
static const char *service = NAME;
static const char *deadlines_file;
static const char *methods[2] = {"ShowIndicator", "HideIndicator"};
static int controls = 64, first, calls = 10000, window = 64, seconds = 20, spread;
static bool in_pairs, aligned;

static uint64_t now_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static int compare(const void *a, const void *b) {
  uint64_t x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return x < y ? -1 : x > y;
}

static uint64_t quantile(const uint64_t *sorted, size_t count, double part) {
  if (count == 0) return 0;
  size_t at = (size_t)(part * (double)count);
  return sorted[at < count ? at : count - 1];
}

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (memory == NULL) fail("out of memory");
  return memory;
}

static void control_name(char *name, size_t size, int index) {
  snprintf(name, size, "control%06d", first + index);
}

// The call number `index` of the sequence that all modes with shows and hides go through.
static void add_call(struct wire *wire, struct wire_out *out, int index) {
  int control, method;
  if (in_pairs) {
    control = index / 2 % controls;
    method = index % 2;
  } else {
    control = index % controls;
    method = index / controls % 2;
  }
  char name[32];
  control_name(name, sizeof name, control);
  wire_call(wire, out, service, PATH, NAME, methods[method], "s", name);
}

static void add_get(struct wire *wire, struct wire_out *out, int index) {
  char path[96];
  snprintf(path, sizeof path, PATH "/control/control%06d", first + index % controls);
  wire_call(
    wire, out, service, path, "org.freedesktop.DBus.Properties", "Get", "ss", NAME ".Control",
    "Busy");
}

static void add_countdown(struct wire *wire, struct wire_out *out, int index) {
  char name[32];
  control_name(name, sizeof name, index);
  // A second or so apart, by microseconds, so that the ticks are spread evenly over the second.
  uint64_t extra = spread ? (uint64_t)index * 1000000U / (uint64_t)controls : 0;
  wire_call(
    wire, out, service, PATH, NAME, "StartCountdownWithOptions", "stE", name,
    (uint64_t)seconds * 1000000U + extra);
}

// MARK: Calls

static bool is_answer(const struct wire_message *message) {
  if (message->type == WIRE_ERROR)
    fail("%s: %s", message->error, message->body_size > 4 ? (const char *)message->body + 4 : "");
  return message->type == WIRE_RETURN;
}

static void latency(void) {
  struct wire wire;
  struct wire_out out = {0};
  struct wire_message message;
  wire_connect(&wire, address);
  uint64_t *times = allocate((size_t)calls, sizeof *times);
  // The first round makes the objects.
  int warm = 2 * controls;
  for (int i = -warm; i < calls; i++) {
    add_call(&wire, &out, i + warm);
    uint64_t start = now_ns(CLOCK_MONOTONIC);
    wire_flush(&wire, &out);
    do wire_next(&wire, &message, true);
    while (!is_answer(&message));
    if (i >= 0) times[i] = now_ns(CLOCK_MONOTONIC) - start;
  }
  qsort(times, (size_t)calls, sizeof *times, compare);
  printf(
    "{\"p50_ns\": %lu, \"p90_ns\": %lu, \"p99_ns\": %lu, \"calls\": %d}\n",
    quantile(times, (size_t)calls, 0.5), quantile(times, (size_t)calls, 0.9),
    quantile(times, (size_t)calls, 0.99), calls);
}

static void in_flight(void (*add)(struct wire *, struct wire_out *, int)) {
  struct wire wire;
  struct wire_out out = {0};
  struct wire_message message;
  wire_connect(&wire, address);
  int sent = 0, answered = 0;
  uint64_t start = now_ns(CLOCK_MONOTONIC);
  while (answered < calls) {
    while (sent < calls && sent - answered < window) add(&wire, &out, sent++);
    wire_flush(&wire, &out);
    // All that has come, before more is sent: one write for many calls.
    bool wait = true;
    while (wire_next(&wire, &message, wait)) {
      wait = false;
      if (is_answer(&message)) answered++;
    }
  }
  uint64_t time = now_ns(CLOCK_MONOTONIC) - start;
  printf(
    "{\"calls_per_s\": %.1f, \"calls\": %d, \"window\": %d}\n", calls * 1e9 / (double)time, calls,
    window);
}

static void clients(int count) {
  struct wire *wires = allocate((size_t)count, sizeof *wires);
  struct pollfd *polls = allocate((size_t)count, sizeof *polls);
  struct wire_out out = {0};
  struct wire_message message;
  for (int i = 0; i < count; i++) {
    wire_connect(&wires[i], address);
    polls[i] = (struct pollfd){.fd = wires[i].fd, .events = POLLIN};
  }
  int sent = 0, answered = 0;
  uint64_t start = now_ns(CLOCK_MONOTONIC);
  for (int i = 0; i < count && sent < calls; i++) {
    add_call(&wires[i], &out, sent++);
    wire_flush(&wires[i], &out);
  }
  while (answered < sent) {
    if (poll(polls, (nfds_t)count, -1) < 0 && errno != EINTR) fail("poll: %s", strerror(errno));
    for (int i = 0; i < count; i++) {
      if (polls[i].revents == 0) continue;
      bool wait = true;
      while (wire_next(&wires[i], &message, wait)) {
        wait = false;
        if (!is_answer(&message)) continue;
        answered++;
        if (sent < calls) add_call(&wires[i], &out, sent++);
      }
      wire_flush(&wires[i], &out);
    }
  }
  uint64_t time = now_ns(CLOCK_MONOTONIC) - start;
  printf(
    "{\"calls_per_s\": %.1f, \"calls\": %d, \"clients\": %d}\n", calls * 1e9 / (double)time, calls,
    count);
}

static void managed(void) {
  struct wire wire;
  struct wire_out out = {0};
  struct wire_message message;
  wire_connect(&wire, address);
  uint64_t start = now_ns(CLOCK_MONOTONIC);
  uint32_t serial = wire_call(
    &wire, &out, service, PATH, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", "");
  wire_await(&wire, &out, serial, &message);
  printf(
    "{\"ns\": %lu, \"bytes\": %zu}\n", now_ns(CLOCK_MONOTONIC) - start, message.size);
}

// MARK: Signals

static void subscribe(int count) {
  struct wire *wires = allocate((size_t)count, sizeof *wires);
  struct pollfd *polls = allocate((size_t)count + 1, sizeof *polls);
  struct wire_message message;
  char rule[128];
  snprintf(rule, sizeof rule, "type='signal',sender='%s'", service);
  for (int i = 0; i < count; i++) {
    wire_connect(&wires[i], address);
    wire_match(&wires[i], rule);
    polls[i] = (struct pollfd){.fd = wires[i].fd, .events = POLLIN};
  }
  polls[count] = (struct pollfd){.fd = 0, .events = POLLIN};
  puts("ready");
  fflush(stdout);
  uint64_t signals = 0;
  while (polls[count].revents == 0) {
    if (poll(polls, (nfds_t)count + 1, -1) < 0 && errno != EINTR) break;
    for (int i = 0; i < count; i++) {
      bool wait = polls[i].revents != 0;
      while (wait && wire_next(&wires[i], &message, false)) signals += message.type == WIRE_SIGNAL;
    }
  }
  printf("{\"signals\": %lu}\n", signals);
}

// The deadline of each countdown, read back from the service.
static void countdowns(void) {
  struct wire wire;
  struct wire_out out = {0};
  struct wire_message message;
  wire_connect(&wire, address);
  for (int i = 0; i < controls; i++) add_countdown(&wire, &out, i);
  wire_flush(&wire, &out);
  for (int answered = 0; answered < controls;) {
    wire_next(&wire, &message, true);
    answered += is_answer(&message);
  }
  uint64_t *deadlines = allocate((size_t)controls, sizeof *deadlines), last = 0;
  for (int i = 0; i < controls; i++) {
    char path[96];
    snprintf(path, sizeof path, PATH "/control/control%06d", first + i);
    uint32_t serial = wire_call(
      &wire, &out, service, path, "org.freedesktop.DBus.Properties", "Get", "ss", NAME ".Control",
      "Deadline");
    wire_await(&wire, &out, serial, &message);
    deadlines[i] = wire_u64(message.body + 8);
    if (deadlines[i] > last) last = deadlines[i];
  }
  for (int i = 0; i < controls && aligned; i++) {
    char name[32];
    control_name(name, sizeof name, i);
    uint32_t serial = wire_call(
      &wire, &out, service, PATH, NAME, "StartCountdownWithOptions", "stR", name,
      last - deadlines[i]);
    wire_await(&wire, &out, serial, &message);
    deadlines[i] = last;
  }
  if (deadlines_file == NULL) return;
  FILE *file = fopen(deadlines_file, "w");
  if (file == NULL) fail("%s: %s", deadlines_file, strerror(errno));
  for (int i = 0; i < controls; i++) fprintf(file, "%lu\n", deadlines[i]);
  fclose(file);
}

static uint64_t *read_deadlines(int *count) {
  FILE *file = fopen(deadlines_file, "r");
  if (file == NULL) fail("%s: %s", deadlines_file, strerror(errno));
  uint64_t *deadlines = allocate((size_t)controls, sizeof *deadlines);
  *count = 0;
  while (*count < controls && fscanf(file, "%lu", &deadlines[*count]) == 1) ++*count;
  fclose(file);
  return deadlines;
}

static void ticks(void) {
  struct wire wire;
  struct wire_message message;
  wire_connect(&wire, address);
  int count;
  uint64_t *deadlines = read_deadlines(&count);
  char rule[128];
  snprintf(rule, sizeof rule, "type='signal',member='Tick',interface='" NAME "'");
  wire_match(&wire, rule);
  // What lies within these instants has to come, once; what is sent at their edges does not count.
  uint64_t from = now_ns(CLOCK_BOOTTIME) / 1000 + 500000;
  uint64_t to = from + (uint64_t)seconds * 1000000U;
  uint8_t *seen = allocate((size_t)count * ((size_t)seconds + 2), 1);
  uint64_t *late = allocate((size_t)count * ((size_t)seconds + 2), sizeof *late);
  size_t heard = 0, doubled = 0, early = 0;
  puts("ready");
  fflush(stdout);
  struct pollfd poll_in = {.fd = wire.fd, .events = POLLIN};
  for (;;) {
    uint64_t now = now_ns(CLOCK_BOOTTIME) / 1000;
    if (now > to + 1500000) break;
    if (poll(&poll_in, 1, 100) <= 0) continue;
    while (wire_next(&wire, &message, false)) {
      if (message.type != WIRE_SIGNAL || message.member == NULL) continue;
      if (strcmp(message.member, "Tick") != 0) continue;
      now = now_ns(CLOCK_BOOTTIME) / 1000;
      const char *name = (const char *)message.body + 4;
      size_t length = wire_u32(message.body);
      int control = atoi(name + length - 6) - first;
      uint32_t remaining = wire_u32(message.body + (4 + length + 1 + 3) / 4 * 4);
      if (control < 0 || control >= count) continue;
      uint64_t due = deadlines[control] - (uint64_t)remaining * 1000000U;
      if (due < from || due >= to) continue;
      uint8_t *mark = &seen[(size_t)control * ((size_t)seconds + 2) + (due - from) / 1000000U];
      if (*mark) doubled++;
      *mark = 1;
      if (now < due) early++;
      late[heard++] = now < due ? 0 : now - due;
    }
  }
  // As many as instants at which whole seconds are left lie within the window.
  size_t expected = 0;
  for (int i = 0; i < count; i++)
    for (uint64_t due = deadlines[i]; due > 1000000U && (due -= 1000000U) >= from;)
      expected += due < to;
  qsort(late, heard, sizeof *late, compare);
  printf(
    "{\"expected\": %zu, \"heard\": %zu, \"doubled\": %zu, \"early\": %zu, \"p50_us\": %lu, "
    "\"p99_us\": %lu, \"max_us\": %lu}\n",
    expected, heard, doubled, early, quantile(late, heard, 0.5), quantile(late, heard, 0.99),
    heard > 0 ? late[heard - 1] : 0);
}

// MARK: Start

static void wait_for_name(void) {
  struct wire wire;
  struct wire_out out = {0};
  struct wire_message message;
  wire_connect(&wire, address);
  for (int i = 0; i < seconds * 100; i++) {
    uint32_t serial = wire_call(
      &wire, &out, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
      "NameHasOwner", "s", service);
    wire_await(&wire, &out, serial, &message);
    if (wire_u32(message.body) != 0) return;
    usleep(10000);
  }
  fail("%s does not appear", service);
}

// From exec to the signal that says that the name is owned.
static uint64_t start_once(struct wire *wire, char **command) {
  struct wire_message message;
  pid_t child;
  uint64_t start = now_ns(CLOCK_MONOTONIC);
  if (posix_spawnp(&child, command[0], NULL, NULL, command, environ) != 0)
    fail("%s cannot be run", command[0]);
  uint64_t owned = 0;
  for (bool gone = false; !gone;) {
    wire_next(wire, &message, true);
    if (message.type != WIRE_SIGNAL || strcmp(message.member, "NameOwnerChanged") != 0) continue;
    // Name, old owner, new owner.
    const char *at = (const char *)message.body;
    size_t offset = 0;
    for (int i = 0; i < 2; i++)
      offset = (offset + 4 + wire_u32((const uint8_t *)at + offset) + 1 + 3) / 4 * 4;
    gone = wire_u32((const uint8_t *)at + offset) == 0;
    if (!gone) {
      owned = now_ns(CLOCK_MONOTONIC) - start;
      kill(child, SIGTERM);
    }
  }
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return owned;
}

enum { MOST_COMMANDS = 8 };

static void starts(char **arguments) {
  char **commands[MOST_COMMANDS];
  int count = 0;
  commands[count++] = arguments;
  for (char **at = arguments; *at != NULL; at++) {
    if (strcmp(*at, "--") != 0) continue;
    *at = NULL;
    if (count == MOST_COMMANDS) fail("too many commands");
    commands[count++] = at + 1;
  }
  struct wire wire;
  char rule[256];
  wire_connect(&wire, address);
  snprintf(
    rule, sizeof rule,
    "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='%s'", service);
  wire_match(&wire, rule);
  uint64_t *times = allocate((size_t)(count * calls), sizeof *times);
  for (int i = 0; i < calls; i++)
    for (int c = 0; c < count; c++) times[c * calls + i] = start_once(&wire, commands[c]);
  fputs("{\"ns\": [", stdout);
  for (int c = 0; c < count; c++) {
    for (int i = 0; i < calls; i++)
      printf("%s%lu", i > 0 ? ", " : c > 0 ? ", [" : "[", times[c * calls + i]);
    fputs("]", stdout);
  }
  fputs("]}\n", stdout);
}

int main(int count, char **arguments) {
  static const struct option options[] = {
    {"service", required_argument, NULL, 's'}, {"controls", required_argument, NULL, 'c'},
    {"first", required_argument, NULL, 'f'},   {"calls", required_argument, NULL, 'n'},
    {"window", required_argument, NULL, 'w'},  {"seconds", required_argument, NULL, 't'},
    {"pairs", no_argument, NULL, 'p'},         {"show", no_argument, NULL, 'S'},
    {"hide", no_argument, NULL, 'H'},          {"forget", no_argument, NULL, 'F'},
    {"spread", no_argument, NULL, 'e'},        {"deadlines", required_argument, NULL, 'd'},
    {"align", no_argument, NULL, 'a'},         {0}};
  int option;
  while ((option = getopt_long(count, arguments, "+", options, NULL)) != -1) {
    switch (option) {
      case 's': service = optarg; break;
      case 'c': controls = atoi(optarg); break;
      case 'f': first = atoi(optarg); break;
      case 'n': calls = atoi(optarg); break;
      case 'w': window = atoi(optarg); break;
      case 't': seconds = atoi(optarg); break;
      case 'p': in_pairs = true; break;
      // Only one method.
      case 'S': methods[1] = "ShowIndicator"; break;
      case 'H': methods[0] = "HideIndicator"; break;
      case 'F': methods[1] = "Forget"; break;
      case 'e': spread = 1; break;
      case 'a': aligned = true; break;
      case 'd': deadlines_file = optarg; break;
      default: return 64;
    }
  }
  address = getenv("DBUS_SESSION_BUS_ADDRESS");
  if (address == NULL) fail("DBUS_SESSION_BUS_ADDRESS is not set");
  const char *mode = optind < count ? arguments[optind++] : "";
  int number = optind < count ? atoi(arguments[optind]) : 1;
  if (strcmp(mode, "latency") == 0) latency();
  else if (strcmp(mode, "flood") == 0) in_flight(add_call);
  else if (strcmp(mode, "get") == 0) in_flight(add_get);
  else if (strcmp(mode, "clients") == 0) clients(number);
  else if (strcmp(mode, "countdowns") == 0) countdowns();
  else if (strcmp(mode, "ticks") == 0) ticks();
  else if (strcmp(mode, "managed") == 0) managed();
  else if (strcmp(mode, "subscribe") == 0) subscribe(number);
  else if (strcmp(mode, "wait") == 0) wait_for_name();
  else if (strcmp(mode, "start") == 0 && optind < count) starts(&arguments[optind]);
  else fail("no such mode: %s", mode);
  return 0;
}
