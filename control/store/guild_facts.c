#include "control/store/guild_facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <jansson.h>
#include <sqlite3.h>

#include "control/events/audit_kind.h"
#include "control/store/audit.h"
#include "control/store/db.h"
#include "control/store/db_merge.h"
#include "control/store/forgotten.h"
#include "control/store/job.h"

/* The facts go last: the others name them by their server. */
static const enum db_statement all[] = {
	DB_FORGET_GUILD_TERMS,		 DB_FORGET_GUILD_VECTORS,   DB_FORGET_GUILD_SOURCES,
	DB_FORGET_GUILD_PEOPLE,		 DB_FORGET_GUILD_SUMMARIES, DB_FORGET_GUILD_SUMMARY_PEOPLE,
	DB_FORGET_GUILD_SUMMARY_SOURCES, DB_FORGET_GUILD_LINES,	    DB_FORGET_GUILD_FACTS};

static int add_audit(struct db *db, const struct job *j, unsigned facts)
{
	char target[40], result[32];

	snprintf(target, sizeof target, "guild:%" PRIu64, j->guild);
	snprintf(result, sizeof result, "%u fact%s", facts, facts == 1 ? "" : "s");
	return audit_add(
		db, &(struct audit_row){.at_ms = j->now_ms,
					.actor = "operator",
					.via = "http",
					.kind = audit_kind_name(AUDIT_KIND_MEMORY_FORGET_GUILD),
					.target = target,
					.result = result});
}

int guild_facts_drop(struct db *db, uint64_t guild, uint64_t until_ms, unsigned *facts)
{
	int err = 0;

	for (size_t i = 0; i < sizeof all / sizeof all[0] && !err; i++) {
		sqlite3_stmt *s = db_use(db, all[i]);

		db_bind_uint(s, 1, guild);
		db_bind_uint(s, 2, until_ms);
		err = db_run(db, s);
	}
	*facts = err ? 0 : db_changes(db);
	return err;
}

static int forget(struct db *db, const char *dir, const struct job *j, unsigned *facts)
{
	struct forgotten *f = NULL;
	int err = forgotten_alloc(&f, db, dir, j->now_ms);

	if (!err)
		err = guild_facts_drop(db, j->guild, INT64_MAX, facts);
	if (!err)
		err = add_audit(db, j, *facts);
	if (!err)
		err = forgotten_note_guild(f, j->guild);
	if (!err)
		err = forgotten_save(f);
	forgotten_free(f);
	return err;
}

int guild_facts_forget(struct db *db, const char *dir, const struct job *j, char **out)
{
	unsigned facts = 0;
	json_t *root;
	int err = db_begin_synced(db);

	if (err)
		return err;
	err = forget(db, dir, j, &facts);
	if (err)
		db_rollback(db);
	else
		err = db_commit(db);
	if (!err && facts)
		err = db_merge(db, DB_INDEX_FACTS);
	if (err)
		return err;
	root = json_pack("{s:i}", "forgotten", (int)facts);
	*out = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	return *out ? 0 : ENOMEM;
}
