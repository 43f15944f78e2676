#include "mediad/music/decoder_wire.h"

#include "tests/test.h"

static int convert(const struct decoder_msg *msg, struct decoder_msg *out)
{
	uint8_t buf[DECODER_MSG_MAX];
	size_t n;
	int err = decoder_wire_encode(msg, buf, &n);

	return err ? err : decoder_wire_decode(out, buf, n);
}

TEST(decoder_wire_carries_open)
{
	struct decoder_msg m = {.type = DECODER_OPEN, .slot = 255, .track = UINT64_MAX}, got;

	m.open.start = 480000;
	m.open.measure = true;
	m.open.source.kind = DECODER_FILE;
	m.open.source.root = 3;
	strcpy(m.open.source.path, "albums/one/\xff raw bytes.flac");
	CHECK_INT(convert(&m, &got), 0);
	CHECK_INT(got.type, DECODER_OPEN);
	CHECK_INT(got.slot, 255);
	CHECK(got.track == UINT64_MAX);
	CHECK_INT(got.open.start, 480000);
	CHECK(got.open.measure);
	CHECK_INT(got.open.source.kind, DECODER_FILE);
	CHECK_INT(got.open.source.root, 3);
	CHECK_STR(got.open.source.path, m.open.source.path);
	CHECK_STR(got.open.source.headers, "");
	memset(m.open.source.headers, 'h', DECODER_HEADERS_MAX);
	memset(m.open.source.path, 'a', DECODER_PATH_MAX);
	m.open.source.path[DECODER_PATH_MAX] = '\0';
	CHECK_INT(convert(&m, &got), 0);
	CHECK_STR(got.open.source.path, m.open.source.path);
	CHECK_STR(got.open.source.headers, m.open.source.headers);
}

TEST(decoder_wire_carries_opened)
{
	struct decoder_msg m = {.type = DECODER_OPENED, .slot = 1, .track = 2}, got;

	m.opened = (struct decoder_opened){.duration = 8640000,
					   .start = 48000,
					   .seekable = true,
					   .levels = {-1830, DECODER_NO_LEVEL},
					   .title = "Über\tden\nWolken",
					   .artist = "A\xff"
						     "B",
					   .album = ""};
	CHECK_INT(convert(&m, &got), 0);
	CHECK_INT(got.opened.duration, 8640000);
	CHECK_INT(got.opened.start, 48000);
	CHECK(got.opened.seekable);
	CHECK_INT(got.opened.levels.loudness, -1830);
	CHECK_INT(got.opened.levels.peak, DECODER_NO_LEVEL);
	CHECK_STR(got.opened.title, "Über den Wolken");
	CHECK_STR(got.opened.artist, "AB");
	CHECK_STR(got.opened.album, "");
}

TEST(decoder_wire_carries_what_a_video_is)
{
	struct decoder_msg m = {.type = DECODER_OPENED, .slot = DECODER_SLOTS, .track = 2}, got;

	m.opened.video = (struct decoder_video){.codec = 3,
						.fps = 30,
						.width = 1280,
						.height = 720,
						.sound_ms = DECODER_SOUND_MAX,
						.bitrate = 2500000};
	CHECK_INT(convert(&m, &got), 0);
	CHECK_MEM(&got.opened.video, sizeof got.opened.video, &m.opened.video,
		  sizeof m.opened.video);
	m.opened.video.codec = DECODER_CODEC_LAST + 1;
	CHECK_INT(convert(&m, &got), EBADMSG);
	m.opened.video.codec = 3;
	m.opened.video.sound_ms++;
	CHECK_INT(convert(&m, &got), EBADMSG);
	/* A sound has none. */
	m.opened.video = (struct decoder_video){0};
	CHECK_INT(convert(&m, &got), 0);
	CHECK_INT(got.opened.video.codec, 0);
}

TEST(decoder_wire_carries_the_small_messages)
{
	struct decoder_msg m = {.type = DECODER_CLOSE, .slot = 9, .track = 10}, got;

	CHECK_INT(convert(&m, &got), 0);
	CHECK_INT(got.type, DECODER_CLOSE);
	CHECK_INT(got.track, 10);
	m.type = DECODER_TITLE;
	strcpy(m.title, "Song");
	CHECK_INT(convert(&m, &got), 0);
	CHECK_STR(got.title, "Song");
	m.type = DECODER_LEVELS;
	m.levels = (struct decoder_levels){-2310, DECODER_NO_LEVEL};
	CHECK_INT(convert(&m, &got), 0);
	CHECK_INT(got.levels.loudness, -2310);
	CHECK_INT(got.levels.peak, DECODER_NO_LEVEL);
	m.type = DECODER_ENDED;
	m.reason = DECODER_REASON_DAMAGED;
	CHECK_INT(convert(&m, &got), 0);
	CHECK_INT(got.reason, DECODER_REASON_DAMAGED);
	m = (struct decoder_msg){.type = DECODER_READY, .jailed = true};
	CHECK_INT(convert(&m, &got), 0);
	CHECK_INT(got.type, DECODER_READY);
	CHECK(got.jailed);
}

/* Every truncation and every extension of a message is malformed. */
TEST(decoder_wire_refuses_wrong_lengths)
{
	struct decoder_msg m = {.type = DECODER_OPEN, .slot = 1, .track = 2}, got;
	uint8_t buf[DECODER_MSG_MAX + 1] = {0};
	size_t n;

	m.open.source.kind = DECODER_HTTP;
	strcpy(m.open.source.path, "https://radio.example/");
	CHECK_INT(decoder_wire_encode(&m, buf, &n), 0);
	for (size_t i = 0; i < n; i++)
		CHECK_INT(decoder_wire_decode(&got, buf, i), EBADMSG);
	CHECK_INT(decoder_wire_decode(&got, buf, n), 0);
	CHECK_INT(decoder_wire_decode(&got, buf, n + 1), EBADMSG);
}

TEST(decoder_wire_refuses_fields_out_of_range)
{
	struct decoder_msg m = {.type = DECODER_OPEN, .slot = DECODER_VIDEOS, .track = 2}, got;
	uint8_t buf[DECODER_MSG_MAX];
	size_t n;

	m.open.source.kind = DECODER_FILE;
	strcpy(m.open.source.path, "file");
	CHECK_INT(decoder_wire_encode(&m, buf, &n), 0);
	buf[1] = 1; /* DECODER_ALL_SLOTS */
	CHECK_INT(decoder_wire_decode(&got, buf, n), EBADMSG);
	buf[1] = 0;
	buf[20] = 3; /* kind */
	CHECK_INT(decoder_wire_decode(&got, buf, n), EBADMSG);
	buf[20] = DECODER_FILE;
	buf[21] = DECODER_ROOTS;
	CHECK_INT(decoder_wire_decode(&got, buf, n), EBADMSG);
	buf[21] = 0;
	buf[n - 3] = '\0';
	CHECK_INT(decoder_wire_decode(&got, buf, n), EBADMSG);
	buf[n - 3] = 'e';
	CHECK_INT(decoder_wire_decode(&got, buf, n), 0);
	buf[0] = 99;
	CHECK_INT(decoder_wire_decode(&got, buf, n), EBADMSG);
}

TEST(decoder_wire_carries_what_is_logged)
{
	struct decoder_msg m = {.type = DECODER_LOG, .log = {DECODER_LOG_LEVEL_MAX, true}}, got;
	uint8_t buf[DECODER_MSG_MAX];
	size_t n;

	CHECK_INT(convert(&m, &got), 0);
	CHECK_INT(got.type, DECODER_LOG);
	CHECK_INT(got.log.level, DECODER_LOG_LEVEL_MAX);
	CHECK(got.log.json);
	CHECK_INT(decoder_wire_encode(&m, buf, &n), 0);
	CHECK_INT(n, 3);
	buf[1]++;
	CHECK_INT(decoder_wire_decode(&got, buf, n), EBADMSG);
	buf[1]--;
	CHECK_INT(decoder_wire_decode(&got, buf, n - 1), EBADMSG);
}

TEST(decoder_reasons_have_names)
{
	CHECK_STR(decoder_reason_name(DECODER_REASON_END), "end");
	CHECK_STR(decoder_reason_name((enum decoder_reason)200), "unknown");
	CHECK_STR(decoder_reason_text(DECODER_REASON_DAMAGED), "the source is damaged");
	CHECK_INT(decoder_reason_of(DECODER_REASON_LOST), DECODER_REASON_LOST);
	CHECK_INT(decoder_reason_of(DECODER_REASON_VIDEO_SIZE + 1), DECODER_REASON_UNKNOWN);
}

/* A hostile decoder process names places that no number of milliseconds holds. */
TEST(decoder_wire_bounds_the_places_of_a_track)
{
	static const uint64_t hostile[] = {DECODER_FRAMES_MAX + 1, INT64_MAX, UINT64_MAX};
	struct decoder_msg m = {.type = DECODER_OPENED, .slot = 1, .track = 2}, got;

	m.opened.duration = m.opened.start = DECODER_FRAMES_MAX;
	CHECK_INT(convert(&m, &got), 0);
	for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
		m.opened.duration = hostile[i];
		m.opened.start = 0;
		CHECK_INT(convert(&m, &got), EBADMSG);
		m.opened.duration = 0;
		m.opened.start = hostile[i];
		CHECK_INT(convert(&m, &got), EBADMSG);
	}
}
