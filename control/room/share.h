/* One session of speech-to-text for everybody: who may use it.
 *
 *   an utterance   input                                     next
 *   NONE           starts                                    KEPT: its sound is kept, 10 s of it
 *   KEPT           counts as speech, the session is free     HOLDS: what was kept is replayed, the rest is sent as it comes
 *   KEPT           counts as speech, somebody holds it       WAITS
 *   WAITS          its speaker ends                          WAITS, to be committed as soon as it was replayed
 *   HOLDS          its speaker ends                          OWED: the session is held until its words are there
 *   OWED           words, or none after share_wait_ms        NONE; the longest that waits, has sound, and sent none, holds
 *   any            discarded                                 NONE; the same when it held
 *
 * Words are those of the user that holds, never of whoever asked first. */
#ifndef CONTROL_ROOM_SHARE_H
#define CONTROL_ROOM_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ROOM_SHARE_USERS = 64, ROOM_SHARE_KEPT = 480000, ROOM_SHARE_WAIT_MS = 30000 };

enum room_share_state {
	ROOM_SHARE_NONE,
	ROOM_SHARE_KEEPS,
	ROOM_SHARE_WAITS,
	ROOM_SHARE_HOLDS,
	ROOM_SHARE_OWED,
};

struct room_share {
	uint64_t order, owed_at;
	struct room_share_user {
		enum room_share_state state;
		uint64_t user, order;
		uint32_t utterance;
		size_t kept; /* bytes */
		bool ended;
	} v[ROOM_SHARE_USERS];
};

/* False: too many users speak. */
bool room_share_start(struct room_share *s, uint64_t user, uint32_t utterance);
/* Where its sound goes: HOLDS to the session, KEEPS and WAITS into what is kept, NONE away. */
enum room_share_state room_share_sound(struct room_share *s, uint64_t user, uint32_t utterance, size_t bytes);
/* It counts as speech. True: it holds the session now; replay what is kept. */
bool room_share_promoted(struct room_share *s, uint64_t user, uint32_t utterance);
/* Its speaker ended. True: commit it now; else it waits for its turn, or is nobody's. */
bool room_share_ended(struct room_share *s, uint64_t user, uint32_t utterance, uint64_t now);
/* Discarded, or its words are there. The user that holds the session from now on, 0 for nobody: replay what is kept of
 * *utterance, and commit it when *ended. */
uint64_t room_share_over(struct room_share *s, uint64_t user, uint32_t *utterance, bool *ended, uint64_t now);
/* The utterance of this user, 0 for none. */
uint32_t room_share_of(const struct room_share *s, uint64_t user);
/* Whose words come, 0 for nobody's. */
uint64_t room_share_holder(const struct room_share *s);
/* When words are given up; UINT64_MAX when none are owed. */
uint64_t room_share_deadline(const struct room_share *s);

#endif
