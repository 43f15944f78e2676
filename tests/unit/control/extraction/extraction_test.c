/* Facts are extracted from a session that is over, once, and from what may be remembered alone. */
#include "control/extraction/extraction.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>
#include <sqlite3.h>

#include "control/events/events.h"
#include "control/engine/model_conf.h"
#include "control/memory/extract.h"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/control/fake_http.h"

enum { GUILD = 7, OTHER = 9, CHANNEL = 8, ANA = 501, BOB = 502, POLL_MS = 5 };

static struct fixture {
	struct fake_http http;
	struct settings *settings;
	struct bus *bus;
	struct store *store;
	struct extraction *x;
	struct tmr *poll;
	char dir[40];
	const char *says; /* what the model answers */
	bool (*over)(void);
	char facts[512], summaries[256];
	int episode;		  /* what store_next_episode gives */
	bool asks, fails, drops;  /* fails, drops the connection: the provider */
	uint64_t age_ms;	  /* of lines that are published */
	uint64_t refuses, erased; /* users; 0: nobody */
	uint64_t refuses_later;	  /* when the model answers */
	unsigned polls;		  /* since the request */
	unsigned written;	  /* facts that may be written so far */
	struct tmr *erase;	  /* after the first one; NULL: not at all */
	uint64_t guild, session;  /* of lines and sessions that are published */
} fx;

static void answer_request(struct fake_http *f, struct evhttp_request *req)
{
	json_t *piece = json_pack("{s:[{s:{s:s}}]}", "choices", "delta", "content", fx.says);
	char *text = json_dumps(piece, JSON_COMPACT), body[4096];

	(void)f;
	if (fx.drops || fx.fails) {
		free(text);
		json_decref(piece);
		if (fx.drops)
			fake_http_drop(req);
		else
			fake_http_answer(req, 400, "application/json", "{}", 2);
		return;
	}
	if (fx.erased)
		extraction_erase(fx.x, fx.erased);
	if (fx.refuses_later)
		fx.refuses = fx.refuses_later;
	snprintf(body, sizeof body,
		 "data: %s\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
		 "data: [DONE]\n\n",
		 text);
	free(text);
	json_decref(piece);
	fake_http_answer(req, 200, "text/event-stream", body, strlen(body));
}

static void take_facts(int err, const struct store_document *document, void *arg)
{
	(void)arg;
	fx.asks = false;
	snprintf(fx.facts, sizeof fx.facts, "%s", err ? "" : document->document);
}

static void take_episode(int err, const struct store_document *document, void *arg)
{
	(void)document;
	(void)arg;
	fx.episode = err;
}

static void take_summaries(int err, const struct store_document *document, void *arg)
{
	(void)arg;
	snprintf(fx.summaries, sizeof fx.summaries, "%s", err ? "" : document->document);
}

static void on_poll(void *arg)
{
	const struct store_episodes all = {.most = 9, .without = "[]"};
	const struct store_facts f = {.guild = GUILD,
				      .owner = ANA,
				      .user = ANA,
				      .name = "",
				      .request = "{\"words\":\"\"}",
				      .most = 5};

	(void)arg;
	if (fx.over()) {
		env_stop(fx.http.env);
		return;
	}
	if (!fx.asks && store_find_facts(fx.store, &f, take_facts, NULL) == 0 &&
	    store_next_episode(fx.store, &all, take_episode, NULL) == 0 &&
	    store_find_summaries(fx.store, GUILD, CHANNEL, 0, take_summaries, NULL) == 0)
		fx.asks = true;
	tmr_start(fx.poll, POLL_MS * NS_PER_MS);
}

static bool run_until(bool (*over)(void))
{
	fx.over = over;
	tmr_start(fx.poll, 0);
	env_run(fx.http.env);
	return !fx.http.timed_out;
}

static void publish_session(enum event_type type)
{
	struct bus_event ev = {.type = type, .at_ms = env_wall_ms(fx.http.env), .guild = fx.guild};

	ev.session.session = fx.session;
	ev.session.channel = CHANNEL;
	ev.session.why = type == EVENT_SESSION_OVER ? "shutdown" : "";
	bus_publish(fx.bus, &ev);
}

static void publish_line(uint64_t user, const char *text, bool consent)
{
	uint64_t now = env_wall_ms(fx.http.env) - fx.age_ms;
	struct bus_event ev = {
		.type = EVENT_UTTERANCE, .at_ms = now, .guild = fx.guild, .user = user};

	ev.utterance = (struct event_utterance){.session = fx.session,
						.channel = CHANNEL,
						.utterance = (uint32_t)user,
						.name = user == ANA ? "Ana" : "Bob",
						.text = text,
						.started_ms = now,
						.ended_ms = now,
						.source = "realtime-transcription",
						.consent = consent};
	bus_publish(fx.bus, &ev);
}

static bool allows(uint64_t guild, uint64_t user, void *arg)
{
	(void)arg;
	if (fx.erase && fx.http.requests && fx.written++ == 0)
		tmr_start(fx.erase, 0);
	return (guild == GUILD || guild == OTHER) && user != fx.refuses;
}

static bool open_store(void)
{
	return !store_alloc(&fx.store, fx.http.env, fx.bus, fx.settings, fx.dir) &&
	       !extraction_alloc(&fx.x, &(struct model_conf){.env = fx.http.env,
							     .http = fx.http.http,
							     .settings = fx.settings,
							     .store = fx.store,
							     .bus = fx.bus,
							     .allowsh = allows});
}

static bool begin(const char *says)
{
	memset(&fx, 0, sizeof fx);
	fx.says = says;
	fx.guild = GUILD;
	snprintf(fx.dir, sizeof fx.dir, "/tmp/parley-extract-XXXXXX");
	if (!mkdtemp(fx.dir) || !fake_http_begin(&fx.http, answer_request, NULL))
		return false;
	fx.session = env_wall_ms(fx.http.env) - 60000; /* the store deletes old ones */
	return !settings_alloc(&fx.settings) &&
	       !settings_set(fx.settings, "text_url", fx.http.base) &&
	       !settings_set(fx.settings, "memory_extract", "on") && !bus_alloc(&fx.bus) &&
	       !tmr_alloc(&fx.poll, fx.http.env, on_poll, NULL) && open_store();
}

static void end(void)
{
	char rm[64];

	extraction_free(fx.x);
	tmr_free(fx.poll);
	store_free(fx.store);
	bus_free(fx.bus);
	settings_free(fx.settings);
	fake_http_end(&fx.http);
	snprintf(rm, sizeof rm, "rm -rf %s", fx.dir);
	CHECK_INT(system(rm), 0);
}

static unsigned read_number(const char *statement)
{
	sqlite3_stmt *s = NULL;
	sqlite3 *sql = NULL;
	char path[64];
	unsigned n = 99;

	snprintf(path, sizeof path, "%s/parley.db", fx.dir);
	if (sqlite3_open(path, &sql) == SQLITE_OK &&
	    sqlite3_prepare_v2(sql, statement, -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		n = (unsigned)sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(sql);
	return n;
}

/* Lines that facts rest on. */
static unsigned count_sources(unsigned line)
{
	char text[80];

	snprintf(text, sizeof text, "SELECT count(*) FROM fact_sources WHERE utterance = %u", line);
	return read_number(text);
}

static bool is_done(void)
{
	return fx.http.requests && fx.episode == ENOENT;
}

static bool is_summed_up(void)
{
	return strlen(fx.summaries) > 2;
}

static void talk(void)
{
	publish_session(EVENT_SESSION_STARTED);
	publish_line(ANA, "my bike is red", true);
	publish_line(BOB, "my boat is blue", false);
	publish_session(EVENT_SESSION_OVER);
}

#define BIKE                                                                                       \
	"{\"facts\":[{\"said_by\":\"p1\",\"kind\":\"preference\",\"text\":\"my bike is red\","     \
	"\"evidence\":[{\"u\":1,\"quote\":\"bike is red\"}]}]}"

TEST(words_of_a_person_who_has_refused_since_are_not_sent)
{
	CHECK(begin(BIKE));
	fx.refuses = ANA;
	publish_session(EVENT_SESSION_STARTED);
	publish_line(ANA, "my bike is red", true);
	publish_line(BOB, "my boat is blue", true);
	publish_session(EVENT_SESSION_OVER);
	CHECK(run_until(is_done));
	CHECK_INT(fx.http.requests, 1);
	CHECK(!memmem(fx.http.body, fx.http.n, "my bike", 7));
	CHECK(memmem(fx.http.body, fx.http.n, "my boat", 7));
	CHECK(!strstr(fx.facts, "bike"));
	end();
}

/* Long enough for facts of an answer to be written. */
static bool is_settled(void)
{
	return fx.http.requests && fx.polls++ > 40;
}

TEST(an_erasure_ends_an_extraction_under_way)
{
	CHECK(begin(BIKE));
	fx.erased = ANA;
	talk();
	CHECK(run_until(is_settled));
	CHECK_INT(fx.http.requests, 1);
	CHECK_STR(fx.facts, "[]");
	end();
}

/* The first fact is on its way to the store. */
static void on_erase(void *arg)
{
	(void)arg;
	extraction_erase(fx.x, ANA);
	publish_session(EVENT_SESSION_OVER);
}

/* The answer to the first write must not go on with the facts of the second request. */
TEST(an_extraction_that_begins_anew_while_a_fact_is_written_writes_each_fact_once)
{
	CHECK(begin(
		"{\"facts\":[{\"said_by\":\"p1\",\"kind\":\"event\",\"text\":\"my bike is red\","
		"\"evidence\":[{\"u\":1,\"quote\":\"bike is red\"}]},{\"said_by\":\"p1\",\"kind\":"
		"\"event\",\"text\":\"a red bike brings "
		"luck\",\"evidence\":[{\"u\":1,\"quote\":\"bike is "
		"red\"}]},{\"said_by\":\"p1\",\"kind\":\"event\",\"text\":\"red bikes need paint\","
		"\"evidence\":[{\"u\":1,\"quote\":\"bike is red\"}]}]}"));
	CHECK_INT(tmr_alloc(&fx.erase, fx.http.env, on_erase, NULL), 0);
	talk();
	CHECK(run_until(is_settled));
	fx.polls = 0;
	CHECK(run_until(is_settled));
	CHECK_INT(fx.http.requests, 2);
	CHECK(strstr(fx.facts, "my bike") && strstr(fx.facts, "luck") && strstr(fx.facts, "paint"));
	CHECK_INT(count_sources(1), 3);
	fx.erase = tmr_free(fx.erase);
	end();
}

TEST(an_erasure_of_somebody_else_does_not)
{
	CHECK(begin(BIKE));
	fx.erased = BOB;
	talk();
	CHECK(run_until(is_done));
	CHECK(strstr(fx.facts, "my bike is red"));
	end();
}

TEST(nothing_is_kept_of_a_person_who_refuses_while_the_model_reads)
{
	CHECK(begin("{\"facts\":[{\"said_by\":\"p1\",\"kind\":\"preference\",\"text\":\"my bike is "
		    "red\",\"evidence\":[{\"u\":1,\"quote\":\"bike is red\"}]},"
		    "{\"said_by\":\"p2\",\"kind\":\"plan\",\"text\":\"my boat is blue\","
		    "\"evidence\":[{\"u\":2,\"quote\":\"boat is blue\"}]}],"
		    "\"summary\":[{\"text\":\"Ana has a red bike.\",\"evidence\":[{\"u\":1,"
		    "\"quote\":\"bike is red\"}]}]}"));
	fx.refuses_later = ANA;
	publish_session(EVENT_SESSION_STARTED);
	publish_line(ANA, "my bike is red", true);
	publish_line(BOB, "my boat is blue", true);
	publish_session(EVENT_SESSION_OVER);
	CHECK(run_until(is_done));
	CHECK(run_until(is_settled));
	CHECK_STR(fx.facts, "[]");
	CHECK_STR(fx.summaries, "[]");
	CHECK_INT(count_sources(1), 0);
	CHECK_INT(count_sources(2), 1); /* the other person's */
	end();
}

TEST(facts_of_a_session_are_kept_with_their_speaker)
{
	CHECK(begin("{\"facts\":[{\"said_by\":\"p1\",\"kind\":\"preference\",\"text\":\"my bike is "
		    "red\","
		    "\"evidence\":[{\"u\":1,\"quote\":\"bike is red\"}]},"
		    "{\"said_by\":\"p2\",\"kind\":\"plan\",\"text\":\"my boat is blue\","
		    "\"evidence\":[{\"u\":2,\"quote\":\"boat is blue\"}]}],"
		    "\"summary\":[{\"text\":\"Ana has a red bike.\",\"evidence\":[{\"u\":1,"
		    "\"quote\":\"bike is red\"}]}]}"));
	talk();
	CHECK(run_until(is_done));
	CHECK_INT(fx.http.requests, 1);
	CHECK(run_until(is_summed_up));
	CHECK(strstr(fx.summaries, "\"text\":\"Ana has a red bike.\""));
	CHECK(strstr(fx.summaries, "\"people\":[\"501\"]"));
	CHECK(memmem(fx.http.body, fx.http.n, "my bike is red", 14));
	CHECK(!memmem(fx.http.body, fx.http.n, "my boat", 7));
	CHECK(!memmem(fx.http.body, fx.http.n, "501", 3));
	CHECK(memmem(fx.http.body, fx.http.n, "\"json_schema\"", 13));
	CHECK(memmem(fx.http.body, fx.http.n, "guidance\"]", 10));
	CHECK(strstr(fx.facts, "\"text\":\"my bike is red\""));
	CHECK(strstr(fx.facts, "\"user\":\"501\""));
	CHECK(strstr(fx.facts, "\"private\":true"));
	CHECK(!strstr(fx.facts, "boat"));
	CHECK_INT(count_sources(1), 1);
	CHECK_INT(count_sources(2), 0);
	end();
}

static void on_erased(int err, const struct store_document *document, void *arg)
{
	(void)document;
	(void)arg;
	CHECK_INT(err, 0);
}

static bool is_summed_up_again(void)
{
	publish_session(EVENT_SESSION_OVER); /* it looks for episodes at once */
	return fx.http.requests == 2 && is_summed_up();
}

/* Two sentences about Ana, on her lines 1 and 3. */
#define ANAS_BIKE                                                                                  \
	"{\"facts\":[{\"said_by\":\"p1\",\"kind\":\"preference\",\"text\":\"my bike is red\","     \
	"\"evidence\":[{\"u\":1,\"quote\":\"bike is red\"}]}],\"summary\":[{\"text\":\"They talk " \
	"about machines.\",\"evidence\":[{\"u\":1,\"quote\":\"my bike\"}]},{\"text\":\"It "        \
	"rains.\","                                                                                \
	"\"evidence\":[{\"u\":3,\"quote\":\"it rains\"}]}]}"

static void begin_bikes(void)
{
	CHECK(begin(ANAS_BIKE));
	publish_session(EVENT_SESSION_STARTED);
	publish_line(ANA, "my bike is red", true);
	publish_line(BOB, "my boat is blue", true);
	publish_line(ANA, "it rains", true);
	publish_session(EVENT_SESSION_OVER);
	CHECK(run_until(is_done));
	CHECK(run_until(is_summed_up));
	CHECK(strstr(fx.facts, "my bike is red"));
	CHECK(strstr(fx.summaries, "They talk about machines. It rains."));
	fx.summaries[0] = '\0';
}

static void forget_bike(void)
{
	const struct store_facts forgotten = {.guild = GUILD,
					      .owner = ANA,
					      .user = ANA,
					      .name = "Ana",
					      .request = "{\"words\":\"bike\"}"};

	CHECK_INT(store_forget_facts(fx.store, &forgotten, on_erased, NULL), 0);
}

TEST(an_erasure_of_somebody_else_does_not_bring_a_forgotten_fact_back)
{
	begin_bikes();
	forget_bike();
	CHECK_INT(store_erase_person(fx.store, BOB, "test", false, on_erased, NULL), 0);
	CHECK(run_until(is_summed_up_again));
	CHECK(run_until(is_settled));
	CHECK_STR(fx.facts, "[]");
	CHECK(strstr(fx.summaries, "\"people\":[\"501\"]"));
	CHECK_INT(fx.http.requests, 2);
	end();
}

TEST(a_session_is_summed_up_again_without_the_lines_of_a_forgotten_fact)
{
	begin_bikes();
	forget_bike();
	CHECK(run_until(is_summed_up_again));
	CHECK(!memmem(fx.http.body, fx.http.n, "my bike", 7));
	CHECK(memmem(fx.http.body, fx.http.n, "my boat", 7));
	CHECK(!strstr(fx.summaries, "machines") && strstr(fx.summaries, "It rains."));
	CHECK_STR(fx.facts, "[]");
	end();
}

/* Another session each time. */
static void hold_session(uint64_t guild, const char *text)
{
	fx.guild = guild;
	fx.session++;
	publish_session(EVENT_SESSION_STARTED);
	publish_line(ANA, text, true);
	publish_session(EVENT_SESSION_OVER);
}

static bool is_settled_after_two(void)
{
	return fx.http.requests == 2 && fx.polls++ > 40;
}

/* Ana's session of the first server waits: Bob used up the facts of the minute there. */
static void begin_waiting(void)
{
	const struct store_facts five = {
		.guild = GUILD,
		.user = BOB,
		.name = "Bob",
		.request = "[{\"text\":\"one owl\"},{\"text\":\"my cat is old\"},{\"text\":\"we "
			   "ski\"},{\"text\":\"the tea is hot\"},{\"text\":\"i sail\"}]",
		.since_ms = 1};

	CHECK(begin(BIKE));
	CHECK_INT(store_write_facts(fx.store, &five, on_erased, NULL), 0);
	hold_session(GUILD, "my bike is red, said in the first server");
	hold_session(OTHER, "my bike is red, too");
	CHECK(run_until(is_settled_after_two));
	CHECK_INT(count_sources(1), 0);
}

/* As if a minute had passed. */
static void let_write(void)
{
	sqlite3 *sql = NULL;
	char path[64];

	snprintf(path, sizeof path, "%s/parley.db", fx.dir);
	CHECK_INT(sqlite3_open(path, &sql), SQLITE_OK);
	sqlite3_busy_timeout(sql, 1000);
	CHECK_INT(sqlite3_exec(sql, "DELETE FROM audit", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sql);
	publish_session(EVENT_SESSION_OVER);
	fx.polls = 0;
	CHECK(run_until(is_settled));
}

TEST(a_server_that_wrote_its_facts_of_the_minute_holds_nobody_up)
{
	begin_waiting();
	let_write();
	CHECK_INT(count_sources(1), 1);
	CHECK_INT(fx.http.requests, 2); /* the answer was kept */
	end();
}

TEST(an_erasure_drops_an_episode_that_waits)
{
	begin_waiting();
	extraction_erase(fx.x, ANA);
	let_write();
	CHECK_INT(fx.http.requests, 3);
	end();
}

TEST(an_episode_that_waits_is_dropped_when_the_settings_keep_no_facts)
{
	static const char *const never[][2] = {
		{"memory_extract", "off"}, {"memory_days", "0"}, {"store_words_hours", "0"}};

	for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
		begin_waiting();
		CHECK_INT(settings_set(fx.settings, never[i][0], never[i][1]), 0);
		let_write();
		CHECK_INT(count_sources(1), 0);
		end();
	}
}

static bool is_settled_after_trying_on(void)
{
	publish_session(EVENT_SESSION_OVER); /* it looks for episodes at once */
	return is_settled_after_two();
}

/* A request costs more than half of the budget of the day. */
TEST(a_server_spends_its_share_of_the_day)
{
	CHECK(begin("{\"facts\":[]}"));
	CHECK_INT(settings_set(fx.settings, "memory_extract_cents", "1"), 0);
	CHECK_INT(settings_set(fx.settings, "text_model", "m"), 0);
	CHECK_INT(settings_set(fx.settings, "prices",
			       "[{\"model\":\"m\",\"kind\":\"text_in\",\"usd\":15}]"),
		  0);
	hold_session(GUILD, "the first one");
	hold_session(GUILD, "the second one");
	hold_session(OTHER, "my bike is red");
	CHECK(run_until(is_settled_after_trying_on));
	CHECK(memmem(fx.http.body, fx.http.n, "my bike", 7));
	end();
}

static bool is_asked_once(void)
{
	return fx.http.requests == 1 && is_settled();
}

static bool restart(void);

/* Otherwise a control that is started again and again would ask without end. */
TEST(what_was_spent_before_a_restart_counts)
{
	CHECK(begin("{\"facts\":[]}"));
	CHECK_INT(settings_set(fx.settings, "memory_extract_cents", "1"), 0);
	CHECK_INT(settings_set(fx.settings, "text_model", "m"), 0);
	CHECK_INT(settings_set(fx.settings, "prices",
			       "[{\"model\":\"m\",\"kind\":\"text_in\",\"usd\":15}]"),
		  0);
	hold_session(GUILD, "the first one");
	CHECK(run_until(is_asked_once));
	CHECK(restart());
	fx.polls = 0;
	hold_session(GUILD, "the second one");
	hold_session(OTHER, "my bike is red");
	CHECK(run_until(is_settled_after_trying_on));
	CHECK(memmem(fx.http.body, fx.http.n, "my bike", 7));
	end();
}

/* Tries again at once. */
static bool is_passed_over(void)
{
	if (is_done())
		return true;
	publish_session(EVENT_SESSION_OVER);
	return false;
}

TEST(a_session_that_always_fails_is_passed_over)
{
	CHECK(begin("I cannot do that."));
	talk();
	CHECK(run_until(is_passed_over));
	CHECK_INT(fx.http.requests, EXTRACTION_TRIES);
	end();
}

static bool is_looked_for(void)
{
	return *fx.facts;
}

/* As a control that starts anew. */
static bool restart(void)
{
	fx.x = extraction_free(fx.x);
	fx.store = store_free(fx.store);
	fx.bus = bus_free(fx.bus);
	fx.asks = false;
	return !bus_alloc(&fx.bus) && open_store();
}

static bool has_tried_on(void)
{
	publish_session(EVENT_SESSION_OVER); /* it looks for episodes at once */
	return is_settled();
}

/* An hour without the provider must not cost the memory of the sessions before it. */
TEST(a_session_waits_for_a_provider_that_is_away)
{
	CHECK(begin(BIKE));
	fx.fails = true;
	talk();
	CHECK(run_until(has_tried_on));
	CHECK_INT(fx.http.requests, 1);
	CHECK_INT(fx.episode, 0); /* it is still to be extracted */
	fx.fails = false;
	fx.polls = 0;
	CHECK(restart());
	publish_session(EVENT_SESSION_OVER);
	CHECK(run_until(is_done));
	CHECK(run_until(is_settled));
	CHECK(strstr(fx.facts, "my bike is red"));
	end();
}

/* No session may follow that ends it. */
TEST(a_session_that_a_crash_ended_is_extracted)
{
	CHECK(begin(BIKE));
	publish_session(EVENT_SESSION_STARTED);
	publish_line(ANA, "my bike is red", true);
	CHECK(run_until(is_looked_for)); /* what was published is written by then */
	CHECK_INT(fx.http.requests, 0);
	CHECK(restart());
	fx.session += 1000; /* of another one, which is not there */
	publish_session(EVENT_SESSION_OVER);
	CHECK(run_until(is_done));
	CHECK(run_until(is_settled));
	CHECK(strstr(fx.facts, "my bike is red"));
	end();
}

TEST(nothing_is_asked_that_the_settings_do_not_want)
{
	static const char *const never[][2] = {{"memory_extract", "off"},
					       {"store_words_hours", "0"}};

	for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
		CHECK(begin("{\"facts\":[]}"));
		CHECK_INT(settings_set(fx.settings, never[i][0], never[i][1]), 0);
		talk();
		CHECK(run_until(is_looked_for));
		CHECK_INT(fx.http.requests, 0);
		end();
	}
}

/* ---- costs of answers that do not come ---- */

static void set_price(void)
{
	CHECK_INT(settings_set(fx.settings, "text_model", "m"), 0);
	CHECK_INT(settings_set(fx.settings, "prices",
			       "[{\"model\":\"m\",\"kind\":\"text_in\",\"usd\":15}]"),
		  0);
}

/* The provider may have read the request, and asks its price. */
TEST(an_answer_that_is_lost_costs_what_the_request_did)
{
	CHECK(begin(BIKE));
	set_price();
	fx.drops = true;
	talk();
	CHECK(run_until(has_tried_on));
	CHECK_INT(fx.http.requests, 1);
	CHECK_INT(read_number("SELECT count(*) FROM costs WHERE nano > 0"
			      " AND units LIKE '%\"estimated\":true%' AND guild = 7"),
		  1);
	end();
}

TEST(a_request_that_is_refused_costs_nothing)
{
	CHECK(begin(BIKE));
	set_price();
	fx.fails = true;
	talk();
	CHECK(run_until(has_tried_on));
	CHECK_INT(fx.http.requests, 1);
	CHECK_INT(read_number("SELECT count(*) FROM costs"), 0);
	end();
}

/* ---- sessions that go on ---- */

static bool knows_bike(void)
{
	return strstr(fx.facts, "my bike is red") != NULL;
}

/* Looks for episodes at once. */
static void end_another_session(void)
{
	fx.session += 1000;
	publish_session(EVENT_SESSION_OVER);
	fx.session -= 1000;
}

static bool has_looked(void)
{
	end_another_session();
	return fx.polls++ > 40;
}

/* A room that never empties. */
TEST(a_session_that_goes_on_is_extracted_once_its_lines_are_an_hour_old)
{
	CHECK(begin(BIKE));
	publish_session(EVENT_SESSION_STARTED);
	fx.age_ms = 3540000;
	publish_line(ANA, "my bike is red", true);
	CHECK(run_until(has_looked));
	CHECK_INT(fx.http.requests, 0);
	fx.age_ms = 3660000;
	publish_line(BOB, "it is a new one", true);
	fx.polls = 0;
	CHECK(run_until(has_looked));
	CHECK(run_until(knows_bike));
	CHECK_INT(fx.http.requests, 1);
	/* What is said from then on waits again. */
	fx.age_ms = 0;
	publish_line(ANA, "the trip is on Friday", true);
	fx.polls = 0;
	CHECK(run_until(has_looked));
	CHECK_INT(fx.http.requests, 1);
	end();
}

TEST(a_session_that_goes_on_is_extracted_once_it_has_many_lines)
{
	CHECK(begin(BIKE));
	publish_session(EVENT_SESSION_STARTED);
	publish_line(ANA, "my bike is red", true);
	for (unsigned i = 1; i < EXTRACT_LINES - 1; i++)
		publish_line(BOB, "yes", true);
	CHECK(run_until(has_looked));
	CHECK_INT(fx.http.requests, 0);
	publish_line(BOB, "yes", true);
	fx.polls = 0;
	CHECK(run_until(has_looked));
	CHECK(run_until(knows_bike));
	CHECK_INT(fx.http.requests, 1);
	end();
}

/* Words that are kept for an hour are read before they go. */
TEST(a_session_that_goes_on_is_extracted_before_its_words_go)
{
	CHECK(begin(BIKE));
	CHECK_INT(settings_set(fx.settings, "store_words_hours", "1"), 0);
	publish_session(EVENT_SESSION_STARTED);
	fx.age_ms = 1860000;
	publish_line(ANA, "my bike is red", true);
	CHECK(run_until(has_looked));
	CHECK(run_until(knows_bike));
	end();
}
