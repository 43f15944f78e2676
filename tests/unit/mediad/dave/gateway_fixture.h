/* The voice gateway's part of a DAVE group for tests: an external sender that signs what it is
 * told. */
#ifndef TESTS_UNIT_MEDIAD_DAVE_GATEWAY_FIXTURE_H
#define TESTS_UNIT_MEDIAD_DAVE_GATEWAY_FIXTURE_H

#include "mediad/mls/message.h"

enum { GATEWAY_FIXTURE_CHANNEL = 4242 };

struct gateway_fixture {
	struct p256_pair key;
	struct mls_rng rng;
	struct mls_out package; /* op 25 */
};

/* The same keys each time. */
void gateway_fixture_init(struct gateway_fixture *g);
void gateway_fixture_free(struct gateway_fixture *g);
/* Another key. */
void gateway_fixture_new_key(struct gateway_fixture *g);

/* Zero: as it should be. */
struct gateway_fixture_framing {
	uint64_t channel, epoch;
	enum mls_sender_type sender;
	uint32_t index;
};
/* Appends a proposal message with this body. */
void gateway_fixture_sign(struct gateway_fixture *g, struct mls_out *o,
			  const struct gateway_fixture_framing *how, struct slice body);
void gateway_fixture_add(struct gateway_fixture *g, struct mls_out *o, uint64_t epoch,
			 struct slice package);
void gateway_fixture_remove(struct gateway_fixture *g, struct mls_out *o, uint64_t epoch,
			    uint32_t leaf);
/* What op 28 holds, apart. Empty: it cannot be read. */
struct slice gateway_fixture_split_op28(struct slice op28, struct slice *welcome);

#endif
