// SPDX-License-Identifier: MIT
#include "wire.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("load: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(1);
}

uint32_t wire_u32(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

uint64_t wire_u64(const uint8_t *at) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static void send_all(int fd, const void *data, size_t size) {
  const uint8_t *at = data;
  while (size > 0) {
    ssize_t count = send(fd, at, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("send: %s", strerror(errno));
    at += count;
    size -= (size_t)count;
  }
}

void wire_connect(struct wire *wire, const char *address) {
  static const char prefix[] = "unix:path=";
  if (strncmp(address, prefix, sizeof prefix - 1) != 0) fail("no unix:path= in %s", address);
  struct sockaddr_un where = {.sun_family = AF_UNIX};
  const char *path = address + sizeof prefix - 1;
  size_t length = strcspn(path, ",;");
  if (length >= sizeof where.sun_path) fail("%s is too long", address);
  memcpy(where.sun_path, path, length);

  memset(wire, 0, sizeof *wire);
  wire->in_size = 1 << 18;
  wire->in = malloc(wire->in_size);
  wire->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (wire->fd < 0 || connect(wire->fd, (struct sockaddr *)&where, sizeof where) < 0)
    fail("connect to %s: %s", address, strerror(errno));

  char uid[16], hello[64];
  snprintf(uid, sizeof uid, "%u", (unsigned)getuid());
  int size = snprintf(hello, sizeof hello, "%cAUTH EXTERNAL ", 0);
  for (const char *digit = uid; *digit != 0; digit++)
    size += snprintf(hello + size, sizeof hello - (size_t)size, "%02x", (unsigned)*digit);
  size += snprintf(hello + size, sizeof hello - (size_t)size, "\r\n");
  send_all(wire->fd, hello, (size_t)size);
  char line[256];
  size_t got = 0;
  while (got < sizeof line - 1 && (got == 0 || line[got - 1] != '\n'))
    if (read(wire->fd, line + got++, 1) != 1) fail("the bus hung up");
  if (strncmp(line, "OK", 2) != 0) fail("the bus refused: %.*s", (int)got, line);
  send_all(wire->fd, "BEGIN\r\n", 7);

  struct wire_out out = {0};
  struct wire_message message;
  uint32_t serial = wire_call(
    wire, &out, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello",
    "");
  wire_await(wire, &out, serial, &message);
  snprintf(wire->name, sizeof wire->name, "%s", (const char *)message.body + 4);
  free(out.data);
}

void wire_close(struct wire *wire) {
  close(wire->fd);
  free(wire->in);
}

// MARK: Writing

static void reserve(struct wire_out *out, size_t more) {
  if (out->size + more <= out->capacity) return;
  out->capacity = (out->size + more) * 2;
  out->data = realloc(out->data, out->capacity);
  if (out->data == NULL) fail("out of memory");
}

static void put(struct wire_out *out, const void *data, size_t size) {
  reserve(out, size);
  memcpy(out->data + out->size, data, size);
  out->size += size;
}

static void put_u32(struct wire_out *out, uint32_t value) { put(out, &value, sizeof value); }

// Aligns relative to where the message, or its body, starts.
static void align(struct wire_out *out, size_t start, size_t to) {
  static const uint8_t zeros[8];
  size_t odd = (out->size - start) % to;
  if (odd != 0) put(out, zeros, to - odd);
}

static void put_text(struct wire_out *out, size_t start, const char *text) {
  align(out, start, 4);
  size_t length = strlen(text);
  put_u32(out, (uint32_t)length);
  put(out, text, length + 1);
}

static void put_field(
  struct wire_out *out, size_t start, uint8_t code, char type, const char *text) {
  align(out, start, 8);
  uint8_t head[] = {code, 1, (uint8_t)type, 0};
  put(out, head, sizeof head);
  if (type == 'g') {
    uint8_t length = (uint8_t)strlen(text);
    put(out, &length, 1);
    put(out, text, length + 1U);
  } else {
    put_text(out, start, text);
  }
}

static void put_body(struct wire_out *out, const char *signature, va_list arguments) {
  size_t start = out->size;
  for (const char *type = signature; *type != 0; type++) {
    if (*type == 's') {
      put_text(out, start, va_arg(arguments, const char *));
    } else if (*type == 't') {
      align(out, start, 8);
      uint64_t value = va_arg(arguments, uint64_t);
      put(out, &value, sizeof value);
    } else if (*type == 'E') {
      align(out, start, 4);
      put_u32(out, 0);
      align(out, start, 8);
    } else if (*type == 'R') {
      align(out, start, 4);
      size_t place = out->size;
      put_u32(out, 0);
      align(out, start, 8);
      size_t entries = out->size;
      put_text(out, start, "restart");
      put(out, "\1s", 3);
      put_text(out, start, "extend");
      uint32_t length = (uint32_t)(out->size - entries);
      memcpy(out->data + place, &length, sizeof length);
    } else {
      align(out, start, 4);
      put_u32(out, va_arg(arguments, uint32_t));
    }
  }
}

uint32_t wire_call(
  struct wire *wire, struct wire_out *out, const char *destination, const char *path,
  const char *interface, const char *member, const char *signature, ...) {
  char real_signature[32];
  size_t length = 0;
  for (const char *type = signature; *type != 0; type++)
    length += (size_t)snprintf(
      real_signature + length, sizeof real_signature - length, "%s",
      *type == 'E' || *type == 'R' ? "a{sv}" : (char[]){*type, 0});
  real_signature[length] = 0;

  size_t start = out->size;
  uint8_t head[] = {'l', WIRE_CALL, 0, 1};
  put(out, head, sizeof head);
  put_u32(out, 0);
  put_u32(out, ++wire->serial);
  put_u32(out, 0);
  put_field(out, start, 1, 'o', path);
  put_field(out, start, 2, 's', interface);
  put_field(out, start, 3, 's', member);
  put_field(out, start, 6, 's', destination);
  if (length > 0) put_field(out, start, 8, 'g', real_signature);
  uint32_t fields = (uint32_t)(out->size - start - 16);
  memcpy(out->data + start + 12, &fields, sizeof fields);
  align(out, start, 8);

  size_t body = out->size;
  va_list arguments;
  va_start(arguments, signature);
  put_body(out, signature, arguments);
  va_end(arguments);
  uint32_t body_size = (uint32_t)(out->size - body);
  memcpy(out->data + start + 4, &body_size, sizeof body_size);
  return wire->serial;
}

void wire_flush(struct wire *wire, struct wire_out *out) {
  if (out->size > 0) send_all(wire->fd, out->data, out->size);
  out->size = 0;
}

// MARK: Reading

static size_t up(size_t value, size_t to) { return (value + to - 1) / to * to; }

// How long the message at the start of what was received is; 0 when that cannot be told yet.
static size_t message_size(const struct wire *wire) {
  if (wire->in_end - wire->in_start < 16) return 0;
  const uint8_t *at = wire->in + wire->in_start;
  return up(16 + wire_u32(at + 12), 8) + wire_u32(at + 4);
}

static bool receive(struct wire *wire, bool wait) {
  if (wire->in_start > 0) {
    memmove(wire->in, wire->in + wire->in_start, wire->in_end - wire->in_start);
    wire->in_end -= wire->in_start;
    wire->in_start = 0;
  }
  size_t wanted = message_size(wire);
  if (wanted > wire->in_size || wire->in_end == wire->in_size) {
    wire->in_size = wanted > wire->in_size ? wanted : wire->in_size * 2;
    wire->in = realloc(wire->in, wire->in_size);
    if (wire->in == NULL) fail("out of memory");
  }
  for (;;) {
    ssize_t count = recv(
      wire->fd, wire->in + wire->in_end, wire->in_size - wire->in_end, wait ? 0 : MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return false;
    if (count <= 0) fail("the bus hung up");
    wire->in_end += (size_t)count;
    return true;
  }
}

static void parse(const uint8_t *start, struct wire_message *message) {
  memset(message, 0, sizeof *message);
  message->type = start[1];
  message->body_size = wire_u32(start + 4);
  size_t end = 16 + wire_u32(start + 12);
  message->body = start + up(end, 8);
  for (size_t at = 16; at < end;) {
    at = up(at, 8);
    uint8_t code = start[at];
    char type = (char)start[at + 2];
    at += 4;
    if (type == 'g') {
      if (code == 8) message->signature = (const char *)start + at + 1;
      at += start[at] + 2U;
    } else if (type == 'u') {
      if (code == 5) message->reply_serial = wire_u32(start + at);
      at += 4;
    } else {
      const char *text = (const char *)start + at + 4;
      if (code == 1) message->path = text;
      if (code == 2) message->interface = text;
      if (code == 3) message->member = text;
      if (code == 4) message->error = text;
      if (code == 7) message->sender = text;
      at += 4 + wire_u32(start + at) + 1;
    }
  }
}

bool wire_next(struct wire *wire, struct wire_message *message, bool wait) {
  for (;;) {
    size_t size = message_size(wire);
    if (size > 0 && wire->in_end - wire->in_start >= size) {
      parse(wire->in + wire->in_start, message);
      message->size = size;
      wire->in_start += size;
      return true;
    }
    if (!receive(wire, wait)) return false;
  }
}

void wire_await(
  struct wire *wire, struct wire_out *out, uint32_t serial, struct wire_message *message) {
  wire_flush(wire, out);
  do wire_next(wire, message, true);
  while (message->reply_serial != serial);
  if (message->type == WIRE_ERROR)
    fail("%s: %s", message->error, message->body_size > 4 ? (const char *)message->body + 4 : "");
}

void wire_match(struct wire *wire, const char *rule) {
  struct wire_out out = {0};
  struct wire_message message;
  uint32_t serial = wire_call(
    wire, &out, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
    "AddMatch", "s", rule);
  wire_await(wire, &out, serial, &message);
  free(out.data);
}
