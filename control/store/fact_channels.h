/* Where a fact was told: models tell it only where everybody may see one of these channels. On the
 * store's worker. */
#ifndef CONTROL_STORE_FACT_CHANNELS_H
#define CONTROL_STORE_FACT_CHANNELS_H

#include <jansson.h>
#include <sqlite3.h>

enum { FACT_CHANNELS = 8 }; /* of RENEW_FACT */

/* ["ID", …] of this column; NULL: it was told for all of the server. One that cannot be read is no
 * channel. */
json_t *fact_channels(sqlite3_stmt *s, int column);

#endif
