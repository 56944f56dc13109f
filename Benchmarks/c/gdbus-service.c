// SPDX-License-Identifier: MIT
// The baseline on GDBus, which only answers: gdbus-service NAME
#include <gio/gio.h>

#define PATH "/org/busyindicator/BusyIndicator1"

static const char xml[] =
  "<node><interface name='org.busyindicator.BusyIndicator1'>"
  "<method name='ShowIndicator'><arg name='control' type='s' direction='in'/></method>"
  "<method name='HideIndicator'><arg name='control' type='s' direction='in'/></method>"
  "</interface></node>";

static void answer(GDBusConnection *connection, const char *sender, const char *path,
                   const char *interface, const char *method, GVariant *arguments,
                   GDBusMethodInvocation *call, gpointer context) {
  (void)connection, (void)sender, (void)path, (void)interface, (void)method, (void)context;
  const char *name;
  g_variant_get(arguments, "(&s)", &name);
  g_dbus_method_invocation_return_value(call, NULL);
}

static void acquired(GDBusConnection *connection, const char *name, gpointer context) {
  (void)name, (void)context;
  static const GDBusInterfaceVTable table = {.method_call = answer};
  GDBusNodeInfo *node = g_dbus_node_info_new_for_xml(xml, NULL);
  g_dbus_connection_register_object(
    connection, PATH, node->interfaces[0], &table, NULL, NULL, NULL);
  g_dbus_node_info_unref(node);
}

static void lost(GDBusConnection *connection, const char *name, gpointer context) {
  (void)connection;
  g_printerr("gdbus-service: %s was lost\n", name);
  g_main_loop_quit(context);
}

int main(int count, char **arguments) {
  if (count != 2) return 64;
  GMainLoop *loop = g_main_loop_new(NULL, FALSE);
  g_bus_own_name(G_BUS_TYPE_SESSION, arguments[1], G_BUS_NAME_OWNER_FLAGS_NONE, acquired, NULL,
                 lost, loop, NULL);
  g_main_loop_run(loop);
  return 1;
}
