#include "tests/unit/control/memory/embed/embedder_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/memory/embed/embedder.h"

enum { PIECES = 5, ROWS = 8, TEXT = 8, HEAD = 64, IDS_AT = HEAD + PIECES * 8 + (PIECES + 1) * 4 };

struct writer {
	uint8_t *p;
	uint32_t seed;
};

static void put(struct writer *w, const void *data, size_t n)
{
	memcpy(w->p, data, n);
	w->p += n;
}

static void put_floats(struct writer *w, size_t n, float v)
{
	for (size_t i = 0; i < n; i++)
		put(w, &v, sizeof v);
}

static void put_matrix(struct writer *w, size_t rows, size_t columns, size_t bias)
{
	put_floats(w, rows, 0.001f);
	for (size_t i = 0; i < rows * columns; i++) {
		w->seed = w->seed * 1664525u + 1013904223u;
		*w->p++ = (uint8_t)(w->seed >> 24);
	}
	put_floats(w, bias, 0.01f);
}

static void put_layer(struct writer *w, size_t width)
{
	put_floats(w, width, 1);
	put_floats(w, width, 0);
	put_matrix(w, 3 * width, width, 3 * width);
	put_matrix(w, 512, width, 512);
	if (width != 512)
		put_matrix(w, 512, width, 512);
	put_floats(w, 512, 1);
	put_floats(w, 512, 0);
	put_matrix(w, 1536, 512, 1536);
	put_matrix(w, 512, 1536, 512);
}

uint8_t *embedder_file_make(size_t *n)
{
	static const char texts[TEXT + 1] = "aabbc\xe2\x96\x81";
	const double score[PIECES] = {-1, -1.5, -2, -3, -2};
	const uint32_t offset[PIECES + 1] = {0, 1, 3, 4, 5, 8}, id[PIECES] = {1, 2, 3, 4, 5};
	const uint32_t form = 1, size[3] = {PIECES, ROWS, TEXT};
	uint8_t *bytes = calloc(1, EMBEDDER_FILE_MAX);
	struct writer w = {.p = bytes, .seed = 7};

	if (!bytes)
		return NULL;
	put(&w, "PARLEYEM", 8);
	put(&w, &form, sizeof form);
	put(&w, size, sizeof size);
	memcpy(w.p, "small-1", 7);
	w.p = bytes + HEAD;
	put(&w, score, sizeof score);
	put(&w, offset, sizeof offset);
	put(&w, id, sizeof id);
	put(&w, texts, TEXT);
	put_matrix(&w, ROWS, 256, 0);
	put_floats(&w, 128, 0.3f);
	put_layer(&w, 256);
	put_layer(&w, 512);
	put_matrix(&w, 512, 512, 512);
	*n = (size_t)(w.p - bytes);
	return bytes;
}

bool embedder_file_write(const char *path)
{
	size_t n = 0;
	uint8_t *bytes = embedder_file_make(&n);
	FILE *f = fopen(path, "wb");
	bool ok = bytes && f && fwrite(bytes, 1, n, f) == n;

	if (f)
		fclose(f);
	free(bytes);
	return ok;
}

void embedder_file_id(uint8_t *bytes, size_t piece, uint32_t id)
{
	memcpy(bytes + IDS_AT + piece * sizeof id, &id, sizeof id);
}

uint8_t *embedder_file_read(const char *path, size_t *n)
{
	uint8_t *bytes = malloc(EMBEDDER_FILE_MAX);
	FILE *f = fopen(path, "rb");

	*n = bytes && f ? fread(bytes, 1, EMBEDDER_FILE_MAX, f) : 0;
	if (f)
		fclose(f);
	if (!*n) {
		free(bytes);
		return NULL;
	}
	return bytes;
}
