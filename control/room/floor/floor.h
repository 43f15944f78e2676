/* The floor: with whom the bot is in a conversation.
 *
 *   mode     words heard                effect on the floor          decision
 *   dormant  the bot is addressed       engaged, holder = speaker    WAKE
 *   dormant  the bot is mentioned       -                            OFFER_MENTIONED
 *   dormant  anything else              -                            OFFER_VOLITION within its
 *                                                                    caps, else IGNORE
 *   engaged  the bot is addressed       holder = speaker, refreshed  HOLD
 *   engaged  the bot is mentioned       -                            OFFER_MENTIONED
 *   engaged  the holder goes on         -                            OFFER_HOLDER
 *   engaged  anyone else                others + 1                   LISTEN
 *   engaged  nothing for floor_decay_s  dormant                      as dormant
 *   any      no letter and no digit     -                            IGNORE
 *   any      the bot answers somebody   engaged, holder, refreshed   -
 *
 * Decay is evaluated when words are heard and never by a timer; a direct address overrides it. An
 * offer is a turn that the bot may take or leave; only taking it changes the floor. Offers of
 * volition need a new transcript, a minimum interval, and a limited number an hour. */
#ifndef CONTROL_ROOM_FLOOR_FLOOR_H
#define CONTROL_ROOM_FLOOR_FLOOR_H

#include "control/room/floor/address.h"

struct settings;

enum { ROOM_OFFERS = 16 };

enum room_floor_decision {
	ROOM_FLOOR_IGNORE,
	ROOM_FLOOR_LISTEN,
	ROOM_FLOOR_HOLD,
	ROOM_FLOOR_WAKE,
	ROOM_FLOOR_OFFER_HOLDER,
	ROOM_FLOOR_OFFER_MENTIONED,
	ROOM_FLOOR_OFFER_VOLITION,
};

struct room_floor {
	bool engaged;
	uint64_t holder;
	uint64_t relevant_at;		/* ns: when the bot was last addressed, or spoke */
	unsigned others;		/* utterances of others since the bot or the holder spoke */
	uint64_t offer_at[ROOM_OFFERS]; /* the last offers of volition; 0 = none */
	unsigned next_offer;
	unsigned offered, taken, suppressed; /* taken + suppressed <= offered */
};

/* Decides what words of this user mean for the floor. Changes nothing. */
enum room_floor_decision room_floor_judge(const struct room_floor *f, const struct settings *s,
					  uint64_t user, enum room_address address, bool words,
					  uint64_t now);
/* Applies the decision on words that were heard. */
void room_floor_apply(struct room_floor *f, const struct settings *s, enum room_floor_decision says,
		      uint64_t user, uint64_t now);
/* Resolves an offer: a taken one wakes the floor, with the speaker as holder. */
void room_floor_resolve_offer(struct room_floor *f, bool taken, uint64_t user, uint64_t now);
/* The bot speaks to this user, or works for them. */
void room_floor_bot_spoke(struct room_floor *f, uint64_t user, uint64_t now);
bool room_floor_engaged(const struct room_floor *f, const struct settings *s, uint64_t now);
/* ns: when it goes dormant unless somebody goes on. Of an engaged floor. */
uint64_t room_floor_ends_at(const struct room_floor *f, const struct settings *s);
/* ms until volition may offer again; 0 = now, UINT64_MAX = never. */
uint64_t room_floor_volition_in(const struct room_floor *f, const struct settings *s, uint64_t now);
/* The holder, 0 = none; utterances of others since; when the bot was last addressed or spoke. */
uint64_t room_floor_holder(const struct room_floor *f);
unsigned room_floor_others(const struct room_floor *f);
uint64_t room_floor_relevant_at(const struct room_floor *f);

#endif
