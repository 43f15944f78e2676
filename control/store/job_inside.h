/* Functions that the jobs of the store's worker share: job.c, and job_person.c for those about one
 * person, job_audit.c, job_expire.c, job_state.c. The runner owns the database; jobs and answers
 * are borrowed.
 */
#ifndef CONTROL_STORE_JOB_INSIDE_H
#define CONTROL_STORE_JOB_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "control/store/db.h"
#include "control/store/db_merge.h"
#include "control/store/job.h"

/* NULL: it is not open, and r->err says why. */
struct db *job_database(struct job_runner *r);
/* True if a full disk kept the database from taking something away, and may not do so again: the
 * reserve is given up. */
bool job_makes_room(struct job_runner *r, int err);
/* Tells the outcome of a write, once; returns err. */
int job_note_outcome(struct job_runner *r, int err);
/* Writes all events that wait. */
int job_run_history(struct job_runner *r);
/* JOB_EXPIRE (job_expire.c). */
int job_run_expire(struct job_runner *r, const struct job *j);
/* What was taken away stands in the index until it is rewritten (job_expire.c). */
void job_merge_later(struct job_runner *r, enum db_index index);
/* Rewrites such indexes until somebody waits, and on behind the next job. */
void job_merge_some(struct job_runner *r);
/* Once, before the first batch: counts as lost the rows of the audit that the controls before were
 * handed over and did not write. A restored backup lacks the rows that were written since, which
 * count as lost, too. In a transaction (job_audit.c). */
int job_compare_audit(struct job_runner *r);
/* So many more rows of the audit are written. In the transaction of the rows themselves, so that a
 * kill parts them from their number nowhere. */
int job_count_audit(struct job_runner *r, unsigned long rows);
/* What a read found, which closes a database that cannot be read; returns err. */
int job_note_read(struct job_runner *r, int err);
/* Documents follow: n of them. */
int job_answer_head(struct worker_answer *a, int err, uint32_t n);
/* Answers with a text as the document; frees it. */
void job_answer_json(struct job_runner *r, struct worker_answer *a, int err, char *text);
/* The same, with a version. */
void job_answer_version(struct job_runner *r, struct worker_answer *a, int err, char *text,
			uint64_t version);

/* JOB_SAVE_WEB to JOB_SAVE_SESSION, but JOB_SAVE_TAKEN (job_state.c). */
void job_run_state(struct job_runner *r, const struct job *j);
void job_run_person(struct job_runner *r, const struct job *j, struct worker_answer *a);

#endif
