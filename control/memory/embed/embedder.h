/* The embedded sentence encoder: turns an English text into a vector of 512 numbers, so that texts
 * of similar meaning have a high cosine. Pure: the caller maps the file.
 *
 * It runs Universal Sentence Encoder Lite (Cer et al. 2018, arXiv 1803.11175): 8,000 pieces, two
 * transformer layers with four heads, the mean of the positions, and one tanh layer. The weights
 * are int8 with a scale for each row; tests/embedder/convert.mjs writes their file. */
#ifndef CONTROL_MEMORY_EMBED_EMBEDDER_H
#define CONTROL_MEMORY_EMBED_EMBEDDER_H

#include <stddef.h>
#include <stdint.h>

enum { EMBEDDER_DIM = 512, EMBEDDER_FILE_MAX = 16 << 20 };

struct embedder;

/* bytes: the file, aligned to 8; borrowed until embedder_free. EBADMSG: it is no such file, or only
 * a part of one. ENOMEM. The caller owns *out. */
int embedder_alloc(struct embedder **out, const uint8_t *bytes, size_t n);
/* NULL accepted. */
struct embedder *embedder_free(struct embedder *e);
/* Name and version of the weights: vectors of two names are never compared. Borrowed. */
const char *embedder_name(const struct embedder *e);
/* Writes the text's vector, of length 1. ENODATA: the text holds no words; out is untouched. For
 * one thread at a time. text need not be terminated. */
int embedder_run(struct embedder *e, const char *text, size_t n, float out[EMBEDDER_DIM]);

#endif
