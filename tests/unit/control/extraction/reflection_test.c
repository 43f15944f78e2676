/* Reflection asks a model about pairs of facts, once a day, and only of people who agree. */
#include "control/extraction/reflection.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>
#include <sqlite3.h>

#include "control/engine/model_conf.h"
#include "control/events/events.h"
#include "control/extraction/extraction.h"
#include "control/extraction/spending.h"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/control/fake_http.h"

enum { GUILD = 7, ANA = 501, BOB = 502, POLL_MS = 5 };

static struct fixture {
	struct fake_http http;
	struct settings *settings;
	struct bus *bus;
	struct store *store;
	struct spending spending;
	struct model_conf conf;
	struct reflection *r;
	struct tmr *poll;
	char dir[40];
	const char *says; /* what the model answers; NULL: it fails */
	bool (*over)(void);
	uint64_t refuses, refuses_later; /* a user; the latter when the model answers */
	bool erases;			 /* when the model answers */
	unsigned polls;
	unsigned updated, merged;
} fx;

static void answer_request(struct fake_http *f, struct evhttp_request *req)
{
	json_t *piece =
		json_pack("{s:[{s:{s:s}}]}", "choices", "delta", "content", fx.says ? fx.says : "");
	char *text = json_dumps(piece, JSON_COMPACT), body[2048];

	(void)f;
	snprintf(body, sizeof body,
		 "data: %s\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
		 "data: [DONE]\n\n",
		 text);
	free(text);
	json_decref(piece);
	if (fx.erases)
		reflection_erase(fx.r);
	if (fx.refuses_later)
		fx.refuses = fx.refuses_later;
	if (fx.says)
		fake_http_answer(req, 200, "text/event-stream", body, strlen(body));
	else
		fake_http_answer(req, 400, "application/json", "{}", 2);
}

/* As if minutes passed. */
static void on_poll(void *arg)
{
	(void)arg;
	if (fx.over()) {
		env_stop(fx.http.env);
		return;
	}
	reflection_check(fx.r);
	tmr_start(fx.poll, POLL_MS * NS_PER_MS);
}

static bool run_until(bool (*over)(void))
{
	fx.over = over;
	fx.polls = 0;
	tmr_start(fx.poll, 0);
	env_run(fx.http.env);
	return !fx.http.timed_out;
}

static bool allows(uint64_t guild, uint64_t user, void *arg)
{
	(void)arg;
	return guild == GUILD && user != fx.refuses;
}

static void on_event(const struct bus_event *ev, void *arg)
{
	(void)arg;
	CHECK_STR(ev->memory.source, "reflected");
	fx.updated += (unsigned)ev->memory.updated;
	fx.merged += (unsigned)ev->memory.duplicate;
}

/* Its first number, if it returns a row. */
static int run_sql(const char *sql)
{
	sqlite3_stmt *row = NULL;
	sqlite3 *own = NULL;
	char path[64];
	int n = -1;

	snprintf(path, sizeof path, "%s/parley.db", fx.dir);
	if (sqlite3_open(path, &own) == SQLITE_OK) {
		sqlite3_busy_timeout(own, 1000);
		if (sqlite3_prepare_v2(own, sql, -1, &row, NULL) == SQLITE_OK &&
		    sqlite3_step(row) == SQLITE_ROW)
			n = sqlite3_column_int(row, 0);
	}
	sqlite3_finalize(row);
	sqlite3_close(own);
	return n;
}

static bool open_bus(void)
{
	return !bus_alloc(&fx.bus) && (fx.conf.bus = fx.bus) &&
	       !bus_subscribe(fx.bus, BUS_MASK(EVENT_MEMORY_WRITTEN), on_event, NULL);
}

static bool open_reflection(void)
{
	return !store_alloc(&fx.store, fx.http.env, fx.bus, fx.settings, fx.dir) &&
	       (fx.conf.store = fx.store) && !spending_begin(&fx.spending, &fx.conf, NULL, NULL) &&
	       !reflection_alloc(&fx.r, &fx.conf, &fx.spending);
}

static void close_reflection(void)
{
	fx.r = reflection_free(fx.r);
	spending_end(&fx.spending);
	fx.store = store_free(fx.store);
}

static void on_written(int err, const struct store_document *document, void *arg)
{
	(void)arg;
	CHECK_INT(err, 0);
	CHECK(strstr(document->document, "inserted"));
	env_stop(fx.http.env);
}

static void tell(uint64_t user, const char *text)
{
	char request[128];
	const struct store_facts f = {
		.guild = GUILD, .user = user, .name = "x", .request = request};

	snprintf(request, sizeof request, "[{\"text\":\"%s\",\"tags\":[]}]", text);
	CHECK_INT(store_write_facts(fx.store, &f, on_written, NULL), 0);
	env_run(fx.http.env);
}

/* A reflection was done long ago, and Ana has told two facts since. */
static bool begin(const char *says)
{
	memset(&fx, 0, sizeof fx);
	fx.says = says;
	snprintf(fx.dir, sizeof fx.dir, "/tmp/parley-reflect-XXXXXX");
	if (!mkdtemp(fx.dir) || !fake_http_begin(&fx.http, answer_request, NULL) ||
	    settings_alloc(&fx.settings) || settings_set(fx.settings, "text_url", fx.http.base) ||
	    settings_set(fx.settings, "memory_reflect", "on") ||
	    tmr_alloc(&fx.poll, fx.http.env, on_poll, NULL))
		return false;
	fx.conf = (struct model_conf){.env = fx.http.env,
				      .http = fx.http.http,
				      .settings = fx.settings,
				      .allowsh = allows};
	if (!open_bus() || !open_reflection())
		return false;
	tell(ANA, "I never sail boats in winter storms");
	tell(ANA, "winter storms keep me from sailing boats");
	run_sql("INSERT INTO meta VALUES('reflected', 1)");
	return true;
}

static void end(void)
{
	char rm[64];

	close_reflection();
	tmr_free(fx.poll);
	bus_free(fx.bus);
	settings_free(fx.settings);
	fake_http_end(&fx.http);
	snprintf(rm, sizeof rm, "rm -rf %s", fx.dir);
	CHECK_INT(system(rm), 0);
}

static bool is_settled(void)
{
	return fx.polls++ > 40;
}

static bool is_done(void)
{
	return run_sql("SELECT value > 1 FROM meta WHERE key = 'reflected'") == 1;
}

/* As a control that starts anew: the bus knows the store that is gone. */
static bool restart(void)
{
	close_reflection();
	bus_free(fx.bus);
	return open_bus() && open_reflection();
}

#define UPDATE                                                                                     \
	"{\"pairs\":[{\"pair\":1,\"relation\":\"update\",\"was\":\"never sail\",\"is\":\"keep "    \
	"me\"}]}"

TEST(a_reflection_asks_once_a_day_and_not_again_after_a_restart)
{
	CHECK(begin(UPDATE));
	CHECK(run_until(is_done));
	CHECK_INT(fx.http.requests, 1);
	CHECK(memmem(fx.http.body, fx.http.n, "winter storms keep me", 21));
	CHECK(!memmem(fx.http.body, fx.http.n, "501", 3));
	CHECK_INT(fx.updated, 1);
	CHECK_INT(run_sql("SELECT superseded_by FROM facts WHERE id = 1"), 2);
	CHECK_INT(run_sql("SELECT count(*) FROM audit WHERE kind = 'memory_reflect'"), 1);
	tell(ANA, "sailing boats bores me in winter storms");
	CHECK(restart());
	CHECK(run_until(is_settled));
	CHECK_INT(fx.http.requests, 1);
	end();
}

TEST(a_duplicate_is_merged_and_counted)
{
	CHECK(begin("{\"pairs\":[{\"pair\":1,\"relation\":\"duplicate\",\"conf\":0.9}]}"));
	/* "never" against "keep me from": code does not take it for the same. */
	run_sql("UPDATE facts SET text = 'I sail no boats in winter storms' WHERE id = 1");
	run_sql("UPDATE facts SET text = 'winter storms: no sailing boats' WHERE id = 2");
	CHECK(run_until(is_done));
	CHECK_INT(fx.merged, 1);
	CHECK_INT(run_sql("SELECT superseded_by FROM facts WHERE id = 2"), 1);
	end();
}

TEST(nothing_is_asked_about_facts_of_a_person_who_has_refused)
{
	CHECK(begin(UPDATE));
	fx.refuses = ANA;
	CHECK(run_until(is_done));
	CHECK_INT(fx.http.requests, 0);
	CHECK_INT(run_sql("SELECT count(*) FROM facts WHERE valid_until_ms IS NULL"), 2);
	end();
}

TEST(nothing_is_decided_about_a_person_who_refuses_while_the_model_reads)
{
	CHECK(begin(UPDATE));
	fx.refuses_later = ANA;
	CHECK(run_until(is_done));
	CHECK_INT(fx.http.requests, 1);
	CHECK_INT(run_sql("SELECT count(*) FROM facts WHERE valid_until_ms IS NULL"), 2);
	end();
}

TEST(an_erasure_drops_a_reflection_under_way)
{
	CHECK(begin(UPDATE));
	fx.erases = true;
	CHECK(run_until(is_settled));
	CHECK(fx.http.requests >= 1);
	CHECK_INT(run_sql("SELECT count(*) FROM facts WHERE valid_until_ms IS NULL"), 2);
	end();
}

TEST(answers_that_are_none_are_asked_for_three_times)
{
	CHECK(begin("I cannot do that."));
	CHECK(run_until(is_done));
	CHECK_INT(fx.http.requests, EXTRACTION_TRIES);
	CHECK_INT(run_sql("SELECT count(*) FROM facts WHERE valid_until_ms IS NULL"), 2);
	end();
}

TEST(a_reflection_waits_for_a_provider_that_is_away)
{
	CHECK(begin(NULL));
	CHECK(run_until(is_settled));
	CHECK_INT(fx.http.requests, 1);
	CHECK(!is_done());
	fx.says = UPDATE;
	CHECK(restart());
	CHECK(run_until(is_done));
	CHECK_INT(fx.updated, 1);
	end();
}

TEST(a_reflection_that_the_settings_do_not_want_asks_nothing)
{
	static const char *const never[][2] = {{"memory_reflect", "off"},
					       {"memory_days", "0"},
					       {"store_words_hours", "0"},
					       {"text_url", "embedded"}};

	for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
		CHECK(begin(UPDATE));
		CHECK_INT(settings_set(fx.settings, never[i][0], never[i][1]), 0);
		CHECK(run_until(is_settled));
		CHECK_INT(fx.http.requests, 0);
		CHECK(!is_done());
		end();
	}
}
