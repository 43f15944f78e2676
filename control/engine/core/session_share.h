/* One transcription session that all speakers share: which utterance may send its audio to it.
 *
 *   an utterance   input                                   next
 *   NONE           starts                                  KEEPS: the last 10 s of its audio
 *   KEEPS          counts as speech, the session is free   HOLDS: the kept audio is sent first
 *   KEEPS          counts as speech, another holds it      WAITS
 *   WAITS          its speaker ends                        WAITS: committed after it was sent
 *   HOLDS          its speaker ends                        OWED: until its transcript is there
 *   OWED           transcript, or cancelled                NONE; the longest waiting one holds
 *   any            discarded                               NONE; the same if it held
 *
 * A speaker may have several utterances; the later ones wait for the transcript of the first. A
 * transcript belongs to its utterance, also when it is a revision that comes long after the end. */
#ifndef CONTROL_ENGINE_CORE_SESSION_SHARE_H
#define CONTROL_ENGINE_CORE_SESSION_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SESSION_SHARES = 64, SESSION_SHARE_KEPT = 480000, SESSION_SHARE_PAST = 8 };

enum session_share_state {
	SESSION_SHARE_NONE,
	SESSION_SHARE_KEEPS,
	SESSION_SHARE_WAITS,
	SESSION_SHARE_HOLDS,
	SESSION_SHARE_OWED,
};

struct session_share {
	uint64_t order;
	struct session_share_one {
		enum session_share_state state;
		uint64_t user, order;
		uint32_t utterance;
		size_t kept; /* bytes */
		bool ended;
	} v[SESSION_SHARES];
	unsigned past_n;
	struct {
		uint64_t user;
		uint32_t utterance;
	} past[SESSION_SHARE_PAST]; /* the last utterances that are over */
};

/* Utterances are numbers above 0, unique among all speakers. False: there are too many. */
bool session_share_start(struct session_share *s, uint64_t user, uint32_t utterance);
/* Decides on its audio: HOLDS sends it, KEEPS and WAITS keep it, NONE drops it. */
enum session_share_state session_share_sound(struct session_share *s, uint32_t utterance,
					     size_t bytes);
/* It counts as speech. True: it holds the session now; send the kept audio. */
bool session_share_promoted(struct session_share *s, uint32_t utterance);
/* Its speaker ended. True: commit it now; otherwise it waits, or is unknown. */
bool session_share_ended(struct session_share *s, uint32_t utterance);
/* It was discarded, or its transcript is there. Returns the utterance that holds the session from
 * now on, 0 for none: send its kept audio, and commit it if *ended. */
uint32_t session_share_over(struct session_share *s, uint32_t utterance, bool *ended);
/* An utterance of this user, 0 for none. */
uint32_t session_share_of(const struct session_share *s, uint64_t user);
/* Its speaker, 0 if that is not known any more. */
uint64_t session_share_user(const struct session_share *s, uint32_t utterance);
/* The utterance that holds the session, 0 for none. */
uint32_t session_share_holder(const struct session_share *s);

#endif
