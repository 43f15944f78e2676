/* A gateway fixture: the voice gateway's part of a DAVE group, an external sender that signs any
 * proposal. */
#ifndef TESTS_UNIT_MEDIAD_DAVE_GATEWAY_FIXTURE_H
#define TESTS_UNIT_MEDIAD_DAVE_GATEWAY_FIXTURE_H

#include "mediad/mls/message.h"

enum { GATEWAY_FIXTURE_CHANNEL = 4242 };

struct gateway_fixture {
	struct p256_pair key;
	struct mls_rng rng;
	struct mls_out package; /* op 25 */
};

/* Makes the same keys each time. */
void gateway_fixture_init(struct gateway_fixture *g);
void gateway_fixture_free(struct gateway_fixture *g);
/* Changes to another key. */
void gateway_fixture_new_key(struct gateway_fixture *g);

/* Framing of a proposal; zero fields are valid values. */
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
/* Splits op 28 into commit and welcome. Empty when it cannot be read. */
struct slice gateway_fixture_split_op28(struct slice op28, struct slice *welcome);

#endif
