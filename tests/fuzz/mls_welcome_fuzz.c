/* Joining by a Welcome: as it comes, and with good seals around any secrets, group info or tree, so
 * that what happens after authentication is reached too.
 *
 * Input: one byte of choices, then bytes. 0: the Welcome; 1: GroupSecrets; 2: GroupInfo; 3: the
 * ratchet tree, in a group info that is right for it; 4: group context extensions, the same. The
 * group is always the same one. */
#include <stdlib.h>

#include "tests/unit/mediad/mls/mls_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct mls_fixture fixture;

static void must(bool fine)
{
	if (!fine)
		abort();
}

/* Guests 0 to 2 are inside, guest 3 is the newcomer, whose leaf the tree has already: `state` is
 * guest 0's. */
static const struct mls_group *begin(void)
{
	static struct mls_commit c;

	must(!mls_fixture_init(&fixture, "welcome") && !mls_fixture_create_group(&fixture, 0));
	for (unsigned i = 1; i < 4; i++) {
		must(!mls_fixture_make_keys(&fixture, i) &&
		     !mls_fixture_propose_add(&fixture, 0, i));
		if (i < 3)
			must(!mls_fixture_commit(&fixture, i - 1));
	}
	must(!mls_group_commit(&c, fixture.members[0].group, &fixture.rng));
	return c.next;
}

static void join(const struct mls_group *state, uint8_t how, struct slice in)
{
	const struct mls_fixture_member *g = &fixture.members[3];
	struct forgery f = {.state = state, .to = 3};
	struct mls_out welcome = {0};
	struct mls_group *joined;
	int err = 0;

	switch (how) {
	case 0:
		break;
	case 1:
		f.secrets = in;
		break;
	case 2:
		f.info = in;
		break;
	case 3:
		f.tree = in;
		break;
	default:
		f.extensions = in;
		f.extended = true;
		break;
	}
	if (how == 0)
		mls_out_slice(&welcome, in);
	else
		err = mls_fixture_forge(&fixture, &welcome, &f);
	if (!err && mls_group_join(&joined, mls_out_view(&welcome), (struct slice){0}, g->package,
				   &g->init, &g->me) == 0) {
		must(mls_tree_leaf(mls_group_tree(joined), mls_group_leaf(joined)) != NULL);
		must(mls_equal(mls_tree_key(mls_group_tree(joined), 2 * mls_group_leaf(joined)),
			       mls_slice(g->me.encryption.pub, MLS_POINT)));
		mls_group_free(joined);
	}
	mls_out_free(&welcome);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct mls_group *state;

	if (!state)
		state = begin();
	if (size)
		join(state, data[0] % 5, mls_slice(data + 1, size - 1));
	return 0;
}
