/* Packets with times of any size (mediad/decoder/convert.c). */
#include "mediad/decoder/convert.h"

#include <libavcodec/avcodec.h>
#include <stdlib.h>

#include "tests/test.h"

enum { DAMAGED_PACKETS = 400 };

static enum decoder_reason on_unit(const struct video_unit *unit, const uint8_t *bytes, void *arg)
{
	(void)unit, (void)bytes, (void)arg;
	return DECODER_REASON_UNKNOWN;
}

/* Bytes that no decoder takes, at a time in microseconds. */
static enum decoder_reason put(struct convert *c, int64_t us, bool key)
{
	AVPacket *p = av_packet_alloc();
	enum decoder_reason reason;

	if (!p || av_new_packet(p, 1))
		abort();
	p->data[0] = 0;
	p->pts = us;
	p->flags = key ? AV_PKT_FLAG_KEY : 0;
	reason = convert_put(c, p);
	av_packet_free(&p);
	return reason;
}

static void open_convert(struct convert **c)
{
	AVCodecParameters *codec = avcodec_parameters_alloc();
	const struct convert_conf conf = {
		.codec = codec, .time_base = {1, 1000000}, .fps = 30, .unith = on_unit};

	CHECK(codec);
	av_log_set_level(AV_LOG_QUIET);
	codec->codec_type = AVMEDIA_TYPE_VIDEO;
	codec->codec_id = AV_CODEC_ID_VP8;
	codec->width = codec->height = 64;
	CHECK_INT(convert_open(c, &conf), DECODER_REASON_UNKNOWN);
	avcodec_parameters_free(&codec);
}

/* Returns true if packets without a key frame are decoded, of which each one is damage. */
static bool decodes(struct convert *c, int64_t us)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;

	for (unsigned i = 0; i < DAMAGED_PACKETS && !reason; i++) {
		convert_save(c, LEAD_KEYS);
		reason = put(c, us, false);
	}
	return reason == DECODER_REASON_DAMAGED;
}

/* A distance that no number holds was a negative one, so key frames were near one another. */
TEST(convert_takes_key_frames_at_both_ends_of_time_as_far_apart)
{
	struct convert *c;

	open_convert(&c);
	put(c, INT64_MIN + 2, true);
	put(c, INT64_MIN + 1000002, true);
	CHECK(!decodes(c, INT64_MIN + 1000003));
	put(c, INT64_MAX - 2, true);
	CHECK(decodes(c, INT64_MAX - 1));
	convert_free(c);
}

/* It waited for a key frame for ever. */
TEST(convert_waits_for_a_key_frame_for_a_bounded_time)
{
	struct convert *c;

	open_convert(&c);
	put(c, INT64_MIN + 2, true);
	put(c, INT64_MIN + 1000002, true);
	convert_save(c, LEAD_KEYS);
	put(c, INT64_MIN + 1000002, false);
	CHECK(decodes(c, INT64_MAX - 1));
	convert_free(c);
}
