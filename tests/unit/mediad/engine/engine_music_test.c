/* Music through the engine: from its source to the wire, and the input that carries it. */
#include "mediad/engine/music_feed.h"

#include "tests/test.h"
#include "tests/unit/mediad/engine/stream_fixture.h"

static void run(struct stream_fixture *b)
{
	CHECK_INT(stream_fixture_alloc(b, NULL, NULL, 1), 0);
	CHECK_INT(stream_fixture_begin(b), 0);
	env_run(b->env);
	CHECK(!b->timed_out && b->gone);
	stream_fixture_free(b);
}

TEST(engine_plays_music)
{
	struct stream_fixture b = {.music_ms = 600};

	run(&b);
	CHECK_INT(b.music_started, 1);
	CHECK_INT(b.music_drained, 1);
	CHECK_INT(b.music_frames, 600 * 48);
	CHECK(b.heard > 20 && b.other > 1000 && b.tone < b.other / 10);
}

/* Speech sounds over music, and each of them to its end. */
TEST(engine_plays_music_under_speech)
{
	struct stream_fixture b = {.music_ms = 600, .tone_ms = 400, .encrypted = true};

	run(&b);
	CHECK_INT(b.music_drained, 1);
	CHECK_INT(b.lane_drained, 1);
	CHECK_INT(b.lane_samples, 400 * 48);
	CHECK(b.tone > 1000 && b.other < b.tone);
	CHECK_INT(b.plain, 0);
}

/* A source that breaks its ring ends its lane, and nothing else. */
TEST(engine_stops_music_of_a_broken_source)
{
	struct stream_fixture b = {.music_ms = 600, .music_breaks = true};

	run(&b);
	CHECK_INT(b.music_stopped, 1);
	CHECK(b.music_frames >= 100 * 48 && b.music_frames <= 400 * 48);
	CHECK_INT(b.bad, 0);
}

static int read_ramp(void *arg, int16_t *pcm, size_t frames, size_t *got)
{
	size_t *left = arg;

	*got = frames < *left ? frames : *left;
	*left -= *got;
	for (size_t i = 0; i < 2 * *got; i++)
		pcm[i] = (int16_t)i;
	return 0;
}

static bool ramp_has_ended(void *arg)
{
	return !*(size_t *)arg;
}

TEST(music_feed_reads_what_fits)
{
	static int16_t buf[MUSIC_FEED_MAX / 2];
	static struct music_feed f;
	struct music_lane *l = NULL;
	size_t left = MUSIC_LANE_CAPACITY + 7, n;
	struct music_lane_conf conf = {.id = 0xfedcba98,
				       .gain = PLAYOUT_GAIN_UNITY,
				       .source = {read_ramp, ramp_has_ended, &left}};
	char text[100];
	uint8_t kind;

	CHECK_INT(music_lane_alloc(&l, &conf), 0);
	n = music_feed_read(l, 300, buf, &kind);
	CHECK_INT(n, MUSIC_FEED_MAX);
	CHECK(music_feed_parse(kind, (const uint8_t *)buf, n, &f));
	CHECK(f.stream == 300 && f.lane == 0xfedcba98 && f.n == MUSIC_LANE_CAPACITY);
	CHECK(!f.ended && !f.broken && f.pcm[1] == 1 &&
	      f.pcm[2 * f.n - 1] == (int16_t)(2 * f.n - 1));
	n = music_feed_describe(kind, (const uint8_t *)buf, n, text, sizeof text);
	CHECK_MEM(text, n, "music line=300 lane=4275878552 frames=4800 flags=0", n);
	CHECK_INT(music_lane_write(l, f.pcm, f.n, 0), 0);
	CHECK_INT(music_feed_read(l, 300, buf, &kind), 0); /* it is full */
	playout_confirm(music_lane_playout(l), 0, true, 0);
	music_lane_playout(l)->pulled = music_lane_playout(l)->confirmed = 960;
	n = music_feed_read(l, 300, buf, &kind);
	CHECK(music_feed_parse(kind, (const uint8_t *)buf, n, &f) && f.n == 7 && f.ended);
	music_lane_end(l);
	CHECK_INT(music_feed_read(l, 300, buf, &kind), 0);
	music_lane_free(l);
}

TEST(music_feed_refuses_malformed_inputs)
{
	static uint8_t data[MUSIC_FEED_MAX + 4];
	static struct music_feed f;

	CHECK(music_feed_parse(3, data, MUSIC_FEED_HEAD, &f) && f.n == 0 && f.ended && f.broken);
	CHECK(music_feed_parse(0, data, MUSIC_FEED_MAX, &f));
	CHECK(!music_feed_parse(0, data, MUSIC_FEED_MAX + 4, &f));
	CHECK(!music_feed_parse(0, data, MUSIC_FEED_HEAD + 3, &f));
	CHECK(!music_feed_parse(0, data, MUSIC_FEED_HEAD - 1, &f));
}
