#!/usr/bin/gjs
// SPDX-License-Identifier: MIT
//
// Prints a line whenever something is busy, or no longer: gjs watch.js
//
// What a panel does: it watches the name, has GIO keep the properties of all controls, and looks at
// them when they change. It does not start the daemon.

const {Gio, GLib} = imports.gi;

const NAME = 'org.busyindicator.BusyIndicator1';
const CONTROL = `${NAME}.Control`;

function show(proxy) {
    const get = name => proxy.get_cached_property(name)?.deepUnpack();
    const title = get('Title') || get('Name');
    if (get('Visible'))
        print(`${title}: busy${get('ProgressValid') ? `, ${Math.round(100 * get('Progress'))} %` : ''}`);
    else
        print(`${title}: idle`);
}

const manager = Gio.DBusObjectManagerClient.new_for_bus_sync(
    Gio.BusType.SESSION, Gio.DBusObjectManagerClientFlags.DO_NOT_AUTO_START,
    NAME, '/org/busyindicator/BusyIndicator1', null, null);

manager.connect('object-added', (_manager, object) => show(object.get_interface(CONTROL)));
manager.connect('interface-proxy-properties-changed', (_manager, _object, proxy, changed) => {
    if (['Visible', 'Progress', 'Title'].some(name => changed.lookup_value(name, null)))
        show(proxy);
});
manager.get_objects().forEach(object => {
    const proxy = object.get_interface(CONTROL);
    if (proxy)
        show(proxy);
});

new GLib.MainLoop(null, false).run();
