/* A jukebox between people and a toy mediad: rights, orders, reports, saving. */
#include "control/jukebox/inside.h"
#include "control/media/call.h"
#include "control/music/queue_document.h"
#include "tests/unit/control/jukebox/jukebox_scene.h"

TEST(a_jukebox_plays_what_is_asked_for)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(jukebox_phase(scene.jukebox), JUKEBOX_IDLE);
	CHECK_INT(scene_act(MUSIC_ACT_PAUSE, ALICE), ENOENT);
	CHECK_INT(scene_add("ab", ALICE), 0);
	CHECK_INT(scene.a.verdict, MUSIC_ALLOWED);
	CHECK_INT(scene.a.place, 1);
	CHECK_STR(scene.a.track.title, "b");
	CHECK_INT(scene.a.track.requester, ALICE);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_PLAY], 1);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_NEXT], 1);
	CHECK_STR(scene.toy.music_path, "a.flac");
	CHECK_INT(jukebox_phase(scene.jukebox), JUKEBOX_OPENING);
	scene.changes = 0;
	scene_tell(1, MEDIA_MUSIC_PHASE_PLAYING, 0, "");
	CHECK_INT(jukebox_phase(scene.jukebox), JUKEBOX_PLAYING);
	CHECK_INT(scene.changes, 1);
	scene_tell(1, MEDIA_MUSIC_PHASE_PLAYING, 960, "");
	CHECK_INT(scene.changes, 1); /* nobody sees a position */
	CHECK_INT(scene_act(MUSIC_ACT_PAUSE, ALICE), 0);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_PAUSE], 1);
	CHECK_INT(jukebox_phase(scene.jukebox), JUKEBOX_PAUSED);
	CHECK_INT(scene_act(MUSIC_ACT_PAUSE, ALICE), EALREADY);
	CHECK_INT(scene_act(MUSIC_ACT_RESUME, ALICE), 0);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_RESUME], 1);
	scene_tell(1, MEDIA_MUSIC_PHASE_ENDED, 48000, "");
	CHECK_STR(scene_queue(), "a|b");
	CHECK_INT(scene_act(MUSIC_ACT_STOP, DJ), 0);
	CHECK_INT(scene.a.n, 1);
	CHECK_STR(scene_queue(), "ab|");
	CHECK_INT(jukebox_phase(scene.jukebox), JUKEBOX_IDLE);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_STOP], 1);
	scene_finish();
}

/* mediad ducks by itself, as it is told. */
TEST(rule_106_a_jukebox_tells_how_music_is_ducked)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(settings_set(scene.settings, "music_duck_gain", "200"), 0);
	CHECK_INT(settings_set(scene.settings, "music_duck_attack_ms", "120"), 0);
	CHECK_INT(settings_set(scene.settings, "music_duck_hold_ms", "900"), 0);
	CHECK_INT(settings_set(scene.settings, "music_duck_release_ms", "1500"), 0);
	CHECK_INT(scene_add("a", ALICE), 0);
	CHECK_INT(scene.toy.music_duck, 200);
	CHECK_INT(scene.toy.music_duck_ms[0], 120);
	CHECK_INT(scene.toy.music_duck_ms[1], 900);
	CHECK_INT(scene.toy.music_duck_ms[2], 1500);
	scene_finish();
}

TEST(a_jukebox_plays_with_the_volume_in_decibels)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("a", ALICE), 0);
	CHECK_INT(scene.toy.music_gain, 1000);
	CHECK_INT(scene.toy.music_fine_gain, 1000000);
	CHECK_INT(scene_request((struct jukebox_request){
			  .act = MUSIC_ACT_VOLUME, .user = DJ, .volume = 500}),
		  0);
	CHECK_INT(music_queue_volume(jukebox_queue(scene.jukebox)), 500);
	CHECK_INT(scene.toy.music_gain, 56); /* -25 dB */
	CHECK_INT(scene.toy.music_fine_gain, 56234);
	scene_finish();
}

TEST(a_jukebox_judges_requests_and_counts_votes)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("abc", ALICE), 0);
	CHECK_INT(scene_act(MUSIC_ACT_PAUSE, BOB), 0);
	CHECK_INT(scene.a.verdict, MUSIC_NEEDS_DJ);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_PAUSE], 0);
	CHECK_INT(jukebox_votes(scene.jukebox).votes, 0);
	CHECK_INT(scene_act(MUSIC_ACT_SKIP, BOB), 0);
	CHECK_INT(jukebox_votes(scene.jukebox).votes, 1);
	CHECK_INT(jukebox_votes(scene.jukebox).needed, 3);
	CHECK_INT(scene.a.verdict, MUSIC_NEEDS_VOTE);
	CHECK_INT(scene.a.tally.votes, 1);
	CHECK_INT(scene.a.tally.needed, 3);
	CHECK_STR(scene_queue(), "|abc");
	/* A vote about a track that is over. */
	CHECK_INT(scene_request((struct jukebox_request){
			  .act = MUSIC_ACT_SKIP, .user = BOB, .entry = 99}),
		  ENOENT);
	/* When most of them leave, the vote passes. */
	scene.n_listeners = 2;
	jukebox_listeners_changed(scene.jukebox);
	CHECK_STR(scene_queue(), "|abc");
	scene.n_listeners = 1;
	jukebox_listeners_changed(scene.jukebox);
	CHECK_STR(scene_queue(), "|abc"); /* Bob has left, too */
	CHECK_INT(scene_act(MUSIC_ACT_SKIP, ALICE), 0);
	CHECK_STR(scene_queue(), "a|bc");
	CHECK_INT(scene_act(MUSIC_ACT_SKIP, 0), 0); /* the bot itself */
	CHECK_STR(scene_queue(), "ab|c");
	CHECK_INT(settings_set(scene.settings, "music_control", "dj"), 0);
	CHECK_INT(scene_add("d", ALICE), 0);
	CHECK_INT(scene.a.verdict, MUSIC_NEEDS_DJ);
	CHECK_STR(scene_queue(), "ab|c");
	scene_finish();
}

/* Back brings the same entry again, and so does a loop. */
TEST(votes_end_with_the_playing_that_they_are_about)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("ab", ALICE), 0);
	for (uint64_t voter = BOB; voter < BOB + 3; voter++)
		CHECK_INT(scene_act(MUSIC_ACT_SKIP, voter), 0);
	CHECK_STR(scene_queue(), "a|b");
	CHECK_INT(scene_act(MUSIC_ACT_PREVIOUS, DJ), 0);
	CHECK_STR(scene_queue(), "|ab");
	CHECK_INT(jukebox_votes(scene.jukebox).votes, 0);
	jukebox_listeners_changed(scene.jukebox);
	CHECK_STR(scene_queue(), "|ab");
	CHECK_INT(scene_act(MUSIC_ACT_SKIP, BOB), 0);
	CHECK_INT(scene.a.tally.votes, 1);
	/* Neither do they wait for the bot to come back. */
	jukebox_leave(scene.jukebox);
	CHECK_INT(jukebox_enter(scene.jukebox, scene.toy.call, CHANNEL), 0);
	CHECK_INT(jukebox_votes(scene.jukebox).votes, 0);
	scene_finish();
}

static int play(const char *title, uint64_t user)
{
	struct track t = local_track(title, 0);

	return scene_request((struct jukebox_request){
		.act = MUSIC_ACT_PLAY, .user = user, .tracks = &t, .n = 1});
}

/* To play at once ends the present track, which needs the right to skip it. */
TEST(playing_at_once_ends_no_track_that_may_not_be_skipped)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("ab", ALICE), 0);
	CHECK_INT(play("c", BOB), 0);
	CHECK_INT(scene.a.verdict, MUSIC_ALLOWED);
	CHECK_INT(scene.a.place, 1);
	CHECK_STR(scene.a.track.title, "c");
	CHECK_STR(scene_queue(), "|acb");
	CHECK_INT(play("d", ALICE), 0); /* her own */
	CHECK_INT(scene.a.place, 0);
	CHECK_STR(scene_queue(), "a|dcb");
	CHECK_INT(play("e", DJ), 0);
	CHECK_STR(scene_queue(), "ad|ecb");
	CHECK_INT(play("f", BOB), 0);	     /* the DJ's */
	CHECK_STR(scene_queue(), "ad|ecbf"); /* c is before the others' already */
	CHECK_INT(play("g", 0), 0);	     /* the bot itself */
	CHECK_INT(play("h", BOB), 0);	     /* everyone's */
	CHECK_STR(scene_queue(), "adeg|hcbf");
	CHECK_INT(settings_set(scene.settings, "music_control", "everyone"), 0);
	CHECK_INT(play("i", ALICE), 0);
	CHECK_STR(scene_queue(), "adegh|icbf");
	scene_finish();
}

/* The first of a list takes the place of the member's own track, and the turn ends with it. */
TEST(a_list_played_at_once_passes_nobody)
{
	struct track t[3] = {local_track("x", 0), local_track("y", 0), local_track("z", 0)};
	struct jukebox_request list = {.act = MUSIC_ACT_PLAY, .user = ALICE, .tracks = t, .n = 3};

	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("a", ALICE), 0);
	CHECK_INT(scene_add("b", BOB), 0);
	CHECK_INT(scene_request(list), 0);
	CHECK_STR(scene_queue(), "a|xbyz");
	CHECK_INT(scene.a.n, 3);
	CHECK_INT(scene.a.place, 0);
	CHECK_INT(play("d", ALICE), 0);
	CHECK_STR(scene_queue(), "a|xbyzd");
	CHECK_INT(scene.a.place, 4);
	list.act = MUSIC_ACT_QUEUE_ADD; /* next */
	list.n = 1;
	CHECK_INT(scene_request(list), 0);
	CHECK_STR(scene_queue(), "a|xbyzdx");
	CHECK_INT(scene_act(MUSIC_ACT_SKIP, ALICE), 0);
	CHECK_STR(scene_queue(), "ax|byzdx");
	list.user = DJ;
	list.act = MUSIC_ACT_PLAY;
	list.n = 3;
	CHECK_INT(scene_request(list), 0);
	CHECK_STR(scene_queue(), "axb|xyzyzdx");
	scene_finish();
}

TEST(a_jukebox_tells_of_tracks_that_fail)
{
	struct track t = local_track("page", 0);

	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("ab", ALICE), 0);
	scene_tell(1, MEDIA_MUSIC_PHASE_FAILED, 0, "the file does not exist");
	CHECK_INT(scene.failures, 1);
	CHECK_STR(scene.failed, "a");
	CHECK_STR(scene.reason, "the file does not exist");
	CHECK_STR(scene_queue(), "|b");
	/* A page that nobody has resolved. */
	t.source = TRACK_YOUTUBE;
	CHECK_INT(scene_request((struct jukebox_request){
			  .act = MUSIC_ACT_PLAY, .user = ALICE, .tracks = &t, .n = 1}),
		  0);
	CHECK_INT(scene.failures, 2);
	CHECK_STR(scene.failed, "page");
	/* Without a downloader that is no fault of the track: it stays. */
	CHECK(scene.halted);
	CHECK_STR(scene_queue(), "b|p");
	scene_finish();
}

TEST(a_jukebox_halts_where_one_track_after_another_fails)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("abdefghi", ALICE), 0);
	for (uint32_t music = 1; !scene.halted && music < 20; music++)
		scene_tell(music, MEDIA_MUSIC_PHASE_FAILED, 0, "");
	CHECK(scene.halted);
	CHECK_INT(jukebox_phase(scene.jukebox), JUKEBOX_HALTED);
	CHECK_INT(scene_add("j", ALICE), 0);
	CHECK_INT(jukebox_phase(scene.jukebox), JUKEBOX_OPENING);
	scene_finish();
}

TEST(a_jukebox_goes_on_when_mediad_is_back)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("a", ALICE), 0);
	scene_tell(1, MEDIA_MUSIC_PHASE_PLAYING, 96960, "");
	toy_gone(&scene.toy);
	toy_settle(&scene.toy);
	CHECK_INT(toy_listen(&scene.toy), 0);
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_PLAY, 2));
	CHECK_INT(scene.toy.music_start, 96960);
	scene_finish();
}

/* As the control before this one saved it: a plays as number 3, and b is prepared as 4. */
static json_t *kept_queue(uint64_t channel, const char *letters)
{
	struct music_queue *q = NULL;
	json_t *kept = json_object();
	char *text;

	if (music_queue_alloc(&q, GUILD, channel) == 0 && add_letters(q, letters, BOB) == 0)
		music_queue_set_playing(q, 3, 4);
	music_queue_set_volume(q, 400);
	text = music_queue_write(q);
	json_object_set_new(kept, "77", json_loads(text, 0, NULL));
	free(text);
	music_queue_free(q);
	return kept;
}

TEST(a_jukebox_claims_what_plays_on)
{
	json_t *kept = kept_queue(CHANNEL, "ab");

	memset(&scene, 0, sizeof scene);
	CHECK(toy_up_with_call(&scene.toy));
	CHECK_INT(scene_make(kept), 0);
	CHECK_INT(jukebox_enter(scene.jukebox, scene.toy.call, CHANNEL), 0);
	media_call_set_handler(scene.toy.call, scene_on_call, NULL);
	scene_tell(3, MEDIA_MUSIC_PHASE_PLAYING, 48000, "");
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_CLAIM], 1);
	toy_state(&scene.toy, scene.toy.call_id, 0, 100, MEDIA_PHASE_UP, false);
	toy_settle(&scene.toy);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_PLAY], 0);
	CHECK_INT(music_queue_position(jukebox_queue(scene.jukebox)), 48000);
	CHECK_STR(scene_queue(), "|ab");
	scene_finish();
	json_decref(kept);
}

TEST(a_jukebox_leaves_and_comes_back)
{
	json_t *kept = kept_queue(CHANNEL, "ab");
	struct music_queue *q;

	CHECK(jukebox_scene_begin(kept));
	CHECK_STR(scene_queue(), "|ab");
	/* A move takes the music along. */
	CHECK_INT(jukebox_enter(scene.jukebox, scene.toy.call, 5), 0);
	CHECK_INT(music_queue_channel(jukebox_queue(scene.jukebox)), 5);
	jukebox_leave(scene.jukebox);
	CHECK_INT(jukebox_phase(scene.jukebox), JUKEBOX_IDLE);
	CHECK_INT(scene_act(MUSIC_ACT_RESUME, DJ), ENOTCONN);
	CHECK_INT(jukebox_enter(scene.jukebox, scene.toy.call, 5), 0);
	CHECK_STR(scene_queue(), "|ab");
	CHECK_INT(jukebox_phase(scene.jukebox), JUKEBOX_PAUSED);
	jukebox_leave(scene.jukebox);
	/* In another channel there is a new queue, as loud as the last one. */
	CHECK_INT(jukebox_enter(scene.jukebox, scene.toy.call, 6), 0);
	CHECK_STR(scene_queue(), "|");
	CHECK_INT(music_queue_volume(jukebox_queue(scene.jukebox)), 400);
	CHECK_INT(scene_add("c", ALICE), 0);
	scene.jukebox = jukebox_free(scene.jukebox);
	media_call_set_handler(scene.toy.call, toy_on_call, &scene.toy);
	q = queue_shelf_take(scene.shelf, GUILD);
	CHECK_STR(spell_queue(q), "|c");
	CHECK(!queue_shelf_take(scene.shelf, GUILD));
	music_queue_free(q);
	scene_finish();
	json_decref(kept);
}

/* Buttons of a message about an earlier queue name its track. */
TEST(no_track_of_a_server_has_the_id_of_an_earlier_one)
{
	uint32_t first;

	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("ab", ALICE), 0);
	first = music_queue_present(jukebox_queue(scene.jukebox))->id;
	jukebox_leave(scene.jukebox);
	CHECK_INT(jukebox_enter(scene.jukebox, scene.toy.call, 5), 0);
	CHECK_INT(scene_add("c", ALICE), 0);
	jukebox_leave(scene.jukebox);
	CHECK_INT(jukebox_enter(scene.jukebox, scene.toy.call, CHANNEL), 0);
	CHECK_INT(scene_add("d", ALICE), 0);
	CHECK_INT(music_queue_present(jukebox_queue(scene.jukebox))->id, first + 3);
	scene_finish();
}

static bool is_saved(void)
{
	return scene.jukebox->saved_revision == music_queue_revision(scene.jukebox->queue);
}

/* A member who presses a button again and again has a document of half a megabyte written. */
TEST(a_long_queue_is_not_saved_with_each_change)
{
	static struct track tracks[MUSIC_QUEUE_WAITING];
	unsigned saves = 0;
	uint64_t last;

	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("a", ALICE), 0);
	CHECK(is_saved()); /* a short one is, at once */
	for (unsigned i = 0; i < MUSIC_QUEUE_WAITING; i++) {
		tracks[i].source = TRACK_URL;
		memset(tracks[i].reference, 'x', sizeof tracks[i].reference - 1);
	}
	CHECK_INT(scene_request((struct jukebox_request){.act = MUSIC_ACT_PLAY,
							 .user = DJ,
							 .tracks = tracks,
							 .n = MUSIC_QUEUE_WAITING}),
		  0);
	for (unsigned i = 0; i < 200 && !is_saved(); i++)
		toy_settle(&scene.toy);
	CHECK(is_saved());
	last = scene.jukebox->saved_revision;
	for (unsigned i = 0; i < 10; i++) {
		CHECK_INT(scene_act(MUSIC_ACT_SHUFFLE, DJ), 0);
		saves += scene.jukebox->saved_revision != last;
		last = scene.jukebox->saved_revision;
	}
	CHECK(saves <= 1 && !is_saved());
	scene_finish();
}

/* All is told before it may be saved: on a slow machine it would be saved then. */
TEST(the_last_change_of_a_queue_is_saved_although_nothing_follows)
{
	struct jukebox *j;

	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("abc", ALICE), 0);
	j = scene.jukebox;
	j->queue_due = UINT64_MAX;
	CHECK_INT(scene_act(MUSIC_ACT_SHUFFLE, DJ), 0);
	for (unsigned i = 0; i < 200 && j->told.revision != music_queue_revision(j->queue); i++)
		toy_settle(&scene.toy);
	CHECK(j->told.revision == music_queue_revision(j->queue) && !is_saved());
	j->queue_due = env_now(j->conf.env) + 200 * NS_PER_MS;
	jukebox_settle(j);
	/* 3 s: later the call's state comes again, and what it changes is saved with the rest. */
	for (unsigned i = 0; i < 100 && !is_saved(); i++)
		toy_settle(&scene.toy);
	CHECK(is_saved());
	scene_finish();
}

TEST(a_jukebox_and_the_shelf_forget_a_requester)
{
	json_t *kept = kept_queue(CHANNEL, "ab");
	struct queue_shelf *shelf = NULL;
	struct music_queue *q;

	CHECK(jukebox_scene_begin(kept));
	jukebox_forget(scene.jukebox, BOB);
	CHECK_INT(music_queue_at(jukebox_queue(scene.jukebox), 1)->requester, 0);
	scene_finish();
	CHECK_INT(queue_shelf_alloc(&shelf, kept), 0);
	queue_shelf_put(shelf, 42, "damaged");
	queue_shelf_forget(shelf, BOB);
	queue_shelf_forget(NULL, BOB);
	CHECK(!queue_shelf_take(shelf, 42));
	q = queue_shelf_take(shelf, GUILD);
	CHECK(q);
	CHECK_INT(music_queue_at(q, 0)->requester, 0);
	music_queue_free(q);
	queue_shelf_free(shelf);
	json_decref(kept);
}

TEST(held_music_is_quiet_and_not_paused)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("a", ALICE), 0);
	scene_tell(1, MEDIA_MUSIC_PHASE_PLAYING, 960, "");
	jukebox_hold(scene.jukebox, true);
	toy_settle(&scene.toy);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_PAUSE], 1);
	CHECK_INT(jukebox_phase(scene.jukebox), JUKEBOX_PLAYING);
	jukebox_hold(scene.jukebox, false);
	toy_settle(&scene.toy);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_RESUME], 1);
	scene_finish();
}

TEST(tracks_cross_over_but_not_inside_an_album)
{
	struct track t[3] = {local_track("x", 0), local_track("y", 0), local_track("z", 0)};
	struct jukebox_request r = {.act = MUSIC_ACT_PLAY, .user = ALICE, .tracks = t, .n = 3};

	CHECK(jukebox_scene_begin(NULL));
	snprintf(t[1].album, sizeof t[1].album, "One");
	snprintf(t[2].album, sizeof t[2].album, "One");
	CHECK_INT(scene_add("ab", ALICE), 0);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_NEXT], 1);
	CHECK_INT(scene.toy.music_crossfade_ms, 0);
	CHECK_INT(settings_set(scene.settings, "music_crossfade_ms", "4000"), 0);
	CHECK_INT(scene_request(r), 0);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_NEXT], 2);
	CHECK_INT(scene.toy.music_crossfade_ms, 4000);
	CHECK_INT(scene_act(MUSIC_ACT_SKIP, ALICE), 0);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_NEXT], 3);
	CHECK_INT(scene.toy.music_crossfade_ms, 0);
	scene_finish();
}

static void tell_seekable(uint32_t music, bool seekable)
{
	toy_send(&scene.toy, (struct media_msg){.type = MEDIA_MUSIC_STATE,
						.music_state = {.call = scene.toy.call_id,
								.music = music,
								.phase = MEDIA_MUSIC_PHASE_PLAYING,
								.position = 960,
								.seekable = seekable,
								.failure = slice_str(""),
								.text = slice_str("")}});
	toy_settle(&scene.toy);
}

/* mediad would play on where it is, while the answer names another place. */
TEST(a_place_is_refused_in_music_without_one)
{
	const struct jukebox_request seek = {
		.act = MUSIC_ACT_SEEK, .user = ALICE, .position = 50 * MUSIC_FRAMES_PER_S};

	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("ab", ALICE), 0);
	tell_seekable(1, false);
	CHECK_INT(scene_request(seek), ENOTSUP);
	CHECK_INT(music_queue_position(jukebox_queue(scene.jukebox)), 960);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_SEEK], 0);
	tell_seekable(1, true);
	CHECK_INT(scene_request(seek), 0);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_SEEK], 1);
	/* The next one is not known yet. */
	tell_seekable(1, false);
	CHECK_INT(scene_act(MUSIC_ACT_SKIP, ALICE), 0);
	CHECK_INT(scene_request(seek), 0);
	scene_finish();
}

TEST(a_place_past_the_end_is_refused)
{
	struct jukebox_request seek = {.act = MUSIC_ACT_SEEK, .user = ALICE};

	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("a", ALICE), 0);
	toy_send(&scene.toy, (struct media_msg){.type = MEDIA_MUSIC_STATE,
						.music_state = {.call = scene.toy.call_id,
								.music = 1,
								.phase = MEDIA_MUSIC_PHASE_PLAYING,
								.position = 960,
								.duration = 60 * MUSIC_FRAMES_PER_S,
								.seekable = true,
								.failure = slice_str(""),
								.text = slice_str("")}});
	toy_settle(&scene.toy);
	seek.position = 61 * MUSIC_FRAMES_PER_S;
	CHECK_INT(scene_request(seek), ERANGE);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_SEEK], 0);
	seek.position = 59 * MUSIC_FRAMES_PER_S;
	CHECK_INT(scene_request(seek), 0);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_SEEK], 1);
	scene_finish();
}

TEST(a_member_has_a_share_of_the_queue)
{
	struct track t[3] = {local_track("x", 0), local_track("y", 0), local_track("z", 0)};
	struct jukebox_request list = {.act = MUSIC_ACT_QUEUE_ADD,
				       .user = BOB,
				       .tracks = t,
				       .n = 3,
				       .place = MUSIC_QUEUE_END};

	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(settings_set(scene.settings, "music_share", "3"), 0);
	CHECK_INT(scene_add("abc", ALICE), 0);
	CHECK_INT(scene_add("d", ALICE), EDQUOT);
	CHECK_INT(scene_add("e", BOB), 0);
	CHECK_INT(scene_request(list), 0); /* of a list as much as there is left */
	CHECK_INT(scene.a.n, 2);
	CHECK_STR(scene_queue(), "|abcexy");
	CHECK_INT(scene_add("fghi", DJ), 0);
	/* The track that is ended makes place for its successor. */
	list = (struct jukebox_request){.act = MUSIC_ACT_PLAY, .user = ALICE, .tracks = t, .n = 3};
	CHECK_INT(scene_request(list), 0);
	CHECK_INT(scene.a.n, 1);
	CHECK_INT(settings_set(scene.settings, "music_share", "0"), 0);
	CHECK_INT(scene_add("jkl", ALICE), 0);
	scene_finish();
}

TEST(a_long_list_fills_the_queue)
{
	static struct track list[MUSIC_QUEUE_WAITING + 9];
	struct jukebox_request r = {.act = MUSIC_ACT_QUEUE_ADD,
				    .user = ALICE,
				    .tracks = list,
				    .n = sizeof list / sizeof list[0],
				    .place = MUSIC_QUEUE_END};

	for (size_t i = 0; i < r.n; i++)
		list[i] = local_track("l", 0);
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(settings_set(scene.settings, "music_share", "0"), 0);
	CHECK_INT(scene_add("ab", ALICE), 0);
	CHECK_INT(scene.a.n, 1);
	CHECK_INT(scene_request(r), 0);
	CHECK_INT(scene.a.n, MUSIC_QUEUE_WAITING - 2);
	CHECK_INT(scene.a.place, 2);
	CHECK_INT(music_queue_count(jukebox_queue(scene.jukebox)), MUSIC_QUEUE_WAITING);
	CHECK_INT(scene_request(r), ENOSPC);
	r.n = 0;
	CHECK_INT(scene_request(r), EINVAL);
	scene_finish();
}

TEST(tags_and_titles_of_a_source_are_shown)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("a", ALICE), 0);
	toy_send(&scene.toy, (struct media_msg){.type = MEDIA_MUSIC_TAGS,
						.music_tags = {.call = scene.toy.call_id,
							       .music = 1,
							       .title = slice_str("other"),
							       .artist = slice_str("Ann"),
							       .album = slice_str("")}});
	toy_send(&scene.toy, (struct media_msg){.type = MEDIA_MUSIC_TITLE,
						.music_title = {.call = scene.toy.call_id,
								.music = 1,
								.title = slice_str("News")}});
	toy_settle(&scene.toy);
	CHECK_STR(music_queue_present(jukebox_queue(scene.jukebox))->title, "a");
	CHECK_STR(music_queue_present(jukebox_queue(scene.jukebox))->artist, "Ann");
	CHECK_STR(jukebox_title(scene.jukebox), "News");
	CHECK_INT(scene_act(MUSIC_ACT_SKIP, ALICE), 0);
	CHECK(!jukebox_title(scene.jukebox));
	scene_finish();
}

static void finish_bare(void)
{
	jukebox_free(scene.jukebox);
	queue_shelf_free(scene.shelf);
	settings_free(scene.settings);
	env_free(scene.toy.env);
}

TEST_OOM(a_jukebox_survives_a_lack_of_memory)
{
	const struct env_conf ec = {.loop = true};
	struct track tracks[2] = {local_track("a", 0), local_track("b", 0)};
	struct jukebox_request r = {.act = MUSIC_ACT_PLAY, .user = ALICE, .tracks = tracks, .n = 2};
	struct media_call call = {0}; /* mediad knows nothing of it */
	int err;

	memset(&scene, 0, sizeof scene);
	err = env_alloc(&scene.toy.env, &ec);
	CHECK_OOM(err, finish_bare());
	err = scene_make(NULL);
	CHECK_OOM(err, finish_bare());
	err = jukebox_enter(scene.jukebox, &call, CHANNEL);
	CHECK_OOM(err, finish_bare());
	err = jukebox_do(scene.jukebox, &r, &scene.a);
	CHECK_OOM(err, finish_bare());
	CHECK_STR(scene_queue(), "|ab");
	jukebox_leave(scene.jukebox);
	finish_bare();
}
