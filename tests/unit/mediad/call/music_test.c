/* Music of a call, with the steps of an audio thread in simulated time and a decoderd that the test
 * plays. */
#include "mediad/call/call_internal.h"

#include <math.h>

#include "ipc/env.h"
#include "ipc/env_replay.h"
#include "ipc/journal.h"
#include "mediad/engine/audio_thread.h"
#include "proto/base/time.h"
#include "tests/test.h"

#define TICK (20 * NS_PER_MS)

enum { SOURCE_COMMAND = 1, SOURCE_TICK = 3, SOURCE_WORK = 4, SOURCE_MUSIC = 6 };
enum { SOURCE_ENGINE = 2, SOURCE_DECODERS = 1 };
enum { MAX_STATES = 2048, DURATION = 48000 };

static struct rig {
	struct env *env, *audio, *decoders; /* each has a world of its own */
	struct engine *engine;
	struct call c;
	uint64_t now;
	uint64_t left[32]; /* frames that the decoder of a track will still give, by lane */
	struct {
		struct media_music_state s;
		char failure[33];
	} states[MAX_STATES];
	unsigned n_states, tags;
	uint64_t written; /* frames that a decoder has written when it dies; 0: few */
	char title[300];
} rig;

/* The kernel takes what is sent, and every ring has room. */
static const uint8_t *on_world(uint8_t what, size_t n, void *arg)
{
	static const uint8_t none[64];
	static uint8_t answer[8];
	struct wr w = wr_of(answer, sizeof answer);

	(void)n, (void)arg;
	wr_be(&w, rig.written ? rig.written : 1, 8);
	return what == JOURNAL_ANSWER ? answer : none;
}

/* No call to decoderd fails. */
static const uint8_t *on_decoders_world(uint8_t what, size_t n, void *arg)
{
	static const uint8_t none[64];

	(void)what, (void)n, (void)arg;
	return none;
}

static void on_out(const struct media_msg *msg, uint32_t flow, void *arg)
{
	(void)flow, (void)arg;
	if (msg->type == MEDIA_MUSIC_STATE && rig.n_states < MAX_STATES) {
		rig.states[rig.n_states].s = msg->music_state;
		snprintf(rig.states[rig.n_states++].failure, 33, "%.*s",
			 (int)msg->music_state.failure.n, (const char *)msg->music_state.failure.p);
	}
	rig.tags += msg->type == MEDIA_MUSIC_TAGS;
	if (msg->type == MEDIA_MUSIC_TITLE)
		snprintf(rig.title, sizeof rig.title, "%.*s", (int)msg->music_title.title.n,
			 (const char *)msg->music_title.title.p);
}

static void send_cmd(struct cmd c)
{
	engine_send(rig.engine, rig.c.stream, &c);
}

static void on_event(const struct ev *ev, void *owner)
{
	(void)owner;
	if (ev->type == EV_WANT_SPEAKING && ev->on)
		send_cmd((struct cmd){.type = CMD_SPEAKING_SENT});
	if (ev->type == EV_MUSIC || ev->type == EV_MUSIC_PROGRESS)
		music_event(&rig.c, ev);
}

static void step_audio(uint32_t source, const void *p, size_t n, uint8_t kind)
{
	env_replay_step(rig.audio, rig.now, source, kind, p, n);
}

/* Gives a lane what its decoder has for it. */
static void feed(uint32_t id)
{
	struct music_lane *l = music_mixer_lane(sender_music(rig.c.stream->sender), id);
	static uint8_t data[MUSIC_FEED_MAX];
	struct wr w = wr_of(data, sizeof data);
	uint64_t n;

	if (!l || playout_may_write(music_lane_playout(l), 1))
		return;
	n = playout_room(music_lane_playout(l));
	n = n < rig.left[id] ? n : rig.left[id];
	rig.left[id] -= n;
	wr_be(&w, 0, 4);
	wr_be(&w, id, 4);
	step_audio(SOURCE_MUSIC, data, MUSIC_FEED_HEAD + n * MUSIC_FEED_FRAME, !rig.left[id]);
}

/* Runs what waits at this time. */
static void settle(void)
{
	for (int i = 0; i < 20; i++) {
		step_audio(SOURCE_COMMAND, NULL, 0, 0);
		env_replay_step(rig.env, rig.now, SOURCE_ENGINE, 0, NULL, 0);
	}
}

static void run_ms(unsigned ms)
{
	for (uint64_t end = rig.now + ms * NS_PER_MS; rig.now + TICK <= end;) {
		settle();
		rig.now += TICK;
		step_audio(SOURCE_TICK, NULL, 0, 0);
		for (unsigned id = 1; sender_music(rig.c.stream->sender) && id < 32; id++)
			feed(id);
		step_audio(SOURCE_WORK, NULL, 0, 0);
	}
	settle();
}

static int start(bool with_decoders)
{
	const struct env_conf ec = {.loop = true, .replaying = true};
	struct decoders_conf dc = {.program = "decoderd", .log_level = "info"};
	struct engine_conf gc = {.threads = 1, .evh = on_event};
	int err;

	memset(&rig, 0, sizeof rig);
	rig.now = 1000 * TICK;
	err = env_alloc(&rig.env, &ec);
	if (err)
		return err;
	env_replay_world(rig.env, on_world, NULL);
	gc.env = rig.env;
	err = engine_alloc(&rig.engine, &gc);
	if (!err)
		err = env_alloc(&rig.decoders, &ec);
	if (err)
		return err;
	env_replay_world(rig.decoders, on_decoders_world, NULL);
	dc.env = rig.decoders;
	if (with_decoders)
		err = decoders_alloc(&rig.c.conf.decoders, &dc);
	rig.c.conf.env = rig.env;
	rig.c.conf.engine = rig.engine;
	rig.c.conf.outh = on_out;
	if (!err)
		err = call_stream_alloc(&rig.c.stream, &rig.c, 64000);
	if (!err && (err = engine_add_stream(rig.engine, rig.c.stream)))
		rig.c.stream = call_stream_free(rig.c.stream);
	return err;
}

static int connect_stream(void)
{
	static const uint8_t key[RTPSIZE_KEY];
	struct cmd c = {.type = CMD_KEY};
	int err = rtpsize_alloc(&c.key, RTPSIZE_XCHACHA20_POLY1305, key);

	rig.audio = engine_env(rig.engine, 1);
	env_replay_world(rig.audio, on_world, NULL);
	send_cmd((struct cmd){.type = CMD_LINK, .link = {.fd = -1, .link = 1, .ssrc = 1}});
	send_cmd((struct cmd){.type = CMD_DAVE_CLEAR, .dave = {.send = true, .until = UINT64_MAX}});
	if (!err)
		send_cmd(c);
	run_ms(1500);
	return err;
}

static void finish(void)
{
	engine_free(rig.engine);
	music_free(&rig.c);
	decoders_free(rig.c.conf.decoders);
	env_free(rig.decoders);
	env_free(rig.env);
}

/* Tells the decoders about a track, in whichever slot it is: others ignore it. */
static void deliver(struct decoder_msg *msg)
{
	uint8_t buf[DECODER_MSG_MAX];
	size_t n;

	for (msg->slot = 0; msg->slot < 8; msg->slot++)
		if (!decoder_wire_encode(msg, buf, &n))
			env_replay_step(rig.decoders, rig.now, SOURCE_DECODERS, 1, buf, n);
}

static void deliver_ready(void)
{
	uint8_t buf[DECODER_MSG_MAX];
	size_t n;

	if (!decoder_wire_encode(&(struct decoder_msg){.type = DECODER_READY, .jailed = true}, buf,
				 &n))
		env_replay_step(rig.decoders, rig.now, SOURCE_DECODERS, 1, buf, n);
}

static struct music_track *track_of(uint32_t music)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++)
		if (rig.c.tracks[i] && rig.c.tracks[i]->music == music)
			return rig.c.tracks[i];
	return NULL;
}

/* decoderd has opened the source of a music. */
static void opened(uint32_t music, uint64_t start_at, uint64_t duration)
{
	struct music_track *t = track_of(music);
	struct decoder_msg msg = {.type = DECODER_OPENED, .track = t ? t->decoded : 0};

	msg.opened = (struct decoder_opened){.duration = duration,
					     .start = start_at,
					     .seekable = true,
					     .levels = {-1000, -300},
					     .title = "Blue"};
	deliver(&msg);
	t = track_of(music);
	if (t && t->lane)
		rig.left[t->lane] = duration - start_at;
}

static void ended(uint64_t decoded, enum decoder_reason reason)
{
	deliver(&(struct decoder_msg){.type = DECODER_ENDED, .track = decoded, .reason = reason});
}

static void play(uint32_t music, uint16_t fade_ms)
{
	struct media_music_play m = {.music = music,
				     .kind = MEDIA_MUSIC_FILE,
				     .path = slice_str("a.flac"),
				     .gain = 1000,
				     .duck = 150,
				     .bitrate = 96000,
				     .fade_ms = fade_ms};

	call_music_play(&rig.c, &m);
}

static void prepare(uint32_t music, uint16_t crossfade_ms)
{
	struct media_music_next m = {.music = music,
				     .kind = MEDIA_MUSIC_FILE,
				     .path = slice_str("b.flac"),
				     .gain = 1000,
				     .crossfade_ms = crossfade_ms};

	call_music_next(&rig.c, &m);
}

static void setup(void)
{
	CHECK_INT(start(true), 0);
	deliver_ready();
	CHECK_INT(connect_stream(), 0);
}

/* The newest state of a music. */
static const struct media_music_state *state_of(uint32_t music)
{
	static const struct media_music_state none;

	for (unsigned i = rig.n_states; i-- > 0;)
		if (rig.states[i].s.music == music)
			return &rig.states[i].s;
	return &none;
}

static const char *failure_of(uint32_t music)
{
	for (unsigned i = rig.n_states; i-- > 0;)
		if (rig.states[i].s.music == music)
			return rig.states[i].failure;
	return "";
}

static unsigned count_states(uint32_t music, enum media_music_phase phase)
{
	unsigned n = 0;

	for (unsigned i = 0; i < rig.n_states; i++)
		n += rig.states[i].s.music == music && rig.states[i].s.phase == phase;
	return n;
}

#define CHECK_PHASE(music, name) CHECK_INT(state_of(music)->phase, MEDIA_MUSIC_PHASE_##name)

TEST(call_music_from_opening_to_its_end)
{
	uint64_t decoded;

	setup();
	play(7, 0);
	decoded = track_of(7)->decoded;
	CHECK(decoders_ring(rig.c.conf.decoders, decoded));
	CHECK_PHASE(7, OPENING);
	opened(7, 0, DURATION);
	CHECK_PHASE(7, READY);
	CHECK_INT(rig.tags, 1);
	run_ms(500);
	CHECK_PHASE(7, PLAYING);
	run_ms(1000);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(state_of(7)->reason, MEDIA_REASON_NONE);
	CHECK_INT(state_of(7)->position, DURATION);
	CHECK_INT(state_of(7)->duration, DURATION);
	CHECK(!track_of(7) && !decoders_ring(rig.c.conf.decoders, decoded));
	finish();
}

TEST(call_music_that_ends_is_owed_nothing)
{
	struct cmd cmd = {.type = CMD_MUSIC_CONTROL, .music = {.what = SENDER_GAIN}};

	setup();
	play(7, 0);
	opened(7, 0, DURATION);
	cmd.music.id = track_of(7)->lane;
	CHECK(call_owe(&rig.c, &cmd));
	run_ms(1500);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(rig.c.n_owed, 0);
	finish();
}

TEST(call_music_reports_its_position)
{
	setup();
	play(7, 0);
	opened(7, 48000, 10 * DURATION);
	run_ms(3500);
	CHECK(count_states(7, MEDIA_MUSIC_PHASE_PLAYING) >= 4);
	CHECK(state_of(7)->position >= 48000 + 2 * 48000 &&
	      state_of(7)->position <= 48000 + 168000);
	finish();
}

/* What is in the ring is played, and another decoder goes on behind it. */
TEST(call_music_outlasts_its_decoder)
{
	uint32_t first;
	uint64_t at;

	setup();
	play(7, 0);
	opened(7, 0, 10 * DURATION);
	prepare(8, 0);
	opened(8, 0, DURATION);
	first = track_of(7)->lane;
	rig.left[first] = 72000;
	run_ms(500);
	rig.written = 72000;
	ended(track_of(7)->decoded, DECODER_REASON_CRASHED);
	rig.written = 0;
	CHECK_INT(track_of(7)->start, 72000);
	CHECK(!track_of(7)->lane);
	run_ms(200);
	at = state_of(7)->position;
	CHECK(at > 0 && at < 48000);
	CHECK_PHASE(7, PLAYING);
	opened(7, 72000, 10 * DURATION);
	run_ms(1500);
	CHECK_PHASE(7, PLAYING);
	CHECK(state_of(7)->position > 72000);
	CHECK_PHASE(8, READY);
	CHECK_INT(count_states(7, MEDIA_MUSIC_PHASE_FAILED), 0);
	run_ms(8300);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(state_of(7)->position, 10 * DURATION);
	CHECK_PHASE(8, PLAYING);
	finish();
}

TEST(call_music_fails_with_a_decoder_that_dies_soon)
{
	setup();
	play(7, 0);
	opened(7, 0, 10 * DURATION);
	rig.left[track_of(7)->lane] = 9600;
	run_ms(100);
	ended(track_of(7)->decoded, DECODER_REASON_CRASHED);
	CHECK_INT(track_of(7)->start, 0);
	finish();
	/* Neither does music go on whose next decoder comes too late, or cannot open it. */
	for (unsigned late = 0; late < 2; late++) {
		setup();
		play(7, 0);
		opened(7, 0, 10 * DURATION);
		rig.left[track_of(7)->lane] = 48000;
		run_ms(100);
		rig.written = 48000;
		ended(track_of(7)->decoded, DECODER_REASON_CRASHED);
		rig.written = 0;
		if (!late)
			ended(track_of(7)->decoded, DECODER_REASON_NOT_FOUND);
		CHECK(state_of(7)->phase != MEDIA_MUSIC_PHASE_FAILED || !late);
		music_event(&rig.c, &(struct ev){.type = EV_MUSIC,
						 .lane = {.what = SENDER_DRAINED,
							  .playback = 1,
							  .samples = 48000}});
		CHECK_PHASE(7, FAILED);
		CHECK_STR(failure_of(7), "crashed");
		CHECK(!track_of(7));
		finish();
	}
}

/* control goes on after the newest position when mediad dies. */
TEST(call_music_reports_each_frame)
{
	uint64_t before;

	setup();
	play(7, 0);
	opened(7, 0, 10 * DURATION);
	run_ms(500);
	before = state_of(7)->position;
	CHECK(before > 0);
	for (unsigned i = 1; i <= 5; i++) {
		run_ms(20);
		CHECK_INT(state_of(7)->position, before + i * 960);
	}
	finish();
}

/* The lane that is lent first plays first, so one that was prepared faster waits. */
TEST(call_music_waits_for_the_track_before_it)
{
	setup();
	play(7, 0);
	prepare(8, 0);
	opened(8, 0, DURATION);
	ended(track_of(8)->decoded, DECODER_REASON_END);
	CHECK_PHASE(8, READY);
	run_ms(500);
	CHECK_PHASE(8, READY);
	CHECK_PHASE(7, OPENING);
	opened(7, 0, DURATION);
	rig.left[track_of(8)->lane] = DURATION;
	run_ms(500);
	CHECK_PHASE(7, PLAYING);
	CHECK_PHASE(8, READY);
	run_ms(1000);
	CHECK_PHASE(7, ENDED);
	CHECK_PHASE(8, PLAYING);
	finish();
}

TEST(call_music_goes_on_after_a_track_that_cannot_be_opened)
{
	setup();
	play(7, 0);
	prepare(8, 0);
	opened(8, 0, DURATION);
	ended(track_of(7)->decoded, DECODER_REASON_NOT_FOUND);
	CHECK_PHASE(7, FAILED);
	rig.left[track_of(8)->lane] = DURATION;
	run_ms(500);
	CHECK_PHASE(8, PLAYING);
	finish();
}

TEST(call_music_that_cannot_be_opened)
{
	setup();
	play(7, 0);
	ended(track_of(7)->decoded, DECODER_REASON_NOT_FOUND);
	CHECK_PHASE(7, FAILED);
	CHECK_INT(state_of(7)->reason, MEDIA_REASON_SOURCE_FAILED);
	CHECK_STR(failure_of(7), "not_found");
	finish();

	CHECK_INT(start(false), 0);
	CHECK_INT(connect_stream(), 0);
	play(8, 0);
	CHECK_PHASE(8, FAILED);
	CHECK_STR(failure_of(8), "no_decoder");
	finish();
}

TEST(call_music_refuses_bad_requests)
{
	struct media_music_play m = {.music = 3, .kind = 9, .path = slice_str("x")};

	setup();
	call_music_play(&rig.c, &m);
	CHECK_PHASE(3, FAILED);
	CHECK_INT(state_of(3)->reason, MEDIA_REASON_BAD_REQUEST);
	m.kind = MEDIA_MUSIC_FILE;
	m.music = 4;
	m.path = slice_str("");
	call_music_play(&rig.c, &m);
	CHECK_PHASE(4, FAILED);
	call_music_claim(&rig.c, 5);
	CHECK_PHASE(5, FAILED);
	/* Commands about music that has ended are late. */
	call_music_pause(&rig.c, 6, true, 0);
	call_music_stop(&rig.c, 6, 0);
	call_music_gain(&rig.c, 6, 1, 0);
	call_music_seek(&rig.c, &(struct media_music_seek){.music = 6});
	CHECK_INT(rig.n_states, 3);
	finish();
}

/* A decoder that crashes leaves what it has written; that plays out, and then the music failed. */
TEST(call_music_whose_decoder_crashes)
{
	setup();
	play(7, 0);
	opened(7, 0, 10 * DURATION);
	run_ms(300);
	rig.left[track_of(7)->lane] = 9600;
	ended(track_of(7)->decoded, DECODER_REASON_CRASHED);
	CHECK_PHASE(7, PLAYING);
	run_ms(1000);
	CHECK_PHASE(7, FAILED);
	CHECK_STR(failure_of(7), "crashed");
	CHECK(state_of(7)->position > 9600 && state_of(7)->position < DURATION);
	finish();
}

TEST(call_music_next_is_gapless)
{
	uint16_t seq;

	setup();
	seq = rig.c.stream->seq;
	play(7, 0);
	opened(7, 0, 30001);
	prepare(8, 0);
	opened(8, 0, 30003);
	CHECK_PHASE(8, READY);
	run_ms(800);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(state_of(7)->position, 30001);
	CHECK_PHASE(8, PLAYING);
	/* It follows nothing any more, so it stays when nothing is to follow. */
	call_music_next(&rig.c, &(struct media_music_next){.kind = MEDIA_MUSIC_NONE});
	run_ms(1000);
	CHECK_PHASE(8, ENDED);
	CHECK_INT(state_of(8)->position, 30003);
	/* 60004 frames are 63 packets; one may drive out the lookahead, and five of silence end it.
	 */
	CHECK(rig.c.stream->seq - seq == 68 || rig.c.stream->seq - seq == 69);
	finish();
}

/* Music 7 plays, and 8 is prepared to follow. */
static void play_two(uint16_t crossfade_ms)
{
	setup();
	play(7, 0);
	opened(7, 0, DURATION);
	prepare(8, crossfade_ms);
	opened(8, 0, DURATION);
}

TEST(call_music_crosses_over)
{
	play_two(500);
	run_ms(800);
	CHECK_PHASE(8, PLAYING);
	run_ms(1500);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(state_of(7)->reason, MEDIA_REASON_NONE);
	CHECK_PHASE(8, ENDED);
	finish();
}

TEST(call_music_next_is_taken_back)
{
	play_two(0);
	prepare(9, 0);
	run_ms(100);
	CHECK_PHASE(8, ENDED);
	CHECK_INT(state_of(8)->reason, MEDIA_REASON_STOPPED);
	CHECK_PHASE(9, OPENING);
	call_music_next(&rig.c, &(struct media_music_next){.kind = MEDIA_MUSIC_NONE});
	CHECK_PHASE(9, ENDED);
	CHECK_PHASE(7, PLAYING);
	run_ms(1500);
	CHECK_PHASE(7, ENDED);
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++)
		CHECK(!rig.c.tracks[i]);
	finish();
}

/* Control learns of the end before the prepared music has begun, and prepares the one after it. */
TEST(call_music_next_after_an_end_replaces_nothing)
{
	struct ev drained = {.type = EV_MUSIC};

	play_two(0);
	run_ms(100);
	drained.lane.playback = track_of(7)->lane;
	drained.lane.what = SENDER_DRAINED;
	drained.lane.samples = DURATION;
	music_event(&rig.c, &drained);
	CHECK_PHASE(7, ENDED);
	prepare(9, 0);
	opened(9, 0, DURATION);
	CHECK_PHASE(8, READY);
	run_ms(1500);
	CHECK_PHASE(8, PLAYING);
	run_ms(2000);
	CHECK_PHASE(8, ENDED);
	CHECK_INT(state_of(8)->position, DURATION);
	CHECK_PHASE(9, ENDED);
	CHECK_INT(state_of(9)->position, DURATION);
	finish();
}

/* A new MUSIC_PLAY ends the one before, which fades meanwhile. */
TEST(call_music_is_replaced)
{
	setup();
	play(7, 0);
	opened(7, 0, 10 * DURATION);
	run_ms(500);
	play(8, 40);
	opened(8, 0, DURATION);
	run_ms(200);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(state_of(7)->reason, MEDIA_REASON_STOPPED);
	CHECK_PHASE(8, PLAYING);
	call_music_stop(&rig.c, 8, 20);
	run_ms(200);
	CHECK_PHASE(8, ENDED);
	CHECK_INT(state_of(8)->reason, MEDIA_REASON_STOPPED);
	finish();
}

TEST(call_music_seeks)
{
	uint64_t before;

	setup();
	play(7, 0);
	opened(7, 0, 10 * DURATION);
	run_ms(500);
	before = track_of(7)->played;
	call_music_seek(&rig.c, &(struct media_music_seek){.music = 7, .position = 240000});
	run_ms(200); /* it plays on */
	CHECK(sender_music(rig.c.stream->sender) &&
	      music_mixer_has_audio(sender_music(rig.c.stream->sender)));
	opened(7, 240000, 10 * DURATION);
	run_ms(200);
	CHECK_PHASE(7, PLAYING);
	CHECK(state_of(7)->position >= 240000 && state_of(7)->position < 240000 + 9600);
	CHECK(before < 240000);
	CHECK_INT(count_states(7, MEDIA_MUSIC_PHASE_ENDED), 0);
	CHECK_INT(rig.tags, 1);
	run_ms(5000);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(state_of(7)->position, 10 * DURATION);
	finish();
}

TEST(call_music_seek_that_fails)
{
	setup();
	play(7, 0);
	opened(7, 0, 2 * DURATION);
	run_ms(500);
	call_music_seek(&rig.c, &(struct media_music_seek){.music = 7, .position = 40000});
	ended(track_of(7)->decoded, DECODER_REASON_NOT_SEEKABLE);
	CHECK_PHASE(7, PLAYING);
	CHECK(track_of(7)->played > 0);
	run_ms(2000);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(state_of(7)->position, 2 * DURATION);
	CHECK_INT(count_states(7, MEDIA_MUSIC_PHASE_FAILED), 0);
	finish();
}

TEST(call_music_pauses_seeks_and_resumes)
{
	setup();
	play(7, 0);
	opened(7, 0, 4 * DURATION);
	run_ms(500);
	call_music_pause(&rig.c, 7, true, 40);
	run_ms(3500); /* the stream is idle by then */
	CHECK_PHASE(7, PAUSED);
	CHECK_INT(count_states(7, MEDIA_MUSIC_PHASE_PAUSED), 1); /* its position is told once */
	call_music_seek(&rig.c, &(struct media_music_seek){.music = 7, .position = 96000});
	opened(7, 96000, 4 * DURATION);
	run_ms(500);
	CHECK_PHASE(7, PAUSED);
	CHECK_INT(state_of(7)->position, 96000);
	CHECK(!music_mixer_at(sender_music(rig.c.stream->sender),
			      1)); /* the former place is gone */
	call_music_pause(&rig.c, 7, false, 40);
	run_ms(200);
	CHECK_PHASE(7, PLAYING);
	run_ms(3000);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(state_of(7)->position, 4 * DURATION);
	finish();
}

TEST(call_music_a_pause_that_crosses_a_resume_is_over)
{
	struct ev ev = {.type = EV_MUSIC, .lane = {.what = SENDER_PAUSED}};

	setup();
	play(7, 0);
	opened(7, 0, DURATION);
	run_ms(500);
	ev.lane.playback = track_of(7)->lane;
	ev.lane.samples = track_of(7)->played;
	call_music_pause(&rig.c, 7, true, 40);
	call_music_pause(&rig.c, 7, false, 40);
	music_event(&rig.c, &ev);
	CHECK_PHASE(7, PLAYING);
	run_ms(1000);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(count_states(7, MEDIA_MUSIC_PHASE_PAUSED), 0);
	finish();
}

/* Tags bring the loudness to its target, but the peak stays below -1 dBFS. */
TEST(call_music_loudness)
{
	struct media_music_play m = {
		.kind = MEDIA_MUSIC_FILE, .path = slice_str("a"), .gain = 1000, .duck = 150};
	static const struct {
		uint16_t target;
		double gain;
	} rows[] = {{0, 1}, {1600, 0.501}, {900, 1.122}, {500, 1.259}};

	for (unsigned i = 0; i < 4; i++) {
		const struct playout *p;

		setup();
		m.music = i + 1;
		m.loudness = rows[i].target;
		call_music_play(&rig.c, &m);
		opened(i + 1, 0, DURATION);
		run_ms(40);
		p = music_lane_playout(music_mixer_at(sender_music(rig.c.stream->sender), 0));
		CHECK((double)p->gain > rows[i].gain - 0.01 &&
		      (double)p->gain < rows[i].gain + 0.01);
		call_music_gain(&rig.c, i + 1, 500, 20);
		run_ms(100);
		CHECK((double)p->gain < rows[i].gain / 2 + 0.01);
		finish();
	}
}

static double gain_of(unsigned lane)
{
	return (double)music_lane_playout(music_mixer_at(sender_music(rig.c.stream->sender), lane))
		->gain;
}

static void deliver_levels(uint32_t music, int16_t loudness)
{
	deliver(&(struct decoder_msg){.type = DECODER_LEVELS,
				      .track = track_of(music)->decoded,
				      .levels = {loudness, DECODER_NO_LEVEL}});
}

static void play_at_16_lufs(uint32_t music)
{
	struct media_music_play m = {.music = music,
				     .kind = MEDIA_MUSIC_FILE,
				     .path = slice_str("a"),
				     .gain = 1000,
				     .duck = 150,
				     .loudness = 1600};

	call_music_play(&rig.c, &m);
}

/* Levels that are measured while music plays change its gain by a decibel a second. */
TEST(call_music_glides_to_levels_that_are_measured)
{
	setup();
	play_at_16_lufs(7);
	opened(7, 0, 30 * DURATION);
	run_ms(500);
	CHECK(fabs(gain_of(0) - 0.501) < 0.01);
	deliver_levels(7, -1300);
	run_ms(1500);
	CHECK(gain_of(0) > 0.55 && gain_of(0) < 0.62);
	run_ms(2000);
	CHECK(fabs(gain_of(0) - 0.708) < 0.01);
	finish();
}

/* Before the first sound nobody hears a change. */
TEST(call_music_takes_levels_before_its_start_at_once)
{
	setup();
	play_at_16_lufs(7);
	opened(7, 0, 30 * DURATION);
	deliver_levels(7, -1300);
	run_ms(40);
	CHECK(fabs(gain_of(0) - 0.708) < 0.01);
	finish();
}

/* The decoder of a seek knows less than the one before it did by then. */
TEST(call_music_seek_keeps_measured_levels)
{
	setup();
	play_at_16_lufs(7);
	opened(7, 0, 30 * DURATION);
	deliver_levels(7, -1300);
	run_ms(500);
	call_music_seek(&rig.c, &(struct media_music_seek){.music = 7, .position = 48000});
	opened(7, 48000, 30 * DURATION);
	run_ms(500);
	CHECK(fabs(gain_of(0) - 0.708) < 0.01);
	finish();
}

TEST(call_music_title_of_a_stream)
{
	setup();
	play(7, 0);
	opened(7, 0, 0);
	deliver(&(struct decoder_msg){
		.type = DECODER_TITLE, .track = track_of(7)->decoded, .title = "Next song"});
	CHECK_STR(rig.title, "Next song");
	finish();
}

/* Another control claims what it knows; the rest stops, and an id of it is free again. */
TEST(call_music_is_claimed)
{
	setup();
	play(7, 0);
	opened(7, 0, 10 * DURATION);
	prepare(8, 0);
	opened(8, 0, DURATION);
	run_ms(500);
	music_unclaim_all(&rig.c);
	rig.n_states = 0;
	music_send_all(&rig.c);
	CHECK_PHASE(7, PLAYING);
	CHECK_PHASE(8, READY);
	call_music_claim(&rig.c, 7);
	call_stop_unclaimed(&rig.c);
	run_ms(100);
	CHECK_PHASE(8, ENDED);
	CHECK_INT(state_of(8)->reason, MEDIA_REASON_ORPHANED);
	music_unclaim_all(&rig.c);
	play(7, 0);
	CHECK_PHASE(7, OPENING);
	rig.n_states = 0;
	music_send_all(&rig.c);
	CHECK_PHASE(8, ENDED); /* told again */
	finish();
}

TEST(call_music_ends_with_its_call)
{
	setup();
	play(7, 0);
	opened(7, 0, 10 * DURATION);
	run_ms(500);
	rig.c.leaving = true;
	send_cmd((struct cmd){.type = CMD_STREAM_REMOVE});
	step_audio(SOURCE_COMMAND, NULL, 0, 0);
	for (int i = 0; i < 20; i++)
		env_replay_step(rig.env, rig.now, SOURCE_ENGINE, 0, NULL, 0);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(state_of(7)->reason, MEDIA_REASON_CALL_ENDED);
	finish();
}

/* Without memory music is refused, and what was lent before plays on. */
TEST_OOM(call_music_without_memory)
{
	int err = start(true);

	if (err == ENOMEM && test_oom_hit()) {
		finish();
		return;
	}
	deliver_ready();
	play(7, 0);
	if (track_of(7))
		opened(7, 0, DURATION);
	CHECK(rig.n_states >= 1);
	if (!test_oom_hit())
		CHECK_PHASE(7, READY);
	finish();
}
