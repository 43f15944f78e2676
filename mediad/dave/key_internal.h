/* The inside of a key, for those who seal and open with it. A cipher context is scratch space while
 * in use, so a key is used by one thread at a time. */
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
	struct aead *cipher[DAVE_KEY_GENERATIONS];
	/* What came in this epoch already. It lives here, so that a sender costs memory by the
	 * epochs that it has. */
	struct dave_window window;
};

/* Of one ratchet, in whatever generations. */
bool dave_key_same(const struct dave_key *a, const struct dave_key *b);
/* NULL: the generation is neither of the two. */
struct aead *dave_key_cipher(struct dave_key *k, uint32_t generation);

#endif
