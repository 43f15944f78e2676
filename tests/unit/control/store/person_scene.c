#include "tests/unit/control/store/person_scene.h"

#include <sqlite3.h>

#include "control/store/store.h"
#include "control/words/words.h"
#include "control/store/rows.h"
#include "control/store/scan.h"
#include "control/events/events.h"

char person_dir[32];
struct db *person_db;

void person_says(uint64_t user, const char *text)
{
	struct bus_event ev = {.type = EVENT_UTTERANCE, .at_ms = 1000, .guild = 7, .user = user};

	ev.utterance = (struct event_utterance){
		.session = 5, .channel = 3, .name = "x", .text = text, .started_ms = 1000};
	CHECK_INT(rows_add(person_db, &ev, true), 0);
}

void person_open(void)
{
	person_db = NULL;
	CHECK(folder_make(person_dir));
	CHECK_INT(db_open(&person_db, person_dir, DB_OWN), 0);
	person_says(ANA, WORDS_OF_ANA);
	person_says(BOB, "nobody told me about the plugh");
}

bool person_sql(const char *sql)
{
	return sqlite3_exec(sqlite3_db_handle(db_use(person_db, DB_BEGIN)), sql, NULL, NULL,
			    NULL) == SQLITE_OK;
}

void person_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fputs(text, f) >= 0);
	if (f)
		fclose(f);
}

int person_erase_ana(const char *turns, const char *journals, char **receipt)
{
	const struct erase e = {.dir = person_dir,
				.turns_file = turns,
				.room_journals = journals,
				.user = ANA,
				.now_ms = 2000,
				.via = "test"};

	return erase_person(person_db, &e, receipt);
}

struct sqlite3_stmt *person_use(enum db_statement statement, uint64_t user)
{
	struct sqlite3_stmt *s = db_use(person_db, statement);

	db_bind_uint(s, 1, user);
	return s;
}
