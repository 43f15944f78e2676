/* Jobs of the store's worker that take away what is too old or too much. */
#include <errno.h>

#include "control/store/audit.h"
#include "control/store/copies.h"
#include "control/store/db.h"
#include "control/store/embedding.h"
#include "control/store/fact_rows.h"
#include "control/store/growth.h"
#include "control/store/job_inside.h"
#include "control/store/recordings.h"
#include "control/store/reserve.h"
#include "control/store/rows.h"
#include "control/store/summaries.h"
#include "ipc/log.h"

static int expire_rows(struct job_runner *r, const struct job *j, unsigned *changed)
{
	unsigned facts = 0;
	int err = rows_expire(r->db, j->now_ms, j->words_ms, changed);

	if (!err)
		err = fact_rows_expire(r->db, j->facts_ms, &facts);
	*changed += facts;
	if (!err)
		err = summaries_expire(r->db, j->facts_ms, &facts);
	*changed += facts;
	if (!err && r->took_away)
		err = db_merge_terms(r->db);
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
