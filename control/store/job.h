/* Jobs of the store's worker: what the loop's side (store.c) hands to the database's (job.c). For
 * these two alone. */
#ifndef CONTROL_STORE_JOB_H
#define CONTROL_STORE_JOB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "control/memory/time_cue.h"

struct audit_waiting;
struct bus_event;
struct db;
struct embedding;
struct embedding_vectors;
struct vector;
struct worker_answer;

enum job_kind {
	JOB_HISTORY, /* all that waits in the queue */
	JOB_EXPIRE,
	JOB_PUT_DOCUMENT,
	JOB_GET_DOCUMENT,
	JOB_LIST_DOCUMENTS,
	JOB_SUM_COSTS,	    /* since now_ms */
	JOB_FIND_SAID,	    /* in channel, by user or author, about text, from now_ms to until_ms;
			       version: how many; scope: the people present whom it names */
	JOB_FIND_LOOKUPS,   /* in channel since now_ms; version: how many */
	JOB_WRITE_FACTS,    /* text: the items */
	JOB_FIND_FACTS,	    /* text: the request; version: how many */
	JOB_LIST_OWN_FACTS, /* of user, in every server; version: how many */
	JOB_FORGET_FACTS,   /* text: the request */
	JOB_FORGET_GUILD,   /* the memory of guild */
	JOB_SET_ENCODER,    /* text: the model of an encoder elsewhere */
	JOB_LIST_TEXTS,	    /* for it */
	JOB_KEEP_VECTORS,   /* vectors */
	JOB_NEXT_EPISODE, /* over since now_ms; version: how many lines, text: servers to leave out
			   */
	JOB_END_EPISODE,  /* of guild, the session owner; version: its last line, text: the summary
			     of it, channel */
	JOB_NEXT_PAIRS,	  /* of the day owner, which began at now_ms; version: how many, text:
			     servers to leave out */
	JOB_END_PAIRS,	  /* of guild, owner and user; text: the decisions, version: the mark */
	JOB_FIND_SUMMARIES,  /* of channel, of sessions since now_ms; version: how many */
	JOB_KEEP_RECORDING,  /* sound of the utterance version of user in guild, of the session
				owner,  until_ms long */
	JOB_DROP_RECORDINGS, /* of user in guild */
	JOB_READ_RECORDING, /* of the turn's row until_ms: utterance version, not from before now_ms
			     */
	JOB_PUT_CONSENT,    /* of user in guild: scope before, text after, author by what; any:
			       by_default of struct consent_change */
	JOB_EXPORT,	    /* of user */
	JOB_BEGIN_ERASE,    /* of user; any: only of one whom a server knows */
	JOB_FIND_RECEIPT,   /* user */
	JOB_ERASE, /* user; author: who asked, any: unrecorded, scope: turn file, text: folder of
			journals */
	JOB_LIST_ERASE_REQUESTS,
	JOB_READ_HISTORY, /* owner: enum store_reading, of guild, user, the session channel and the
			     reason text; version:
			     how many, until_ms: older than this row, or the row, now_ms: the
			     oldest, words_ms: of turns, before this time, 0: any, any: with words,
			     grants: for operators, compare: with timelines */
	JOB_SAVE_WEB,	  /* text: the sessions of browsers */
	JOB_SAVE_GUILD,
	JOB_SAVE_QUEUE,
	JOB_SAVE_POSITION, /* version: the position in the track owner of the queue of guild */
	JOB_SAVE_TAKEN,	   /* text: rows of SAVE_TAKEN, at now_ms */
	JOB_DROP_GUILDS,
	JOB_SAVE_SESSION,
	JOB_SYNC,
	JOB_CHECK_ROOM,
};

/* Texts are the job's own, or NULL. */
struct job {
	enum job_kind kind;
	char *scope, *text, *author; /* scope of JOB_SAVE_SESSION: the text instead */
	bool compare;
	uint64_t version, guild, channel, now_ms, until_ms, words_ms, facts_ms, audio_ms;
	uint64_t max_bytes;   /* of JOB_EXPIRE: the database's, 0 for no limit */
	uint64_t owner, user; /* of facts: whose memory, and who says or asks it */
	uint64_t said_in;     /* of facts to write: struct store_facts */
	bool any;	      /* of facts: the server's memory, too */
	bool bot;	      /* of a search for lines: the bot's alone */
	bool shared;	      /* of a search for lines: `held` of struct store_said */
	bool by_operator;     /* of JOB_FORGET_FACTS: struct store_facts */
	bool grants;	      /* of JOB_PUT_CONSENT: struct consent_change */
	bool urgent; /* of a search: a prompt waits for it, and needs nothing that was just said */
	struct time_window when; /* of a search for lines: struct store_said */
	uint32_t search_ms; /* of a search: after which it makes do with what it has found; 0: none
			     */
	struct vector *meaning; /* of the question, by an encoder elsewhere; own, or NULL */
	struct embedding_vectors *vectors; /* own, or NULL */
	uint8_t *sound;			   /* own, or NULL */
	size_t sound_n;
	uint64_t id; /* of the request */
	size_t bytes;
	atomic_size_t *held; /* has counted them; NULL: nothing has */
};

struct record {
	struct record *next;
	struct bus_event *ev; /* NULL: a mark where rows of the audit are missing */
	bool words;
	size_t bytes;
	unsigned long lost; /* of a mark: how many */
	uint64_t lost_ms;   /* and when the last of them was to be written */
};

/* Shared by the loop and the worker. */
struct queue {
	pthread_mutex_t lock;
	struct record *head, **tail;
	uint32_t n;
	uint64_t bytes;
	bool posted; /* a JOB_HISTORY is under way */
	unsigned long shed;
	struct record *mark;	       /* the one that waits */
	unsigned long unmarked;	       /* rows of the audit that were lost and are in no mark */
	struct audit_waiting *waiting; /* counts rows of the audit; NULL: nobody does */
};

/* The worker's side. */
struct job_runner {
	char dir[512];
	struct queue *queue;
	struct db *db;		     /* NULL: not open */
	char embedder[512];	     /* its file; "none": words alone */
	struct embedding *embedding; /* NULL: none, or not looked for yet */
	bool elsewhere; /* an encoder elsewhere embeds, once JOB_SET_ENCODER named it */
	bool embedding_sought;
	int err;	   /* why not, or what the last write gave; told already */
	bool opened;	   /* once: calls of tools of the control before are marked */
	bool given_up;	   /* it will not get better by itself */
	uint64_t again_at; /* by store_clock; not before */
	bool full;	   /* the disk was, and nobody has seen room since */
	bool guilds_lost;  /* some could not be saved, and what is saved is not whole */
	bool limited;	   /* the database had grown too large; told already */
	int64_t checked_day;
	bool took_away; /* an edit or a deletion of a message took words out of the rows */
	bool truncate;	/* words were taken away and stand in the WAL */
	bool expired;	/* JOB_EXPIRE has run */
	/* Of both full-text indexes: what was taken away may stand in it; a part of it is
	 * rewritten. */
	enum merge_state { MERGE_NONE, MERGE_BEGINS, MERGE_GOES_ON } merge[2];
	uint64_t merge_at;	   /* by store_clock; from then on also while others wait */
	bool merge_rests;	   /* one failed: until the next JOB_EXPIRE */
	bool (*waitsh)(void *arg); /* another job waits; NULL: never */
	void *arg;
	unsigned long lost;	  /* rows of history that could not be written */
	unsigned long lost_audit; /* and rows of the audit, which the next batch tells of */
	uint64_t lost_audit_ms;	  /* 0: not known */
	uint64_t handed_over;	  /* rows of the audit, to the controls before (audit_waiting.h) */
	uint64_t audit_written;	  /* how many of all were written, once compared */
	bool compared;
};

/* Head of an answer: err, how many documents follow, each with its head, author and text. */
struct answer_head {
	int32_t err;
	uint32_t n;
};
struct answer_document {
	uint64_t version, updated_ms;
	uint32_t author, text; /* bytes, without NUL */
};

void job_run(struct job *j, struct worker_answer *a, struct job_runner *r);
void job_free(void *job);
/* Closes the database. */
void job_runner_close(struct job_runner *r);
void record_free(struct record *r);

/* ---- record_queue.c ---- */

/* Puts a record of so many bytes at the end, or sheds it. True when a job for it has to be posted.
 */
bool record_queue_push(struct queue *q, struct record *r, size_t bytes, bool *shed);
/* A row of the audit found no place. One mark, which always finds a place, stands where it is
 * missing, and counts those that follow each other. True as above. */
bool record_queue_mark(struct queue *q, uint64_t at_ms);
/* All that waits, n records. Caller owns them. */
struct record *record_queue_take(struct queue *q, uint32_t *n);
/* These could not be written. What takes words away waits for the next time, before all others; the
 * rest goes, and its number is returned. Takes the list. */
uint32_t record_queue_put_back(struct queue *q, struct record *head);

#endif
