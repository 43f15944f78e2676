#include "control/room/turn/eot_model.h"

#include "control/room/base/scale.h"
#include "control/room/turn/eot_weights.def"

enum { ONE = 1000, MEMORY = 4, PITCH_MAX = 120, ENERGY_MAX = 150, STEP = 250, FIRST = -2000 };

static const int weights[ROOM_EOT_INPUTS] = ROOM_EOT_WEIGHTS;
static const int silences[] = ROOM_EOT_SILENCES;

enum { SILENCES = sizeof silences / sizeof silences[0] };

static int clamp(int value, int most)
{
	return value > most ? most : value < -most ? -most : value;
}

static uint32_t usual_pause(const struct room_eot_input *in)
{
	return in->usual_pause_ms ? in->usual_pause_ms : ROOM_EOT_USUAL_PAUSE_MS;
}

void room_eot_inputs(const struct room_eot_input *in, int x[ROOM_EOT_INPUTS])
{
	int pitch = clamp(in->pitch, PITCH_MAX);

	x[0] = ONE;
	x[1] = in->words == ROOM_EOT_OPEN ? ONE : 0;
	x[2] = in->words == ROOM_EOT_WHOLE ? ONE : 0;
	x[3] = in->answers ? ONE : 0;
	x[4] = pitch < 0 ? -10 * pitch : 0;
	x[5] = pitch > 0 ? 10 * pitch : 0;
	x[6] = 10 * clamp(in->energy, ENERGY_MAX);
	x[7] = 10 * in->length;
	x[8] = room_log2(usual_pause(in)) - room_log2(ROOM_EOT_USUAL_PAUSE_MS);
}

/* ln(share / (1000 - share)) in thousandths. */
static int compute_logit(uint32_t share)
{
	return (room_log2(share) - room_log2(1000 - (int)share)) * 693 / 1000;
}

int room_eot_silence(const struct room_eot_input *in, uint32_t ms)
{
	int octaves = room_log2(ms) - room_log2(usual_pause(in)) - FIRST;
	int i = octaves / STEP;

	if (octaves < 0)
		return silences[0];
	if (i >= SILENCES - 1)
		return silences[SILENCES - 1];
	return silences[i] + (silences[i + 1] - silences[i]) * (octaves % STEP) / STEP;
}

/* The inverse: the length of the silence. */
static uint64_t compute_silence(const struct room_eot_input *in, int64_t value)
{
	int i = 0, octaves;

	if (value <= silences[0])
		return 0;
	if (value >= silences[SILENCES - 1])
		value = silences[SILENCES - 1];
	while (i < SILENCES - 2 && value > silences[i + 1])
		i++;
	octaves = FIRST + STEP * i +
		  (int)(STEP * (value - silences[i]) / (silences[i + 1] - silences[i]));
	return room_exp2(room_log2(usual_pause(in)) + octaves);
}

uint64_t room_eot_model_delay(const struct room_eot_input *in, uint32_t share)
{
	int x[ROOM_EOT_INPUTS];
	int64_t logit = 0;

	room_eot_inputs(in, x);
	for (unsigned i = 0; i < ROOM_EOT_INPUTS; i++)
		logit += (int64_t)weights[i] * x[i] / ONE;
	return compute_silence(in, (compute_logit(share) - logit) * ONE / ROOM_EOT_SILENCE_WEIGHT);
}

uint32_t room_eot_usual_pause(uint32_t usual_ms, uint64_t pause_ms)
{
	if (!usual_ms)
		usual_ms = ROOM_EOT_USUAL_PAUSE_MS;
	return (uint32_t)((MEMORY * (uint64_t)usual_ms + pause_ms) / (MEMORY + 1));
}
