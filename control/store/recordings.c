#include "control/store/recordings.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "control/store/db.h"
#include "control/store/job_inside.h"
#include "ipc/worker.h"

/* Of all together: three quarters of an hour of speech. */
#define RECORDINGS_MAX_BYTES UINT64_C(67108864)

static int add_recording(struct db *db, const struct job *j)
{
	sqlite3_stmt *s = db_use(db, DB_ADD_RECORDING);

	db_bind_uint(s, 1, j->guild);
	db_bind_uint(s, 2, j->owner);
	db_bind_uint(s, 3, j->version);
	db_bind_uint(s, 4, j->user);
	db_bind_uint(s, 5, j->now_ms);
	db_bind_uint(s, 6, j->until_ms);
	sqlite3_bind_blob(s, 7, j->sound, (int)j->sound_n, SQLITE_STATIC);
	return db_run(db, s);
}

int recordings_drop(struct db *db, uint64_t guild, uint64_t user)
{
	sqlite3_stmt *s = db_use(db, DB_DROP_RECORDINGS);

	db_bind_uint(s, 1, guild);
	db_bind_uint(s, 2, user);
	return db_run(db, s);
}

int recordings_expire(struct db *db, uint64_t before_ms, unsigned *changed)
{
	sqlite3_stmt *s = db_use(db, DB_EXPIRE_RECORDINGS);
	int err;

	db_bind_uint(s, 1, before_ms);
	db_bind_uint(s, 2, RECORDINGS_MAX_BYTES);
	err = db_run(db, s);
	if (!err)
		*changed += db_changes(db);
	return err;
}

json_t *recordings_of_turn(struct db *db, uint64_t turn_seq)
{
	sqlite3_stmt *s = db_use(db, DB_LIST_RECORDINGS);
	json_t *list = json_array();

	db_bind_uint(s, 1, turn_seq);
	while (db_step(db, s) == 0)
		json_array_append_new(
			list,
			json_pack("{s:I,s:o,s:s,s:I}", "utterance", (json_int_t)db_uint(s, 0),
				  "user", json_sprintf("%llu", (unsigned long long)db_uint(s, 1)),
				  "name", db_text(s, 2), "ms", (json_int_t)db_uint(s, 3)));
	return list;
}

/* The author of the document: whose it is, "SERVER PERSON"; its version: how long it is, ms. */
static void answer_recording(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	sqlite3_stmt *s = db_use(r->db, DB_GET_RECORDING);
	struct answer_document d = {0};
	char whose[48];
	int err;

	db_bind_uint(s, 1, j->until_ms);
	db_bind_uint(s, 2, j->version);
	db_bind_uint(s, 3, j->now_ms);
	err = db_step(r->db, s);
	if (job_answer_head(a, err == ENOENT ? 0 : err, err ? 0 : 1) == 0 && !err) {
		snprintf(whose, sizeof whose, "%llu %llu", (unsigned long long)db_uint(s, 0),
			 (unsigned long long)db_uint(s, 1));
		d = (struct answer_document){.version = db_uint(s, 2),
					     .author = (uint32_t)strlen(whose),
					     .text = (uint32_t)sqlite3_column_bytes(s, 3)};
		if (worker_answer_add(a, &d, sizeof d) == 0 &&
		    worker_answer_add(a, whose, d.author) == 0)
			worker_answer_add(a, sqlite3_column_blob(s, 3), d.text);
	}
	sqlite3_reset(s);
}

void recordings_run(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	int err = job_database(r) ? 0 : r->err;

	if (err && j->kind == JOB_READ_RECORDING)
		job_answer_head(a, err, 0);
	else if (err)
		return;
	else if (j->kind == JOB_READ_RECORDING)
		answer_recording(r, j, a);
	else
		job_note_outcome(r, j->kind == JOB_KEEP_RECORDING
					    ? add_recording(r->db, j)
					    : recordings_drop(r->db, j->guild, j->user));
}
