// SPDX-License-Identifier: MIT
// A D-Bus client that costs next to nothing, so that what is measured is the service and the bus:
// blocking socket, messages laid out by hand, answers only looked at as far as a benchmark needs.
// Little-endian machines only; it trusts its own bus.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire {
  int fd;
  uint32_t serial;
  uint8_t *in;
  size_t in_start, in_end, in_size;
  char name[64];
};

// Messages that wait to be sent.
struct wire_out {
  uint8_t *data;
  size_t size, capacity;
};

enum { WIRE_CALL = 1, WIRE_RETURN = 2, WIRE_ERROR = 3, WIRE_SIGNAL = 4 };

// A message as it lies in the buffer; valid until the next one is read.
struct wire_message {
  uint8_t type;
  uint32_t reply_serial;
  const char *path, *interface, *member, *error, *sender, *signature;
  const uint8_t *body;
  uint32_t body_size;
  size_t size;
};

// Connects to an address of the form unix:path=… and says Hello. Ends the program on failure.
void wire_connect(struct wire *wire, const char *address);
void wire_close(struct wire *wire);

// Appends a call and gives its serial. The signature may hold s u i t b, and for an a{sv} E, which is
// empty, or R, which holds restart=extend.
uint32_t wire_call(
  struct wire *wire, struct wire_out *out, const char *destination, const char *path,
  const char *interface, const char *member, const char *signature, ...);

// Sends all that waits.
void wire_flush(struct wire *wire, struct wire_out *out);

// Takes the next message: waits for it, or with `wait` false takes only what has been received.
bool wire_next(struct wire *wire, struct wire_message *message, bool wait);

// Sends what waits and reads until the answer to `serial` is there. Ends the program on an error.
void wire_await(
  struct wire *wire, struct wire_out *out, uint32_t serial, struct wire_message *message);

// Asks the bus for what `rule` describes, and waits until it is in force.
void wire_match(struct wire *wire, const char *rule);

uint32_t wire_u32(const uint8_t *at);
uint64_t wire_u64(const uint8_t *at);

// Says what went wrong, and ends the program.
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
