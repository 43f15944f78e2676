#include "ipc/journal.h"

#include "ipc/env.h"
#include "ipc/env_replay.h"
#include "proto/base/cursor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	REC_BODY = 8 + 8 + 1 + 1 + 4 + 1,
	MAX_JOURNAL = 1 << 30,
	MAX_REC = 64 << 20,
	MAX_THREADS = 64
};

struct record {
	uint64_t order, now;
	uint8_t thread, what, kind;
	uint32_t source;
	const uint8_t *p;
	size_t n;
};

struct journal_reader {
	uint8_t *file;
	size_t len;
	char *meta;
	struct record *recs;
	size_t n, cap;
	bool shapes;
	struct env_answer_rec *answers[MAX_THREADS];
};

static int read_file(struct journal_reader *r, const char *path)
{
	FILE *f = fopen(path, "rb");
	long n = -1;
	int err = 0;

	if (!f)
		return errno ? errno : EIO;
	if (fseek(f, 0, SEEK_END) || (n = ftell(f)) < 0 || fseek(f, 0, SEEK_SET))
		err = EIO;
	else if (n > MAX_JOURNAL)
		err = EFBIG;
	else if (!(r->file = malloc((size_t)n + 1)))
		err = ENOMEM;
	else if (fread(r->file, 1, (size_t)n, f) != (size_t)n)
		err = EIO;
	if (!err)
		r->len = (size_t)n;
	fclose(f);
	return err;
}

static int add(struct journal_reader *r, const struct record *rec)
{
	if (r->n == r->cap) {
		size_t cap = r->cap ? 2 * r->cap : 1024;
		struct record *more = realloc(r->recs, cap * sizeof *more);

		if (!more)
			return ENOMEM;
		r->recs = more;
		r->cap = cap;
	}
	r->recs[r->n++] = *rec;
	return 0;
}

static int parse_records(struct journal_reader *r, struct rd in)
{
	int err = 0;

	while (!err && rd_left(&in)) {
		struct record rec;
		size_t n = rd_be(&in, 4);

		/* The process was killed in the middle of a write: earlier records are good. */
		if (!in.ok || n > rd_left(&in))
			break;
		if (n < REC_BODY || n > MAX_REC)
			return EBADMSG;
		rec.order = rd_be(&in, 8);
		rec.now = rd_be(&in, 8);
		rec.thread = (uint8_t)rd_be(&in, 1);
		rec.what = (uint8_t)rd_be(&in, 1);
		rec.source = (uint32_t)rd_be(&in, 4);
		rec.kind = (uint8_t)rd_be(&in, 1);
		rec.n = n - REC_BODY;
		rec.p = rd_bytes(&in, rec.n);
		/* Sums of times must not wrap. */
		if (rec.now > INT64_MAX)
			return EBADMSG;
		/* Only inputs have a time and a source of their own. */
		if (rec.what != JOURNAL_INPUT && (rec.now || rec.source || rec.kind))
			return EBADMSG;
		if (rec.what != JOURNAL_BROKEN)
			err = add(r, &rec);
	}
	return err;
}

/* Numbers are given without gaps; a lost record ends what can be replayed. */
static void cut_at_gap(struct journal_reader *r)
{
	for (size_t i = 0; i < r->n; i++) {
		if (r->recs[i].order != i) {
			r->n = i;
			return;
		}
	}
}

static int by_order(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

/* Recognises the kind of journal by its first line. Returns the start of the meta line, or NULL. */
static uint8_t *first_line(struct journal_reader *r)
{
	static const char *const lines[] = {JOURNAL_FIRST_LINE "\n",
					    JOURNAL_FIRST_LINE_SHAPES "\n"};

	for (unsigned i = 0; i < 2; i++) {
		size_t n = strlen(lines[i]);

		if (r->len >= n && memcmp(r->file, lines[i], n) == 0) {
			r->shapes = i == 1;
			return r->file + n;
		}
	}
	return NULL;
}

static int open_any(struct journal_reader **out, const char *path)
{
	struct journal_reader *r;
	uint8_t *meta, *nl;
	int err;

	r = calloc(1, sizeof *r);
	if (!r)
		return ENOMEM;
	err = read_file(r, path);
	if (err)
		goto out;
	err = EBADMSG;
	meta = first_line(r);
	nl = meta ? memchr(meta, '\n', r->len - (size_t)(meta - r->file)) : NULL;
	if (!nl)
		goto out;
	*nl = '\0';
	r->meta = (char *)meta;
	err = parse_records(r, rd_of(nl + 1, r->len - (size_t)(nl + 1 - r->file)));
	if (!err && r->n)
		qsort(r->recs, r->n, sizeof *r->recs, by_order);
	cut_at_gap(r);
out:
	if (err)
		journal_close(r);
	else
		*out = r;
	return err;
}

int journal_open(struct journal_reader **out, const char *path)
{
	struct journal_reader *r;
	int err;

	if (!out || !path)
		return EINVAL;
	err = open_any(&r, path);
	if (!err && r->shapes) {
		journal_close(r);
		return ENOTSUP;
	}
	if (!err)
		*out = r;
	return err;
}

const char *journal_meta(const struct journal_reader *r)
{
	return r->meta;
}

struct journal_reader *journal_close(struct journal_reader *r)
{
	if (r) {
		for (unsigned i = 0; i < MAX_THREADS; i++)
			free(r->answers[i]);
		free(r->file);
		free(r->recs);
		free(r);
	}
	return NULL;
}

int journal_attach(struct journal_reader *r, struct env *env, unsigned thread)
{
	struct env_answer_rec *a;
	size_t n = 0;

	if (!r || !env || thread >= MAX_THREADS || r->answers[thread])
		return EINVAL;
	a = calloc(r->n ? r->n : 1, sizeof *a);
	if (!a)
		return ENOMEM;
	for (size_t i = 0; i < r->n; i++) {
		const struct record *k = &r->recs[i];

		if (k->thread == thread && (k->what == JOURNAL_RANDOM || k->what == JOURNAL_ANSWER))
			a[n++] = (struct env_answer_rec){.what = k->what, .p = k->p, .n = k->n};
	}
	r->answers[thread] = a;
	env_replay_meta(env, r->meta);
	env_replay_answers(env, a, n);
	return 0;
}

/* True when nothing of this thread follows record i. */
static bool last_of_thread(const struct journal_reader *r, size_t i)
{
	for (size_t k = i + 1; k < r->n; k++)
		if (r->recs[k].thread == r->recs[i].thread &&
		    (r->recs[k].what == JOURNAL_INPUT || r->recs[k].what == JOURNAL_DIGEST))
			return false;
	return true;
}

int journal_replay(struct journal_reader *r, struct env **envs, unsigned n, uint64_t *at,
		   char (*recorded)[65])
{
	unsigned ended = 0;

	for (unsigned i = 0; i < n; i++)
		memset(recorded[i], 0, 65);
	for (size_t i = 0; i < r->n; i++) {
		const struct record *k = &r->recs[i];

		*at = k->order;
		if (k->thread >= n)
			return EPROTO;
		if (k->what == JOURNAL_DIGEST && k->n == 64) {
			memcpy(recorded[k->thread], k->p, 64);
			ended++;
		} else if (k->what == JOURNAL_INPUT &&
			   !env_replay_step(envs[k->thread], k->now, k->source, k->kind, k->p,
					    k->n)) {
			/* A recording that was cut may have lost the last answers. */
			return last_of_thread(r, i) ? EBADMSG : EPROTO;
		}
	}
	for (unsigned i = 0; i < n; i++)
		if (!env_replay_done(envs[i]))
			return EPROTO;
	return ended == n ? 0 : EBADMSG;
}

void journal_recorded_shape(const struct journal_reader *r, unsigned thread, char hex[65])
{
	memset(hex, 0, 65);
	for (size_t i = 0; i < r->n; i++)
		if (r->recs[i].thread == thread && r->recs[i].what == JOURNAL_SHAPE &&
		    r->recs[i].n == 64)
			memcpy(hex, r->recs[i].p, 64);
}

static void print_text(const uint8_t *p, size_t n, FILE *f)
{
	putc(' ', f);
	for (size_t i = 0; i < n; i++)
		putc(p[i] >= 0x20 && p[i] < 0x7f ? p[i] : '?', f);
}

/* Prints the part of a record that may be shown. */
static void print_bytes(const struct journal_reader *r, const struct record *k, FILE *f)
{
	struct rd in = rd_of(k->p, k->n);
	uint32_t length;

	switch (k->what) {
	case JOURNAL_ANSWER:
		fprintf(f, " %" PRId64, (int64_t)rd_be(&in, 8));
		return;
	case JOURNAL_DIGEST:
	case JOURNAL_SHAPE:
		print_text(k->p, k->n, f);
		return;
	default:
		break;
	}
	length = r->shapes ? (uint32_t)rd_be(&in, 4) : (uint32_t)k->n;
	fprintf(f, " %u bytes", length);
	if (r->shapes && rd_left(&in))
		print_text(k->p + in.pos, rd_left(&in), f);
}

int journal_print(const char *path, FILE *f)
{
	static const char *const names[] = {"?",      "input",	"random", "answer",
					    "broken", "digest", "shape"};
	struct journal_reader *r;
	uint64_t from = 0;
	int err = open_any(&r, path);

	if (err)
		return err;
	/* Answers before the first step have no time. */
	for (size_t i = 0; i < r->n && !from; i++)
		from = r->recs[i].now;
	for (size_t i = 0; i < r->n; i++) {
		const struct record *k = &r->recs[i];
		uint64_t ns = from && k->now > from ? k->now - from : 0;

		fprintf(f, "%" PRIu64 " %.6f %u %s", k->order, (double)ns / 1e9, k->thread,
			names[k->what < sizeof names / sizeof names[0] ? k->what : 0]);
		if (k->what == JOURNAL_INPUT)
			fprintf(f, " %u/%u", k->source, k->kind);
		print_bytes(r, k, f);
		putc('\n', f);
	}
	journal_close(r);
	return 0;
}
