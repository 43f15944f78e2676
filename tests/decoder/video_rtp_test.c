/* The RTP payload formats of video against libav's: what its packetizer writes is joined by ours,
 * and what ours writes is joined by its depacketizer. */
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "mediad/video/assembler.h"
#include "proto/rtp.h"
#include "tests/random.h"
#include "tests/test.h"

enum { WIDTH = 320, HEIGHT = 240, FRAMES = 40, MTU = 900, PACKETS = 4000, IO = 2048, TYPE = 96 };

struct bytes {
	uint8_t *p;
	size_t n;
	bool key;
};

/* Frames as an encoder gives them. */
struct video {
	enum AVCodecID id;
	AVCodecParameters *par;
	struct bytes frames[FRAMES];
	unsigned n;
};

/* Packets on their way, and where a reader is. */
struct wire {
	struct bytes packets[PACKETS];
	unsigned n, at;
};

static bool keep(struct bytes *b, const uint8_t *p, size_t n)
{
	b->p = malloc(n);
	b->n = n;
	if (b->p)
		memcpy(b->p, p, n);
	return b->p;
}

static void wire_clear(struct wire *w)
{
	for (unsigned i = 0; i < w->n; i++)
		free(w->packets[i].p);
	w->n = w->at = 0;
}

static void video_clear(struct video *v)
{
	for (unsigned i = 0; i < v->n; i++)
		free(v->frames[i].p);
	avcodec_parameters_free(&v->par);
}

/* ---- encoding ---- */

/* Moving noise, so that key frames take several packets. */
static void paint(AVFrame *f, unsigned at)
{
	uint64_t seed = at / 8;

	for (int plane = 0; plane < 3; plane++)
		for (int y = 0; y < (plane ? HEIGHT / 2 : HEIGHT); y++)
			for (int x = 0; x < (plane ? WIDTH / 2 : WIDTH); x++)
				f->data[plane][y * f->linesize[plane] + x] =
					(uint8_t)(x + y + (int)at * 3 +
						  (int)(random_next(&seed) & 31));
}

static bool take_packets(struct video *v, AVCodecContext *c, AVPacket *packet)
{
	while (avcodec_receive_packet(c, packet) == 0) {
		struct bytes *b = &v->frames[v->n];

		if (v->n == FRAMES || !keep(b, packet->data, (size_t)packet->size))
			return false;
		b->key = packet->flags & AV_PKT_FLAG_KEY;
		v->n++;
		av_packet_unref(packet);
	}
	return true;
}

/* with: options of the encoder. */
static bool encode(struct video *v, const char *encoder, const char *with)
{
	const AVCodec *codec = avcodec_find_encoder_by_name(encoder);
	AVCodecContext *c = codec ? avcodec_alloc_context3(codec) : NULL;
	AVFrame *f = av_frame_alloc();
	AVPacket *packet = av_packet_alloc();
	AVDictionary *options = NULL;
	bool ok = c && f && packet;

	if (!ok)
		goto out;
	v->id = codec->id;
	v->par = avcodec_parameters_alloc();
	c->width = f->width = WIDTH;
	c->height = f->height = HEIGHT;
	c->pix_fmt = AV_PIX_FMT_YUV420P;
	f->format = AV_PIX_FMT_YUV420P;
	c->time_base = (AVRational){1, 30};
	c->gop_size = 12;
	c->max_b_frames = 0;
	c->thread_count = 1;
	c->bit_rate = 1500000;
	ok = av_dict_parse_string(&options, with, "=", ":", 0) >= 0 &&
	     avcodec_open2(c, codec, &options) == 0 && av_frame_get_buffer(f, 0) == 0 &&
	     avcodec_parameters_from_context(v->par, c) >= 0;
	for (unsigned i = 0; ok && i < FRAMES; i++) {
		ok = av_frame_make_writable(f) == 0;
		if (ok)
			paint(f, i);
		f->pts = i;
		ok = ok && avcodec_send_frame(c, f) == 0 && take_packets(v, c, packet);
	}
	ok = ok && avcodec_send_frame(c, NULL) == 0 && take_packets(v, c, packet) && v->n == FRAMES;
out:
	av_dict_free(&options);
	av_packet_free(&packet);
	av_frame_free(&f);
	avcodec_free_context(&c);
	return ok;
}

/* With start codes of four bytes, as ours come back. */
static bool normalize(struct bytes *b)
{
	uint8_t *out = malloc(2 * b->n + 4);
	size_t n = 0;

	for (size_t i = 0; out && i < b->n; i++) {
		bool code = i + 3 <= b->n && !b->p[i] && !b->p[i + 1] && b->p[i + 2] == 1;

		if (code && !(n && !out[n - 1] && i && !b->p[i - 1]))
			out[n++] = 0;
		out[n++] = b->p[i];
		if (code) {
			out[n++] = 0;
			out[n++] = 1;
			i += 2;
		}
	}
	free(b->p);
	b->p = out;
	b->n = n;
	return out;
}

/* ---- from libav to us ---- */

static int write_packet(void *arg, uint8_t *p, int n)
{
	struct wire *w = arg;

	/* Reports go the same way, and are none of ours. */
	if (n > RTP_HEADER && p[1] >= 200 && p[1] <= 207)
		return n;
	if (w->n == PACKETS || !keep(&w->packets[w->n], p, (size_t)n))
		return AVERROR(ENOMEM);
	w->n++;
	return n;
}

static bool send_by_libav(const struct video *v, struct wire *w)
{
	AVFormatContext *fmt = NULL;
	AVPacket *packet = av_packet_alloc();
	uint8_t *buffer = av_malloc(MTU);
	AVStream *s;
	bool ok = buffer && packet && avformat_alloc_output_context2(&fmt, NULL, "rtp", NULL) >= 0;

	if (!ok)
		goto out;
	fmt->pb = avio_alloc_context(buffer, MTU, 1, w, NULL, write_packet, NULL);
	s = avformat_new_stream(fmt, NULL);
	ok = fmt->pb && s && avcodec_parameters_copy(s->codecpar, v->par) >= 0;
	if (!ok)
		goto out;
	buffer = NULL;
	fmt->pb->max_packet_size = MTU;
	fmt->packet_size = MTU;
	ok = avformat_write_header(fmt, NULL) >= 0;
	for (unsigned i = 0; ok && i < v->n; i++) {
		packet->data = v->frames[i].p;
		packet->size = (int)v->frames[i].n;
		packet->pts = packet->dts = i * 3000;
		packet->flags = v->frames[i].key ? AV_PKT_FLAG_KEY : 0;
		ok = av_write_frame(fmt, packet) >= 0;
		avio_flush(fmt->pb);
	}
out:
	av_packet_free(&packet);
	if (fmt && fmt->pb) {
		av_freep(&fmt->pb->buffer);
		avio_context_free(&fmt->pb);
	}
	av_free(buffer);
	avformat_free_context(fmt);
	return ok;
}

/* Returns how many frames came back as they were. */
static unsigned assemble(const struct video *v, const struct wire *w, enum video_codec codec)
{
	struct video_assembler *a;
	struct video_frame f;
	unsigned same = 0;

	if (video_assembler_alloc(&a, codec))
		return 0;
	for (unsigned i = 0; i < w->n; i++) {
		const struct bytes *b = &w->packets[i];
		struct rtp_header h;

		if (rtp_parse(&h, b->p, b->n))
			break;
		video_assembler_put(
			a,
			&(struct video_packet){.seq = h.seq,
					       .ts = h.ts,
					       .marker = h.marker,
					       .payload = {b->p + h.size, b->n - h.size}},
			i);
		while (video_assembler_next(a, i, &f))
			same += same < v->n && f.key == v->frames[same].key &&
				f.bytes.n == v->frames[same].n &&
				memcmp(f.bytes.p, v->frames[same].p, f.bytes.n) == 0;
	}
	video_assembler_free(a);
	return same;
}

/* ---- from us to libav ---- */

static bool send_by_us(const struct video *v, struct wire *w, enum video_codec codec)
{
	struct video_packetizer p = {0};
	struct rtp_header h = {.pt = TYPE, .ssrc = 7};

	for (unsigned i = 0; i < v->n; i++) {
		uint8_t buf[MTU];
		size_t head, len;

		if (video_packetizer_start(&p, codec, v->frames[i].p, v->frames[i].n,
					   MTU - RTP_HEADER))
			return false;
		p.picture_id++;
		while (video_packetizer_next(&p, buf + RTP_HEADER, &len, &h.marker)) {
			if (rtp_build(&h, buf, sizeof buf, &head) || w->n == PACKETS ||
			    !keep(&w->packets[w->n], buf, head + len))
				return false;
			w->n++;
			h.seq++;
		}
		h.ts += 3000;
	}
	return true;
}

struct text {
	const char *p;
	size_t n;
};

static int read_text(void *arg, uint8_t *p, int n)
{
	struct text *t = arg;
	size_t k = t->n < (size_t)n ? t->n : (size_t)n;

	if (!k)
		return AVERROR_EOF;
	memcpy(p, t->p, k);
	t->p += k;
	t->n -= k;
	return (int)k;
}

static int read_packet(void *arg, uint8_t *p, int n)
{
	struct wire *w = arg;
	const struct bytes *b = &w->packets[w->at];

	if (w->at == w->n || b->n > (size_t)n)
		return AVERROR_EOF;
	memcpy(p, b->p, b->n);
	w->at++;
	return (int)b->n;
}

/* Its own reports go nowhere. */
static int drop_packet(void *arg, uint8_t *p, int n)
{
	(void)arg;
	(void)p;
	return n;
}

static AVIOContext *io_alloc(void *arg, int (*read)(void *, uint8_t *, int))
{
	uint8_t *buffer = av_malloc(IO);
	AVIOContext *io =
		buffer ? avio_alloc_context(buffer, IO, 0, arg, read, drop_packet, NULL) : NULL;

	if (!io)
		av_free(buffer);
	return io;
}

static void io_free(AVIOContext **io)
{
	if (*io)
		av_freep(&(*io)->buffer);
	avio_context_free(io);
}

/* Returns how many frames libav gave back as they were. */
static unsigned receive_by_libav(const struct video *v, struct wire *w, const char *name)
{
	char sdp[512];
	struct text text = {sdp, 0};
	AVIOContext *description = NULL, *packets = NULL;
	AVFormatContext *fmt = avformat_alloc_context();
	AVPacket *packet = av_packet_alloc();
	AVDictionary *options = NULL;
	unsigned same = 0;

	snprintf(sdp, sizeof sdp,
		 "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
		 "m=video 5004 RTP/AVP %d\r\na=rtpmap:%d %s/90000\r\n"
		 "a=fmtp:%d packetization-mode=1\r\n",
		 TYPE, TYPE, name, TYPE);
	text.n = strlen(sdp);
	description = io_alloc(&text, read_text);
	packets = io_alloc(w, read_packet);
	if (!fmt || !packet || !description || !packets)
		goto out;
	fmt->pb = description;
	av_dict_set(&options, "sdp_flags", "custom_io", 0);
	av_dict_set(&options, "reorder_queue_size", "0", 0);
	if (avformat_open_input(&fmt, NULL, av_find_input_format("sdp"), &options))
		goto out;
	/* libav writes its own reports to what it reads from, which goes on for ever in a buffer
	 * that is for reading. */
	packets->direct = 1;
	fmt->pb = packets;
	while (same < v->n && av_read_frame(fmt, packet) == 0) {
		struct bytes got = {0};

		if (keep(&got, packet->data, (size_t)packet->size) &&
		    (v->id != AV_CODEC_ID_H264 || normalize(&got)))
			same += got.n == v->frames[same].n &&
				memcmp(got.p, v->frames[same].p, got.n) == 0;
		free(got.p);
		av_packet_unref(packet);
	}
out:
	av_dict_free(&options);
	av_packet_free(&packet);
	if (fmt)
		avformat_close_input(&fmt);
	io_free(&description);
	io_free(&packets);
	return same;
}

static void exchange(const char *encoder, const char *with, const char *name,
		     enum video_codec codec)
{
	static struct wire wire;
	struct video v = {0};
	bool ok;

	av_log_set_level(AV_LOG_QUIET);
	ok = encode(&v, encoder, with);

	for (unsigned i = 0; ok && i < v.n && codec == VIDEO_H264; i++)
		ok = normalize(&v.frames[i]);
	if (!ok) {
		test_fail(__FILE__, __LINE__, "%s does not encode", encoder);
	} else if (!send_by_libav(&v, &wire) || wire.n < FRAMES * 2) {
		test_fail(__FILE__, __LINE__, "libav sends %u packets", wire.n);
	} else {
		unsigned ours = assemble(&v, &wire, codec), theirs = 0;

		wire_clear(&wire);
		if (send_by_us(&v, &wire, codec))
			theirs = receive_by_libav(&v, &wire, name);
		/* libav gives a frame when the next one begins, unless the marker ends it. */
		if (ours != FRAMES || theirs != FRAMES)
			test_fail(__FILE__, __LINE__, "%u frames to us, %u to libav, of %d", ours,
				  theirs, FRAMES);
	}
	wire_clear(&wire);
	video_clear(&v);
}

TEST(video_rtp_of_h264_is_libavs)
{
	exchange("libx264", "preset=ultrafast:tune=zerolatency", "H264", VIDEO_H264);
}

TEST(video_rtp_of_vp8_is_libavs)
{
	exchange("libvpx", "deadline=realtime:cpu-used=8:lag-in-frames=0", "VP8", VIDEO_VP8);
}
