/* Asking whether a provider is there: with the headers of its dialect. */
#include "control/engine/probe.h"

#include <string.h>

#include "tests/test.h"
#include "tests/unit/control/fake_http.h"

static int status;

static void answer_list(struct fake_http *f, struct evhttp_request *req)
{
	(void)f;
	fake_http_answer(req, 200, "application/json", "{\"data\":[]}", 11);
}

static void on_models(const struct http_resp *resp, void *arg)
{
	struct fake_http *f = arg;

	status = resp->status;
	env_stop(f->env);
}

static void ask_models(struct fake_http *f, enum dialect dialect, const char *key)
{
	struct provider_record p = {.name = "main", .dialect = dialect};

	status = 0;
	snprintf(p.url, sizeof p.url, "%s", f->base);
	snprintf(p.key, sizeof p.key, "%s", key);
	CHECK_INT(probe_models(f->http, &p, 5000, on_models, f), 0);
	env_run(f->env);
	CHECK_INT(status, 200);
	CHECK_STR(f->path, "/v1/models");
}

TEST(models_are_asked_for_with_the_headers_of_the_dialect)
{
	static struct fake_http f;
	struct provider_record none = {.name = "main", .dialect = DIALECT_CHAT};

	CHECK(fake_http_begin(&f, answer_list, NULL));
	ask_models(&f, DIALECT_OPENAI, "secret");
	CHECK_STR(f.auth, "Bearer secret");
	CHECK_STR(f.key, "");
	CHECK_STR(f.version, "");
	ask_models(&f, DIALECT_ANTHROPIC, "secret");
	CHECK_STR(f.auth, "");
	CHECK_STR(f.key, "secret");
	CHECK_STR(f.version, "2026-10-21");
	ask_models(&f, DIALECT_CHAT, "");
	CHECK_STR(f.auth, "");
	CHECK(probe_models(f.http, &none, 5000, on_models, &f) != 0);
	fake_http_end(&f);
}
