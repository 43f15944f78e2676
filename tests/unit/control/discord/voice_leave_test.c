/* Leaves that Discord confirms late, and disconnections that cross an op 4. */
#include "control/discord/voice.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/test.h"
#include "tests/unit/control/discord/voice_paper.h"

/* A bot in channel 7 that leaves because the voice server went away and none came. */
static void leave_unserved(struct paper *p)
{
	CHECK_INT(paper_alloc(p, true), 0);
	paper_join(p, 7);
	voice_media(p->v, MEDIA_PHASE_UP, MEDIA_REASON_NONE, false, p->now);
	paper_server(p, NULL);
	paper_wait(p);
	paper_wait(p);
	CHECK_INT(voice_state(p->v), VOICE_LEAVING);
}

/* The bot leaves because there is no voice server, and asks for the channel again a second later.
 * Discord confirms the leave only then, and still has no server. */
TEST(voice_late_echo_of_a_leave_is_no_disconnection)
{
	struct paper p;

	leave_unserved(&p);
	paper_wait(&p);
	CHECK_INT(voice_state(p.v), VOICE_ASKED);
	paper_server(&p, NULL);
	CHECK_INT(voice_state(p.v), VOICE_PARKED);
	paper_state(&p, 0, NULL);
	CHECK_INT(p.left, 0);
	paper_state(&p, 7, "s2");
	paper_server(&p, "t2");
	paper_wait(&p);
	CHECK_INT(p.leases, 2);
	paper_state(&p, 0, NULL);
	CHECK_INT(p.left, 1);
	voice_free(p.v);
}

/* Join, leave and join again within Discord's round trip: what it tells of the first join and of
 * the leave belongs to neither the second one nor to a member. */
TEST(voice_joins_again_before_its_leave_is_confirmed)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	CHECK_INT(voice_join(p.v, 7, false, p.now), VOICE_REASON_NONE);
	voice_leave(p.v, p.now);
	CHECK_INT(voice_join(p.v, 7, false, p.now), VOICE_REASON_NONE);
	paper_state(&p, 7, "s1");
	paper_server(&p, "t1");
	CHECK_INT(p.leases, 0);
	paper_state(&p, 0, NULL);
	CHECK_INT(p.left, 0);
	paper_state(&p, 7, "s2");
	paper_server(&p, "t2");
	CHECK_INT(voice_state(p.v), VOICE_IN);
	CHECK_INT(p.leases, 1);
	CHECK_INT(p.leaves, 1);
	/* Twice. */
	for (unsigned i = 0; i < 2; i++) {
		voice_leave(p.v, p.now);
		CHECK_INT(voice_join(p.v, 7, false, p.now), VOICE_REASON_NONE);
	}
	paper_state(&p, 0, NULL);
	paper_state(&p, 7, "s3");
	paper_server(&p, "t3");
	paper_state(&p, 0, NULL);
	CHECK_INT(p.leases, 1);
	paper_server(&p, "t4"); /* before the state */
	CHECK_INT(p.leases, 1);
	paper_state(&p, 7, "s4");
	CHECK_INT(voice_state(p.v), VOICE_IN);
	CHECK_INT(p.leases, 2);
	CHECK_INT(p.left, 0);
	/* Then a disconnection is one. */
	paper_state(&p, 0, NULL);
	CHECK_INT(p.left, 1);
	voice_free(p.v);
}

/* A leave that Discord never confirms costs the time of one answer. */
TEST(voice_a_leave_that_is_never_confirmed_ends_no_joins)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	CHECK_INT(voice_join(p.v, 7, false, p.now), VOICE_REASON_NONE);
	voice_leave(p.v, p.now);
	CHECK_INT(voice_join(p.v, 7, false, p.now), VOICE_REASON_NONE);
	paper_wait(&p);
	CHECK_INT(voice_state(p.v), VOICE_LEAVING);
	paper_wait(&p);
	paper_state(&p, 7, "s1");
	paper_server(&p, "t1");
	CHECK_INT(voice_state(p.v), VOICE_IN);
	CHECK_INT(p.leases, 1);
	voice_free(p.v);
}

/* An op 4 that is under way when somebody disconnects the bot brings it back without a call. */
TEST(voice_leaves_a_channel_without_a_call)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	paper_state(&p, 0, NULL);
	CHECK_INT(p.left, 1);
	CHECK_INT(p.leaves, 0);
	paper_state(&p, 8, "s2");
	CHECK_INT(p.leaves, 1);
	CHECK_INT(voice_state(p.v), VOICE_OUT);
	paper_state(&p, 0, NULL);
	CHECK_INT(p.leaves + p.left, 2);
	voice_free(p.v);
}

/* Another process with the bot's token joins whenever the bot leaves. */
TEST(voice_does_not_fight_over_a_channel)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	paper_state(&p, 0, NULL);
	for (int i = 0; i < 20; i++) {
		paper_state(&p, 8, "s2");
		paper_state(&p, 0, NULL);
	}
	CHECK_INT(p.leaves, 1);
	CHECK_INT(p.left, 1);
	/* The next disconnection may be crossed again. */
	paper_join(&p, 7);
	paper_wait(&p);
	CHECK_INT(voice_state(p.v), VOICE_IN);
	paper_state(&p, 0, NULL);
	paper_state(&p, 8, "s3");
	paper_state(&p, 8, "s3");
	CHECK_INT(p.leaves, 2);
	voice_free(p.v);
}

/* The op 4 that leaves is lost with the connection. */
TEST(voice_tells_a_kick_after_a_leave_that_was_lost)
{
	struct paper p;

	leave_unserved(&p);
	voice_offline(p.v);
	voice_online(p.v, false, p.now);
	CHECK_INT(voice_state(p.v), VOICE_ASKED);
	paper_server(&p, "t2");
	paper_wait(&p);
	CHECK_INT(voice_state(p.v), VOICE_IN);
	/* A member disconnects the bot. */
	paper_state(&p, 0, NULL);
	CHECK_INT(p.left, 1);
	voice_free(p.v);
}

/* mediad needs another session. Discord has echoed the op 4 that asks for it when a member
 * disconnects the bot: what comes after the echo is no late confirmation of an own leave. */
TEST(voice_kicked_between_leases_is_left)
{
	struct paper p;
	unsigned op4s;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	voice_media(p.v, MEDIA_PHASE_UP, MEDIA_REASON_NONE, false, p.now);
	p.now += 60 * NS_PER_S;
	voice_media(p.v, MEDIA_PHASE_WAITING, MEDIA_REASON_SESSION_INVALID, true, p.now);
	CHECK_INT(voice_state(p.v), VOICE_ASKED);
	op4s = p.op4s;
	paper_state(&p, 7, "s1");
	paper_state(&p, 0, NULL);
	for (int i = 0; i < 10; i++)
		paper_wait(&p);
	CHECK_INT(p.op4s, op4s);
	CHECK_INT(p.left, 1);
	voice_free(p.v);
}

/* No mediad is there when the next lease is asked for, and a member disconnects the bot. */
TEST(voice_kicked_without_a_mediad_is_left)
{
	struct paper p;
	unsigned op4s;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	voice_media(p.v, MEDIA_PHASE_UP, MEDIA_REASON_NONE, false, p.now);
	p.now += 60 * NS_PER_S;
	voice_mediad(p.v, false, p.now);
	paper_server(&p, NULL);
	paper_wait(&p);
	CHECK_INT(voice_state(p.v), VOICE_WAITING);
	op4s = p.op4s;
	paper_state(&p, 0, NULL);
	voice_mediad(p.v, true, p.now);
	CHECK_INT(p.op4s, op4s);
	CHECK_INT(p.left, 1);
	voice_free(p.v);
}

/* The bot leaves and is called back before Discord confirms it, while no mediad is there. */
TEST(voice_called_back_without_a_mediad_is_not_kicked)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	voice_media(p.v, MEDIA_PHASE_UP, MEDIA_REASON_NONE, false, p.now);
	voice_mediad(p.v, false, p.now);
	voice_leave(p.v, p.now);
	CHECK_INT(voice_join(p.v, 7, false, p.now), VOICE_REASON_NONE);
	CHECK_INT(voice_state(p.v), VOICE_WAITING);
	paper_state(&p, 0, NULL);
	CHECK_INT(p.left, 0);
	CHECK_INT(voice_state(p.v), VOICE_WAITING);
	voice_mediad(p.v, true, p.now);
	paper_state(&p, 7, "s2");
	paper_server(&p, "t2");
	paper_wait(&p);
	CHECK_INT(p.leases, 2);
	paper_state(&p, 0, NULL);
	CHECK_INT(p.left, 1);
	voice_free(p.v);
}
