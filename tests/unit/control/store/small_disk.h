/* A small file system, to be filled. */
#ifndef TESTS_UNIT_CONTROL_STORE_SMALL_DISK_H
#define TESTS_UNIT_CONTROL_STORE_SMALL_DISK_H

#include <stdbool.h>

/* Mounts one of this size ("12m") at the folder, for the calling process alone: call it in a child.
 * Works without root where user namespaces are allowed. False: it cannot be mounted here. */
bool small_disk_mount(const char *folder, const char *size);

#endif
