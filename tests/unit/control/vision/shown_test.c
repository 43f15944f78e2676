#include <string.h>

#include <event2/event.h>

#include "control/events/events.h"
#include "control/prompts/prompts.def"
#include "control/settings/settings.h"
#include "control/vision/inside.h"
#include "ipc/env.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "tests/test.h"

enum { GUILD = 1, CHANNEL = 2, ALICE = 5 };

static const char *name;

static const char *name_of(uint64_t guild, uint64_t user, void *arg)
{
	(void)guild;
	(void)user;
	(void)arg;
	return name;
}

/* Of letters of three bytes, where the limit is inside one, and with what breaks lines. */
TEST(a_long_name_of_who_shows_a_screen_stays_whole_characters)
{
	static uint8_t jpeg[1] = {0xff};
	static struct vision v;
	struct vision_picture picture;
	char long_name[3 * 32 + 1] = "", notes[VISION_NOTES_MAX];
	struct env *env;

	for (unsigned i = 0; i < 32; i++)
		strcat(long_name, "\xe7\x94\xbb");
	CHECK_INT(env_alloc(&env, &(struct env_conf){.loop = true}), 0);
	v = (struct vision){.conf = {.env = env, .nameh = name_of}};
	v.shares.v[0] = (struct share){
		.id = 3,
		.watched = true,
		.state = SHARE_SHOWING,
		.owner = {.guild = GUILD, .channel = CHANNEL, .requester = ALICE, .target = ALICE}};
	v.views[0] = (struct view){.share = 3,
				   .number = 1,
				   .confirmed = env_now(env),
				   .newest = {.p = jpeg, .n = 1, .at = env_now(env)}};
	notes_changed(&v.views[0].notes, 100, 1, env_now(env));
	name = long_name;
	CHECK(vision_notes(&v, GUILD, CHANNEL, notes) > 0);
	CHECK(utf8_valid(notes));
	CHECK(strstr(notes, "\xe7\x94\xbb, the newest first:\n") != NULL);
	for (unsigned i = 0; i < 2; i++) {
		v.shares.v[0].state = i ? SHARE_PAUSED : SHARE_SHOWING;
		CHECK_INT(vision_latest(&v, GUILD, CHANNEL, &picture, 1), 1);
		CHECK(utf8_valid(picture.about));
	}
	name = "Al\nice";
	vision_notes(&v, GUILD, CHANNEL, notes);
	CHECK(strncmp(notes, "The screen of Al ice, the newest", 32) == 0);
	env_free(env);
}

/* Else it guesses what it cannot read. */
TEST(a_model_is_told_how_much_smaller_than_its_screen_a_picture_is)
{
	static uint8_t jpeg[1] = {0xff};
	static struct vision v;
	struct vision_picture picture;
	struct env *env;

	CHECK_INT(env_alloc(&env, &(struct env_conf){.loop = true}), 0);
	v = (struct vision){.conf = {.env = env, .nameh = name_of}};
	name = "Alice";
	v.shares.v[0] = (struct share){
		.id = 3,
		.watched = true,
		.state = SHARE_SHOWING,
		.owner = {.guild = GUILD, .channel = CHANNEL, .requester = ALICE, .target = ALICE}};
	v.views[0] = (struct view){.share = 3,
				   .number = 1,
				   .confirmed = env_now(env),
				   .newest = {.p = jpeg,
					      .n = 1,
					      .width = 960,
					      .height = 540,
					      .screen = 1920,
					      .at = env_now(env)}};
	CHECK_INT(vision_latest(&v, GUILD, CHANNEL, &picture, 1), 1);
	CHECK(strstr(picture.about, "scaled down") == NULL);
	v.views[0].newest.screen = 3440;
	CHECK_INT(vision_latest(&v, GUILD, CHANNEL, &picture, 1), 1);
	CHECK(strstr(picture.about, "scaled down from 3440 to 960 pixels") != NULL);
	/* What a page says is kept until the next picture, and bounded. */
	vision_screen_side(&v, 3, 2560);
	CHECK_INT(v.views[0].screen, 2560);
	vision_screen_side(&v, 3, UINT32_MAX);
	CHECK_INT(v.views[0].screen, 0);
	vision_screen_side(&v, 4, 2560); /* there is none */
	env_free(env);
}

/* ---- settings of one server ---- */

enum { OTHER = 9 };

static struct settings *own;	/* of GUILD */
static struct settings *common; /* of the others */

static const struct settings *settings_of(uint64_t guild, void *arg)
{
	(void)arg;
	return guild == GUILD ? own : common;
}

static uint64_t in_channel(uint64_t guild, uint64_t user, void *arg)
{
	(void)guild;
	(void)user;
	(void)arg;
	return CHANNEL;
}

static uint64_t bot_in_channel(uint64_t guild, void *arg)
{
	(void)guild;
	(void)arg;
	return CHANNEL;
}

static uint64_t minutes_of(const struct vision *v, struct env *env, unsigned place)
{
	return (v->shares.v[place].expires - env_now(env)) / NS_PER_S / 60;
}

TEST(a_server_has_settings_of_its_own_for_its_screens)
{
	struct share_owner owner = {
		.guild = GUILD, .channel = CHANNEL, .requester = ALICE, .target = ALICE};
	char token[SHARE_SECRET_SIZE], key[SHARE_SECRET_SIZE];
	struct vision *v = NULL;
	struct env *env;
	struct bus *bus;
	uint32_t share;
	json_t *state;

	CHECK_INT(env_alloc(&env, &(struct env_conf){.loop = true}), 0);
	CHECK_INT(bus_alloc(&bus), 0);
	CHECK_INT(settings_alloc(&own), 0);
	CHECK_INT(settings_alloc(&common), 0);
	own->share_minutes = 5;
	own->share_width = 640;
	own->share_frame_bytes = 60000;
	CHECK_INT(
		vision_alloc(&v, &(struct vision_conf){.env = env,
						       .bus = bus,
						       .settings = common,
						       .settings_of = settings_of,
						       .program = "imaged",
						       .world = {in_channel, bot_in_channel, NULL},
						       .nameh = name_of}),
		0);
	CHECK_INT(vision_offer(v, &owner, token), SHARE_GRANTED);
	CHECK(minutes_of(v, env, 0) < 5);
	CHECK_INT(vision_open(v, token, 0, key, &share), SHARE_GRANTED);
	CHECK(minutes_of(v, env, 0) < 5);
	CHECK_INT(vision_expect(v, token, share, 60001), SHARE_TOO_LARGE);
	CHECK_INT(vision_touch(v, token, share, false, &share), SHARE_GRANTED);
	CHECK(minutes_of(v, env, 0) < 5);
	state = vision_state(v, share);
	CHECK_INT(json_integer_value(json_object_get(json_object_get(state, "settings"), "width")),
		  640);
	json_decref(state);
	own->screen_watch = false;
	CHECK_INT(vision_offer(v, &owner, token), SHARE_OFF);
	owner.guild = OTHER;
	CHECK_INT(vision_offer(v, &owner, token), SHARE_GRANTED);
	CHECK(minutes_of(v, env, 1) >= common->share_minutes - 1);
	/* What is shown in the server that allows it no more ends. */
	for (unsigned i = 0; i < 10 && v->shares.v[0].id; i++)
		event_base_loop(env_base(env), EVLOOP_ONCE);
	CHECK(!v->shares.v[0].id && v->shares.v[1].id);
	vision_free(v);
	settings_free(own);
	settings_free(common);
	bus_free(bus);
	env_free(env);
}

static uint64_t member_in;

static uint64_t channel_of(uint64_t guild, uint64_t user, void *arg)
{
	(void)guild, (void)user, (void)arg;
	return member_in;
}

static uint64_t bot_channel(uint64_t guild, void *arg)
{
	(void)guild, (void)arg;
	return CHANNEL;
}

TEST(the_dashboard_has_the_notes_that_models_are_told)
{
	static struct vision v;
	struct env *env;
	const json_t *share, *notes, *note;
	json_t *room, *list;

	CHECK_INT(env_alloc(&env, &(struct env_conf){.loop = true}), 0);
	v = (struct vision){
		.conf = {.env = env, .nameh = name_of, .world = {channel_of, bot_channel, NULL}}};
	name = "Alice";
	member_in = CHANNEL;
	v.shares.v[0] = (struct share){
		.id = 3,
		.watched = true,
		.state = SHARE_SHOWING,
		.owner = {.guild = GUILD, .channel = CHANNEL, .requester = ALICE, .target = ALICE}};
	v.views[0].share = 3;
	notes_changed(&v.views[0].notes, 100, 1, env_now(env));
	CHECK(notes_tell(&v.views[0].notes, 1, "a letter"));
	notes_changed(&v.views[0].notes, 25, 2, env_now(env));
	room = vision_room(&v, GUILD, CHANNEL);
	share = json_array_get(room, 0);
	CHECK_STR(json_string_value(json_object_get(share, "name")), "Alice");
	CHECK(json_is_null(json_object_get(share, "ageMs")));
	notes = json_object_get(share, "notes");
	CHECK_INT(json_array_size(notes), 2);
	note = json_array_get(notes, 0);
	CHECK_INT(json_integer_value(json_object_get(note, "changed")), 25);
	CHECK(json_is_null(json_object_get(note, "text")));
	CHECK(json_is_integer(json_object_get(note, "agoMs")));
	note = json_array_get(notes, 1);
	CHECK_STR(json_string_value(json_object_get(note, "text")), "a letter");
	json_decref(room);
	/* The tool that lists shares tells none. */
	list = vision_list(&v, GUILD, CHANNEL);
	CHECK(!json_object_get(json_array_get(list, 0), "notes"));
	CHECK_STR(json_string_value(json_object_get(json_array_get(list, 0), "state")), "showing");
	json_decref(list);
	/* As its page says. */
	member_in = 0;
	list = vision_list(&v, GUILD, CHANNEL);
	CHECK_STR(json_string_value(json_object_get(json_array_get(list, 0), "state")), "away");
	CHECK(json_is_false(json_object_get(json_array_get(list, 0), "watched")));
	json_decref(list);
	env_free(env);
}

/* ---- what the page is told ---- */

static bool wants(struct vision *v)
{
	json_t *state = vision_state(v, 3);
	bool wants = json_is_true(json_object_get(state, "wants"));

	json_decref(state);
	return wants;
}

static bool sees_nothing(uint64_t guild, void *arg)
{
	(void)guild, (void)arg;
	return false;
}

static bool is_blind(struct vision *v)
{
	json_t *state = vision_state(v, 3);
	bool blind = json_is_true(json_object_get(state, "blind"));

	json_decref(state);
	return blind;
}

/* The page sends nothing while its screen is the same, so it has to know when the bot lost it. */
TEST(a_page_learns_when_the_bot_has_no_picture_of_it)
{
	static const char token[] = "AAAAAAAAAAAAAAAAAAAAAAAA", key[] = "KKKKKKKKKKKKKKKKKKKKKKKK";
	static uint8_t jpeg[1] = {0xff};
	static struct settings settings;
	static struct vision v;
	struct env *env;
	uint32_t share;

	CHECK_INT(env_alloc(&env, &(struct env_conf){.loop = true}), 0);
	settings.share_minutes = 12;
	v = (struct vision){.conf = {.env = env,
				     .settings = &settings,
				     .nameh = name_of,
				     .world = {channel_of, bot_channel, NULL}}};
	v.shares.v[0] = (struct share){
		.id = 3,
		.watched = true,
		.state = SHARE_SHOWING,
		.expires = UINT64_MAX,
		.owner = {.guild = GUILD, .channel = CHANNEL, .requester = ALICE, .target = ALICE}};
	memcpy(v.shares.v[0].token, token, sizeof token);
	memcpy(v.shares.v[0].key, key, sizeof key);
	v.views[0] = (struct view){.share = 3, .newest = {.p = jpeg, .n = 1}};
	member_in = CHANNEL;
	CHECK(!wants(&v));
	CHECK(!is_blind(&v));
	v.conf.seesh = sees_nothing;
	CHECK(is_blind(&v));
	CHECK_INT(vision_touch(&v, token, 3, VISION_PAGE_SAME, &share), SHARE_GRANTED);
	CHECK(v.views[0].confirmed != 0);
	/* Its browser stands still. */
	v.views[0].confirmed = 0;
	CHECK_INT(vision_touch(&v, token, 3, VISION_PAGE_STALE, &share), SHARE_GRANTED);
	CHECK(v.views[0].confirmed == 0);
	CHECK_INT(v.shares.v[0].state, SHARE_SHOWING);
	/* The last one that came could not be used: this one is not of now. */
	v.views[0].problem = IMAGE_CRASHED;
	v.views[0].confirmed = 0;
	CHECK_INT(vision_touch(&v, token, 3, VISION_PAGE_SAME, &share), SHARE_GRANTED);
	CHECK(v.views[0].confirmed == 0);
	CHECK(wants(&v));
	v.views[0].problem = IMAGE_OK;
	/* Wiped, as when its member leaves, or when the bot is to stop. */
	v.views[0].newest.p = NULL;
	CHECK(wants(&v));
	v.views[0].decoding = true;
	CHECK(!wants(&v));
	v.views[0].decoding = false;
	v.shares.v[0].watched = false;
	CHECK(!wants(&v));
	v.shares.v[0].watched = true;
	v.shares.v[0].state = SHARE_PAUSED;
	CHECK(!wants(&v));
	/* Who is elsewhere is told so, and the share holds. */
	member_in = 0;
	v.shares.v[0].expires = env_now(env) + NS_PER_S;
	CHECK_INT(vision_touch(&v, token, 3, VISION_PAGE_SAME, &share), SHARE_AWAY);
	CHECK(v.shares.v[0].expires > env_now(env) + NS_PER_S);
	CHECK(v.views[0].confirmed == 0);
	env_free(env);
}

/* ---- streams ---- */

static const char *unseen;

static bool unseen_is_told;

static void take_unseen(const struct share_owner *owner, const char *why, bool told, void *arg)
{
	(void)owner, (void)arg;
	unseen = why;
	unseen_is_told = told;
}

/* Each key frame costs the streamer's other viewers, so they are rare unless somebody asks. */
TEST(key_frames_are_asked_for_more_often_while_a_model_looks)
{
	static struct settings settings;
	static struct vision v;
	struct env *env;

	CHECK_INT(env_alloc(&env, &(struct env_conf){.loop = true}), 0);
	settings.share_frame_ms = 1200;
	settings.watch_note_s = 10;
	v = (struct vision){.conf = {.env = env, .settings = &settings, .nameh = name_of}};
	v.shares.v[0] =
		(struct share){.id = 3,
			       .watched = true,
			       .owner = {.guild = GUILD, .channel = CHANNEL, .stream = true}};
	v.views[0].looked = env_now(env) - 60 * NS_PER_S;
	CHECK(vision_stream_spacing(&v, 3) == 8 * NS_PER_S);
	vision_looked(&v, GUILD, CHANNEL + 1);
	CHECK(vision_stream_spacing(&v, 3) == 8 * NS_PER_S);
	vision_looked(&v, GUILD, CHANNEL);
	CHECK(vision_stream_spacing(&v, 3) == 1200 * NS_PER_MS);
	env_free(env);
}

TEST(a_stream_that_fails_before_its_first_picture_is_told)
{
	static struct settings settings;
	static struct vision v;
	struct env *env;
	struct bus *bus;

	CHECK_INT(env_alloc(&env, &(struct env_conf){.loop = true}), 0);
	CHECK_INT(bus_alloc(&bus), 0);
	v = (struct vision){.conf = {.env = env,
				     .bus = bus,
				     .settings = &settings,
				     .nameh = name_of,
				     .unseenh = take_unseen}};
	for (unsigned i = 0; i < 3; i++) {
		unseen = NULL;
		v.shares.v[0] = (struct share){.id = 3,
					       .watched = true,
					       .frames = i == 1,
					       .owner = {.guild = GUILD, .stream = true}};
		vision_stream_end(&v, 3, "stream_ended", i == 2 ? NULL : "no answer", i == 0);
		CHECK((unseen != NULL) == (i == 0));
		CHECK(unseen_is_told);
		CHECK_INT(v.shares.v[0].id, 0);
	}
	bus_free(bus);
	env_free(env);
}

/* ---- a video of ours ---- */

static struct vision_show ours;
static bool is_ours;
static unsigned changes;
static struct bus_event last_event;

static bool show_ours(uint64_t guild, struct vision_show *out, void *arg)
{
	(void)arg;
	*out = ours;
	return is_ours && guild == GUILD;
}

static void take_show(const struct vision_show *what, enum vision_show_over over, void *arg)
{
	(void)arg;
	CHECK(what->user == ALICE);
	changes = changes * 10 + (unsigned)over;
}

static void take_event(const struct bus_event *ev, void *arg)
{
	(void)arg;
	last_event = *ev;
}

TEST(a_video_of_ours_is_listed_and_told_by_events)
{
	static struct vision v;
	struct vision_show got;
	const char *who;
	struct env *env;
	struct bus *bus;
	json_t *shown;

	CHECK_INT(env_alloc(&env, &(struct env_conf){.loop = true}), 0);
	CHECK_INT(bus_alloc(&bus), 0);
	CHECK_INT(bus_subscribe(bus, BUS_MASK(EVENT_VIDEO_SHOWN) | BUS_MASK(EVENT_VIDEO_OVER),
				take_event, NULL),
		  0);
	v = (struct vision){.conf = {.env = env, .bus = bus, .nameh = name_of, .showh = take_show},
			    .streams = {.nowh = show_ours}};
	name = "Alice";
	ours = (struct vision_show){
		.guild = GUILD, .channel = CHANNEL, .user = ALICE, .at_ms = 61000, .seconds = 90};
	is_ours = false;
	CHECK(!vision_shown(&v, GUILD, CHANNEL));
	CHECK(!vision_show_last(&v, GUILD, CHANNEL, &got, &who));
	is_ours = true;
	CHECK(!vision_show_last(&v, GUILD, CHANNEL + 1, &got, &who));
	CHECK(!vision_shown(&v, GUILD, CHANNEL + 1));
	for (unsigned i = 0; i < 3; i++) {
		static const char *const states[] = {"opening", "waiting", "playing"};

		ours.announced = i > 0;
		ours.playing = i > 1;
		shown = vision_shown(&v, GUILD, CHANNEL);
		CHECK_STR(json_string_value(json_object_get(shown, "state")), states[i]);
		CHECK_STR(json_string_value(json_object_get(shown, "kind")), "video");
		CHECK_STR(json_string_value(json_object_get(shown, "askedBy")), "Alice");
		CHECK_INT(json_integer_value(json_object_get(shown, "atSeconds")), 61);
		CHECK_INT(json_integer_value(json_object_get(shown, "seconds")), 90);
		json_decref(shown);
	}
	CHECK(vision_show_last(&v, GUILD, CHANNEL, &got, &who) && got.seconds == 90);
	CHECK_STR(who, "Alice");
	CHECK_STR(vision_show_state(&got), "playing");
	/* The last one is for the dashboard alone; an erased person asked for none. */
	ours.why = "it is over";
	ours.user = 0;
	CHECK(!vision_shown(&v, GUILD, CHANNEL));
	CHECK(vision_show_last(&v, GUILD, CHANNEL, &got, &who));
	CHECK_STR(who, "");
	CHECK_STR(vision_show_state(&got), "over");
	ours.why = NULL;
	ours.user = ALICE;
	changes = 0;
	vision_show_changed(&v, &ours, VISION_SHOW_BEGUN, "");
	CHECK_INT(last_event.type, EVENT_VIDEO_SHOWN);
	CHECK(last_event.guild == GUILD && last_event.user == ALICE);
	CHECK(last_event.video.channel == CHANNEL);
	ours.visualizer = true;
	vision_show_changed(&v, &ours, VISION_SHOW_LOST, "it was thrown out");
	CHECK_INT(last_event.type, EVENT_VIDEO_OVER);
	CHECK_STR(last_event.video.kind, "visualizer");
	CHECK_STR(last_event.video.why, "it was thrown out");
	CHECK_INT(last_event.video.seconds, 61);
	CHECK_INT(changes, VISION_SHOW_BEGUN * 10 + VISION_SHOW_LOST);
	bus_free(bus);
	env_free(env);
}

/* ---- why there is no screen to look at ---- */

static const char *why_unseen(const struct vision *v, uint64_t target)
{
	static char why[VISION_ABOUT_MAX];

	return vision_unseen(v, GUILD, CHANNEL, target, why) ? why : "seen";
}

static void stream_of_bob(uint64_t guild, uint64_t channel, vision_streamer_h *h, void *h_arg,
			  void *arg)
{
	(void)guild, (void)channel, (void)arg;
	h(6, h_arg);
}

static struct vision *open_unseen(struct env **env, struct settings **set)
{
	static struct vision v;

	if (env_alloc(env, &(struct env_conf){.loop = true}) || settings_alloc(set))
		return NULL;
	v = (struct vision){.conf = {.env = *env,
				     .settings = *set,
				     .nameh = name_of,
				     .world = {channel_of, bot_channel, NULL}}};
	v.shares.v[0] = (struct share){
		.id = 3,
		.watched = true,
		.state = SHARE_OPENED,
		.owner = {.guild = GUILD, .channel = CHANNEL, .requester = ALICE, .target = ALICE}};
	v.views[0].share = 3;
	name = "Alice";
	member_in = CHANNEL;
	return &v;
}

TEST(why_no_screen_is_seen_is_said)
{
	static uint8_t jpeg[1] = {0xff};
	struct settings *set;
	struct env *env;
	struct vision *v = open_unseen(&env, &set);
	struct share *s = &v->shares.v[0];
	struct view *view = &v->views[0];
	char why[VISION_ABOUT_MAX];

	CHECK(v != NULL);
	CHECK(strstr(why_unseen(v, 0), "Alice has opened the page, but no picture has come"));
	/* It is kept while its person is elsewhere, or is not heard. */
	member_in = 0;
	CHECK(strncmp(why_unseen(v, 0), "Alice is not in the voice channel, does not agree", 49) ==
	      0);
	member_in = CHANNEL;
	s->owner.stream = true;
	CHECK_STR(why_unseen(v, ALICE), "The stream of Alice is being opened; the first picture of "
					"it is not there yet.");
	view->problem = IMAGE_LIMIT;
	CHECK(strstr(why_unseen(v, 0), image_reason_text(IMAGE_LIMIT)) != NULL);
	s->state = SHARE_PAUSED;
	CHECK(strstr(why_unseen(v, 0), "Alice has paused the screen") != NULL);
	s->watched = false;
	CHECK(strstr(why_unseen(v, 0), "screen of Alice is shown but not looked at") != NULL);
	/* A link that nobody has opened is its owner's affair. */
	s->state = SHARE_OFFERED;
	CHECK(strncmp(why_unseen(v, 0), "Nobody shows a screen.", 22) == 0);
	member_in = 0;
	CHECK(strstr(why_unseen(v, ALICE), "Alice is not in the voice channel") != NULL);
	v->streams.eachh = stream_of_bob;
	CHECK(strstr(why_unseen(v, 0), "streams, and nobody has it looked at") != NULL);
	CHECK(!strstr(why_unseen(v, ALICE), "streams"));
	CHECK(vision_unseen(v, GUILD, 0, 0, why) && strstr(why, "no voice channel here"));
	CHECK_INT(settings_set(set, "screen_watch", "false"), 0);
	CHECK(strstr(why_unseen(v, 0), "switched off here") != NULL);
	/* One picture is enough. */
	s->state = SHARE_SHOWING;
	s->watched = true;
	view->newest.p = jpeg;
	CHECK_STR(why_unseen(v, 0), "seen");
	/* It is not everybody's. */
	member_in = CHANNEL;
	name = "Bob";
	CHECK_INT(settings_set(set, "screen_watch", "true"), 0);
	CHECK(strncmp(why_unseen(v, 9), "Bob shows no screen.", 20) == 0);
	s->id = 0;
	CHECK(strncmp(why_unseen(v, 9), "Bob shows no screen.", 20) == 0);
	v->streams.eachh = NULL;
	CHECK(strncmp(why_unseen(v, 9), "Nobody shows a screen.", 22) == 0);
	settings_free(set);
	env_free(env);
}

TEST(why_a_screen_is_gone_is_said_for_a_while)
{
	struct settings *set;
	struct env *env;
	struct vision *v = open_unseen(&env, &set);
	struct share *s = &v->shares.v[0];

	CHECK(v != NULL);
	vision_note_end(v, s, "stream_ended", "the stream was ended");
	s->id = 0;
	CHECK_STR(why_unseen(v, 0), "The screen of Alice is gone: the stream was ended (0 s ago).");
	vision_note_end(v, s, "expired", NULL);
	v->ended[1].at++;
	CHECK(strstr(why_unseen(v, ALICE), PROMPT_UNSEEN_EXPIRED) != NULL);
	s->state = SHARE_OFFERED;
	vision_note_end(v, s, "left", NULL);
	CHECK(!strstr(why_unseen(v, 0), PROMPT_UNSEEN_LEFT));
	/* Nor does it push out what is remembered. */
	for (unsigned i = 3; i < ENDED_SHARES; i++)
		vision_note_end(v, s, "expired", NULL);
	s->state = SHARE_SHOWING;
	s->owner.target = 9;
	for (unsigned i = 2; i < ENDED_SHARES; i++)
		vision_note_end(v, s, "expired", NULL);
	CHECK(strstr(why_unseen(v, ALICE), PROMPT_UNSEEN_EXPIRED) != NULL);
	vision_forget_ended(v, GUILD, 9);
	/* The person may be asked about by the name of then. */
	name = "someone";
	CHECK_INT(vision_find_ended(v, GUILD, CHANNEL, "aLICE"), ALICE);
	CHECK_INT(vision_find_ended(v, GUILD, CHANNEL + 1, "alice"), 0);
	CHECK_INT(vision_find_ended(v, GUILD, CHANNEL, "bob"), 0);
	CHECK(strstr(why_unseen(v, ALICE), "The screen of Alice is gone") != NULL);
	/* Nobody learns of a person who is erased, or of what was long ago. */
	vision_forget_ended(v, GUILD + 1, ALICE);
	CHECK(strstr(why_unseen(v, 0), "is gone") != NULL);
	vision_forget_ended(v, 0, ALICE);
	CHECK(!strstr(why_unseen(v, 0), "is gone"));
	settings_free(set);
	env_free(env);
}

static const char *why_gone(struct vision *v, const char *why)
{
	vision_forget_ended(v, 0, ALICE);
	vision_note_end(v, &v->shares.v[0], why, NULL);
	v->shares.v[0].id = 0;
	return why_unseen(v, ALICE);
}

TEST(each_end_of_a_screen_has_its_reason)
{
	struct settings *set;
	struct env *env;
	struct vision *v = open_unseen(&env, &set);

	CHECK(v != NULL);
	CHECK(strstr(why_gone(v, "expired"), PROMPT_UNSEEN_EXPIRED) != NULL);
	CHECK(strstr(why_gone(v, "left"), PROMPT_UNSEEN_LEFT) != NULL);
	CHECK(strstr(why_gone(v, "off"), PROMPT_UNSEEN_SWITCHED_OFF) != NULL);
	CHECK(strstr(why_gone(v, "stopped"), PROMPT_UNSEEN_STOPPED) != NULL);
	v->shares.v[0].owner.stream = true;
	CHECK(strstr(why_gone(v, "stream_ended"), PROMPT_UNSEEN_STREAM_OVER) != NULL);
	CHECK(strstr(why_gone(v, "stopped"), PROMPT_UNSEEN_OVER) != NULL);
	/* Who takes a consent back, or is blocked, is in no channel for the bot. */
	member_in = 0;
	CHECK(strstr(why_gone(v, "stopped"), PROMPT_UNSEEN_NOT_HEARD) != NULL);
	settings_free(set);
	env_free(env);
}
