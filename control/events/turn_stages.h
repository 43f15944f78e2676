/* The stages of a turn, derived from its decisions: which of them took how long. Pure. */
#ifndef CONTROL_EVENTS_TURN_STAGES_H
#define CONTROL_EVENTS_TURN_STAGES_H

#include <stdint.h>

#include <jansson.h>

/* why: as rows.c keeps it, [["rule", 1, value, limit], …], or as an event has it, [{"rule", "yes",
 * "value", …}, …]. first_ms: the first sound, end_ms: the
 * end of the turn, both from the end of speech; below 0: none.
 * [{"name", "startMs", "endMs"}], in order: endpointing, transcription, classifier, floor, memory,
 * model, playback. Those before the question are laid end to end in the order in which the room
 * goes through them; what the rules do not tell is transcription. */
json_t *turn_stages(const char *why, int64_t first_ms, int64_t end_ms);

#endif
