/* Jobs of the store's worker that keep what a restart needs. */
#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "control/store/db.h"
#include "control/store/job_inside.h"
#include "control/store/session_file.h"
#include "control/store/store.h"
#include "ipc/log.h"

static int save_web(struct db *db, const struct job *j)
{
	sqlite3_stmt *s = db_use(db, DB_SET_META);

	db_bind_text(s, 1, STORE_META_WEB);
	db_bind_text(s, 2, j->text);
	return db_run(db, s);
}

static int run_of_guild(struct db *db, enum db_statement statement, const struct job *j)
{
	sqlite3_stmt *s = db_use(db, statement);

	db_bind_uint(s, 1, j->guild);
	if (statement == DB_SET_POSITION) {
		db_bind_uint(s, 2, j->owner);
		db_bind_uint(s, 3, j->version);
	} else if (statement == DB_SET_QUEUE || statement == DB_SET_GUILD) {
		db_bind_text(s, 2, j->text);
	}
	return db_run(db, s);
}

/* A document of a queue holds a position of its own. */
static int save_queue(struct db *db, const struct job *j)
{
	int err = run_of_guild(db, DB_DROP_POSITION, j);

	return err ? err : run_of_guild(db, j->text ? DB_SET_QUEUE : DB_DROP_QUEUE, j);
}

static void run_save_session(struct job_runner *r, const struct job *j)
{
	int err = session_file_save(r->dir, r->guilds_lost ? j->scope : j->text);

	explicit_bzero(j->text, strlen(j->text));
	r->full = r->full || err == ENOSPC || err == EDQUOT;
	if (err)
		log_warn("state_not_saved", "dir=%s error=\"%s\"", r->dir, strerror(err));
}

static int save_state(struct db *db, const struct job *j)
{
	switch (j->kind) {
	case JOB_DROP_GUILDS:
		return db_run(db, db_use(db, DB_DROP_GUILDS));
	case JOB_SAVE_WEB:
		return save_web(db, j);
	case JOB_SAVE_QUEUE:
		return save_queue(db, j);
	case JOB_SAVE_POSITION:
		return run_of_guild(db, DB_SET_POSITION, j);
	default:
		return run_of_guild(db, j->text ? DB_SET_GUILD : DB_DROP_GUILD, j);
	}
}

void job_run_state(struct job_runner *r, const struct job *j)
{
	bool drops = j->kind == JOB_DROP_GUILDS;
	int err = EIO;

	if (j->kind == JOB_SAVE_SESSION) {
		run_save_session(r, j);
		return;
	}
	if (job_database(r))
		err = job_note_outcome(r, save_state(r->db, j));
	if (j->kind == JOB_SAVE_GUILD || drops)
		r->guilds_lost = err || (r->guilds_lost && !drops);
}
