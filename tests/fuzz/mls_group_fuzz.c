/* Proposals and commits against a group of four: as they come, and signed by those who may. What
 * one member commits, every other one follows to the same epoch.
 *
 * Input: steps of one byte of choice, two bytes of length, and so many bytes. 0: a proposal
 * message; 1: the body of one of the external sender; 2: of one of guest 1; 3: a commit message for
 * guest 0; 4: the body of a commit of guest 1. */
#include <errno.h>
#include <stdlib.h>

#include "tests/unit/mediad/mls/mls_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INSIDE = 4, STEPS = 16 };

static struct mls_fixture fixture;
static const uint8_t tag[MLS_HASH];

static void must(bool fine)
{
	if (!fine)
		abort();
}

/* Guest 4 stands outside with a key package. */
static void begin(void)
{
	must(!mls_fixture_init(&fixture, "group") && !mls_fixture_create_group(&fixture, 0));
	for (unsigned i = 1; i <= INSIDE; i++) {
		must(!mls_fixture_make_keys(&fixture, i));
		if (i < INSIDE)
			must(!mls_fixture_propose_add(&fixture, 0, i) &&
			     !mls_fixture_commit(&fixture, i - 1));
	}
}

struct refs {
	uint8_t ref[STEPS][MLS_HASH];
	unsigned n;
};

static void tell(struct slice message, struct refs *refs)
{
	uint8_t *ref = refs->ref[refs->n];
	bool known = false;

	for (unsigned i = 0; i < INSIDE; i++) {
		struct mls_group *g = fixture.members[i].group;
		unsigned before = mls_group_proposals(g);

		if (mls_group_propose(g, message, ref) == 0)
			known = known || mls_group_proposals(g) != before;
		else
			must(mls_group_proposals(g) == before);
	}
	refs->n += known;
}

static void say(const struct mls_group *g, struct mls_out *o, struct slice body)
{
	struct mls_out content = {0};

	mls_content_write(&content, mls_group_id(g), mls_group_epoch(g), MLS_SENDER_EXTERNAL, 0,
			  MLS_CONTENT_PROPOSAL);
	mls_out_slice(&content, body);
	if (!content.err)
		(void)mls_fixture_sign(&fixture, o, mls_out_view(&content));
	mls_out_free(&content);
}

static void commit(struct slice message)
{
	struct mls_group *next;
	bool removed;

	if (mls_group_process(&next, fixture.members[0].group, message, &removed) == 0)
		mls_group_free(next);
}

static void step(uint8_t how, struct slice in, struct refs *refs)
{
	struct mls_out o = {0};

	switch (how % 5) {
	case 0:
		tell(in, refs);
		break;
	case 1:
		say(fixture.members[0].group, &o, in);
		tell(mls_out_view(&o), refs);
		break;
	case 2:
		(void)mls_fixture_member_message(&fixture, &o, 1, MLS_CONTENT_PROPOSAL, in, NULL);
		tell(mls_out_view(&o), refs);
		break;
	case 3:
		commit(in);
		break;
	default:
		(void)mls_fixture_member_message(&fixture, &o, 1, MLS_CONTENT_COMMIT, in, tag);
		commit(mls_out_view(&o));
		break;
	}
	mls_out_free(&o);
}

static void follow(const struct mls_group *g, const struct mls_commit *c, bool same_proposals,
		   bool gone)
{
	struct mls_group *next = NULL;
	bool removed;
	int err = mls_group_process(&next, g, mls_out_view(&c->message), &removed);

	/* an Update of its own is the one thing that a member does not take */
	if (!same_proposals)
		must(err == ENOENT);
	else if (gone)
		must(err == ENOENT && removed);
	else
		must(err == 0 && memcmp(mls_group_secrets(next)->authenticator,
					mls_group_secrets(c->next)->authenticator, MLS_HASH) == 0);
	mls_group_free(next);
}

static void end(const struct refs *refs)
{
	struct mls_fixture_member *out = &fixture.members[INSIDE];
	const struct mls_group *first = fixture.members[0].group;
	struct mls_commit c;
	struct mls_group *joined;
	int err = mls_group_commit(&c, first, &fixture.rng);

	must(err == 0 || err == EBADMSG || err == ENOENT);
	if (!err) {
		for (unsigned i = 1; i < INSIDE; i++)
			follow(fixture.members[i].group, &c,
			       mls_group_proposals(fixture.members[i].group) ==
				       mls_group_proposals(first),
			       mls_group_removes(first, mls_group_leaf(fixture.members[i].group)));
		if (c.welcome.n &&
		    mls_group_join(&joined, mls_out_view(&c.welcome), (struct slice){0},
				   out->package, &out->init, &out->me) == 0) {
			must(memcmp(mls_group_secrets(joined)->authenticator,
				    mls_group_secrets(c.next)->authenticator, MLS_HASH) == 0);
			mls_group_free(joined);
		}
		mls_commit_free(&c);
	}
	for (unsigned i = 0; i < INSIDE; i++) {
		for (unsigned k = 0; k < refs->n; k++)
			(void)mls_group_revoke(fixture.members[i].group,
					       mls_slice(refs->ref[k], MLS_HASH));
		must(mls_group_proposals(fixture.members[i].group) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rd r = rd_of(data, size);
	struct refs refs = {.n = 0};

	if (!fixture.members[0].group)
		begin();
	for (unsigned i = 0; i < STEPS && rd_left(&r); i++) {
		uint8_t how = (uint8_t)rd_be(&r, 1);
		size_t n = rd_be(&r, 2);
		const uint8_t *p = rd_bytes(&r, n < rd_left(&r) ? n : rd_left(&r));

		if (p)
			step(how, mls_slice(p, (size_t)(r.p + r.pos - p)), &refs);
	}
	end(&refs);
	return 0;
}
