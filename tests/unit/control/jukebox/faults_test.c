/* Music that fails without anybody's fault, and members who could have all of it to themselves. */
#include "control/media/call.h"
#include "tests/unit/control/jukebox/jukebox_scene.h"

/* A decoder that is missing would eat the queue otherwise. */
TEST(a_failure_of_the_machine_keeps_the_track_and_halts_at_once)
{
	static const char *const names[] = {"no_decoder", "no_jail", "no_process", "lost"};
	uint32_t music = 1;

	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("ab", ALICE), 0);
	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
		/* Neither is the prepared one to blame: it is tried in its turn. */
		scene_tell_failed(music + 1, names[i], "why");
		CHECK_STR(scene_queue(), "|ab");
		CHECK(!scene.halted);
		scene_tell(music, MEDIA_MUSIC_PHASE_PLAYING, 48000, "");
		scene_tell_failed(music, names[i], "why");
		CHECK_STR(scene_queue(), "|ab");
		CHECK_INT(jukebox_phase(scene.jukebox), JUKEBOX_HALTED);
		CHECK_INT(scene.failures, i + 1);
		CHECK(scene.halted);
		CHECK_STR(scene.reason, "why");
		scene.halted = false;
		CHECK_INT(scene_act(MUSIC_ACT_RESUME, ALICE), 0);
		music += 2;
		CHECK_INT(scene.toy.count[MEDIA_MUSIC_PLAY], i + 2);
		CHECK_INT(scene.toy.music_start, 48000);
	}
	scene_finish();
}

/* mediad goes on with the prepared one by itself, and must not while the player is halted. */
TEST(nothing_plays_behind_a_failure_of_the_machine)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("ab", ALICE), 0);
	scene_tell_failed(1, "no_process", "");
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_STOP], 1);
	CHECK_STR(scene_queue(), "|ab");
	scene_finish();
}

/* Its server knows no ranges: a file of the web that was left in its middle begins again. */
TEST(a_track_that_cannot_begin_in_its_middle_begins_at_its_start)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("ab", ALICE), 0);
	scene_tell(1, MEDIA_MUSIC_PHASE_PLAYING, 96960, "");
	toy_gone(&scene.toy);
	toy_settle(&scene.toy);
	CHECK_INT(toy_listen(&scene.toy), 0);
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_PLAY, 2));
	CHECK_INT(scene.toy.music_start, 96960);
	scene_tell_failed(3, "not_seekable", "");
	CHECK_INT(scene.failures, 0);
	CHECK_STR(scene_queue(), "|ab");
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_PLAY], 3);
	CHECK_INT(scene.toy.music_start, 0);
	/* One that cannot begin at its start, either, has failed. */
	scene_tell_failed(5, "not_seekable", "");
	CHECK_STR(scene_queue(), "|b");
	CHECK_INT(scene.failures, 1);
	scene_finish();
}

/* Five dead addresses of one member would be enough to silence everyone. */
TEST(the_failures_of_one_member_do_not_halt_the_music_of_others)
{
	unsigned n = 0;

	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("abcdefgh", BOB), 0);
	CHECK_INT(scene_add("x", ALICE), 0);
	for (uint32_t music = 1; music < 40 && n < 5; music++) {
		const struct track *t = music_queue_present(jukebox_queue(scene.jukebox));

		if (t->requester == ALICE)
			break;
		scene.failures = 0;
		scene_tell_failed(music, "http_error", "");
		n += scene.failures;
	}
	/* What waits of the member stays. */
	CHECK_STR(scene_queue(), "|xfgh");
	CHECK_INT(music_queue_present(jukebox_queue(scene.jukebox))->requester, ALICE);
	CHECK(!scene.halted);
	scene_finish();
}

/* A network that is down is no reason to lose what people have gathered, nor is a host of many
 * servers that is restarted. */
TEST(servers_that_are_not_reached_leave_the_queue_as_it_was)
{
	static const char *const names[] = {"unreachable", "overloaded", "stalled"};

	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
		CHECK(jukebox_scene_begin(NULL));
		CHECK_INT(scene_add("abc", BOB), 0);
		CHECK_INT(scene_add("x", ALICE), 0);
		for (uint32_t music = 1; music < 40 && !scene.halted; music++)
			scene_tell_failed(music, names[i], "");
		CHECK(scene.halted);
		CHECK_STR(scene_queue(), "|abcx");
		/* Each of them is told, as it was tried. */
		CHECK_INT(scene.failures, 4);
		CHECK_INT(scene_act(MUSIC_ACT_RESUME, BOB), 0);
		CHECK_STR(scene_queue(), "|abcx");
		CHECK_INT(jukebox_phase(scene.jukebox), JUKEBOX_OPENING);
		scene_finish();
	}
}

/* It is tried again while the present one plays, and may be reached by then. */
TEST(a_server_that_is_not_reached_ahead_is_told_in_its_turn)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("abc", ALICE), 0);
	scene_tell_failed(2, "unreachable", "why");
	scene_tell(1, MEDIA_MUSIC_PHASE_PLAYING, 480000, "");
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_NEXT], 2);
	scene_tell_failed(3, "unreachable", "why");
	CHECK_INT(scene.failures, 0);
	CHECK_STR(scene_queue(), "|abc");
	scene_tell(1, MEDIA_MUSIC_PHASE_ENDED, 481000, "");
	CHECK_INT(scene.failures, 0);
	scene_tell_failed(4, "unreachable", "why");
	CHECK_INT(scene.failures, 1);
	CHECK_STR(scene.failed, "b");
	CHECK_STR(scene.reason, "why");
	CHECK_STR(scene_queue(), "a|cb");
	scene_finish();
}

static int add_of(enum track_source source, unsigned root)
{
	struct track t = local_track("m", 0);

	t.source = source;
	t.root = (uint16_t)root;
	return scene_request((struct jukebox_request){.act = MUSIC_ACT_QUEUE_ADD,
						      .user = ALICE,
						      .tracks = &t,
						      .n = 1,
						      .place = MUSIC_QUEUE_END});
}

/* It would be told to play, and then that it cannot. */
TEST(music_that_mediad_lacks_is_refused_before_it_plays)
{
	const struct media_folder folders[] = {{1, 2}, {0, 0}};

	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(add_of(TRACK_LOCAL, 7), 0); /* an older mediad tells nothing */
	toy_decoders(&scene.toy, true, folders, 2);
	CHECK_INT(add_of(TRACK_LOCAL, 0), 0);
	CHECK_INT(add_of(TRACK_URL, 0), 0);
	CHECK_INT(add_of(TRACK_LOCAL, 1), ENXIO); /* it cannot open that */
	CHECK_INT(add_of(TRACK_LOCAL, 2), ENXIO);
	CHECK_STR(scene_queue(), "|mmm");
	toy_fault(&scene.toy, MEDIA_FAULT_NO_DECODERS);
	toy_settle(&scene.toy);
	CHECK_INT(add_of(TRACK_URL, 0), ENODEV);
	CHECK_INT(add_of(TRACK_LOCAL, 0), ENODEV);
	toy_decoders(&scene.toy, true, folders, 0); /* started with --decoderd alone */
	CHECK_INT(add_of(TRACK_URL, 0), 0);
	CHECK_INT(add_of(TRACK_LOCAL, 0), ENXIO);
	toy_decoders(&scene.toy, false, folders, 0);
	CHECK_INT(add_of(TRACK_URL, 0), ENODEV);
	CHECK_STR(scene_queue(), "|mmmm");
	scene_finish();
}

/* A playlist may name any address: this one is refused in its turn, by the rules of both halves. */
TEST(an_address_that_neither_half_reads_takes_its_turn)
{
	CHECK(jukebox_scene_begin(NULL));
	toy_addresses(&scene.toy, "");
	CHECK_INT(add_of(TRACK_URL, 0), 0);
	CHECK_STR(scene_queue(), "|m");
	scene_finish();
}

/* control passes folders and addresses to a mediad that it starts: nobody else can. */
TEST(a_hint_about_music_is_about_how_mediad_was_started)
{
	struct media_link *links[] = {NULL};
	struct media m = {.links = links, .n_links = 1};

	CHECK(strstr(media_find_hint(&m, NULL, MEDIA_MUSIC_LACKS_DECODERS), "--decoderd PROGRAM"));
	CHECK(strstr(media_find_hint(&m, NULL, MEDIA_MUSIC_LACKS_ADDRESS), "--music-address"));
	m.n_folders = 1;
	CHECK(strstr(media_find_hint(&m, NULL, MEDIA_MUSIC_LACKS_DECODERS), "--music-root DIR"));
	CHECK(strstr(media_find_hint(&m, NULL, MEDIA_MUSIC_LACKS_FOLDER), "--music-root DIR"));
	m.spawned = (struct child *)&m;
	for (unsigned i = MEDIA_MUSIC_LACKS_DECODERS; i <= MEDIA_MUSIC_LACKS_ADDRESS; i++)
		CHECK(!strstr(media_find_hint(&m, NULL, i), "start mediad with"));
}

/* Who has read that it failed would read the same words again. */
TEST(a_track_that_has_waited_in_vain_is_told_to_have_left)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("abc", ALICE), 0);
	scene_tell_failed(1, "unreachable", "why");
	CHECK_INT(scene.failures, 1);
	CHECK_INT(scene.failure, JUKEBOX_WAITS);
	CHECK_STR(scene_queue(), "|bca");
	scene_tell(2, MEDIA_MUSIC_PHASE_PLAYING, 48000, "");
	scene_tell(2, MEDIA_MUSIC_PHASE_ENDED, 96000, "");
	scene_tell(3, MEDIA_MUSIC_PHASE_ENDED, 96000, "");
	CHECK_INT(scene.failures, 1);
	scene_tell_failed(4, "unreachable", "why");
	CHECK_INT(scene.failures, 2);
	CHECK_INT(scene.failure, JUKEBOX_GIVEN_UP);
	CHECK_STR(scene.failed, "a");
	CHECK_STR(scene_queue(), "bc|");
	/* The next one has not waited. */
	CHECK_INT(scene_add("d", ALICE), 0);
	scene_tell_failed(5, "unreachable", "why");
	CHECK_INT(scene.failure, JUKEBOX_REMOVED);
	scene_finish();
}

static struct track station(const char *title)
{
	struct track t = local_track(title, 0);

	t.source = TRACK_RADIO;
	t.duration_ms = 0;
	return t;
}

static void tell_length(uint32_t music, uint64_t duration, bool seekable)
{
	toy_send(&scene.toy, (struct media_msg){.type = MEDIA_MUSIC_STATE,
						.music_state = {.call = scene.toy.call_id,
								.music = music,
								.phase = MEDIA_MUSIC_PHASE_PLAYING,
								.position = 96000,
								.duration = duration,
								.seekable = seekable}});
	toy_settle(&scene.toy);
}

/* A playlist says nothing of its files' lengths. */
TEST(a_station_that_has_an_end_is_a_file)
{
	const struct track t[] = {station("a"), station("b")};
	const struct track *present;

	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_request((struct jukebox_request){
			  .act = MUSIC_ACT_PLAY, .user = ALICE, .tracks = t, .n = 2}),
		  0);
	present = music_queue_present(jukebox_queue(scene.jukebox));
	tell_length(1, 0, true);
	CHECK_INT(present->source, TRACK_RADIO);
	tell_length(1, 4800000, false);
	CHECK_INT(present->source, TRACK_RADIO);
	tell_length(1, 4800000, true);
	CHECK_INT(present->source, TRACK_URL);
	CHECK_INT(present->duration_ms, 100000);
	CHECK_INT(music_queue_at(jukebox_queue(scene.jukebox), 1)->source, TRACK_RADIO);
	/* So it goes on where it was. */
	toy_gone(&scene.toy);
	toy_settle(&scene.toy);
	CHECK_INT(toy_listen(&scene.toy), 0);
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_PLAY, 2));
	CHECK_INT(scene.toy.music_start, 96000);
	scene_finish();
}

/* Only the source tells whether it is one. What was prepared of it would be heard as old as it has
 * waited, so it is opened again in its turn. */
TEST(what_a_playlist_gives_no_length_is_a_station_if_its_source_has_no_end)
{
	struct track t[] = {station("a"), station("b"), station("c")};
	const struct music_queue *q;

	t[0].source = t[1].source = t[2].source = TRACK_URL;
	t[0].may_be_live = t[1].may_be_live = true;
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_request((struct jukebox_request){
			  .act = MUSIC_ACT_PLAY, .user = ALICE, .tracks = t, .n = 3}),
		  0);
	q = jukebox_queue(scene.jukebox);
	scene_tell(1, MEDIA_MUSIC_PHASE_OPENING, 0, "");
	CHECK_INT(music_queue_at(q, 0)->source, TRACK_URL);
	tell_length(1, 4800000, false);
	CHECK_INT(music_queue_at(q, 0)->source, TRACK_URL);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_NEXT], 1);
	scene_tell(2, MEDIA_MUSIC_PHASE_READY, 0, "");
	CHECK_INT(music_queue_at(q, 1)->source, TRACK_RADIO);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_NEXT], 2);
	scene_tell(1, MEDIA_MUSIC_PHASE_ENDED, 4800000, "");
	CHECK_STR(scene_queue(), "a|bc");
	scene_tell(4, MEDIA_MUSIC_PHASE_PLAYING, 48000, "");
	/* A file of which nothing tells the length is none. */
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_NEXT], 3);
	scene_tell(5, MEDIA_MUSIC_PHASE_READY, 0, "");
	CHECK_INT(music_queue_at(q, 1)->source, TRACK_URL);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_NEXT], 3);
	scene_finish();
}

/* It was told as done. */
TEST(a_seek_that_fails_is_told)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("ab", ALICE), 0);
	scene_tell(1, MEDIA_MUSIC_PHASE_PLAYING, 48000, "");
	CHECK_INT(scene.unsought, 0);
	toy_send(&scene.toy,
		 (struct media_msg){.type = MEDIA_MUSIC_STATE,
				    .music_state = {.call = scene.toy.call_id,
						    .music = 1,
						    .phase = MEDIA_MUSIC_PHASE_PLAYING,
						    .position = 96000,
						    .failure = slice_str("stalled"),
						    .text = slice_str("the source is too slow")}});
	toy_settle(&scene.toy);
	CHECK_INT(scene.unsought, 1);
	CHECK_STR(scene.failed, "a");
	CHECK_STR(scene.reason, "the source is too slow");
	CHECK_INT(scene.failures, 0);
	CHECK_STR(scene_queue(), "|ab");
	scene_finish();
}

/* Tracks that follow each other may play for hours. */
TEST(rule_106_a_jukebox_tells_how_music_is_ducked_from_now_on)
{
	CHECK(jukebox_scene_begin(NULL));
	jukebox_settings(scene.jukebox);
	CHECK_INT(scene_add("ab", ALICE), 0);
	CHECK_INT(settings_set(scene.settings, "music_duck_gain", "400"), 0);
	jukebox_settings(scene.jukebox);
	toy_settle(&scene.toy);
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_PLAY], 1);
	CHECK_INT(scene.toy.music_duck, 400);
	CHECK_INT(scene.toy.music_gain, 1000);
	scene_finish();
}

/* Two artists may each have an album of that name; one of many artists lies in one folder. */
TEST(an_album_of_that_name_is_crossed_into)
{
	static const char *const paths[][2] = {{"x/1.mp3", "y/2.mp3"}, {"z/1.mp3", "z/2.mp3"}};

	for (unsigned i = 0; i < 2; i++) {
		struct track t[2] = {local_track("x", 0), local_track("y", 0)};

		for (unsigned k = 0; k < 2; k++) {
			snprintf(t[k].album, sizeof t[k].album, "Greatest Hits");
			snprintf(t[k].artist, sizeof t[k].artist, "%u", k);
			snprintf(t[k].reference, sizeof t[k].reference, "%s", paths[i][k]);
		}
		CHECK(jukebox_scene_begin(NULL));
		CHECK_INT(settings_set(scene.settings, "music_crossfade_ms", "4000"), 0);
		CHECK_INT(scene_request((struct jukebox_request){
				  .act = MUSIC_ACT_PLAY, .user = ALICE, .tracks = t, .n = 2}),
			  0);
		CHECK_INT(scene.toy.music_crossfade_ms, i ? 0 : 4000);
		scene_finish();
	}
}

static void tell_title(uint32_t music, const char *title)
{
	toy_send(&scene.toy, (struct media_msg){.type = MEDIA_MUSIC_TITLE,
						.music_title = {.call = scene.toy.call_id,
								.music = music,
								.title = slice_str(title)}});
	toy_settle(&scene.toy);
}

static void tell_tags(uint32_t music, const char *artist, const char *title)
{
	toy_send(&scene.toy, (struct media_msg){.type = MEDIA_MUSIC_TAGS,
						.music_tags = {.call = scene.toy.call_id,
							       .music = music,
							       .title = slice_str(title),
							       .artist = slice_str(artist),
							       .album = slice_str("")}});
	toy_settle(&scene.toy);
}

TEST(a_title_of_what_is_prepared_leaves_that_of_the_present)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("ab", ALICE), 0);
	tell_title(1, "x");
	tell_title(2, "y");
	CHECK_STR(jukebox_title(scene.jukebox), "x");
	tell_title(99, "z");
	CHECK_STR(jukebox_title(scene.jukebox), "x");
	tell_title(1, "w");
	CHECK_STR(jukebox_title(scene.jukebox), "w");
	CHECK_INT(scene_act(MUSIC_ACT_SKIP, ALICE), 0);
	CHECK_STR(jukebox_title(scene.jukebox), "y");
	scene_finish();
}

/* Ogg has no titles beside the tags of its songs. */
TEST(the_tags_of_a_station_are_those_of_a_song)
{
	const struct track t[] = {station("Paradise"), station("")};
	const struct track *present;

	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_request((struct jukebox_request){
			  .act = MUSIC_ACT_PLAY, .user = ALICE, .tracks = t, .n = 2}),
		  0);
	present = music_queue_present(jukebox_queue(scene.jukebox));
	tell_tags(1, "Ann", "Song");
	CHECK_STR(present->artist, "");
	CHECK_STR(jukebox_title(scene.jukebox), "Ann - Song");
	/* It proves to be a file. */
	tell_length(1, 4800000, true);
	CHECK_STR(present->artist, "Ann");
	CHECK_STR(present->title, "Paradise");
	CHECK(!jukebox_title(scene.jukebox));
	scene_finish();
}

static int add_next(const char *letters, uint64_t user)
{
	struct track t[8];
	size_t n = 0;

	for (; letters[n]; n++)
		t[n] = local_track((char[]){letters[n], '\0'}, 0);
	return scene_request((struct jukebox_request){
		.act = MUSIC_ACT_QUEUE_ADD, .user = user, .tracks = t, .n = n, .place = 0});
}

/* Else a hundred tracks of one member could stand before those of all others. */
TEST(a_member_puts_one_track_before_those_of_others)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("abc", ALICE), 0);
	CHECK_INT(add_next("d", BOB), 0);
	CHECK_INT(scene.a.place, 1);
	CHECK_INT(scene.a.turn, MUSIC_TURN_FREE);
	CHECK_STR(scene_queue(), "|adbc");
	CHECK_INT(add_next("e", BOB), 0);
	CHECK_INT(scene.a.place, 4);
	CHECK_INT(scene.a.turn, MUSIC_TURN_TAKEN);
	CHECK_STR(scene_queue(), "|adbce");
	CHECK_INT(add_next("fgh", DJ), 0);
	CHECK_INT(scene.a.turn, MUSIC_TURN_FREE);
	CHECK_STR(scene_queue(), "|afghdbce");
	/* A list of a member without tracks of their own waits behind the others. */
	CHECK_INT(add_next("ij", 3), 0);
	CHECK_INT(scene.a.place, 8);
	CHECK_INT(scene.a.turn, MUSIC_TURN_TAKEN);
	CHECK_STR(scene_queue(), "|afghdbceij");
	CHECK_INT(settings_set(scene.settings, "music_control", "everyone"), 0);
	CHECK_INT(add_next("k", BOB), 0);
	CHECK_STR(scene_queue(), "|akfghdbceij");
	scene_finish();
}

TEST(a_member_whose_tracks_play_in_a_row_is_told_so)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("ab", BOB), 0);
	CHECK_INT(scene_act(MUSIC_ACT_SKIP, BOB), 0);
	CHECK_INT(add_next("c", BOB), 0);
	CHECK_INT(scene.a.turn, MUSIC_TURN_FREE); /* it passes nobody */
	CHECK_STR(scene_queue(), "a|bc");
	CHECK_INT(scene_act(MUSIC_ACT_SKIP, BOB), 0);
	CHECK_INT(scene_add("d", ALICE), 0);
	CHECK_INT(add_next("e", BOB), 0);
	CHECK_INT(scene.a.turn, MUSIC_TURN_HAD);
	CHECK_STR(scene_queue(), "ab|cde");
	/* Who wants the end gets it. */
	CHECK_INT(scene_add("f", BOB), 0);
	CHECK_INT(scene.a.turn, MUSIC_TURN_FREE);
	scene_finish();
}

static int move(uint32_t entry, size_t place, uint64_t user)
{
	return scene_request((struct jukebox_request){
		.act = MUSIC_ACT_MOVE, .user = user, .entry = entry, .place = place});
}

/* What may not be added in front of others may not be moved there. */
TEST(a_member_moves_one_track_past_those_of_others)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("abc", ALICE), 0); /* 1 to 3 */
	CHECK_INT(scene_add("d", BOB), 0);
	CHECK_INT(move(4, 1, BOB), 0); /* the only one */
	CHECK_INT(scene.a.verdict, MUSIC_ALLOWED);
	CHECK_STR(scene_queue(), "|adbc");
	CHECK_INT(scene_add("ef", BOB), 0); /* 5, 6 */
	CHECK_INT(move(5, 1, BOB), 0);
	CHECK_INT(scene.a.verdict, MUSIC_NEEDS_DJ);
	CHECK_INT(scene.a.turn, MUSIC_TURN_TAKEN);
	CHECK_INT(move(6, 0, BOB), 0);
	CHECK_INT(scene.a.verdict, MUSIC_NEEDS_DJ);
	CHECK_STR(scene_queue(), "|adbcef");
	/* Past their own, and back, they may. */
	CHECK_INT(move(6, 4, BOB), 0);
	CHECK_INT(scene.a.verdict, MUSIC_ALLOWED);
	CHECK_STR(scene_queue(), "|adbcfe");
	CHECK_INT(move(4, 5, BOB), 0);
	CHECK_INT(scene.a.verdict, MUSIC_ALLOWED);
	CHECK_STR(scene_queue(), "|abcfed");
	CHECK_INT(move(2, 5, BOB), 0); /* nor is it theirs */
	CHECK_INT(scene.a.verdict, MUSIC_NEEDS_DJ);
	CHECK_INT(scene.a.turn, MUSIC_TURN_FREE);
	CHECK_INT(move(6, 1, DJ), 0);
	CHECK_STR(scene_queue(), "|afbced");
	CHECK_INT(settings_set(scene.settings, "music_control", "dj"), 0);
	CHECK_INT(move(5, 5, BOB), 0);
	CHECK_INT(scene.a.verdict, MUSIC_NEEDS_DJ);
	CHECK_INT(settings_set(scene.settings, "music_control", "everyone"), 0);
	CHECK_INT(move(5, 1, BOB), 0);
	CHECK_INT(scene.a.verdict, MUSIC_ALLOWED);
	CHECK_STR(scene_queue(), "|aefbcd");
	scene_finish();
}

TEST(a_move_tells_the_place_that_the_track_has_got)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("abc", ALICE), 0);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_INT(scene_request((struct jukebox_request){
				  .act = MUSIC_ACT_MOVE, .user = DJ, .entry = 3, .place = i * 250}),
			  0);
		CHECK_INT(scene.a.place, i ? 2 : 1);
	}
	scene_finish();
}

/* The source of the present track sends nothing for a while; mediad tries it again. */
TEST(a_jukebox_tells_that_music_waits_for_its_source)
{
	CHECK(jukebox_scene_begin(NULL));
	CHECK_INT(scene_add("ab", ALICE), 0);
	scene_tell(1, MEDIA_MUSIC_PHASE_PLAYING, 48000, "");
	scene.changes = 0;
	scene_tell(1, MEDIA_MUSIC_PHASE_WAITING, 48000, "");
	CHECK_INT(jukebox_phase(scene.jukebox), JUKEBOX_WAITING);
	CHECK_INT(scene.changes, 1);
	CHECK_STR(scene_queue(), "|ab");
	CHECK_INT(scene_act(MUSIC_ACT_PAUSE, ALICE), 0);
	CHECK_INT(jukebox_phase(scene.jukebox), JUKEBOX_PAUSED);
	CHECK_INT(scene_act(MUSIC_ACT_RESUME, ALICE), 0);
	CHECK_INT(jukebox_phase(scene.jukebox), JUKEBOX_WAITING);
	scene_tell(1, MEDIA_MUSIC_PHASE_PLAYING, 48960, "");
	CHECK_INT(jukebox_phase(scene.jukebox), JUKEBOX_PLAYING);
	scene_tell(1, MEDIA_MUSIC_PHASE_WAITING, 48960, "");
	scene_tell(1, MEDIA_MUSIC_PHASE_FAILED, 48960, "unreachable");
	CHECK_STR(scene_queue(), "|b");
	scene_finish();
}
