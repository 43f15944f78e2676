/* Interface of hearing/ for the groups that it builds on. For control/room only. */
#ifndef CONTROL_ROOM_BASE_HEARING_H
#define CONTROL_ROOM_BASE_HEARING_H

#include <stdbool.h>
#include <stdint.h>

struct room_context;
struct room_turn;

/* captures.c: when the live captures will have ended if no more audio arrives: of the turn's
 * speaker, and, on request, of others too. 0: nobody speaks. turn may be NULL. */
uint64_t room_speech_until(const struct room_context *context, const struct room_turn *turn,
			   bool others);
/* captures.c: arrival of the last voiced audio of anybody; 0: nobody has spoken. */
uint64_t room_last_voice_at(const struct room_context *context);
/* transcript.c: cancels pending transcripts of this turn; it keeps the words that arrived. */
void room_asr_abandon(struct room_context *context, struct room_turn *turn);
/* long_capture.c: ends the turn's capture with the words so far. Returns false if there are none.
 */
bool room_long_capture_flush(struct room_context *context, struct room_turn *turn);

#endif
