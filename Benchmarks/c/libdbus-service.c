// SPDX-License-Identifier: MIT
// The baseline on libdbus: libdbus-service echo|signals NAME
//
//   echo     answers every call, and does nothing else
//   signals  also keeps which controls are on, and sends the signals that the daemon sends when one
//            is shown or hidden: PropertiesChanged of the control, and of the manager when the first
//            comes or the last goes. (Objects and their InterfacesAdded it does not have.)
#include <dbus/dbus.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INTERFACE "org.busyindicator.BusyIndicator1"
#define PATH "/org/busyindicator/BusyIndicator1"

// MARK: Which controls are on

struct control {
  char name[256];
  char path[1024];
  bool on;
};

// Open addressing; a power of two, and never nearly full.
static struct control **slots;
static size_t slot_count, used, busy;

static size_t hash(const char *name) {
  size_t value = 14695981039346656037U;
  for (; *name != 0; name++) value = (value ^ (unsigned char)*name) * 1099511628211U;
  return value;
}

static size_t place(const char *name) {
  size_t at = hash(name) & (slot_count - 1);
  while (slots[at] != NULL && strcmp(slots[at]->name, name) != 0) at = (at + 1) & (slot_count - 1);
  return at;
}

static void grow(void) {
  struct control **old = slots;
  size_t count = slot_count;
  slot_count = count == 0 ? 256 : count * 2;
  slots = calloc(slot_count, sizeof *slots);
  for (size_t i = 0; i < count; i++)
    if (old[i] != NULL) slots[place(old[i]->name)] = old[i];
  free(old);
}

static struct control *find(const char *name) {
  if (used * 2 >= slot_count) grow();
  size_t at = place(name);
  if (slots[at] == NULL) {
    struct control *control = calloc(1, sizeof *control);
    snprintf(control->name, sizeof control->name, "%s", name);
    size_t length =
      (size_t)snprintf(control->path, sizeof control->path, "%s", PATH "/control/");
    for (const char *byte = name; *byte != 0; byte++) {
      bool digit = *byte >= '0' && *byte <= '9';
      bool letter = (*byte >= 'a' && *byte <= 'z') || (*byte >= 'A' && *byte <= 'Z');
      length += (size_t)snprintf(
        control->path + length, sizeof control->path - length,
        letter || (digit && byte != name) ? "%c" : "_%02x", (unsigned char)*byte);
    }
    slots[at] = control;
    used++;
  }
  return slots[at];
}

// MARK: Signals

static void entry(DBusMessageIter *array, const char *name, int type, const char *signature,
                  const void *value) {
  DBusMessageIter item, variant;
  dbus_message_iter_open_container(array, DBUS_TYPE_DICT_ENTRY, NULL, &item);
  dbus_message_iter_append_basic(&item, DBUS_TYPE_STRING, &name);
  dbus_message_iter_open_container(&item, DBUS_TYPE_VARIANT, signature, &variant);
  dbus_message_iter_append_basic(&variant, type, value);
  dbus_message_iter_close_container(&item, &variant);
  dbus_message_iter_close_container(array, &item);
}

static DBusMessage *begin(const char *path, const char *interface, DBusMessageIter *iterator,
                          DBusMessageIter *array) {
  DBusMessage *signal =
    dbus_message_new_signal(path, "org.freedesktop.DBus.Properties", "PropertiesChanged");
  dbus_message_iter_init_append(signal, iterator);
  dbus_message_iter_append_basic(iterator, DBUS_TYPE_STRING, &interface);
  dbus_message_iter_open_container(iterator, DBUS_TYPE_ARRAY, "{sv}", array);
  return signal;
}

static void finish(DBusConnection *connection, DBusMessage *signal, DBusMessageIter *iterator,
                   DBusMessageIter *array, const char *invalidated) {
  DBusMessageIter names;
  dbus_message_iter_close_container(iterator, array);
  dbus_message_iter_open_container(iterator, DBUS_TYPE_ARRAY, "s", &names);
  if (invalidated != NULL) dbus_message_iter_append_basic(&names, DBUS_TYPE_STRING, &invalidated);
  dbus_message_iter_close_container(iterator, &names);
  dbus_connection_send(connection, signal, NULL);
  dbus_message_unref(signal);
}

static void announce(DBusConnection *connection, const struct control *control) {
  DBusMessageIter iterator, array;
  dbus_bool_t on = control->on, off = !on;
  dbus_uint64_t since = 0;
  if (on) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    since = (dbus_uint64_t)now.tv_sec * 1000000U + (dbus_uint64_t)now.tv_nsec / 1000U;
  }
  DBusMessage *signal = begin(control->path, INTERFACE ".Control", &iterator, &array);
  entry(&array, "DisplayedEnabled", DBUS_TYPE_BOOLEAN, "b", &off);
  entry(&array, "Busy", DBUS_TYPE_BOOLEAN, "b", &on);
  entry(&array, "Visible", DBUS_TYPE_BOOLEAN, "b", &on);
  entry(&array, "BusySince", DBUS_TYPE_UINT64, "t", &since);
  finish(connection, signal, &iterator, &array, "Holders");
}

static void announce_manager(DBusConnection *connection) {
  DBusMessageIter iterator, array;
  dbus_bool_t on = busy > 0;
  DBusMessage *signal = begin(PATH, INTERFACE, &iterator, &array);
  entry(&array, "Busy", DBUS_TYPE_BOOLEAN, "b", &on);
  entry(&array, "Visible", DBUS_TYPE_BOOLEAN, "b", &on);
  finish(connection, signal, &iterator, &array, NULL);
}

// MARK: Calls

static void answer(DBusConnection *connection, DBusMessage *call) {
  if (dbus_message_get_no_reply(call)) return;
  DBusMessage *reply = dbus_message_new_method_return(call);
  dbus_connection_send(connection, reply, NULL);
  dbus_message_unref(reply);
}

static void answer_property(DBusConnection *connection, DBusMessage *call) {
  DBusMessageIter iterator, variant;
  dbus_bool_t value = TRUE;
  DBusMessage *reply = dbus_message_new_method_return(call);
  dbus_message_iter_init_append(reply, &iterator);
  dbus_message_iter_open_container(&iterator, DBUS_TYPE_VARIANT, "b", &variant);
  dbus_message_iter_append_basic(&variant, DBUS_TYPE_BOOLEAN, &value);
  dbus_message_iter_close_container(&iterator, &variant);
  dbus_connection_send(connection, reply, NULL);
  dbus_message_unref(reply);
}

static DBusHandlerResult handle(DBusConnection *connection, DBusMessage *call, void *context) {
  const bool *signals = context;
  if (dbus_message_get_type(call) != DBUS_MESSAGE_TYPE_METHOD_CALL)
    return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
  if (dbus_message_is_method_call(call, "org.freedesktop.DBus.Properties", "Get")) {
    answer_property(connection, call);
    return DBUS_HANDLER_RESULT_HANDLED;
  }
  bool on;
  const char *name;
  if (!*signals) {
    answer(connection, call);
    return DBUS_HANDLER_RESULT_HANDLED;
  }
  if (dbus_message_is_method_call(call, INTERFACE, "ShowIndicator")) on = true;
  else if (dbus_message_is_method_call(call, INTERFACE, "HideIndicator")) on = false;
  else return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
  if (!dbus_message_get_args(call, NULL, DBUS_TYPE_STRING, &name, DBUS_TYPE_INVALID))
    return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
  struct control *control = find(name);
  answer(connection, call);
  if (control->on != on) {
    control->on = on;
    busy += on ? 1 : (size_t)-1;
    announce(connection, control);
    if (busy == (on ? 1 : 0)) announce_manager(connection);
  }
  return DBUS_HANDLER_RESULT_HANDLED;
}

int main(int count, char **arguments) {
  if (count != 3) return 64;
  bool signals = strcmp(arguments[1], "signals") == 0;
  DBusError error = DBUS_ERROR_INIT;
  DBusConnection *connection = dbus_bus_get_private(DBUS_BUS_SESSION, &error);
  const DBusObjectPathVTable table = {.message_function = handle};
  if (connection == NULL ||
      !dbus_connection_register_fallback(connection, PATH, &table, &signals) ||
      dbus_bus_request_name(connection, arguments[2], DBUS_NAME_FLAG_DO_NOT_QUEUE, &error) !=
        DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER) {
    fprintf(stderr, "libdbus-service: %s\n", error.message);
    return 1;
  }
  while (dbus_connection_read_write_dispatch(connection, -1)) continue;
  return 0;
}
