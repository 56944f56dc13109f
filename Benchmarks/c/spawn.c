// SPDX-License-Identifier: MIT
// How long commands take: spawn [-l] RUNS COMMAND... [-- COMMAND...]...
//
// Runs each RUNS times, interleaved, with output to /dev/null, and prints for each the wall time and
// the processor time of each run in nanoseconds, as one JSON object. With -l it takes the time to the
// first output, and then ends the process by SIGTERM.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { MOST_COMMANDS = 8 };

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static uint64_t in_ns(struct timeval time) {
  return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_usec * 1000U;
}

static void run(char **command, bool first_line, uint64_t *wall, uint64_t *processor) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) exit(1);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (first_line) posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  else posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t child;
  uint64_t start = now_ns();
  if (posix_spawnp(&child, command[0], &actions, NULL, command, environ) != 0) {
    fprintf(stderr, "spawn: %s cannot be run\n", command[0]);
    exit(1);
  }
  close(ends[1]);
  if (first_line) {
    struct pollfd output = {.fd = ends[0], .events = POLLIN};
    bool silent = poll(&output, 1, 5000) != 1 || !(output.revents & POLLIN);
    *wall = now_ns() - start;
    kill(child, SIGTERM);
    if (silent) {
      fprintf(stderr, "spawn: %s says nothing\n", command[0]);
      exit(1);
    }
  }
  int status;
  struct rusage usage;
  while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) continue;
  if (!first_line) *wall = now_ns() - start;
  *processor = in_ns(usage.ru_utime) + in_ns(usage.ru_stime);
  close(ends[0]);
  posix_spawn_file_actions_destroy(&actions);
  if (!first_line && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
    fprintf(stderr, "spawn: %s failed\n", command[0]);
    exit(1);
  }
}

static void print(const char *name, const uint64_t *times, int count, int runs) {
  printf("\"%s\": [", name);
  for (int c = 0; c < count; c++) {
    printf("%s[", c > 0 ? ", " : "");
    for (int i = 0; i < runs; i++) printf("%s%lu", i > 0 ? ", " : "", times[c * runs + i]);
    putchar(']');
  }
  putchar(']');
}

int main(int argument_count, char **arguments) {
  bool first_line = argument_count > 1 && strcmp(arguments[1], "-l") == 0;
  if (first_line) arguments++, argument_count--;
  if (argument_count < 3) return 64;
  int runs = atoi(arguments[1]), count = 0;
  char **commands[MOST_COMMANDS];
  commands[count++] = &arguments[2];
  for (char **at = &arguments[2]; *at != NULL; at++) {
    if (strcmp(*at, "--") != 0 || count == MOST_COMMANDS) continue;
    *at = NULL;
    commands[count++] = at + 1;
  }
  uint64_t *wall = calloc((size_t)(count * runs), sizeof *wall);
  uint64_t *processor = calloc((size_t)(count * runs), sizeof *processor);
  for (int i = 0; i < runs; i++)
    for (int c = 0; c < count; c++)
      run(commands[c], first_line, &wall[c * runs + i], &processor[c * runs + i]);
  putchar('{');
  print("wall_ns", wall, count, runs);
  fputs(", ", stdout);
  print("processor_ns", processor, count, runs);
  puts("}");
  return 0;
}
