/* An answer that is begun before the speaker has surely finished, so that it is there the sooner;
 * and taken back.
 *
 *   phase     input                                                   next       does
 *   NONE      a pause (pause.h) or EOT, likely enough; policy allows,  BEGUN      the brain is
 * asked with the words so far the floor is free, the words are for the bot BEGUN     the transcript
 * has the same words, and is admitted       KEPT       its sound may be heard BEGUN     other
 * words, more voice, EOT unlikely, the speaker's     REVOKED    the brain is told; nothing was
 * heard turn came to nothing BEGUN     sound of it BEGUN      held back
 *
 * Policy: on mains or unknown power it may, on battery not; a setting overrides both ways or pins
 * it off. The probability must reach eot_share; what is no number starts nothing. */
#ifndef CONTROL_ROOM_ANSWER_SPECULATIVE_H
#define CONTROL_ROOM_ANSWER_SPECULATIVE_H

#include <stdbool.h>
#include <stdint.h>

enum room_power { ROOM_POWER_UNKNOWN, ROOM_POWER_MAINS, ROOM_POWER_BATTERY };

/* mode: the setting speculative. */
bool room_speculative_allowed(uint32_t mode, enum room_power power);
/* eot_share: the setting, in thousandths. */
bool room_speculative_starts(uint32_t mode, enum room_power power, uint32_t eot_share,
			     double probability);

struct room;
struct room_speaker;
struct room_turn;
struct room_event;

struct room_speculative {
	enum room_power power;
	uint32_t turn, of; /* the answer that was begun, and the speaker's own turn; 0 = none */
	uint64_t voice_ms; /* of the speaker since then */
};

/* POWER and EOT. */
void room_speculative_on_event(struct room *room, const struct room_event *ev);
/* The speaker goes on: voice, or all words so far. */
void room_speculative_on_voice(struct room *room, uint64_t user, uint64_t ms);
void room_speculative_on_words(struct room *room, uint64_t user, const char *text);
/* An answer may be begun early at all. */
bool room_speculative_possible(const struct room *room);
/* The speaker has finished with this probability, in thousandths; begun when the words are for the
 * bot. */
void room_speculative_begin(struct room *room, struct room_speaker *sp, uint32_t probability);
/* The turn has its words. The answer that was begun to the same words, or NULL; other words take it
 * back. Until it lands the floor is free, so that the turn is judged as if nothing had been begun.
 */
struct room_turn *room_speculative_match(struct room *room, struct room_turn *turn);
/* The turn was judged: admitted, it is over and its answer under way; else the answer is taken
 * back. NULL: nothing. */
void room_speculative_commit(struct room *room, struct room_turn *turn, struct room_turn *early);
/* Its brain failed. True: it was begun early, so it is taken back; the words ask anew when they are
 * there. */
bool room_speculative_failed(struct room *room, const struct room_turn *turn);
/* Nothing of the answer to this turn may be heard yet. */
bool room_speculative_holds(const struct room *room, uint32_t turn);
/* At the end of a step: takes back what nobody will keep. */
void room_speculative_tick(struct room *room);

#endif
