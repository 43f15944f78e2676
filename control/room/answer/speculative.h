/* Speculative generation: an answer that begins before the end of turn is certain, and is
 * committed or rolled back.
 *
 *   phase  input                                   next     effect
 *   NONE   silence (endpointing.h) or EOT, likely  BEGUN    the brain is asked with the words so
 *          enough; policy allows, the floor is              far
 *          free, the words are for the bot
 *   BEGUN  the transcript has the same words and   KEPT     its audio is released
 *          is admitted
 *   BEGUN  other words, more voice, EOT unlikely,  REVOKED  the brain is told; nothing was heard
 *          the speaker's turn ended
 *   BEGUN  audio of the answer                     BEGUN    held back
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

struct room;
struct room_speaker;
struct room_turn;
struct room_event;

struct room_speculative {
	enum room_power power;
	uint32_t turn, of; /* the speculative answer and the speaker's own turn; 0 = none */
	uint64_t voice_ms; /* voiced audio of the speaker since then */
};

/* POWER and EOT. */
void room_speculative_on_event(struct room *room, const struct room_event *ev);
/* The speaker goes on: more voice, or these are all words so far. */
void room_speculative_on_voice(struct room *room, uint64_t user, uint64_t ms);
void room_speculative_on_words(struct room *room, uint64_t user, const char *text);
/* Whether a speculative answer may begin at all. */
bool room_speculative_possible(const struct room *room);
/* Begins a speculative answer if the words are for the bot. probability: of the end of turn, in
 * thousandths. */
void room_speculative_begin(struct room *room, struct room_speaker *sp, uint32_t probability);
/* The turn has its transcript. Returns the speculative answer to the same words, or NULL; other
 * words roll it back. Until it is committed the floor counts as free, so that the turn passes
 * admission as if nothing had begun. */
struct room_turn *room_speculative_match(struct room *room, struct room_turn *turn);
/* Admission decided on the turn: if admitted, the turn ends and its speculative answer is
 * committed; else the answer is rolled back. early may be NULL. */
void room_speculative_commit(struct room *room, struct room_turn *turn, struct room_turn *early);
/* The brain failed for this turn. Returns true if the turn was speculative and is rolled back;
 * its words are asked again once they are final. */
bool room_speculative_failed(struct room *room, const struct room_turn *turn);
/* At the end of a step: rolls back an answer that nobody will commit. */
void room_speculative_tick(struct room *room);

#endif
