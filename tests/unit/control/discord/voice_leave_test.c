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
