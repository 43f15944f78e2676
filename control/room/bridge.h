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
#ifndef CONTROL_ROOM_BRIDGE_H
#define CONTROL_ROOM_BRIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum room_bridge_phase {
	ROOM_BRIDGE_IDLE,
	ROOM_BRIDGE_CONNECTING,
	ROOM_BRIDGE_READY,
	ROOM_BRIDGE_COMMITTING,
	ROOM_BRIDGE_CLOSING,
};

enum {
	ROOM_BRIDGE_OWED = 16, /* transcripts a session may owe */
	ROOM_BRIDGE_DONE = 8,  /* utterances whose words may still be revised */
	ROOM_BRIDGE_ITEM = 128,
	ROOM_BRIDGE_TEXT = 704,	      /* of words so far */
	ROOM_BRIDGE_KEPT = 480000,    /* bytes of sound kept while connecting: 10 s */
	ROOM_BRIDGE_INTERIM = 192000, /* bytes of sound that may be streamed again: 4 s */
	ROOM_BRIDGE_RETRY_MS = 1000,  /* between two attempts to connect */
};

struct room_bridge_said {
	uint32_t utterance; /* 0 = free */
	bool cancelled;
	bool peek;
	char item[ROOM_BRIDGE_ITEM]; /* "" until the provider told it */
	char text[ROOM_BRIDGE_TEXT]; /* words so far */
};

struct room_bridge {
	bool up, connecting, closing;
	uint32_t utterance;	      /* being streamed, 0 = none */
	uint64_t sound;		      /* its bytes */
	bool broken;		      /* part of it is lost */
	char early[ROOM_BRIDGE_ITEM]; /* the provider's item for it, before our commit */
	char text[ROOM_BRIDGE_TEXT];  /* words so far of what is being streamed */
	size_t kept;		      /* bytes of sound that wait for the connection */
	uint64_t tried_at;
	size_t min_commit;
	unsigned owed;
	struct room_bridge_said owe[ROOM_BRIDGE_OWED]; /* in order of commit */
	unsigned done;				       /* count of all that were ever done */
	struct room_bridge_said last[ROOM_BRIDGE_DONE];
};

/* What the shell has to do, in this order. */
struct room_bridge_out {
	bool give_up; /* the session owes too much: it is to be dropped as lost, first of all */
	bool clear;   /* throw away the sound that the provider has */
	bool connect;
	bool append;
	bool commit;
	bool again;  /* append all sound of this utterance once more */
	bool empty;  /* tell: no words, of this utterance */
	bool failed; /* tell: it failed */
};

void room_bridge_init(struct room_bridge *b, size_t min_commit);
/* Derived: see the table. */
enum room_bridge_phase room_bridge_phase(const struct room_bridge *b);

struct room_bridge_out room_bridge_start(struct room_bridge *b, uint32_t utterance, uint64_t now);
struct room_bridge_out room_bridge_append(struct room_bridge *b, uint32_t utterance, size_t bytes);
/* The shell drops what it keeps, the oldest first, until this is false; what is dropped it tells.
 */
bool room_bridge_overfull(const struct room_bridge *b, bool more_than_one);
void room_bridge_dropped(struct room_bridge *b, size_t bytes);
struct room_bridge_out room_bridge_commit(struct room_bridge *b, uint32_t utterance);
/* One at a time, of sound that was not too much yet, and not while connecting; else nothing is to
 * be done. */
struct room_bridge_out room_bridge_interim(struct room_bridge *b, uint32_t utterance);
struct room_bridge_out room_bridge_cancel(struct room_bridge *b, uint32_t utterance);

void room_bridge_opened(struct room_bridge *b);
/* The connection is gone. Then room_bridge_fail_next until it gives 0. */
void room_bridge_lost(struct room_bridge *b);
/* An utterance that was owed and is no more, 0 for none. Cancelled ones are left out. */
uint32_t room_bridge_fail_next(struct room_bridge *b);
/* The owner closes it. */
void room_bridge_closing(struct room_bridge *b);

/* The provider committed an item. */
void room_bridge_committed(struct room_bridge *b, const char *item);
/* More words of an item: the utterance they are of and all of its words so far; 0 for nobody's. */
uint32_t room_bridge_partial(struct room_bridge *b, const char *item, const char *words, size_t n,
			     const char **so_far);
/* All words of an item, or it failed: the utterance, 0 for nobody's. *revised: it had its words
 * before. */
uint32_t room_bridge_done(struct room_bridge *b, const char *item, bool *revised);
/* True: what this item has is of a peek, which is done now; *utterance: whose words so far, 0 when
 * nobody waits for them. To be asked before room_bridge_done. */
bool room_bridge_interim_given(struct room_bridge *b, const char *item, uint32_t *utterance);
/* The provider refused to transcribe this utterance. False: it was not owed, or cancelled. */
bool room_bridge_refused(struct room_bridge *b, uint32_t utterance);

#endif
