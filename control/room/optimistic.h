/* An answer that is begun before the speaker has surely finished, so that it is there the sooner; and taken back.
 *
 *   phase     input                                                   next       does
 *   NONE      EOT likely enough, policy allows, the floor is free,     BEGUN      the brain is asked with the words so far
 *             the words are for the bot
 *   BEGUN     the transcript has the same words                        KEPT       its sound may be heard
 *   BEGUN     other words, more voice, EOT unlikely, the speaker's     REVOKED    the brain is told; nothing was heard
 *             turn came to nothing
 *   BEGUN     sound of it                                              BEGUN      held back
 *
 * Policy: on mains or unknown power it may, on battery not; a setting overrides both ways or pins it off. The chance must
 * reach eot_share; what is no number starts nothing. */
#ifndef CONTROL_ROOM_OPTIMISTIC_H
#define CONTROL_ROOM_OPTIMISTIC_H

#include <stdbool.h>
#include <stdint.h>

enum room_power { ROOM_POWER_UNKNOWN, ROOM_POWER_MAINS, ROOM_POWER_BATTERY };

/* mode: the setting optimistic. */
bool room_optimistic_allowed(uint32_t mode, enum room_power power);
/* eot_share: the setting, in thousandths. */
bool room_optimistic_starts(uint32_t mode, enum room_power power, uint32_t eot_share, double chance);

struct room;
struct room_turn;
struct room_event;

struct room_optimistic {
	enum room_power power;
	uint32_t turn, of; /* the answer that was begun, and the speaker's own turn; 0 = none */
	uint64_t voice_ms; /* of the speaker since then */
};

/* POWER and EOT. */
void room_optimistic_power(struct room *room, const struct room_event *ev);
void room_optimistic_eot(struct room *room, const struct room_event *ev);
/* The speaker goes on: voice, or words so far. */
void room_optimistic_voice(struct room *room, uint64_t user, uint64_t ms);
void room_optimistic_words(struct room *room, uint64_t user, const char *text);
/* The turn has its words. True: its answer is under way, and the turn is over; else what was begun is taken back. */
bool room_optimistic_kept(struct room *room, struct room_turn *turn);
/* Its brain failed. True: it was begun early, so it is taken back; the words ask anew when they are there. */
bool room_optimistic_broke(struct room *room, const struct room_turn *turn);
/* Nothing of the answer to this turn may be heard yet. */
bool room_optimistic_holds(const struct room *room, uint32_t turn);
/* At the end of a step: takes back what nobody will keep. */
void room_optimistic_settle(struct room *room);

#endif
