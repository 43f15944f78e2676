#include "control/golive/streams.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/discord/voice.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/test.h"

#define GUILD	UINT64_C(41)
#define CHANNEL UINT64_C(51)
#define OTHER	UINT64_C(52)
#define ALICE	UINT64_C(501)
#define BOB	UINT64_C(502)
#define ACCOUNT UINT64_C(700)
#define KEY	"guild:41:51:501"

/* What was said, and the last of each. */
static struct {
	struct streams *s;
	uint64_t now;
	unsigned voices, watches, shows, ends, leases, endeds, pauses;
	uint64_t channel, server, lease_channel;
	char key[STREAM_KEY_SIZE], token[32], session[32], endpoint[32], why[32];
	uint32_t ended;
	unsigned reason;
	bool paused;
} t;

static void copy(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%s", text);
}

static void take(const struct streams_act *act, void *arg)
{
	(void)arg;
	if (act->type == STREAMS_ACT_VOICE) {
		t.voices++;
		t.channel = act->channel;
	} else if (act->type == STREAMS_ACT_WATCH || act->type == STREAMS_ACT_END) {
		*(act->type == STREAMS_ACT_WATCH ? &t.watches : &t.ends) += 1;
		copy(t.key, sizeof t.key, act->key);
	} else if (act->type == STREAMS_ACT_SHOW) {
		t.shows++;
	} else if (act->type == STREAMS_ACT_LEASE) {
		t.leases++;
		t.server = act->server;
		t.lease_channel = act->channel;
		copy(t.token, sizeof t.token, act->token);
		copy(t.session, sizeof t.session, act->session);
		copy(t.endpoint, sizeof t.endpoint, act->endpoint);
	} else if (act->type == STREAMS_ACT_PAUSED) {
		t.pauses++;
		t.paused = act->paused;
	} else {
		t.endeds++;
		t.ended = act->stream;
		t.reason = act->media_reason;
		copy(t.why, sizeof t.why, act->why);
	}
}

static void hear(const char *name, json_t *d)
{
	streams_event(t.s, name, d, t.now);
	json_decref(d);
}

static void hear_voice(const char *channel, const char *session)
{
	hear("VOICE_STATE_UPDATE", json_pack("{s:s,s:s,s:s?,s:s}", "guild_id", "41", "user_id",
					     "700", "channel_id", channel, "session_id", session));
}

static void hear_created(const char *key)
{
	hear("STREAM_CREATE", json_pack("{s:s,s:s,s:s,s:b}", "stream_key", key, "rtc_server_id",
					"91", "rtc_channel_id", "90", "paused", 0));
}

static void hear_server(const char *token)
{
	hear("STREAM_SERVER_UPDATE", json_pack("{s:s,s:s,s:s,s:n}", "stream_key", KEY, "token",
					       token, "endpoint", "host:1", "guild_id"));
}

static bool begin(void)
{
	memset(&t, 0, sizeof t);
	t.now = 100 * NS_PER_S;
	if (streams_alloc(&t.s, take, NULL))
		return false;
	streams_online(t.s, ACCOUNT, true, t.now);
	return true;
}

static uint32_t watch(uint64_t user)
{
	uint32_t stream = 0;

	return streams_open(t.s, GUILD, CHANNEL, user, t.now, &stream) ? 0 : stream;
}

/* Watches alice to the lease. */
static uint32_t lease(void)
{
	uint32_t stream = watch(ALICE);

	hear_voice("51", "session");
	hear_created(KEY);
	hear_server("token");
	return stream;
}

static void end(void)
{
	t.s = streams_free(t.s);
}

TEST_OOM(streams_allocates)
{
	struct streams *s = NULL;
	int err = streams_alloc(&s, take, NULL);

	CHECK_OOM(err, (void)0);
	streams_free(s);
}

TEST(a_stream_is_watched_from_the_channel_on_and_leased_once)
{
	CHECK(begin());
	CHECK(watch(ALICE) != 0);
	CHECK(t.voices == 1 && t.channel == CHANNEL && !t.watches);
	/* The state before, and that of others, mean nothing. */
	hear_voice(NULL, "session");
	hear("VOICE_STATE_UPDATE", json_pack("{s:s,s:s,s:s,s:s}", "guild_id", "41", "user_id",
					     "502", "channel_id", "51", "session_id", "bob"));
	CHECK(!t.watches && !t.endeds);
	hear_voice("51", "session");
	CHECK_INT(t.watches, 1);
	CHECK_STR(t.key, KEY);
	hear_server("token");
	CHECK(!t.leases);
	hear_created("guild:41:51:502");
	CHECK(!t.leases);
	hear_created(KEY);
	CHECK(t.leases == 1 && t.server == 91 && t.lease_channel == 90);
	CHECK_STR(t.token, "token");
	CHECK_STR(t.session, "session");
	CHECK_STR(t.endpoint, "host:1");
	hear_created(KEY);
	CHECK_INT(t.leases, 1);
	CHECK_INT(streams_deadline(t.s), UINT64_MAX);
	end();
}

static void hear_media(uint32_t stream, unsigned phase, unsigned reason)
{
	streams_media(t.s, stream, phase, reason, false, t.now);
}

/* Gets the next lease, and returns how long it took. */
static uint64_t next_lease(void)
{
	uint64_t wait = streams_deadline(t.s) - t.now;

	t.now = streams_deadline(t.s);
	streams_tick(t.s, t.now);
	hear_created(KEY);
	hear_server("next");
	return wait / NS_PER_MS;
}

TEST(a_stream_that_has_no_session_asks_for_other_leases_and_then_ends)
{
	static const uint64_t waits[] = {500, 2500, 12500, 60000};
	uint32_t stream;

	CHECK(begin());
	stream = lease();
	for (unsigned i = 2; i <= STREAMS_LEASES; i++) {
		streams_media(t.s, stream, MEDIA_PHASE_WAITING, MEDIA_REASON_SESSION_INVALID, true,
			      t.now);
		hear_media(stream, MEDIA_PHASE_FAILED, MEDIA_REASON_UNREACHABLE);
		CHECK_INT(t.watches, i - 1);
		CHECK_INT(next_lease(), waits[i - 2]);
		CHECK_INT(t.watches, i);
		CHECK_INT(t.leases, i);
	}
	hear_media(stream, MEDIA_PHASE_FAILED, MEDIA_REASON_UNREACHABLE);
	CHECK(t.endeds == 1 && t.ended == stream);
	CHECK_STR(t.why, "no_session");
	CHECK_INT(t.reason, MEDIA_REASON_UNREACHABLE);
	end();
}

TEST(a_stream_that_only_comes_up_has_no_more_leases_than_one_that_does_not)
{
	uint32_t stream;

	CHECK(begin());
	stream = lease();
	/* One that stayed up for a while begins to count anew. */
	for (unsigned i = 0; i < 2 * STREAMS_LEASES; i++) {
		hear_media(stream, MEDIA_PHASE_UP, MEDIA_REASON_NONE);
		t.now += VOICE_GOOD_MS * NS_PER_MS;
		hear_media(stream, MEDIA_PHASE_UP, MEDIA_REASON_NONE);
		hear_media(stream, MEDIA_PHASE_FAILED, MEDIA_REASON_SESSION_INVALID);
		CHECK_INT(next_lease(), STREAMS_RETRY_MS);
	}
	CHECK_INT(t.endeds, 0);
	for (unsigned i = 2; i < STREAMS_LEASES; i++) {
		hear_media(stream, MEDIA_PHASE_UP, MEDIA_REASON_NONE);
		t.now += (VOICE_GOOD_MS - 1) * NS_PER_MS;
		hear_media(stream, MEDIA_PHASE_FAILED, MEDIA_REASON_SESSION_INVALID);
		CHECK(next_lease() > STREAMS_RETRY_MS);
	}
	CHECK_INT(t.endeds, 0);
	hear_media(stream, MEDIA_PHASE_UP, MEDIA_REASON_NONE);
	hear_media(stream, MEDIA_PHASE_FAILED, MEDIA_REASON_SESSION_INVALID);
	CHECK(t.endeds == 1 && t.ended == stream);
	CHECK_INT(t.reason, MEDIA_REASON_SESSION_INVALID);
	end();
}

TEST(a_stream_ends_with_a_session_that_ends_for_good)
{
	static const unsigned final[] = {MEDIA_REASON_NOT_ENCRYPTED,
					 MEDIA_REASON_ENCRYPTION_REQUIRED,
					 MEDIA_REASON_NO_COMMON_MODE, MEDIA_REASON_VERSION_REFUSED};
	uint32_t stream;

	CHECK(begin());
	for (unsigned i = 0; i < sizeof final / sizeof final[0]; i++) {
		stream = lease();
		hear_media(stream, MEDIA_PHASE_UP, MEDIA_REASON_NONE);
		/* Also while another lease is waited for. */
		if (i == 0)
			streams_media(t.s, stream, MEDIA_PHASE_WAITING,
				      MEDIA_REASON_SESSION_INVALID, true, t.now);
		hear_media(stream, MEDIA_PHASE_FAILED, final[i]);
		CHECK_INT(t.endeds, i + 1);
		CHECK_INT(t.reason, final[i]);
		CHECK_INT(streams_deadline(t.s), UINT64_MAX);
	}
	CHECK_INT(t.leases, t.endeds);
	/* What mediad says before the first lease is about no session of Discord's. */
	stream = watch(ALICE);
	hear_media(stream, MEDIA_PHASE_FAILED, MEDIA_REASON_NOT_ENCRYPTED);
	CHECK_INT(t.endeds, sizeof final / sizeof final[0]);
	end();
}

TEST(no_stream_is_asked_for_in_the_minute_after_a_rate_limit)
{
	uint32_t stream;

	CHECK(begin());
	hear_media(lease(), MEDIA_PHASE_FAILED, MEDIA_REASON_RATE_LIMITED);
	CHECK_INT(t.reason, MEDIA_REASON_RATE_LIMITED);
	CHECK_INT(streams_open(t.s, GUILD, CHANNEL, BOB, t.now, &stream), EAGAIN);
	t.now += VOICE_COOL_MS * NS_PER_MS - 1;
	CHECK_INT(streams_open(t.s, GUILD, CHANNEL, BOB, t.now, &stream), EAGAIN);
	t.now++;
	CHECK(watch(BOB) != 0);
	end();
}

TEST(another_server_of_a_stream_is_another_lease)
{
	CHECK(begin());
	lease();
	hear("STREAM_SERVER_UPDATE",
	     json_pack("{s:s,s:s,s:n}", "stream_key", KEY, "token", "x", "endpoint"));
	CHECK_INT(t.leases, 1);
	hear_server("second");
	CHECK_INT(t.leases, 2);
	CHECK_STR(t.token, "second");
	end();
}

TEST(a_stream_ends_by_its_owner_by_time_and_by_who_moves_the_account)
{
	uint32_t stream;

	CHECK(begin());
	stream = lease();
	hear("STREAM_DELETE", json_pack("{s:s,s:s}", "stream_key", KEY, "reason", "stream_full"));
	CHECK(t.endeds == 1 && t.ended == stream);
	CHECK_STR(t.why, "stream_full");
	CHECK(t.voices == 2 && t.channel == 0);
	stream = watch(ALICE);
	t.now = streams_deadline(t.s);
	streams_tick(t.s, t.now - 1);
	CHECK_INT(t.endeds, 1);
	streams_tick(t.s, t.now);
	CHECK(t.endeds == 2 && t.ended == stream);
	CHECK_STR(t.why, "no_answer");
	lease();
	hear_voice("52", "session");
	CHECK_INT(t.endeds, 3);
	CHECK_STR(t.why, "left");
	CHECK_STR(streams_explain(t.why), "the account was taken out of the voice channel");
	CHECK_STR(streams_explain("stream_ended"), "the stream was ended");
	/* A reason that nobody knows is none for the log. */
	lease();
	hear("STREAM_DELETE", json_pack("{s:s,s:s}", "stream_key", KEY, "reason", "\n forged"));
	CHECK_STR(t.why, "stream_ended");
	end();
}

TEST(the_account_leaves_with_its_last_stream)
{
	uint32_t first, second;

	CHECK(begin());
	first = lease();
	second = watch(BOB);
	CHECK_INT(t.watches, 2);
	streams_close(t.s, first, t.now);
	CHECK(t.ends == 1 && t.voices == 1);
	CHECK_STR(t.key, KEY);
	streams_close(t.s, second, t.now);
	CHECK(t.ends == 2 && t.voices == 2 && t.channel == 0 && !t.endeds);
	end();
}

TEST(streams_are_of_one_channel_and_not_too_many)
{
	uint32_t stream, again = 0;

	CHECK(begin());
	stream = lease();
	CHECK_INT(streams_open(t.s, GUILD, OTHER, BOB, t.now, &again), EBUSY);
	CHECK_INT(streams_open(t.s, GUILD, CHANNEL, ALICE, t.now, &again), EALREADY);
	CHECK_INT(again, stream);
	for (unsigned i = 1; i < STREAMS_MAX; i++)
		CHECK(watch(BOB + i) != 0);
	CHECK_INT(streams_open(t.s, GUILD, CHANNEL, BOB, t.now, &again), EBUSY);
	end();
}

TEST(a_new_session_of_the_gateway_asks_for_all_anew)
{
	CHECK(begin());
	lease();
	streams_offline(t.s);
	CHECK_INT(streams_deadline(t.s), UINT64_MAX);
	CHECK(!watch(BOB));
	streams_online(t.s, 0, false, t.now);
	CHECK(t.voices == 1 && t.watches == 1);
	streams_offline(t.s);
	streams_online(t.s, ACCOUNT, true, t.now);
	CHECK(t.voices == 2 && t.channel == CHANNEL && t.watches == 1);
	hear_voice("51", "second");
	hear_created(KEY);
	hear_server("token");
	CHECK(t.watches == 2 && t.leases == 2);
	CHECK_STR(t.session, "second");
	end();
}

TEST(the_accounts_own_stream_is_shown)
{
	CHECK(begin());
	CHECK(watch(ACCOUNT) != 0);
	hear_voice("51", "session");
	CHECK(t.shows == 1 && !t.watches);
	hear_created("guild:41:51:700");
	hear("STREAM_SERVER_UPDATE", json_pack("{s:s,s:s,s:s}", "stream_key", "guild:41:51:700",
					       "token", "own", "endpoint", "host:1"));
	CHECK_INT(t.leases, 1);
	end();
}

static void hear_own(const char *name, const char *reason)
{
	hear(name, json_pack("{s:s,s:s,s:s,s:s,s:s}", "stream_key", "guild:41:51:700", "reason",
			     reason, "rtc_server_id", "91", "token", "own", "endpoint", "host:1"));
}

TEST(the_accounts_own_stream_goes_on_with_another_session)
{
	uint32_t stream;

	CHECK(begin());
	stream = watch(ACCOUNT);
	hear_voice("51", "session");
	hear_own("STREAM_CREATE", "");
	hear_own("STREAM_SERVER_UPDATE", "");
	for (unsigned i = 1; i <= 2; i++) {
		hear_media(stream, MEDIA_PHASE_FAILED, MEDIA_REASON_SESSION_INVALID);
		t.now = streams_deadline(t.s);
		streams_tick(t.s, t.now);
		CHECK(t.ends == i && t.shows == i + 1);
		hear_own("STREAM_DELETE", "user_requested");
		hear_own("STREAM_CREATE", "");
		hear_own("STREAM_SERVER_UPDATE", "");
		CHECK(t.leases == i + 1 && !t.endeds);
	}
	/* One end was asked for, and for one reason. */
	hear_media(stream, MEDIA_PHASE_FAILED, MEDIA_REASON_SESSION_INVALID);
	t.now = streams_deadline(t.s);
	streams_tick(t.s, t.now);
	hear_own("STREAM_DELETE", "unauthorized");
	CHECK_INT(t.endeds, 1);
	end();
}

/* Its session is lost while the gateway is away, before or after the wait for another one. */
TEST(the_accounts_own_stream_outlives_a_gateway_that_was_away)
{
	uint32_t stream;

	CHECK(begin());
	stream = watch(ACCOUNT);
	hear_voice("51", "session");
	hear_own("STREAM_CREATE", "");
	hear_own("STREAM_SERVER_UPDATE", "");
	for (unsigned i = 1; i <= 2; i++) {
		streams_offline(t.s);
		hear_media(stream, MEDIA_PHASE_FAILED, MEDIA_REASON_SESSION_INVALID);
		t.now = streams_deadline(t.s);
		if (i == 2)
			streams_tick(t.s, t.now);
		CHECK(t.ends == i - 1 && t.shows == i);
		streams_online(t.s, ACCOUNT, false, t.now);
		CHECK(t.ends == i && t.shows == i + 1);
		hear_own("STREAM_DELETE", "user_requested");
		hear_own("STREAM_CREATE", "");
		hear_own("STREAM_SERVER_UPDATE", "");
		CHECK(t.leases == i + 1 && !t.endeds);
	}
	/* A first question has nothing to end. */
	streams_close(t.s, stream, t.now);
	streams_offline(t.s);
	streams_online(t.s, ACCOUNT, false, t.now);
	watch(ACCOUNT);
	streams_offline(t.s);
	streams_online(t.s, ACCOUNT, false, t.now);
	hear_voice("51", "session");
	CHECK(t.ends == 3 && t.shows == 4);
	end();
}

TEST(a_stream_that_is_paused_says_so)
{
	CHECK(begin());
	lease();
	hear("STREAM_UPDATE", json_pack("{s:s,s:b}", "stream_key", KEY, "paused", 1));
	CHECK(t.pauses == 1 && t.paused);
	end();
}

TEST(malformed_events_of_streams_are_dropped)
{
	char large[600];

	CHECK(begin());
	watch(ALICE);
	hear_voice("51", "session");
	memset(large, 'x', sizeof large - 1);
	large[sizeof large - 1] = '\0';
	hear("STREAM_CREATE", json_pack("{s:s,s:i}", "stream_key", KEY, "rtc_server_id", 7));
	hear_server(large);
	hear_server("");
	hear("STREAM_SERVER_UPDATE", json_pack("{s:s,s:i}", "stream_key", KEY, "token", 7));
	hear("STREAM_DELETE", json_pack("{s:i}", "stream_key", 7));
	hear("STREAM_UPDATE", json_pack("{s:s,s:s}", "stream_key", KEY, "paused", "yes"));
	streams_event(t.s, "STREAM_CREATE", NULL, t.now);
	streams_event(t.s, "VOICE_STATE_UPDATE", NULL, t.now);
	hear_voice("51", large);
	CHECK(!t.leases && !t.endeds && !t.pauses);
	end();
}
