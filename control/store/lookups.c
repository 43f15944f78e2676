#include "control/store/lookups.h"

#include <errno.h>
#include <sqlite3.h>

#include <jansson.h>

#include "control/store/db.h"
#include "control/store/job.h"

int lookups_find(struct db *db, const struct job *j, char **out)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_LOOKUPS);
	json_t *list = json_array();
	int err;

	db_bind_uint(s, 1, j->guild);
	db_bind_uint(s, 2, j->channel);
	db_bind_uint(s, 3, j->now_ms);
	db_bind_uint(s, 4, j->version);
	while ((err = db_step(db, s)) == 0)
		json_array_append_new(
			list, json_pack("{s:I,s:s,s:s,s:o}", "at_ms", (json_int_t)db_uint(s, 0),
					"tool", db_text(s, 1), "text", db_text(s, 2), "user",
					json_sprintf("%llu", (unsigned long long)db_uint(s, 3))));
	*out = err == ENOENT ? json_dumps(list, JSON_COMPACT) : NULL;
	json_decref(list);
	return err == ENOENT ? 0 : err;
}
