#include "control/engine/text.h"

#include "../fake_http.h"
#include "control/engine/endpoint.h"
#include "tests/test.h"

#define SSE "text/event-stream"
#define DELTA(x)                                                                                   \
	"data: {\"choices\":[{\"delta\":{\"content\":\"" x "\"},\"finish_reason\":null}]}\n\n"
#define STOP "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

static struct seen {
	struct fake_http fake;
	struct endpoint *provider;
	struct engine_text *text;
	struct evhttp_request *open;
	char events[512]; /* "7:words 7. 7!why " */
	unsigned ends, want;
	bool cancel_at_words;
} fx;

static void on_event(enum engine_text_event ev, uint32_t turn, const char *data, size_t n,
		     void *arg)
{
	static const char marks[] = {[ENGINE_TEXT_WORDS] = ':',
				     [ENGINE_TEXT_DONE] = '.',
				     [ENGINE_TEXT_FAILED] = '!',
				     [ENGINE_TEXT_JUDGED] = '=',
				     [ENGINE_TEXT_UNJUDGED] = '?'};
	size_t at = strlen(fx.events);

	(void)arg;
	snprintf(fx.events + at, sizeof fx.events - at, "%u%c%.*s ", turn, marks[ev], (int)n, data);
	if (ev == ENGINE_TEXT_WORDS && fx.cancel_at_words) {
		engine_text_cancel(fx.text, turn);
		return;
	}
	if (ev != ENGINE_TEXT_WORDS && ++fx.ends == fx.want)
		env_stop(fx.fake.env);
}

static bool begin(fake_http_h *h)
{
	memset(&fx, 0, sizeof fx);
	fx.want = 1;
	return fake_http_begin(&fx.fake, h, NULL) &&
	       !endpoint_alloc(&fx.provider, fx.fake.http, fx.fake.base, "the-key") &&
	       !engine_text_alloc(&fx.text, fx.provider, on_event, NULL);
}

static void end(void)
{
	engine_text_free(fx.text);
	endpoint_free(fx.provider);
	fake_http_end(&fx.fake);
}

static void answer_two_words(struct fake_http *f, struct evhttp_request *req)
{
	static const char all[] = ": ping\n\n" DELTA("It is ") DELTA("late.") STOP;

	(void)f;
	fake_http_answer(req, 200, SSE, all, sizeof all - 1);
}

TEST(a_model_writes_word_by_word)
{
	CHECK(begin(answer_two_words));
	CHECK_INT(engine_text_ask(fx.text, "m", 7, "you are", "[Alice]: when"), 0);
	CHECK_STR(fx.events, "");
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.events, "7:It is  7:late. 7. ");
	CHECK_STR(fx.fake.path, "/v1/chat/completions");
	CHECK_STR(fx.fake.auth, "Bearer the-key");
	CHECK_STR(fx.fake.type, "application/json");
	CHECK(strncmp(fx.fake.agent, "Parley/", 7) == 0);
	CHECK(strstr((char *)fx.fake.body, "\"stream\":true"));
	CHECK(strstr((char *)fx.fake.body, "[Alice]: when"));
	/* The same once more, and only of that turn. */
	CHECK_INT(engine_text_again(fx.text, 8), ENOENT);
	fx.fake.n = 0;
	fx.ends = 0;
	CHECK_INT(engine_text_again(fx.text, 7), 0);
	env_run(fx.fake.env);
	CHECK(strstr((char *)fx.fake.body, "[Alice]: when"));
	CHECK_INT(fx.fake.requests, 2);
	end();
}

static void answer_without_end(struct fake_http *f, struct evhttp_request *req)
{
	(void)f;
	if (strstr((const char *)f->body, "hm"))
		fake_http_answer(req, 200, SSE, "", 0);
	else
		fake_http_answer(req, 200, SSE, DELTA("late"), sizeof DELTA("late") - 1);
}

TEST(an_end_without_a_word_of_it_is_one_when_words_came)
{
	CHECK(begin(answer_without_end));
	fx.want = 2;
	CHECK_INT(engine_text_ask(fx.text, "m", 1, "", "when"), 0);
	env_run(fx.fake.env);
	fx.want = 1;
	end();
	CHECK_STR(fx.events, "1:late 1. ");
}

static void answer_nothing(struct fake_http *f, struct evhttp_request *req)
{
	(void)f;
	fake_http_answer(req, 200, SSE, "", 0);
}

static void refuse(struct fake_http *f, struct evhttp_request *req)
{
	static const char body[] = "{\"error\":{\"message\":\"no\",\"code\":\"invalid_api_key\"}}";

	(void)f;
	fake_http_answer(req, 401, "application/json", body, sizeof body - 1);
}

static void break_off(struct fake_http *f, struct evhttp_request *req)
{
	static const char all[] =
		DELTA("It ") "data: {\"error\":{\"message\":\"overloaded\"}}\n\n" DELTA("no");

	(void)f;
	fake_http_answer(req, 200, SSE, all, sizeof all - 1);
}

TEST(what_goes_wrong_is_told_once)
{
	static const struct {
		fake_http_h *h;
		const char *events;
	} table[] = {{answer_nothing, "3!nothing came "},
		     {refuse, "3!status 401 invalid_api_key: no "},
		     {break_off, "3:It  3!overloaded "}};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		CHECK(begin(table[i].h));
		CHECK_INT(engine_text_ask(fx.text, "m", 3, "", "when"), 0);
		env_run(fx.fake.env);
		CHECK_STR(fx.events, table[i].events);
		end();
	}
}

static void keep_open(struct fake_http *f, struct evhttp_request *req)
{
	fake_http_open(f, req, SSE);
	fake_http_piece(req, DELTA("It "), sizeof DELTA("It ") - 1);
}

TEST(a_cancel_closes_the_connection_and_nothing_more_is_told)
{
	CHECK(begin(keep_open));
	fx.cancel_at_words = true;
	CHECK_INT(engine_text_ask(fx.text, "m", 3, "", "when"), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_INT(fx.fake.gone, 1);
	CHECK_STR(fx.events, "3:It  ");
	/* One that nobody has seen yet. */
	CHECK_INT(engine_text_ask(fx.text, "m", 4, "", "when"), 0);
	engine_text_cancel(fx.text, 4);
	engine_text_cancel(fx.text, 5);
	end();
}

static void judge(struct fake_http *f, struct evhttp_request *req)
{
	static const char yes[] = "{\"choices\":[{\"message\":{\"content\":\"YES\"}}]}";

	if (strstr((const char *)f->body, "\"max_tokens\":2"))
		fake_http_answer(req, 200, "application/json", yes, sizeof yes - 1);
	else
		fake_http_answer(req, 200, "application/json", "[]", 2);
}

static void never(struct fake_http *f, struct evhttp_request *req)
{
	fake_http_open(f, req, "application/json");
	fake_http_piece(req, "{", 1);
}

TEST(a_judgement_comes_whole_and_in_time)
{
	CHECK(begin(judge));
	CHECK_INT(engine_text_judge(fx.text, "m", 3, "for you?", 2, 5000), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "3=YES ");
	CHECK(strstr((char *)fx.fake.body, "\"stream\":false"));
	fx.ends = 0;
	CHECK_INT(engine_text_judge(fx.text, "m", 4, "for you?", 3, 5000), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "3=YES 4?malformed ");
	end();
	CHECK(begin(never));
	CHECK_INT(engine_text_judge(fx.text, "m", 5, "for you?", 2, 60), 0);
	while (!fx.ends && !fx.fake.timed_out)
		env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out && strncmp(fx.events, "5?", 2) == 0);
	end();
}

TEST(only_so_many_at_once)
{
	CHECK(begin(keep_open));
	for (unsigned i = 0; i < ENGINE_TEXT_AT_ONCE; i++)
		CHECK_INT(engine_text_ask(fx.text, "m", i + 1, "", "when"), 0);
	CHECK_INT(engine_text_ask(fx.text, "m", 99, "", "when"), EBUSY);
	end();
}

TEST_OOM(text_without_memory)
{
	struct env *env = NULL;
	struct http *http = NULL;
	struct endpoint *p = NULL;
	struct engine_text *t = NULL;
	int err = env_alloc(&env, &(struct env_conf){.loop = true});

	if (!err)
		err = http_alloc(&http, env, NULL, "x");
	if (!err)
		err = endpoint_alloc(&p, http, "http://127.0.0.1:9/v1", "k");
	if (!err)
		err = engine_text_alloc(&t, p, on_event, NULL);
	if (!err)
		err = engine_text_ask(t, "m", 1, "a", "b");
	if (!err)
		err = engine_text_judge(t, "m", 1, "a", 2, 100);
	engine_text_free(t);
	endpoint_free(p);
	http_free(http);
	env_free(env);
	CHECK_OOM(err, (void)0);
}
