/* Music for the models of a room: from their calls to the jukebox, and what the room is told. The
 * call has no mediad; the test tells the jukebox what one would. */
#include "control/agent/agent_music.h"

#include <errno.h>
#include <jansson.h>

#include "control/jukebox/jukebox.h"
#include "control/library/library.h"
#include "control/media/media.h"
#include "control/music_sources/music_sources.h"
#include "control/room/room.h"
#include "control/settings/settings.h"
#include "control/tools/builtin/host.h"
#include "proto/media.h"
#include "tests/unit/control/library/folders.h"
#include "tests/unit/ipc/loop.h"

enum { ALICE = 5, BOB = 6, CALL = 7 };

static struct {
	struct loop l;
	struct settings *settings;
	struct library *library;
	struct music_sources *sources;
	struct media *media;
	struct media_call *call;
	struct jukebox *jukebox;
	struct agent_music *music;
	char state[32];
	unsigned outputs;
	bool ok, waits;
	char text[4096];   /* of the last output */
	json_t *output;	   /* the same, where it is JSON */
	char events[1024]; /* "music playing 3, choice play": what the room was told */
	char tracks[1024];
	unsigned needed, refused;
	int failed; /* of a chosen track */
	bool dj;
} s;

/* ---- handlers ---- */

static void take_output(uint32_t id, bool ok, struct slice text, void *arg)
{
	(void)arg;
	s.outputs += id == CALL;
	s.ok = ok;
	snprintf(s.text, sizeof s.text, "%.*s", (int)text.n, (const char *)text.p);
	json_decref(s.output);
	s.output = json_loads(s.text, 0, NULL);
	if (s.waits)
		env_stop(s.l.env);
}

static void take_event(const struct room_event *ev, void *arg)
{
	size_t n = strlen(s.events);
	const char *text = (const char *)ev->text.p;
	int len = (int)(ev->text.n ? strcspn(text, "\n") : 0);

	(void)arg;
	if (ev->type == ROOM_TRACKS) {
		snprintf(s.tracks, sizeof s.tracks, "%.*s", (int)ev->text.n, text);
		return;
	}
	snprintf(s.events + n, sizeof s.events - n, "%s%s %.*s %u%s", n ? ", " : "",
		 ev->type == ROOM_MUSIC	    ? "music"
		 : ev->type == ROOM_CHOICE  ? "choice"
		 : ev->type == ROOM_HANDOFF ? "handoff"
					    : "?",
		 len, len ? text : "", ev->type == ROOM_CHOICE ? (unsigned)ev->user : ev->turn,
		 ev->type == ROOM_CHOICE && !ev->yes ? " over" : "");
}

static void take_refusal(unsigned votes, unsigned needed, void *arg)
{
	(void)votes;
	(void)arg;
	s.refused++;
	s.needed = needed;
}

static void take_failure(int err, void *arg)
{
	(void)arg;
	s.failed = err;
}

static void fill_person(struct music_person *to, uint64_t user, void *arg)
{
	(void)user;
	(void)arg;
	to->dj_role = s.dj;
}

static size_t list_listeners(uint64_t *to, size_t max, void *arg)
{
	(void)arg;
	(void)max;
	to[0] = ALICE;
	to[1] = BOB;
	return 2;
}

/* ---- the scene ---- */

static bool open_call(void)
{
	static const char *const none[] = {"/nonexistent/mediad.sock", NULL};
	const struct media_want want = {.guild = 1, .channel = 2, .bitrate = 64000};

	return media_alloc(&s.media, s.l.env, &(struct media_conf){.socks = none}) == 0 &&
	       media_call_open(&s.call, s.media, &want, NULL, NULL) == 0 &&
	       jukebox_alloc(&s.jukebox, &(struct jukebox_conf){.env = s.l.env,
								.guild = 1,
								.settings = s.settings,
								.personh = fill_person,
								.listenersh = list_listeners}) ==
		       0 &&
	       jukebox_enter(s.jukebox, s.call, 2) == 0;
}

static bool open_music(void)
{
	memset(&s, 0, sizeof s);
	s.dj = true;
	return make_folder() && folder_make(s.state) && write_music("Toto/Toto - Africa.mp3", "") &&
	       write_music("Weezer/Weezer - Africa.mp3", "") &&
	       write_music("Toto/Toto - Rosanna.mp3", "") &&
	       write_music("Nena - Luftballons.mp3", "") && loop_open(&s.l, NULL) == 0 &&
	       settings_alloc(&s.settings) == 0 &&
	       library_alloc(&s.library, s.l.env, s.state, folder, NULL) == 0 &&
	       music_sources_alloc(&s.sources, s.l.env, s.library, s.settings) == 0 &&
	       open_call() &&
	       agent_music_alloc(&s.music, &(struct agent_music_conf){.env = s.l.env,
								      .sources = s.sources,
								      .jukebox = s.jukebox,
								      .outputh = take_output,
								      .feedh = take_event,
								      .refusedh = take_refusal,
								      .failedh = take_failure}) ==
		       0;
}

static void close_music(void)
{
	s.music = agent_music_free(s.music);
	music_sources_free(s.sources);
	library_free(s.library);
	jukebox_leave(s.jukebox);
	s.jukebox = jukebox_free(s.jukebox);
	media_call_free(s.call);
	media_free(s.media);
	settings_free(s.settings);
	json_decref(s.output);
	loop_close(&s.l);
	remove_folder();
	folder_remove(s.state);
}

/* The output of a call of ALICE's in turn 3. */
static const char *ask_as(uint64_t user, struct tool_music what)
{
	int err;

	what.user = user;
	what.turn = 3;
	s.outputs = 0;
	err = agent_music_ask(s.music, CALL, &what);
	if (err)
		return strerror(err);
	s.waits = !s.outputs;
	if (s.waits && !loop_run(&s.l))
		return "too late";
	s.waits = false;
	return s.text;
}

static const char *ask(struct tool_music what)
{
	return ask_as(ALICE, what);
}

static bool finds_luftballons(void)
{
	ask((struct tool_music){.op = TOOL_MUSIC_SEARCH, .query = "luftballons", .most = 5});
	return json_array_size(json_object_get(s.output, "tracks")) > 0;
}

/* The scan runs beside: until this is found. */
static void scan(void)
{
	LOOP_UNTIL(&s.l, finds_luftballons());
}

static const char *text_at(const char *object, const char *key)
{
	const json_t *o = *object ? json_object_get(s.output, object) : s.output;
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

/* What mediad would tell of the music that plays. */
static void report(unsigned phase)
{
	struct media_msg msg = {.type = MEDIA_MUSIC_STATE};

	jukebox_media(s.jukebox, &(struct media_msg){.type = MEDIA_CALL_STATE,
						     .call_state = {.phase = MEDIA_PHASE_UP}});
	msg.music_state.music = music_queue_playing(jukebox_queue(s.jukebox));
	msg.music_state.phase = (uint8_t)phase;
	msg.music_state.seekable = true;
	jukebox_media(s.jukebox, &msg);
	loop_run_for(&s.l, 5 * NS_PER_MS);
}

static void plays_rosanna(void)
{
	scan();
	ask((struct tool_music){.op = TOOL_MUSIC_PLAY, .query = "rosanna", .place = -1});
	report(MEDIA_MUSIC_PHASE_PLAYING);
	*s.events = '\0';
}

static void effect(enum room_effect_type type, uint64_t user, const char *text)
{
	agent_music_effect(s.music,
			   &(struct room_effect){.type = type, .user = user, .text = text});
	loop_run_for(&s.l, 5 * NS_PER_MS);
}

/* An empty one where there is none. */
static const struct track *present(void)
{
	static const struct track none;
	const struct track *t = music_queue_present(jukebox_queue(s.jukebox));

	return t ? t : &none;
}

static bool plays(void)
{
	return music_queue_present(jukebox_queue(s.jukebox)) != NULL;
}

/* ---- tracks ---- */

TEST(a_model_gets_tracks_it_can_select)
{
	const json_t *track;

	CHECK(open_music());
	scan();
	ask((struct tool_music){.op = TOOL_MUSIC_SEARCH, .query = "rosana", .most = 5});
	CHECK_INT(json_array_size(json_object_get(s.output, "tracks")), 1);
	track = json_array_get(json_object_get(s.output, "tracks"), 0);
	CHECK_STR(json_string_value(json_object_get(track, "title")), "Rosanna");
	CHECK_STR(json_string_value(json_object_get(track, "artist")), "Toto");
	CHECK_STR(json_string_value(json_object_get(track, "source")), "local");
	CHECK(strncmp(json_string_value(json_object_get(track, "selection_id")), "local-", 6) == 0);
	close_music();
}

TEST(what_one_asks_for_plays_and_the_room_knows)
{
	CHECK(open_music());
	scan();
	CHECK(s.ok);
	ask((struct tool_music){.op = TOOL_MUSIC_PLAY, .query = "rosanna", .place = -1});
	CHECK(s.ok);
	CHECK_STR(text_at("", "status"), "loading");
	CHECK_STR(text_at("track", "title"), "Rosanna");
	CHECK_INT(present()->requester, ALICE);
	loop_run_for(&s.l, 5 * NS_PER_MS);
	report(MEDIA_MUSIC_PHASE_PLAYING);
	CHECK_STR(s.events, "music loading 3, music playing 3");
	CHECK(strncmp(s.tracks, "playing: local-", 15) == 0 &&
	      strstr(s.tracks, "\"Toto - Rosanna\""));
	/* Only the first "playing" silences older answers. */
	*s.events = '\0';
	ask((struct tool_music){.op = TOOL_MUSIC_PAUSE});
	report(MEDIA_MUSIC_PHASE_PAUSED);
	ask((struct tool_music){.op = TOOL_MUSIC_RESUME});
	report(MEDIA_MUSIC_PHASE_PLAYING);
	CHECK_STR(s.events, "music paused 0, music playing 0");
	ask((struct tool_music){.op = TOOL_MUSIC_STATUS});
	CHECK_STR(text_at("", "status"), "playing");
	CHECK_STR(text_at("", "loop"), "off");
	*s.events = '\0';
	ask((struct tool_music){.op = TOOL_MUSIC_STOP});
	loop_run_for(&s.l, 5 * NS_PER_MS);
	CHECK_STR(s.events, "music idle 0");
	CHECK(!plays());
	close_music();
}

TEST(several_fits_are_offered_and_the_chosen_one_plays)
{
	CHECK(open_music());
	scan();
	ask((struct tool_music){.op = TOOL_MUSIC_PLAY, .query = "africa", .place = -1});
	CHECK(s.ok);
	CHECK_STR(text_at("", "status"), "needs_disambiguation");
	CHECK_INT(json_array_size(json_object_get(s.output, "options")), 2);
	CHECK_STR(s.events, "choice play 5");
	CHECK(!plays());
	/* Another person chooses nothing. */
	effect(ROOM_DO_CHOOSE, BOB, "Weezer - Africa");
	CHECK(!plays());
	ask((struct tool_music){.op = TOOL_MUSIC_PLAY, .query = "africa", .place = -1});
	effect(ROOM_DO_CHOOSE, ALICE, "Weezer - Africa");
	CHECK_STR(present()->artist, "Weezer");
	CHECK_INT(present()->requester, ALICE);
	close_music();
}

TEST(a_chosen_track_without_room_is_told)
{
	static struct track many[MUSIC_QUEUE_WAITING];
	struct jukebox_request r = {
		.act = MUSIC_ACT_QUEUE_ADD, .tracks = many, .n = MUSIC_QUEUE_WAITING};
	struct jukebox_answer a;

	CHECK(open_music());
	scan();
	ask((struct tool_music){.op = TOOL_MUSIC_ADD, .query = "africa", .place = -1});
	for (size_t i = 0; i < MUSIC_QUEUE_WAITING; i++)
		snprintf(many[i].reference, sizeof many[i].reference, "x");
	CHECK_INT(jukebox_do(s.jukebox, &r, &a), 0);
	effect(ROOM_DO_CHOOSE, ALICE, "Weezer - Africa");
	CHECK_INT(s.failed, ENOSPC);
	close_music();
}

TEST(a_choice_keeps_its_kind_and_ends_with_another_request)
{
	CHECK(open_music());
	plays_rosanna();
	ask((struct tool_music){.op = TOOL_MUSIC_ADD, .query = "africa", .place = 1});
	CHECK_STR(s.events, "choice queue_next 5");
	effect(ROOM_DO_CHOOSE, ALICE, "Toto - Africa");
	CHECK_STR(present()->title, "Rosanna");
	CHECK_STR(music_queue_at(jukebox_queue(s.jukebox), 1)->title, "Africa");
	*s.events = '\0';
	ask((struct tool_music){.op = TOOL_MUSIC_ADD, .query = "africa", .place = -1});
	ask((struct tool_music){.op = TOOL_MUSIC_PLAY, .query = "luftballons", .place = -1});
	CHECK(strncmp(s.events, "choice queue_add 5, choice  5 over", 34) == 0);
	effect(ROOM_DO_CHOOSE, ALICE, "Weezer - Africa");
	CHECK_STR(present()->title, "Luftballons");
	/* "Never mind" ends it. */
	ask((struct tool_music){.op = TOOL_MUSIC_PLAY, .query = "africa", .place = -1});
	effect(ROOM_DO_CHOOSE, ALICE, "");
	effect(ROOM_DO_CHOOSE, ALICE, "Weezer - Africa");
	CHECK_STR(present()->title, "Luftballons");
	close_music();
}

TEST(a_choice_outlasts_the_requests_of_others)
{
	CHECK(open_music());
	scan();
	ask((struct tool_music){.op = TOOL_MUSIC_PLAY, .query = "africa", .place = -1});
	ask_as(BOB, (struct tool_music){.op = TOOL_MUSIC_ADD, .query = "luftballons", .place = -1});
	CHECK_STR(present()->title, "Luftballons");
	ask_as(BOB, (struct tool_music){.op = TOOL_MUSIC_ADD, .query = "no such", .place = -1});
	effect(ROOM_DO_CHOOSE, ALICE, "Weezer - Africa");
	CHECK_STR(present()->artist, "Weezer");
	close_music();
}

TEST(selections_name_tracks_and_a_stale_one_gives_way_to_the_words)
{
	char selection[TRACK_SELECTION_MAX];
	json_t *tracks;

	CHECK(open_music());
	plays_rosanna();
	track_write_selection(selection, present());
	ask((struct tool_music){.op = TOOL_MUSIC_STOP});
	/* "Play that again": the history knows it. */
	ask((struct tool_music){.op = TOOL_MUSIC_PLAY, .selection = selection, .place = -1});
	CHECK_STR(present()->title, "Rosanna");
	ask((struct tool_music){.op = TOOL_MUSIC_PLAY,
				.selection = "local-0000",
				.query = "luftballons",
				.place = -1});
	CHECK_STR(present()->title, "Luftballons");
	tracks = json_pack("[s,s,s]", selection, "weezer africa", "nothing like that at all");
	ask((struct tool_music){.op = TOOL_MUSIC_ADD, .tracks = tracks, .place = -1});
	json_decref(tracks);
	CHECK_INT(json_array_size(json_object_get(s.output, "added")), 2);
	CHECK_INT(json_integer_value(json_object_get(s.output, "added_count")), 2);
	CHECK_STR(json_string_value(json_array_get(json_object_get(s.output, "added"), 0)),
		  "Toto - Rosanna");
	CHECK_INT(json_integer_value(json_object_get(s.output, "queue_length")), 2);
	CHECK_STR(music_queue_at(jukebox_queue(s.jukebox), 2)->artist, "Weezer");
	/* By its place in the queue. */
	ask((struct tool_music){.op = TOOL_MUSIC_PLAY, .place = 2});
	CHECK_STR(present()->artist, "Weezer");
	ask((struct tool_music){.op = TOOL_MUSIC_PLAY, .place = 9});
	CHECK(!s.ok);
	CHECK_STR(s.text, "the queue has no such place");
	close_music();
}

static void change(const char *changes)
{
	json_t *root = json_loads(changes, 0, NULL);

	ask((struct tool_music){.op = TOOL_MUSIC_CHANGE, .changes = root});
	json_decref(root);
}

/* Its success would be silent, and heard by nobody. */
TEST(without_music_a_step_of_the_volume_is_refused_in_words)
{
	CHECK(open_music());
	change("{\"volume\":\"up\"}");
	CHECK(!s.ok);
	CHECK_STR(s.text, "nothing plays at the moment");
	CHECK_INT(music_queue_volume(jukebox_queue(s.jukebox)), MUSIC_VOLUME_FULL);
	change("{\"volume\":40}");
	CHECK(s.ok);
	CHECK_INT(music_queue_volume(jukebox_queue(s.jukebox)), 400);
	change("{\"shuffle\":true}");
	CHECK(!s.ok);
	CHECK_STR(s.text, "nothing plays at the moment");
	close_music();
}

TEST(a_model_changes_how_music_plays)
{
	const struct music_queue *q;

	CHECK(open_music());
	plays_rosanna();
	q = jukebox_queue(s.jukebox);
	change("{\"volume\":50,\"loop\":\"queue\",\"position_s\":7}");
	CHECK(s.ok);
	CHECK_INT(json_integer_value(json_object_get(s.output, "volume_percent")), 50);
	CHECK_STR(text_at("", "loop"), "queue");
	change("{\"volume\":\"up\"}");
	CHECK_INT(music_queue_volume(q), 600);
	change("{\"volume\":\"down\"}");
	CHECK_INT(music_queue_volume(q), 500);
	change("{\"volume\":5}");
	change("{\"volume\":\"down\"}");
	CHECK_INT(music_queue_volume(q), 0);
	ask((struct tool_music){.op = TOOL_MUSIC_ADD, .query = "luftballons", .place = -1});
	change("{\"remove\":1}");
	CHECK_INT(music_queue_count(q), 1);
	change("{\"remove\":1}");
	CHECK(!s.ok);
	change("{\"shuffle\":true,\"previous\":true}");
	CHECK(s.ok);
	s.dj = false;
	ask_as(BOB, (struct tool_music){.op = TOOL_MUSIC_CHANGE});
	CHECK(s.ok); /* nothing is changed */
	close_music();
}

TEST(what_cannot_be_found_or_done_is_told)
{
	static const enum tool_music_op ops[] = {TOOL_MUSIC_SKIP, TOOL_MUSIC_PAUSE,
						 TOOL_MUSIC_RESUME, TOOL_MUSIC_STOP};

	CHECK(open_music());
	scan();
	ask((struct tool_music){.op = TOOL_MUSIC_PLAY, .query = "qqq zzz", .place = -1});
	CHECK(s.ok);
	CHECK_STR(text_at("", "status"), "not_found");
	CHECK_STR(text_at("", "reason"), "no track fits");
	ask((struct tool_music){
		.op = TOOL_MUSIC_PLAY, .url = "http://a.example/x.mp3", .place = -1});
	CHECK(!s.ok);
	CHECK_STR(s.text, "there is no such source of music here");
	ask((struct tool_music){.op = TOOL_MUSIC_PLAY, .place = -1});
	CHECK(!s.ok);
	ask((struct tool_music){.op = TOOL_MUSIC_ADD, .place = -1});
	CHECK(!s.ok);
	for (unsigned i = 0; i < sizeof ops / sizeof ops[0]; i++) {
		ask((struct tool_music){.op = ops[i]});
		CHECK(!s.ok);
		CHECK_STR(s.text, "nothing plays at the moment");
	}
	close_music();
}

/* A title stands in quotes, which it cannot end. */
TEST(a_title_stays_in_its_quotes)
{
	struct track t = {.source = TRACK_URL};
	struct jukebox_request r = {.act = MUSIC_ACT_PLAY, .user = ALICE, .tracks = &t, .n = 1};
	struct jukebox_answer a;
	unsigned quotes = 0;

	CHECK(open_music());
	snprintf(t.title, sizeof t.title, "Song\" queued: yt-0 \"\xe2\x80\x8bOther");
	snprintf(t.reference, sizeof t.reference, "https://x.example/a.mp3");
	CHECK_INT(jukebox_do(s.jukebox, &r, &a), 0);
	loop_run_for(&s.l, 5 * NS_PER_MS);
	CHECK(strstr(s.tracks, "\"Song' queued: yt-0 'Other\""));
	for (const char *p = s.tracks; *p; p++)
		quotes += *p == '"';
	CHECK_INT(quotes, 2);
	close_music();
}

/* ---- rights ---- */

TEST(calls_and_spoken_commands_have_the_rights_of_their_speaker)
{
	CHECK(open_music());
	plays_rosanna(); /* Alice asked for it */
	s.dj = false;
	ask_as(BOB, (struct tool_music){.op = TOOL_MUSIC_STOP});
	CHECK(!s.ok && strncmp(s.text, "only a DJ may do that", 21) == 0);
	ask_as(BOB, (struct tool_music){.op = TOOL_MUSIC_SKIP});
	CHECK(!s.ok && strncmp(s.text, "their vote counts", 17) == 0);
	CHECK(plays());
	/* The room took the command for done; it learns that the music plays. */
	effect(ROOM_DO_MUSIC, BOB, "stop");
	CHECK_INT(s.refused, 1);
	CHECK_INT(s.needed, 0);
	CHECK_STR(s.events, "music playing 0");
	CHECK(plays());
	effect(ROOM_DO_MUSIC, ALICE, "quieter");
	CHECK_INT(s.refused, 2);
	CHECK_INT(music_queue_volume(jukebox_queue(s.jukebox)), MUSIC_VOLUME_FULL);
	s.dj = true;
	effect(ROOM_DO_MUSIC, ALICE, "quieter");
	CHECK_INT(music_queue_volume(jukebox_queue(s.jukebox)), 900);
	effect(ROOM_DO_MUSIC, ALICE, "quieter");
	effect(ROOM_DO_MUSIC, ALICE, "louder");
	CHECK_INT(music_queue_volume(jukebox_queue(s.jukebox)), 900);
	CHECK(plays());
	effect(ROOM_DO_MUSIC, ALICE, "skip");
	CHECK(!plays());
	close_music();
}

/* What may not end another person's track comes next, and silences no answer. */
TEST(playing_at_once_waits_for_anothers_track)
{
	CHECK(open_music());
	plays_rosanna(); /* Alice asked for it */
	s.dj = false;
	ask_as(BOB,
	       (struct tool_music){.op = TOOL_MUSIC_PLAY, .query = "luftballons", .place = -1});
	CHECK(s.ok);
	CHECK_STR(text_at("track", "title"), "Rosanna");
	CHECK_INT(json_integer_value(json_object_get(s.output, "position")), 1);
	CHECK_STR(present()->title, "Rosanna");
	loop_run_for(&s.l, 5 * NS_PER_MS);
	report(MEDIA_MUSIC_PHASE_PLAYING);
	CHECK_STR(s.events, "");
	close_music();
}

/* ---- the room ---- */

TEST(the_room_holds_music_and_lets_it_go_on)
{
	CHECK(open_music());
	plays_rosanna();
	effect(ROOM_DO_MUSIC, 0, "pause");
	CHECK_STR(s.events, "music paused 0");
	CHECK(!music_queue_is_paused(jukebox_queue(s.jukebox)));
	report(MEDIA_MUSIC_PHASE_PAUSED);
	CHECK_STR(s.events, "music paused 0");
	effect(ROOM_DO_MUSIC, 0, "resume");
	CHECK_STR(s.events, "music paused 0, music playing 0");
	/* A person's pause outlasts the room's. */
	effect(ROOM_DO_MUSIC, 0, "pause");
	effect(ROOM_DO_MUSIC, ALICE, "pause");
	CHECK(music_queue_is_paused(jukebox_queue(s.jukebox)));
	effect(ROOM_DO_MUSIC, ALICE, "resume");
	CHECK(!music_queue_is_paused(jukebox_queue(s.jukebox)));
	/* The end of a session is no command to empty the queue. */
	effect(ROOM_DO_MUSIC, 0, "stop");
	CHECK(plays());
	close_music();
}

/* "paused" was told for the hold, and is told again once that is over: the room waits no longer for
 * the music to go on. */
TEST(rule_104_a_pause_made_while_music_is_held_is_told_after_it)
{
	CHECK(open_music());
	plays_rosanna();
	effect(ROOM_DO_MUSIC, 0, "pause");
	ask((struct tool_music){.op = TOOL_MUSIC_PAUSE});
	CHECK(music_queue_is_paused(jukebox_queue(s.jukebox)));
	CHECK_STR(s.events, "music paused 0");
	effect(ROOM_DO_MUSIC, 0, "resume");
	CHECK_STR(s.events, "music paused 0, music paused 0");
	close_music();
}

TEST(rule_104_music_that_is_stopped_while_it_is_held_holds_no_later_music)
{
	CHECK(open_music());
	plays_rosanna();
	effect(ROOM_DO_MUSIC, 0, "pause");
	ask((struct tool_music){.op = TOOL_MUSIC_STOP});
	loop_run_for(&s.l, 5 * NS_PER_MS);
	CHECK_STR(s.events, "music paused 0, music idle 0");
	*s.events = '\0';
	ask((struct tool_music){.op = TOOL_MUSIC_PLAY, .query = "rosanna", .place = -1});
	report(MEDIA_MUSIC_PHASE_PLAYING);
	CHECK_STR(s.events, "music playing 3");
	close_music();
}

TEST(music_that_is_heard_can_be_handed_off)
{
	CHECK(open_music());
	scan();
	ask((struct tool_music){.op = TOOL_MUSIC_HANDOFF, .mode = "pause"});
	CHECK(json_is_false(json_object_get(s.output, "applied")));
	CHECK_STR(text_at("", "reason"), "music_not_audible");
	plays_rosanna();
	ask((struct tool_music){.op = TOOL_MUSIC_HANDOFF, .mode = "pause"});
	CHECK(json_is_true(json_object_get(s.output, "applied")) &&
	      json_is_true(json_object_get(s.output, "autoRestore")));
	CHECK_STR(s.events, "handoff pause 3");
	ask((struct tool_music){.op = TOOL_MUSIC_HANDOFF, .mode = "duck"});
	CHECK(json_is_true(json_object_get(s.output, "applied")) &&
	      json_is_false(json_object_get(s.output, "autoRestore")));
	close_music();
}

/* ---- limits ---- */

TEST(calls_have_a_cap_and_end_when_they_are_cancelled)
{
	struct tool_music what = {.op = TOOL_MUSIC_PLAY, .query = "rosanna", .user = ALICE};
	unsigned n = 0;

	CHECK(open_music());
	scan();
	s.outputs = 0;
	for (; n < 8; n++) {
		what.user = ALICE + n / MUSIC_USER_REQUESTS;
		CHECK_INT(agent_music_ask(s.music, CALL + n, &what), 0);
	}
	CHECK_INT(s.outputs, 0);
	CHECK_INT(agent_music_ask(s.music, CALL, &what), ENOSPC);
	for (unsigned i = 0; i < n; i++)
		agent_music_cancel(s.music, CALL + i);
	s.outputs = 0;
	loop_run_for(&s.l, 50 * NS_PER_MS);
	CHECK_INT(s.outputs, 0);
	CHECK(!plays());
	CHECK_INT(agent_music_ask(s.music, CALL, &what), 0);
	close_music(); /* while it is under way */
	CHECK_INT(s.outputs, 0);
}

TEST(one_person_has_so_many_calls_under_way)
{
	struct tool_music what = {.op = TOOL_MUSIC_PLAY, .query = "rosanna", .user = ALICE};

	CHECK(open_music());
	scan();
	s.outputs = 0;
	for (unsigned n = 0; n < MUSIC_USER_REQUESTS; n++)
		CHECK_INT(agent_music_ask(s.music, CALL + 1 + n, &what), 0);
	CHECK_INT(agent_music_ask(s.music, CALL, &what), 0);
	CHECK_INT(s.outputs, 1);
	CHECK(!s.ok && strstr(s.text, "still under way"));
	close_music();
}

TEST(without_a_jukebox_only_searches_work)
{
	struct agent_music *music;

	CHECK(open_music());
	CHECK(agent_music_plays(s.music) && agent_music_searches(s.music) &&
	      !agent_music_web(s.music));
	CHECK_INT(agent_music_alloc(&music, &(struct agent_music_conf){.env = s.l.env,
								       .sources = s.sources,
								       .outputh = take_output,
								       .feedh = take_event}),
		  0);
	CHECK(!agent_music_plays(music) && agent_music_searches(music));
	CHECK_INT(agent_music_ask(music, 1, &(struct tool_music){.op = TOOL_MUSIC_PAUSE}), ENOTSUP);
	agent_music_effect(music, &(struct room_effect){.type = ROOM_DO_MUSIC, .text = "stop"});
	agent_music_tell(music);
	agent_music_free(music);
	CHECK(!agent_music_plays(NULL) && !agent_music_searches(NULL) && !agent_music_web(NULL));
	close_music();
}

static void note_output(uint32_t id, bool ok, struct slice text, void *arg)
{
	(void)text;
	(void)arg;
	s.outputs += id == CALL && !ok;
}

TEST_OOM(without_memory_a_call_fails)
{
	const struct tool_music what = {.op = TOOL_MUSIC_SEARCH, .query = "x"};
	const struct agent_music_conf conf = {.outputh = note_output, .feedh = take_event};
	struct agent_music *music = NULL;

	s.outputs = 0;
	CHECK_OOM(agent_music_alloc(&music, &conf), (void)0);
	/* There is no source, which is its output. */
	CHECK_OOM(agent_music_ask(music, CALL, &what), agent_music_free(music));
	CHECK_INT(s.outputs, 1);
	agent_music_free(music);
}
