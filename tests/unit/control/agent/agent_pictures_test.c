/* Files in the chat of the voice channel: how long they are kept. */
#include "control/agent/agent_pictures.h"

#include <string.h>
#include <time.h>

#include "control/attachments/captions.h"
#include "control/attachments/fetch.h"
#include "control/tools/builtin/host.h"
#include "ipc/env_replay.h"
#include "tests/unit/control/agent/agent_scene.h"

enum { MARGIN_MS = 50 };

static const uint64_t kept_ns = AGENT_PICTURES_S * NS_PER_S;
static struct scene s;
static struct fetcher *fetcher;
static struct captions *captions;
static struct agent_pictures *pictures;
static struct evhttp *server;
static char base[64];
static uint64_t ahead_ns, behind_ns; /* of the system's clock */
static uint64_t until;

static uint64_t read_clock(void *arg)
{
	struct timespec ts;

	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of_timespec(&ts) + ahead_ns - behind_ns;
}

static void serve(struct evhttp_request *req, void *arg)
{
	(void)arg;
	fake_http_answer(req, 200, "text/plain", "a plum", 6);
}

static bool begin(void)
{
	struct agent_conf conf = {0};
	char api[128];

	ahead_ns = behind_ns = 0;
	if (!scene_begin(&s, "off", NULL))
		return false;
	s.words = "mhm";
	env_replay_clock(s.fake.env, read_clock, NULL);
	server = evhttp_new(env_base(s.fake.env));
	evhttp_set_gencb(server, serve, NULL);
	if (!fake_http_listen(server, base, sizeof base))
		return false;
	snprintf(api, sizeof api, "%s/api/v10", base);
	if (settings_set(s.settings, "discord_api", api) ||
	    fetcher_alloc(&fetcher, s.fake.env, s.settings) || captions_alloc(&captions))
		return false;
	conf = (struct agent_conf){.env = s.fake.env,
				   .ws = s.fake.ctx,
				   .http = s.http,
				   .call = s.call,
				   .settings = s.settings,
				   .viewers = {.fetcher = fetcher, .captions = captions}};
	return !agent_pictures_alloc(&pictures, s.agent, &conf);
}

static void end(void)
{
	pictures = agent_pictures_free(pictures);
	fetcher_free(fetcher);
	captions_free(captions);
	evhttp_free(server);
	scene_end(&s);
}

static void attach(uint64_t message, enum attached_kind kind, const char *name, uint64_t size)
{
	struct attached_list files = {.n = 1, .v = {{.kind = kind, .id = message, .size = size}}};
	const struct agent_typed typed = {
		.message = message, .user = ALICE, .name = "Alice", .text = "", .files = &files};

	snprintf(files.v[0].name, sizeof files.v[0].name, "%s", name);
	snprintf(files.v[0].url, sizeof files.v[0].url, "%s/%s", base, name);
	agent_pictures_typed(pictures, &typed);
}

/* A model is told these words. */
static bool tells(const char *words)
{
	struct engine_image images[AGENT_PICTURES_SHOWN];
	struct engine_message m;
	char *text = NULL;
	bool told = agent_pictures_message(pictures, 0, &m, images, &text) && strstr(text, words);

	free(text);
	return told;
}

static bool is_told(const struct scene *scene)
{
	(void)scene;
	return tells("a plum");
}

static bool is_later(const struct scene *scene)
{
	return env_now(scene->fake.env) > until;
}

TEST(a_file_in_the_chat_of_the_channel_goes_after_ten_minutes)
{
	CHECK(begin());
	behind_ns = kept_ns - MARGIN_MS * NS_PER_MS;
	attach(1, ATTACHED_IMAGE, "cat.png", VIEWER_IMAGE_BYTES + 1);
	CHECK(tells("cat.png"));
	/* Nothing else comes: the timer's time does. */
	behind_ns = 0;
	until = env_now(s.fake.env) + UINT64_C(3) * MARGIN_MS * NS_PER_MS;
	CHECK(scene_run(&s, is_later));
	/* What is not told for its age alone would be told at that time. */
	behind_ns = kept_ns - MARGIN_MS * NS_PER_MS;
	CHECK(!tells("cat.png"));
	end();
}

TEST(a_session_is_renewed_for_a_file_that_it_was_shown_longer_ago)
{
	CHECK(begin());
	attach(1, ATTACHED_TEXT, "plum.txt", 6);
	CHECK(scene_run(&s, is_told));
	ahead_ns = kept_ns;
	attach(2, ATTACHED_IMAGE, "cat.png", VIEWER_IMAGE_BYTES + 1);
	ahead_ns = 0;
	CHECK(!tells("a plum"));
	CHECK(!agent_pictures_drop(pictures, 2, 0));
	CHECK(agent_pictures_drop(pictures, 1, 0));
	CHECK(!agent_pictures_drop(pictures, 1, 0));
	end();
}

TEST(a_picture_is_looked_up_for_ten_minutes)
{
	const struct tool_look what = {.query = "cat", .question = "which", .url = ""};
	int err = 0;

	CHECK(begin());
	attach(1, ATTACHED_IMAGE, "cat.png", 100);
	/* Each one that is fetched has a place, and the loop does not run meanwhile. */
	ahead_ns = kept_ns;
	for (uint32_t i = 1; !err && i <= 8; i++)
		err = agent_pictures_look(pictures, i, &what);
	CHECK_INT(err, 0);
	ahead_ns = 0;
	for (uint32_t i = 1; !err && i <= 8; i++)
		err = agent_pictures_look(pictures, i, &what);
	CHECK_INT(err, ENOSPC);
	end();
}
