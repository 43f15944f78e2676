/* Music in the sender: stereo on the wire, speech over it, ducking, and what happens to both at
 * stops, gates and halts. */
#include <math.h>
#include <opus/opus.h>

#include "tests/unit/mediad/audio/send_fixture.h"

enum { MUSIC = 5, NEXT_MUSIC, MUSIC_HZ = 1000, LOOKAHEAD = 312 };

static struct music_lane *music;
static uint32_t music_at, music_left;
static int16_t heard[2 * SECOND * 20];

/* Fills the lane with a tone, the right channel at half the height of the left one. */
static void feed(void)
{
	static int16_t pcm[2 * MUSIC_LANE_CAPACITY];
	struct playout *p;
	size_t n;

	if (!music || (!music_mixer_lane(sender_music(send_rig.s), MUSIC) &&
		       !music_mixer_lane(sender_music(send_rig.s), NEXT_MUSIC)))
		return;
	p = music_lane_playout(music);
	if (p->state == PLAYOUT_STOPPED)
		return;
	n = playout_room(p) < music_left ? playout_room(p) : music_left;
	for (size_t i = 0; i < n; i++, music_at++) {
		pcm[2 * i] = (int16_t)lrint(8000 * sin(2 * M_PI * MUSIC_HZ * music_at / 48000.0));
		pcm[2 * i + 1] = pcm[2 * i] / 2;
	}
	if (n)
		CHECK_INT(music_lane_write(music, pcm, n, send_rig.now), 0);
	music_left -= (uint32_t)n;
	if (!music_left)
		music_lane_end(music);
}

static void lend_mixer(void)
{
	struct music_mixer *m = NULL;

	if (music_mixer_alloc(&m) || sender_lend_music(send_rig.s, m))
		abort();
	send_rig.before = feed;
}

static void start_track(uint32_t id, uint32_t frames)
{
	struct music_lane_conf conf = {.id = id, .gain = PLAYOUT_GAIN_UNITY};

	music_at = 0;
	music_left = frames;
	if (music_lane_alloc(&music, &conf) ||
	    music_mixer_add(sender_music(send_rig.s), music, &(struct music_joint){0}))
		abort();
}

static void start_music(uint32_t frames)
{
	start_track(MUSIC, frames);
}

static void setup(void)
{
	music = NULL;
	send_setup(true);
	lend_mixer();
}

static void decode_all(void)
{
	int err = 0;
	OpusDecoder *dec = opus_decoder_create(48000, 2, &err);

	for (int i = 0; i < send_rig.n_out; i++)
		if (opus_decode(dec, send_rig.out[i].opus, (opus_int32)send_rig.out[i].len,
				heard + (size_t)i * 2 * LANE_FRAME, LANE_FRAME, 0) != LANE_FRAME)
			abort();
	opus_decoder_destroy(dec);
}

/* The height of a tone in one channel of `frames` packets from packet `from` on. */
static double height_of(double hz, int channel, int from, int frames)
{
	int first = from * LANE_FRAME + LOOKAHEAD, n = frames * LANE_FRAME;
	double re = 0, im = 0;

	for (int i = first; i < first + n; i++) {
		double x = heard[(size_t)i * 2 + (size_t)channel];

		re += x * cos(2 * M_PI * hz * i / 48000.0);
		im += x * sin(2 * M_PI * hz * i / 48000.0);
	}
	return 2 * hypot(re, im) / n;
}

static int count_type(enum sender_event_type type)
{
	int n = 0;

	for (int i = 0; i < send_rig.n_ev; i++)
		n += send_rig.ev[i].type == type;
	return n;
}

TEST(send_music_in_stereo)
{
	const struct sender_event *ev;

	setup();
	start_music(SECOND);
	send_run_ms(2500);
	/* 50 frames, one that drives out the lookahead, five of silence. */
	CHECK_INT(send_rig.n_out, 56);
	decode_all();
	CHECK(fabs(height_of(MUSIC_HZ, 0, 10, 30) / 8000 - 1) < 0.03);
	CHECK(fabs(height_of(MUSIC_HZ, 1, 10, 30) / 4000 - 1) < 0.03);
	ev = send_find_event(SENDER_DRAINED);
	CHECK(ev && ev->music && !ev->lane && ev->playback == MUSIC && ev->samples == SECOND);
	ev = send_find_event(SENDER_STARTED);
	CHECK(ev && ev->at == send_rig.out[0].at);
	CHECK(sender_is_idle(send_rig.s));
	sender_free(send_rig.s);
}

/* The channel's bitrate may change, and the bot be moved to another channel. */
TEST(send_music_follows_the_bitrate_of_the_channel)
{
	size_t before = 0, after = 0;

	setup();
	sender_set_bitrate(send_rig.s, 256000);
	start_music(4 * SECOND);
	send_run_ms(2000);
	for (int i = 40; i < 80; i++)
		before += send_rig.out[i].len;
	sender_set_bitrate(send_rig.s, 48000);
	send_run_ms(1500);
	for (int i = 110; i < 150; i++)
		after += send_rig.out[i].len;
	CHECK(before > 2 * after);
	CHECK(after < 40 * (size_t)48000 / 50 / 8 * 5 / 4);
	sender_free(send_rig.s);
}

/* The answer waits until the music is down, and its first packet has the music at the level set. */
TEST(send_ducks_music_before_speech)
{
	int first = 0;
	double ducked, full;

	setup();
	start_music(8 * SECOND);
	send_run_ms(1000);
	CHECK(send_find_event(SENDER_STARTED) != NULL);
	send_rig.n_ev = 0;
	send_say(3, SECOND, true);
	send_run_ms(4000);
	CHECK(send_rig.n_ev > 0 && send_rig.ev[0].type == SENDER_STARTED &&
	      send_rig.ev[0].playback == 3);
	while (first < send_rig.n_out && send_rig.out[first].at < send_rig.ev[0].at)
		first++;
	/* One tick until the lane starts, and the attack. */
	CHECK_INT((send_rig.ev[0].at - 1000 * NS_PER_MS) / NS_PER_MS % 20, 0);
	decode_all();
	full = height_of(MUSIC_HZ, 0, first - 15, 10);
	ducked = height_of(MUSIC_HZ, 0, first, 5);
	CHECK(fabs(20 * log10(ducked / full) - 20 * log10(0.15)) < 0.5);
	CHECK(height_of(300, 0, first - 6, 5) < 100);
	/* Both sides of the speech, at full height. */
	CHECK(fabs(height_of(300, 0, first + 5, 30) / 9000 - 1) < 0.05);
	CHECK(fabs(height_of(300, 1, first + 5, 30) / 9000 - 1) < 0.05);
	/* 1200 ms after its last sample the music is back. */
	CHECK(fabs(height_of(MUSIC_HZ, 0, first + 50 + 61, 20) / full - 1) < 0.03);
	sender_free(send_rig.s);
}

/* Returns how many ticks pass from sender_add to the first packet of speech. */
static int ticks_to_speech(bool with_music)
{
	uint64_t since;

	setup();
	if (with_music)
		start_music(8 * SECOND);
	else
		lane_free(NULL);
	send_run_ms(2000);
	send_rig.n_ev = 0;
	since = send_rig.now;
	send_say(3, SECOND, true);
	send_run_ms(1000);
	sender_free(send_rig.s);
	for (int i = 0; i < send_rig.n_ev; i++)
		if (send_rig.ev[i].type == SENDER_STARTED)
			return (int)((send_rig.ev[i].at - since) / TICK);
	return -1;
}

TEST(send_speech_waits_for_the_attack_only_over_music)
{
	int without = ticks_to_speech(false), with = ticks_to_speech(true);

	CHECK(without >= 1);
	/* Without music op 5 and its round trip come first. */
	CHECK(with >= 4 && with <= 6);
}

/* Speech that sounds already goes on when music starts, which is down from its first sample. */
TEST(send_music_that_starts_under_speech)
{
	setup();
	send_say(3, 2 * SECOND, true);
	send_run_ms(500);
	start_music(SECOND);
	send_run_ms(1500);
	decode_all();
	CHECK(fabs(20 * log10(height_of(MUSIC_HZ, 0, 35, 20) / 8000) - 20 * log10(0.15)) < 0.5);
	/* A fresh encoder would lose a seventh of its first frame. */
	for (int f = 2; f < 80; f++)
		CHECK(fabs(height_of(300, 0, f, 1) / 9000 - 1) < 0.08);
	CHECK_INT(count_type(SENDER_STARTED), 2);
	sender_free(send_rig.s);
}

/* A track ended under an answer: the next one, long after it, is at its full height at once. */
TEST(send_music_after_a_track_that_ended_ducked)
{
	int first;

	setup();
	start_music(SECOND);
	send_run_ms(500);
	send_say(3, SECOND, true);
	send_run_ms(4000);
	first = send_rig.n_out;
	start_track(NEXT_MUSIC, SECOND);
	send_run_ms(1000);
	decode_all();
	CHECK(fabs(height_of(MUSIC_HZ, 0, first + 1, 5) / 8000 - 1) < 0.1);
	sender_free(send_rig.s);
}

/* A track ended by itself and an answer came: the next one is down from its first sample. */
TEST(send_music_after_a_track_that_ended_in_full)
{
	int first = 0;

	setup();
	start_music(SECOND);
	send_run_ms(2500);
	send_say(3, 2 * SECOND, true);
	send_run_ms(500);
	first = send_rig.n_out;
	start_track(NEXT_MUSIC, SECOND);
	send_run_ms(1000);
	decode_all();
	CHECK(height_of(MUSIC_HZ, 0, first, 4) < 8000 * 0.18);
	sender_free(send_rig.s);
}

/* A session that is lost in an answer and comes back after it has the music at its full height. */
TEST(send_music_that_was_down_when_the_session_was_lost)
{
	int first;

	setup();
	start_music(8 * SECOND);
	send_run_ms(500);
	send_say(3, SECOND / 2, true);
	send_run_ms(300);
	sender_halt(send_rig.s, send_rig.now);
	CHECK(sender_command(send_rig.s, 3, SENDER_STOP, 0, 0, send_rig.now));
	send_run_ms(4000);
	sender_start(send_rig.s, send_rig.now + TICK, 7, 9);
	first = send_rig.n_out;
	send_run_ms(1000);
	decode_all();
	CHECK(fabs(height_of(MUSIC_HZ, 0, first + 7, 5) / 8000 - 1) < 0.1);
	sender_free(send_rig.s);
}

/* Speech that has begun does not wait for a duck that is made deeper. */
TEST(send_speech_goes_on_while_the_duck_deepens)
{
	struct duck_conf deep = DUCK_DEFAULT;

	setup();
	start_music(4 * SECOND);
	send_run_ms(500);
	send_say(3, SECOND, true);
	send_run_ms(500);
	deep.depth = 10;
	duck_set(music_mixer_duck(sender_music(send_rig.s)), &deep);
	send_run_ms(1200);
	CHECK_INT(count_type(SENDER_DRAINED), 1);
	for (int i = 0; i < send_rig.n_ev; i++)
		if (send_rig.ev[i].type == SENDER_STARTED && send_rig.ev[i].playback == 3)
			for (int k = 0; k < send_rig.n_ev; k++)
				if (send_rig.ev[k].type == SENDER_DRAINED)
					CHECK_INT((send_rig.ev[k].at - send_rig.ev[i].at) / TICK,
						  49);
	sender_free(send_rig.s);
}

TEST(send_stopped_music_leaves_with_the_next_packet)
{
	int n;

	setup();
	start_music(8 * SECOND);
	send_run_ms(500);
	n = send_rig.n_out;
	CHECK(sender_command_music(send_rig.s, MUSIC, SENDER_STOP, 0, 0, send_rig.now));
	CHECK_INT(count_type(SENDER_STOPPED), 1);
	send_run_ms(200);
	CHECK(send_rig.out[n].silence);
	CHECK(!sender_command_music(send_rig.s, MUSIC, SENDER_STOP, 0, 0, send_rig.now));
	CHECK_INT(send_find_event(SENDER_STOPPED)->samples, (uint64_t)n * LANE_FRAME);
	sender_free(send_rig.s);
}

/* A closed gate and a lost session freeze music where it is; nothing is lost or doubled. */
TEST(send_music_waits_for_key_and_session)
{
	setup();
	start_music(2 * SECOND);
	send_run_ms(500);
	sender_set_gate(send_rig.s, false);
	send_run_ms(SENDER_KEY_WAIT_MS + 1000);
	CHECK_INT(count_type(SENDER_STOPPED), 0);
	sender_set_gate(send_rig.s, true);
	send_run_ms(500);
	sender_halt(send_rig.s, send_rig.now);
	send_run_ms(100);
	sender_start(send_rig.s, send_rig.now + TICK, 7, 9);
	send_run_ms(3000);
	CHECK_INT(count_type(SENDER_DRAINED), 1);
	/* The frame that the halt dropped was not sent, but is behind the place in the source. */
	CHECK_INT(send_find_event(SENDER_DRAINED)->samples, 2 * SECOND);
	sender_free(send_rig.s);
}

TEST(send_paused_music_costs_no_ticks)
{
	setup();
	start_music(2 * SECOND);
	send_run_ms(500);
	CHECK(sender_command_music(send_rig.s, MUSIC, SENDER_PAUSE, 0, 40, send_rig.now));
	send_run_ms(200);
	CHECK_INT(count_type(SENDER_PAUSED), 1);
	send_run_ms(SENDER_SPEAKING_HOLD_MS + 200);
	CHECK(sender_is_idle(send_rig.s));
	CHECK(sender_command_music(send_rig.s, MUSIC, SENDER_RESUME, 0, 40, send_rig.now));
	CHECK(!sender_is_idle(send_rig.s));
	CHECK(sender_command_music(send_rig.s, MUSIC, SENDER_GAIN, PLAYOUT_GAIN_UNITY / 2, 100,
				   send_rig.now));
	send_run_ms(3000);
	CHECK_INT(send_find_event(SENDER_DRAINED)->samples, 2 * SECOND);
	sender_free(send_rig.s);
}

/* Lanes that are still lent are freed with the sender, or taken out before. */
TEST(send_music_at_teardown)
{
	struct music_mixer *m = NULL;
	struct music_lane *l;

	setup();
	start_music(SECOND);
	send_run_ms(300);
	l = sender_take_music(send_rig.s);
	CHECK(l == music);
	music_lane_free(l);
	CHECK(!sender_take_music(send_rig.s));
	send_run_ms(100);
	start_music(SECOND);
	CHECK_INT(music_mixer_alloc(&m), 0);
	CHECK_INT(sender_lend_music(send_rig.s, m), EEXIST);
	music_mixer_free(m);
	sender_free(send_rig.s);
}
