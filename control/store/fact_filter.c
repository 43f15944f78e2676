#include "control/store/fact_filter.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "control/store/db.h"
#include "control/store/job.h"

bool fact_filter_has_tags(const char *tags, const json_t *wanted)
{
	json_t *own = json_loads(tags, 0, NULL), *want, *tag;
	bool all = true;
	size_t i, k;

	json_array_foreach(wanted, i, want)
	{
		bool has = false;

		json_array_foreach(own, k, tag)
		{
			has = has || json_equal(want, tag);
		}
		all = all && has;
	}
	json_decref(own);
	return all;
}

static void bind_list(sqlite3_stmt *s, int at, const json_t *list)
{
	char *text = json_array_size(list) ? json_dumps(list, JSON_COMPACT) : NULL;

	if (text)
		sqlite3_bind_text(s, at, text, -1, SQLITE_TRANSIENT);
	free(text);
}

/* A search reads so many rows, so it looks for the tags itself. */
void fact_filter_bind_tags(sqlite3_stmt *s, const json_t *tags)
{
	bind_list(s, 7, tags);
}

void fact_filter_bind_untold(sqlite3_stmt *s, const struct job *j, const json_t *request)
{
	db_bind_uint(s, 10, j->user);
	bind_list(s, 8, json_object_get(request, "without_authors"));
	bind_list(s, 9, json_object_get(request, "without_channels"));
}
