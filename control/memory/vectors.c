#include "control/memory/vectors.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "control/memory/kernel.h"

enum { FIRST_ROOM = 1024, NO_MATCH = VECTOR_DIM + 1, BLOCK = 64 /* lines measured at once */ };

/* What all lines of a block have in common, so that most searches need not look at each. */
struct block {
	uint64_t group;
	uint64_t first_ms, last_ms; /* of all of them */
	bool mixed;		    /* of several groups */
};

struct vectors {
	size_t n, room;
	struct vector_line *line;
	struct block *block;	      /* one for each BLOCK lines */
	uint64_t *signs;	      /* VECTOR_WORDS for each line */
	uint32_t name[VECTORS_NAMES]; /* of speakers */
	size_t names;
	uint16_t *distance; /* of the last search; NO_MATCH: left out by the filter */
};

void vector_pack(struct vector *out, const float *in, size_t dim)
{
	float top = 0;

	for (size_t i = 0; i < dim; i++)
		top = fmaxf(top, fabsf(in[i]));
	*out = (struct vector){.scale = top / 127, .dim = (uint16_t)dim};
	for (size_t i = 0; i < dim; i++)
		out->v[i] = top > 0 ? (int8_t)lrintf(in[i] * 127 / top) : 0;
}

double vector_cosine(const struct vector *a, const struct vector *b)
{
	size_t n = ((size_t)a->dim + KERNEL_STEP - 1) / KERNEL_STEP * KERNEL_STEP;

	if (a->dim != b->dim)
		return 0;
	return (double)kernel_dot(a->v, b->v, n) * (double)a->scale * (double)b->scale;
}

uint32_t vector_speaker(uint64_t user)
{
	uint32_t h = (uint32_t)(user ^ user >> 32);

	return h || !user ? h : 1;
}

uint32_t vector_name(const char *name)
{
	uint32_t h = 2166136261u;

	if (!*name)
		return 0;
	for (; *name; name++)
		h = (h ^ (uint8_t)tolower((unsigned char)*name)) * 16777619u;
	return h ? h : 1;
}

int vectors_alloc(struct vectors **out)
{
	struct vectors *v = calloc(1, sizeof *v);

	if (!v)
		return ENOMEM;
	*out = v;
	return 0;
}

struct vectors *vectors_free(struct vectors *v)
{
	if (!v)
		return NULL;
	if (v->signs)
		explicit_bzero(v->signs, v->room * VECTOR_WORDS * sizeof *v->signs);
	if (v->line)
		explicit_bzero(v->line, v->room * sizeof *v->line);
	free(v->signs);
	free(v->line);
	free(v->block);
	free(v->distance);
	free(v);
	return NULL;
}

size_t vectors_count(const struct vectors *v)
{
	return v->n;
}

/* Leaves no copy of the old lines behind. */
static int move_to(struct vectors *v, size_t room)
{
	struct vectors next = {.n = v->n,
			       .room = room,
			       .names = v->names,
			       .line = calloc(room, sizeof *next.line),
			       .block = calloc(room / BLOCK, sizeof *next.block),
			       .signs = calloc(room, VECTOR_WORDS * sizeof *next.signs),
			       .distance = calloc(room, sizeof *next.distance)};
	struct vectors *old = NULL;

	if (next.line && next.block && next.signs && next.distance)
		old = malloc(sizeof *old);
	if (!old) {
		free(next.line);
		free(next.block);
		free(next.signs);
		free(next.distance);
		return ENOMEM;
	}
	memcpy(next.name, v->name, sizeof next.name);
	if (v->n) {
		memcpy(next.line, v->line, v->n * sizeof *v->line);
		memcpy(next.block, v->block, v->room / BLOCK * sizeof *v->block);
		memcpy(next.signs, v->signs, v->n * VECTOR_WORDS * sizeof *v->signs);
	}
	*old = *v;
	*v = next;
	vectors_free(old);
	return 0;
}

bool vectors_has_name(const struct vectors *v, uint32_t name)
{
	for (size_t i = 0; i < v->names; i++)
		if (v->name[i] == name)
			return true;
	return false;
}

static void take_signs(uint64_t signs[VECTOR_WORDS], const struct vector *vector)
{
	for (size_t w = 0; w < VECTOR_WORDS; w++) {
		signs[w] = 0;
		for (size_t i = 0; i < 64; i++)
			signs[w] |= (uint64_t)(vector->v[64 * w + i] < 0) << i;
	}
}

static void add_to_block(struct vectors *v, const struct vector_line *line)
{
	struct block *b = &v->block[v->n / BLOCK];

	if (v->n % BLOCK == 0)
		*b = (struct block){line->group, line->at_ms, line->at_ms, false};
	b->mixed = b->mixed || line->group != b->group;
	b->first_ms = line->at_ms < b->first_ms ? line->at_ms : b->first_ms;
	b->last_ms = line->at_ms > b->last_ms ? line->at_ms : b->last_ms;
}

int vectors_add(struct vectors *v, const struct vector_line *line, const struct vector *vector)
{
	int err = 0;

	if (v->n == VECTORS_MAX)
		return ENOSPC;
	if (v->n == v->room)
		err = move_to(v, v->room ? 2 * v->room : FIRST_ROOM);
	if (err)
		return err;
	v->line[v->n] = *line;
	add_to_block(v, line);
	if (line->name && v->names < VECTORS_NAMES && !vectors_has_name(v, line->name))
		v->name[v->names++] = line->name;
	take_signs(v->signs + v->n * VECTOR_WORDS, vector);
	v->n++;
	return 0;
}

/* Without branches: whose the next line is cannot be predicted, and a wrong guess costs more than
 * the comparisons. */
static bool passes(const struct vector_line *line, const struct vector_filter *f)
{
	return ((line->group == f->group[0]) | (line->group == f->group[1])) &
	       (line->at_ms >= f->since_ms) & (line->at_ms < f->until_ms) &
	       (!f->name | (line->name == f->name)) & (!f->speaker | (line->speaker == f->speaker));
}

/* The nearest lines so far: how many there are at each distance up to the limit, which falls as
 * nearer ones are found. Soon few lines are below it, so that the processor guesses right. */
struct nearest {
	size_t most, n; /* n: at the limit or below */
	size_t limit;
	size_t count[VECTOR_DIM + 1];
};

static void count_near(struct nearest *near, const uint16_t *distance, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (distance[i] > near->limit)
			continue;
		near->count[distance[i]]++;
		near->n++;
	}
	while (near->limit && near->n - near->count[near->limit] >= near->most)
		near->n -= near->count[near->limit--];
}

static bool is_of_groups(const struct block *b, const struct vector_filter *f)
{
	return b->group == f->group[0] || b->group == f->group[1];
}

static bool all_pass(const struct block *b, const struct vector_filter *f)
{
	return !b->mixed && is_of_groups(b, f) && b->first_ms >= f->since_ms &&
	       b->last_ms < f->until_ms && !f->name && !f->speaker;
}

static bool none_passes(const struct block *b, const struct vector_filter *f)
{
	return (!b->mixed && !is_of_groups(b, f)) || b->last_ms < f->since_ms ||
	       b->first_ms >= f->until_ms;
}

/* A search at work. */
struct search {
	const struct vector_filter *filter;
	uint64_t signs[VECTOR_WORDS];
	struct nearest near;
};

/* Some lines of the block may pass. Distances of those that do not cost less than leaving each of
 * them out: a speaker's lines stand alone among those of others. */
static void measure_some(struct vectors *v, size_t first, size_t n, struct search *s)
{
	uint16_t *distance = v->distance + first;
	bool pass[BLOCK], any = false;

	for (size_t i = 0; i < n; i++) {
		pass[i] = passes(&v->line[first + i], s->filter);
		any |= pass[i];
	}
	if (any)
		kernel_distances(distance, v->signs + first * VECTOR_WORDS, s->signs, VECTOR_WORDS,
				 n);
	for (size_t i = 0; i < n; i++)
		distance[i] = pass[i] ? distance[i] : NO_MATCH;
	if (any)
		count_near(&s->near, distance, n);
}

static void measure_block(struct vectors *v, size_t first, size_t n, struct search *s)
{
	const struct block *b = &v->block[first / BLOCK];
	uint16_t *distance = v->distance + first;

	if (none_passes(b, s->filter)) {
		for (size_t i = 0; i < n; i++)
			distance[i] = NO_MATCH;
	} else if (all_pass(b, s->filter)) {
		kernel_distances(distance, v->signs + first * VECTOR_WORDS, s->signs, VECTOR_WORDS,
				 n);
		count_near(&s->near, distance, n);
	} else {
		measure_some(v, first, n, s);
	}
}

size_t vectors_find(struct vectors *v, const struct vector *question,
		    const struct vector_filter *filter, uint64_t *ids, size_t most)
{
	struct search s = {.filter = filter, .near = {.most = most, .limit = VECTOR_DIM}};
	const struct nearest *near = &s.near;
	size_t n = 0, at_limit;

	if (!most)
		return 0;
	take_signs(s.signs, question);
	for (size_t i = 0; i < v->n; i += BLOCK)
		measure_block(v, i, v->n - i < BLOCK ? v->n - i : BLOCK, &s);
	/* All lines below the limit fit, and the oldest ones at it. */
	at_limit = most - (near->n - near->count[near->limit]);
	for (size_t i = 0; i < v->n && n < most; i++) {
		bool is_last = v->distance[i] == near->limit;

		if (v->distance[i] > near->limit || (is_last && !at_limit))
			continue;
		at_limit -= is_last;
		ids[n++] = v->line[i].id;
	}
	return n;
}
