/* Where a fact was told. Models tell it in these channels and their threads, wherever everybody may
 * see one of them, and to its author alone. On the store's worker. */
#ifndef CONTROL_STORE_FACT_CHANNELS_H
#define CONTROL_STORE_FACT_CHANNELS_H

#include <jansson.h>
#include <sqlite3.h>

enum { FACT_CHANNELS = 8 }; /* at most; RENEW_FACT and migration 23 write it as a number */

/* A new list ["ID", …] of this column, which the caller owns; NULL: the whole server may be told. A
 * list that cannot be read is empty: nobody may. */
json_t *fact_channels(sqlite3_stmt *s, int column);

#endif
