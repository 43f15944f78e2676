/* Everything that people may do with music a model can do with its tools, and what the tools of
 * music tell it. No mediad, and no source of tracks: selections name those of the queue. */
#include "control/agent/agent_music.h"

#include <jansson.h>

#include "control/jukebox/jukebox.h"
#include "control/media/media.h"
#include "control/room/room.h"
#include "control/settings/settings.h"
#include "control/tools/builtin/builtins.h"
#include "control/tools/builtin/host.h"
#include "control/tools/registry.h"
#include "control/tools/schema.h"
#include "ipc/env.h"
#include "tests/test.h"
#include "tests/unit/control/music/tracks.h"

static struct {
	struct env *env;
	struct settings *settings;
	struct media *media;
	struct media_call *call;
	struct jukebox *jukebox;
	struct agent_music *music;
	struct tools_registry *registry;
	struct builtins *builtins;
	char text[4096]; /* of the last output */
	unsigned outputs;
} s;

static void take_output(uint32_t id, bool ok, struct slice text, void *arg)
{
	(void)id;
	(void)ok;
	(void)arg;
	s.outputs++;
	snprintf(s.text, sizeof s.text, "%.*s", (int)text.n, (const char *)text.p);
}

static void take_event(const struct room_event *ev, void *arg)
{
	(void)ev;
	(void)arg;
}

static void fill_person(struct music_person *to, uint64_t user, void *arg)
{
	(void)user;
	(void)arg;
	to->dj_role = true;
}

static int ask_music(uint32_t id, const struct tool_music *what, void *arg)
{
	(void)arg;
	return agent_music_ask(s.music, id, what);
}

static int add(const char *letters)
{
	struct jukebox_answer a;
	int err = 0;

	for (; *letters && !err; letters++) {
		struct track t = local_track((char[]){*letters, '\0'}, ALICE);

		err = jukebox_do(s.jukebox,
				 &(struct jukebox_request){.act = MUSIC_ACT_QUEUE_ADD,
							   .tracks = &t,
							   .n = 1,
							   .place = MUSIC_QUEUE_END},
				 &a);
	}
	return err;
}

static int perform(enum music_act act)
{
	struct jukebox_answer a;

	return jukebox_do(s.jukebox, &(struct jukebox_request){.act = act}, &a);
}

/* a has played, b plays, c and d wait. */
static bool open_music(void)
{
	static const char *const none[] = {"/nonexistent/mediad.sock", NULL};
	const struct media_want want = {.guild = 1, .channel = 2, .bitrate = 64000};
	struct tool_host host = {.outputh = take_output,
				 .musich = ask_music,
				 .music_search = true,
				 .music_plays = true,
				 .music_web = true};

	memset(&s, 0, sizeof s);
	if (env_alloc(&s.env, &(struct env_conf){.loop = true}) || settings_alloc(&s.settings) ||
	    media_alloc(&s.media, s.env, &(struct media_conf){.socks = none}) ||
	    media_call_open(&s.call, s.media, &want, NULL, NULL) ||
	    jukebox_alloc(&s.jukebox, &(struct jukebox_conf){.env = s.env,
							     .guild = 1,
							     .settings = s.settings,
							     .personh = fill_person}) ||
	    jukebox_enter(s.jukebox, s.call, 2))
		return false;
	host.env = s.env;
	host.settings = s.settings;
	return !agent_music_alloc(&s.music, &(struct agent_music_conf){.env = s.env,
								       .jukebox = s.jukebox,
								       .outputh = take_output,
								       .feedh = take_event}) &&
	       !tools_registry_alloc(&s.registry) && !builtins_alloc(&s.builtins, &host) &&
	       !builtins_add(s.builtins, s.registry) && !add("abcd") && !perform(MUSIC_ACT_SKIP);
}

static void close_music(void)
{
	tools_registry_free(s.registry);
	builtins_free(s.builtins);
	agent_music_free(s.music);
	jukebox_leave(s.jukebox);
	jukebox_free(s.jukebox);
	media_call_free(s.call);
	media_free(s.media);
	settings_free(s.settings);
	env_free(s.env);
}

static bool fits_schema(const struct tool *tool, const char *arguments)
{
	json_t *root = json_loads(arguments, 0, NULL);
	char why[SCHEMA_WHY_MAX];
	int err = schema_check(tool->schema, root, why, sizeof why);

	json_decref(root);
	return err == 0;
}

/* True if the call is one that a model can make, and has had its output. */
static bool call(const char *name, const char *arguments)
{
	const struct tool *tool = tools_registry_find(s.registry, name);
	const struct tool_start start = {
		.id = 3, .turn = 1, .user = ALICE, .tool = name, .arguments = arguments};

	s.outputs = 0;
	return tool && fits_schema(tool, arguments) && tool->shell->start(&start, tool->arg) == 0 &&
	       s.outputs == 1;
}

static const struct music_queue *queue(void)
{
	return jukebox_queue(s.jukebox);
}

static const char *spell_state(void)
{
	static char text[MUSIC_QUEUE_WAITING + MUSIC_QUEUE_HISTORY + 80];
	const struct music_queue *q = queue();

	snprintf(text, sizeof text, "%s %s%s %u at %u", spell_queue(q),
		 music_loop_name(music_queue_loop(q)), music_queue_is_paused(q) ? " paused" : "",
		 music_queue_volume(q), (unsigned)(music_queue_position(q) / MUSIC_FRAMES_PER_S));
	return text;
}

TEST(a_model_can_do_with_music_what_people_can)
{
	static const struct {
		const char *tool, *arguments; /* %s: the selection of d */
		const char *state;	      /* what is there then; NULL: as drawn by lot */
	} calls[MUSIC_ACT_COUNT] = {
		[MUSIC_ACT_SEARCH] = {"music_search", "{\"query\":\"x\"}", "a|bcd off 1000 at 0"},
		[MUSIC_ACT_NOW_PLAYING] = {"music_now_playing", "{}", "a|bcd off 1000 at 0"},
		[MUSIC_ACT_PLAY] = {"music_play", "{\"selection_id\":\"%s\"}",
				    "ab|dcd off 1000 at 0"},
		[MUSIC_ACT_QUEUE_ADD] = {"music_queue_add",
					 "{\"selection_id\":\"%s\",\"position\":1}",
					 "a|bdcd off 1000 at 0"},
		[MUSIC_ACT_REMOVE] = {"music_change", "{\"remove\":1}", "a|bd off 1000 at 0"},
		[MUSIC_ACT_MOVE] = {"music_change", "{\"move\":{\"from\":2,\"to\":1}}",
				    "a|bdc off 1000 at 0"},
		[MUSIC_ACT_SKIP] = {"music_skip", "{}", "ab|cd off 1000 at 0"},
		[MUSIC_ACT_PAUSE] = {"music_pause", "{}", "a|bcd off paused 1000 at 0"},
		[MUSIC_ACT_RESUME] = {"music_resume", "{}", "a|bcd off 1000 at 0"},
		[MUSIC_ACT_SEEK] = {"music_change", "{\"position_s\":7}", "a|bcd off 1000 at 7"},
		[MUSIC_ACT_PREVIOUS] = {"music_change", "{\"previous\":true}",
					"|abcd off 1000 at 0"},
		[MUSIC_ACT_JUMP] = {"music_play", "{\"index\":2}", "abc|d off 1000 at 0"},
		[MUSIC_ACT_STOP] = {"media_stop", "{}", "ab| off 1000 at 0"},
		[MUSIC_ACT_CLEAR] = {"music_change", "{\"clear\":true}", "a|b off 1000 at 0"},
		[MUSIC_ACT_SHUFFLE] = {"music_change", "{\"shuffle\":true}", NULL},
		[MUSIC_ACT_LOOP] = {"music_change", "{\"loop\":\"track\"}",
				    "a|bcd track 1000 at 0"},
		[MUSIC_ACT_VOLUME] = {"music_change", "{\"volume\":50}", "a|bcd off 500 at 0"},
	};

	for (unsigned i = 0; i < MUSIC_ACT_COUNT; i++) {
		char selection[TRACK_SELECTION_MAX], arguments[120];
		uint64_t before;

		CHECK(open_music());
		CHECK(calls[i].tool);
		CHECK(i != MUSIC_ACT_RESUME || !perform(MUSIC_ACT_PAUSE));
		track_write_selection(selection, music_queue_at(queue(), 2));
		snprintf(arguments, sizeof arguments, calls[i].arguments, selection);
		before = music_queue_revision(queue());
		CHECK(call(calls[i].tool, arguments));
		if (calls[i].state)
			CHECK_STR(spell_state(), calls[i].state);
		else
			CHECK(music_queue_revision(queue()) != before);
		close_music();
	}
}

/* A removed track leaves its place to the next one, and the call named places as it saw them. */
TEST(changes_of_one_call_are_about_the_queue_before_it)
{
	CHECK(open_music());
	CHECK_INT(add("e"), 0);
	CHECK(call("music_change", "{\"remove\":1,\"move\":{\"from\":3,\"to\":1}}"));
	CHECK_STR(spell_queue(queue()), "a|bed");
	CHECK(call("music_change", "{\"move\":{\"from\":9,\"to\":1}}"));
	CHECK(strstr(s.text, "no such track in the queue"));
	CHECK(call("music_change", "{\"clear\":false}"));
	CHECK_STR(spell_queue(queue()), "a|bed");
	close_music();
}

TEST(a_model_is_told_the_history)
{
	CHECK(open_music());
	CHECK_INT(perform(MUSIC_ACT_SKIP), 0);
	CHECK(call("music_now_playing", "{}"));
	CHECK(strstr(s.text, "\"played\":[{\"selection_id\":\"local-"));
	CHECK(strstr(strstr(s.text, "\"played\""), "\"title\":\"b\""));
	CHECK(strstr(strstr(s.text, "\"title\":\"b\""), "\"title\":\"a\""));
	CHECK(call("music_pause", "{}") && !strstr(s.text, "\"played\""));
	close_music();
}
