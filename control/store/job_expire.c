/* Jobs of the store's worker that take away what is too old or too much. */
#include <errno.h>

#include "control/store/audit.h"
#include "control/store/clock.h"
#include "control/store/copies.h"
#include "control/store/db.h"
#include "control/store/db_merge.h"
#include "control/store/embedding.h"
#include "control/store/fact_rows.h"
#include "control/store/growth.h"
#include "control/store/job_inside.h"
#include "control/store/recordings.h"
#include "control/store/reserve.h"
#include "control/store/rows.h"
#include "control/store/summaries.h"
#include "ipc/log.h"
#include "proto/base/time.h"

/* So long a rewriting stands back behind others; then each job does a part of it. */
enum { MERGE_AFTER_S = 60 };

static int expire_rows(struct job_runner *r, const struct job *j, unsigned *changed)
{
	unsigned facts = 0;
	int err = rows_expire(r->db, j->now_ms, j->words_ms, changed);

	if (*changed || r->took_away)
		job_merge_later(r, DB_INDEX_LINES);
	/* A control that was killed may have left some. */
	if (!r->expired) {
		job_merge_later(r, DB_INDEX_LINES);
		job_merge_later(r, DB_INDEX_FACTS);
	}
	r->expired = true;
	if (!err)
		err = fact_rows_expire(r->db, j->facts_ms, &facts);
	if (err)
		job_merge_later(r, DB_INDEX_FACTS);
	*changed += facts;
	if (!err)
		err = summaries_expire(r->db, j->facts_ms, &facts);
	*changed += facts;
	*changed += r->took_away;
	r->took_away = r->took_away && err;
	return err ? err : recordings_expire(r->db, j->audio_ms, changed);
}

/* Once, until it has room again. */
static int limit_growth(struct job_runner *r, const struct job *j, unsigned *changed)
{
	uint64_t words_ms = 0;
	int err = growth_limit(r->db, j->now_ms, j->max_bytes, &words_ms);

	if (words_ms && !r->limited)
		log_warn("store_limit_reached", "bytes=%llu words_before_ms=%llu",
			 (unsigned long long)j->max_bytes, (unsigned long long)words_ms);
	r->limited = words_ms != 0;
	*changed += words_ms != 0;
	if (words_ms)
		job_merge_later(r, DB_INDEX_LINES);
	return err;
}

static void check_nightly(struct job_runner *r, uint64_t now_ms)
{
	char head[AUDIT_HEAD];

	if (!growth_check_is_due(now_ms, &r->checked_day))
		return;
	job_note_read(r, growth_check(r->dir));
	/* The log goes elsewhere: a chain that somebody makes anew lacks this head. */
	if (!audit_head(r->db, head) && *head)
		log_info("audit_head", "head=%s", head);
}

int job_run_expire(struct job_runner *r, const struct job *j)
{
	unsigned changed = 0;
	int err;

	if (!job_database(r))
		return r->err;
	r->merge_rests = false;
	err = expire_rows(r, j, &changed);
	/* A deletion makes room; the reserve is made again once there is enough. */
	if (job_makes_room(r, err))
		err = expire_rows(r, j, &changed);
	if (!err)
		err = limit_growth(r, j, &changed);
	if (changed)
		embedding_drop(r->embedding);
	err = changed ? job_note_outcome(r, err) : job_note_read(r, err);
	r->truncate = r->truncate || changed;
	copies_remove(r->dir, j->words_ms, NULL, NULL);
	if (!err && changed)
		err = job_note_outcome(r, growth_shrink(r->db));
	/* Until nobody reads it the WAL still holds what went. */
	if (!err && r->truncate && db_truncate_wal(r->db) == 0)
		r->truncate = false;
	if (!err)
		reserve_make(r->dir, RESERVE_BYTES);
	check_nightly(r, j->now_ms);
	return err;
}

void job_merge_later(struct job_runner *r, enum db_index index)
{
	if (!r->merge[index])
		r->merge_at = store_clock() + MERGE_AFTER_S * NS_PER_S;
	/* What has begun does not know of what went since. */
	r->merge[index] = MERGE_BEGINS;
}

static void merge_part(struct job_runner *r, enum db_index index)
{
	bool more, begins = r->merge[index] == MERGE_BEGINS;

	if (job_note_read(r, db_merge_some(r->db, index, begins, &more))) {
		r->merge[index] = MERGE_BEGINS;
		r->merge_rests = true;
		return;
	}
	r->merge[index] = more ? MERGE_GOES_ON : MERGE_NONE;
	if (more)
		return;
	/* The file has room for less; the pages stand in the WAL, with the words. */
	job_note_read(r, growth_shrink(r->db));
	r->truncate = db_truncate_wal(r->db) != 0;
}

void job_merge_some(struct job_runner *r)
{
	bool late = store_clock() >= r->merge_at;

	for (unsigned i = DB_INDEX_LINES; i <= DB_INDEX_FACTS; i++)
		while (r->db && r->merge[i] && !r->merge_rests &&
		       (late || !r->waitsh || !r->waitsh(r->arg))) {
			merge_part(r, i);
			late = false;
		}
}
