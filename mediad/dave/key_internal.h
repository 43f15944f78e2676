/* The contents of a key, for the sealer and the opener. A cipher holds scratch space while in use,
 * so a key is used by one thread at a time. */
#ifndef MEDIAD_DAVE_KEY_INTERNAL_H
#define MEDIAD_DAVE_KEY_INTERNAL_H

#include "mediad/dave/aead.h"
#include "mediad/dave/key.h"
#include "mediad/dave/window.h"

enum { DAVE_KEY_ID = 8 };

struct dave_key {
	uint64_t epoch;
	uint32_t generation;	 /* of cipher[0] */
	uint8_t id[DAVE_KEY_ID]; /* of the ratchet: a hash of its base secret */
	uint64_t until;		 /* dave_key_end_at; 0: it was not called */
	struct aead *cipher[DAVE_KEY_GENERATIONS];
	/* The nonces received in this epoch. They are kept here, so that a sender costs memory in
	 * proportion to its epochs. */
	struct dave_window window;
};

/* True if both are of one ratchet, in any generations. */
bool dave_key_same(const struct dave_key *a, const struct dave_key *b);
/* Returns NULL when the generation is neither of the two. */
struct aead *dave_key_cipher(struct dave_key *k, uint32_t generation);

#endif
