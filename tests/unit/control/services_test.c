/* What a room asks of services, as effects in and events out. */
#include "control/services.h"

#include "control/room/room.h"
#include "control/settings/settings.h"
#include "fake_http.h"
#include "tests/test.h"

static struct seen {
	struct fake_http fake;
	struct settings *settings;
	struct services *services;
	char events[512];
	unsigned events_n, want;
} fx;

static void on_event(const struct room_event *ev, void *arg)
{
	static const char *const names[] = {
#define X(NAME, name, text) #name,
		ROOM_EVENTS(X)
#undef X
	};
	size_t at = strlen(fx.events);

	(void)arg;
	snprintf(fx.events + at, sizeof fx.events - at,
		 "%s turn=%u chunk=%u yes=%d text=%.*s pcm=%zu\n", names[ev->type], ev->turn,
		 ev->chunk, ev->yes, (int)ev->text.n, ev->text.n ? (const char *)ev->text.p : "",
		 ev->pcm.n);
	if (++fx.events_n == fx.want)
		env_stop(fx.fake.env);
}

static void provider(struct fake_http *f, struct evhttp_request *req)
{
	static const char words[] =
		"data: "
		"{\"choices\":[{\"delta\":{\"content\":\"Ten.\"},\"finish_reason\":\"stop\"}]}\n\n";
	static const char yes[] = "{\"choices\":[{\"message\":{\"content\":\"YES\"}}]}";

	if (strstr(f->path, "speech"))
		fake_http_answer(req, 200, "audio/pcm", "abcd", 4);
	else if (strstr((char *)f->body, "\"stream\":true"))
		fake_http_answer(req, 200, "text/event-stream", words, sizeof words - 1);
	else
		fake_http_answer(req, 200, "application/json", yes, sizeof yes - 1);
}

static bool begin(const char *path, bool address)
{
	memset(&fx, 0, sizeof fx);
	if (!fake_http_begin(&fx.fake, provider, NULL) || settings_alloc(&fx.settings) ||
	    settings_set(fx.settings, "reply_path", path) ||
	    (address && (settings_set(fx.settings, "text_url", fx.fake.base) ||
			 settings_set(fx.settings, "speech_url", fx.fake.base))))
		return false;
	return !services_alloc(&fx.services, &(struct services_conf){.http = fx.fake.http,
								     .settings = fx.settings,
								     .h = on_event});
}

static void end(void)
{
	services_free(fx.services);
	settings_free(fx.settings);
	fake_http_end(&fx.fake);
}

static void run(unsigned want)
{
	fx.want = fx.events_n + want;
	env_run(fx.fake.env);
}

static const struct room_effect ask = {.type = ROOM_DO_ASK,
				       .turn = 7,
				       .text = "[Alice]: when",
				       .context = "You are.\nnow:\nsaid\nnow:\n[Alice]: when"};

TEST(an_answer_is_written_and_read_out)
{
	struct room_effect e = {.type = ROOM_DO_SPEAK, .turn = 7, .chunk = 2, .text = "Ten."};

	CHECK(begin("brain", true));
	CHECK(services_do(fx.services, &ask));
	run(2);
	CHECK_STR(fx.events, "brain_text turn=7 chunk=0 yes=0 text=Ten. pcm=0\n"
			     "brain_done turn=7 chunk=0 yes=0 text= pcm=0\n");
	/* What is said now stands in the question, and not once more in what is to be known. */
	CHECK(strstr((char *)fx.fake.body, "\"content\":\"You are.\\nnow:\\nsaid\"}"));
	CHECK(strstr((char *)fx.fake.body, "\"content\":\"[Alice]: when\"}"));
	fx.events[0] = '\0';
	CHECK(services_do(fx.services, &e));
	run(2);
	CHECK_STR(fx.events, "speech_audio turn=7 chunk=2 yes=0 text= pcm=4\n"
			     "speech_done turn=7 chunk=2 yes=0 text= pcm=0\n");
	CHECK(services_up(fx.services));
	/* Nothing of what is cancelled comes. */
	fx.events[0] = '\0';
	CHECK(services_do(fx.services, &ask) && services_do(fx.services, &e));
	CHECK(services_do(fx.services,
			  &(struct room_effect){.type = ROOM_DO_BRAIN_CANCEL, .turn = 7}));
	CHECK(services_do(fx.services,
			  &(struct room_effect){.type = ROOM_DO_SPEAK_CANCEL, .turn = 7}));
	CHECK(services_do(fx.services,
			  &(struct room_effect){.type = ROOM_DO_INSTRUCT, .text = "x"}));
	CHECK_STR(fx.events, "instructed turn=0 chunk=0 yes=0 text= pcm=0\n");
	end();
}

TEST(a_model_says_whom_words_were_meant_for)
{
	struct room_effect e = {
		.type = ROOM_DO_CLASSIFY, .turn = 3, .text = "for you?", .tokens = 16, .ms = 900};

	CHECK(begin("native", true));
	CHECK(services_do(fx.services, &e));
	run(1);
	CHECK_STR(fx.events, "classified turn=3 chunk=0 yes=1 text=YES pcm=0\n");
	CHECK(strstr((char *)fx.fake.body, "\"max_completion_tokens\":16"));
	/* A voice model answers here, and what is not theirs is left to others. */
	CHECK(!services_do(fx.services, &ask));
	CHECK(!services_do(fx.services, &(struct room_effect){.type = ROOM_DO_SAY_END}));
	end();
}

TEST(without_an_address_all_of_it_fails)
{
	struct room_effect e = {.turn = 7, .chunk = 2, .text = "x"};

	CHECK(begin("brain", false));
	CHECK(services_do(fx.services, &ask));
	e.type = ROOM_DO_SPEAK;
	CHECK(services_do(fx.services, &e));
	e.type = ROOM_DO_CLASSIFY;
	CHECK(services_do(fx.services, &e));
	CHECK_STR(fx.events,
		  "brain_failed turn=7 chunk=0 yes=0 text=nobody told where to ask pcm=0\n"
		  "speech_failed turn=7 chunk=2 yes=0 text=nobody told where to ask pcm=0\n"
		  "classified turn=7 chunk=2 yes=0 text=nobody told where to ask pcm=0\n");
	e.type = ROOM_DO_SPEAK_CANCEL;
	CHECK(services_do(fx.services, &e));
	end();
}

TEST_OOM(services_without_memory)
{
	struct env *env = NULL;
	struct http *http = NULL;
	struct settings *settings = NULL;
	struct services *s = NULL;
	int err = env_alloc(&env, &(struct env_conf){.loop = true});

	memset(&fx, 0, sizeof fx);
	if (!err)
		err = http_alloc(&http, env, NULL, "x");
	if (!err)
		err = settings_alloc(&settings);
	if (!err) {
		settings_set(settings, "reply_path", "brain");
		settings_set(settings, "brain_url", "ws://127.0.0.1:9/v1/realtime");
		err = services_alloc(
			&s,
			&(struct services_conf){.http = http, .settings = settings, .h = on_event});
	}
	if (!err)
		services_do(s, &ask);
	services_free(s);
	settings_free(settings);
	http_free(http);
	env_free(env);
	CHECK(!err || (err == ENOMEM && test_oom_hit()));
	CHECK(!fx.events[0] || test_oom_hit());
}
