#include "control/golive/streams.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/discord/voice.h"
#include "proto/base/time.h"
#include "proto/discord.h"
#include "proto/media.h"

enum { SESSION_SIZE = 128, TOKEN_SIZE = 256, ENDPOINT_SIZE = 256 };

enum stream_state {
	STREAM_WAITING, /* for the account to be in the channel */
	STREAM_ASKED,	/* for STREAM_CREATE and STREAM_SERVER_UPDATE */
	STREAM_LEASED,
	STREAM_RETRYING, /* for a while, after a session that failed */
};

struct stream {
	uint32_t id; /* 0: a free place */
	uint64_t owner;
	enum stream_state state;
	uint64_t until;
	unsigned leases;	  /* in a row; 0: there was none */
	uint64_t up_since;	  /* of its session; 0: it was not up */
	bool ends_first;	  /* our own: the one before it is to end */
	uint64_t server, channel; /* of its session; 0: not told since it was asked for */
	char token[TOKEN_SIZE], endpoint[ENDPOINT_SIZE];
};

struct streams {
	streams_act_h *h;
	void *arg;
	uint64_t account;
	bool up;
	uint32_t last_id;
	uint64_t cool_until;	 /* after a rate limit */
	uint64_t guild, channel; /* of all streams; 0: there are none */
	uint64_t in;		 /* the channel of this guild in which the account is; 0: none */
	char session[SESSION_SIZE];
	struct stream v[STREAMS_MAX];
};

int streams_alloc(struct streams **out, streams_act_h *h, void *arg)
{
	struct streams *s;

	if (!out || !h)
		return EINVAL;
	s = calloc(1, sizeof *s);
	if (!s)
		return ENOMEM;
	s->h = h;
	s->arg = arg;
	*out = s;
	return 0;
}

struct streams *streams_free(struct streams *s)
{
	if (s)
		explicit_bzero(s, sizeof *s);
	free(s);
	return NULL;
}

uint64_t streams_account(const struct streams *s)
{
	return s->account;
}

static void write_key(const struct streams *s, const struct stream *v, char key[STREAM_KEY_SIZE])
{
	snprintf(key, STREAM_KEY_SIZE, "guild:%" PRIu64 ":%" PRIu64 ":%" PRIu64, s->guild,
		 s->channel, v->owner);
}

static struct stream *find_stream(struct streams *s, uint32_t id)
{
	for (unsigned i = 0; i < STREAMS_MAX; i++)
		if (id && s->v[i].id == id)
			return &s->v[i];
	return NULL;
}

static struct stream *find_key(struct streams *s, const char *key)
{
	char own[STREAM_KEY_SIZE];

	for (unsigned i = 0; key && i < STREAMS_MAX; i++) {
		write_key(s, &s->v[i], own);
		if (s->v[i].id && strcmp(own, key) == 0)
			return &s->v[i];
	}
	return NULL;
}

static unsigned count_streams(const struct streams *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < STREAMS_MAX; i++)
		n += s->v[i].id != 0;
	return n;
}

/* ---- what is said ---- */

static void send_key(struct streams *s, const struct stream *v, enum streams_act_type type)
{
	char key[STREAM_KEY_SIZE];

	write_key(s, v, key);
	s->h(&(struct streams_act){.type = type, .stream = v->id, .key = key}, s->arg);
}

static void send_show(struct streams *s, const struct stream *v)
{
	char key[STREAM_KEY_SIZE];

	write_key(s, v, key);
	s->h(&(struct streams_act){.type = STREAMS_ACT_SHOW,
				   .stream = v->id,
				   .guild = s->guild,
				   .channel = s->channel,
				   .key = key},
	     s->arg);
}

static void send_voice(struct streams *s, uint64_t channel)
{
	s->h(&(struct streams_act){.type = STREAMS_ACT_VOICE,
				   .guild = s->guild,
				   .channel = channel},
	     s->arg);
}

static void ask_stream(struct streams *s, struct stream *v, uint64_t now)
{
	v->state = STREAM_ASKED;
	v->until = now + STREAMS_ASK_MS * NS_PER_MS;
	v->server = v->channel = 0;
	explicit_bzero(v->token, sizeof v->token);
	if (v->owner == s->account)
		send_show(s, v);
	else
		send_key(s, v, STREAMS_ACT_WATCH);
}

/* Our own stream cannot be asked for while it goes on, as one that is watched can. Its end is no
 * news then: streams_event. */
static void end_own(struct streams *s, struct stream *v)
{
	v->ends_first = v->owner == s->account && s->up && s->in == s->channel;
	if (v->ends_first)
		send_key(s, v, STREAMS_ACT_END);
}

/* Asks for the stream, or for the channel first. */
static void begin_stream(struct streams *s, struct stream *v, uint64_t now)
{
	if (s->up && s->in == s->channel) {
		ask_stream(s, v, now);
		return;
	}
	v->state = STREAM_WAITING;
	v->until = s->up ? now + STREAMS_ASK_MS * NS_PER_MS : UINT64_MAX;
}

/* The account leaves the channel with its last stream. */
static void forget_stream(struct streams *s, struct stream *v)
{
	explicit_bzero(v, sizeof *v);
	if (count_streams(s))
		return;
	if (s->up)
		send_voice(s, 0);
	s->guild = s->channel = s->in = 0;
}

static void end_for(struct streams *s, struct stream *v, const char *why, unsigned media_reason)
{
	uint32_t id = v->id;

	forget_stream(s, v);
	s->h(&(struct streams_act){.type = STREAMS_ACT_ENDED,
				   .stream = id,
				   .why = why,
				   .media_reason = media_reason},
	     s->arg);
}

static void end_stream(struct streams *s, struct stream *v, const char *why)
{
	end_for(s, v, why, MEDIA_REASON_NONE);
}

static void end_all(struct streams *s, const char *why)
{
	for (unsigned i = 0; i < STREAMS_MAX; i++)
		if (s->v[i].id)
			end_stream(s, &s->v[i], why);
}

static void give_lease(struct streams *s, struct stream *v)
{
	struct streams_act act = {.type = STREAMS_ACT_LEASE,
				  .stream = v->id,
				  .server = v->server,
				  .channel = v->channel,
				  .session = s->session,
				  .token = v->token,
				  .endpoint = v->endpoint};

	if (v->state != STREAM_ASKED || !v->server || !*v->token)
		return;
	v->state = STREAM_LEASED;
	v->until = UINT64_MAX;
	v->leases++;
	v->up_since = 0;
	s->h(&act, s->arg);
	explicit_bzero(v->token, sizeof v->token);
}

/* ---- what Discord tells ---- */

static uint64_t read_id(const json_t *d, const char *name)
{
	uint64_t id = 0;

	discord_snowflake(json_string_value(json_object_get(d, name)), &id);
	return id;
}

static bool copy_text(char *out, size_t size, const json_t *d, const char *name)
{
	const char *text = json_string_value(json_object_get(d, name));

	if (!text || !*text || strlen(text) >= size)
		return false;
	memcpy(out, text, strlen(text) + 1);
	return true;
}

static void take_voice(struct streams *s, const json_t *d, uint64_t now)
{
	uint64_t channel = read_id(d, "channel_id");

	if (read_id(d, "user_id") != s->account || !s->guild || read_id(d, "guild_id") != s->guild)
		return;
	if (channel != s->channel) {
		bool was = s->in && s->in == s->channel;

		s->in = channel;
		/* Before it was there this is the state that it had. */
		if (was)
			end_all(s, "left");
		return;
	}
	if (!copy_text(s->session, sizeof s->session, d, "session_id"))
		return;
	s->in = channel;
	for (unsigned i = 0; i < STREAMS_MAX; i++)
		if (s->v[i].id && s->v[i].state == STREAM_WAITING)
			ask_stream(s, &s->v[i], now);
}

static void take_created(struct streams *s, struct stream *v, const json_t *d)
{
	v->ends_first = false;
	v->server = read_id(d, "rtc_server_id");
	v->channel = read_id(d, "rtc_channel_id");
	/* The documented relation, where an older server does not tell it. */
	if (v->server && !v->channel)
		v->channel = v->server - 1;
	give_lease(s, v);
}

/* Without an endpoint the server is gone, and another one follows. */
static void take_server(struct streams *s, struct stream *v, const json_t *d)
{
	if (!copy_text(v->endpoint, sizeof v->endpoint, d, "endpoint") ||
	    !copy_text(v->token, sizeof v->token, d, "token"))
		return;
	/* A new server of a stream that has a session. */
	if (v->state == STREAM_LEASED)
		v->state = STREAM_ASKED;
	give_lease(s, v);
}

static void take_paused(struct streams *s, const struct stream *v, const json_t *d)
{
	const json_t *paused = json_object_get(d, "paused");

	if (json_is_boolean(paused))
		s->h(&(struct streams_act){.type = STREAMS_ACT_PAUSED,
					   .stream = v->id,
					   .paused = json_is_true(paused)},
		     s->arg);
}

static const char *name_end(const json_t *d)
{
	static const char *const known[] = {"user_requested",
					    "stream_ended",
					    "stream_full",
					    "unauthorized",
					    "invalid_channel",
					    "parse_failed",
					    "safety_guild_rate_limited"};
	const char *reason = json_string_value(json_object_get(d, "reason"));

	for (size_t i = 0; reason && i < sizeof known / sizeof known[0]; i++)
		if (strcmp(known[i], reason) == 0)
			return known[i];
	return "stream_ended";
}

/* Once, and for no other reason than that it was asked to. */
static void take_end(struct streams *s, struct stream *v, const char *why)
{
	bool asked = v->ends_first &&
		     (strcmp(why, "user_requested") == 0 || strcmp(why, "stream_ended") == 0);

	v->ends_first = false;
	if (!asked)
		end_stream(s, v, why);
}

const char *streams_explain(const char *why)
{
	static const struct {
		const char *why, *clause;
	} all[] = {
		{"no_answer", "there was no answer; the account may not be a member here, or may "
			      "not join the channel"},
		{"unauthorized", "the account may not do this here"},
		{"stream_full", "the stream has as many viewers as it can have"},
		{"left", "the account was taken out of the voice channel"},
		{"not_encrypted", "the stream would not be end-to-end encrypted"},
		{"rate_limited",
		 "it may work again in a minute, because Discord asked to slow down"},
		{"no_session", "the account got no connection to the stream"},
		{"invalid_channel", "streams are not possible in this channel"},
		{"safety_guild_rate_limited", "streams in this server are limited now"},
	};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (strcmp(all[i].why, why) == 0)
			return all[i].clause;
	return "the stream was ended";
}

void streams_event(struct streams *s, const char *name, const json_t *d, uint64_t now)
{
	struct stream *v = find_key(s, json_string_value(json_object_get(d, "stream_key")));

	if (strcmp(name, "VOICE_STATE_UPDATE") == 0)
		take_voice(s, d, now);
	else if (!v)
		return;
	else if (strcmp(name, "STREAM_CREATE") == 0)
		take_created(s, v, d);
	else if (strcmp(name, "STREAM_SERVER_UPDATE") == 0)
		take_server(s, v, d);
	else if (strcmp(name, "STREAM_UPDATE") == 0)
		take_paused(s, v, d);
	else if (strcmp(name, "STREAM_DELETE") == 0)
		take_end(s, v, name_end(d));
}

void streams_online(struct streams *s, uint64_t account, bool fresh, uint64_t now)
{
	s->up = true;
	if (fresh)
		s->account = account;
	if (!count_streams(s))
		return;
	if (fresh)
		s->in = 0;
	for (unsigned i = 0; i < STREAMS_MAX; i++) {
		struct stream *v = &s->v[i];

		if (!v->id || (!fresh && v->state == STREAM_LEASED))
			continue;
		/* It was asked for before the gateway was away, and may still go on. */
		if (v->leases || v->state == STREAM_ASKED)
			end_own(s, v);
		begin_stream(s, v, now);
	}
	if (s->in != s->channel)
		send_voice(s, s->channel);
}

void streams_offline(struct streams *s)
{
	s->up = false;
	for (unsigned i = 0; i < STREAMS_MAX; i++)
		s->v[i].until = UINT64_MAX;
}

/* ---- what is wanted ---- */

int streams_open(struct streams *s, uint64_t guild, uint64_t channel, uint64_t owner, uint64_t now,
		 uint32_t *out)
{
	struct stream *place = NULL;
	bool first = !count_streams(s);

	if (!s->up || !s->account)
		return ENOTCONN;
	if (now < s->cool_until)
		return EAGAIN;
	if (!first && (guild != s->guild || channel != s->channel))
		return EBUSY;
	for (unsigned i = STREAMS_MAX; i-- > 0;) {
		if (s->v[i].id && s->v[i].owner == owner) {
			*out = s->v[i].id;
			return EALREADY;
		}
		if (!s->v[i].id)
			place = &s->v[i];
	}
	if (!place)
		return EBUSY;
	s->guild = guild;
	s->channel = channel;
	if (!++s->last_id)
		s->last_id = 1;
	*place = (struct stream){.id = s->last_id, .owner = owner};
	*out = place->id;
	begin_stream(s, place, now);
	if (first)
		send_voice(s, channel);
	return 0;
}

void streams_close(struct streams *s, uint32_t stream, uint64_t now)
{
	struct stream *v = find_stream(s, stream);

	(void)now;
	if (!v)
		return;
	if (s->up && v->state != STREAM_WAITING)
		send_key(s, v, STREAMS_ACT_END);
	forget_stream(s, v);
}

/* The first wait, times the growth for each lease before this one. */
static uint64_t retry_wait(const struct stream *v)
{
	uint64_t ms = STREAMS_RETRY_MS;

	for (unsigned i = 1; i < v->leases && ms < VOICE_RETRY_MAX_MS; i++)
		ms *= STREAMS_RETRY_GROWTH;
	return (ms < VOICE_RETRY_MAX_MS ? ms : VOICE_RETRY_MAX_MS) * NS_PER_MS;
}

static void renew(struct streams *s, struct stream *v, unsigned reason, uint64_t now)
{
	if (v->state != STREAM_LEASED)
		return;
	if (v->up_since && now >= v->up_since + VOICE_GOOD_MS * NS_PER_MS)
		v->leases = 1;
	v->up_since = 0;
	if (v->leases >= STREAMS_LEASES) {
		end_for(s, v, "no_session", reason);
		return;
	}
	v->state = STREAM_RETRYING;
	v->until = now + retry_wait(v);
}

void streams_media(struct streams *s, uint32_t stream, unsigned phase, unsigned reason, bool wants,
		   uint64_t now)
{
	struct stream *v = find_stream(s, stream);

	/* Before its first lease nothing that mediad says is about a session of Discord's. */
	if (!v || !v->leases)
		return;
	if (phase == MEDIA_PHASE_UP) {
		v->up_since = v->up_since ? v->up_since : now;
	} else if (phase == MEDIA_PHASE_FAILED && media_reason_is_final(reason)) {
		if (reason == MEDIA_REASON_RATE_LIMITED)
			s->cool_until = now + VOICE_COOL_MS * NS_PER_MS;
		end_for(s, v,
			reason == MEDIA_REASON_RATE_LIMITED || reason == MEDIA_REASON_NOT_ENCRYPTED
				? media_reason_name(reason)
				: "no_session",
			reason);
	} else if (wants || phase == MEDIA_PHASE_FAILED) {
		renew(s, v, reason, now);
	}
}

void streams_tick(struct streams *s, uint64_t now)
{
	for (unsigned i = 0; i < STREAMS_MAX; i++) {
		struct stream *v = &s->v[i];

		if (!v->id || now < v->until)
			continue;
		if (v->state != STREAM_RETRYING) {
			end_stream(s, v, "no_answer");
			continue;
		}
		end_own(s, v);
		begin_stream(s, v, now);
	}
}

uint64_t streams_deadline(const struct streams *s)
{
	uint64_t at = UINT64_MAX;

	for (unsigned i = 0; i < STREAMS_MAX; i++)
		if (s->v[i].id && s->v[i].until < at)
			at = s->v[i].until;
	return at;
}
