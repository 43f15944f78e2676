#include "control/memory/embed/embedder.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "control/memory/kernel.h"
#include "control/memory/embed/pieces.h"

enum { NARROW = 256, WIDE = EMBEDDER_DIM, INNER = 1536, HEADS = 4, NAME_SIZE = 40 };

/* rows x columns; a row makes one output. */
struct matrix {
	size_t rows, columns;
	const float *scale, *bias; /* rows */
	const int8_t *weight;
};

struct layer {
	size_t width; /* of what comes in */
	const float *attend_scale, *attend_bias, *inner_scale, *inner_bias;
	struct matrix qkv, attended, straight; /* straight.rows 0: the input itself */
	struct matrix inner, outer;
};

struct embedder {
	char name[NAME_SIZE + 1];
	struct pieces pieces;
	struct matrix table; /* without bias: one row for each piece */
	const float *frequency;
	struct layer layer[2];
	struct matrix last;
	/* Scratch of one text. */
	struct pieces_lattice lattice;
	uint32_t ids[PIECES_MAX];
	float x[PIECES_MAX * WIDE], y[PIECES_MAX * WIDE], normal[PIECES_MAX * WIDE];
	float wide[PIECES_MAX * INNER], mixed[PIECES_MAX * WIDE];
	int16_t q[PIECES_MAX * INNER];
	float q_scale[PIECES_MAX];
};

/* ---- the file ---- */

struct reader {
	const uint8_t *p;
	size_t left;
	bool broken;
};

static const void *take(struct reader *r, size_t bytes)
{
	const uint8_t *p = r->p;

	if (r->broken || bytes > r->left) {
		r->broken = true;
		return NULL;
	}
	r->p += bytes;
	r->left -= bytes;
	return p;
}

static const float *take_floats(struct reader *r, size_t n)
{
	return take(r, n * sizeof(float));
}

static struct matrix take_matrix(struct reader *r, size_t rows, size_t columns, bool bias)
{
	struct matrix m = {.rows = rows, .columns = columns};

	m.scale = take_floats(r, rows);
	m.weight = take(r, rows * columns);
	m.bias = bias ? take_floats(r, rows) : NULL;
	return m;
}

static void take_layer(struct reader *r, struct layer *l, size_t width)
{
	l->width = width;
	l->attend_scale = take_floats(r, width);
	l->attend_bias = take_floats(r, width);
	l->qkv = take_matrix(r, 3 * width, width, true);
	l->attended = take_matrix(r, WIDE, width, true);
	if (width != WIDE)
		l->straight = take_matrix(r, WIDE, width, true);
	l->inner_scale = take_floats(r, WIDE);
	l->inner_bias = take_floats(r, WIDE);
	l->inner = take_matrix(r, INNER, WIDE, true);
	l->outer = take_matrix(r, WIDE, INNER, true);
}

static bool read_file(struct embedder *e, struct reader *r)
{
	static const struct {
		char magic[8];
		uint32_t form;
	} want = {"PARLEYEM", 1};
	const uint8_t *head = take(r, 64);
	uint32_t size[3];

	if (!head || memcmp(head, want.magic, 8) != 0 || memcmp(head + 8, &want.form, 4) != 0)
		return false;
	memcpy(size, head + 12, sizeof size);
	if (size[0] > 65536 || size[1] > 65536 || size[2] > EMBEDDER_FILE_MAX || !size[1])
		return false;
	memcpy(e->name, head + 24, NAME_SIZE);
	e->pieces.n = size[0];
	e->pieces.score = take(r, size[0] * sizeof(double));
	e->pieces.offset = take(r, (size[0] + 1) * sizeof(uint32_t));
	e->pieces.id = take(r, size[0] * sizeof(uint32_t));
	e->pieces.text = take(r, (size[2] + 3u) & ~3u);
	e->table = take_matrix(r, size[1], NARROW, false);
	e->frequency = take_floats(r, NARROW / 2);
	take_layer(r, &e->layer[0], NARROW);
	take_layer(r, &e->layer[1], WIDE);
	e->last = take_matrix(r, WIDE, WIDE, true);
	return !r->broken && !r->left && e->name[0] &&
	       pieces_are_sound(&e->pieces, size[2], size[1]);
}

int embedder_alloc(struct embedder **out, const uint8_t *bytes, size_t n)
{
	struct reader r = {.p = bytes, .left = n};
	struct embedder *e = calloc(1, sizeof *e);

	if (!e)
		return ENOMEM;
	if (!read_file(e, &r)) {
		free(e);
		return EBADMSG;
	}
	*out = e;
	return 0;
}

struct embedder *embedder_free(struct embedder *e)
{
	/* The scratch holds the last text. */
	if (e)
		explicit_bzero(e, sizeof *e);
	free(e);
	return NULL;
}

const char *embedder_name(const struct embedder *e)
{
	return e->name;
}

/* ---- layers ---- */

/* Each position with 12 bits and a scale of its own. */
static void quantise(struct embedder *e, const float *in, size_t positions, size_t width)
{
	for (size_t p = 0; p < positions; p++) {
		const float *x = in + p * width;
		float top = 0;

		for (size_t i = 0; i < width; i++)
			top = fabsf(x[i]) > top ? fabsf(x[i]) : top;
		/* A file with odd weights can make numbers that no integer holds. */
		if (!(top < 1e30f))
			top = 0;
		e->q_scale[p] = top / KERNEL_WIDE_MAX;
		for (size_t i = 0; i < width; i++)
			e->q[p * width + i] =
				top > 1e-30f ? (int16_t)lrintf(x[i] * (KERNEL_WIDE_MAX / top)) : 0;
	}
}

static void multiply(struct embedder *e, const struct matrix *m, const float *in, size_t positions,
		     float *out)
{
	int32_t dot[PIECES_MAX];

	quantise(e, in, positions, m->columns);
	for (size_t r = 0; r < m->rows; r++) {
		kernel_dots_wide(dot, m->weight + r * m->columns, e->q, m->columns, positions);
		for (size_t p = 0; p < positions; p++)
			out[p * m->rows + r] =
				(float)dot[p] * m->scale[r] * e->q_scale[p] + m->bias[r];
	}
}

static void normalise(const float *in, size_t positions, size_t width, const float *scale,
		      const float *bias, float *out)
{
	for (size_t p = 0; p < positions; p++) {
		const float *x = in + p * width;
		float *y = out + p * width, mean = 0, spread = 0, by;

		for (size_t i = 0; i < width; i++)
			mean += x[i];
		mean /= (float)width;
		for (size_t i = 0; i < width; i++)
			spread += (x[i] - mean) * (x[i] - mean);
		by = 1.0f / sqrtf(spread / (float)width + 1e-6f);
		for (size_t i = 0; i < width; i++)
			y[i] = (x[i] - mean) * by * scale[i] + bias[i];
	}
}

/* One position's mix of the values, by one head. */
static void attend(const float *qkv, size_t positions, size_t width, size_t p, size_t head,
		   float *out)
{
	size_t size = width / HEADS, at = head * size;
	const float *query = qkv + p * 3 * width + at;
	float weight[PIECES_MAX], top = -INFINITY, sum = 0;

	for (size_t k = 0; k < positions; k++) {
		const float *key = qkv + k * 3 * width + width + at;

		weight[k] = 0;
		for (size_t i = 0; i < size; i++)
			weight[k] += query[i] * key[i];
		weight[k] /= sqrtf((float)size);
		top = fmaxf(top, weight[k]);
	}
	for (size_t k = 0; k < positions; k++)
		sum += weight[k] = expf(weight[k] - top);
	memset(out + at, 0, size * sizeof *out);
	for (size_t k = 0; k < positions; k++) {
		const float *value = qkv + k * 3 * width + 2 * width + at;

		for (size_t i = 0; i < size; i++)
			out[at + i] += weight[k] / sum * value[i];
	}
}

/* e->x, layer->width wide, becomes the layer's output, WIDE wide. */
static void run_layer(struct embedder *e, const struct layer *l, size_t positions)
{
	normalise(e->x, positions, l->width, l->attend_scale, l->attend_bias, e->normal);
	multiply(e, &l->qkv, e->normal, positions, e->wide);
	for (size_t p = 0; p < positions; p++)
		for (size_t h = 0; h < HEADS; h++)
			attend(e->wide, positions, l->width, p, h, e->mixed + p * l->width);
	if (l->straight.rows) {
		multiply(e, &l->straight, e->x, positions, e->y);
		memcpy(e->x, e->y, positions * WIDE * sizeof *e->x);
	}
	multiply(e, &l->attended, e->mixed, positions, e->y);
	for (size_t i = 0; i < positions * WIDE; i++)
		e->x[i] += e->y[i];
	normalise(e->x, positions, WIDE, l->inner_scale, l->inner_bias, e->normal);
	multiply(e, &l->inner, e->normal, positions, e->wide);
	for (size_t i = 0; i < positions * INNER; i++)
		e->wide[i] = e->wide[i] > 0 ? e->wide[i] : 0;
	multiply(e, &l->outer, e->wide, positions, e->y);
	for (size_t i = 0; i < positions * WIDE; i++)
		e->x[i] += e->y[i];
}

/* The encoder adds the piece to itself and to the signal of its position. */
static void place_pieces(struct embedder *e, size_t positions)
{
	for (size_t p = 0; p < positions; p++) {
		const int8_t *piece = e->table.weight + e->ids[p] * (size_t)NARROW;
		const int8_t *upper = piece + NARROW / 2;
		float twice = 2 * e->table.scale[e->ids[p]], *x = e->x + p * NARROW;
		float *y = x + NARROW / 2;

		for (size_t i = 0; i < NARROW / 2; i++) {
			float angle = (float)p * e->frequency[i];

			x[i] = twice * (float)piece[i] + sinf(angle);
			y[i] = twice * (float)upper[i] + cosf(angle);
		}
	}
}

int embedder_run(struct embedder *e, const char *text, size_t n, float out[EMBEDDER_DIM])
{
	size_t positions = pieces_split(&e->pieces, &e->lattice, text, n, e->ids);
	float sum = 0;

	if (!positions)
		return ENODATA;
	place_pieces(e, positions);
	for (size_t i = 0; i < 2; i++)
		run_layer(e, &e->layer[i], positions);
	for (size_t i = 0; i < WIDE; i++) {
		float mean = 0;

		for (size_t p = 0; p < positions; p++)
			mean += e->x[p * WIDE + i];
		e->normal[i] = mean / (float)positions;
	}
	multiply(e, &e->last, e->normal, 1, e->y);
	for (size_t i = 0; i < WIDE; i++) {
		e->y[i] = tanhf(e->y[i]);
		sum += e->y[i] * e->y[i];
	}
	if (!(sum > 1e-12f))
		return ENODATA;
	for (size_t i = 0; i < WIDE; i++)
		out[i] = e->y[i] / sqrtf(sum);
	return 0;
}
