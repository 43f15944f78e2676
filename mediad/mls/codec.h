/* MLS presentation language (RFC 9420 section 2): variable-size vectors on the cursors of proto,
 * and a growing writer.
 *
 * `V` below is opaque<V>: a length of 1, 2 or 4 bytes (malformed unless in the shortest form),
 * followed by as many bytes. */
#ifndef MEDIAD_MLS_CODEC_H
#define MEDIAD_MLS_CODEC_H

#include "mediad/mls/mls.h"

/* Sticky errors as in cursor.h. */
uint32_t mls_rd_varint(struct rd *r);
/* Reads one V; the slice points into r's buffer. Empty after an error. */
struct slice mls_rd_vec(struct rd *r);
/* Returns a cursor over the body of one V. */
struct rd mls_rd_sub(struct rd *r);
/* optional<T>: reads the presence byte; false when absent; a value other than 0 and 1 is an error.
 */
bool mls_rd_optional(struct rd *r);

/* The size of a varint; 0 when n is too large (above 2^30 - 1). */
size_t mls_varint_size(size_t n);
/* Writes a varint and returns its size; returns 0 as above and writes nothing. */
size_t mls_varint_put(uint8_t out[4], size_t n);

/* A growing buffer with a sticky error: ENOMEM, or EOVERFLOW past MLS_BYTES_MAX. Zero-initialise.
 * Its contents may be secret, so growing and freeing wipe them. */
struct mls_out {
	uint8_t *p;
	size_t n, cap;
	int err;
};
void mls_out_be(struct mls_out *o, uint64_t v, unsigned bytes);
void mls_out_bytes(struct mls_out *o, const void *p, size_t n);
void mls_out_slice(struct mls_out *o, struct slice s);
void mls_out_varint(struct mls_out *o, size_t n);
void mls_out_vec(struct mls_out *o, struct slice s);
/* A V whose length is known only after its body: mls_out_close inserts the length at `at`. */
size_t mls_out_open(struct mls_out *o);
void mls_out_close(struct mls_out *o, size_t at);
/* The bytes written so far; empty after an error. */
struct slice mls_out_view(const struct mls_out *o);
/* Wipes and frees; the writer may be used again. */
void mls_out_free(struct mls_out *o);

#endif
