/* One transcription session, without its wire: what may be sent, what is owed, and which utterance
 * a transcript belongs to.
 *
 *   phase        input                           next          output
 *   IDLE         start                           CONNECTING    connect
 *   CONNECTING   start, append, commit           CONNECTING    kept by the shell, in this order
 *   CONNECTING   opened                          READY or COMMITTING: the kept events go out
 *   READY        commit of enough audio          COMMITTING    commit
 *   READY        commit of less than min_commit  READY         empty, clear: nothing is sent
 *   COMMITTING   the last owed transcript        READY         its text
 *   any          lost                            CONNECTING    what is owed or streams goes out
 * once more any          lost, nothing of that kind      IDLE          the utterances that did so
 * before failed any          closing                         CLOSING, then IDLE
 *
 * A commit counts from the moment it is requested, also while connecting. The provider names an
 * utterance by an item at its commit. If it found the end by itself, it names the item before our
 * commit; that item is the running utterance's, and no commit is sent. A transcript stays with the
 * utterance of its item, whatever began meanwhile. A transcript for an item that is done already is
 * a revision of the same utterance.
 *
 * A lost connection costs no utterance: the shell keeps the audio of those that are owed or stream,
 * and sends it again, once, to the next connection. An utterance whose second connection is lost,
 * too, has failed.
 *
 * An interim-transcript request commits the audio so far and sends it again, so that the final
 * transcript is of the whole audio. It is owed like an utterance, but its text is an interim
 * transcript, and nothing is told when it fails or comes late. */
#ifndef CONTROL_ENGINE_CORE_TRANSCRIPTION_H
#define CONTROL_ENGINE_CORE_TRANSCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/cursor.h"

enum transcription_phase {
	TRANSCRIPTION_IDLE,
	TRANSCRIPTION_CONNECTING,
	TRANSCRIPTION_READY,
	TRANSCRIPTION_COMMITTING,
	TRANSCRIPTION_CLOSING,
};

enum {
	TRANSCRIPTION_OWED = 16, /* transcripts a session may owe */
	TRANSCRIPTION_DONE = 8,	 /* utterances whose transcript may still be revised */
	TRANSCRIPTION_ITEM = 128,
	TRANSCRIPTION_TEXT = 704,	/* of an interim transcript */
	TRANSCRIPTION_KEPT = 480000,	/* bytes of audio kept while connecting: 10 s */
	TRANSCRIPTION_INTERIM = 192000, /* bytes of audio that may be sent again: 4 s */
	TRANSCRIPTION_RETRY_MS = 1000,	/* between two attempts to connect */
};

struct transcription_said {
	uint32_t utterance; /* 0 = free */
	bool cancelled;
	bool interim;		       /* an interim-transcript request */
	bool again;		       /* it has been sent again */
	bool failed;		       /* and was lost with that connection */
	char item[TRANSCRIPTION_ITEM]; /* "" until the provider told it */
	char text[TRANSCRIPTION_TEXT]; /* the interim transcript */
};

struct transcription {
	bool up, connecting, closing;
	uint32_t utterance;		/* being streamed, 0 = none */
	uint64_t sound;			/* its bytes */
	bool broken;			/* part of it is lost */
	bool again;			/* it has been sent again */
	char early[TRANSCRIPTION_ITEM]; /* the provider's item for it, before our commit */
	char text[TRANSCRIPTION_TEXT];	/* its interim transcript */
	size_t kept;			/* bytes of audio that wait for their first connection */
	uint64_t tried_at;
	size_t min_commit;
	unsigned owed;
	struct transcription_said owe[TRANSCRIPTION_OWED]; /* in order of commit */
	unsigned done;					   /* count of all utterances ever done */
	struct transcription_said last[TRANSCRIPTION_DONE];
};

/* Actions for the shell, in this order. */
struct transcription_out {
	bool give_up; /* the session owes too much: drop it as lost, before all else */
	bool clear;   /* discard the audio that the provider has */
	bool connect;
	bool append;
	bool commit;
	bool again;  /* append all audio of this utterance again */
	bool empty;  /* tell: an empty transcript of this utterance */
	bool failed; /* tell: it failed */
};

/* min_commit: bytes; less is not committed. 0: any sound is. */
void transcription_init(struct transcription *b, size_t min_commit);
/* Derived: see the table. */
enum transcription_phase transcription_phase(const struct transcription *b);

struct transcription_out transcription_start(struct transcription *b, uint32_t utterance,
					     uint64_t now);
struct transcription_out transcription_append(struct transcription *b, uint32_t utterance,
					      size_t bytes);
/* Bytes of audio that are too many while the first connection is awaited: the shell drops them, the
 * oldest first, and reports it. */
size_t transcription_overfull(const struct transcription *b);
void transcription_dropped(struct transcription *b, size_t bytes);
struct transcription_out transcription_commit(struct transcription *b, uint32_t utterance);
/* One request at a time, of at most TRANSCRIPTION_INTERIM bytes, not while connecting; otherwise
 * nothing is to be done. */
struct transcription_out transcription_interim(struct transcription *b, uint32_t utterance);
struct transcription_out transcription_cancel(struct transcription *b, uint32_t utterance);

void transcription_opened(struct transcription *b);
/* The connection is gone. True: connect at once, and send all audio and commits of what
 * transcription_holds again. Then transcription_fail_next until it gives 0. */
bool transcription_lost(struct transcription *b, uint64_t now);
/* The utterance streams or is owed: its audio may be needed again. */
bool transcription_holds(const struct transcription *b, uint32_t utterance);
/* Instead of `clear`, where the provider cannot: the utterance's audio is committed, and what comes
 * of it is nobody's. */
void transcription_discard(struct transcription *b, uint32_t utterance);
/* The next utterance that was owed and has failed, 0 for none. Leaves out cancelled ones. */
uint32_t transcription_fail_next(struct transcription *b);
/* The owner closes it. */
void transcription_closing(struct transcription *b);

/* The provider committed an item. */
void transcription_committed(struct transcription *b, const char *item);
/* More text of an item, or (whole) all of it so far; item "" where the provider names none, so that
 * the oldest one is meant. The utterance and its interim transcript; 0 for an unknown item. */
uint32_t transcription_partial(struct transcription *b, const char *item, struct slice words,
			       bool whole, const char **so_far);
/* The final transcript of an item, or its failure: the utterance, 0 for an unknown item. *revised:
 * it had a transcript before. */
uint32_t transcription_done(struct transcription *b, const char *item, bool *revised);
/* True: the item answers an interim-transcript request, which is done now; *utterance: whose, 0 if
 * nobody waits for it. Ask this before transcription_done. */
bool transcription_interim_given(struct transcription *b, const char *item, uint32_t *utterance);
/* The provider refused to transcribe this utterance, 0: the oldest one. Returns the utterance that
 * gets no transcript, 0 when it was not owed, or cancelled. */
uint32_t transcription_refused(struct transcription *b, uint32_t utterance);

#endif
