#include "control/room/hearing/prosody.h"

#include <string.h>

#include "control/room/base/scale.h"

enum {
	DECIMATION = ROOM_RATE / ROOM_PROSODY_RATE,
	BLOCK = ROOM_PROSODY_RATE / 25, /* 40 ms */
	BLOCKS = ROOM_PROSODY_SAMPLES / BLOCK,
	LAST = 3,  /* blocks of the ending */
	LEAST = 8, /* blocks that are needed */
	LAG_MIN = ROOM_PROSODY_RATE / 400,
	LAG_MAX = ROOM_PROSODY_RATE / 60,
	SYLLABLE_BLOCKS_MAX = 12,
	LENGTH_MAX = 300
};

void room_prosody_clear(struct room_prosody *p)
{
	p->at = p->n = 0;
}

void room_prosody_add(struct room_prosody *p, struct slice pcm)
{
	for (size_t i = 0; i + 2 * DECIMATION <= pcm.n; i += 2 * DECIMATION) {
		int32_t sum = 0;

		for (size_t k = 0; k < DECIMATION; k++)
			sum += (int16_t)(pcm.p[i + 2 * k] | pcm.p[i + 2 * k + 1] << 8);
		p->sample[p->at] = (int16_t)(sum / DECIMATION);
		p->at = p->at + 1 < ROOM_PROSODY_SAMPLES ? p->at + 1 : 0;
		p->n += p->n < ROOM_PROSODY_SAMPLES;
	}
}

/* Sum of products of the block and of the audio `lag` samples before it. */
static int64_t correlate(const int16_t *block, int lag)
{
	int64_t sum = 0;

	for (int i = 0; i < BLOCK; i++)
		sum += (int32_t)block[i] * block[i - lag];
	return sum;
}

/* The period of a block in samples, in hundredths; 0 when there is none. The audio before the block
 * must be LAG_MAX + 1 samples at least. */
static int find_period(const int16_t *block)
{
	int64_t energy = correlate(block, 0), best = 0, value[LAG_MAX + 2];
	int lag = 0;

	for (int i = LAG_MIN - 1; i <= LAG_MAX + 1; i++)
		value[i] = correlate(block, i);
	for (int i = LAG_MIN; i <= LAG_MAX; i++)
		if (value[i] > value[i - 1] && value[i] >= value[i + 1] && value[i] > best) {
			/* A multiple of the period must be clearly better. */
			if (lag && value[i] < best + best / 8)
				continue;
			best = value[i];
			lag = i;
		}
	if (!lag || best < energy / 2)
		return 0;
	/* The top of the parabola through the neighbours. */
	{
		int64_t left = value[lag - 1], right = value[lag + 1],
			bend = left - 2 * best + right;

		return 100 * lag + (bend ? (int)(50 * (left - right) / bend) : 0);
	}
}

/* The mean of log2 in thousandths of those that are not 0; false without any. */
static bool compute_mean_log(const int64_t *value, unsigned from, unsigned to, int *out)
{
	int64_t sum = 0;
	int n = 0;

	for (unsigned i = from; i < to; i++)
		if (value[i] > 0) {
			sum += room_log2(value[i]);
			n++;
		}
	if (!n)
		return false;
	*out = (int)(sum / n);
	return true;
}

/* Syllables are parted by dips of loudness. */
static int measure_last_syllable(const int64_t *energy, unsigned from, unsigned to)
{
	int last = 0, sum = 0, n = 0, length = 1;

	for (unsigned i = from + 1; i < to; i++) {
		bool dip = energy[i] < energy[i - 1] && i + 1 < to && energy[i] <= energy[i + 1];

		if (dip || length == SYLLABLE_BLOCKS_MAX) {
			sum += length;
			n++;
			length = 0;
		}
		length++;
	}
	last = length;
	if (!n)
		return 0;
	last = 100 * last * n / sum - 100;
	return last < LENGTH_MAX ? last : LENGTH_MAX;
}

void room_prosody_measure(const struct room_prosody *p, struct room_prosody_end *out)
{
	int16_t line[ROOM_PROSODY_SAMPLES] = {0};
	int64_t energy[BLOCKS] = {0}, period[BLOCKS] = {0};
	unsigned from = (p->at + ROOM_PROSODY_SAMPLES - p->n) % ROOM_PROSODY_SAMPLES;
	unsigned blocks = p->n / BLOCK, first = 1 + LAG_MAX / BLOCK;
	int last, before;

	*out = (struct room_prosody_end){0};
	if (blocks < LEAST)
		return;
	/* Whole blocks, up to the end. */
	from += p->n - blocks * BLOCK;
	for (unsigned i = 0; i < blocks * BLOCK; i++)
		line[i] = p->sample[(from + i) % ROOM_PROSODY_SAMPLES];
	for (unsigned i = first; i < blocks; i++) {
		energy[i] = correlate(line + i * BLOCK, 0);
		period[i] = find_period(line + i * BLOCK);
	}
	if (compute_mean_log(period, blocks - LAST, blocks, &last) &&
	    compute_mean_log(period, first, blocks - LAST, &before))
		out->pitch = (before - last) * 120 / 1000;
	if (compute_mean_log(energy, blocks - LAST, blocks, &last) &&
	    compute_mean_log(energy, first, blocks - LAST, &before))
		out->energy = (last - before) * 301 / 10000;
	out->length = measure_last_syllable(energy, first, blocks);
}
