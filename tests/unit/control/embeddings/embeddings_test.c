/* A provider of role embed: which texts it gets, what is found by its vectors, and that a search
 * goes on with words when it fails or is late. */
#include "control/embeddings/embeddings.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "control/engine/model_conf.h"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/control/fake_http.h"
#include "tests/unit/ipc/loop.h"

enum { SERVER = 70, ROOM = 80, ADA = 5010, REFUSER = 5020, POLLS_MS = 5 };

static struct scene {
	struct fake_http http;
	struct settings *settings;
	struct bus *bus;
	struct store *store;
	struct embeddings_client *client;
	struct tmr *poll;
	char dir[32], sent[4096], found[2048];
	bool fails, holds, asks; /* of questions: fails, is late; a search is under way */
	unsigned tries;
	bool (*over)(void);
} sc;

/* Two meanings: animals, and everything else. */
static void answer_texts(struct evhttp_request *req, const char *body)
{
	json_t *root = json_loads(body, 0, NULL), *data = json_array();
	const json_t *text;
	char *all;
	size_t i;

	json_array_foreach(json_object_get(root, "input"), i, text)
	{
		bool animal = strstr(json_string_value(text), "terrier") ||
			      strstr(json_string_value(text), "dog");

		json_array_append_new(data,
				      json_pack("{s:I,s:[i,i,i,i,i,i,i,i]}", "index", (json_int_t)i,
						"embedding", animal, !animal, 0, 0, 0, 0, 0, 0));
	}
	root = (json_decref(root), json_pack("{s:o}", "data", data));
	all = json_dumps(root, JSON_COMPACT);
	fake_http_answer(req, 200, "application/json", all, strlen(all));
	free(all);
	json_decref(root);
}

static void on_request(struct fake_http *f, struct evhttp_request *req)
{
	const char *body = (const char *)f->body;
	bool question = memmem(body, f->n, "which dog", 9) != NULL;
	size_t at = strlen(sc.sent);

	f->body[f->n] = '\0';
	snprintf(sc.sent + at, sizeof sc.sent - at, "%s\n", body);
	if (question && sc.holds)
		fake_http_open(f, req, "application/json");
	else if (question && sc.fails)
		fake_http_answer(req, 400, "application/json", "{}", 2);
	else
		answer_texts(req, body);
}

static void take_found(int err, const struct store_document *document, void *arg)
{
	(void)arg;
	sc.asks = false;
	sc.tries++;
	snprintf(sc.found, sizeof sc.found, "%s", err ? "error" : document->document);
}

static void on_poll(void *arg)
{
	const struct store_said what = {.guild = SERVER,
					.channel = ROOM,
					.name = "",
					.words = "which dog came to the park",
					.wait_ms = 200,
					.most = 5};

	(void)arg;
	if (sc.over()) {
		env_stop(sc.http.env);
		return;
	}
	if (!sc.asks && !store_find_said(sc.store, &what, take_found, NULL))
		sc.asks = true;
	tmr_start(sc.poll, POLLS_MS * NS_PER_MS);
}

static void say_line(uint64_t user, const char *text, bool consent)
{
	struct bus_event ev = {.type = EVENT_UTTERANCE, .at_ms = 1, .guild = SERVER, .user = user};

	ev.utterance.session = 9;
	ev.utterance.channel = ROOM;
	ev.utterance.utterance = (uint32_t)strlen(text);
	ev.utterance.name = "Ada";
	ev.utterance.text = text;
	ev.utterance.started_ms = ev.at_ms = env_wall_ms(sc.http.env);
	ev.utterance.ended_ms = ev.at_ms;
	ev.utterance.source = "realtime-transcription";
	ev.utterance.consent = consent;
	bus_publish(sc.bus, &ev);
}

/* The bot answered both. */
static void answer_both(const char *text)
{
	struct bus_event ev = {.type = EVENT_TURN, .guild = SERVER, .user = ADA};

	ev.at_ms = env_wall_ms(sc.http.env);
	ev.turn = (struct event_turn){
		.session = 9,
		.channel = ROOM,
		.turn = 1,
		.stage = "ended",
		.name = "Ada",
		.heard = "",
		.reason = "answered",
		.said = text,
		.segments = "[{\"user\":\"5010\",\"name\":\"Ada\",\"utterance\":1,"
			    "\"text\":\"a\"},{\"user\":\"5020\",\"name\":"
			    "\"Ben\",\"utterance\":2,\"text\":\"b\"}]",
		.why = "[]"};
	bus_publish(sc.bus, &ev);
}

static bool allows_all_but_one(uint64_t guild, uint64_t user, void *arg)
{
	(void)arg;
	return guild == SERVER && user != REFUSER;
}

static bool open_client(void)
{
	const struct model_conf conf = {.env = sc.http.env,
					.http = sc.http.http,
					.settings = sc.settings,
					.store = sc.store,
					.bus = sc.bus,
					.allowsh = allows_all_but_one};

	return embeddings_alloc(&sc.client, &conf) == 0;
}

static bool open_scene(bool provider)
{
	char records[256];

	sc = (struct scene){0};
	if (!folder_make(sc.dir) || !fake_http_begin(&sc.http, on_request, NULL) ||
	    settings_alloc(&sc.settings) || settings_set(sc.settings, "memory_embedder", "none"))
		return false;
	snprintf(records, sizeof records,
		 "[{\"name\":\"far\",\"dialect\":\"chat\",\"url\":\"%s\",\"model\":\"m-1\"}]",
		 sc.http.base);
	if (provider && (settings_set(sc.settings, "providers", records) ||
			 settings_set(sc.settings, "roles", "{\"embed\":[\"far\"]}")))
		return false;
	return !bus_alloc(&sc.bus) &&
	       !store_alloc(&sc.store, sc.http.env, sc.bus, sc.settings, sc.dir) &&
	       !tmr_alloc(&sc.poll, sc.http.env, on_poll, NULL) && open_client();
}

static void close_scene(void)
{
	embeddings_free(sc.client);
	tmr_free(sc.poll);
	store_free(sc.store);
	bus_free(sc.bus);
	settings_free(sc.settings);
	fake_http_end(&sc.http);
	folder_remove(sc.dir);
}

static bool run_scene(bool (*over)(void))
{
	sc.over = over;
	tmr_start(sc.poll, 0);
	env_run(sc.http.env);
	return !sc.http.timed_out;
}

static void say_lines(void)
{
	say_line(ADA, "our terrier ran beside the river", true);
	say_line(ADA, "the car needs another set of tyres", true);
	say_line(ADA, "nobody may keep this sentence of mine", false);
	say_line(REFUSER, "this person changed the answer later", true);
	answer_both("both of you asked for the lighthouse");
}

static bool finds_the_terrier(void)
{
	return strstr(sc.found, "terrier") != NULL;
}

TEST(a_question_finds_by_the_vectors_of_a_provider)
{
	CHECK(open_scene(true));
	say_lines();
	CHECK(run_scene(finds_the_terrier));
	CHECK(strstr(sc.sent, "\"model\":\"m-1\""));
	CHECK(strstr(sc.sent, "terrier") && strstr(sc.sent, "tyres"));
	CHECK(!strstr(sc.sent, "nobody may keep"));
	CHECK(!strstr(sc.sent, "changed the answer"));
	CHECK(!strstr(sc.sent, "lighthouse"));
	close_scene();
}

static bool has_searched(void)
{
	return sc.tries >= 3 && strstr(sc.sent, "terrier") && strstr(sc.sent, "which dog");
}

TEST(a_search_goes_on_with_words_when_the_provider_fails)
{
	CHECK(open_scene(true));
	sc.fails = true;
	say_lines();
	CHECK(run_scene(has_searched));
	CHECK_STR(sc.found, "[]");
	close_scene();
}

TEST(a_search_goes_on_with_words_when_the_vector_is_late)
{
	CHECK(open_scene(true));
	sc.holds = true;
	say_lines();
	CHECK(run_scene(has_searched));
	CHECK_STR(sc.found, "[]");
	close_scene();
}

static bool has_searched_thrice(void)
{
	return sc.tries >= 3;
}

TEST(nothing_is_sent_without_a_provider)
{
	CHECK(open_scene(false));
	CHECK(!sc.client);
	say_lines();
	CHECK(run_scene(has_searched_thrice));
	CHECK_INT(sc.http.requests, 0);
	close_scene();
}
