/* The delivery service while it gathers key packages. */
#include "tests/unit/guildd/dave_world.h"

#include "proto/base/time.h"

TEST(guildd_dave_gathers_key_packages)
{
	struct world *w = dave_world_begin();
	const struct sent *s = NULL;

	CHECK(w != NULL);
	w->sw.dave_batch_ms = 100;
	for (uint64_t u = A; u <= D; u++)
		dave_world_enter(w, u);
	CHECK_INT(dave_world_count(w, 0, A, 27, NULL), 0);
	w->now += 100ull * NS_PER_MS;
	gd_group_tick(w->g, w->now);
	CHECK_INT(dave_world_count(w, 0, A, 27, &s), 1);
	CHECK_INT(s->add, 3);
	dave_world_end(w);
}

/* Three wait, one of them leaves, one comes: the rest is told what to forget and what is new. */
TEST(guildd_dave_coming_and_going_before_the_first_commit)
{
	struct world *w = dave_world_begin();

	CHECK(w != NULL);
	dave_world_enter(w, A);
	dave_world_enter(w, B);
	dave_world_enter(w, C);
	CHECK_INT(dave_world_of(w, A)->n_refs, 2);
	CHECK_INT(dave_world_of(w, C)->n_refs, 2);
	gd_group_leave(w->g, B, w->now);
	CHECK_INT(dave_world_of(w, A)->n_refs, 1);
	dave_world_enter(w, D);
	CHECK_INT(dave_world_of(w, A)->n_refs, 2);
	CHECK_INT(dave_world_of(w, C)->n_refs, 2);
	CHECK_INT(dave_world_of(w, D)->n_refs, 2);
	dave_world_key_package(w, C); /* C began anew by itself */
	CHECK_INT(dave_world_of(w, A)->n_refs, 2);
	CHECK_INT(dave_world_of(w, C)->n_refs, 2);
	dave_world_commit(w, C, (struct with){0});
	CHECK_INT(dave_world_number(w, "epoch"), 1);
	CHECK_INT(w->bad + w->late, 0);
	dave_world_end(w);
}

TEST(guildd_dave_key_package_of_another)
{
	struct world *w = dave_world_begin();

	CHECK(w != NULL);
	dave_world_join(w, A);
	dave_world_join(w, B);
	CHECK_INT(dave_world_key_package(w, B), 0);
	CHECK_INT(gd_group_key_package(
			  w->g, A,
			  (struct slice){dave_world_of(w, B)->kp, dave_world_of(w, B)->kp_n},
			  w->now),
		  EBADMSG);
	CHECK_INT(w->bad, 1);
	dave_world_end(w);
}

/* Whoever leaves while key packages are gathered is not committed. */
TEST(dave_group_withdraws_adds_of_who_left_while_it_gathers)
{
	struct world *w = dave_world_begin();

	for (uint64_t u = A; u <= C; u++)
		dave_world_enter(w, u);
	w->sw.dave_batch_ms = 100;
	dave_world_enter(w, D);
	gd_group_leave(w->g, C, w->now);
	dave_world_commit(w, A, (struct with){0});
	CHECK_STR(dave_world_leaves(w), "AB");
	dave_world_end(w);
}

TEST(dave_group_withdraws_adds_of_who_began_anew_while_it_gathers)
{
	struct world *w = dave_world_begin();

	for (uint64_t u = A; u <= C; u++)
		dave_world_enter(w, u);
	w->sw.dave_batch_ms = 100;
	dave_world_key_package(w, C);
	dave_world_commit(w, A, (struct with){0});
	CHECK_STR(dave_world_leaves(w), "AB");
	dave_world_end(w);
}
