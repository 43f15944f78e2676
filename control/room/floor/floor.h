/* With whom is the bot in a conversation?
 *
 *   mode      what is heard                 becomes                        says
 *   dormant   the bot is addressed          engaged, holder = speaker      WAKE
 *   dormant   the bot is mentioned          -                              OFFER_MENTIONED
 *   dormant   anything else                 -                              OFFER_VOLITION within
 * its caps, else IGNORE engaged   the bot is addressed          holder = speaker, refreshed    HOLD
 *   engaged   the bot is mentioned          -                              OFFER_MENTIONED
 *   engaged   the holder goes on            -                              OFFER_HOLDER
 *   engaged   anyone else                   somebody else had the word     LISTEN
 *   engaged   nothing for floor_decay_s     dormant                        RELEASE, then as dormant
 *   any       words without letter, digit   -                              IGNORE
 *   any       the bot answers somebody      engaged, holder, refreshed     -
 *
 * Decay is looked at when something is heard and never by a timer; being addressed beats it. An
 * offer is a turn that the bot may take or leave; only taking one changes the floor. Offers of its
 * own will (volition) come only with a new transcript, not more often than an interval, and at most
 * so many an hour. */
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
	uint64_t relevant_at; /* ns: the bot was last spoken to, or spoke */
	unsigned others;      /* utterances of others since the bot or its holder had the word */
	uint64_t offer_at[ROOM_OFFERS]; /* the last ones of volition; 0 = none */
	unsigned next_offer;
	unsigned offered, taken, suppressed; /* taken + suppressed <= offered */
};

/* What the floor says to words of this user. Changes nothing. */
enum room_floor_decision room_floor_judge(const struct room_floor *f, const struct settings *s,
					  uint64_t user, enum room_address address, bool words,
					  uint64_t now);
/* That was heard, and this is what it was judged. */
void room_floor_apply(struct room_floor *f, const struct settings *s, enum room_floor_decision says,
		      uint64_t user, uint64_t now);
/* What became of an offer: taken wakes, with the speaker as holder. */
void room_floor_resolve_offer(struct room_floor *f, bool taken, uint64_t user, uint64_t now);
/* The bot speaks to this user, or works for them. */
void room_floor_bot_spoke(struct room_floor *f, uint64_t user, uint64_t now);
bool room_floor_engaged(const struct room_floor *f, const struct settings *s, uint64_t now);
/* ms until volition may offer again; 0 = now, UINT64_MAX = never. */
uint64_t room_floor_volition_in(const struct room_floor *f, const struct settings *s, uint64_t now);

#endif
