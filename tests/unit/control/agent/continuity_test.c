/* An agent that comes back to a voice channel recalls what was said there last. */
#include "control/agent/continuity.h"

#include <sys/stat.h>

#include "control/room/inside.h"
#include "control/store/store.h"
#include "tests/unit/control/agent/agent_scene.h"

enum { BOB = ALICE + 1, HOUR_MS = 3600000 };

static struct store *store;
static bool synced;

static void on_synced(int err, void *arg)
{
	(void)arg;
	CHECK_INT(err, 0);
	synced = true;
}

static bool is_synced(const struct scene *s)
{
	(void)s;
	return synced;
}

static void say(struct scene *s, uint64_t user, uint64_t ago_ms, const char *text)
{
	const struct media_want *where = media_call_want(s->call);
	uint64_t at = env_wall_ms(s->fake.env) - ago_ms;
	struct bus_event ev = {
		.type = EVENT_UTTERANCE, .at_ms = at, .guild = where->guild, .user = user};

	ev.utterance = (struct event_utterance){.session = 1000,
						.channel = where->channel,
						.name = user == BOB ? "Bob" : "Alice",
						.text = text,
						.started_ms = at,
						.ended_ms = at,
						.source = "realtime-transcription",
						.consent = true};
	bus_publish(s->bus, &ev);
}

static bool begin(struct scene *s, char *dir, size_t size)
{
	scene_mute = true;
	if (!scene_begin(s, "off", NULL))
		return false;
	snprintf(dir, size, "%s-store", s->dir);
	if (mkdir(dir, 0700) || store_alloc(&store, s->fake.env, s->bus, s->settings, dir))
		return false;
	s->agent->store = store;
	say(s, ALICE, 30 * HOUR_MS, "the day before yesterday");
	say(s, ALICE, 2 * HOUR_MS, "tell me about the owls");
	say(s, BOB, HOUR_MS, "not now please");
	synced = false;
	tmr_start(scene_watch, 0);
	return store_sync(store, on_synced, s) == 0 && scene_run(s, is_synced);
}

static void end(struct scene *s, const char *dir)
{
	char rm[64];

	s->agent = agent_free(s->agent);
	store_free(store);
	snprintf(rm, sizeof rm, "rm -rf %s", dir);
	CHECK_INT(system(rm), 0);
	scene_end(s);
}

static const struct room_history_line *find_line(const struct scene *s, const char *text)
{
	const struct room_history *h = &s->agent->room->history;

	for (unsigned i = 0; i < room_history_count(h); i++)
		if (strcmp(room_history_at(h, i)->text, text) == 0)
			return room_history_at(h, i);
	return NULL;
}

static bool is_recalled(const struct scene *s)
{
	return find_line(s, "tell me about the owls") != NULL;
}

TEST(an_agent_recalls_the_last_lines_of_its_channel)
{
	static struct scene s;
	char dir[48];

	CHECK(begin(&s, dir, sizeof dir));
	s.settings->store_words_hours = 100;
	agent_retrieval_settings(s.agent->retrieval);
	media_call_consent(s.call, BOB, false);
	agent_continue(s.agent);
	tmr_start(scene_watch, 0);
	CHECK(scene_run(&s, is_recalled));
	CHECK_STR(find_line(&s, "tell me about the owls")->name, "Alice");
	CHECK(!find_line(&s, "the day before yesterday"));
	CHECK(!find_line(&s, "not now please"));
	end(&s, dir);
}

TEST(an_agent_without_memory_in_its_prompts_recalls_nothing)
{
	static struct scene s;
	char dir[48];

	CHECK(begin(&s, dir, sizeof dir));
	s.settings->memory_context = false;
	agent_retrieval_settings(s.agent->retrieval);
	agent_continue(s.agent);
	synced = false;
	CHECK_INT(store_sync(store, on_synced, &s), 0);
	tmr_start(scene_watch, 0);
	CHECK(scene_run(&s, is_synced));
	CHECK(!is_recalled(&s));
	end(&s, dir);
}
