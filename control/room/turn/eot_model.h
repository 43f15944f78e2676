/* The end-of-turn model: the probability that a silent speaker has finished, by logistic regression
 * over words, prosody, that speaker's pauses, the dialogue and the length of the silence. Its
 * weights (eot_weights.def) are trained by tests/bench/eot.c on generated speech and nothing else.
 * A function of its input, in whole numbers. For control/room only. */
#ifndef CONTROL_ROOM_TURN_EOT_MODEL_H
#define CONTROL_ROOM_TURN_EOT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "control/room/turn/eot.h"

enum { ROOM_EOT_USUAL_PAUSE_MS = 450, ROOM_EOT_PAUSE_MIN_MS = 180, ROOM_EOT_INPUTS = 9 };

struct room_eot_input {
	enum room_eot_words words;
	bool answers;		   /* the bot asked this speaker something */
	int pitch, energy, length; /* prosody.h */
	uint32_t usual_pause_ms;   /* of this speaker */
};

/* The inputs as the regression weighs them, in thousandths; the first is constant. */
void room_eot_inputs(const struct room_eot_input *in, int x[ROOM_EOT_INPUTS]);
/* Weight of a silence of this length for an end, in thousandths. */
int room_eot_silence(const struct room_eot_input *in, uint32_t ms);
/* The shortest silence after which the probability reaches `share`, in thousandths from 1 to 999.
 */
uint64_t room_eot_model_delay(const struct room_eot_input *in, uint32_t share);
/* The mean of a speaker's pauses after another one. 0: none known. */
uint32_t room_eot_usual_pause(uint32_t usual_ms, uint64_t pause_ms);

#endif
