/* One session of speech-to-text for everybody: whose sound may go to it.
 *
 *   an utterance   input                                     next
 *   NONE           starts                                    KEEPS: its sound is kept, 10 s of it
 *   KEEPS          counts as speech, the session is free     HOLDS: what was kept is replayed, the
 * rest is sent as it comes KEEPS          counts as speech, another holds it        WAITS WAITS its
 * speaker ends                          WAITS, to be committed as soon as it was replayed HOLDS its
 * speaker ends                          OWED: the session is held until its words are there OWED
 * words, or they are not wanted any more    NONE; the one that waits longest and has sound holds
 *   any            discarded                                 NONE; the same when it held
 *
 * A speaker may have several, of which the later ones wait for the words of the first. Words are
 * those of their utterance, whoever asked first, also when they are better ones and come when it is
 * long over. */
#ifndef CONTROL_ROOM_SHARE_H
#define CONTROL_ROOM_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ROOM_SHARES = 64, ROOM_SHARE_KEPT = 480000, ROOM_SHARE_PAST = 8 };

enum room_share_state {
	ROOM_SHARE_NONE,
	ROOM_SHARE_KEEPS,
	ROOM_SHARE_WAITS,
	ROOM_SHARE_HOLDS,
	ROOM_SHARE_OWED,
};

struct room_share {
	uint64_t order;
	struct room_share_one {
		enum room_share_state state;
		uint64_t user, order;
		uint32_t utterance;
		size_t kept; /* bytes */
		bool ended;
	} v[ROOM_SHARES];
	unsigned past_n;
	struct {
		uint64_t user;
		uint32_t utterance;
	} past[ROOM_SHARE_PAST]; /* the last that are over */
};

/* Utterances are numbers above 0 of their own, whoever's they are. False: there are too many. */
bool room_share_start(struct room_share *s, uint64_t user, uint32_t utterance);
/* Where its sound goes: HOLDS to the session, KEEPS and WAITS into what is kept, NONE away. */
enum room_share_state room_share_sound(struct room_share *s, uint32_t utterance, size_t bytes);
/* It counts as speech. True: it holds the session now; replay what is kept. */
bool room_share_promoted(struct room_share *s, uint32_t utterance);
/* Its speaker ended. True: commit it now; else it waits for its turn, or is nobody's. */
bool room_share_ended(struct room_share *s, uint32_t utterance);
/* Discarded, or its words are there. The utterance that holds the session from now on, 0 for none:
 * replay what is kept of it, and commit it when *ended. */
uint32_t room_share_over(struct room_share *s, uint32_t utterance, bool *ended);
/* An utterance of this user, 0 for none. */
uint32_t room_share_of(const struct room_share *s, uint64_t user);
/* Who said it, 0 when that is not known any more. */
uint64_t room_share_user(const struct room_share *s, uint32_t utterance);
/* The one that has the session, 0 for none. */
uint32_t room_share_holder(const struct room_share *s);

#endif
