/* Environment variables that hold secrets (the settings table's keys and their _FILE forms): no
 * child of ours has a use for them, so they are hidden from every child (ipc/child.h). */
#ifndef CONTROL_SETTINGS_SECRET_NAMES_H
#define CONTROL_SETTINGS_SECRET_NAMES_H

/* NULL-terminated. */
extern const char *const secret_names[];

#endif
