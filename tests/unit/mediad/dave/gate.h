/* The voice gateway's part of a DAVE group for tests: an external sender that signs what it is
 * told. */
#ifndef TESTS_UNIT_MEDIAD_DAVE_GATE_H
#define TESTS_UNIT_MEDIAD_DAVE_GATE_H

#include "mediad/mls/message.h"

enum { GATE_CHANNEL = 4242 };

struct gate {
	struct p256_pair key;
	struct mls_rng rng;
	struct mls_out package; /* op 25 */
};

/* The same keys each time. */
void gate_open(struct gate *g);
void gate_close(struct gate *g);
/* Another key. */
void gate_key(struct gate *g);

/* Zero: as it should be. */
struct gate_says {
	uint64_t channel, epoch;
	enum mls_sender_type sender;
	uint32_t index;
};
/* Appends a proposal message with this body. */
void gate_sign(struct gate *g, struct mls_out *o, const struct gate_says *how, struct slice body);
void gate_add(struct gate *g, struct mls_out *o, uint64_t epoch, struct slice package);
void gate_remove(struct gate *g, struct mls_out *o, uint64_t epoch, uint32_t leaf);
/* What op 28 holds, apart. Empty: it cannot be read. */
struct slice gate_commit(struct slice op28, struct slice *welcome);

#endif
