#include "control/costs.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "control/store/db.h"
#include "control/store/faults.h"
#include "control/words/words.h"
#include "proto/base/utf8.h"

/* Columns of DB_FIND_COSTS. */
enum {
	DAY,
	GUILD,
	CHANNEL,
	USER,
	NAME,
	PROVIDER,
	MODEL,
	ROLE,
	NANO,
	PRICED,
	TURNS,
	ESTIMATED,
	WRITTEN
};

struct total {
	uint64_t day, nano;
	bool priced, estimated, any;
};

/* Rounded to a hundredth of a cent, as the dashboard does it. Some of it may have no price, or not
 * be told by the provider. */
static void print_amount(FILE *out, uint64_t nano, bool priced, bool estimated)
{
	uint64_t parts = nano / 100000 + (nano % 100000 >= 50000);

	fprintf(out, "  %s%s$%" PRIu64 ".%04" PRIu64, priced ? "" : "at least ",
		estimated ? "about " : "", parts / 10000, parts % 10000);
}

static void print_day(FILE *out, uint64_t day)
{
	time_t at = (time_t)(day * 86400);
	struct tm tm;
	char text[16] = "";

	if (gmtime_r(&at, &tm))
		strftime(text, sizeof text, "%Y-%m-%d", &tm);
	fputs(text, out);
}

static void end_day(FILE *out, struct total *t)
{
	if (t->any) {
		print_day(out, t->day);
		fputs("  all", out);
		print_amount(out, t->nano, t->priced, t->estimated);
		fputc('\n', out);
	}
	*t = (struct total){.priced = true};
}

/* The memory belongs to no channel, a direct message to no server, and an embedding to neither. */
static void print_place(FILE *out, sqlite3_stmt *s)
{
	uint64_t guild = db_uint(s, GUILD), channel = db_uint(s, CHANNEL);

	if (guild)
		fprintf(out, "  server %" PRIu64, guild);
	else if (channel)
		fputs("  direct messages", out);
	if (channel)
		fprintf(out, "  %s channel %" PRIu64, db_uint(s, WRITTEN) ? "text" : "voice",
			channel);
}

/* Of requests that belong to no answer it says nothing. */
static void print_answers(FILE *out, sqlite3_stmt *s)
{
	uint64_t n = db_uint(s, TURNS);

	if (n)
		fprintf(out, "  %" PRIu64 " %s%s", n,
			db_uint(s, WRITTEN) ? "written answer" : "turn", n == 1 ? "" : "s");
	fputc('\n', out);
}

static void print_row(FILE *out, sqlite3_stmt *s)
{
	print_day(out, db_uint(s, DAY));
	print_place(out, s);
	if (db_uint(s, USER)) {
		char name[128];

		utf8_copy(name, sizeof name, db_text(s, NAME));
		utf8_plain(name);
		fprintf(out, "  %s (%" PRIu64 ")", name, db_uint(s, USER));
	}
	fprintf(out, "  %s %s %s", db_text(s, ROLE), db_text(s, PROVIDER), db_text(s, MODEL));
	print_amount(out, db_uint(s, NANO), db_uint(s, PRICED) != 0, db_uint(s, ESTIMATED) != 0);
	print_answers(out, s);
}

static bool print_rows(FILE *out, struct db *db, uint64_t guild, uint64_t since_ms)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_COSTS);
	struct total t = {.priced = true};
	bool any = false;

	db_bind_uint(s, 1, since_ms);
	while (db_step(db, s) == 0) {
		if (guild && db_uint(s, GUILD) != guild)
			continue;
		if (t.any && t.day != db_uint(s, DAY))
			end_day(out, &t);
		any = t.any = true;
		t.day = db_uint(s, DAY);
		t.nano += db_uint(s, NANO);
		t.priced = t.priced && db_uint(s, PRICED);
		t.estimated = t.estimated || db_uint(s, ESTIMATED);
		print_row(out, s);
	}
	end_day(out, &t);
	return any;
}

int costs_run(FILE *out, const char *state_dir, uint64_t guild, uint64_t since_ms)
{
	struct db *db = NULL;
	struct words w = {0};
	int err = db_open(&db, state_dir, DB_READ);

	if (err == ENOENT)
		words_store_missing(&w, state_dir);
	else if (err)
		store_fault_words(&w, state_dir, err);
	if (err) {
		fprintf(stderr, "control: %s\n", w.text);
		return 1;
	}
	if (!print_rows(out, db, guild, since_ms)) {
		words_costs_none(&w);
		fprintf(out, "%s\n", w.text);
	}
	db_close(db);
	return 0;
}
