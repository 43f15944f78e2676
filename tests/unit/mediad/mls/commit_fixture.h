/* Commits of a member whose client was changed: every signature, tag and secret is right, but the
 * commit does what DAVE forbids. */
#ifndef TESTS_UNIT_MEDIAD_MLS_COMMIT_FIXTURE_H
#define TESTS_UNIT_MEDIAD_MLS_COMMIT_FIXTURE_H

#include "mediad/mls/group.h"

struct commit_forgery {
	struct slice list;     /* ProposalOrRef; empty: references of all that was proposed */
	struct slice identity; /* of the committer's new leaf; empty: unchanged */
	const struct p256_pair *signer; /* of the committer's new leaf; NULL: unchanged */
	bool path;			/* although the list needs none */
};
/* Appends the message. `g` is the committer's state and stays what it is. Errors of mls.h. */
int commit_forge(struct mls_out *out, const struct mls_group *g, const struct commit_forgery *f,
		 struct mls_rng *rng);

#endif
