/* Speculative generation: an answer that begins before the end of turn is certain, and is
 * committed or rolled back.
 *
 *   phase  input                                   next     effect
 *   NONE   silence (hearing/eot_prediction.h) or EOT, likely  BEGUN    the brain is asked with the
 * words so enough; policy allows, the floor is              far free, the words are for the bot
 *   BEGUN  the transcript has the same words and   KEPT     its audio is released
 *          is admitted
 *   BEGUN  other words, more voice, EOT unlikely   REVOKED  the brain is told; nothing was heard
 *   BEGUN  the speaker's turn ended, was merged or UNUSED   the same
 *          not admitted; another turn is asked
 *   BEGUN  the brain fails                         FAILED   the question is asked once it is final
 *   BEGUN  audio of the answer                     BEGUN    held back
 *
 * It is the active turn, but does not have the floor (room_turn_on_floor): what others say
 * meanwhile passes admission as if it had not begun.
 *
 * Policy: allowed on mains or unknown power, not on battery; a setting overrides both or switches
 * it off. The probability must reach eot_share; a value that is not a number starts nothing. */
#ifndef CONTROL_ROOM_ANSWER_SPECULATIVE_H
#define CONTROL_ROOM_ANSWER_SPECULATIVE_H

#include <stdbool.h>
#include <stdint.h>

enum room_power { ROOM_POWER_UNKNOWN, ROOM_POWER_MAINS, ROOM_POWER_BATTERY };

/* mode: the setting `speculative`. */
bool room_speculative_allowed(uint32_t mode, enum room_power power);
/* eot_share: the setting, in thousandths. */
bool room_speculative_starts(uint32_t mode, enum room_power power, uint32_t eot_share,
			     double probability);

struct room_context;
struct room_turn;
struct room_event;

struct room_speculative {
	enum room_power power;
	uint32_t turn, of; /* the speculative answer and the speaker's own turn; 0 = none */
	uint64_t voice_ms; /* voiced audio of the speaker since then */
};

/* POWER and EOT. */
void room_speculative_on_event(struct room_context *context, const struct room_event *ev);
/* The brain failed for this turn. Returns true if the turn was speculative and is rolled back;
 * its words are asked again once they are final. */
bool room_speculative_failed(struct room_context *context, const struct room_turn *turn);
/* Another turn gets the floor: rolls back the speculative answer, if there is one. */
void room_speculative_yield(struct room_context *context);
/* At the end of a step: rolls back an answer that nobody will commit. */
void room_speculative_tick(struct room_context *context);

#endif
