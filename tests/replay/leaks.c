/* Searches a journal of shapes for content of the journal that it was made from: random bytes (keys
 * come from them), bytes of packets, audio and keys, or texts. Prints its findings; status 0 if
 * there are none.
 *
 *   leaks JOURNAL SHAPES
 *
 * It compares runs of eight bytes, and ignores runs of few different bytes (zeros in numbers), of
 * lower-case letters only (field names) and of digits only (ids, which /status mentions). */
#include "ipc/journal.h"
#include "proto/base/cursor.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUN = 8, DIFFERENT = 5, TOKEN_MIN = 24, HTTP_MAX = 4096 };

struct file {
	uint8_t *p;
	size_t n;
};
static struct file full, shapes;
static uint64_t *runs; /* of shapes, sorted */
static size_t n_runs, found, compared;

static bool slurp(struct file *f, const char *path)
{
	FILE *in = fopen(path, "rb");
	long n = -1;

	if (in && !fseek(in, 0, SEEK_END) && (n = ftell(in)) >= 0 && !fseek(in, 0, SEEK_SET)) {
		f->p = malloc((size_t)n + 1);
		f->n = f->p ? fread(f->p, 1, (size_t)n, in) : 0;
	}
	if (in)
		fclose(in);
	return f->n && f->n == (size_t)n;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, RUN);
	memcpy(&y, b, RUN);
	return x < y ? -1 : x > y;
}

static const uint8_t *after_lines(const struct file *f)
{
	const uint8_t *nl = memchr(f->p, '\n', f->n);

	nl = nl ? memchr(nl + 1, '\n', f->n - (size_t)(nl + 1 - f->p)) : NULL;
	return nl ? nl + 1 : f->p + f->n;
}

static bool index_shapes(void)
{
	const uint8_t *from = after_lines(&shapes);
	size_t n = shapes.n - (size_t)(from - shapes.p);

	n_runs = n >= RUN ? n - RUN + 1 : 0;
	runs = calloc(n_runs + 1, sizeof *runs);
	for (size_t i = 0; runs && i < n_runs; i++)
		memcpy(&runs[i], from + i, RUN);
	if (runs)
		qsort(runs, n_runs, sizeof *runs, by_value);
	return runs != NULL;
}

static bool telling(const uint8_t *p)
{
	unsigned different = 0, letters = 0, digits = 0;

	for (unsigned i = 0; i < RUN; i++) {
		different += !memchr(p, p[i], i);
		digits += p[i] >= '0' && p[i] <= '9';
		letters += (p[i] >= 'a' && p[i] <= 'z') || (p[i] && strchr("_\",:{", p[i]));
	}
	return different >= DIFFERENT && letters < RUN && digits < RUN;
}

static void look(const char *what, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i + RUN <= n; i++) {
		uint64_t run;

		memcpy(&run, p + i, RUN);
		if (!telling(p + i))
			continue;
		compared++;
		if (bsearch(&run, runs, n_runs, sizeof *runs, by_value)) {
			printf("%s: %.8s\n", what, (const char *)p + i);
			found++;
			return;
		}
	}
}

/* Of JSON: the items of lists, and texts that are transcripts, audio or a token; not the names of
 * fields and events. */
static void look_json(const uint8_t *p, size_t n)
{
	bool event = false;

	for (size_t i = 0; i < n; i++) {
		const uint8_t *q;
		size_t len;

		if (p[i] != '"' && p[i] != '[')
			continue;
		q = memchr(p + i + 1, p[i] == '"' ? '"' : ']', n - i - 1);
		if (!q)
			return;
		len = (size_t)(q - p) - i - 1;
		if (p[i] == '[') {
			look("list", p + i + 1, memchr(p + i, '"', len) ? 0 : len);
			continue; /* its texts follow */
		}
		if (q + 1 < p + n && q[1] == ':')
			event = (len == 1 && p[i + 1] == 't') ||
				(len == 4 && memcmp(p + i + 1, "type", 4) == 0);
		else if (!event && (len >= TOKEN_MIN || memchr(p + i, ' ', len)))
			look("text", p + i + 1, len);
		i += len + 1;
	}
}

static void look_record(uint8_t what, const uint8_t *p, size_t n)
{
	const uint8_t *body = memmem(p, n < HTTP_MAX ? n : HTTP_MAX, "\r\n\r\n", 4);

	/* The body of an HTTP response, which is JSON. */
	if (what == JOURNAL_INPUT && body && memmem(p, (size_t)(body - p), "HTTP/1", 6)) {
		look_json(body, n - (size_t)(body - p));
		return;
	}
	if (what == JOURNAL_RANDOM)
		look("random", p, n);
	else if (what == JOURNAL_INPUT && n && p[0] == '{')
		look_json(p, n);
	else if (what == JOURNAL_INPUT)
		look("bytes", p, n);
}

int main(int argc, char **argv)
{
	const uint8_t *from;
	struct rd r;

	if (argc != 3 || !slurp(&full, argv[1]) || !slurp(&shapes, argv[2]) || !index_shapes())
		return 2;
	from = after_lines(&full);
	r = rd_of(from, full.n - (size_t)(from - full.p));
	while (rd_left(&r)) {
		size_t n = rd_be(&r, 4);
		uint8_t what;

		rd_bytes(&r, 8 + 8 + 1);
		what = (uint8_t)rd_be(&r, 1);
		rd_bytes(&r, 4 + 1);
		from = rd_bytes(&r, n - 23);
		if (from)
			look_record(what, from, n - 23);
	}
	printf("%zu runs compared, %zu found\n", compared, found);
	return found || compared < 100;
}
