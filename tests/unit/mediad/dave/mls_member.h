/* A member of a DAVE group under test: jobs run at once, beside a voice gateway that signs what it
 * likes (gateway_fixture.h). */
#ifndef TESTS_UNIT_MEDIAD_DAVE_MLS_MEMBER_H
#define TESTS_UNIT_MEDIAD_DAVE_MLS_MEMBER_H

#include "tests/unit/mediad/dave/gateway_fixture.h"

#include "mediad/dave/mls_state_internal.h"
#include "tests/test.h"
#include "tests/unit/mediad/mls/commit_fixture.h"

enum { CHANNEL = GATEWAY_FIXTURE_CHANNEL, ANN = 10, BOB = 20, CEE = 30, DAN = 40 };

static const uint64_t everybody[] = {ANN, BOB, CEE, DAN};

struct mls_member {
	struct dave_mls_state *k;
	struct dave_job *last;	/* the job that ran last */
	struct mls_out package; /* of op 26 */
	const uint64_t *told;
	size_t n_told;
};

/* False: the job could not be made. */
bool mls_member_run(struct mls_member *r, enum dave_job_type type, struct slice in);
bool mls_member_came_to(struct mls_member *r, enum dave_job_type type, struct slice in,
			enum dave_verdict verdict);
struct slice mls_member_out_of(const struct mls_member *r);
bool mls_member_reset(struct mls_member *r, enum dave_job_type type);
bool mls_member_arrive(struct mls_member *r, const struct gateway_fixture *g, uint64_t user);
void mls_member_go(struct mls_member *r);
/* Op 27 that appends what is in o, which is freed. */
bool mls_member_proposed(struct mls_member *r, struct mls_out *o, enum dave_verdict verdict);
/* The first of both adds the second: epoch 1. */
bool mls_member_pair(struct gateway_fixture *g, struct mls_member *a, struct mls_member *b);
void mls_member_part(struct gateway_fixture *g, struct mls_member *a, struct mls_member *b);
bool mls_member_agree(const struct mls_member *a, const struct mls_member *b);

#endif
