/* The copies of the database that migrations made: parley.db.before-VERSION in the state directory.
 * They hold what the database held, words included, so they stay no longer than words may. */
#ifndef CONTROL_STORE_COPIES_H
#define CONTROL_STORE_COPIES_H

#include <stdint.h>

/* path is borrowed until it returns. */
typedef void(copies_h)(const char *path, void *arg);

/* Removes those last written before before_ms (since 1970); h, if not NULL, is called for each.
 * Also what an interrupted copy left. The errno of what could not be removed; the others are gone
 * then, too. */
int copies_remove(const char *dir, uint64_t before_ms, copies_h *h, void *arg);

#endif
