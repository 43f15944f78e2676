#include "control/room/signal.h"

void room_signal_add(struct room_signal *sig, struct slice pcm, uint32_t active)
{
	for (size_t i = 0; i + 1 < pcm.n; i += 2) {
		int32_t v = (int16_t)(pcm.p[i] | pcm.p[i + 1] << 8);
		uint32_t a = (uint32_t)(v < 0 ? -v : v);

		sig->samples++;
		sig->sum_sq += (uint64_t)a * a;
		if (a >= active)
			sig->active++;
		if (a > sig->peak)
			sig->peak = a;
	}
}

void room_signal_join(struct room_signal *sig, const struct room_signal *more)
{
	sig->samples += more->samples;
	sig->active += more->active;
	sig->sum_sq += more->sum_sq;
	if (more->peak > sig->peak)
		sig->peak = more->peak;
}

uint32_t room_signal_rms(const struct room_signal *sig)
{
	uint64_t mean = sig->samples ? sig->sum_sq / sig->samples : 0;
	uint64_t root = 0;

	/* Integer square root, bit by bit: the same on every machine. */
	for (uint64_t bit = 1ull << 15; bit; bit >>= 1)
		if ((root | bit) * (root | bit) <= mean)
			root |= bit;
	return (uint32_t)root;
}

uint32_t room_signal_active(const struct room_signal *sig)
{
	return sig->samples ? (uint32_t)(sig->active * 1000 / sig->samples) : 0;
}
