#include "control/events/audit_kind.h"
#include "control/store/job_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/events/events.h"
#include "control/store/audit.h"
#include "control/store/audit_waiting.h"
#include "control/store/clock.h"
#include "control/store/db.h"
#include "control/store/db_merge.h"
#include "control/store/embedder_file.h"
#include "control/store/embedding.h"
#include "control/store/episodes.h"
#include "control/store/erase_fault.h"
#include "control/store/fact_forget.h"
#include "control/store/fact_pairs.h"
#include "control/store/fact_rows.h"
#include "control/store/faults.h"
#include "control/store/forgotten.h"
#include "control/store/guild_facts.h"
#include "control/store/history.h"
#include "control/store/lookups.h"
#include "control/store/messages.h"
#include "control/store/recordings.h"
#include "control/store/reserve.h"
#include "control/store/rows.h"
#include "control/store/said.h"
#include "control/store/summaries.h"
#include "control/store/store.h"
#include "control/words/words.h"
#include "ipc/log.h"
#include "ipc/worker.h"
#include "proto/base/time.h"

enum { AGAIN_S = 30, BATCH = 512, PATH_SIZE = 640 };

void job_free(void *arg)
{
	struct job *j = arg;

	if (!j)
		return;
	free(j->scope);
	free(j->text);
	free(j->author);
	free(j->meaning);
	free(j->vectors);
	free(j->sound);
	if (j->held)
		atomic_fetch_sub(j->held, j->bytes);
	free(j);
}

/* ---- the database ---- */

/* Each fault once, until it is over. */
static void tell(struct job_runner *r, int err)
{
	struct words w = {0};

	r->full = r->full || err == ENOSPC;
	if (err == r->err)
		return;
	if (err) {
		store_fault_words(&w, r->dir, err);
		log_warn("store_fault", "error=\"%s\" text=\"%s\"", strerror(err), w.text);
	} else if (r->err) {
		log_info("store_well", "dir=\"%s\"", r->dir);
	}
	r->err = err;
}

static void close_later(struct job_runner *r, int err)
{
	tell(r, err);
	/* Only somebody's hand makes these better, and what is there must not be overwritten. */
	r->given_up = err == EBADMSG || err == ENOTSUP || err == EUCLEAN;
	r->again_at = store_clock() + AGAIN_S * NS_PER_S;
	if (r->given_up)
		r->db = db_close(r->db);
}

/* Nobody knows what calls did that a crash interrupted, and nobody makes them again. Its voice
 * sessions are over, too: facts are extracted from sessions that are. */
static void end_forsaken(struct job_runner *r)
{
	if (!r->opened)
		r->opened = !db_run(r->db, db_use(r->db, DB_FORSAKE_TOOL_CALLS)) &&
			    !db_run(r->db, db_use(r->db, DB_END_FORSAKEN_SESSIONS));
}

struct db *job_database(struct job_runner *r)
{
	int err;

	if (r->db || r->given_up || store_clock() < r->again_at)
		return r->db;
	err = db_open(&r->db, r->dir, DB_OWN);
	if (err == ENOSPC && reserve_drop(r->dir))
		err = db_open(&r->db, r->dir, DB_OWN);
	if (err) {
		close_later(r, err);
		return r->db;
	}
	tell(r, 0);
	erase_fault_end(r->dir);
	end_forsaken(r);
	return r->db;
}

bool job_makes_room(struct job_runner *r, int err)
{
	return err == ENOSPC && r->db && reserve_drop(r->dir);
}

/* Notes the result of a write. The handle stays: a full disk may have room again. A request that
 * cannot be carried out says nothing of the disk. */
int job_note_outcome(struct job_runner *r, int err)
{
	if (err == EUCLEAN || err == EBADMSG)
		close_later(r, err);
	else if (err != ESTALE && err != ENOENT && err != EINVAL && err != ENOKEY &&
		 err != EKEYREJECTED)
		tell(r, err);
	return err;
}

/* The same of what writes nothing: that it went well says nothing of the disk. */
int job_note_read(struct job_runner *r, int err)
{
	return err ? job_note_outcome(r, err) : 0;
}

void job_runner_close(struct job_runner *r)
{
	r->embedding = embedding_close(r->embedding);
	r->waitsh = NULL;
	job_merge_some(r);
	if (r->db && r->truncate)
		db_truncate_wal(r->db);
	r->db = db_close(r->db);
}

/* ---- meaning ---- */

/* Once. Without the file the search goes on with words. */
static void open_embedding(struct job_runner *r)
{
	char path[PATH_SIZE];
	int err;

	if (r->embedding_sought)
		return;
	r->embedding_sought = true;
	if (r->elsewhere)
		return;
	err = embedder_file_find(path, sizeof path, r->embedder);
	if (!err)
		err = embedding_open(&r->embedding, path);
	if (err == ENOENT || err == ECANCELED)
		log_info("memory_search", "kind=words");
	else if (err)
		log_warn("memory_search", "kind=words file=\"%s\" error=\"%s\"", path,
			 strerror(err));
	else
		log_info("memory_search", "kind=words+meaning model=%s",
			 embedding_model(r->embedding));
}

/* A vector can wait for the next job. */
static void pump_embedding(struct job_runner *r)
{
	if (!r->db)
		return;
	open_embedding(r);
	if (r->embedding)
		job_note_read(r, embedding_pump(r->embedding, r->db));
}

/* ---- history ---- */

/* The chain numbers rows when they are written: without this row one that was lost before would
 * leave no gap. */
static int add_lost(struct db *db, unsigned long n, uint64_t at_ms)
{
	char result[32];

	snprintf(result, sizeof result, "%lu row%s", n, n == 1 ? "" : "s");
	return audit_add(db, &(struct audit_row){.at_ms = at_ms,
						 .actor = "control",
						 .via = "store",
						 .kind = audit_kind_name(AUDIT_KIND_ROWS_LOST),
						 .result = result});
}

/* *f notes what goes, from the first time on. */
static int write_record(struct job_runner *to, const struct record *r, struct forgotten **f)
{
	int err = 0;

	if (!r->ev)
		return add_lost(to->db, r->lost, r->lost_ms);
	if (messages_takes_away(r->ev)) {
		to->took_away = true;
		err = *f ? 0 : forgotten_alloc(f, to->db, to->dir, r->ev->at_ms);
		if (!err)
			err = messages_note(to->db, r->ev, r->words, *f);
	}
	return err ? err : rows_add(to->db, r->ev, r->words);
}

/* How many rows of the audit this record is, or stands for. */
static unsigned long count_audit(const struct record *r)
{
	return !r->ev ? r->lost : rows_audited(r->ev);
}

static void note_lost(struct job_runner *to, const struct record *r)
{
	if (r->ev && !rows_audited(r->ev))
		return;
	to->lost_audit += count_audit(r);
	to->lost_audit_ms = r->ev ? r->ev->at_ms : r->lost_ms;
}

/* The first batch of a control tells what the one before did not write. */
static uint64_t lost_at(const struct job_runner *to, const struct record *r)
{
	return to->lost_audit_ms ? to->lost_audit_ms : !r ? 0 : r->ev ? r->ev->at_ms : r->lost_ms;
}

/* Who could cut the power after an order would take its row otherwise. */
static bool holds_audit(const struct record *r)
{
	for (uint32_t n = 0; r && n < BATCH; r = r->next, n++)
		if (!r->ev || rows_audited(r->ev))
			return true;
	return false;
}

static int write_batch(struct job_runner *to, struct record **list, uint32_t *n)
{
	struct record *r = *list;
	struct forgotten *f = NULL;
	struct db *db = to->db;
	int err = holds_audit(r) ? db_begin_synced(db) : db_begin(db);
	unsigned long audited;

	*n = 0;
	err = err ? err : job_compare_audit(to);
	audited = to->lost_audit;
	if (!err && to->lost_audit)
		err = add_lost(db, to->lost_audit, lost_at(to, r));
	for (; r && *n < BATCH && !err; r = r->next, ++*n) {
		err = write_record(to, r, &f);
		audited += count_audit(r);
	}
	err = err ? err : job_count_audit(to, audited);
	err = err ? err : forgotten_save(f);
	forgotten_free(f);
	if (err)
		db_rollback(db);
	else
		err = db_commit(db);
	if (err)
		return err;
	to->audit_written += audited;
	to->lost_audit = 0;
	*list = r;
	return 0;
}

static void lose(struct job_runner *r, uint32_t n, int err)
{
	if (n && !r->lost)
		log_warn("history_not_written", "error=\"%s\"", strerror(err));
	r->lost += n;
}

int job_run_history(struct job_runner *r)
{
	uint32_t n, all;
	struct record *head = record_queue_take(r->queue, &all), *at = head, *lost;
	bool wrote = head != NULL;
	int err = 0;

	while (at && !err) {
		if (!job_database(r)) {
			err = r->err ? r->err : EIO;
			break;
		}
		err = job_note_outcome(r, write_batch(r, &at, &n));
	}
	for (lost = err ? at : NULL; lost; lost = lost->next)
		note_lost(r, lost);
	while (head != at) {
		struct record *next = head->next;

		record_free(head);
		head = next;
	}
	if (err) {
		lose(r, record_queue_put_back(r->queue, at), err);
	} else if (r->lost && wrote) {
		log_warn("history_not_written_until_now", "rows=%lu", r->lost);
		r->lost = 0;
	}
	return err;
}

/* ---- settings documents ---- */

struct found {
	bool is;
	uint64_t version, updated_ms;
	char *text, *author;
};

static int find_document(struct db *db, const char *scope, uint64_t version, struct found *out)
{
	sqlite3_stmt *s = db_use(db, version ? DB_GET_DOCUMENT_VERSION : DB_GET_DOCUMENT);
	int err;

	*out = (struct found){0};
	db_bind_text(s, 1, scope);
	if (version)
		db_bind_uint(s, 2, version);
	err = db_step(db, s);
	if (err)
		return err;
	out->version = db_uint(s, 0);
	out->text = strdup(db_text(s, 1));
	out->author = strdup(db_text(s, 2));
	out->updated_ms = db_uint(s, 3);
	out->is = out->text && out->author;
	sqlite3_reset(s);
	return out->is ? 0 : ENOMEM;
}

static void free_found(struct found *f)
{
	free(f->text);
	free(f->author);
}

int job_answer_head(struct worker_answer *a, int err, uint32_t n)
{
	struct answer_head h = {.err = err, .n = n};

	return worker_answer_add(a, &h, sizeof h);
}

static int answer_one(struct worker_answer *a, const struct found *f)
{
	struct answer_document d = {.version = f->version,
				    .updated_ms = f->updated_ms,
				    .author = (uint32_t)strlen(f->author),
				    .text = (uint32_t)strlen(f->text)};
	int err = worker_answer_add(a, &d, sizeof d);

	if (!err)
		err = worker_answer_add(a, f->author, d.author);
	return err ? err : worker_answer_add(a, f->text, d.text);
}

static void answer_document(struct worker_answer *a, int err, const struct found *f)
{
	if (job_answer_head(a, err, f->is) == 0 && f->is)
		answer_one(a, f);
}

static int add_document(struct db *db, const struct job *j, uint64_t version)
{
	sqlite3_stmt *s = db_use(db, DB_ADD_DOCUMENT);

	db_bind_text(s, 1, j->scope);
	db_bind_uint(s, 2, version);
	db_bind_text(s, 3, j->text);
	db_bind_text(s, 4, j->author);
	db_bind_uint(s, 5, j->now_ms);
	return db_run(db, s);
}

/* The document without who wrote it: the row names its actor, and an erasure can take that one out
 * of a row alone. NULL if there is no author; the caller frees it. */
static char *drop_author(const char *text)
{
	json_t *o = text ? json_loads(text, 0, NULL) : NULL;
	char *rest = json_object_del(o, "author") == 0 ? json_dumps(o, JSON_COMPACT) : NULL;

	json_decref(o);
	return rest;
}

static int add_audit(struct db *db, const struct job *j, const struct found *before)
{
	const char *text = before->is ? before->text : NULL;
	char *old = drop_author(text), *new = drop_author(j->text);
	int err = audit_add(db, &(struct audit_row){.at_ms = j->now_ms,
						    .actor = j->author,
						    .via = "settings document",
						    .kind = audit_kind_name(AUDIT_KIND_SETTINGS),
						    .target = j->scope,
						    .before = old ? old : text,
						    .after = new ? new : j->text,
						    .result = "saved"});

	free(old);
	free(new);
	return err;
}

static int drop_old_documents(struct db *db, const struct job *j, uint64_t newest)
{
	sqlite3_stmt *s;

	if (newest <= STORE_VERSIONS_KEPT)
		return 0;
	s = db_use(db, DB_DROP_OLD_DOCUMENTS);
	db_bind_text(s, 1, j->scope);
	db_bind_uint(s, 2, newest - STORE_VERSIONS_KEPT);
	return db_run(db, s);
}

static int put_document(struct db *db, const struct job *j, struct found *present)
{
	int err = db_begin_synced(db);

	if (err)
		return err;
	err = find_document(db, j->scope, 0, present);
	if (err == ENOENT)
		err = 0;
	if (!err && j->compare && present->version != j->version)
		err = ESTALE;
	if (!err)
		err = add_document(db, j, present->version + 1);
	if (!err)
		err = drop_old_documents(db, j, present->version + 1);
	if (!err)
		err = add_audit(db, j, present);
	if (err)
		db_rollback(db);
	return err ? err : db_commit(db);
}

static void run_put(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	struct found present = {0};
	int err = job_database(r) ? job_note_outcome(r, put_document(r->db, j, &present)) : r->err;
	struct found made = {.is = true,
			     .version = present.version + 1,
			     .updated_ms = j->now_ms,
			     .text = j->text,
			     .author = j->author};

	answer_document(a, err, err ? &present : &made);
	free_found(&present);
}

static void run_get(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	struct found f = {0};
	int err = job_database(r) ? job_note_read(r, find_document(r->db, j->scope, j->version, &f))
				  : r->err;

	answer_document(a, err, &f);
	free_found(&f);
}

static uint32_t count_documents(struct db *db, const char *scope)
{
	sqlite3_stmt *s = db_use(db, DB_LIST_DOCUMENTS);
	uint32_t n = 0;

	db_bind_text(s, 1, scope);
	while (db_step(db, s) == 0)
		n++;
	return n;
}

static void run_list(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	sqlite3_stmt *s;

	if (!job_database(r)) {
		job_answer_head(a, r->err, 0);
		return;
	}
	job_answer_head(a, 0, count_documents(r->db, j->scope));
	s = db_use(r->db, DB_LIST_DOCUMENTS);
	db_bind_text(s, 1, j->scope);
	while (db_step(r->db, s) == 0) {
		struct found f = {.version = db_uint(s, 0),
				  .author = (char *)db_text(s, 1),
				  .updated_ms = db_uint(s, 2),
				  .text = (char *)""};

		answer_one(a, &f);
	}
}

static sqlite3_stmt *use_costs(struct db *db, const struct job *j)
{
	sqlite3_stmt *s = db_use(db, j->any ? DB_SUM_COSTS : DB_SUM_MEMORY_COSTS);

	db_bind_uint(s, 1, j->now_ms);
	return s;
}

/* Each server as a document: its id as author, what it has spent as version. */
static void run_sum_costs(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	sqlite3_stmt *s;
	uint32_t n = 0;

	if (!job_database(r)) {
		job_answer_head(a, r->err, 0);
		return;
	}
	for (s = use_costs(r->db, j); db_step(r->db, s) == 0;)
		n++;
	job_answer_head(a, 0, n);
	s = use_costs(r->db, j);
	while (db_step(r->db, s) == 0) {
		struct found f = {.version = db_uint(s, 0),
				  .author = (char *)db_text(s, 1),
				  .text = (char *)""};

		answer_one(a, &f);
	}
}

/* ---- memory ---- */

void job_answer_version(struct job_runner *r, struct worker_answer *a, int err, char *text,
			uint64_t version)
{
	struct found f = {
		.is = !err && text, .version = version, .text = text, .author = (char *)""};

	if (!err && !text)
		err = ENOMEM;
	answer_document(a, job_note_read(r, err), &f);
	free(text);
}

void job_answer_json(struct job_runner *r, struct worker_answer *a, int err, char *text)
{
	job_answer_version(r, a, err, text, 0);
}

static void run_find_said(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	char *text = NULL;
	int err = !job_database(r)	     ? r->err
		  : j->kind == JOB_FIND_SAID ? said_find(r->db, r->embedding, j, &text)
					     : lookups_find(r->db, j, &text);

	job_answer_json(r, a, err, text);
}

static void run_find_episode(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	char *text = NULL;
	int err = !job_database(r)		? r->err
		  : j->kind == JOB_NEXT_EPISODE ? episodes_next(r->db, j, &text)
						: summaries_find(r->db, j, &text);

	job_answer_json(r, a, err, text);
}

static int run_facts_request(struct job_runner *r, const struct job *j, char **text)
{
	return j->kind == JOB_WRITE_FACTS      ? fact_rows_write(r->db, r->embedding, j, text)
	       : j->kind == JOB_FIND_FACTS     ? fact_rows_find(r->db, r->embedding, j, text)
	       : j->kind == JOB_LIST_OWN_FACTS ? fact_list_own(r->db, j, text)
	       : j->kind == JOB_FORGET_GUILD   ? guild_facts_forget(r->db, r->dir, j, text)
					       : fact_forget(r->db, r->dir, j, text);
}

static void run_facts(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	bool forgets = j->kind == JOB_FORGET_FACTS || j->kind == JOB_FORGET_GUILD;
	char *text = NULL;
	int err = job_database(r) ? run_facts_request(r, j, &text) : r->err;

	if (forgets && job_makes_room(r, err))
		err = run_facts_request(r, j, &text);
	job_answer_json(r, a, err, text);
	if (!err && forgets)
		embedding_drop(r->embedding);
	/* It may be forgotten, and the index not rewritten. */
	if (err && forgets)
		job_merge_later(r, DB_INDEX_FACTS);
	/* Forgotten words still stand in the WAL. */
	if (!err && forgets)
		r->truncate = db_truncate_wal(r->db) != 0 || r->truncate;
}

/* ---- an encoder elsewhere ---- */

static void run_read_history(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	char *text = NULL;
	int err = job_database(r) ? history_read(r->db, j, &text) : r->err;

	job_answer_json(r, a, err, text);
}

static void run_encoder(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	char *text = NULL;
	int err = job_database(r) ? 0 : r->err;

	if (j->kind == JOB_SET_ENCODER) {
		r->embedding = embedding_set_elsewhere(r->embedding, j->text);
	} else if (j->kind == JOB_LIST_TEXTS) {
		err = err ? err : embedding_list(r->embedding, r->db, &text);
		job_answer_json(r, a, err, text);
	} else {
		err = err ? err : embedding_keep(r->embedding, r->db, j->vectors);
		job_answer_head(a, job_note_outcome(r, err), 0);
	}
}

/* ---- what a restart needs ---- */

static int save_taken(struct job_runner *r, const struct job *j)
{
	sqlite3_stmt *s;

	if (!job_database(r))
		return r->err;
	s = db_use(r->db, DB_SAVE_TAKEN);
	db_bind_text(s, 1, j->text);
	db_bind_uint(s, 2, j->now_ms);
	return job_note_outcome(r, db_run(r->db, s));
}

static int check_room(struct job_runner *r)
{
	int err = r->full ? reserve_try_write(r->dir) : 0;

	r->full = err != 0;
	return err;
}

static void run_pairs(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	char *text = NULL;
	int err = !job_database(r)	      ? r->err
		  : j->kind == JOB_NEXT_PAIRS ? fact_pairs_next(r->db, r->embedding, j, &text)
					      : fact_pairs_end(r->db, j, &text);

	job_answer_json(r, a, err, text);
}

static void run_episode(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	if (j->kind == JOB_NEXT_PAIRS || j->kind == JOB_END_PAIRS) {
		run_pairs(r, j, a);
	} else if (j->kind == JOB_NEXT_EPISODE || j->kind == JOB_FIND_SUMMARIES) {
		job_run_history(r);
		run_find_episode(r, j, a);
	} else {
		job_answer_head(
			a, job_database(r) ? job_note_outcome(r, episodes_end(r->db, j)) : r->err,
			0);
	}
}

static void run_memory(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	job_run_history(r);
	if (j->kind == JOB_FIND_SAID || j->kind == JOB_FIND_LOOKUPS)
		run_find_said(r, j, a);
	else if (j->kind == JOB_READ_HISTORY)
		run_read_history(r, j, a);
	else if (j->kind == JOB_WRITE_FACTS || j->kind == JOB_FIND_FACTS ||
		 j->kind == JOB_LIST_OWN_FACTS || j->kind == JOB_FORGET_FACTS ||
		 j->kind == JOB_FORGET_GUILD)
		run_facts(r, j, a);
	else
		run_encoder(r, j, a);
}

/* Documents, and what was spent. */
static void run_settled(struct job_runner *r, struct job *j, struct worker_answer *a)
{
	if (j->kind == JOB_PUT_DOCUMENT)
		run_put(r, j, a);
	else if (j->kind == JOB_GET_DOCUMENT)
		run_get(r, j, a);
	else if (j->kind == JOB_SUM_COSTS)
		run_sum_costs(r, j, a);
	else
		run_list(r, j, a);
}

static void run_disk(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	int err = j->kind == JOB_CHECK_ROOM   ? check_room(r)
		  : j->kind == JOB_SAVE_TAKEN ? save_taken(r, j)
					      : job_run_history(r);

	if (j->kind == JOB_SYNC && !err && !job_database(r))
		err = r->err;
	job_answer_head(a, err, 0);
}

/* Deletions that the disk refused wait among what is to be written. */
static void run_due(struct job_runner *r, const struct job *j)
{
	job_run_history(r);
	if (j->kind == JOB_EXPIRE)
		job_run_expire(r, j);
}

static void run_kind(struct job_runner *r, struct job *j, struct worker_answer *a)
{
	switch (j->kind) {
	case JOB_HISTORY:
	case JOB_EXPIRE:
		run_due(r, j);
		break;
	case JOB_PUT_DOCUMENT:
	case JOB_GET_DOCUMENT:
	case JOB_LIST_DOCUMENTS:
	case JOB_SUM_COSTS:
		run_settled(r, j, a);
		break;
	case JOB_FIND_SAID:
	case JOB_FIND_LOOKUPS:
	case JOB_WRITE_FACTS:
	case JOB_FIND_FACTS:
	case JOB_LIST_OWN_FACTS:
	case JOB_FORGET_FACTS:
	case JOB_FORGET_GUILD:
	case JOB_SET_ENCODER:
	case JOB_LIST_TEXTS:
	case JOB_KEEP_VECTORS:
	case JOB_READ_HISTORY:
		run_memory(r, j, a);
		break;
	case JOB_NEXT_EPISODE:
	case JOB_END_EPISODE:
	case JOB_FIND_SUMMARIES:
	case JOB_NEXT_PAIRS:
	case JOB_END_PAIRS:
		run_episode(r, j, a);
		break;
	case JOB_KEEP_RECORDING:
	case JOB_DROP_RECORDINGS:
	case JOB_READ_RECORDING:
		recordings_run(r, j, a);
		break;
	case JOB_PUT_CONSENT:
	case JOB_EXPORT:
	case JOB_BEGIN_ERASE:
	case JOB_FIND_RECEIPT:
	case JOB_ERASE:
	case JOB_LIST_ERASE_REQUESTS:
		job_run_person(r, j, a);
		break;
	case JOB_SAVE_WEB:
	case JOB_SAVE_GUILD:
	case JOB_SAVE_QUEUE:
	case JOB_SAVE_POSITION:
	case JOB_DROP_GUILDS:
	case JOB_SAVE_SESSION:
		job_run_state(r, j);
		break;
	case JOB_SAVE_TAKEN:
	case JOB_SYNC:
	case JOB_CHECK_ROOM:
		run_disk(r, j, a);
	}
}

void job_run(struct job *j, struct worker_answer *a, struct job_runner *r)
{
	/* The answer is on its way only when this returns. */
	if (!j->urgent)
		pump_embedding(r);
	run_kind(r, j, a);
	if (!j->urgent) {
		pump_embedding(r);
		job_merge_some(r);
	}
}
