/* The delivery service of one channel against scripted members. */
#include "tests/unit/guildd/dave_world.h"

#include "proto/base/time.h"

/* A, B and C in a group at epoch 2 on leaves 0, 1, 2. */
static struct world *three(void)
{
	struct world *w = dave_world_begin();

	if (!w)
		return NULL;
	dave_world_enter(w, A);
	dave_world_enter(w, B);
	dave_world_commit(w, A, (struct with){0});
	dave_world_enter(w, C);
	dave_world_commit(w, B, (struct with){.leaf = 1, .epoch = 1});
	for (uint64_t u = A; u <= C; u++)
		gd_group_ready(w->g, u, 1, w->now);
	return w;
}

TEST(guildd_dave_first_two)
{
	struct world *w = dave_world_begin();
	const struct sent *s = NULL;

	CHECK(w != NULL);
	CHECK_INT(gd_group_version(w->g, 1), 1);
	CHECK_INT(gd_group_version(w->g, 0), 0);
	dave_world_enter(w, A);
	CHECK_INT(w->n_sent, 1); /* op 25, and nothing else while it is alone */
	CHECK_INT(w->sent[0].op, 25);
	dave_world_enter(w, B);
	CHECK_INT(dave_world_count(w, 0, A, 27, &s), 1);
	CHECK(s->add == 1 && s->epoch == 0);
	CHECK_INT(dave_world_count(w, 0, B, 27, &s), 1);
	CHECK_MEM(dave_world_of(w, A)->adds[0], GD_MLS_REF, dave_world_of(w, B)->kp_ref,
		  GD_MLS_REF);
	CHECK_MEM(dave_world_of(w, B)->adds[0], GD_MLS_REF, dave_world_of(w, A)->kp_ref,
		  GD_MLS_REF);
	CHECK_INT(dave_world_commit(w, B, (struct with){0}), 0);
	CHECK_INT(dave_world_count(w, 0, B, 29, &s), 1);
	CHECK_INT(s->id, 0);
	CHECK_INT(dave_world_count(w, 0, A, 29, NULL), 0);
	CHECK_INT(dave_world_count(w, 0, A, 30, &s), 1);
	CHECK(s->id == 0 && s->secrets == 1);
	CHECK_MEM(s->refs[0], GD_MLS_REF, dave_world_of(w, A)->kp_ref, GD_MLS_REF);
	CHECK_STR(dave_world_leaves(w), "BA");
	CHECK_INT(dave_world_number(w, "epoch"), 1);
	dave_world_commit(w, A, (struct with){0}); /* the other was slower */
	CHECK_INT(w->late, 1);
	CHECK_INT(dave_world_count(w, 0, A, 22, NULL) + dave_world_count(w, 0, B, 22, NULL), 0);
	CHECK_INT(gd_group_due(w->g) == UINT64_MAX, 1);
	dave_world_end(w);
}

TEST(guildd_dave_first_commit_may_have_an_id)
{
	struct world *w = dave_world_begin();
	const struct sent *s = NULL;

	CHECK(w != NULL);
	w->sw.dave_first_id = 1;
	dave_world_enter(w, A);
	dave_world_enter(w, B);
	dave_world_commit(w, A, (struct with){0});
	CHECK_INT(dave_world_count(w, 0, B, 30, &s), 1);
	CHECK_INT(s->id, 1);
	gd_group_ready(w->g, A, 1, w->now);
	CHECK_INT(dave_world_count(w, 0, A, 22, NULL), 0);
	gd_group_ready(w->g, B, 1, w->now);
	CHECK_INT(dave_world_count(w, 0, A, 22, NULL) + dave_world_count(w, 0, B, 22, NULL), 2);
	dave_world_end(w);
}

TEST(guildd_dave_third_and_stragglers)
{
	struct world *w = three();
	const struct sent *s = NULL;
	size_t from;

	CHECK(w != NULL);
	CHECK_STR(dave_world_leaves(w), "ABC");
	CHECK_INT(dave_world_number(w, "epoch"), 2);
	CHECK_INT(dave_world_count(w, 0, C, 27, NULL),
		  0); /* who waits for a place commits nothing */
	CHECK_INT(dave_world_count(w, 0, A, 22, &s), 1);
	CHECK_INT(s->id, 1);
	from = w->n_sent;
	dave_world_enter(w, D);
	dave_world_commit(w, C, (struct with){.leaf = 2, .epoch = 2});
	for (uint64_t u = A; u <= C; u++)
		gd_group_ready(w->g, u, 2, w->now);
	gd_group_ready(w->g, A, 2, w->now); /* twice is once */
	CHECK_INT(dave_world_count(w, from, A, 22, NULL), 0);
	CHECK(gd_group_due(w->g) == w->now + 2000ull * NS_PER_MS);
	w->now += 2000ull * NS_PER_MS;
	gd_group_tick(w->g, w->now);
	for (uint64_t u = A; u <= D; u++)
		CHECK_INT(dave_world_count(w, from, u, 22, NULL), 1);
	CHECK_INT(w->straggler, 1);
	gd_group_ready(w->g, D, 2, w->now);
	CHECK_INT(dave_world_count(w, from, D, 22, NULL), 1);
	dave_world_end(w);
}

TEST(guildd_dave_commits_that_do_not_win)
{
	struct world *w = three();

	CHECK(w != NULL);
	dave_world_enter(w, D);
	gd_group_leave(w->g, B, w->now); /* Remove of leaf 1, Add of D */
	dave_world_commit(w, A, (struct with){.epoch = 1});
	dave_world_commit(w, A, (struct with){.epoch = 2, .group = 78});
	dave_world_commit(w, A, (struct with){.epoch = 2, .leaf = 2});
	dave_world_commit(w, A, (struct with){.epoch = 2, .without = 1});
	dave_world_commit(w, A, (struct with){.epoch = 2, .unknown_ref = true});
	dave_world_commit(w, D, (struct with){.epoch = 2});
	CHECK_INT(w->late, 6);
	dave_world_commit(w, A, (struct with){.epoch = 2, .no_welcome = true});
	dave_world_commit(w, A, (struct with){.epoch = 2, .no_path = true});
	dave_world_commit(w, A, (struct with){.epoch = 2, .unknown_secret = true});
	dave_world_commit(w, A, (struct with){.epoch = 2, .other_leaf_signature = true});
	CHECK_INT(w->bad, 4);
	CHECK_INT(dave_world_number(w, "epoch"), 2);
	CHECK_INT(gd_group_commit(w->g, A, (struct slice){(const uint8_t *)"commit", 6}, w->now),
		  EBADMSG);
	dave_world_commit(w, C, (struct with){.epoch = 2, .leaf = 2});
	CHECK_INT(dave_world_number(w, "epoch"), 3);
	CHECK_STR(dave_world_leaves(w), "ADC"); /* the leftmost blank is taken */
	dave_world_end(w);
}

TEST(guildd_dave_verifies_the_first_commit)
{
	struct world *w = dave_world_begin();

	CHECK(w != NULL);
	dave_world_enter(w, A);
	dave_world_enter(w, B);
	dave_world_commit(w, A, (struct with){.other_signature = true});
	CHECK_INT(w->bad, 1);
	CHECK_INT(dave_world_number(w, "epoch"), 0);
	dave_world_commit(w, B, (struct with){0});
	CHECK_INT(w->bad, 1);
	CHECK_INT(dave_world_number(w, "epoch"), 1);
	CHECK_STR(dave_world_leaves(w), "BA");
	dave_world_end(w);
}

TEST(guildd_dave_add_is_revoked)
{
	struct world *w = three();
	const struct sent *s = NULL;
	size_t from;

	CHECK(w != NULL);
	dave_world_enter(w, D);
	from = w->n_sent;
	gd_group_leave(w->g, D, w->now);
	CHECK_INT(dave_world_count(w, from, A, 27, &s), 1);
	CHECK_INT(s->gone, 1);
	CHECK_INT(dave_world_of(w, A)->n_refs, 0);
	CHECK_INT(dave_world_number(w, "proposals"), 0);
	CHECK(gd_group_due(w->g) == UINT64_MAX);
	dave_world_enter(w, D);
	CHECK_INT(dave_world_of(w, B)->n_refs, 1);
	dave_world_commit(w, B, (struct with){.epoch = 2, .leaf = 1});
	CHECK_STR(dave_world_leaves(w), "ABCD");
	dave_world_end(w);
}

/* An op 27 that changes what is proposed holds an Add as long as there is one, or davey's commit
 * has no Welcome. */
TEST(guildd_dave_add_is_repeated)
{
	struct world *w = three();
	const struct sent *s = NULL;
	size_t from;

	CHECK(w != NULL);
	dave_world_enter(w, D);
	from = w->n_sent;
	gd_group_leave(w->g, C, w->now);
	CHECK_INT(dave_world_count(w, from, A, 27, &s), 2);
	CHECK(s->add == 1 && s->removes == 1);
	CHECK_INT(dave_world_of(w, A)->n_refs, 2);
	dave_world_commit(w, A, (struct with){.epoch = 2});
	CHECK_STR(dave_world_leaves(w), "ABD");
	dave_world_end(w);

	w = three();
	CHECK(w != NULL);
	w->sw.dave_renew_adds = 0;
	dave_world_enter(w, D);
	from = w->n_sent;
	gd_group_leave(w->g, C, w->now);
	CHECK_INT(dave_world_count(w, from, A, 27, &s), 1);
	CHECK(s->add == 0 && s->removes == 1);
	dave_world_end(w);
}

TEST(guildd_dave_lost_member_gets_a_new_place)
{
	struct world *w = three();
	const struct sent *s = NULL;
	size_t from;

	CHECK(w != NULL);
	from = w->n_sent;
	CHECK_INT(dave_world_key_package(w, A), 0); /* unasked */
	CHECK_INT(w->unasked, 1);
	CHECK_INT(w->n_sent, from);
	gd_group_invalid(w->g, B, 7, w->now);
	CHECK_INT(w->n_sent, from); /* first its new key package */
	CHECK_INT(dave_world_key_package(w, B), 0);
	CHECK_INT(dave_world_count(w, from, A, 27, &s), 1);
	CHECK(s->removes == 1 && s->add == 1);
	CHECK_INT(dave_world_count(w, from, B, 27, NULL), 0);
	dave_world_commit(w, A, (struct with){.epoch = 2});
	CHECK_INT(dave_world_count(w, from, B, 29, NULL), 0);
	CHECK_INT(dave_world_count(w, from, B, 30, NULL), 1);
	CHECK_STR(dave_world_leaves(w), "ABC");
	dave_world_end(w);
}

/* All lost it: those who wait start over by themselves. */
TEST(guildd_dave_everybody_lost)
{
	struct world *w = three();

	CHECK(w != NULL);
	for (uint64_t u = A; u <= C; u++) {
		gd_group_invalid(w->g, u, 1, w->now);
		dave_world_key_package(w, u);
	}
	CHECK_INT(dave_world_number(w, "epoch"), 0);
	CHECK_INT(dave_world_of(w, A)->n_refs, 2);
	dave_world_commit(w, C, (struct with){0});
	CHECK_INT(dave_world_number(w, "epoch"), 1);
	CHECK_STR(dave_world_leaves(w), "CAB");
	dave_world_end(w);
}

TEST(guildd_dave_alone_again)
{
	struct world *w = three();
	const struct sent *s = NULL;
	size_t from;

	CHECK(w != NULL);
	gd_group_leave(w->g, A, w->now);
	from = w->n_sent;
	gd_group_leave(w->g, C, w->now);
	CHECK_INT(dave_world_count(w, from, B, 24, &s), 1);
	CHECK(s->version == 1 && s->id == 1);
	CHECK_INT(dave_world_count(w, from, B, 21, &s), 1);
	CHECK(s->version == 1 && s->id == 0);
	CHECK_INT(dave_world_count(w, from, B, 25, NULL), 0); /* it knows the sender */
	CHECK_INT(dave_world_number(w, "epoch"), 0);
	CHECK_STR(dave_world_leaves(w), "");
	dave_world_key_package(w, B);
	dave_world_enter(w, D);
	dave_world_commit(w, D, (struct with){0});
	CHECK_STR(dave_world_leaves(w), "DB");
	gd_group_leave(w->g, B, w->now);
	gd_group_leave(w->g, D, w->now);
	CHECK(gd_group_empty(w->g));
	dave_world_end(w);
}

TEST(guildd_dave_down_and_up)
{
	struct world *w = three();
	const struct sent *s = NULL;
	size_t from;
	unsigned id;

	CHECK(w != NULL);
	from = w->n_sent;
	gd_group_join(w->g, D, 0, w->now);
	for (uint64_t u = A; u <= C; u++)
		CHECK_INT(dave_world_count(w, from, u, 21, &s), 1);
	CHECK(s->version == 0 && s->id != 0);
	id = s->id;
	CHECK_INT(dave_world_count(w, from, D, 21, NULL), 0);
	CHECK_INT(gd_group_version(w->g, 1), 0);
	CHECK_INT(gd_group_seal(w->g, A, w->now + 1000ull * NS_PER_MS), GD_SEAL_MUST);
	for (uint64_t u = A; u <= C; u++)
		gd_group_ready(w->g, u, (uint16_t)id, w->now);
	CHECK_INT(dave_world_count(w, from, A, 22, NULL), 1);
	CHECK_INT(gd_group_seal(w->g, A, w->now + 1000ull * NS_PER_MS), GD_SEAL_NONE);
	CHECK_INT(dave_world_number(w, "epoch"), 0);
	from = w->n_sent;
	gd_group_leave(w->g, D, w->now);
	CHECK_INT(dave_world_count(w, from, A, 24, &s), 1);
	CHECK(s->version == 1 && s->id == 1);
	for (uint64_t u = A; u <= C; u++)
		dave_world_key_package(w, u);
	dave_world_commit(w, A, (struct with){0});
	CHECK_INT(dave_world_count(w, from, B, 30, &s), 1);
	CHECK(s->id != 0); /* nobody is encrypted before all are */
	CHECK_INT(gd_group_seal(w->g, A, w->now + 1000ull * NS_PER_MS), GD_SEAL_NONE);
	for (uint64_t u = A; u <= C; u++)
		gd_group_ready(w->g, u, (uint16_t)s->id, w->now);
	CHECK_INT(gd_group_seal(w->g, A, w->now), GD_SEAL_EARLY);
	CHECK_INT(gd_group_seal(w->g, A, w->now + 500ull * NS_PER_MS), GD_SEAL_MUST);
	dave_world_end(w);
}

TEST(guildd_dave_proposals_wait_for_the_transition)
{
	struct world *w = three();
	size_t from;

	CHECK(w != NULL);
	dave_world_enter(w, D);
	dave_world_commit(w, A, (struct with){.epoch = 2});
	from = w->n_sent;
	dave_world_enter(w, E);
	CHECK_INT(dave_world_count(w, from, A, 27, NULL), 0);
	gd_group_leave(w->g, D, w->now);
	for (uint64_t u = A; u <= C; u++)
		gd_group_ready(w->g, u, 2, w->now);
	CHECK_INT(dave_world_count(w, from, A, 22, NULL), 1);
	CHECK_INT(dave_world_count(w, from, A, 27, NULL), 1); /* Remove of D, Add of E at once */
	dave_world_commit(w, A, (struct with){.epoch = 3});
	CHECK_STR(dave_world_leaves(w), "ABCE");
	dave_world_end(w);

	w = three();
	CHECK(w != NULL);
	w->sw.dave_overlap = 1;
	dave_world_enter(w, D);
	dave_world_commit(w, A, (struct with){.epoch = 2});
	from = w->n_sent;
	dave_world_enter(w, E);
	CHECK_INT(dave_world_count(w, from, A, 27, NULL), 1);
	dave_world_commit(w, A, (struct with){.epoch = 3});
	CHECK_STR(dave_world_leaves(w), "ABCDE");
	for (uint64_t u = A; u <= E; u++)
		gd_group_ready(w->g, u, 3, w->now);
	CHECK_INT(dave_world_count(w, from, A, 22, NULL), 1);
	for (uint64_t u = A; u <= D; u++)
		gd_group_ready(w->g, u, 2, w->now);
	CHECK_INT(dave_world_count(w, from, A, 22, NULL), 2);
	dave_world_end(w);
}

TEST(guildd_dave_ids_wrap)
{
	struct world *w = three();
	const struct sent *s = NULL;

	CHECK(w != NULL);
	gd_group_next_transition(w->g, 65535);
	dave_world_enter(w, D);
	dave_world_commit(w, A, (struct with){.epoch = 2});
	CHECK_INT(dave_world_count(w, 0, D, 30, &s), 1);
	CHECK_INT(s->id, 65535);
	for (uint64_t u = A; u <= D; u++)
		gd_group_ready(w->g, u, 65535, w->now);
	dave_world_enter(w, E);
	dave_world_commit(w, A, (struct with){.epoch = 3});
	CHECK_INT(dave_world_count(w, 0, E, 30, &s), 1);
	CHECK_INT(s->id, 1); /* 0 means: at once */
	dave_world_end(w);
}

TEST(guildd_dave_nobody_commits)
{
	struct world *w = three();
	const struct sent *s = NULL;
	size_t from;

	CHECK(w != NULL);
	CHECK_INT(gd_group_new_sender(w->g), 0);
	dave_world_enter(w, D);
	from = w->n_sent;
	CHECK(gd_group_due(w->g) == w->now + 5000ull * NS_PER_MS);
	w->now += 5000ull * NS_PER_MS;
	gd_group_tick(w->g, w->now);
	CHECK_INT(w->no_commit, 1);
	for (uint64_t u = A; u <= D; u++)
		CHECK_INT(dave_world_count(w, from, u, 24, NULL), 1);
	CHECK_INT(dave_world_count(w, from, A, 25, NULL),
		  1); /* the new sender; D was told already */
	CHECK_INT(dave_world_count(w, from, D, 25, NULL), 0);
	for (uint64_t u = A; u <= D; u++)
		dave_world_key_package(w, u);
	dave_world_commit(w, D, (struct with){0});
	CHECK_INT(dave_world_count(w, from, C, 30, &s), 1);
	CHECK_STR(dave_world_leaves(w), "DABC");
	dave_world_end(w);
}

TEST_OOM(guildd_dave_without_memory)
{
	struct world *w = three();

	if (!w)
		return;
	dave_world_enter(w, D);
	dave_world_commit(w, A, (struct with){.epoch = 2});
	gd_group_leave(w->g, A, w->now);
	w->now += 10000ull * NS_PER_MS;
	gd_group_tick(w->g, w->now);
	dave_world_end(w);
}
