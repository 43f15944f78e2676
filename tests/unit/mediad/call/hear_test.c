/* People and listens of a call, with an engine whose thread does not run. */
#include "mediad/call/call_internal.h"

#include "ipc/env.h"
#include "ipc/env_replay.h"
#include "proto/base/time.h"
#include "tests/test.h"

static struct rig {
	struct env *env;
	struct engine *engine;
	struct call c;
	uint32_t flows;
	unsigned members, heard;
	struct media_heard last;
	uint32_t drop; /* HEARD of this listen are dropped at once */
} rig;

static void on_out(const struct media_msg *msg, uint32_t flow, void *arg)
{
	(void)flow, (void)arg;
	rig.members += msg->type == MEDIA_MEMBER;
	if (msg->type != MEDIA_HEARD)
		return;
	if (msg->heard.listen == rig.drop)
		call_heard_dropped(&rig.c, &msg->heard);
	rig.last = msg->heard;
	rig.heard++;
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
		err = call_stream_alloc(&rig.c.stream, &rig.c, 64000);
	return err ? err : engine_add_stream(rig.engine, rig.c.stream);
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
		if (rig.c.people[i]->user == user)
			return rig.c.people[i];
	return NULL;
}

/* A voice server may name any users; their cost is bounded. */
TEST(hear_people_are_bounded)
{
	struct slot *back = NULL;

	CHECK_INT(start(), 0);
	for (uint64_t user = 1; user <= 40000; user++)
		hear_member(&rig.c, user, true);
	CHECK_INT(rig.c.n_people, 16384);
	CHECK_INT(rig.members, 16384);
	for (uint32_t k = 1; k <= 1000; k++)
		hear_ssrc(&rig.c, k, 7000 + k);
	CHECK_INT(rig.c.n_slots, CALL_STREAM_SLOTS);
	/* As one leaves another has room; but only so many may be on their way back. */
	for (uint64_t k = 1; k <= 64; k++) {
		hear_member(&rig.c, k, false);
		hear_ssrc(&rig.c, 800 + k, 7800 + (uint32_t)k);
		CHECK(of(800 + k)->slot);
	}
	hear_member(&rig.c, 65, false);
	hear_ssrc(&rig.c, 900, 7900);
	CHECK(!of(900)->slot);
	CHECK_INT(slot_alloc(&back, rig.c.stream, 65, true, 1), 0);
	CHECK_INT(of(65)->returning, 1);
	hear_event(&rig.c, &(struct ev){.type = EV_SLOT_GONE, .slot = back});
	slot_free(back);
	CHECK(!of(65));
	hear_ssrc(&rig.c, 900, 7900);
	CHECK(of(900)->slot);
	finish();
}

/* Persons do not move when others come, as moving thousands for each message would take the loop
 * thread's time. */
TEST(hear_a_person_stays_where_it_is)
{
	const struct person *first;

	CHECK_INT(start(), 0);
	hear_member(&rig.c, 5000, true);
	first = of(5000);
	for (uint64_t user = 4999; user > 4000; user--)
		hear_member(&rig.c, user, true);
	hear_member(&rig.c, 4500, false);
	CHECK(of(5000) == first && first->user == 5000);
	CHECK(!of(4500) && of(4499) && of(4501));
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

/* A voice server may pass on op 5 of a member that names the SSRC of another one. What the other
 * one says must neither be taken for that member's nor be lost. */
TEST(hear_a_proven_ssrc_is_not_taken_away)
{
	CHECK_INT(start(), 0);
	hear_ssrc(&rig.c, 1, 50);
	hear_prove_ssrc(&rig.c, 1);
	hear_ssrc(&rig.c, 2, 40);
	hear_ssrc(&rig.c, 2, 50);
	CHECK_INT(of(1)->ssrc, 50);
	CHECK_INT(of(2)->ssrc, 40);
	/* The server gave it to another one in earnest: the owner's key does not fit any more. */
	hear_doubt_ssrc(&rig.c, 1);
	CHECK_INT(of(1)->ssrc, 0);
	CHECK_INT(of(2)->ssrc, 50);
	/* Nor does the other key, so it goes back. */
	hear_doubt_ssrc(&rig.c, 2);
	CHECK_INT(of(1)->ssrc, 50);
	hear_prove_ssrc(&rig.c, 1);
	hear_doubt_ssrc(&rig.c, 3);
	CHECK_INT(of(1)->ssrc, 50);
	/* The owner leaves, or gets another SSRC. */
	hear_member(&rig.c, 1, false);
	CHECK_INT(of(2)->ssrc, 50);
	hear_prove_ssrc(&rig.c, 2);
	hear_ssrc(&rig.c, 3, 50);
	CHECK_INT(of(3)->ssrc, 0);
	hear_ssrc(&rig.c, 2, 41);
	CHECK_INT(of(3)->ssrc, 50);
	/* The next session says it again. */
	hear_prove_ssrc(&rig.c, 3);
	hear_end_session(&rig.c);
	hear_ssrc(&rig.c, 2, 50);
	CHECK_INT(of(2)->ssrc, 50);
	finish();
}

/* A member whose newest op 5 names the SSRC that it has stays there when another owner leaves. */
TEST(hear_a_claim_ends_with_the_next_op_5)
{
	CHECK_INT(start(), 0);
	hear_ssrc(&rig.c, 1, 50);
	hear_prove_ssrc(&rig.c, 1);
	hear_ssrc(&rig.c, 2, 40);
	hear_ssrc(&rig.c, 2, 50);
	hear_ssrc(&rig.c, 2, 40);
	hear_member(&rig.c, 1, false);
	CHECK_INT(of(2)->ssrc, 40);
	finish();
}

/* Each listen of a stream takes room in the ring when its session ends. */
TEST(hear_listens_are_bounded)
{
	struct media_listen m = {.rate = 48000, .silence_ms = 500};
	uint64_t user;

	CHECK_INT(start(), 0);
	for (user = 1; user <= 65; user++) {
		for (unsigned i = 0; i < AUDIO_LISTENS; i++) {
			m.user = user;
			m.listen++;
			call_listen(&rig.c, &m);
		}
		hear_ssrc(&rig.c, user, (uint32_t)user);
	}
	CHECK(of(64)->slot && !of(65)->slot);
	m.user = 66;
	hear_ssrc(&rig.c, 66, 66);
	CHECK(of(66)->slot);
	m.listen++;
	call_listen(&rig.c, &m);
	CHECK_INT(of(66)->n_listens, 0);
	finish();
}

/* Packets of unmapped SSRCs are kept only if some user may be heard. */
TEST(hear_needs_consent)
{
	struct media_consent m = {.user = 5, .yes = true};

	CHECK_INT(start(), 0);
	CHECK(!hear_has_consent(&rig.c));
	call_consent(&rig.c, &m);
	CHECK(hear_has_consent(&rig.c));
	m.yes = false;
	call_consent(&rig.c, &m);
	CHECK(!hear_has_consent(&rig.c));
	rig.c.consent = true;
	CHECK(hear_has_consent(&rig.c));
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

static void (*then)(void);

static void on_step(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	(void)kind, (void)data, (void)len, (void)arg;
	then();
}

/* A step at this second. */
static void at(unsigned second, void (*what)(void))
{
	uint32_t source = 0;

	then = what;
	if (env_source_add(rig.env, &source, on_step, NULL))
		abort();
	env_replay_step(rig.env, second * NS_PER_S, source, 0, NULL, 0);
	env_source_del(rig.env, source);
}

static void speaks(uint64_t user, bool on)
{
	struct ev ev = {.type = EV_SPEAKING};

	ev.heard.user = user;
	ev.heard.on = on;
	hear_event(&rig.c, &ev);
}

static void all_are_mapped(void)
{
	for (uint32_t k = 1; k <= CALL_STREAM_SLOTS; k++) {
		hear_ssrc(&rig.c, k, 7000 + k);
		speaks(k, true);
		if (k != 3)
			speaks(k, false);
	}
}

static void one_speaks_again(void)
{
	speaks(1, true);
	speaks(1, false);
}

static void one_more_comes(void)
{
	hear_ssrc(&rig.c, 1000, 8000);
}

static void another_comes(void)
{
	hear_ssrc(&rig.c, 1001, 8001);
}

static void the_one_is_unheard(void)
{
	hear_unmapped_ssrc(&rig.c, 7004);
}

/* A stream without a free slot makes room for a speaker: the slot of the user silent for longest is
 * reclaimed, who gets another one on speaking again. */
TEST(hear_reclaims_idle_slots)
{
	struct media_listen m = {.listen = 9, .user = 2, .rate = 24000, .silence_ms = 700};

	CHECK_INT(start(), 0);
	at(1, all_are_mapped);
	call_listen(&rig.c, &m);
	at(5, one_speaks_again);
	at(6, one_more_comes); /* no user was silent for long */
	CHECK(!of(1000)->slot);
	at(9, one_more_comes);
	/* Not the first, who spoke since; not the second, who is listened to; not the third, who
	 * speaks. */
	CHECK(of(1000)->slot && of(1)->slot && of(2)->slot && of(3)->slot && !of(4)->slot);
	CHECK_INT(of(4)->ssrc, 7004);
	at(9, the_one_is_unheard);
	CHECK(of(4)->slot && !of(5)->slot);
	/* If all others speak, a user with listens loses the slot. */
	for (uint64_t k = 1; k <= CALL_STREAM_SLOTS; k++)
		if (k != 2)
			speaks(k, true);
	speaks(1000, true);
	at(20, another_comes);
	CHECK(of(1001)->slot && !of(2)->slot);
	CHECK_INT(of(2)->n_listens, 1);
	finish();
}

static void heard(uint32_t listen, uint32_t dropped)
{
	struct ev ev = {.type = EV_HEARD};

	ev.heard.user = 1;
	ev.heard.listen = listen;
	ev.heard.dropped = dropped;
	hear_event(&rig.c, &ev);
}

/* Frames that were under way when consent was withdrawn are not passed on. */
TEST(hear_passes_nothing_on_after_a_refusal)
{
	struct media_listen m = {.listen = 3, .user = 1, .rate = 24000, .silence_ms = 700};
	struct media_consent consent = {.user = 1, .yes = true};

	CHECK_INT(start(), 0);
	call_listen(&rig.c, &m);
	call_consent(&rig.c, &consent);
	heard(3, 0);
	CHECK_INT(rig.heard, 1);
	consent.yes = false;
	call_consent(&rig.c, &consent);
	heard(3, 0);
	CHECK_INT(rig.heard, 1);
	finish();
}

/* The gap is reported to the listen whose frames were dropped, and a gap carried by a dropped frame
 * is not lost. */
TEST(hear_gaps_name_their_listen)
{
	struct media_listen m = {.listen = 3, .user = 1, .rate = 24000, .silence_ms = 700};
	struct media_heard lost = {.user = 1, .listen = 4, .gap = 2};

	CHECK_INT(start(), 0);
	rig.c.consent = true;
	hear_ssrc(&rig.c, 1, 50);
	call_listen(&rig.c, &m);
	m.listen = 4;
	m.rate = 16000;
	call_listen(&rig.c, &m);
	call_heard_dropped(&rig.c, &lost);
	heard(3, 0);
	CHECK(rig.last.listen == 3 && rig.last.gap == 0);
	heard(4, 1); /* and one that the ring had no room for */
	CHECK(rig.last.listen == 4 && rig.last.gap == 4);
	heard(4, 0);
	CHECK_INT(rig.last.gap, 0);
	/* Nothing goes through for a while: each frame that is dropped hands on what it told. */
	rig.drop = 3;
	for (unsigned i = 0; i < 5; i++)
		heard(3, 1);
	rig.drop = 0;
	heard(4, 0);
	CHECK_INT(rig.last.gap, 0);
	heard(3, 0);
	CHECK_INT(rig.last.gap, 10);
	CHECK_INT(rig.c.heard_dropped, 1 + 1 + 10);
	/* A frame of an ended listen is counted only. */
	lost.listen = 77;
	call_heard_dropped(&rig.c, &lost);
	CHECK_INT(rig.c.heard_dropped, 13);
	finish();
}
