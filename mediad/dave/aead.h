/* AES-128-GCM over an interleaved frame: clear ranges are the additional data, what lies between
 * them is the text, each in one piece as far as the cipher is concerned. The tag is cut to 8 bytes.
 */
#ifndef MEDIAD_DAVE_AEAD_H
#define MEDIAD_DAVE_AEAD_H

#include "mediad/dave/frame.h"

enum { AEAD_KEY = 16 };

/* A keyed cipher, of one thread at a time: libcrypto's (docs/decisions/0014 says why). */
struct aead;
/* ENOMEM. Caller owns *out. */
int aead_alloc(struct aead **out, const uint8_t key[AEAD_KEY]);
/* Wipes. */
struct aead *aead_free(struct aead *a);

struct aead_frame {
	const struct dave_range *range;
	uint32_t n_ranges;
	size_t n; /* of the frame */
};
/* Bytes in clear ranges. */
size_t aead_clear(const struct aead_frame *f);

/* Seals the frame in p where it is, and writes the tag. scratch: aead_clear() bytes. False: the
 * cipher failed. */
bool aead_seal(struct aead *a, uint32_t counter, const struct aead_frame *f, uint8_t *p,
	       uint8_t *scratch, uint8_t tag[DAVE_TAG]);
/* Opens the frame in p to out (as many bytes). False: not authentic; out is scratch then. */
bool aead_open(struct aead *a, uint32_t counter, const struct aead_frame *f, const uint8_t *p,
	       const uint8_t tag[DAVE_TAG], uint8_t *out);

/* A frame without clear ranges. seal: from `in` to `out`, which may be the same. */
bool aead_seal_whole(struct aead *a, uint32_t counter, const uint8_t *in, size_t n, uint8_t *out,
		     uint8_t tag[DAVE_TAG]);
bool aead_open_whole(struct aead *a, uint32_t counter, const uint8_t *in, size_t n,
		     const uint8_t tag[DAVE_TAG], uint8_t *out);

#endif
