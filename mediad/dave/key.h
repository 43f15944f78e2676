/* Media keys of one sender in one epoch (DAVE protocol 1.1, "Sender Key Derivation" and
 * "Ratcheting").
 *
 * A base secret comes from the group's exporter, and a hash ratchet derives one AES-128 key per
 * generation from it. The audio thread gets a struct dave_key: keyed ciphers of two consecutive
 * generations. The loop thread makes it (which allocates and derives), lends it, and gets it back
 * to be wiped; its use allocates nothing. */
#ifndef MEDIAD_DAVE_KEY_H
#define MEDIAD_DAVE_KEY_H

#include "proto/base/cursor.h"

enum { DAVE_SECRET = 16, DAVE_KEY_GENERATIONS = 2, DAVE_GENERATIONS_MAX = 255 };

struct dave_key;

/* epoch: any number that tells one group state from another, never 0. generation: the first of the
 * two. Returns EINVAL or ENOMEM. The caller owns *out. */
int dave_key_alloc(struct dave_key **out, const uint8_t base[DAVE_SECRET], uint64_t epoch,
		   uint32_t generation);
struct dave_key *dave_key_free(struct dave_key *k);
/* The nonce (generation << 24 | counter) above all that this key opened; 0: it opened none. A key
 * that is made again must not open their frames a second time. */
uint64_t dave_key_next_nonce(const struct dave_key *k);
/* Makes a new key refuse every nonce below `next`. */
void dave_key_start_at(struct dave_key *k, uint64_t next);
/* An opener accepts the key until then, in ns, and no longer. UINT64_MAX: as long as it is its
 * newest, as without a call. */
void dave_key_end_at(struct dave_key *k, uint64_t until);
uint64_t dave_key_epoch(const struct dave_key *k);
uint32_t dave_key_generation(const struct dave_key *k);

/* The AES key of one generation, for tests and tools. */
int dave_key_bytes(uint8_t out[16], const uint8_t base[DAVE_SECRET], uint32_t generation);

#endif
