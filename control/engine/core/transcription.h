/* One session of speech-to-text, without its wire: what may be sent, what is owed, whose words come
 * back.
 *
 *   phase        input                              next          says
 *   IDLE         start                              CONNECTING    connect
 *   CONNECTING   start, append, commit              CONNECTING    (kept by the shell, in this
 * order; one connection) CONNECTING   opened                             READY or COMMITTING: what
 * was kept goes out READY        commit of enough sound             COMMITTING    commit READY
 * commit of less than min_commit     READY         empty, clear: nothing is sent for it COMMITTING
 * the last transcript that is owed   READY         its words any          lost IDLE          every
 * owed utterance failed any          closing                            CLOSING, then IDLE
 *
 * A commit counts as made from the moment it is asked for, also while connecting. The provider
 * names what it transcribes by an item: at its commit, or before ours when it found the end by
 * itself; then that item is the running utterance's and no commit is sent. Words stay with the
 * utterance of their item, whatever began meanwhile. Words for an item that was done already are a
 * revision of the same utterance.
 *
 * A peek commits what was streamed so far and streams it again, so that there are words while the
 * utterance goes on; those of its end are of the whole sound, and nothing of them was cut. A peek
 * is owed like an utterance, but its words are words so far, and when it fails or comes late
 * nothing is told. */
#ifndef CONTROL_ENGINE_CORE_TRANSCRIPTION_H
#define CONTROL_ENGINE_CORE_TRANSCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum transcription_phase {
	TRANSCRIPTION_IDLE,
	TRANSCRIPTION_CONNECTING,
	TRANSCRIPTION_READY,
	TRANSCRIPTION_COMMITTING,
	TRANSCRIPTION_CLOSING,
};

enum {
	TRANSCRIPTION_OWED = 16, /* transcripts a session may owe */
	TRANSCRIPTION_DONE = 8,	 /* utterances whose words may still be revised */
	TRANSCRIPTION_ITEM = 128,
	TRANSCRIPTION_TEXT = 704,	/* of words so far */
	TRANSCRIPTION_KEPT = 480000,	/* bytes of sound kept while connecting: 10 s */
	TRANSCRIPTION_INTERIM = 192000, /* bytes of sound that may be streamed again: 4 s */
	TRANSCRIPTION_RETRY_MS = 1000,	/* between two attempts to connect */
};

struct transcription_said {
	uint32_t utterance; /* 0 = free */
	bool cancelled;
	bool peek;
	char item[TRANSCRIPTION_ITEM]; /* "" until the provider told it */
	char text[TRANSCRIPTION_TEXT]; /* words so far */
};

struct transcription {
	bool up, connecting, closing;
	uint32_t utterance;		/* being streamed, 0 = none */
	uint64_t sound;			/* its bytes */
	bool broken;			/* part of it is lost */
	char early[TRANSCRIPTION_ITEM]; /* the provider's item for it, before our commit */
	char text[TRANSCRIPTION_TEXT];	/* words so far of what is being streamed */
	size_t kept;			/* bytes of sound that wait for the connection */
	uint64_t tried_at;
	size_t min_commit;
	unsigned owed;
	struct transcription_said owe[TRANSCRIPTION_OWED]; /* in order of commit */
	unsigned done;					   /* count of all that were ever done */
	struct transcription_said last[TRANSCRIPTION_DONE];
};

/* What the shell has to do, in this order. */
struct transcription_out {
	bool give_up; /* the session owes too much: it is to be dropped as lost, first of all */
	bool clear;   /* throw away the sound that the provider has */
	bool connect;
	bool append;
	bool commit;
	bool again;  /* append all sound of this utterance once more */
	bool empty;  /* tell: no words, of this utterance */
	bool failed; /* tell: it failed */
};

void transcription_init(struct transcription *b, size_t min_commit);
/* Derived: see the table. */
enum transcription_phase transcription_phase(const struct transcription *b);

struct transcription_out transcription_start(struct transcription *b, uint32_t utterance,
					     uint64_t now);
struct transcription_out transcription_append(struct transcription *b, uint32_t utterance,
					      size_t bytes);
/* The shell drops what it keeps, the oldest first, until this is false; what is dropped it tells.
 */
bool transcription_overfull(const struct transcription *b, bool more_than_one);
void transcription_dropped(struct transcription *b, size_t bytes);
struct transcription_out transcription_commit(struct transcription *b, uint32_t utterance);
/* One at a time, of sound that was not too much yet, and not while connecting; else nothing is to
 * be done. */
struct transcription_out transcription_interim(struct transcription *b, uint32_t utterance);
struct transcription_out transcription_cancel(struct transcription *b, uint32_t utterance);

void transcription_opened(struct transcription *b);
/* The connection is gone. Then transcription_fail_next until it gives 0. */
void transcription_lost(struct transcription *b);
/* An utterance that was owed and is no more, 0 for none. Cancelled ones are left out. */
uint32_t transcription_fail_next(struct transcription *b);
/* The owner closes it. */
void transcription_closing(struct transcription *b);

/* The provider committed an item. */
void transcription_committed(struct transcription *b, const char *item);
/* More words of an item: the utterance they are of and all of its words so far; 0 for nobody's. */
uint32_t transcription_partial(struct transcription *b, const char *item, const char *words,
			       size_t n, const char **so_far);
/* All words of an item, or it failed: the utterance, 0 for nobody's. *revised: it had its words
 * before. */
uint32_t transcription_done(struct transcription *b, const char *item, bool *revised);
/* True: what this item has is of a peek, which is done now; *utterance: whose words so far, 0 when
 * nobody waits for them. To be asked before transcription_done. */
bool transcription_interim_given(struct transcription *b, const char *item, uint32_t *utterance);
/* The provider refused to transcribe this utterance. False: it was not owed, or cancelled. */
bool transcription_refused(struct transcription *b, uint32_t utterance);

#endif
