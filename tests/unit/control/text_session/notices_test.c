/* What the store knows when people are told that something was stopped. */
#include <string.h>

#include <jansson.h>

#include "control/discord/rest.h"
#include "control/settings/settings.h"
#include "control/store/db.h"
#include "control/store/store.h"
#include "tests/test.h"
#include "tests/unit/control/text_session/text_stage.h"
#include "tests/unit/ipc/loop.h"

static struct text_stage s;
static char dir[32];
static uint64_t asked;
static unsigned n_posts, n_ended;

/* A row is [message, server, channel, author, state, mark] (control/text/taken.h). */
static void look_at_the_row(void)
{
	json_t *rows = store_read_taken(dir), *row;
	size_t i;

	n_posts++;
	json_array_foreach(rows, i, row)
	{
		const char *state = json_string_value(json_array_get(row, 4));

		if ((uint64_t)json_integer_value(json_array_get(row, 0)) == asked)
			n_ended += state && strcmp(state, "ended") == 0;
	}
	json_decref(rows);
}

/* A control that is killed right after the notice leaves the next one nothing to answer, and no
 * notice that looks like an answer. */
TEST(a_stop_is_acknowledged_when_the_store_knows_of_the_end)
{
	struct store *store = NULL;
	struct db *db = NULL;

	n_posts = n_ended = 0;
	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	db_close(db);
	CHECK(text_stage_open(&s));
	CHECK(!settings_set(s.settings, "text_catchup", "true"));
	CHECK_INT(store_alloc(&store, s.fake.env, s.bus, s.settings, dir), 0);
	s.conf.store = store;
	s.posth = look_at_the_row;
	CHECK(text_stage_begin(&s));
	asked = text_stage_id(&s, 0);
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, asked, STAGE_ANA,
			  "<@9> where is the lantern");
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, asked + 1, STAGE_ANA, "<@9> stop");
	text_stage_run(&s);
	CHECK_STR(text_stage_reason(&s, asked), "cancelled");
	CHECK_INT(s.asked, 0);
	CHECK_INT(n_posts, 1);
	CHECK_INT(n_ended, 1);
	s.rest = rest_free(s.rest);
	s.ts = text_session_free(s.ts);
	store_free(store);
	text_stage_close(&s);
	folder_remove(dir);
}
