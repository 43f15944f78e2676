/* An agent that comes back to a voice channel recalls what was said there last. */
#include "control/agent/continuity.h"

#include <sys/stat.h>

#include "control/memory/slice.h"
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

static void publish_line(struct scene *s, uint64_t session, uint64_t at, uint64_t user,
			 const char *text)
{
	const struct media_want *where = media_call_want(s->call);
	struct bus_event ev = {
		.type = EVENT_UTTERANCE, .at_ms = at, .guild = where->guild, .user = user};

	ev.utterance = (struct event_utterance){.session = session,
						.channel = where->channel,
						.name = user == BOB ? "Bob" : "Alice",
						.text = text,
						.started_ms = at,
						.ended_ms = at,
						.source = "realtime-transcription",
						.consent = true};
	bus_publish(s->bus, &ev);
}

static void say(struct scene *s, uint64_t user, uint64_t ago_ms, const char *text)
{
	publish_line(s, 1000, env_wall_ms(s->fake.env) - ago_ms, user, text);
}

static void say_in(struct scene *s, uint64_t session, uint64_t user, const char *text)
{
	publish_line(s, session, session, user, text);
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

static void sum_up(const struct scene *s, uint64_t session, uint64_t line, const char *summary)
{
	const struct media_want *where = media_call_want(s->call);
	const struct store_episode e = {.guild = where->guild,
					.session = session,
					.channel = where->channel,
					.line = line,
					.summary = summary};

	CHECK_INT(store_end_episode(store, &e), 0);
}

static void wait_for_store(struct scene *s)
{
	synced = false;
	CHECK_INT(store_sync(store, on_synced, s), 0);
	tmr_start(scene_watch, 0);
	CHECK(scene_run(s, is_synced));
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
	wait_for_store(&s);
	CHECK(!is_recalled(&s));
	end(&s, dir);
}

static const char *add_summaries(const struct scene *s, const char *question)
{
	static struct memory_slice slice;

	slice = (struct memory_slice){0};
	agent_continuity_add(s->agent->continuity, &slice, question);
	return slice.text;
}

TEST(an_agent_knows_summaries_of_earlier_sessions)
{
	static struct scene s;
	uint64_t session;
	char dir[48];

	CHECK(begin(&s, dir, sizeof dir));
	agent_retrieval_settings(s.agent->retrieval);
	session = env_wall_ms(s.fake.env) - 48 * (uint64_t)HOUR_MS;
	say_in(&s, session, ALICE, "let us plant tomatoes");
	say_in(&s, session + 1, BOB, "i bought a boat");
	wait_for_store(&s);
	sum_up(&s, session, 99, "{\"text\":\"They planted tomatoes.\",\"people\":[\"5\"]}");
	sum_up(&s, session + 1, 99, "{\"text\":\"Bob bought a boat.\",\"people\":[\"6\"]}");
	wait_for_store(&s);
	agent_continue(s.agent);
	wait_for_store(&s);
	/* The newest one in any case, others if they fit. */
	CHECK(strstr(add_summaries(&s, "how are you"), "\"Bob bought a boat.\""));
	CHECK(!strstr(add_summaries(&s, "how are you"), "tomatoes"));
	CHECK(strstr(add_summaries(&s, "who planted the tomatoes"), "\"They planted tomatoes.\""));
	media_call_consent(s.call, BOB, false);
	CHECK_STR(add_summaries(&s, "how are you"), "");
	end(&s, dir);
}
