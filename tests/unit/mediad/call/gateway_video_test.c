/* What the voice gateway machine says and reads about the video of a stream (Go Live). */
#include "tests/unit/mediad/call/gateway_bench.h"

#include <errno.h>

#include "mediad/call/gateway_wire.h"

static const char ready_with_video[] =
	"{\"op\":2,\"seq\":1,\"d\":{\"ssrc\":12,\"ip\":\"66.22.196.1\",\"port\":5000,\"modes\":"
	"[\"aead_aes256_gcm_rtpsize\"],\"streams\":[{\"type\":\"screen\",\"rid\":\"100\","
	"\"ssrc\":13,\"rtx_ssrc\":14,\"quality\":100,\"active\":false}]}}";

static bool start(struct vgw_bench *b, bool stream, const char *codec)
{
	if (vgw_bench_start(b))
		return false;
	b->g->conf.stream = stream;
	vgw_video_codec(b->g, codec);
	return true;
}

/* Up to op 1, whose text is b->last then. */
static void select_protocol(struct vgw_bench *b)
{
	vgw_bench_lease(b, "s1");
	vgw_ws_open(b->g, b->now, b->conn);
	vgw_bench_text(b, hello);
	vgw_bench_text(b, ready_with_video);
	vgw_discovered(b->g, b->now, "203.0.113.9", 4000);
}

static void join(struct vgw_bench *b)
{
	select_protocol(b);
	vgw_bench_describe(b, modes[0], 1);
}

TEST(gateway_video_is_offered_in_streams_alone)
{
	struct vgw_bench b;

	CHECK(start(&b, false, NULL));
	vgw_bench_lease(&b, "s1");
	vgw_ws_open(b.g, b.now, b.conn);
	CHECK(!strstr(b.last, "\"video\""));
	select_protocol(&b);
	CHECK(!strstr(b.last, "H264"));
	CHECK(!strstr(b.log, "ours"));
	vgw_bench_end(&b);

	CHECK(start(&b, true, "VP8"));
	vgw_bench_lease(&b, "s1");
	vgw_ws_open(b.g, b.now, b.conn);
	CHECK(strstr(b.last, "\"video\":true,\"streams\":[{\"type\":\"screen\",\"rid\":\"100\","
			     "\"quality\":100}]"));
	vgw_bench_end(&b);
}

/* Every codec is read; the one that we send is offered for that as well. */
TEST(gateway_video_codecs_of_op_1)
{
	static const char h264[] = "{\"name\":\"H264\",\"type\":\"video\",\"priority\":3000,"
				   "\"payload_type\":103,\"rtx_payload_type\":104,\"encode\":%s,"
				   "\"decode\":true}";
	char want[200];
	struct vgw_bench b;

	CHECK(start(&b, true, "H264"));
	select_protocol(&b);
	snprintf(want, sizeof want, h264, "true");
	CHECK(strstr(b.last, want));
	CHECK(strstr(b.last, "\"name\":\"opus\""));
	CHECK(strstr(b.last, "\"name\":\"AV1\"") && strstr(b.last, "\"name\":\"VP8\""));
	CHECK(strstr(b.log, "discover ours"));
	CHECK_INT(b.video.ssrc, 13);
	CHECK_INT(b.video.rtx_ssrc, 14);
	vgw_bench_end(&b);

	CHECK(start(&b, true, NULL)); /* a viewer */
	select_protocol(&b);
	snprintf(want, sizeof want, h264, "false");
	CHECK(strstr(b.last, want));
	vgw_bench_end(&b);
}

TEST(gateway_video_is_told_and_wanted)
{
	static const uint32_t ssrcs[] = {4000000000, 7};
	static const uint8_t qualities[] = {100, 1};
	struct vgw_video v = {.ssrc = 13,
			      .rtx_ssrc = 14,
			      .width = 1280,
			      .height = 720,
			      .fps = 30,
			      .bitrate = 2500000};
	struct vgw_bench b;

	CHECK(start(&b, true, "H264"));
	select_protocol(&b);
	CHECK_INT(vgw_video_tell(b.g, &v), ENOTCONN);
	CHECK_INT(vgw_video_want(b.g, ssrcs, qualities, 2), ENOTCONN);
	vgw_bench_describe(&b, modes[0], 1);
	CHECK_INT(vgw_video_tell(b.g, &v), 0);
	CHECK_STR(b.last, "{\"op\":12,\"d\":{\"audio_ssrc\":12,\"video_ssrc\":13,\"rtx_ssrc\":14,"
			  "\"streams\":[{\"type\":\"screen\",\"rid\":\"100\",\"ssrc\":13,"
			  "\"rtx_ssrc\":14,\"active\":true,\"quality\":100,\"max_bitrate\":2500000,"
			  "\"max_framerate\":30,\"max_resolution\":{\"type\":\"fixed\","
			  "\"width\":1280,\"height\":720}}]}}");
	CHECK_INT(vgw_video_tell(b.g, &(struct vgw_video){.rtx_ssrc = 14}), 0);
	CHECK_STR(b.last, "{\"op\":12,\"d\":{\"audio_ssrc\":12,\"video_ssrc\":0,\"rtx_ssrc\":0,"
			  "\"streams\":[]}}");
	CHECK_INT(vgw_video_want(b.g, ssrcs, qualities, 2), 0);
	CHECK_STR(b.last, "{\"op\":15,\"d\":{\"any\":0,\"4000000000\":100,\"7\":1}}");
	/* The sound of a stream is a shared one. */
	vgw_speaking(b.g, b.now, true);
	CHECK(strstr(b.last, "\"speaking\":2,"));
	vgw_bench_end(&b);
}

/* Returns what op 12 with these fields tells, and whether it was read. */
static bool source_of(struct vgw_bench *b, const char *fields)
{
	uint64_t bad = vgw_malformed(b->g);
	char text[700];

	snprintf(text, sizeof text, "{\"op\":12,\"d\":{\"user_id\":\"7\",\"audio_ssrc\":0,%s}}",
		 fields);
	b->video = (struct vgw_video){0};
	vgw_bench_text(b, text);
	return vgw_malformed(b->g) == bad;
}

TEST(gateway_video_sources_of_op_12)
{
	struct vgw_bench b;

	CHECK(start(&b, true, NULL));
	join(&b);
	CHECK(source_of(&b, "\"video_ssrc\":70,\"rtx_ssrc\":71,\"streams\":["
			    "{\"rid\":\"50\",\"ssrc\":72,\"active\":true,\"quality\":50},"
			    "{\"rid\":\"100\",\"ssrc\":70,\"rtx_ssrc\":71,\"active\":true,"
			    "\"quality\":100,\"max_framerate\":29.97,\"max_resolution\":{\"width\":"
			    "1920,\"height\":1080}},"
			    "{\"rid\":\"x\",\"ssrc\":74,\"active\":false,\"quality\":100}]"));
	CHECK_INT(b.video.user, 7);
	CHECK_INT(b.video.ssrc, 70);
	CHECK_INT(b.video.rtx_ssrc, 71);
	CHECK_INT(b.video.width, 1920);
	CHECK_INT(b.video.height, 1080);
	CHECK_INT(b.video.fps, 29);
	/* No stream is sent; without a list the numbers beside it count. */
	CHECK(source_of(&b, "\"video_ssrc\":70,\"streams\":[{\"ssrc\":70,\"active\":false}]"));
	CHECK_INT(b.video.user, 7);
	CHECK_INT(b.video.ssrc, 0);
	CHECK(source_of(&b, "\"video_ssrc\":70,\"rtx_ssrc\":70"));
	CHECK_INT(b.video.ssrc, 70);
	CHECK_INT(b.video.rtx_ssrc, 0);
	/* Numbers that cannot be are none. */
	CHECK(source_of(&b, "\"streams\":[{\"ssrc\":-1,\"active\":true}]"));
	CHECK_INT(b.video.ssrc, 0);
	CHECK(source_of(&b, "\"streams\":[{\"ssrc\":9,\"active\":true,\"max_framerate\":1e99,"
			    "\"max_resolution\":{\"width\":65536,\"height\":\"x\"}}]"));
	CHECK_INT(b.video.ssrc, 9);
	CHECK_INT(b.video.fps, 0);
	CHECK_INT(b.video.width, 0);
	CHECK(source_of(&b, "\"streams\":7"));
	CHECK_INT(b.video.ssrc, 0);
	b.video.user = 0;
	vgw_bench_text(&b, "{\"op\":12,\"d\":{\"user_id\":\"99\",\"audio_ssrc\":0,"
			   "\"video_ssrc\":5}}"); /* ourselves */
	CHECK_INT(b.video.user, 0);
	CHECK_INT(vgw_malformed(b.g), 0);
	vgw_bench_text(&b, "{\"op\":12,\"d\":{\"audio_ssrc\":0,\"video_ssrc\":5}}");
	CHECK_INT(vgw_malformed(b.g), 1);
	vgw_bench_end(&b);
}

TEST(gateway_video_quality_of_op_15)
{
	struct vgw_bench b;

	CHECK(start(&b, true, "H264"));
	join(&b);
	vgw_bench_text(&b, "{\"op\":15,\"d\":{\"any\":0,\"13\":80}}");
	CHECK_INT(b.quality, 80);
	vgw_bench_text(&b, "{\"op\":15,\"d\":{\"any\":10,\"streams\":{\"13\":70}}}");
	CHECK_INT(b.quality, 70);
	vgw_bench_text(&b, "{\"op\":15,\"d\":{\"any\":10,\"15\":70}}");
	CHECK_INT(b.quality, 10);
	CHECK_INT(vgw_malformed(b.g), 0);
	vgw_bench_text(&b, "{\"op\":15,\"d\":{\"13\":101}}");
	vgw_bench_text(&b, "{\"op\":15,\"d\":{}}");
	vgw_bench_text(&b, "{\"op\":15,\"d\":null}");
	CHECK_INT(b.quality, 10);
	CHECK_INT(vgw_malformed(b.g), 3);
	vgw_bench_end(&b);
}

TEST(gateway_video_is_not_read_in_calls)
{
	struct vgw_bench b;

	CHECK(start(&b, false, NULL));
	join(&b);
	CHECK(source_of(&b, "\"video_ssrc\":70"));
	CHECK_INT(b.video.user, 0);
	vgw_bench_text(&b, "{\"op\":15,\"d\":{\"any\":100}}");
	CHECK_INT(b.quality, 0);
	CHECK(!strstr(b.log, "source") && !strstr(b.log, "wanted"));
	vgw_bench_end(&b);
}

/* A message that finds no memory is empty, and the session is resumed for it. */
TEST_OOM(gateway_video_without_memory)
{
	static const uint32_t ssrc = 7;
	static const uint8_t quality = 100;
	char buf[1024];
	struct vgw_video v = {.ssrc = 13};

	CHECK(vgw_put_wants(buf, sizeof buf, &ssrc, &quality, 1) || test_oom_hit());
	CHECK(vgw_put_video(buf, sizeof buf, 12, &v) || test_oom_hit());
	CHECK(vgw_put_select(buf, sizeof buf, "203.0.113.9", 4000, modes[0], "VP8") ||
	      test_oom_hit());
	CHECK(vgw_put_identify(buf, sizeof buf, 41, 99, "s", "t", true) || test_oom_hit());
}
