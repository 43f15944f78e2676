/* AES-128-GCM over an interleaved frame: the clear ranges together are the additional data, the
 * bytes between them together are the plaintext. The tag is truncated to 8 bytes. */
#ifndef MEDIAD_DAVE_AEAD_H
#define MEDIAD_DAVE_AEAD_H

#include "mediad/dave/frame.h"

enum { AEAD_KEY = 16 };

/* A keyed cipher of libcrypto (docs/decisions/0014 says why), used by one thread at a time. */
struct aead;
/* Returns ENOMEM. The caller owns *out. */
int aead_alloc(struct aead **out, const uint8_t key[AEAD_KEY]);
/* Wipes. */
struct aead *aead_free(struct aead *a);

struct aead_frame {
	const struct dave_range *range;
	uint32_t n_ranges;
	size_t n; /* size of the frame */
};
/* The number of bytes in clear ranges. */
size_t aead_clear(const struct aead_frame *f);

/* Encrypts the frame in p in place and writes the tag. scratch: aead_clear() bytes. Returns false
 * when the cipher failed. */
bool aead_seal(struct aead *a, uint32_t counter, const struct aead_frame *f, uint8_t *p,
	       uint8_t *scratch, uint8_t tag[DAVE_TAG]);
/* Decrypts the frame in p to out (of equal size). Returns false when it is not authentic; out is
 * undefined then. */
bool aead_open(struct aead *a, uint32_t counter, const struct aead_frame *f, const uint8_t *p,
	       const uint8_t tag[DAVE_TAG], uint8_t *out);

/* The same for a frame without clear ranges. `in` and `out` may be the same when encrypting. */
bool aead_seal_whole(struct aead *a, uint32_t counter, const uint8_t *in, size_t n, uint8_t *out,
		     uint8_t tag[DAVE_TAG]);
bool aead_open_whole(struct aead *a, uint32_t counter, const uint8_t *in, size_t n,
		     const uint8_t tag[DAVE_TAG], uint8_t *out);

#endif
