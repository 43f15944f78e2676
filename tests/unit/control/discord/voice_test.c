#include "control/discord/voice.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/test.h"
#include "tests/unit/control/discord/voice_paper.h"

TEST_OOM(voice_allocates)
{
	struct voice *v = NULL;
	int err = voice_alloc(&v, paper_act, paper_predict, NULL);

	CHECK_OOM(err, (void)0);
	voice_free(v);
}

TEST(voice_wants_both_events_in_either_order)
{
	struct paper p;

	for (int order = 0; order < 2; order++) {
		CHECK_INT(paper_alloc(&p, true), 0);
		CHECK_INT(voice_join(p.v, 7, false, p.now), VOICE_REASON_NONE);
		CHECK_INT(p.op4s, 1);
		if (order)
			paper_state(&p, 7, "s1");
		else
			paper_server(&p, "t1");
		CHECK_INT(p.leases, 0);
		if (order)
			paper_server(&p, "t1");
		else
			paper_state(&p, 7, "s1");
		CHECK_INT(p.leases, 1);
		CHECK_STR(p.token, "t1");
		CHECK_STR(p.session, "s1");
		CHECK_INT(voice_state(p.v), VOICE_IN);
		voice_free(p.v);
	}
}

/* One machine a server: wishes that come together are one after another, and the last one holds. */
TEST(rule_109_joins_of_one_server_do_not_cross)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	CHECK_INT(voice_join(p.v, 7, false, p.now), VOICE_REASON_NONE);
	CHECK_INT(voice_join(p.v, 7, false, p.now), VOICE_REASON_NONE);
	CHECK_INT(p.leases, 0);
	CHECK_INT(voice_join(p.v, 8, false, p.now), VOICE_REASON_NONE);
	CHECK_INT(p.channel, 8);
	/* What Discord says to the first wish leads nowhere. */
	paper_state(&p, 7, "s1");
	CHECK_INT(p.leases, 0);
	paper_state(&p, 8, "s1");
	paper_server(&p, "t2");
	CHECK_INT(p.leases, 1);
	CHECK_INT(p.channel, 8);
	CHECK_INT(voice_channel(p.v), 8);
	CHECK_INT(voice_state(p.v), VOICE_IN);
	voice_free(p.v);
}

TEST(voice_silence_is_told_after_three_tries)
{
	struct paper p;
	uint64_t start;

	CHECK_INT(paper_alloc(&p, true), 0);
	start = p.now;
	voice_join(p.v, 7, false, p.now);
	for (int i = 0; i < 20 && !p.failed; i++)
		paper_wait(&p);
	CHECK_INT(p.failed, 1);
	CHECK_INT(p.why, VOICE_REASON_SILENT);
	CHECK_INT(p.op4s, 3);
	CHECK_INT(p.leaves, 3);
	CHECK(p.now - start < 40 * NS_PER_S);
	CHECK(voice_deadline(p.v) == UINT64_MAX);
	CHECK_INT(voice_channel(p.v), 0);
	voice_free(p.v);
}

TEST(voice_silence_is_explained_when_it_can_be)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	voice_join(p.v, 7, false, p.now);
	p.predicted = VOICE_REASON_CHANNEL_FULL; /* it filled up meanwhile */
	for (int i = 0; i < 20 && !p.failed; i++)
		paper_wait(&p);
	CHECK_INT(p.why, VOICE_REASON_CHANNEL_FULL);
	voice_free(p.v);
}

TEST(voice_known_obstacle_refuses_and_changes_nothing)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	p.predicted = VOICE_REASON_NO_CONNECT;
	CHECK_INT(voice_join(p.v, 8, false, p.now), VOICE_REASON_NO_CONNECT);
	CHECK_INT(voice_channel(p.v), 7);
	CHECK_INT(voice_state(p.v), VOICE_IN);
	CHECK_INT(p.op4s, 1);
	voice_free(p.v);
}

TEST(voice_standing_wish_waits_for_the_obstacle_to_go)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	p.predicted = VOICE_REASON_CHANNEL_FULL;
	voice_join(p.v, 7, true, p.now);
	paper_wait(&p);
	CHECK_INT(p.op4s, 0);
	p.predicted = VOICE_REASON_NONE;
	paper_wait(&p);
	CHECK_INT(p.op4s, 1);
	paper_state(&p, 7, "s1");
	paper_server(&p, "t1");
	CHECK_INT(p.leases, 1);
	voice_free(p.v);
}

TEST(voice_fresh_credentials_by_asking_again)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	voice_media(p.v, MEDIA_PHASE_WAITING, MEDIA_REASON_NEW_CALL, true, p.now);
	CHECK_INT(p.op4s, 2);
	CHECK_INT(p.leaves, 0);
	/* Asked again by an impatient mediad: nothing more is sent. */
	voice_media(p.v, MEDIA_PHASE_WAITING, MEDIA_REASON_NEW_CALL, true, p.now);
	CHECK_INT(p.op4s, 2);
	paper_server(&p, "t2");
	CHECK_INT(p.leases, 1); /* a state may still come */
	paper_state(&p, 7, "s2");
	CHECK_INT(p.leases, 2);
	CHECK_STR(p.token, "t2");
	CHECK_STR(p.session, "s2");
	voice_free(p.v);
}

TEST(voice_fresh_server_without_a_state_serves_the_known_session)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	voice_media(p.v, MEDIA_PHASE_WAITING, MEDIA_REASON_SESSION_INVALID, true, p.now);
	paper_server(&p, "t2");
	paper_wait(&p);
	CHECK_INT(p.leases, 2);
	CHECK_STR(p.session, "s1");
	CHECK_STR(p.token, "t2");
	voice_free(p.v);
}

TEST(voice_leaves_and_joins_when_asking_again_is_not_answered)
{
	struct paper p;
	uint64_t asked;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	asked = p.now;
	voice_media(p.v, MEDIA_PHASE_WAITING, MEDIA_REASON_NEW_CALL, true, p.now);
	paper_wait(&p);
	CHECK_INT(p.now - asked, 5 * NS_PER_S);
	CHECK_INT(p.leaves, 1);
	paper_state(&p, 0, NULL); /* Discord's echo of leaving is not somebody's doing */
	CHECK_INT(p.left, 0);
	CHECK_INT(p.op4s, 3); /* with it the bot is out, and may join at once */
	paper_state(&p, 7, "s2");
	paper_server(&p, "t2");
	CHECK_INT(p.leases, 2);
	voice_free(p.v);
}

/* Discord need not send a server update for the channel that the bot is in: the echo of the voice
 * state alone is not waited upon for long. */
TEST(voice_echo_without_a_server_leaves_and_joins)
{
	struct paper p;
	uint64_t asked;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	asked = p.now;
	voice_media(p.v, MEDIA_PHASE_WAITING, MEDIA_REASON_NEW_CALL, true, p.now);
	paper_state(&p, 7, "s1");
	paper_wait(&p);
	CHECK_INT(p.now - asked, VOICE_ECHO_MS * NS_PER_MS);
	CHECK_INT(p.leaves, 1);
	paper_state(&p, 0, NULL);
	CHECK_INT(p.op4s, 3);
	CHECK(p.left == 0 && voice_state(p.v) == VOICE_ASKED);
	paper_state(&p, 7, "s1");
	paper_server(&p, "t2");
	CHECK_INT(p.leases, 2);
	voice_free(p.v);
}

TEST(voice_credentials_that_are_refused_end_after_three)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	for (int i = 0; i < 10 && !p.failed; i++) {
		voice_media(p.v, MEDIA_PHASE_WAITING, MEDIA_REASON_SESSION_INVALID, true, p.now);
		if (voice_state(p.v) == VOICE_LEAVING)
			paper_wait(&p);
		paper_state(&p, 7, "s");
		paper_fresh_server(&p);
		p.now += NS_PER_S;
	}
	CHECK_INT(p.failed, 1);
	CHECK_INT(p.why, VOICE_REASON_REFUSED);
	CHECK_INT(p.media_reason, MEDIA_REASON_SESSION_INVALID);
	CHECK_INT(p.leases, 4);
	voice_free(p.v);
}

TEST(voice_a_good_call_forgives_earlier_tries)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	for (int i = 0; i < 10; i++) {
		voice_media(p.v, MEDIA_PHASE_UP, MEDIA_REASON_NONE, false, p.now);
		p.now += 40 * NS_PER_S;
		voice_media(p.v, MEDIA_PHASE_WAITING, MEDIA_REASON_SESSION_INVALID, true, p.now);
		paper_state(&p, 7, "s");
		paper_fresh_server(&p);
	}
	CHECK_INT(p.failed, 0);
	CHECK_INT(p.leases, 11);
	voice_free(p.v);
}

/* Discord answers with what was used, again and again: that ends, too. */
TEST(voice_the_same_credentials_for_ever_end)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	voice_media(p.v, MEDIA_PHASE_WAITING, MEDIA_REASON_SESSION_INVALID, true, p.now);
	for (int i = 0; i < 30 && !p.failed; i++) {
		if (voice_state(p.v) == VOICE_ASKED) {
			paper_state(&p, 7, "s1");
			paper_server(&p, "t1");
		}
		paper_wait(&p);
	}
	CHECK(p.failed == 1 && p.why == VOICE_REASON_SILENT);
	CHECK(p.leases == 1 && p.op4s <= 1 + 1 + VOICE_TRIES);
	voice_free(p.v);
}

TEST(voice_encryption_required_is_final_also_for_a_standing_wish)
{
	struct paper p;
	struct words w = {0};

	CHECK_INT(paper_alloc(&p, true), 0);
	voice_join(p.v, 7, true, p.now);
	paper_state(&p, 7, "s1");
	paper_server(&p, "t1");
	voice_media(p.v, MEDIA_PHASE_FAILED, MEDIA_REASON_ENCRYPTION_REQUIRED, false, p.now);
	CHECK_INT(p.failed, 1);
	CHECK_INT(p.leaves, 1);
	CHECK(voice_deadline(p.v) == UINT64_MAX);
	words_voice(&w, p.why, p.media_reason);
	CHECK(strstr(w.text, "end-to-end encryption"));
	voice_free(p.v);
}

TEST(voice_a_rate_limit_cools_down_for_a_minute)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	voice_join(p.v, 7, true, p.now);
	paper_state(&p, 7, "s1");
	paper_server(&p, "t1");
	voice_media(p.v, MEDIA_PHASE_FAILED, MEDIA_REASON_RATE_LIMITED, false, p.now);
	CHECK_INT(p.failed, 1);
	CHECK(voice_deadline(p.v) == UINT64_MAX);
	CHECK(voice_join(p.v, 7, false, p.now + 59 * NS_PER_S) == VOICE_REASON_COOLING);
	CHECK(voice_join(p.v, 7, false, p.now + 60 * NS_PER_S) == VOICE_REASON_NONE);
	voice_free(p.v);
}

/* A moderator moves the bot between the echo of its op 4 and the voice server's update. */
TEST(voice_follows_a_move_after_the_echo_of_its_op_4)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	voice_join(p.v, 7, false, p.now);
	paper_state(&p, 7, "s1");
	paper_state(&p, 8, "s1");
	CHECK_INT(p.moved, 1);
	paper_server(&p, "t1");
	CHECK_INT(p.leases, 1);
	CHECK_INT(voice_channel(p.v), 8);
	voice_free(p.v);
}

/* The call loses its encryption while Discord announces another server, or none: it is left all the
 * same, not joined again by the lease that follows. */
TEST(voice_leaves_a_call_that_loses_its_encryption_between_leases)
{
	static const char *const servers[] = {"another", NULL}; /* VOICE_SETTLING, VOICE_PARKED */
	struct paper p;

	for (size_t i = 0; i < 2; i++) {
		CHECK_INT(paper_alloc(&p, true), 0);
		paper_join(&p, 7);
		voice_media(p.v, MEDIA_PHASE_UP, MEDIA_REASON_NONE, false, p.now);
		paper_server(&p, servers[i]);
		voice_media(p.v, MEDIA_PHASE_FAILED, MEDIA_REASON_NOT_ENCRYPTED, false, p.now);
		CHECK_INT(p.failed, 1);
		CHECK_INT(p.media_reason, MEDIA_REASON_NOT_ENCRYPTED);
		paper_wait(&p);
		CHECK_INT(p.leases, 1);
		CHECK_INT(p.op4s, 1);
		CHECK(voice_deadline(p.v) == UINT64_MAX);
		voice_free(p.v);
	}
}

/* A report about the call before does not fail the next join. */
TEST(voice_ignores_the_end_of_a_call_that_it_gave_up)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	voice_media(p.v, MEDIA_PHASE_FAILED, MEDIA_REASON_NOT_ENCRYPTED, false, p.now);
	CHECK_INT(p.failed, 1);
	CHECK(voice_join(p.v, 7, false, p.now) == VOICE_REASON_NONE);
	voice_media(p.v, MEDIA_PHASE_FAILED, MEDIA_REASON_NOT_ENCRYPTED, false, p.now);
	CHECK_INT(p.failed, 1);
	voice_free(p.v);
}

TEST(voice_does_not_rejoin_a_call_that_lost_its_encryption)
{
	struct paper p;
	struct words w = {0};

	CHECK_INT(paper_alloc(&p, true), 0);
	voice_join(p.v, 7, true, p.now);
	paper_state(&p, 7, "s1");
	paper_server(&p, "t1");
	voice_media(p.v, MEDIA_PHASE_UP, MEDIA_REASON_NONE, false, p.now);
	voice_media(p.v, MEDIA_PHASE_FAILED, MEDIA_REASON_NOT_ENCRYPTED, false, p.now);
	CHECK_INT(p.failed, 1);
	CHECK_INT(p.leaves, 1);
	CHECK(voice_deadline(p.v) == UINT64_MAX);
	words_voice(&w, p.why, p.media_reason);
	CHECK(strstr(w.text, "e2ee"));
	voice_free(p.v);
}

TEST(voice_follows_a_move)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	paper_state(&p, 8, "s1");
	CHECK_INT(p.moved, 1);
	paper_server(&p, "t2");
	CHECK_INT(p.leases, 2);
	CHECK_INT(p.channel, 8);
	/* the other order: the server first */
	paper_server(&p, "t3");
	CHECK_INT(p.leases, 2);
	paper_state(&p, 9, "s1");
	CHECK_INT(p.leases, 3);
	CHECK_INT(p.channel, 9);
	CHECK_STR(p.token, "t3");
	CHECK_INT(voice_channel(p.v), 9);
	voice_free(p.v);
}

TEST(voice_move_without_a_server_is_asked_for)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	paper_state(&p, 8, "s1");
	paper_wait(&p);
	CHECK_INT(p.op4s, 2);
	CHECK_INT(p.channel, 8);
	voice_free(p.v);
}

TEST(voice_change_of_region_is_one_server_event)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	paper_server(&p, "t2");
	paper_wait(&p);
	CHECK_INT(p.leases, 2);
	CHECK_STR(p.session, "s1");
	CHECK_STR(p.token, "t2");
	CHECK_INT(p.op4s, 1);
	voice_free(p.v);
}

/* The word of a server that a lease was made of comes late, when no request is pending: it says
 * nothing, whatever the session is by now. */
TEST(voice_late_server_is_passed_over)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	for (int i = 2; i < 8; i++) {
		char token[16];

		snprintf(token, sizeof token, "t%d", i);
		if (i == 5)
			paper_state(&p, 7, "s2");
		paper_server(&p, token);
		paper_wait(&p);
		CHECK_INT(p.leases, i);
		CHECK_STR(p.token, token);
	}
	for (int i = 1; i < 8; i++) {
		char token[16];

		snprintf(token, sizeof token, "t%d", i);
		paper_server(&p, token);
		CHECK_INT(voice_state(p.v), VOICE_IN);
	}
	paper_wait(&p);
	CHECK(p.leases == 7 && p.op4s == 1);
	/* The same token somewhere else is another server. */
	voice_server(p.v, "t3", "elsewhere:1", p.now);
	paper_wait(&p);
	CHECK_INT(p.leases, 8);
	voice_free(p.v);
}

/* While a request for credentials is pending, used ones do not count; the deadline for a new
 * server is short then. */
TEST(voice_used_credentials_are_no_answer)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	voice_media(p.v, MEDIA_PHASE_WAITING, MEDIA_REASON_SESSION_INVALID, true, p.now);
	CHECK_INT(p.op4s, 2);
	paper_server(&p, "t1");
	paper_state(&p, 7, "s1");
	CHECK_INT(p.leases, 1);
	CHECK(voice_deadline(p.v) == p.now + VOICE_ECHO_MS * NS_PER_MS);
	paper_wait(&p);
	CHECK_INT(p.leaves, 1);
	paper_state(&p, 0, NULL);
	CHECK_INT(p.op4s, 3);
	/* Its session comes after it: only then it is known that they were used. */
	paper_server(&p, "t1");
	paper_state(&p, 7, "s1");
	CHECK_INT(p.leases, 1);
	paper_server(&p, "t2");
	CHECK(p.leases == 2 && strcmp(p.token, "t2") == 0);
	voice_free(p.v);
}

/* After the bot left and joined again, Discord may give the same session and the same token: both
 * are valid again. */
TEST(voice_same_pair_after_a_leave_is_leased)
{
	for (int server_first = 0; server_first < 2; server_first++) {
		struct paper p;

		CHECK_INT(paper_alloc(&p, true), 0);
		paper_join(&p, 7);
		voice_leave(p.v, p.now);
		paper_state(&p, 0, NULL);
		CHECK_INT(voice_join(p.v, 7, false, p.now), VOICE_REASON_NONE);
		if (server_first)
			paper_server(&p, "t1");
		paper_state(&p, 7, "s1");
		if (!server_first)
			paper_server(&p, "t1");
		CHECK_INT(p.leases, 1);
		CHECK(voice_deadline(p.v) == p.now + VOICE_SETTLE_MS * NS_PER_MS);
		paper_wait(&p);
		CHECK(p.leases == 2 && strcmp(p.token, "t1") == 0);
		CHECK(p.leaves == 1 && voice_state(p.v) == VOICE_IN);
		/* It is used now; its repetition without a leave in between is ignored. */
		paper_server(&p, "t1");
		CHECK_INT(voice_state(p.v), VOICE_IN);
		voice_free(p.v);
	}
}

/* Another session may well be given the same token. */
TEST(voice_token_of_another_session_is_leased)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	voice_media(p.v, MEDIA_PHASE_WAITING, MEDIA_REASON_SESSION_INVALID, true, p.now);
	paper_state(&p, 7, "s2");
	paper_server(&p, "t1");
	CHECK(p.leases == 2 && strcmp(p.session, "s2") == 0);
	voice_free(p.v);
}

/* The server that went away is back as it was: control requests fresh credentials at once. */
TEST(voice_parked_and_the_same_again)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	paper_server(&p, NULL);
	CHECK_INT(voice_state(p.v), VOICE_PARKED);
	paper_server(&p, "t1");
	CHECK(voice_state(p.v) == VOICE_ASKED && p.leases == 1 && p.op4s == 2);
	voice_free(p.v);
}

TEST(voice_endpoint_null_parks_until_a_new_one)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	paper_server(&p, NULL);
	CHECK_INT(voice_state(p.v), VOICE_PARKED);
	CHECK_INT(voice_why(p.v, NULL), VOICE_REASON_NO_SERVER);
	voice_media(p.v, MEDIA_PHASE_WAITING, MEDIA_REASON_SERVER_GONE, true, p.now);
	CHECK_INT(p.op4s, 1); /* patience */
	paper_server(&p, "t2");
	paper_wait(&p);
	CHECK_INT(p.leases, 2);
	voice_free(p.v);
}

TEST(voice_kicked_is_left)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	paper_state(&p, 0, "s1");
	CHECK_INT(p.left, 1);
	CHECK_INT(voice_channel(p.v), 0);
	CHECK_INT(voice_state(p.v), VOICE_OUT);
	voice_free(p.v);
}

TEST(voice_disconnected_waits_for_discord_to_say_why)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	voice_media(p.v, MEDIA_PHASE_WAITING, MEDIA_REASON_DISCONNECTED, false, p.now);
	CHECK_INT(p.op4s, 1);
	CHECK_INT(voice_state(p.v), VOICE_HOLDING);
	paper_state(&p, 8, "s2");
	paper_server(&p, "t2");
	CHECK_INT(p.leases, 2);
	CHECK_INT(p.channel, 8);
	/* and when nothing comes, it asks */
	voice_media(p.v, MEDIA_PHASE_WAITING, MEDIA_REASON_DISCONNECTED, false, p.now);
	paper_wait(&p);
	CHECK_INT(p.op4s, 2);
	voice_free(p.v);
}

TEST(voice_new_identify_joins_again)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	voice_offline(p.v);
	voice_online(p.v, false, p.now); /* resumed: nothing to do */
	CHECK_INT(p.op4s, 1);
	voice_offline(p.v);
	voice_online(p.v, true, p.now);
	CHECK_INT(p.op4s, 2);
	paper_state(&p, 7, "s2");
	paper_server(&p, "t2");
	CHECK_INT(p.leases, 2);
	voice_free(p.v);
}

TEST(voice_offline_wishes_wait)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, false), 0);
	voice_join(p.v, 7, false, p.now);
	CHECK_INT(p.op4s, 0);
	CHECK_INT(voice_state(p.v), VOICE_WAITING);
	CHECK(voice_deadline(p.v) == UINT64_MAX);
	voice_online(p.v, false, p.now);
	CHECK_INT(p.op4s, 1);
	voice_offline(p.v);
	CHECK_INT(voice_state(p.v), VOICE_WAITING);
	voice_free(p.v);
}

TEST(voice_adopted_call_asks_for_nothing)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, false), 0);
	voice_adopt(p.v, 7, 7, false, p.now);
	voice_online(p.v, false, p.now);
	for (int i = 0; i < 10; i++)
		paper_wait(&p);
	CHECK_INT(p.op4s + p.leaves + p.leases, 0);
	/* mediad lost its call too: the session is not known, so a state must come */
	voice_media(p.v, MEDIA_PHASE_WAITING, MEDIA_REASON_NEW_CALL, true, p.now);
	CHECK_INT(p.op4s, 1);
	paper_server(&p, "t2");
	CHECK_INT(p.leases, 0);
	paper_wait(&p);
	CHECK_INT(p.leaves, 1);
	voice_free(p.v);
}

/* What a resumed session tells again must not be taken for news. */
TEST(voice_adopted_call_hears_the_past_without_acting_on_it)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, false), 0);
	voice_adopt(p.v, 7, 7, false, p.now);
	paper_state(&p, 0, "s1"); /* the previous control left to join again */
	paper_state(&p, 7, "s2");
	paper_server(&p, "used");
	voice_online(p.v, false, p.now);
	paper_wait(&p);
	CHECK_INT(p.op4s + p.leaves + p.leases + p.left, 0);
	CHECK_INT(voice_state(p.v), VOICE_IN);
	voice_free(p.v);
}

TEST(voice_adopted_wish_that_was_not_fulfilled_is_asked_for)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, false), 0);
	voice_adopt(p.v, 7, 0, false, p.now);
	voice_online(p.v, false, p.now);
	CHECK_INT(p.op4s, 1);
	voice_free(p.v);
}

TEST(voice_thrown_out_while_nobody_listened)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	voice_offline(p.v);
	paper_state(&p, 0, "s1");
	CHECK_INT(p.left, 0);
	voice_online(p.v, false, p.now);
	CHECK_INT(p.left, 1);
	CHECK_INT(p.op4s, 1);
	voice_free(p.v);
}

TEST(voice_moved_while_nobody_listened)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	voice_offline(p.v);
	paper_state(&p, 8, "s1");
	paper_server(&p, "t2");
	CHECK_INT(p.leases, 1);
	voice_online(p.v, false, p.now);
	CHECK_INT(p.moved, 1);
	CHECK_INT(p.leases, 2);
	CHECK_INT(p.channel, 8);
	voice_free(p.v);
}

TEST(voice_reconciles_every_ten_seconds)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	paper_wait(&p);
	CHECK_INT(p.op4s, 1);
	voice_offline(p.v);
	voice_online(p.v, false, p.now);
	CHECK_INT(voice_state(p.v), VOICE_IN);
	CHECK_INT(voice_deadline(p.v), p.now + 10 * NS_PER_S);
	voice_free(p.v);
}

TEST(voice_leave_ends_everything)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, true), 0);
	paper_join(&p, 7);
	voice_leave(p.v, p.now);
	CHECK_INT(p.leaves, 1);
	paper_state(&p, 0, NULL);
	paper_server(&p, "late");
	CHECK_INT(p.left, 0);
	CHECK_INT(p.leases, 1);
	CHECK_INT(voice_state(p.v), VOICE_OUT);
	voice_free(p.v);
}

/* A lease that no mediad takes would be lost: control requests nothing before one is there. */
TEST(voice_waits_for_a_mediad)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p, false), 0);
	voice_mediad(p.v, false, p.now);
	voice_online(p.v, true, p.now);
	CHECK_INT(voice_join(p.v, 7, true, p.now), VOICE_REASON_NONE);
	CHECK_INT(p.op4s, 0);
	CHECK_INT(voice_state(p.v), VOICE_WAITING);
	voice_mediad(p.v, true, p.now);
	CHECK_INT(p.op4s, 1);
	CHECK_INT(p.channel, 7);
	voice_free(p.v);
}
