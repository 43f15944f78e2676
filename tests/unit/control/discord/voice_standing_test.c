/* A standing call, one that was up or that the settings want, is retried until it is withdrawn. A
 * first join is not. */
#include "control/discord/voice.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/test.h"
#include "tests/unit/control/discord/voice_paper.h"

static void come_up(struct paper *p)
{
	voice_media(p->v, MEDIA_PHASE_UP, MEDIA_REASON_NONE, false, p->now);
}

/* The attempt that mediad makes with its lease fails. */
static void fail_silently(struct paper *p)
{
	voice_media(p->v, MEDIA_PHASE_FAILED, MEDIA_REASON_NO_READY, false, p->now);
}

/* To the end of the wait; answers the leave and the join that follow. Returns the wait in ms. */
static unsigned play_retry(struct paper *p, uint64_t channel)
{
	uint64_t from = p->now;
	unsigned ms;

	paper_wait(p);
	ms = (unsigned)((p->now - from) / NS_PER_MS);
	if (voice_state(p->v) == VOICE_LEAVING)
		paper_state(p, 0, NULL);
	paper_state(p, channel, "again");
	paper_fresh_server(p);
	return ms;
}

TEST(voice_first_join_that_fails_is_told)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	fail_silently(&p);
	CHECK_INT(p.failed, 1);
	CHECK_INT(p.media_reason, MEDIA_REASON_NO_READY);
	CHECK_INT(p.leaves, 1);
	CHECK_INT(voice_channel(p.v), 0);
	CHECK(voice_deadline(p.v) == UINT64_MAX);
	voice_free(p.v);
}

TEST(voice_call_that_was_up_is_retried_with_a_backoff)
{
	static const unsigned waits[] = {5000, 10000, 20000, 40000, 60000, 60000};
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	come_up(&p);
	for (unsigned i = 0; i < sizeof waits / sizeof waits[0]; i++) {
		fail_silently(&p);
		CHECK_INT(voice_state(p.v), VOICE_RETRYING);
		CHECK_INT(voice_why(p.v, NULL), VOICE_REASON_RETRYING);
		CHECK_INT(p.leaves, i);
		CHECK_INT(play_retry(&p, 7), waits[i]);
		CHECK_INT(voice_state(p.v), VOICE_IN);
		CHECK_INT(p.leases, 2 + i);
	}
	CHECK_INT(p.failed + p.left, 0);
	/* Half a minute of a good call ends the series. */
	come_up(&p);
	p.now += VOICE_GOOD_MS * NS_PER_MS;
	voice_media(p.v, MEDIA_PHASE_WAITING, MEDIA_REASON_SESSION_INVALID, true, p.now);
	paper_state(&p, 7, "good");
	paper_fresh_server(&p);
	fail_silently(&p);
	CHECK_INT(play_retry(&p, 7), waits[0]);
	voice_free(p.v);
}

TEST(voice_call_that_the_settings_want_is_retried_before_it_was_up)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	voice_join(p.v, 7, true, p.now);
	paper_state(&p, 7, "s1");
	paper_server(&p, "t1");
	fail_silently(&p);
	CHECK_INT(voice_state(p.v), VOICE_RETRYING);
	CHECK_INT(p.failed + p.leaves, 0);
	CHECK(voice_standing(p.v));
	voice_free(p.v);
}

TEST(voice_each_retry_is_a_single_attempt)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	come_up(&p);
	fail_silently(&p);
	play_retry(&p, 7);
	voice_media(p.v, MEDIA_PHASE_WAITING, MEDIA_REASON_SESSION_INVALID, true, p.now);
	CHECK_INT(voice_state(p.v), VOICE_RETRYING);
	/* Discord does not answer op 4 either. */
	p.now = voice_deadline(p.v);
	voice_tick(p.v, p.now);
	CHECK_INT(voice_state(p.v), VOICE_LEAVING);
	paper_state(&p, 0, NULL);
	paper_wait(&p);
	CHECK_INT(voice_state(p.v), VOICE_RETRYING);
	/* A late echo of the leave is no disconnect by a member, and the bot need not leave again.
	 */
	paper_state(&p, 0, NULL);
	CHECK_INT(p.left, 0);
	CHECK_INT(p.leaves, 2);
	paper_wait(&p);
	CHECK_INT(p.leaves, 2);
	CHECK_INT(voice_state(p.v), VOICE_ASKED);
	voice_free(p.v);
}

TEST(voice_retries_end_when_the_call_is_withdrawn)
{
	struct paper p;

	for (int how = 0; how < 4; how++) {
		CHECK_INT(paper_alloc(&p, true), 0);
		paper_join(&p, 7);
		come_up(&p);
		fail_silently(&p);
		if (how == 0)
			voice_leave(p.v, p.now); /* /leave */
		else if (how == 1)
			paper_state(&p, 0, NULL); /* disconnected by a member */
		else if (how == 2)
			paper_state(&p, 8, "s1"); /* moved: the call goes on there */
		else
			voice_join(p.v, 8, false, p.now); /* a first join of another channel */
		CHECK_INT(voice_channel(p.v), how < 2 ? 0 : 8);
		CHECK_INT(p.left, how == 1);
		if (how < 2) {
			CHECK(voice_deadline(p.v) == UINT64_MAX);
		} else {
			paper_state(&p, 8, "s8");
			paper_fresh_server(&p);
			fail_silently(&p);
			CHECK_INT(p.failed, how == 3);
		}
		voice_free(p.v);
	}
}

TEST(voice_retry_comes_at_once_with_a_new_server_or_a_command)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	come_up(&p);
	fail_silently(&p);
	paper_fresh_server(&p);
	CHECK_INT(voice_state(p.v), VOICE_SETTLING);
	paper_wait(&p);
	CHECK_INT(p.leases, 2);
	fail_silently(&p);
	CHECK_INT(voice_join(p.v, 7, false, p.now), VOICE_REASON_NONE);
	CHECK(voice_deadline(p.v) == p.now);
	/* It is still the call that was up. */
	play_retry(&p, 7);
	fail_silently(&p);
	CHECK_INT(voice_state(p.v), VOICE_RETRYING);
	voice_free(p.v);
}

TEST(voice_known_obstacle_ends_a_call_that_was_up)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	come_up(&p);
	fail_silently(&p);
	p.predicted = VOICE_REASON_NO_CONNECT;
	for (int i = 0; i < 5 && !p.failed; i++)
		paper_wait(&p);
	CHECK_INT(p.failed, 1);
	CHECK_INT(p.why, VOICE_REASON_NO_CONNECT);
	CHECK_INT(voice_channel(p.v), 0);
	voice_free(p.v);
}

TEST(voice_adopted_call_is_retried)
{
	struct paper p;

	for (int there = 0; there < 2; there++) {
		CHECK_INT(paper_alloc(&p, false), 0);
		voice_adopt(p.v, 7, there ? 7 : 0, false, p.now);
		voice_online(p.v, false, p.now);
		if (!there) {
			paper_state(&p, 7, "s1");
			paper_server(&p, "t1");
		}
		fail_silently(&p);
		CHECK_INT(voice_state(p.v), there ? VOICE_RETRYING : VOICE_FAILED);
		voice_free(p.v);
	}
}

TEST(voice_retry_waits_for_the_main_gateway)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	come_up(&p);
	fail_silently(&p);
	voice_offline(p.v);
	paper_wait(&p);
	CHECK_INT(voice_state(p.v), VOICE_WAITING);
	CHECK_INT(p.leaves, 0);
	voice_online(p.v, false, p.now);
	CHECK_INT(voice_state(p.v), VOICE_ASKED);
	voice_free(p.v);
}

/* A moderator disconnects or moves the bot during a long outage of the main gateway. mediad loses
 * the call, and the wait for Discord's reason ends before the gateway is back. */
TEST(voice_disconnect_during_a_gateway_outage_is_final)
{
	struct paper p;

	for (int how = 0; how < 4; how++) {
		CHECK_INT(paper_alloc(&p, true), 0);
		paper_join(&p, 7);
		come_up(&p);
		if (how & 1)
			fail_silently(&p);
		voice_offline(p.v);
		if (!(how & 1))
			voice_media(p.v, MEDIA_PHASE_WAITING, MEDIA_REASON_DISCONNECTED, false,
				    p.now);
		paper_wait(&p);
		CHECK_INT(voice_state(p.v), VOICE_WAITING);
		paper_state(&p, how & 2 ? 8 : 0, "s1"); /* Resume replays it */
		voice_online(p.v, false, p.now);
		CHECK_INT(p.op4s, 1);
		CHECK_INT(p.left, how & 2 ? 0 : 1);
		CHECK_INT(p.moved, how & 2 ? 1 : 0);
		CHECK_INT(voice_channel(p.v), how & 2 ? 8 : 0);
		voice_free(p.v);
	}
}

/* The bot's own leave, which is part of a retry, is reported only after the outage. */
TEST(voice_leave_of_a_retry_during_a_gateway_outage_is_no_disconnect)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	come_up(&p);
	fail_silently(&p);
	paper_wait(&p);
	CHECK_INT(voice_state(p.v), VOICE_LEAVING);
	voice_offline(p.v);
	paper_state(&p, 0, "s1");
	voice_online(p.v, false, p.now);
	CHECK_INT(p.left, 0);
	CHECK_INT(p.op4s, 2);
	CHECK_INT(p.channel, 7);
	voice_free(p.v);
}

/* A member asks the bot by voice to go, while the main gateway is away. */
TEST(voice_move_during_a_gateway_outage_is_made_after_it)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	come_up(&p);
	voice_offline(p.v);
	voice_join(p.v, 8, false, p.now);
	voice_online(p.v, false, p.now);
	CHECK_INT(p.op4s, 2);
	CHECK_INT(p.channel, 8);
	CHECK_INT(p.moved, 0);
	voice_free(p.v);
}

TEST(voice_leave_during_a_gateway_outage_is_made_after_it)
{
	struct paper p;

	for (int failed = 0; failed < 2; failed++) {
		CHECK_INT(paper_alloc(&p, true), 0);
		paper_join(&p, 7);
		if (!failed)
			come_up(&p);
		voice_offline(p.v);
		if (failed)
			fail_silently(&p);
		else
			voice_leave(p.v, p.now);
		CHECK_INT(p.leaves, 0);
		voice_online(p.v, false, p.now);
		CHECK_INT(p.leaves, 1); /* or Discord would list it for ever */
		paper_state(&p, 0, "s1");
		CHECK_INT(p.left, 0);
		voice_free(p.v);
	}
}

/* The settings cannot be read, or do not allow the channel: that is known before Discord is there.
 */
TEST(voice_obstacle_that_is_known_offline_sends_nothing)
{
	struct paper p;

	for (int fresh = 0; fresh < 2; fresh++) {
		CHECK_INT(paper_alloc(&p, false), 0);
		p.predicted = VOICE_REASON_SETTINGS_UNREAD;
		CHECK_INT(voice_join(p.v, 7, true, p.now), VOICE_REASON_SETTINGS_UNREAD);
		voice_online(p.v, fresh, p.now);
		CHECK_INT(p.op4s + p.leaves + p.failed, 0);
		paper_wait(&p);
		CHECK_INT(p.op4s, 0);
		p.predicted = VOICE_REASON_NONE; /* they were saved anew */
		paper_wait(&p);
		CHECK_INT(p.op4s, 1);
		voice_free(p.v);
	}
}

TEST(voice_obstacle_that_came_during_an_outage_sends_no_join)
{
	struct paper p;

	for (int fresh = 0; fresh < 2; fresh++) {
		CHECK_INT(paper_alloc(&p, false), 0);
		CHECK_INT(voice_join(p.v, 7, false, p.now), VOICE_REASON_NONE);
		p.predicted = VOICE_REASON_NOT_ALLOWED;
		voice_online(p.v, fresh, p.now);
		CHECK_INT(p.op4s, 0);
		CHECK_INT(p.failed, 1);
		CHECK_INT(p.why, VOICE_REASON_NOT_ALLOWED);
		CHECK_INT(voice_channel(p.v), 0);
		voice_free(p.v);
	}
}

TEST(voice_a_standing_call_ends_when_no_retry_can_help)
{
	static const unsigned final[] = {MEDIA_REASON_NO_COMMON_MODE, MEDIA_REASON_VERSION_REFUSED};

	for (unsigned i = 0; i < 2; i++) {
		struct paper p;

		CHECK_INT(paper_alloc(&p, true), 0);
		voice_join(p.v, 7, true, p.now);
		paper_state(&p, 7, "s1");
		paper_server(&p, "t1");
		voice_media(p.v, MEDIA_PHASE_FAILED, final[i], false, p.now);
		CHECK_INT(p.failed, 1);
		CHECK(voice_deadline(p.v) == UINT64_MAX);
		voice_free(p.v);
	}
}
