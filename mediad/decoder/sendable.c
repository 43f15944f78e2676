#include "mediad/decoder/sendable.h"

#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/mathematics.h>
#include <math.h>
#include <string.h>

#include "mediad/decoder/format.h"

enum { BASELINE = 66 /* H.264: the profile without B-frames */, WINDOW_S = 1 };

unsigned sendable_quarters(const AVStream *s)
{
	size_t n = 0;
	const uint8_t *matrix = av_stream_get_side_data(s, AV_PKT_DATA_DISPLAYMATRIX, &n);
	int32_t values[9];
	double degrees;

	if (!matrix || n < sizeof values)
		return 0;
	memcpy(values, matrix, sizeof values);
	degrees = av_display_rotation_get(values);
	/* libav counts counterclockwise. */
	return isnan(degrees) ? 0 : (unsigned)(lround(-degrees / 90) & 3);
}

/* A file that is written piece by piece has a table for each piece alone, even if the first one is
 * where that of the whole would be. Of such a file libav tells no duration (mvex). */
bool sendable_order_is_told(const AVFormatContext *fmt, const AVStream *s)
{
	return format_is_mp4(fmt) && fmt->duration != AV_NOPTS_VALUE && s->nb_frames > 0 &&
	       avformat_index_get_entries_count(s) > 0;
}

static bool order_is_right(const AVFormatContext *fmt, const AVStream *s)
{
	const AVCodecParameters *p = s->codecpar;

	if (p->video_delay > 0)
		return false;
	return p->codec_id != AV_CODEC_ID_H264 || sendable_order_is_told(fmt, s) ||
	       (p->extradata_size > 1 && p->extradata[1] == BASELINE);
}

static bool shape_is_right(const AVStream *s)
{
	const AVCodecParameters *p = s->codecpar;
	/* The container's counts, which is the stream's (pasp of MP4, DisplayWidth of Matroska). */
	AVRational a =
		s->sample_aspect_ratio.num > 0 ? s->sample_aspect_ratio : p->sample_aspect_ratio;

	return p->width > 0 && p->height > 0 && p->width <= SENDABLE_SIDE &&
	       p->height <= SENDABLE_SIDE && (int64_t)p->width * p->height <= SENDABLE_PIXELS &&
	       !sendable_quarters(s) && (a.num <= 0 || a.den <= 0 || a.num == a.den);
}

static bool rate_is_right(const AVStream *s)
{
	AVRational r = s->avg_frame_rate;

	return r.num <= 0 || r.den <= 0 || av_q2d(r) < SENDABLE_FPS + 1;
}

/* Of MP4, whose table has all frames; others have at most their key frames in one. */
static bool table_is_right(AVStream *s)
{
	const int n = avformat_index_get_entries_count(s);
	const int64_t second = av_rescale_q(WINDOW_S, (AVRational){1, 1}, s->time_base);
	int64_t key = AV_NOPTS_VALUE, bytes = 0;

	for (int i = 0, first = 0; i < n; i++) {
		const AVIndexEntry *e = avformat_index_get_entry(s, i);

		if (e->size > SENDABLE_FRAME)
			return false;
		if (key != AV_NOPTS_VALUE &&
		    av_sat_sub64(e->timestamp, key) / SENDABLE_KEY_S >= second)
			return false;
		if (e->flags & AVINDEX_KEYFRAME || key == AV_NOPTS_VALUE)
			key = e->timestamp;
		bytes += e->size;
		for (; first < i && avformat_index_get_entry(s, first)->timestamp <=
					    av_sat_sub64(e->timestamp, second);
		     first++)
			bytes -= avformat_index_get_entry(s, first)->size;
		if (bytes > SENDABLE_BITRATE_PEAK / 8 * WINDOW_S)
			return false;
	}
	return true;
}

bool sendable(const AVFormatContext *fmt, AVStream *s, uint64_t bitrate)
{
	return order_is_right(fmt, s) && shape_is_right(s) && rate_is_right(s) &&
	       bitrate <= SENDABLE_BITRATE && (!format_is_mp4(fmt) || table_is_right(s));
}
