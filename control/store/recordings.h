/* Recordings of utterances in the database: G.711 mu-law at 24 kHz, for keep_audio_hours. On the
 * store's worker. Nothing but these functions and the eraser of a person touches their table;
 * copies of the database have none of them. */
#ifndef CONTROL_STORE_RECORDINGS_H
#define CONTROL_STORE_RECORDINGS_H

#include <stdint.h>

#include <jansson.h>

struct db;
struct job;
struct job_runner;
struct worker_answer;

/* JOB_KEEP_RECORDING, JOB_DROP_RECORDINGS, JOB_READ_RECORDING. */
void recordings_run(struct job_runner *r, const struct job *j, struct worker_answer *a);
/* Of this person in this server: their consent allows it no more. Errors of db.h. */
int recordings_drop(struct db *db, uint64_t guild, uint64_t user);
/* Those from before this time, and the oldest beyond RECORDINGS_MAX_BYTES. Adds to *changed. */
int recordings_expire(struct db *db, uint64_t before_ms, unsigned *changed);
/* [{"utterance", "user", "name", "ms"}] of the utterances of a turn, by its row. */
json_t *recordings_of_turn(struct db *db, uint64_t turn_seq);

#endif
