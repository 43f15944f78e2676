/* /music, its buttons and suggestions, from an interaction to what the member reads: between a
 * Discord that takes answers, a toy mediad, and addresses that lead to the same server. */
#include "control/control_inside.h"

#include <event2/buffer.h>
#include <event2/http.h>

#include "control/consent/consent.h"
#include "control/discord/guilds.h"
#include "control/discord/rest.h"
#include "control/events/events.h"
#include "control/jukebox/jukebox.h"
#include "control/jukebox/queue_shelf.h"
#include "control/library/library.h"
#include "control/metrics/counters.h"
#include "control/music_sources/music_sources.h"
#include "control/settings/settings.h"
#include "control/voice_session/encrypted_channels.h"
#include "ipc/http.h"
#include "tests/unit/control/fake_http.h"
#include "tests/unit/control/library/folders.h"
#include "tests/unit/control/media/toy_mediad.h"
#include "tests/unit/control/music/tracks.h"
#include "tests/unit/ipc/loop.h"

/* Ana and Ben are in the channel of the bot, Eve is not. */
enum { ANA = 501, BEN = 502, EVE = 503, CHANNEL_ONE = 301, CHANNEL_TWO = 302, ANSWERS = 128 };

static const char guild_text[] =
	"{\"id\":\"100\",\"name\":\"Fake\",\"owner_id\":\"1\",\"roles\":["
	"{\"id\":\"100\",\"permissions\":\"3146752\"},"
	"{\"id\":\"200\",\"permissions\":\"16\"}],\"channels\":["
	"{\"id\":\"301\",\"type\":2,\"name\":\"One\",\"bitrate\":64000},"
	"{\"id\":\"302\",\"type\":2,\"name\":\"Two\",\"bitrate\":64000}],"
	"\"members\":[{\"user\":{\"id\":\"900\",\"username\":\"parley\",\"bot\":true},\"roles\":[]}"
	","
	"{\"user\":{\"id\":\"501\",\"username\":\"ana\"},\"roles\":[]},"
	"{\"user\":{\"id\":\"502\",\"username\":\"ben\"},\"roles\":[]},"
	"{\"user\":{\"id\":\"503\",\"username\":\"eve\"},\"roles\":[]}],"
	"\"voice_states\":[{\"user_id\":\"900\",\"channel_id\":\"301\",\"session_id\":\"s\"},"
	"{\"user_id\":\"501\",\"channel_id\":\"301\"},{\"user_id\":\"502\",\"channel_id\":\"301\"}]"
	"}";

static struct scene {
	struct toy t;
	struct evhttp *server;
	char base[64], site[80]; /* of Discord; where sound is */
	struct control c;
	struct counters counters;
	struct encrypted_channels encrypted;
	char content[2000];	   /* of the newest answer */
	unsigned answers;	   /* with content, or with suggestions */
	int type;		   /* of the newest callback */
	size_t choices;		   /* suggestions of the newest answer */
	size_t suggested[ANSWERS]; /* of each answer */
	char state[32];		   /* of the library; "": there is none */
	struct evhttp_request *slow;
	char room[4000]; /* what was written into the channel, a line each */
} fx;

static void on_press(struct press *p, void *arg)
{
	CHECK(control_press_music(arg, p));
}

static void on_typing(const struct typing *typing, uint32_t id, void *arg)
{
	control_type_music(arg, typing, id);
}

static void serve_site(struct evhttp_request *req, const char *path)
{
	if (strstr(path, "slow")) {
		fx.slow = req; /* never answered */
	} else if (strstr(path, ".m3u")) {
		fake_http_answer(req, 200, "audio/x-mpegurl", "one.mp3\ntwo.mp3\n", 16);
	} else if (strstr(path, ".mp3")) {
		fake_http_answer(req, 200, "audio/mpeg", "sound", 5);
	} else {
		fake_http_answer(req, 200, "text/html", "page", 4);
	}
}

static void note_room(struct evbuffer *in)
{
	json_t *o =
		json_loadb((const char *)evbuffer_pullup(in, -1), evbuffer_get_length(in), 0, NULL);
	const char *content = json_string_value(json_object_get(o, "content"));
	size_t n = strlen(fx.room);

	snprintf(fx.room + n, sizeof fx.room - n, "%s\n", content ? content : "");
	json_decref(o);
}

static void serve(struct evhttp_request *req, void *arg)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(req);
	bool edits = evhttp_request_get_command(req) == EVHTTP_REQ_PATCH;
	static char body[20000];
	const json_t *data, *content;
	json_t *o;
	int n;

	(void)arg;
	if (strstr(evhttp_request_get_uri(req), "/site/")) {
		serve_site(req, evhttp_request_get_uri(req));
		return;
	}
	if (strstr(evhttp_request_get_uri(req), "/channels/")) { /* for everyone */
		note_room(in);
		fake_http_answer(req, 200, "application/json", "{\"id\":\"1\"}", 10);
		return;
	}
	n = evbuffer_remove(in, body, sizeof body);
	o = json_loadb(body, n > 0 ? (size_t)n : 0, 0, NULL);
	data = edits ? o : json_object_get(o, "data");
	content = json_object_get(data, "content");
	fx.choices = json_array_size(json_object_get(data, "choices"));
	fx.type = (int)json_integer_value(json_object_get(o, "type"));
	snprintf(fx.content, sizeof fx.content, "%s",
		 json_is_string(content) ? json_string_value(content) : "");
	if (edits || fx.type != 5) {
		fx.suggested[fx.answers++ % ANSWERS] = fx.choices;
		env_stop(fx.t.env);
	}
	json_decref(o);
	fake_http_answer(req, edits ? 200 : 204, "application/json", "{}", edits ? 2 : 0);
}

static int begin_discord(void)
{
	struct control *c = &fx.c;
	int err = fx.t.env ? 0 : EINVAL;

	fx.server = evhttp_new(env_base(fx.t.env));
	evhttp_set_allowed_methods(fx.server, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_PATCH);
	evhttp_set_gencb(fx.server, serve, NULL);
	if (!err && !fake_http_listen(fx.server, fx.base, sizeof fx.base))
		err = EIO;
	snprintf(fx.site, sizeof fx.site, "%s/site", fx.base);
	if (!err)
		err = http_alloc(&c->http, fx.t.env, NULL, "Tester");
	if (!err)
		err = rest_alloc(&c->rest, fx.t.env, c->http, fx.base, "token");
	if (!err)
		err = commands_alloc(&c->commands, fx.t.env, c->rest, control_on_command, NULL, c);
	if (!err)
		err = components_alloc(&c->components, fx.t.env, c->rest, on_press, on_typing, c);
	return err;
}

static int begin_state(void)
{
	struct control *c = &fx.c;
	json_t *d = json_loads(guild_text, 0, NULL);
	char allowed[64];
	int err = settings_alloc(&c->settings);

	snprintf(allowed, sizeof allowed, "127.0.0.1:%d", atoi(strrchr(fx.base, ':') + 1));
	if (!err)
		err = settings_set(c->settings, "web_read_allowed", allowed);
	if (!err)
		err = settings_set(c->settings, "music_web", "1");
	if (!err)
		err = bus_alloc(&c->bus);
	if (!err)
		err = guilds_alloc(&c->guilds);
	if (!err)
		err = consent_table_alloc(&c->consents, NULL);
	if (!err)
		err = queue_shelf_alloc(&c->shelf, NULL);
	if (!err)
		err = music_sources_alloc(&c->sources, fx.t.env, NULL, c->settings);
	if (!err) {
		guilds_set_self(c->guilds, 900);
		guilds_event(c->guilds, "GUILD_CREATE", d);
	}
	json_decref(d);
	return err;
}

/* The bot is in the channel, as after a restart of control. */
static bool begin_session(void)
{
	struct control *c = &fx.c;
	struct voice_session_conf conf = {.env = fx.t.env,
					  .media = fx.t.media,
					  .guilds = c->guilds,
					  .bus = c->bus,
					  .settings = c->settings,
					  .consents = c->consents,
					  .sources = c->sources,
					  .shelf = c->shelf,
					  .rest = c->rest,
					  .counters = &fx.counters,
					  .encrypted = &fx.encrypted,
					  .bot_name = "Parley"};

	if (voice_session_alloc(&c->voice_sessions[0], &conf, 100))
		return false;
	c->n_voice_sessions = 1;
	fx.t.holds_call = true;
	voice_session_adopt(c->voice_sessions[0], 301, false);
	if (!toy_run_until(&fx.t, MEDIA_CALL_SET, 1))
		return false;
	toy_settle(&fx.t);
	return voice_session_jukebox(c->voice_sessions[0]) != NULL;
}

static bool begin(void)
{
	memset(&fx, 0, sizeof fx);
	fx.c.env = NULL;
	if (toy_alloc(&fx.t) || toy_listen(&fx.t) || toy_start_control(&fx.t, 10))
		return false;
	fx.c.env = fx.t.env;
	fx.c.media = fx.t.media;
	return !begin_discord() && !begin_state();
}

/* Two that have the same title, and one that does not. Sources of words before begin_session. */
static bool begin_library(void)
{
	struct control *c = &fx.c;

	if (!make_folder() || !folder_make(fx.state) || !write_music("Toto - Africa.mp3", "") ||
	    !write_music("Weezer - Africa.mp3", "") || !write_music("Toto - Rosanna.mp3", "") ||
	    library_alloc(&c->library, fx.t.env, fx.state, folder, NULL))
		return false;
	c->sources = music_sources_free(c->sources);
	return music_sources_alloc(&c->sources, fx.t.env, c->library, c->settings) == 0;
}

static void end(void)
{
	struct control *c = &fx.c;

	control_end_music(c);
	voice_session_free(c->voice_sessions[0]);
	music_sources_free(c->sources);
	library_free(c->library);
	if (*fx.state) {
		remove_folder();
		folder_remove(fx.state);
	}
	rest_free(c->rest);
	components_free(c->components);
	commands_free(c->commands);
	http_free(c->http);
	evhttp_free(fx.server);
	queue_shelf_free(c->shelf);
	consent_table_free(c->consents);
	guilds_free(c->guilds);
	bus_free(c->bus);
	settings_free(c->settings);
	toy_free(&fx.t);
}

/* Until there is another answer. */
static const char *await_answer(void)
{
	unsigned before = fx.answers;

	while (fx.answers == before && !fx.t.timed_out)
		env_run(fx.t.env);
	return fx.answers > before ? fx.content : "nothing";
}

static json_t *interaction(int type, uint64_t user)
{
	static unsigned id = 10;
	char text[24], who[24];

	snprintf(text, sizeof text, "%u", id++);
	snprintf(who, sizeof who, "%llu", (unsigned long long)user);
	return json_pack("{s:s,s:s,s:i,s:s,s:s,s:s,s:{s:{s:s},s:[]}}", "id", text, "application_id",
			 "9", "type", type, "token", text, "guild_id", "100", "channel_id", "301",
			 "member", "user", "id", who, "roles");
}

/* options: steals them. */
static void command_with(uint64_t user, const char *name, json_t *options)
{
	json_t *d = interaction(2, user);

	json_object_set_new(d, "data",
			    json_pack("{s:s,s:[{s:s,s:i,s:o}]}", "name", "music", "options", "name",
				      name, "type", 1, "options", options));
	commands_interaction(fx.c.commands, d, env_wall_ms(fx.t.env));
	json_decref(d);
}

/* option: steals it; NULL: none. */
static void command(uint64_t user, const char *name, json_t *option)
{
	command_with(user, name, option ? json_pack("[o]", option) : json_array());
}

/* "/join" with a channel, or "/leave" (0). */
static const char *asks_bot(uint64_t user, const char *name, unsigned channel)
{
	json_t *d = interaction(2, user), *options = json_array();
	char id[24];

	snprintf(id, sizeof id, "%u", channel);
	if (channel)
		json_array_append_new(options, json_pack("{s:s,s:i,s:s}", "name", "channel", "type",
							 7, "value", id));
	json_object_set_new(d, "data", json_pack("{s:s,s:o}", "name", name, "options", options));
	commands_interaction(fx.c.commands, d, env_wall_ms(fx.t.env));
	json_decref(d);
	return await_answer();
}

static json_t *text_option(const char *name, const char *value)
{
	return json_pack("{s:s,s:i,s:s}", "name", name, "type", 3, "value", value);
}

static const char *asks(uint64_t user, const char *name, json_t *option)
{
	command(user, name, option);
	return await_answer();
}

static const char *moves(uint64_t user, const char *track, int place)
{
	command_with(user, "move",
		     json_pack("[o,{s:s,s:i,s:i}]", text_option("track", track), "name", "place",
			       "type", 4, "value", place));
	return await_answer();
}

static const char *plays(uint64_t user, const char *name, const char *path)
{
	char url[200];

	snprintf(url, sizeof url, "%s/%s", fx.site, path);
	return asks(user, name, text_option("query", url));
}

static const char *presses(uint64_t user, const char *id, const char *value)
{
	json_t *d = interaction(3, user);

	json_object_set_new(d, "data", json_pack("{s:s,s:[s]}", "custom_id", id, "values", value));
	components_interaction(fx.c.components, d, env_wall_ms(fx.t.env));
	json_decref(d);
	return await_answer();
}

static void begin_typing(uint64_t user, const char *subcommand, const char *option,
			 const char *text)
{
	json_t *d = interaction(4, user);

	json_object_set_new(d, "data",
			    json_pack("{s:s,s:[{s:s,s:i,s:[{s:s,s:i,s:s,s:b}]}]}", "name", "music",
				      "options", "name", subcommand, "type", 1, "options", "name",
				      option, "type", 3, "value", text, "focused", 1));
	components_interaction(fx.c.components, d, env_wall_ms(fx.t.env));
	json_decref(d);
}

/* The number of suggestions. */
static size_t types(uint64_t user, const char *subcommand, const char *option, const char *text)
{
	begin_typing(user, subcommand, option, text);
	await_answer();
	return fx.choices;
}

#define SAYS(words, call)                                                                          \
	do {                                                                                       \
		const char *said_ = (call);                                                        \
		if (!strstr(said_, words)) {                                                       \
			test_fail(__FILE__, __LINE__, "\"%s\", not \"%s\"", fx.content, words);    \
			return;                                                                    \
		}                                                                                  \
	} while (0)

static const struct music_queue *queue(void)
{
	return jukebox_queue(voice_session_jukebox(fx.c.voice_sessions[0]));
}

TEST(music_is_for_those_in_the_channel_of_the_bot)
{
	CHECK(begin());
	CHECK(begin_session());
	SAYS("Nothing plays", asks(EVE, "now", NULL));
	SAYS("come into my voice channel", asks(EVE, "skip", NULL));
	SAYS("come into my voice channel", plays(EVE, "play", "a.mp3"));
	SAYS("Nothing plays", asks(ANA, "pause", NULL));
	SAYS("1:30", asks(ANA, "seek", text_option("position", "soon")));
	end();
}

TEST(without_a_call_there_is_no_music)
{
	CHECK(begin());
	SAYS("/join asks me in", asks(ANA, "now", NULL));
	CHECK_INT(types(ANA, "remove", "track", ""), 0);
	SAYS("I am in no channel", presses(ANA, "parley:music_skip:*:301.1", ""));
	end();
}

TEST(an_address_is_played_added_and_put_next)
{
	CHECK(begin());
	CHECK(begin_session());
	SAYS("Playing", plays(ANA, "play", "a.mp3"));
	SAYS("number 2", plays(ANA, "add", "b.mp3"));
	SAYS("number 2", plays(BEN, "next", "c.mp3"));
	CHECK(strstr(music_queue_at(queue(), 1)->reference, "c.mp3"));
	SAYS("2", plays(BEN, "add", "list.m3u"));
	CHECK_INT(music_queue_count(queue()), 5);
	SAYS("no sound", plays(BEN, "add", "page"));
	CHECK_INT(settings_set(fx.c.settings, "music_share", "2"), 0);
	SAYS("as one member may", plays(ANA, "add", "d.mp3"));
	CHECK_INT(settings_set(fx.c.settings, "music_web", "0"), 0);
	SAYS("No music is set up here", plays(BEN, "add", "d.mp3"));
	SAYS("No music is set up here", asks(BEN, "play", text_option("query", "morning")));
	CHECK_INT(fx.c.music_missing, 1); /* the log has it once */
	CHECK_INT(settings_set(fx.c.settings, "music_web", "1"), 0);
	SAYS("only play addresses", asks(BEN, "play", text_option("query", "morning")));
	CHECK_INT(fx.c.music_missing, 3);
	CHECK_INT(music_queue_count(queue()), 5);
	end();
}

TEST(requests_that_wait_are_counted_by_member)
{
	CHECK(begin());
	CHECK(begin_session());
	for (unsigned i = 0; i < MUSIC_USER_REQUESTS; i++) {
		char url[200];

		snprintf(url, sizeof url, "%s/slow%u", fx.site, i);
		command(ANA, "add", text_option("query", url));
	}
	SAYS("still looking", plays(ANA, "add", "a.mp3"));
	SAYS("Playing", plays(BEN, "add", "a.mp3"));
	end(); /* while they wait */
}

TEST(members_control_their_own_tracks_and_vote_about_others)
{
	CHECK(begin());
	CHECK(begin_session());
	plays(ANA, "play", "a.mp3");
	plays(ANA, "add", "b.mp3");
	SAYS("Only a DJ", asks(BEN, "pause", NULL));
	SAYS("1 of 2", asks(BEN, "skip", NULL));
	SAYS("Paused", asks(ANA, "pause", NULL));
	SAYS("already", asks(ANA, "pause", NULL));
	SAYS("not in the queue", asks(ANA, "remove", text_option("track", "#99")));
	SAYS("nothing that fits", asks(ANA, "remove", text_option("track", "xyzzy")));
	SAYS("Removed", asks(ANA, "remove", text_option("track", "2")));
	SAYS("Skipped", asks(ANA, "skip", NULL));
	CHECK(!music_queue_present(queue()));
	end();
}

TEST(a_member_reads_why_a_track_does_not_pass_those_of_others)
{
	CHECK(begin());
	CHECK(begin_session());
	plays(ANA, "play", "a.mp3");
	plays(ANA, "add", "b.mp3");
	SAYS("number 2", plays(BEN, "next", "c.mp3"));
	CHECK(!strstr(fx.content, "Only one"));
	SAYS("number 4", plays(BEN, "next", "d.mp3"));
	SAYS("Only one track of yours at a time", fx.content);
	SAYS("Only one track of yours at a time", moves(BEN, "4", 2));
	SAYS("Only a DJ", moves(BEN, "3", 4));
	CHECK(strstr(music_queue_at(queue(), 3)->reference, "d.mp3"));
	end();
}

static void tell_unreached(uint32_t music)
{
	toy_send(&fx.t,
		 (struct media_msg){.type = MEDIA_MUSIC_STATE,
				    .music_state = {.call = fx.t.call_id,
						    .music = music,
						    .phase = MEDIA_MUSIC_PHASE_FAILED,
						    .failure = slice_str("unreachable"),
						    .text = slice_str("the server is gone")}});
	toy_settle(&fx.t);
}

TEST(a_track_that_waits_in_vain_is_told_in_other_words)
{
	CHECK(begin());
	CHECK(begin_session());
	plays(ANA, "play", "a.mp3");
	plays(ANA, "add", "b.mp3");
	tell_unreached(1);
	SAYS("b", asks(ANA, "queue", NULL));
	CHECK(strstr(fx.room, "the server is gone. I try it again later."));
	toy_send(&fx.t, (struct media_msg){.type = MEDIA_MUSIC_STATE,
					   .music_state = {.call = fx.t.call_id,
							   .music = 2,
							   .phase = MEDIA_MUSIC_PHASE_PLAYING,
							   .position = 48000}});
	toy_settle(&fx.t);
	asks(ANA, "skip", NULL);
	*fx.room = '\0';
	tell_unreached(music_queue_last_number(queue()));
	asks(ANA, "queue", NULL);
	CHECK(strstr(fx.room, "this time either, and has left the queue"));
	CHECK(!strstr(fx.room, "cannot play"));
	end();
}

TEST(blocked_members_have_no_say_in_the_music)
{
	CHECK(begin());
	CHECK(begin_session());
	CHECK_INT(settings_set(fx.c.settings, "music_control", "everyone"), 0);
	plays(ANA, "play", "a.mp3");
	CHECK_INT(settings_set(fx.c.settings, "blocked_users", "502"), 0);
	SAYS("blocked", plays(BEN, "add", "b.mp3"));
	SAYS("blocked", asks(BEN, "stop", NULL));
	SAYS("blocked", presses(BEN, "parley:music_skip:*:301.1", ""));
	CHECK_INT(music_queue_count(queue()), 1);
	SAYS("Now playing", asks(BEN, "now", NULL));
	/* Nor do they count: Ana is alone with the bot, and so a DJ. */
	CHECK_INT(settings_set(fx.c.settings, "music_control", "dj"), 0);
	SAYS("Paused", asks(ANA, "pause", NULL));
	end();
}

/* Each press would write the queue and edit its message. */
TEST(a_member_changes_music_so_often_a_minute)
{
	char id[96];

	CHECK(begin());
	CHECK_INT(settings_set(fx.c.settings, "music_control", "everyone"), 0);
	CHECK(begin_session());
	SAYS("Playing", plays(ANA, "add", "one.mp3"));
	snprintf(id, sizeof id, "parley:music_loop:*:%u.%u", CHANNEL_ONE,
		 (unsigned)music_queue_present(queue())->id);
	for (unsigned i = 1; i < COOLDOWN_MOST; i++)
		presses(ANA, id, "");
	CHECK_INT(music_queue_loop(queue()), (COOLDOWN_MOST - 1) % MUSIC_LOOP_COUNT);
	SAYS("60 times a minute", presses(ANA, id, ""));
	SAYS("60 times a minute", asks(ANA, "pause", NULL));
	CHECK_INT(music_queue_loop(queue()), (COOLDOWN_MOST - 1) % MUSIC_LOOP_COUNT);
	/* To look at it changes nothing. */
	SAYS("repeats", asks(ANA, "now", NULL));
	presses(BEN, id, "");
	CHECK_INT(music_queue_loop(queue()), COOLDOWN_MOST % MUSIC_LOOP_COUNT);
	end();
}

TEST(a_button_reaches_the_track_that_it_was_shown_with)
{
	CHECK(begin());
	CHECK(begin_session());
	plays(ANA, "play", "a.mp3");
	plays(ANA, "add", "b.mp3");
	SAYS("not in the queue", presses(ANA, "parley:music_skip:*:301.7", ""));
	SAYS("not in the queue", presses(ANA, "parley:music_skip:*:302.1", ""));
	SAYS("come into my voice channel", presses(EVE, "parley:music_skip:*:301.1", ""));
	SAYS("1 of 2", presses(BEN, "parley:music_skip:*:301.1", ""));
	CHECK_STR(presses(ANA, "parley:music_skip:*:301.1", ""), "");
	CHECK_INT(fx.type, 6);
	CHECK_INT(music_queue_present(queue())->id, 2);
	/* Of the queue, whatever track it showed. */
	SAYS("Only a DJ", presses(ANA, "parley:music_loop:*:301.1", ""));
	end();
}

TEST(a_choice_that_was_not_offered_is_over)
{
	char id[96];

	CHECK(begin());
	CHECK(begin_session());
	snprintf(id, sizeof id, "parley:music_choice:501:%llu",
		 (unsigned long long)(env_wall_ms(fx.t.env) / 1000));
	CHECK(*presses(ANA, id, "local:a"));
	CHECK_INT(music_queue_count(queue()), 0);
	end();
}

TEST(entries_are_suggested_to_those_who_see_the_channel)
{
	CHECK(begin());
	CHECK(begin_session());
	plays(ANA, "play", "a.mp3");
	plays(ANA, "add", "b.mp3");
	CHECK(types(ANA, "remove", "track", "") > 0);
	CHECK_INT(types(ANA, "add", "query", "a"), 0); /* there is no library */
	end();
}

/* Who would be alone with the bot elsewhere would be a DJ of this queue. */
TEST(the_bot_is_not_taken_away_from_those_who_listen)
{
	struct words words = {0};

	CHECK(begin());
	CHECK(begin_session());
	SAYS("Playing", plays(ANA, "play", "a.mp3"));
	SAYS("Only a DJ", asks_bot(EVE, "join", CHANNEL_TWO));
	SAYS("Only a DJ", asks_bot(EVE, "leave", 0));
	SAYS("Only a DJ", asks_bot(BEN, "leave", 0));
	CHECK(voice_session_retains_bot(fx.c.voice_sessions[0], BEN, NULL, &words)); /* by voice */
	SAYS("Only a DJ", asks_bot(ANA, "join", CHANNEL_TWO));
	CHECK_INT(settings_set(fx.c.settings, "music_control", "everyone"), 0);
	SAYS("come into my voice channel", asks_bot(EVE, "leave", 0));
	SAYS("come into my voice channel", asks_bot(EVE, "join", CHANNEL_TWO));
	CHECK(music_queue_present(queue()));
	CHECK_INT(voice_session_channel(fx.c.voice_sessions[0]), CHANNEL_ONE);
	end();
}

/* role: of Eve, by the member of her interaction. */
static bool retains_bot_from(const char *role)
{
	json_t *member = json_pack("{s:{s:s},s:[s]}", "user", "id", "503", "roles", role);
	struct words words = {0};
	bool retains = voice_session_retains_bot(fx.c.voice_sessions[0], EVE, member, &words);

	json_decref(member);
	return retains;
}

/* Of people outside of voice nothing is kept, as after they left it. */
TEST(a_dj_outside_of_voice_takes_the_bot_away)
{
	json_t *left =
		json_pack("{s:s,s:s,s:n}", "guild_id", "100", "user_id", "503", "channel_id");

	CHECK(begin());
	CHECK(begin_session());
	SAYS("Playing", plays(ANA, "play", "a.mp3"));
	CHECK(guilds_event(fx.c.guilds, "VOICE_STATE_UPDATE", left));
	CHECK(retains_bot_from("201"));
	CHECK(!retains_bot_from("200")); /* which manages channels */
	CHECK_INT(settings_set(fx.c.settings, "music_dj_role", "201"), 0);
	CHECK(retains_bot_from("202"));
	CHECK(!retains_bot_from("201"));
	/* As Discord writes a role that is typed. */
	CHECK_INT(settings_set(fx.c.settings, "music_dj_role", "<@&202>"), 0);
	CHECK(!retains_bot_from("202"));
	CHECK(retains_bot_from("201"));
	json_decref(left);
	end();
}

/* The library is looked through by one thread for every server. */
TEST(only_the_newest_letters_of_a_member_are_looked_for)
{
	unsigned n;

	CHECK(begin());
	CHECK(begin_library());
	CHECK(begin_session());
	while (types(ANA, "add", "query", "rosanna") != 1 && fx.answers < ANSWERS / 2)
		toy_settle(&fx.t); /* the scan runs beside */
	n = fx.answers;
	begin_typing(ANA, "add", "query", "afri");
	begin_typing(ANA, "add", "query", "africa");
	while (fx.answers < n + 2 && !fx.t.timed_out)
		await_answer();
	CHECK_INT(fx.suggested[n % ANSWERS], 0); /* the older one, at once */
	CHECK_INT(fx.suggested[(n + 1) % ANSWERS], 2);
	/* So are those of few members at once. */
	n = fx.answers;
	for (unsigned i = 0; i < 9; i++)
		begin_typing(EVE + i, "add", "query", "africa");
	while (fx.answers < n + 9 && !fx.t.timed_out)
		await_answer();
	CHECK_INT(fx.suggested[n % ANSWERS], 0);
	for (unsigned i = 1; i < 9; i++)
		CHECK_INT(fx.suggested[(n + i) % ANSWERS], 2);
	end();
}

TEST(a_choice_outlasts_requests_that_offer_none)
{
	struct track t = {.source = TRACK_LOCAL, .reference = "Toto - Africa.mp3"};
	char id[96], selection[TRACK_SELECTION_MAX];

	CHECK(begin());
	CHECK(begin_library());
	CHECK(begin_session());
	while (types(ANA, "add", "query", "rosanna") != 1 && fx.answers < ANSWERS / 2)
		toy_settle(&fx.t);
	SAYS("Several tracks fit", asks(ANA, "add", text_option("query", "africa")));
	for (unsigned i = 0; i < 33; i++)
		SAYS("Rosanna", asks(BEN, "add", text_option("query", "rosanna")));
	snprintf(id, sizeof id, "parley:music_choice:501:%llu",
		 (unsigned long long)(env_wall_ms(fx.t.env) / 1000));
	track_write_selection(selection, &t);
	SAYS("Africa", presses(ANA, id, selection));
	end();
}

/* The suggestion of one of two albums is that one; their bare name is a question. */
TEST(a_suggestion_means_the_album_that_it_names)
{
	CHECK(begin());
	CHECK(begin_library());
	CHECK(write_music("Toto/Isolation/Stranger.mp3", "") &&
	      write_music("Toto/Live/Stranger.mp3", ""));
	CHECK(begin_session());
	while (types(ANA, "add", "query", "stranger") != 2 && fx.answers < ANSWERS / 2)
		toy_settle(&fx.t);
	SAYS("Stranger", asks(ANA, "add", text_option("query", "Toto - Stranger [Live]")));
	CHECK_INT(music_queue_count(queue()), 1);
	CHECK_STR(music_queue_present(queue())->album, "Live");
	SAYS("Several tracks fit", asks(ANA, "add", text_option("query", "Toto - Stranger")));
	CHECK_INT(music_queue_count(queue()), 1);
	end();
}

/* --music-root of another folder, or in another order: "Playing" would be followed by "there is no
 * such file". */
TEST(a_file_of_a_folder_that_mediad_lacks_is_refused_in_words)
{
	struct media_folder f = {1, 1};
	struct stat st;

	CHECK(begin());
	CHECK(begin_library());
	CHECK(begin_session());
	while (types(ANA, "add", "query", "rosanna") != 1 && fx.answers < ANSWERS / 2)
		toy_settle(&fx.t);
	toy_decoders(&fx.t, true, &f, 1);
	SAYS("without its music folder", asks(ANA, "play", text_option("query", "rosanna")));
	CHECK(!music_queue_present(queue()));
	CHECK_INT(stat(folder, &st), 0);
	f = (struct media_folder){st.st_dev, st.st_ino};
	toy_decoders(&fx.t, true, &f, 1);
	SAYS("Playing", asks(ANA, "play", text_option("query", "rosanna")));
	toy_decoders(&fx.t, false, &f, 0);
	SAYS("decodes it does not run", plays(ANA, "add", "a.mp3"));
	CHECK_INT(music_queue_count(queue()), 1);
	end();
}

/* --music-address without what web_read_allowed lists: "Playing" would be followed by "the address
 * may not be read". */
TEST(an_address_that_mediad_was_not_given_is_refused_in_words)
{
	char list[64];

	CHECK(begin());
	CHECK(begin_session());
	toy_addresses(&fx.t, "");
	SAYS("started without it", plays(ANA, "play", "a.mp3"));
	CHECK(!music_queue_present(queue()));
	toy_addresses(&fx.t, "10.0.0.5:8000");
	SAYS("started without it", plays(ANA, "add", "a.mp3"));
	CHECK(!music_queue_present(queue()));
	snprintf(list, sizeof list, "10.0.0.5:8000, 127.0.0.1:%d", atoi(strrchr(fx.base, ':') + 1));
	toy_addresses(&fx.t, list);
	SAYS("Playing", plays(ANA, "play", "a.mp3"));
	/* One that is broken ends the connection, and nothing judges by the list before. */
	toy_addresses(&fx.t, "station.example");
	SAYS("Added", plays(ANA, "add", "a.mp3"));
	end();
}
