/* Shared by the benches: alternating measurements, and rows.
 *
 * The speed of a host drifts by half within minutes, so two things are compared only by turns A B A
 * B … in one process. A row is one JSON object a line on standard output; raw samples go to
 * $BENCH_RAW/NAME.raw when that folder is set. Nothing here asserts anything. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

/* Value of a row whose conditions were not met; misses every goal. */
enum { BENCH_FAILED = 1000000 };

/* CPU time of the calling thread, ns. */
uint64_t bench_cpu(void);
uint64_t bench_clock(void);

typedef void(bench_fn)(void *arg);
struct bench_turns {
	double a, b;  /* median ns of one call */
	double ratio; /* median of the ratios a/b of neighbouring turns */
};
/* `turns` times n calls of a, then n of b. Raw: ns per call, "a b" a line. */
void bench_turns(struct bench_turns *out, const char *name, bench_fn *a, bench_fn *b, void *arg,
		 unsigned n, unsigned turns);
/* ns per call, the median of `turns` times n calls. */
double bench_one(const char *name, bench_fn *f, void *arg, unsigned n, unsigned turns);
double bench_median(double *v, size_t n);
/* The value below which the share q of v lies; sorts v. */
double bench_quantile(double *v, size_t n, double q);
void bench_raw(const char *name, const double *v, size_t n);

void bench_row(const char *name, double value, const char *unit);
/* more: further fields as JSON, such as "\"n\": %d". */
void bench_row_more(const char *name, double value, const char *unit, const char *more, ...)
	__attribute__((format(printf, 4, 5)));
/* Ends the bench with a word. */
_Noreturn void bench_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#define BENCH_OK(call)                                                                             \
	do {                                                                                       \
		int err_ = (call);                                                                 \
		if (err_)                                                                          \
			bench_die("%s: error %d", #call, err_);                                    \
	} while (0)

#endif
