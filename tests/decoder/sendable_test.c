/* What a stream can send as it is stored, at its limits (mediad/decoder/sendable.c). */
#include "mediad/decoder/sendable.h"

#include <libavformat/avformat.h>
#include <string.h>

#include "tests/test.h"

enum { FPS = 30, HIGH = 100, BASELINE = 66 };

static AVFormatContext *fmt;
static AVStream *stream;
static uint8_t config[] = {1, HIGH, 0, 31};

static bool begin(const char *container)
{
	fmt = avformat_alloc_context();
	stream = fmt ? avformat_new_stream(fmt, NULL) : NULL;
	if (!stream)
		return false;
	fmt->iformat = av_find_input_format(container);
	fmt->duration = AV_TIME_BASE;
	stream->time_base = (AVRational){1, FPS};
	stream->avg_frame_rate = (AVRational){FPS, 1};
	stream->codecpar->codec_id = AV_CODEC_ID_H264;
	stream->codecpar->width = 1920;
	stream->codecpar->height = 1088;
	stream->codecpar->extradata = av_mallocz(sizeof config + AV_INPUT_BUFFER_PADDING_SIZE);
	if (!stream->codecpar->extradata)
		return false;
	stream->codecpar->extradata_size = sizeof config;
	memcpy(stream->codecpar->extradata, config, sizeof config);
	return fmt->iformat != NULL;
}

/* Frames of a size, with a key frame at every so many. */
static void add_frames(int n, int size, int gop)
{
	for (int i = 0; i < n; i++, stream->nb_frames++)
		av_add_index_entry(stream, stream->nb_frames, stream->nb_frames, size, 0,
				   i % gop ? 0 : AVINDEX_KEYFRAME);
}

static bool ends(uint64_t bitrate)
{
	bool is = sendable(fmt, stream, bitrate);

	avformat_free_context(fmt);
	return is;
}

TEST(sendable_is_what_viewers_follow)
{
	CHECK(begin("mov"));
	add_frames(90, 1000, FPS);
	CHECK(ends(SENDABLE_BITRATE));
	CHECK(begin("mov"));
	add_frames(90, 1000, FPS);
	CHECK(!ends(SENDABLE_BITRATE + 1));
	/* B-frames, or none that anything tells. */
	CHECK(begin("mov"));
	add_frames(90, 1000, FPS);
	stream->codecpar->video_delay = 1;
	CHECK(!ends(0));
	CHECK(begin("matroska"));
	CHECK(!ends(0));
	CHECK(begin("matroska"));
	stream->codecpar->extradata[1] = BASELINE;
	CHECK(ends(0));
	CHECK(begin("mov"));
	add_frames(90, 1000, FPS);
	fmt->duration = AV_NOPTS_VALUE;
	CHECK(!ends(0));
}

TEST(sendable_bounds_sizes_and_rates)
{
	static const struct {
		int width, height, fps;
		bool is;
	} forms[] = {{1088, 1920, 60, true}, {1920, 1088, 61, false}, {1920, 1090, 30, false},
		     {4096, 500, 30, true},  {4098, 500, 30, false},  {0, 500, 30, false}};

	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		CHECK(begin("mov"));
		add_frames(90, 1000, FPS);
		stream->codecpar->width = forms[i].width;
		stream->codecpar->height = forms[i].height;
		stream->avg_frame_rate = (AVRational){forms[i].fps, 1};
		CHECK_INT(ends(0), forms[i].is);
	}
	CHECK(begin("mov"));
	add_frames(90, 1000, FPS);
	stream->sample_aspect_ratio = (AVRational){4, 3};
	CHECK(!ends(0));
	CHECK(begin("mov"));
	add_frames(90, 1000, FPS);
	stream->codecpar->sample_aspect_ratio = (AVRational){4, 3};
	CHECK(!ends(0));
}

TEST(sendable_bounds_frames_by_their_table)
{
	const int even = SENDABLE_BITRATE_PEAK / 8 / FPS;

	/* In any second, wherever it begins. */
	CHECK(begin("mov"));
	add_frames(90, even, FPS);
	CHECK(ends(0));
	CHECK(begin("mov"));
	add_frames(45, even / 2, FPS);
	add_frames(31, even + 1, FPS);
	CHECK(!ends(0));
	CHECK(begin("mov"));
	add_frames(1, SENDABLE_FRAME, FPS);
	CHECK(ends(0));
	CHECK(begin("mov"));
	add_frames(1, SENDABLE_FRAME + 1, FPS);
	CHECK(!ends(0));
	/* From one key frame to the next, and to the end. */
	CHECK(begin("mov"));
	add_frames(FPS * SENDABLE_KEY_S, 100, FPS * SENDABLE_KEY_S);
	CHECK(ends(0));
	CHECK(begin("mov"));
	add_frames(FPS * SENDABLE_KEY_S + 1, 100, FPS * SENDABLE_KEY_S + 1);
	CHECK(!ends(0));
}
