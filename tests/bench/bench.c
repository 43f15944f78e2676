#include "tests/bench/bench.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/base/time.h"

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ns_of_timespec(&ts);
}

uint64_t bench_cpu(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t bench_clock(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

void bench_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "bench: ");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\n");
	va_end(ap);
	exit(1);
}

static FILE *raw_file(const char *name)
{
	const char *folder = getenv("BENCH_RAW");
	char path[512];
	FILE *f;

	if (!folder || !name)
		return NULL;
	snprintf(path, sizeof path, "%s/%s.raw", folder, name);
	f = fopen(path, "w");
	if (!f)
		bench_die("%s: %s", path, strerror(errno));
	return f;
}

void bench_raw(const char *name, const double *v, size_t n)
{
	FILE *f = raw_file(name);

	for (size_t i = 0; f && i < n; i++)
		fprintf(f, "%.3f\n", v[i]);
	if (f)
		fclose(f);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_quantile(double *v, size_t n, double q)
{
	if (!n)
		return 0;
	qsort(v, n, sizeof *v, by_value);
	return v[(size_t)(q * (double)(n - 1) + 0.5)];
}

double bench_median(double *v, size_t n)
{
	return bench_quantile(v, n, 0.5);
}

static double run(bench_fn *f, void *arg, unsigned n)
{
	uint64_t from = bench_cpu();

	for (unsigned i = 0; i < n; i++)
		f(arg);
	return (double)(bench_cpu() - from) / n;
}

void bench_turns(struct bench_turns *out, const char *name, bench_fn *a, bench_fn *b, void *arg,
		 unsigned n, unsigned turns)
{
	double *va = calloc(turns, sizeof *va), *vb = calloc(turns, sizeof *vb),
	       *vr = calloc(turns, sizeof *vr);
	FILE *f = raw_file(name);

	if (!va || !vb || !vr)
		bench_die("out of memory");
	run(a, arg, n);
	run(b, arg, n);
	for (unsigned i = 0; i < turns; i++) {
		va[i] = run(a, arg, n);
		vb[i] = run(b, arg, n);
		vr[i] = va[i] / vb[i];
		if (f)
			fprintf(f, "%.3f %.3f\n", va[i], vb[i]);
	}
	if (f)
		fclose(f);
	out->a = bench_median(va, turns);
	out->b = bench_median(vb, turns);
	out->ratio = bench_median(vr, turns);
	free(va);
	free(vb);
	free(vr);
}

double bench_one(const char *name, bench_fn *f, void *arg, unsigned n, unsigned turns)
{
	double *v = calloc(turns, sizeof *v), median;

	if (!v)
		bench_die("out of memory");
	run(f, arg, n);
	for (unsigned i = 0; i < turns; i++)
		v[i] = run(f, arg, n);
	bench_raw(name, v, turns);
	median = bench_median(v, turns);
	free(v);
	return median;
}

void bench_row(const char *name, double value, const char *unit)
{
	printf("{\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"}\n", name, value, unit);
	fflush(stdout);
}

void bench_row_more(const char *name, double value, const char *unit, const char *more, ...)
{
	va_list ap;

	printf("{\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", ", name, value, unit);
	va_start(ap, more);
	vprintf(more, ap);
	va_end(ap);
	printf("}\n");
	fflush(stdout);
}
