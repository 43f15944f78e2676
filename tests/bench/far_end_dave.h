/* The DAVE group of one call at the far end: its speakers, made here, and the client that joins.
 *
 * The far end creates the group as its first speaker, adds all others and the client in one commit,
 * and keeps the state of the first speaker, from which every speaker's key is derived. The group
 * never changes afterwards; a client that identifies again gets a new group. */
#ifndef TESTS_BENCH_FAR_END_DAVE_H
#define TESTS_BENCH_FAR_END_DAVE_H

#include "proto/base/cursor.h"

struct far_end_group;

struct far_end_group_conf {
	uint64_t group;	     /* the channel */
	uint64_t first_user; /* speakers are this user and the following ones */
	unsigned speakers;
};

/* The payload of op 25, the same for all calls; borrowed. */
struct slice far_end_sender(void);
/* Makes a group with the client of this key package (the payload of op 26) in it. *welcome: the
 * payload of op 30 after the transition id; the caller frees its bytes. Ends the bench when the key
 * package is not acceptable. */
void far_end_group_alloc(struct far_end_group **out, const struct far_end_group_conf *conf,
			 struct slice key_package, struct slice *welcome);
struct far_end_group *far_end_group_free(struct far_end_group *g);

/* Encrypts an Opus frame of a speaker into out and returns its size. */
size_t far_end_group_seal(struct far_end_group *g, unsigned speaker, const uint8_t *frame, size_t n,
			  uint8_t *out, size_t cap);
/* The AES-128 key that a member encrypts with, a speaker or the client. */
void far_end_group_key(const struct far_end_group *g, uint64_t user, uint8_t key[16]);

#endif
