/* Jobs of the store's worker about one person: consent, export, erasure. */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "control/store/consents.h"
#include "control/store/db.h"
#include "control/store/embedding.h"
#include "control/store/erase.h"
#include "control/store/erase_fault.h"
#include "control/store/export.h"
#include "control/store/job_inside.h"
#include "ipc/worker.h"

/* Journals of rooms that have just ended are whole by then. */
enum { JOURNALS_MS = 2000 };

static int put_consent(struct job_runner *r, const struct job *j)
{
	const struct consent_change change = {.guild = j->guild,
					      .user = j->user,
					      .at_ms = j->now_ms,
					      .before = j->scope,
					      .after = j->text,
					      .via = j->author,
					      .grants = j->grants,
					      .by_default = j->any};

	int err = job_database(r) ? consents_put(r->db, r->dir, &change) : r->err;

	if (job_makes_room(r, err))
		err = consents_put(r->db, r->dir, &change);
	return r->db ? job_note_outcome(r, err) : err;
}

static void run_export(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	uint64_t left_out = 0;
	char *text = NULL;
	int err = r->err;

	if (job_database(r))
		err = export_person(r->db, j->user, j->now_ms, EXPORT_MAX, &left_out, &text);
	job_answer_version(r, a, err, text, left_out);
}

/* ---- erasure ---- */

struct numbers {
	size_t n, room;
	uint64_t *of; /* own */
};

static int add_number(struct numbers *l, uint64_t number)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		uint64_t *of = realloc(l->of, room * sizeof *of);

		if (!of)
			return ENOMEM;
		l->of = of;
		l->room = room;
	}
	l->of[l->n++] = number;
	return 0;
}

static void tell_numbers(struct worker_answer *a, int err, const struct numbers *l)
{
	if (job_answer_head(a, err, err ? 0 : (uint32_t)l->n) || err)
		return;
	for (size_t i = 0; i < l->n; i++) {
		struct answer_document d = {.version = l->of[i]};

		if (worker_answer_add(a, &d, sizeof d))
			return;
	}
}

/* Answers with the first column of all rows, each as the version of a document. */
static void answer_numbers(struct job_runner *r, sqlite3_stmt *s, struct worker_answer *a)
{
	struct numbers l = {0};
	int err;

	while ((err = db_step(r->db, s)) == 0) {
		err = add_number(&l, db_uint(s, 0));
		if (err)
			break;
	}
	sqlite3_reset(s);
	tell_numbers(a, err == ENOENT ? 0 : err, &l);
	free(l.of);
}

static int list_guilds(struct job_runner *r, uint64_t user, struct numbers *out)
{
	sqlite3_stmt *s = db_use(r->db, DB_FIND_GUILDS_OF_PERSON);
	int err;

	db_bind_uint(s, 1, user);
	while ((err = db_step(r->db, s)) == 0 && (err = add_number(out, db_uint(s, 0))) == 0)
		;
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

/* Guild 0, of what was said to the bot alone, is no server. */
static bool has_server(const struct numbers *guilds)
{
	for (size_t i = 0; i < guilds->n; i++)
		if (guilds->of[i])
			return true;
	return false;
}

static void run_begin_erase(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	struct numbers guilds = {0};
	int err = job_database(r) ? list_guilds(r, j->user, &guilds) : r->err;
	bool records = has_server(&guilds) || !j->any;

	if (!err && records)
		err = erase_request(r->db, j->user, j->now_ms);
	if (records && job_makes_room(r, err))
		err = erase_request(r->db, j->user, j->now_ms);
	tell_numbers(a, job_note_outcome(r, err), &guilds);
	free(guilds.of);
}

static void run_erase(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	const struct erase e = {.dir = r->dir,
				.turns_file = j->scope,
				.room_journals = j->text,
				.user = j->user,
				.now_ms = j->now_ms,
				.via = j->author,
				.unrecorded = j->any};
	char *receipt = NULL;
	int err = job_database(r) ? 0 : r->err;

	worker_await_released(JOURNALS_MS);
	if (!err)
		err = erase_person(r->db, &e, &receipt);
	if (job_makes_room(r, err))
		err = erase_person(r->db, &e, &receipt);
	embedding_drop(r->embedding); /* vectors in memory */
	/* Damage alone says something of the database. */
	if (r->db && err == EUCLEAN)
		job_note_outcome(r, err);
	job_answer_json(r, a, err, receipt);
}

static void run_find_receipt(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	char *receipt = NULL;
	int err =
		job_database(r) ? erase_find_receipt(r->db, r->dir, j->user, 0, &receipt) : r->err;

	if (err == ENOENT) {
		receipt = strdup("null");
		err = receipt ? 0 : ENOMEM;
	}
	job_answer_json(r, a, err, receipt);
}

static void run_list_erase_requests(struct job_runner *r, struct worker_answer *a)
{
	if (job_database(r))
		answer_numbers(r, db_use(r->db, DB_LIST_ERASE_REQUESTS), a);
	else
		job_answer_head(a, r->err, 0);
}

static bool is_of_erasure(enum job_kind kind)
{
	return kind == JOB_LIST_ERASE_REQUESTS || kind == JOB_BEGIN_ERASE || kind == JOB_ERASE;
}

void job_run_person(struct job_runner *r, const struct job *j, struct worker_answer *a)
{
	if (j->kind != JOB_PUT_CONSENT && j->kind != JOB_LIST_ERASE_REQUESTS)
		job_run_history(r);
	if (j->kind == JOB_PUT_CONSENT)
		job_answer_head(a, put_consent(r, j), 0);
	else if (j->kind == JOB_EXPORT)
		run_export(r, j, a);
	else if (j->kind == JOB_BEGIN_ERASE)
		run_begin_erase(r, j, a);
	else if (j->kind == JOB_FIND_RECEIPT)
		run_find_receipt(r, j, a);
	else if (j->kind == JOB_ERASE)
		run_erase(r, j, a);
	else
		run_list_erase_requests(r, a);
	if (!r->db && is_of_erasure(j->kind))
		erase_fault_tell(r->dir, r->err);
}
