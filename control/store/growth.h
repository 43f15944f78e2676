/* Care for the database while control runs: its size, and its integrity. On the store's worker. */
#ifndef CONTROL_STORE_GROWTH_H
#define CONTROL_STORE_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

struct db;

/* Takes away the oldest words until the database uses at most max_bytes, or no words are left. 0:
 * no limit. *words_ms: words said before then are gone; 0: none had to go. Errors of db.h. */
int growth_limit(struct db *db, uint64_t now_ms, uint64_t max_bytes, uint64_t *words_ms);
/* Gives some free pages back to the file system, of a database that was made by this version. */
int growth_shrink(struct db *db);
/* Once a day, at 4:00 in the machine's time zone: whether it is due. *day: kept by the caller, 0 at
 * first. */
bool growth_check_is_due(uint64_t now_ms, int64_t *day);
/* Looks through the database of dir by a connection of its own. EUCLEAN. */
int growth_check(const char *dir);

#endif
