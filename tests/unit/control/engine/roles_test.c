/* Who serves what: the order of providers, failover, and asks of turns, against scripted servers.
 */
#include "control/engine/roles.h"

#include "control/settings/settings.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/control/engine/fake_realtime.h"
#include "tests/unit/control/fake_http.h"

static struct seen {
	struct fake_http fake;
	struct settings *settings;
	struct roles *roles;
	char events[1024];
	unsigned n, want;
	unsigned fails;	    /* requests that are refused first */
	const char *holds;  /* their retry-after-ms; NULL: none */
	const char *quotes; /* the answer to every request */
	unsigned hangs;	    /* requests that are accepted first and never answered */
	unsigned stalls;    /* requests whose answer begins first and never goes on */
	char failovers[200];
	unsigned answers; /* times that a silent provider was told to answer again */
} fx;

static void on_event(const struct roles_event *ev, void *arg)
{
	static const char *const uses[] = {"voice",	 "reply",   "decision",	   "speech",
					   "transcribe", "summary", "interruption"};
	static const char *const types[] = {"audio", "words", "done",	 "failed",     "silent",
					    "up",    "down",  "partial", "transcript", "none"};
	size_t at = strlen(fx.events);

	(void)arg;
	if (ev->engine->type == ENGINE_USAGE)
		return;
	if (ev->engine->type == ENGINE_FAILOVER) {
		at = strlen(fx.failovers);
		snprintf(fx.failovers + at, sizeof fx.failovers - at, "%s %s>%s ",
			 role_name(roles_role(ev->use)), ev->provider->name, ev->next->name);
		return;
	}
	fx.answers += ev->answers;
	snprintf(fx.events + at, sizeof fx.events - at, "%s %s %u.%u %.*s\n", uses[ev->use],
		 types[ev->engine->type], ev->turn, ev->chunk, (int)ev->engine->data.n,
		 ev->engine->data.n ? (const char *)ev->engine->data.p : "");
	if (++fx.n == fx.want)
		env_stop(fx.fake.env);
}

static void refuse(struct evhttp_request *req)
{
	if (fx.holds)
		evhttp_add_header(evhttp_request_get_output_headers(req), "retry-after-ms",
				  fx.holds);
	fake_http_answer(req, fx.holds ? 429 : 503, "application/json", "{}", 2);
}

static void server(struct fake_http *f, struct evhttp_request *req)
{
	static const char words[] =
		"data: "
		"{\"choices\":[{\"delta\":{\"content\":\"Ten.\"},\"finish_reason\":\"stop\"}]}\n\n";
	static const char yes[] = "{\"choices\":[{\"message\":{\"content\":\"YES\"}}]}";

	static const char first[] = "data: {\"choices\":[{\"delta\":{\"content\":\"Ten\"}}]}\n\n";

	if (fx.stalls && fx.stalls--) {
		bool speaks = strstr(f->path, "speech");

		fake_http_open(f, req, speaks ? "audio/pcm" : "text/event-stream");
		fake_http_piece(req, speaks ? "abcd" : first, speaks ? 4 : sizeof first - 1);
	} else if (fx.quotes)
		fake_http_answer(req, 401, "application/json", fx.quotes, strlen(fx.quotes));
	else if (fx.hangs && fx.hangs--)
		fake_http_open(f, req, "audio/pcm");
	else if (fx.fails && fx.fails--)
		refuse(req);
	else if (strstr(f->path, "speech"))
		fake_http_answer(req, 200, "audio/pcm", "abcd", 4);
	else if (strstr((char *)f->body, "\"stream\":true"))
		fake_http_answer(req, 200, "text/event-stream", words, sizeof words - 1);
	else
		fake_http_answer(req, 200, "application/json", yes, sizeof yes - 1);
}

static bool begin_with(const char *roles_text)
{
	struct settings *s;

	memset(&fx, 0, sizeof fx);
	if (!fake_http_begin(&fx.fake, server, NULL) || settings_alloc(&fx.settings))
		return false;
	s = fx.settings;
	if (settings_set(s, "reply_path", "brain") || settings_set(s, "asr_sessions", "file"))
		return false;
	if (roles_text && (settings_set(s, "text_url", fx.fake.base) ||
			   settings_set(s, "speech_url", fx.fake.base)))
		return false;
	/* The second one of the list. */
	if (roles_text && *roles_text) {
		struct settings_records *r = &s->records;
		struct provider_record *p = &r->provider[r->n[RECORD_KIND_PROVIDER]++];

		snprintf(p->name, sizeof p->name, "spare");
		snprintf(p->url, sizeof p->url, "%s/spare", fx.fake.base);
		r->role[ROLE_TEXT].n = 2;
		snprintf(r->role[ROLE_TEXT].name[0], RECORD_NAME_MAX, "text");
		snprintf(r->role[ROLE_TEXT].name[1], RECORD_NAME_MAX, "spare");
		r->role[ROLE_TRANSCRIBE] = r->role[ROLE_TEXT];
		r->role[ROLE_SPEECH].n = 2;
		snprintf(r->role[ROLE_SPEECH].name[0], RECORD_NAME_MAX, "speech");
		snprintf(r->role[ROLE_SPEECH].name[1], RECORD_NAME_MAX, "spare");
		settings_resolve(s);
	}
	return !roles_alloc(&fx.roles, &(struct roles_conf){.env = fx.fake.env,
							    .http = fx.fake.http,
							    .settings = s,
							    .h = on_event});
}

static void end(void)
{
	roles_free(fx.roles);
	settings_free(fx.settings);
	fake_http_end(&fx.fake);
}

static void run(unsigned want)
{
	fx.n = 0;
	fx.want = want;
	/* It also stops when a client closes a connection. */
	do
		env_run(fx.fake.env);
	while (fx.n < want && !fx.fake.timed_out);
	CHECK(!fx.fake.timed_out);
}

static void ask(enum engine_use use, uint32_t turn, uint32_t chunk)
{
	const struct engine_message m = {
		.role = ENGINE_USER, .speaker = "", .text = "[Alice]: when"};
	const struct engine_ask a = {.turn = turn,
				     .one_word = use == ENGINE_USE_DECISION,
				     .instructions = "You are.",
				     .messages = &m,
				     .n = 1};

	roles_ask(fx.roles, use, chunk, &a);
}

static const char *said(void)
{
	static char events[sizeof fx.events];

	memcpy(events, fx.events, sizeof events);
	fx.events[0] = '\0';
	return events;
}

static void stop_loop(void *arg)
{
	env_stop(arg);
}

TEST(each_use_is_asked_of_its_role)
{
	CHECK(begin_with(""));
	ask(ENGINE_USE_REPLY, 7, 0);
	run(2);
	CHECK_STR(said(), "reply words 7.0 Ten.\nreply done 7.0 \n");
	CHECK(strstr((char *)fx.fake.body, "\"content\":\"You are.\"}"));
	CHECK_INT(roles_health(fx.roles, ENGINE_USE_REPLY), ROLES_UP);
	ask(ENGINE_USE_SPEECH, 7, 2);
	run(2);
	CHECK_STR(said(), "speech audio 7.2 abcd\nspeech done 7.2 \n");
	ask(ENGINE_USE_DECISION, 3, 0);
	run(2);
	CHECK_STR(said(), "decision words 3.0 YES\ndecision done 3.0 \n");
	/* Asking again is a new ask of the same turn. */
	roles_ask_again(fx.roles, ENGINE_USE_REPLY, 7);
	run(2);
	CHECK_STR(said(), "reply words 7.0 Ten.\nreply done 7.0 \n");
	/* A new key, of the next request on. */
	CHECK_STR(fx.fake.auth, "");
	CHECK_INT(settings_set(fx.settings, "text_key", "rotated"), 0);
	roles_settings(fx.roles);
	ask(ENGINE_USE_REPLY, 6, 0);
	run(2);
	CHECK_STR(fx.fake.auth, "Bearer rotated");
	said();
	/* Nothing of what is cancelled comes. */
	ask(ENGINE_USE_REPLY, 8, 0);
	ask(ENGINE_USE_SPEECH, 8, 0);
	roles_cancel(fx.roles, ENGINE_USE_REPLY, 8);
	roles_cancel(fx.roles, ENGINE_USE_SPEECH, 8);
	ask(ENGINE_USE_REPLY, 8, 0);
	ask(ENGINE_USE_SUMMARY, 0, 0);
	roles_cancel_all(fx.roles);
	ask(ENGINE_USE_DECISION, 9, 0);
	run(2);
	CHECK_STR(said(), "decision words 9.0 YES\ndecision done 9.0 \n");
	end();
}

TEST(the_next_provider_takes_over)
{
	CHECK(begin_with("two"));
	fx.fails = 1;
	ask(ENGINE_USE_REPLY, 7, 0);
	run(2);
	CHECK_STR(said(), "reply words 7.0 Ten.\nreply done 7.0 \n");
	CHECK_STR(fx.fake.path, "/v1/spare/chat/completions");
	CHECK_STR(fx.failovers, "text text>spare ");
	/* The first one rests. */
	ask(ENGINE_USE_REPLY, 8, 0);
	run(2);
	CHECK_STR(fx.fake.path, "/v1/spare/chat/completions");
	said();
	/* When all fail twice it is told, once. */
	fx.fails = 4;
	ask(ENGINE_USE_REPLY, 9, 0);
	run(1);
	CHECK_STR(said(), "reply failed 9.0 status 503\n");
	CHECK_INT(fx.fails, 0);
	CHECK_STR(fx.failovers, "text text>spare text spare>text text text>spare ");
	CHECK_INT(roles_health(fx.roles, ENGINE_USE_REPLY), ROLES_DOWN);
	end();
}

/* The wait that a provider asks for, where it is the only one: a person puts up with a short one.
 */
TEST(a_provider_that_asks_for_a_short_wait_is_asked_after_it)
{
	static const enum engine_use uses[] = {ENGINE_USE_REPLY, ENGINE_USE_SPEECH};

	for (unsigned i = 0; i < 2; i++) {
		uint64_t from;

		CHECK(begin_with(""));
		fx.fails = 1;
		fx.holds = "900";
		from = env_now(fx.fake.env);
		ask(uses[i], 7, 0);
		run(2);
		CHECK_STR(said(), i ? "speech audio 7.0 abcd\nspeech done 7.0 \n"
				    : "reply words 7.0 Ten.\nreply done 7.0 \n");
		CHECK(env_now(fx.fake.env) - from >= 900 * NS_PER_MS);
		CHECK_INT(fx.fake.requests, 2);
		end();
	}
}

TEST(a_provider_that_asks_for_a_long_wait_is_left_alone)
{
	CHECK(begin_with(""));
	fx.fails = 1;
	fx.holds = "30000";
	ask(ENGINE_USE_REPLY, 7, 0);
	run(1);
	CHECK_STR(said(),
		  "reply failed 7.0 status 429 rate_limit_exceeded, retry after 30000 ms\n");
	/* The next question is not even sent. */
	ask(ENGINE_USE_REPLY, 8, 0);
	CHECK_STR(said(), "reply failed 8.0 rate_limit: the provider asked for a longer wait\n");
	CHECK_INT(fx.fake.requests, 1);
	end();
	/* Another provider answers at once, and the next one, too. */
	CHECK(begin_with("two"));
	fx.fails = 1;
	fx.holds = "30000";
	for (uint32_t turn = 7; turn < 9; turn++) {
		ask(ENGINE_USE_REPLY, turn, 0);
		run(2);
		CHECK_STR(fx.fake.path, "/v1/spare/chat/completions");
	}
	CHECK_INT(fx.fake.requests, 3);
	CHECK_STR(fx.failovers, "text text>spare ");
	end();
}

/* The other one cannot be asked at all: nobody waits for it, or for the one that is held. */
TEST(an_ask_is_not_held_by_a_provider_that_cannot_be_opened)
{
	struct provider_record *p;

	CHECK(begin_with("two"));
	p = fx.settings->records.provider;
	for (unsigned i = 0; i < fx.settings->records.n[RECORD_KIND_PROVIDER]; i++)
		if (strcmp(p[i].name, "spare") == 0)
			snprintf(p[i].url, sizeof p[i].url, "ftp://x");
	settings_resolve(fx.settings);
	fx.fails = 1;
	fx.holds = "30000";
	ask(ENGINE_USE_REPLY, 7, 0);
	run(1);
	CHECK_STR(said(), "reply failed 7.0 Invalid argument\n");
	ask(ENGINE_USE_REPLY, 8, 0);
	CHECK_STR(said(), "reply failed 8.0 rate_limit: the provider asked for a longer wait\n");
	end();
}

/* It is worth nothing when it comes late. */
TEST(a_decision_waits_for_nobody)
{
	static const enum engine_use uses[] = {ENGINE_USE_DECISION, ENGINE_USE_INTERRUPTION};

	for (unsigned i = 0; i < 2; i++) {
		CHECK(begin_with(""));
		fx.fails = 1;
		fx.holds = "900";
		ask(uses[i], 7, 0);
		run(1);
		said();
		ask(uses[i], 8, 0);
		CHECK(strstr(said(), " failed 8.0 rate_limit: "));
		CHECK_INT(fx.fake.requests, 1);
		end();
	}
}

TEST(another_key_need_not_wait_for_the_one_before)
{
	CHECK(begin_with(""));
	fx.fails = 1;
	fx.holds = "30000";
	ask(ENGINE_USE_REPLY, 7, 0);
	run(1);
	said();
	CHECK_INT(settings_set(fx.settings, "text_key", "fresh"), 0);
	roles_settings(fx.roles);
	ask(ENGINE_USE_REPLY, 8, 0);
	run(2);
	CHECK_STR(said(), "reply words 8.0 Ten.\nreply done 8.0 \n");
	end();
}

TEST(a_provider_serves_again_after_the_wait_that_it_asked_for)
{
	struct tmr *wait = NULL;

	CHECK(begin_with("two"));
	CHECK_INT(tmr_alloc(&wait, fx.fake.env, stop_loop, fx.fake.env), 0);
	fx.fails = 1;
	fx.holds = "200";
	ask(ENGINE_USE_REPLY, 7, 0);
	run(2);
	CHECK_STR(fx.fake.path, "/v1/spare/chat/completions");
	tmr_start(wait, 250 * NS_PER_MS);
	env_run(fx.fake.env);
	said();
	ask(ENGINE_USE_REPLY, 8, 0);
	run(2);
	CHECK_STR(said(), "reply words 8.0 Ten.\nreply done 8.0 \n");
	CHECK_STR(fx.fake.path, "/v1/chat/completions");
	tmr_free(wait);
	end();
}

/* A provider that accepts and never answers, of a model that writes and of one that speaks. */
TEST(a_silent_provider_is_taken_over_and_the_last_one_is_told)
{
	static const enum engine_use uses[] = {ENGINE_USE_REPLY, ENGINE_USE_SPEECH};

	for (unsigned i = 0; i < 2; i++) {
		CHECK(begin_with("two"));
		CHECK_INT(settings_set(fx.settings, "not_answering_ms", "400"), 0);
		fx.hangs = 1;
		ask(uses[i], 7, 0);
		run(2);
		CHECK_STR(said(), i ? "speech audio 7.0 abcd\nspeech done 7.0 \n"
				    : "reply words 7.0 Ten.\nreply done 7.0 \n");
		/* The first one rests, and the other one is silent as well. */
		fx.hangs = 2;
		ask(uses[i], 8, 0);
		run(1);
		CHECK_STR(said(), i ? "speech silent 8.0 \n" : "reply silent 8.0 \n");
		CHECK_INT(roles_health(fx.roles, uses[i]), ROLES_NOT_ANSWERING);
		roles_cancel(fx.roles, uses[i], 8);
		/* Whoever answers next ends it. */
		fx.fails = 1;
		ask(uses[i], 9, 0);
		run(2);
		CHECK_INT(fx.answers, 1);
		CHECK_INT(roles_health(fx.roles, uses[i]), ROLES_UP);
		end();
	}
}

TEST(an_answer_that_stops_halfway_fails)
{
	static const enum engine_use uses[] = {ENGINE_USE_REPLY, ENGINE_USE_SPEECH};

	for (unsigned i = 0; i < 2; i++) {
		CHECK(begin_with(""));
		CHECK_INT(settings_set(fx.settings, "not_answering_ms", "400"), 0);
		fx.stalls = 1;
		ask(uses[i], 7, 0);
		run(2);
		CHECK_STR(said(), i ? "speech audio 7.0 abcd\n"
				      "speech failed 7.0 the answer stopped halfway\n"
				    : "reply words 7.0 Ten\n"
				      "reply failed 7.0 the answer stopped halfway\n");
		end();
	}
}

static void transcribe(uint32_t utterance)
{
	static const uint8_t pcm[4800];
	struct engine_sound sound = {.user = 1, .utterance = utterance, .pcm = {pcm, sizeof pcm}};
	static const enum engine_sound_type types[] = {ENGINE_SOUND_START, ENGINE_SOUND_APPEND,
						       ENGINE_SOUND_FILE};
	uint64_t user;

	for (unsigned i = 0; i < 3; i++) {
		sound.type = types[i];
		CHECK_INT(roles_sound(fx.roles, &sound), 0);
	}
	CHECK_INT(roles_flush(fx.roles, &user, &utterance), 0);
}

TEST(a_transcriber_that_never_answers_is_not_asked_again)
{
	const struct engine_sound cancel = {.type = ENGINE_SOUND_CANCEL, .user = 1, .utterance = 1};
	struct tmr *wait = NULL;

	CHECK(begin_with("two"));
	CHECK_INT(settings_set(fx.settings, "asr_wait_ms", "500"), 0);
	CHECK_INT(tmr_alloc(&wait, fx.fake.env, stop_loop, fx.fake.env), 0);
	tmr_start(wait, 600 * NS_PER_MS);
	fx.hangs = 1;
	transcribe(1);
	env_run(fx.fake.env);
	CHECK_STR(fx.fake.path, "/v1/audio/transcriptions");
	/* The room's patience is at an end. */
	CHECK_INT(roles_sound(fx.roles, &cancel), 0);
	/* The next one hears as this call does, whatever holds for the next call. */
	CHECK_INT(settings_set(fx.settings, "asr_sessions", "speaker"), 0);
	transcribe(2);
	run(1);
	CHECK_STR(fx.fake.path, "/v1/spare/audio/transcriptions");
	tmr_free(wait);
	end();
}

TEST(without_a_provider_every_ask_fails)
{
	CHECK(begin_with(NULL));
	ask(ENGINE_USE_REPLY, 7, 0);
	ask(ENGINE_USE_SPEECH, 7, 2);
	ask(ENGINE_USE_DECISION, 7, 0);
	CHECK_STR(said(), "reply failed 7.0 no provider serves this\n"
			  "speech failed 7.2 no provider serves this\n"
			  "decision failed 7.0 no provider serves this\n");
	roles_ask_again(fx.roles, ENGINE_USE_REPLY, 7);
	CHECK_STR(said(), "reply failed 7.0 no provider serves this\n");
	CHECK_INT(roles_health(fx.roles, ENGINE_USE_REPLY), ROLES_DOWN);
	CHECK_INT(roles_health(fx.roles, ENGINE_USE_DECISION), ROLES_NONE);
	end();
}

/* Settings may name other providers while a call lasts: an engine goes on as what it was opened as,
 * and no key goes to the address of another provider. */
TEST(a_key_never_goes_to_the_address_of_another_provider)
{
	CHECK(begin_with("two"));
	CHECK_INT(settings_set(fx.settings, "text_key", "of-text"), 0);
	CHECK_INT(settings_set(fx.settings, "key:spare", "of-spare"), 0);
	roles_settings(fx.roles);
	ask(ENGINE_USE_REPLY, 7, 0);
	run(2);
	CHECK_STR(fx.fake.path, "/v1/chat/completions");
	CHECK_STR(fx.fake.auth, "Bearer of-text");
	/* Another order. */
	CHECK_INT(settings_set(fx.settings, "roles", "{\"text\":[\"spare\",\"text\"]}"), 0);
	roles_settings(fx.roles);
	ask(ENGINE_USE_REPLY, 8, 0);
	run(2);
	CHECK_STR(fx.fake.path, "/v1/chat/completions");
	CHECK_STR(fx.fake.auth, "Bearer of-text");
	/* Another address under the same name, with a key of its own. */
	CHECK_INT(settings_set(fx.settings, "text_url", "http://127.0.0.1:9/elsewhere"), 0);
	CHECK_INT(settings_set(fx.settings, "text_key", "of-elsewhere"), 0);
	roles_settings(fx.roles);
	ask(ENGINE_USE_REPLY, 9, 0);
	run(2);
	CHECK_STR(fx.fake.auth, "Bearer of-text");
	/* Nobody of that name is left: this call keeps its current provider. */
	CHECK_INT(settings_set(fx.settings, "text_url", ""), 0);
	roles_settings(fx.roles);
	said();
	ask(ENGINE_USE_REPLY, 10, 0);
	run(2);
	CHECK_STR(said(), "reply words 10.0 Ten.\nreply done 10.0 \n");
	CHECK_STR(fx.fake.path, "/v1/chat/completions");
	end();
}

TEST(a_key_that_a_provider_quotes_is_told_to_nobody)
{
	CHECK(begin_with(""));
	CHECK_INT(settings_set(fx.settings, "text_key", "sk-sesame-sesame-sesame"), 0);
	roles_settings(fx.roles);
	fx.quotes = "{\"error\":{\"message\":\"wrong key sk-sesame-sesame-sesame\"}}";
	ask(ENGINE_USE_REPLY, 7, 0);
	run(1);
	CHECK(!strstr(fx.events, "sesame"));
	CHECK_STR(
		said(),
		"reply failed 7.0 status 401 invalid_api_key: wrong key ***********************\n");
	/* Cut in its middle. */
	fx.quotes =
		"{\"error\":{\"message\":\""
		"--------------------------------------------------"
		"-------------------------------------------------- sk-sesame-sesame-sesame\"}}";
	ask(ENGINE_USE_REPLY, 8, 0);
	run(1);
	CHECK(!strstr(fx.events, "sesame"));
	end();
}

/* ---- a voice session whose provider is not there ---- */

static struct voice {
	struct fake fake;
	struct settings *settings;
	struct http *http;
	struct roles *roles;
	char events[512];
	unsigned failovers;
	unsigned n;		    /* asks that came */
	unsigned fails;		    /* the ask of this number fails */
	bool loses;		    /* the spare one, once a session begins; the loop stops then */
	char got[FAKE_CONNS][1024]; /* the items that each session received */
} vx;

static void voice_event(const struct roles_event *ev, void *arg)
{
	size_t at = strlen(vx.events);

	(void)arg;
	if (ev->engine->type == ENGINE_AUDIO || ev->engine->type == ENGINE_DONE)
		snprintf(vx.events + at, sizeof vx.events - at, "%s %u ",
			 ev->engine->type == ENGINE_DONE ? "done" : "audio", ev->turn);
	if (ev->engine->type == ENGINE_LINK_DOWN)
		snprintf(vx.events + at, sizeof vx.events - at,
			 ev->taken_over ? "taken over " : "down ");
	if (ev->engine->type == ENGINE_FAILOVER)
		vx.failovers++;
	if (ev->engine->type == ENGINE_DONE || (ev->engine->type == ENGINE_LINK_DOWN && vx.loses))
		env_stop(vx.fake.env);
}

static void voice_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	const json_t *content = json_object_get(json_object_get(root, "item"), "content");
	char *got = vx.got[conn];

	if (strcmp(type, "conversation.item.create") == 0)
		snprintf(got + strlen(got), sizeof vx.got[0] - strlen(got), "%s|",
			 json_string_value(json_object_get(json_array_get(content, 0), "text")));
	if (vx.loses && strcmp(type, "session.update") == 0)
		ws_close(f->ws[1], 1011, NULL);
	if (strcmp(type, "response.create") != 0)
		return;
	fake_send(f, conn, "{\"type\":\"response.created\",\"response\":{\"id\":\"r%u\"}}", ++vx.n);
	if (vx.n == vx.fails) {
		fake_send(f, conn,
			  "{\"type\":\"response.done\",\"response\":{\"id\":\"r%u\","
			  "\"status\":\"failed\"}}",
			  vx.n);
		return;
	}
	fake_audio(f, conn,
		   vx.n == 1   ? "r1"
		   : vx.n == 2 ? "r2"
		   : vx.n == 3 ? "r3"
			       : "r4",
		   "i", 3, 240);
	fake_send(f, conn,
		  "{\"type\":\"response.done\",\"response\":{\"id\":\"r%u\","
		  "\"status\":\"completed\"}}",
		  vx.n);
}

static void name_provider(struct settings_records *r, const char *name, const char *url)
{
	struct provider_record *p = &r->provider[r->n[RECORD_KIND_PROVIDER]++];
	struct provider_names *voice = &r->role[ROLE_VOICE];

	snprintf(p->name, sizeof p->name, "%s", name);
	snprintf(p->url, sizeof p->url, "%s", url);
	snprintf(voice->name[voice->n++], RECORD_NAME_MAX, "%s", name);
}

/* first: NULL for the scripted server, too. */
static void begin_voices(const char *first)
{
	memset(&vx, 0, sizeof vx);
	CHECK(fake_begin(&vx.fake, voice_server, NULL));
	CHECK_INT(settings_alloc(&vx.settings), 0);
	CHECK_INT(http_alloc(&vx.http, vx.fake.env, NULL, "x"), 0);
	name_provider(&vx.settings->records, "first", first ? first : vx.fake.url);
	name_provider(&vx.settings->records, "spare", vx.fake.url);
	settings_resolve(vx.settings);
	CHECK_INT(roles_alloc(&vx.roles, &(struct roles_conf){.env = vx.fake.env,
							      .ws = vx.fake.ctx,
							      .http = vx.http,
							      .settings = vx.settings,
							      .h = voice_event}),
		  0);
}

static void end_voices(void)
{
	roles_free(vx.roles);
	http_free(vx.http);
	settings_free(vx.settings);
	fake_end(&vx.fake);
}

/* n words of the conversation, the last one being the question. */
static void ask_voice(uint32_t turn, size_t n)
{
	static const char *const texts[] = {"one", "first answer", "two", "second answer", "three"};
	struct engine_message messages[5];
	const struct engine_ask ask = {
		.turn = turn, .instructions = "", .messages = messages, .n = n};

	for (size_t i = 0; i < n; i++)
		messages[i] =
			(struct engine_message){.role = i % 2 ? ENGINE_ASSISTANT : ENGINE_USER,
						.speaker = "",
						.text = texts[i]};
	vx.events[0] = '\0';
	roles_ask(vx.roles, ENGINE_USE_VOICE, 0, &ask);
	env_run(vx.fake.env);
	CHECK(!vx.fake.timed_out);
}

/* The room owns the history: whoever answers knows what another one answered meanwhile. */
TEST(a_voice_that_serves_again_knows_what_was_said_meanwhile)
{
	begin_voices(NULL);
	vx.fails = 2;
	ask_voice(1, 1);
	CHECK_STR(vx.got[0], "one|");
	/* The first one fails, the other one takes over. */
	ask_voice(2, 3);
	CHECK_STR(vx.events, "audio 2 done 2 ");
	CHECK_STR(vx.got[1], "one|first answer|two|");
	/* The other one is lost. */
	ws_close(vx.fake.ws[1], 1011, NULL);
	ask_voice(3, 5);
	CHECK_STR(vx.events, "taken over audio 3 done 3 ");
	/* In whichever session begun since: the other one is tried again, too. */
	CHECK_STR(vx.got[*vx.got[2] ? 2 : 3], "one|first answer|two|second answer|three|");
	end_voices();
}

/* Nobody takes over from a provider that does not serve. */
TEST(a_spare_that_is_lost_is_no_failover)
{
	begin_voices(NULL);
	vx.fails = 2;
	ask_voice(1, 1);
	ask_voice(2, 3);
	CHECK_INT(vx.failovers, 1);
	/* The first one has a new session and serves again. */
	vx.loses = true;
	vx.events[0] = '\0';
	env_run(vx.fake.env);
	CHECK_STR(vx.events, "taken over ");
	CHECK_INT(vx.failovers, 1);
	end_voices();
}

/* There is nobody else to ask. */
TEST(a_voice_that_failed_is_asked_once_more)
{
	begin_voices(NULL);
	vx.fails = 1;
	ask_voice(1, 1);
	CHECK_STR(vx.events, "audio 1 done 1 ");
	/* The spare one took it. */
	CHECK_STR(vx.got[1], "one|");
	end_voices();
	begin_voices(NULL);
	vx.settings->records.role[ROLE_VOICE].n = 1;
	settings_resolve(vx.settings);
	roles_free(vx.roles);
	CHECK_INT(roles_alloc(&vx.roles, &(struct roles_conf){.env = vx.fake.env,
							      .ws = vx.fake.ctx,
							      .http = vx.http,
							      .settings = vx.settings,
							      .h = voice_event}),
		  0);
	vx.fails = 1;
	ask_voice(1, 1);
	CHECK_STR(vx.events, "audio 1 done 1 ");
	/* Its question stands there already. */
	CHECK_STR(vx.got[vx.fake.conns - 1], "one|");
	end_voices();
}

TEST(a_voice_whose_provider_is_gone_is_taken_over)
{
	const struct engine_message m = {
		.role = ENGINE_USER, .speaker = "", .text = "[Alice]: when"};
	const struct engine_ask ask = {.turn = 7, .instructions = "", .messages = &m, .n = 1};
	char shown[128];

	begin_voices("ws://127.0.0.1:1/v1/realtime");
	roles_instruct(vx.roles, "be brief");
	/* It waits at the first one, until that cannot be reached. */
	roles_ask(vx.roles, ENGINE_USE_VOICE, 0, &ask);
	env_run(vx.fake.env);
	CHECK(!vx.fake.timed_out);
	CHECK_STR(vx.events, "taken over audio 7 done 7 ");
	CHECK_INT(vx.failovers, 1);
	CHECK_INT(roles_health(vx.roles, ENGINE_USE_VOICE), ROLES_UP);
	roles_shown(vx.roles, ENGINE_USE_VOICE, shown, sizeof shown);
	CHECK_STR(shown, vx.fake.url);
	end_voices();
}

TEST(dialects_serve_the_roles_that_their_engines_serve)
{
	for (unsigned d = 0; d < DIALECT_COUNT; d++)
		for (unsigned r = 0; r < ROLE_COUNT; r++)
			CHECK_INT(dialect_serves((enum dialect)d, (enum role)r),
				  engine_caps((enum dialect)d, (enum role)r) != NULL);
}

TEST(every_row_of_the_capabilities_can_be_served)
{
	const struct engine_caps *voice = engine_caps(DIALECT_OPENAI, ROLE_VOICE);

	CHECK(voice && voice->ops == &engine_realtime && voice->pcm_in && voice->cancel);
	CHECK(!engine_caps(DIALECT_EMBEDDED, ROLE_CLASSIFY));
	for (unsigned d = 0; d < DIALECT_COUNT; d++)
		for (unsigned i = 0; i < ROLE_COUNT; i++) {
			const struct engine_caps *c = engine_caps((enum dialect)d, (enum role)i);

			if (!c)
				continue;
			CHECK(c->ops->alloc && c->ops->free);
			CHECK(!c->ops->ask == !c->ops->cancel && !c->ops->sound == !c->ops->flush);
			CHECK(c->text_in == (c->ops->ask != NULL));
			CHECK(!c->live_instructions || c->ops->instruct);
			CHECK(!c->live_tools || c->role != ROLE_VOICE || c->ops->tools);
			CHECK(c->ops != &engine_realtime || engine_wire(c->dialect));
			/* A voice that reads out says what it is given. */
			CHECK(c->role != ROLE_SPEECH || c->exact_line);
			/* What can be truncated is sound in a conversation. */
			CHECK(!c->truncate || (c->ops->truncate && c->rate_out));
			CHECK(c->rate_in == 0 || c->pcm_in);
		}
}

TEST_OOM(roles_without_memory)
{
	struct env *env = NULL;
	struct http *http = NULL;
	struct settings *settings = NULL;
	int err = env_alloc(&env, &(struct env_conf){.loop = true});

	memset(&fx, 0, sizeof fx);
	fx.fake.env = env;
	if (!err)
		err = http_alloc(&http, env, NULL, "x");
	if (!err)
		err = settings_alloc(&settings);
	if (!err) {
		settings_set(settings, "reply_path", "brain");
		settings_set(settings, "asr_sessions", "file");
		settings_set(settings, "text_url", "http://127.0.0.1:9/v1");
		err = roles_alloc(&fx.roles, &(struct roles_conf){.env = env,
								  .http = http,
								  .settings = settings,
								  .h = on_event});
	}
	if (!err)
		ask(ENGINE_USE_REPLY, 1, 0);
	roles_free(fx.roles);
	settings_free(settings);
	http_free(http);
	env_free(env);
	CHECK(!err || (err == ENOMEM && test_oom_hit()));
	CHECK(!fx.events[0] || test_oom_hit());
}
