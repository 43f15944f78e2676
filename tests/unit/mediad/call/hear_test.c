/* People and listens of a call, with an engine whose thread does not run. */
#include "mediad/call/state.h"

#include "ipc/env.h"
#include "tests/test.h"

static struct rig {
	struct env *env;
	struct engine *engine;
	struct call c;
	uint32_t flows;
	unsigned members;
} rig;

static unsigned on_out(const struct media_msg *msg, uint32_t flow, void *arg)
{
	(void)flow, (void)arg;
	rig.members += msg->type == MEDIA_MEMBER;
	return 0;
}

static void on_event(const struct ev *ev, void *owner)
{
	(void)ev, (void)owner;
}

static int start(void)
{
	struct env_conf ec = {.loop = true, .replaying = true};
	struct engine_conf gc = {.threads = 1, .evh = on_event};
	int err;

	memset(&rig, 0, sizeof rig);
	err = env_alloc(&rig.env, &ec);
	gc.env = rig.env;
	if (!err)
		err = engine_alloc(&rig.engine, &gc);
	rig.c.conf = (struct call_conf){
		.env = rig.env, .engine = rig.engine, .outh = on_out, .flows = &rig.flows};
	if (!err)
		err = line_alloc(&rig.c.line, &rig.c, 64000);
	return err ? err : engine_line_add(rig.engine, rig.c.line);
}

static void finish(void)
{
	hear_free(&rig.c);
	engine_free(rig.engine);
	env_free(rig.env);
}

static const struct person *of(uint64_t user)
{
	for (size_t i = 0; i < rig.c.n_people; i++)
		if (rig.c.people[i].user == user)
			return &rig.c.people[i];
	return NULL;
}

/* A voice server may name whom it likes: what that costs us has an end. */
TEST(hear_people_are_bounded)
{
	CHECK_INT(start(), 0);
	for (uint64_t user = 1; user <= 40000; user++)
		hear_member(&rig.c, user, true);
	CHECK_INT(rig.c.n_people, 16384);
	CHECK_INT(rig.members, 16384);
	for (uint32_t k = 1; k <= 1000; k++)
		hear_ssrc(&rig.c, k, 7000 + k);
	CHECK_INT(rig.c.n_slots, LINE_SLOTS);
	/* As one leaves another has room, once the thread gave the first one back. */
	hear_member(&rig.c, 1, false);
	hear_ssrc(&rig.c, 900, 7900);
	CHECK(!of(900)->slot);
	hear_event(&rig.c, &(struct ev){.type = EV_SLOT_GONE});
	hear_ssrc(&rig.c, 900, 7900);
	CHECK(of(900)->slot);
	finish();
}

TEST(hear_an_ssrc_has_one_owner)
{
	CHECK_INT(start(), 0);
	hear_ssrc(&rig.c, 1, 50);
	hear_ssrc(&rig.c, 2, 50);
	CHECK_INT(of(1)->ssrc, 0);
	CHECK_INT(of(2)->ssrc, 50);
	hear_ssrc(&rig.c, 1, 50);
	CHECK_INT(of(1)->ssrc, 50);
	CHECK_INT(of(2)->ssrc, 0);
	finish();
}

/* Sound of speakers who are not known yet is kept only if somebody agreed to be heard. */
TEST(hear_anyone_who_agreed)
{
	struct media_consent m = {.user = 5, .yes = true};

	CHECK_INT(start(), 0);
	CHECK(!hear_anyone(&rig.c));
	call_consent(&rig.c, &m);
	CHECK(hear_anyone(&rig.c));
	m.yes = false;
	call_consent(&rig.c, &m);
	CHECK(!hear_anyone(&rig.c));
	rig.c.consent = true;
	CHECK(hear_anyone(&rig.c));
	finish();
}

/* A call that is being left lends nothing more (ASan looks for what is left over). */
TEST(hear_nothing_is_lent_to_a_call_that_ends)
{
	struct media_listen m = {.listen = 3, .user = 1, .rate = 24000, .silence_ms = 700};

	CHECK_INT(start(), 0);
	hear_ssrc(&rig.c, 1, 50);
	rig.c.leaving = true;
	call_listen(&rig.c, &m);
	hear_ssrc(&rig.c, 2, 51);
	CHECK(!of(2)->slot);
	finish();
}
