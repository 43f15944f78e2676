/* Films of a stream: its source is played by the test in the place of decoderd. */
#include "ipc/tmr.h"
#include "mediad/engine/loop_stream.h"
#include "mediad/music/decoders.h"
#include "tests/unit/mediad/call/secure_rig.h"

enum { DECODERS = 1, IN_KEY = 2, IN_UNIT = 1, IN_END = 3, IN_BROKEN = 4, FRAME = 100 };

static struct {
	struct env *env; /* of the decoders */
	struct decoders *decoders;
	uint32_t mark; /* a source before those of the film */
	uint16_t slot;
	uint64_t track;
	bool unseekable;   /* of what is opened next */
	uint16_t sound_ms; /* the same */
} house;

/* No call to decoderd fails. */
static const uint8_t *on_world(uint8_t what, size_t n, void *arg)
{
	static const uint8_t none[64];

	(void)what, (void)n, (void)arg;
	return none;
}

static void on_mark(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	(void)kind, (void)data, (void)len, (void)arg;
}

static void deliver(const struct decoder_msg *msg)
{
	uint8_t buf[DECODER_MSG_MAX];
	size_t n;

	if (!decoder_wire_encode(msg, buf, &n))
		env_replay_step(house.env, rig.now, DECODERS, 1, buf, n);
}

static int start(void)
{
	const struct env_conf ec = {.loop = true, .replaying = true};
	struct decoders_conf dc = {.program = "decoderd", .log_level = "info"};
	int err = env_alloc(&house.env, &ec);

	house.track = 0;
	house.slot = DECODER_SLOTS;
	house.unseekable = false;
	house.sound_ms = 0;
	if (err)
		return err;
	env_replay_world(house.env, on_world, NULL);
	dc.env = house.env;
	err = decoders_alloc(&house.decoders, &dc);
	if (!err)
		err = rig_start_stream();
	if (err)
		return err;
	rig.c->conf.decoders = house.decoders;
	deliver(&(struct decoder_msg){.type = DECODER_READY, .jailed = true});
	return 0;
}

static void finish(void)
{
	rig_finish();
	decoders_free(house.decoders);
	env_free(house.env);
}

static int play_film(const struct media_video_play *m)
{
	struct media_msg msg = {.type = MEDIA_VIDEO_PLAY, .video_play = *m};
	int err = env_source_add(rig.env, &house.mark, on_mark, NULL);

	msg.video_play.path = slice_str("a.webm");
	msg.video_play.headers = slice_str("");
	house.track++;
	call_run_command(rig.c, &msg);
	return err;
}

static int play_kind(enum media_music_kind kind, uint32_t film, bool paused)
{
	return play_film(
		&(struct media_video_play){.film = film, .kind = (uint8_t)kind, .paused = paused});
}

static int play(uint32_t film, bool paused)
{
	return play_kind(MEDIA_MUSIC_FILE, film, paused);
}

static void opened(void)
{
	struct decoder_msg msg = {.type = DECODER_OPENED, .slot = house.slot, .track = house.track};

	msg.opened.duration = 48000;
	msg.opened.seekable = !house.unseekable;
	msg.opened.video = (struct decoder_video){.codec = VIDEO_VP8,
						  .fps = 30,
						  .width = 320,
						  .height = 240,
						  .sound_ms = house.sound_ms,
						  .bitrate = 1000000};
	deliver(&msg);
}

static void source_ends(enum decoder_reason reason)
{
	deliver(&(struct decoder_msg){.type = DECODER_ENDED,
				      .slot = DECODER_SLOTS,
				      .track = house.track,
				      .reason = reason});
}

/* Fires the film's timer if it runs and its time has come. */
static bool timer_fires(void)
{
	const struct tmr *t = env_replay_arg(rig.env, house.mark + 1);

	if (!t || tmr_due(t) > rig.now)
		return false;
	env_replay_step(rig.env, rig.now, house.mark + 1, 0, NULL, 0);
	return true;
}

/* A unit comes from the ring, or with a kind of the end, that. */
static void comes(uint8_t kind, uint64_t at_us)
{
	uint8_t bytes[8 + FRAME] = {0};
	struct wr w = wr_of(bytes, 8);

	wr_be(&w, at_us, 8);
	bytes[8] = kind == IN_KEY ? 0x10 : 0x11;
	env_replay_step(rig.env, rig.now, house.mark + 2, kind, bytes,
			kind <= IN_KEY ? sizeof bytes : 0);
}

static size_t queued(void)
{
	return video_sender_state(loop_stream_sender(rig.c->stream->loop)).queued;
}

TEST(film_begins_when_the_stream_can_send)
{
	CHECK_INT(start(), 0);
	CHECK_INT(play(1, false), 0);
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_OPENING);
	opened();
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_READY);
	CHECK_INT(rig.film.duration_ms, 1000);
	CHECK(rig.film.codec == MEDIA_VIDEO_VP8 && rig.film.width == 320 && rig.film.fps == 30);
	CHECK_INT(rig.video.codec, MEDIA_VIDEO_VP8);
	comes(IN_KEY, 5000);
	timer_fires();
	CHECK_INT(queued(), 0);
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_READY);
	rig_settled();
	rig_wait_ms(20);
	/* Frames of control would be another video. */
	call_video_put(rig.c, (struct slice){(const uint8_t *)"\x10", 1}, 0, true);
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_PLAYING);
	timer_fires();
	CHECK_INT(queued(), 1 + FRAME);
	rig_wait_ms(33);
	comes(IN_UNIT, 38000);
	timer_fires();
	CHECK_INT(queued(), 1 + 2 * FRAME);
	finish();
}

static struct music_track *find_sound(void)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++)
		if (rig.c->tracks[i] && rig.c->tracks[i]->music)
			return rig.c->tracks[i];
	return NULL;
}

/* decoderd has opened the sound, or cannot; the film looks for that every 20 ms. */
static void sound_comes(enum decoder_reason failure)
{
	const struct music_track *t = find_sound();
	struct decoder_msg msg = {.type = failure ? DECODER_ENDED : DECODER_OPENED,
				  .track = t ? t->decoded : 0,
				  .reason = failure};

	if (!failure)
		msg.opened = (struct decoder_opened){
			.duration = 48000 * 60, .seekable = true, .start = t ? t->start : 0};
	deliver(&msg);
	rig_wait_ms(20);
}

/* A film with its sound, from the place 900 ms on, in a stream that can send. */
static int start_with_sound(void)
{
	int err = start();

	if (err)
		return err;
	rig_settled();
	rig_wait_ms(20);
	err = play_film(&(struct media_video_play){
		.film = 1, .kind = MEDIA_MUSIC_FILE, .start_ms = 900, .sound = true});
	opened();
	return err;
}

/* It begins with the key frame before its place, and so does its sound; the one that is open first
 * waits for the other. */
TEST(film_begins_in_its_middle_together_with_its_sound)
{
	CHECK_INT(start_with_sound(), 0);
	comes(IN_KEY, 500000);
	CHECK(find_sound() && find_sound()->start == 500 * 48 && find_sound()->paused);
	timer_fires();
	CHECK_INT(queued(), 0);
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_READY);
	sound_comes(DECODER_REASON_UNKNOWN);
	rig_wait_ms(20);
	timer_fires();
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_PLAYING);
	CHECK(find_sound() && !find_sound()->paused);
	timer_fires();
	CHECK_INT(queued(), FRAME);
	finish();
}

/* The sound begins later than the picture: it waits for its time. */
TEST(film_begins_its_sound_when_the_file_does)
{
	CHECK_INT(start(), 0);
	house.sound_ms = 3000;
	rig_settled();
	rig_wait_ms(20);
	CHECK_INT(play_film(&(struct media_video_play){
			  .film = 1, .kind = MEDIA_MUSIC_FILE, .sound = true}),
		  0);
	opened();
	comes(IN_KEY, 0);
	CHECK(find_sound() && find_sound()->start == 0);
	sound_comes(DECODER_REASON_UNKNOWN);
	rig_wait_ms(20);
	timer_fires();
	timer_fires();
	CHECK_INT(queued(), FRAME);
	CHECK(find_sound()->paused);
	rig_wait_ms(2000);
	comes(IN_UNIT, 2020000);
	CHECK(find_sound()->paused);
	rig_wait_ms(20);
	CHECK(timer_fires());
	CHECK_INT(queued(), 2 * FRAME);
	CHECK(find_sound()->paused);
	/* Also where no other picture has come. */
	rig_wait_ms(970);
	CHECK(!timer_fires());
	CHECK(find_sound()->paused);
	rig_wait_ms(10);
	CHECK(timer_fires());
	CHECK(!find_sound()->paused);
	comes(IN_UNIT, 4000000);
	CHECK_INT(queued(), 2 * FRAME);
	rig_wait_ms(1000);
	timer_fires();
	CHECK_INT(queued(), 3 * FRAME);
	finish();
}

TEST(film_begins_in_the_middle_of_a_sound_that_is_later)
{
	CHECK_INT(start(), 0);
	house.sound_ms = 3000;
	rig_settled();
	rig_wait_ms(20);
	CHECK_INT(play_film(&(struct media_video_play){
			  .film = 1, .kind = MEDIA_MUSIC_FILE, .sound = true}),
		  0);
	opened();
	comes(IN_KEY, 5000000);
	CHECK(find_sound() && find_sound()->start == UINT64_C(2000) * 48);
	sound_comes(DECODER_REASON_UNKNOWN);
	timer_fires();
	CHECK(!find_sound()->paused);
	finish();
}

/* The sound of such a source begins at its beginning, so the picture waits. */
TEST(film_that_cannot_be_sought_waits_for_its_first_picture)
{
	CHECK_INT(start(), 0);
	house.unseekable = true;
	rig_settled();
	rig_wait_ms(20);
	CHECK_INT(play_film(&(struct media_video_play){
			  .film = 1, .kind = MEDIA_MUSIC_FILE, .sound = true}),
		  0);
	opened();
	comes(IN_KEY, 3000000);
	CHECK(find_sound() && find_sound()->start == 0);
	sound_comes(DECODER_REASON_UNKNOWN);
	timer_fires();
	CHECK(!find_sound()->paused);
	rig_wait_ms(2990);
	timer_fires();
	CHECK_INT(queued(), 0);
	rig_wait_ms(10);
	timer_fires();
	CHECK_INT(queued(), FRAME);
	finish();
}

/* Pictures were missing for 1.5 s while the sound went on: they are with it again soon. */
TEST(film_is_with_its_sound_again_after_a_hole)
{
	CHECK_INT(start_with_sound(), 0);
	comes(IN_KEY, 0);
	sound_comes(DECODER_REASON_UNKNOWN);
	timer_fires();
	timer_fires();
	CHECK_INT(queued(), FRAME);
	rig_wait_ms(2500);
	comes(IN_UNIT, 1000000);
	timer_fires();
	CHECK_INT(queued(), 2 * FRAME);
	comes(IN_UNIT, 2600000);
	rig_wait_ms(90);
	timer_fires();
	CHECK_INT(queued(), 2 * FRAME);
	rig_wait_ms(10);
	timer_fires();
	CHECK_INT(queued(), 3 * FRAME);
	/* Without sound nobody sees that they are late. */
	music_finish_track(rig.c, find_sound(), MEDIA_REASON_NONE);
	rig_wait_ms(2500);
	comes(IN_UNIT, 2700000);
	timer_fires();
	timer_fires();
	CHECK_INT(queued(), 4 * FRAME);
	comes(IN_UNIT, 4000000);
	rig_wait_ms(1290);
	timer_fires();
	CHECK_INT(queued(), 4 * FRAME);
	rig_wait_ms(10);
	timer_fires();
	CHECK_INT(queued(), 5 * FRAME);
	finish();
}

static void lane_played(uint32_t lane, unsigned ms, uint64_t at)
{
	struct ev ev = {.type = EV_MUSIC_PROGRESS};

	ev.lane.playback = lane;
	ev.lane.samples = (uint64_t)ms * 48;
	ev.lane.at = at;
	music_event(rig.c, &ev);
}

/* The sound of the film had played so long at a time of its audio thread. */
static void heard(unsigned ms, uint64_t at)
{
	lane_played(find_sound()->lane, ms, at);
}

/* The audio thread lost 300 ms: the picture waits for the sound, and stands while that does. */
TEST(film_goes_with_what_is_heard_of_its_sound)
{
	CHECK_INT(start_with_sound(), 0);
	comes(IN_KEY, 0);
	sound_comes(DECODER_REASON_UNKNOWN);
	timer_fires();
	timer_fires();
	CHECK_INT(queued(), FRAME);
	comes(IN_UNIT, 1000000);
	rig_wait_ms(500);
	heard(200, rig.now);
	rig_wait_ms(790);
	timer_fires();
	CHECK_INT(queued(), FRAME);
	/* What the audio thread told before, and small differences, change nothing. */
	heard(200, rig.now - 790 * NS_PER_MS - 1);
	heard(1000, rig.now);
	rig_wait_ms(10);
	timer_fires();
	CHECK_INT(queued(), 2 * FRAME);
	comes(IN_UNIT, 1100000);
	for (unsigned i = 0; i < 10; i++) {
		rig_wait_ms(50);
		heard(1000, rig.now);
		timer_fires();
	}
	CHECK_INT(queued(), 2 * FRAME);
	rig_wait_ms(100);
	timer_fires();
	CHECK_INT(queued(), 3 * FRAME);
	finish();
}

/* Its decoder died: what is in the ring plays on while another one opens the sound. */
TEST(film_goes_with_its_sound_while_that_is_opened_again)
{
	uint32_t lane;

	CHECK_INT(start_with_sound(), 0);
	comes(IN_KEY, 0);
	sound_comes(DECODER_REASON_UNKNOWN);
	timer_fires();
	timer_fires();
	CHECK_INT(queued(), FRAME);
	comes(IN_UNIT, 1000000);
	lane = find_sound()->lane;
	deliver(&(struct decoder_msg){.type = DECODER_ENDED,
				      .track = find_sound()->decoded,
				      .reason = DECODER_REASON_LOST});
	CHECK(find_sound() && find_sound()->continues);
	rig_wait_ms(500);
	lane_played(lane, 200, rig.now);
	rig_wait_ms(790);
	timer_fires();
	CHECK_INT(queued(), FRAME);
	rig_wait_ms(10);
	timer_fires();
	CHECK_INT(queued(), 2 * FRAME);
	finish();
}

enum { LARGE = 400000 };

static void comes_large(uint8_t kind, uint64_t at_us)
{
	static uint8_t bytes[8 + LARGE];
	struct wr w = wr_of(bytes, 8);

	wr_be(&w, at_us, 8);
	bytes[8] = kind == IN_KEY ? 0x10 : 0x11;
	env_replay_step(rig.env, rig.now, house.mark + 2, kind, bytes, sizeof bytes);
}

/* After a hole more is late than the pacer holds, and it would drop what comes up to a key frame.
 */
TEST(film_that_is_late_waits_for_the_pacer)
{
	CHECK_INT(start_with_sound(), 0);
	comes_large(IN_KEY, 0);
	sound_comes(DECODER_REASON_UNKNOWN);
	timer_fires();
	timer_fires();
	CHECK_INT(queued(), LARGE);
	rig_wait_ms(8000);
	for (unsigned i = 1; i < 9; i++) {
		comes_large(IN_UNIT, i * 100000);
		timer_fires();
		rig_wait_ms(4);
		timer_fires();
	}
	CHECK_INT(queued(), 2 * LARGE);
	CHECK_INT(video_sender_state(loop_stream_sender(rig.c->stream->loop)).dropped, 0);
	/* It looks again whether there is room. */
	for (unsigned i = 0; i < 3; i++) {
		rig_wait_ms(4);
		CHECK(timer_fires());
	}
	finish();
}

TEST(film_whose_sound_cannot_be_opened_is_shown)
{
	CHECK_INT(start_with_sound(), 0);
	comes(IN_KEY, 500000);
	sound_comes(DECODER_REASON_NO_AUDIO);
	CHECK(!find_sound());
	timer_fires();
	timer_fires();
	CHECK_INT(queued(), FRAME);
	finish();
}

/* Pictures of slides stay as long as their sound says. */
TEST(film_of_slides_keeps_its_sound)
{
	const struct media_msg pause = {.type = MEDIA_VIDEO_PAUSE,
					.video_pause = {.film = 1, .paused = true}};
	const struct media_msg go_on = {.type = MEDIA_VIDEO_PAUSE, .video_pause = {.film = 1}};

	CHECK_INT(start_with_sound(), 0);
	comes(IN_KEY, 0);
	sound_comes(DECODER_REASON_UNKNOWN);
	timer_fires();
	timer_fires();
	CHECK_INT(queued(), FRAME);
	comes(IN_KEY, 30000000);
	rig_wait_ms(10000);
	timer_fires();
	CHECK_INT(queued(), FRAME);
	/* A pause takes nothing from the rest. */
	call_run_command(rig.c, &pause);
	rig_wait_ms(5000);
	call_run_command(rig.c, &go_on);
	rig_wait_ms(10000);
	timer_fires();
	CHECK_INT(queued(), FRAME);
	rig_wait_ms(10000);
	timer_fires();
	CHECK_INT(queued(), 2 * FRAME);
	/* Without sound nobody waits. */
	comes(IN_KEY, 60000000);
	music_finish_track(rig.c, find_sound(), MEDIA_REASON_NONE);
	rig_wait_ms(10000);
	timer_fires();
	timer_fires();
	CHECK_INT(queued(), 3 * FRAME);
	finish();
}

/* A file can give all its frames one time: they take time all the same. */
TEST(film_whose_frames_have_one_time_takes_time)
{
	unsigned sent = 0;

	CHECK_INT(start(), 0);
	rig_settled();
	rig_wait_ms(20);
	CHECK_INT(play(1, false), 0);
	opened();
	for (unsigned ms = 0; ms < 400; ms++) {
		for (unsigned i = 0; i < 3; i++) {
			size_t before = queued();

			comes(IN_KEY, 0);
			timer_fires();
			sent += queued() != before;
		}
		rig_wait_ms(1);
	}
	CHECK_INT(sent, 100);
	finish();
}

TEST(film_that_is_paused_stands)
{
	struct media_msg pause = {.type = MEDIA_VIDEO_PAUSE, .video_pause = {.film = 1}};

	CHECK_INT(start(), 0);
	rig_settled();
	rig_wait_ms(20);
	CHECK_INT(play(1, true), 0);
	opened();
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_PAUSED);
	comes(IN_KEY, 0);
	timer_fires();
	CHECK_INT(queued(), 0);
	pause.video_pause.film = 2; /* another one */
	call_run_command(rig.c, &pause);
	timer_fires();
	CHECK_INT(queued(), 0);
	pause.video_pause.film = 1;
	call_run_command(rig.c, &pause);
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_PLAYING);
	timer_fires();
	CHECK_INT(queued(), FRAME);
	finish();
}

TEST(film_ends_with_its_source)
{
	CHECK_INT(start(), 0);
	rig_settled();
	rig_wait_ms(20);
	CHECK_INT(play(1, false), 0);
	opened();
	comes(IN_KEY, 0);
	timer_fires();
	source_ends(DECODER_REASON_END);
	comes(IN_END, 0);
	rig_wait_ms(100);
	CHECK(timer_fires()); /* the frame still waits for the pacer */
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_PLAYING);
	video_sender_stop(loop_stream_sender(rig.c->stream->loop));
	rig_wait_ms(100);
	CHECK(timer_fires());
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_PLAYING);
	rig_wait_ms(490);
	CHECK(!timer_fires());
	rig_wait_ms(10);
	CHECK(timer_fires());
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_ENDED);
	CHECK_INT(rig.film.reason, MEDIA_REASON_NONE);
	/* It is over: the next one has another id. */
	CHECK_INT(play(2, false), 0);
	CHECK_INT(rig.film.film, 2);
	call_run_command(rig.c, &(struct media_msg){.type = MEDIA_VIDEO_STOP});
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_ENDED);
	CHECK_INT(rig.film.reason, MEDIA_REASON_STOPPED);
	finish();
}

/* All pictures were sent, and have left the pacer. */
static void pictures_end(void)
{
	source_ends(DECODER_REASON_END);
	comes(IN_END, 0);
	for (unsigned i = 0; queued() && i < 100; i++)
		video_sender_tick(loop_stream_sender(rig.c->stream->loop),
				  rig.now + i * 20 * NS_PER_MS);
	CHECK_INT(queued(), 0);
	rig_wait_ms(100);
	CHECK(timer_fires());
}

/* It was cut off half a second after the last picture. */
TEST(film_whose_sound_is_longer_ends_with_that)
{
	const struct media_msg pause = {.type = MEDIA_VIDEO_PAUSE,
					.video_pause = {.film = 1, .paused = true}};
	const struct media_msg go_on = {.type = MEDIA_VIDEO_PAUSE, .video_pause = {.film = 1}};

	CHECK_INT(start_with_sound(), 0);
	comes(IN_KEY, 500000);
	sound_comes(DECODER_REASON_UNKNOWN);
	timer_fires();
	timer_fires();
	pictures_end();
	for (unsigned i = 0; i < 50; i++) {
		rig_wait_ms(100);
		CHECK(timer_fires());
	}
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_PLAYING);
	CHECK(rig.film.position_ms > 4000 && rig.film.position_ms < 6000);
	CHECK(find_sound() && !find_sound()->paused);
	call_run_command(rig.c, &pause);
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_PAUSED);
	CHECK(find_sound()->paused);
	rig_wait_ms(5000);
	CHECK(!timer_fires());
	call_run_command(rig.c, &go_on);
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_PLAYING);
	CHECK(!find_sound()->paused);
	music_finish_track(rig.c, find_sound(), MEDIA_REASON_NONE);
	rig_wait_ms(100);
	CHECK(timer_fires());
	rig_wait_ms(500);
	CHECK(timer_fires());
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_ENDED);
	finish();
}

/* It stood for ever: nothing of its sound woke it. */
TEST(film_whose_sound_goes_while_it_is_paused_ends)
{
	const struct media_msg pause = {.type = MEDIA_VIDEO_PAUSE,
					.video_pause = {.film = 1, .paused = true}};
	const struct media_msg go_on = {.type = MEDIA_VIDEO_PAUSE, .video_pause = {.film = 1}};

	CHECK_INT(start_with_sound(), 0);
	comes(IN_KEY, 500000);
	sound_comes(DECODER_REASON_UNKNOWN);
	timer_fires();
	timer_fires();
	pictures_end();
	rig_wait_ms(100);
	CHECK(timer_fires());
	call_run_command(rig.c, &pause);
	music_finish_track(rig.c, find_sound(), MEDIA_REASON_NONE);
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_PAUSED);
	call_run_command(rig.c, &go_on);
	rig_wait_ms(500);
	CHECK(timer_fires());
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_ENDED);
	finish();
}

/* Its pictures are over before its sound begins. */
TEST(film_begins_its_sound_behind_its_last_picture)
{
	CHECK_INT(start(), 0);
	house.sound_ms = 3000;
	rig_settled();
	rig_wait_ms(20);
	CHECK_INT(play_film(&(struct media_video_play){
			  .film = 1, .kind = MEDIA_MUSIC_FILE, .sound = true}),
		  0);
	opened();
	comes(IN_KEY, 0);
	sound_comes(DECODER_REASON_UNKNOWN);
	timer_fires();
	timer_fires();
	pictures_end();
	for (unsigned i = 0; i < 28; i++) {
		rig_wait_ms(100);
		timer_fires();
	}
	CHECK(find_sound()->paused);
	for (unsigned i = 0; i < 3; i++) {
		rig_wait_ms(50);
		timer_fires();
	}
	CHECK(!find_sound()->paused);
	finish();
}

/* And a failure is told at once, whatever its sound does. */
TEST(film_that_fails_ends_its_sound)
{
	CHECK_INT(start_with_sound(), 0);
	comes(IN_KEY, 500000);
	sound_comes(DECODER_REASON_UNKNOWN);
	timer_fires();
	timer_fires();
	source_ends(DECODER_REASON_DAMAGED);
	comes(IN_END, 0);
	video_sender_stop(loop_stream_sender(rig.c->stream->loop));
	rig_wait_ms(100);
	CHECK(timer_fires());
	rig_wait_ms(500);
	CHECK(timer_fires());
	CHECK_STR(rig.film_failure, "damaged");
	CHECK(!find_sound() || find_sound()->why != MEDIA_REASON_NONE);
	finish();
}

TEST(film_that_fails_says_why)
{
	CHECK_INT(start(), 0);
	CHECK_INT(play(1, false), 0);
	source_ends(DECODER_REASON_VIDEO_ORDER);
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_FAILED);
	CHECK_STR(rig.film_failure, "video_order");
	/* One whose decoder dies shows what it has, and fails then. */
	rig_settled();
	rig_wait_ms(20);
	CHECK_INT(play(2, false), 0);
	opened();
	source_ends(DECODER_REASON_CRASHED);
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_READY);
	comes(IN_END, 0);
	rig_wait_ms(500);
	timer_fires();
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_FAILED);
	CHECK_STR(rig.film_failure, "crashed");
	/* A sound is no film. */
	CHECK_INT(play(3, false), 0);
	deliver(&(struct decoder_msg){
		.type = DECODER_OPENED, .slot = DECODER_SLOTS, .track = house.track});
	CHECK_STR(rig.film_failure, "no_video");
	source_ends(DECODER_REASON_CLOSED); /* its place is free */
	CHECK_INT(play(4, false), 0);
	opened();
	comes(IN_BROKEN, 0);
	rig_wait_ms(500);
	CHECK(timer_fires());
	CHECK_STR(rig.film_failure, "crashed");
	finish();
}

static void decoders_are_lost(void)
{
	deliver(&(struct decoder_msg){.type = DECODER_READY, .jailed = true});
}

/* The film has opened another track, and the CLOSE of the one before is answered: it was in one of
 * the first two places. */
static void opened_again(void)
{
	deliver(&(struct decoder_msg){.type = DECODER_ENDED,
				      .slot = house.slot,
				      .track = house.track,
				      .reason = DECODER_REASON_CLOSED});
	house.slot ^= 1;
	house.track++;
	opened();
}

/* decoderd is started again: another process goes on where the clock is. */
TEST(film_goes_on_after_the_decoder_program_was_lost)
{
	const struct media_msg pause = {.type = MEDIA_VIDEO_PAUSE,
					.video_pause = {.film = 1, .paused = true}};
	const struct media_msg go_on = {.type = MEDIA_VIDEO_PAUSE, .video_pause = {.film = 1}};

	CHECK_INT(start(), 0);
	rig_settled();
	rig_wait_ms(20);
	CHECK_INT(play(1, false), 0);
	/* While it opens: a pause and its end change nothing that is told. */
	decoders_are_lost();
	call_run_command(rig.c, &pause);
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_OPENING);
	call_run_command(rig.c, &go_on);
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_OPENING);
	opened_again();
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_READY);
	comes(IN_KEY, 0);
	timer_fires();
	CHECK_INT(queued(), FRAME);
	decoders_are_lost();
	rig_wait_ms(1000);
	/* What is in the ring is shown. */
	comes(IN_UNIT, 1000000);
	timer_fires();
	CHECK_INT(queued(), 2 * FRAME);
	comes(IN_END, 0);
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_PLAYING);
	opened_again();
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_PLAYING);
	comes(IN_KEY, 1033000);
	rig_wait_ms(40);
	timer_fires();
	CHECK_INT(queued(), 3 * FRAME);
	/* It does not do so for ever. */
	for (unsigned i = 0; i < 6; i++) {
		decoders_are_lost();
		comes(IN_END, 0);
		opened_again();
	}
	decoders_are_lost();
	comes(IN_END, 0);
	video_sender_stop(loop_stream_sender(rig.c->stream->loop));
	rig_wait_ms(100);
	CHECK(timer_fires());
	rig_wait_ms(500);
	CHECK(timer_fires());
	CHECK_STR(rig.film_failure, "lost");
	finish();
}

/* What nobody could see is left out, and so is what needs it: the next picture is a key frame, and
 * not one of minutes ago. */
TEST(film_of_the_visualizer_shows_what_is_heard_now)
{
	const struct media_msg go_on = {.type = MEDIA_VIDEO_PAUSE, .video_pause = {.film = 1}};

	CHECK_INT(start(), 0);
	rig_settled();
	rig_wait_ms(20);
	CHECK_INT(play_kind(MEDIA_MUSIC_VISUALIZER, 1, true), 0);
	opened();
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_PAUSED);
	comes(IN_KEY, 0);
	comes(IN_UNIT, 40000);
	call_run_command(rig.c, &go_on);
	comes(IN_UNIT, 80000);
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_READY);
	comes(IN_KEY, 120000);
	CHECK_INT(rig.film.phase, MEDIA_MUSIC_PHASE_PLAYING);
	timer_fires();
	CHECK_INT(queued(), FRAME);
	rig_wait_ms(40);
	comes(IN_UNIT, 160000);
	timer_fires();
	CHECK_INT(queued(), 2 * FRAME);
	finish();
}
