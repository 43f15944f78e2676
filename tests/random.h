/* Seeded chance for tests and benches: splitmix64, so that a seed means the same everywhere. Any
 * state will do, zero too. */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* From 0 to n - 1. */
static inline unsigned random_below(uint64_t *state, unsigned n)
{
	return (unsigned)(random_next(state) % n);
}

/* From low to high, both included. */
static inline unsigned random_between(uint64_t *state, unsigned low, unsigned high)
{
	return low + random_below(state, high - low + 1);
}

/* Between from and to, never one of them. */
static inline double random_uniform(uint64_t *state, double from, double to)
{
	return from + (to - from) * ((double)(random_next(state) >> 11) + 0.5) / 9007199254740992.0;
}

static inline bool random_happens(uint64_t *state, double share)
{
	return random_uniform(state, 0, 1) < share;
}

static inline double random_normal(uint64_t *state, double mean, double deviation)
{
	double a = random_uniform(state, 0, 1), b = random_uniform(state, 0, 1);

	return mean + deviation * sqrt(-2 * log(a)) * cos(2 * M_PI * b);
}

static inline double random_lognormal(uint64_t *state, double median, double deviation)
{
	return median * exp(random_normal(state, 0, deviation));
}
#endif
