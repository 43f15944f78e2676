/* Judges the visualizer of a stream by its pictures: decodes the VP8 of an IVF file (build/golive)
 * and says what each picture shows of music that is known.
 *
 *   visualized IVF MODE
 *
 * The music is rounds of four parts of equal length: nothing; a tone of LOW_HZ at the left alone;
 * nothing; a tone of HIGH_HZ in both channels. MODE is one of cqt, spectrum, waves and vectorscope,
 * each of which has a look of its own for each part. Prints the parts in the order in which they
 * were seen, and exits with 0 if that is the music's order over PARTS parts, with few pictures that
 * are none of them. So neither a black picture passes, nor one that stands still, follows other
 * music or is of another mode. */
#include <libavcodec/avcodec.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mediad/decoder/picture.h"

#define LOW_HZ	130.813
#define HIGH_HZ 2093.005

enum {
	IVF_HEAD = 32,
	FRAME_HEAD = 12,
	FRAME_MAX = 1 << 20,
	LIT = 60,     /* luma; the ground has 26, and what is drawn up to 170 */
	RUN = 4,      /* pictures in a row that are a part */
	PARTS = 4,    /* of the music that are seen at least */
	STRANGE = 30, /* percent of the pictures that may be between two parts */
	NEWEST = 4,   /* pixels of the newest column of a spectrum */
	BAR = PICTURE_WIDTH / ANALYSIS_BANDS,
	ROW = PICTURE_HEIGHT / ANALYSIS_BANDS,
};

enum part { SILENT, LOW, HIGH, OTHER };
static const char letters[] = "-LH?";

struct view {
	const uint8_t *y;
	int stride;
};

static bool is_lit(const struct view *v, int x, int y)
{
	return v->y[y * v->stride + x] >= LIT;
}

/* Lit pixels of [x, x + w) × [y, y + h). */
static unsigned count_lit(const struct view *v, int x, int y, int w, int h)
{
	unsigned n = 0;

	for (int row = y; row < y + h; row++)
		for (int at = x; at < x + w; at++)
			n += is_lit(v, at, row);
	return n;
}

static int band_of(double hz)
{
	return (int)lround(log2(hz / ANALYSIS_LOWEST) * ANALYSIS_BANDS_AN_OCTAVE);
}

static unsigned sum_light(const struct view *v, int x, int y, int w, int h)
{
	unsigned n = 0;

	for (int row = y; row < y + h; row++)
		for (int at = x; at < x + w; at++)
			n += v->y[row * v->stride + at];
	return n;
}

/* The band whose place in the picture has the most light, if that is enough; else -1. Bars: a
 * column for each, whose light is its height; else a cell in the newest column, at the right. */
static int find_band(const struct view *v, bool bars)
{
	unsigned best = bars ? BAR * PICTURE_HEIGHT / 3 : NEWEST * ROW * LIT;
	int found = -1;

	for (int b = 0; b < ANALYSIS_BANDS; b++) {
		unsigned n = bars ? count_lit(v, b * BAR, 0, BAR, PICTURE_HEIGHT)
				  : sum_light(v, PICTURE_WIDTH - NEWEST,
					      PICTURE_HEIGHT - (b + 1) * ROW, NEWEST, ROW);

		if (n > best) {
			best = n;
			found = b;
		}
	}
	return found;
}

static enum part part_of_band(int band)
{
	return band < 0				   ? SILENT
	       : abs(band - band_of(LOW_HZ)) <= 1  ? LOW
	       : abs(band - band_of(HIGH_HZ)) <= 1 ? HIGH
						   : OTHER;
}

static enum part look_at_bars(const struct view *v)
{
	return part_of_band(find_band(v, true));
}

static enum part look_at_spectrum(const struct view *v)
{
	return part_of_band(find_band(v, false));
}

struct box {
	int width, height;
};

static struct box find_box(const struct view *v)
{
	int left = PICTURE_WIDTH, right = -1, top = PICTURE_HEIGHT, bottom = -1;

	for (int y = 0; y < PICTURE_HEIGHT; y++)
		for (int x = 0; x < PICTURE_WIDTH; x++) {
			if (!is_lit(v, x, y))
				continue;
			left = x < left ? x : left;
			right = x > right ? x : right;
			top = y < top ? y : top;
			bottom = y > bottom ? y : bottom;
		}
	return (struct box){right - left + 1, bottom - top + 1};
}

/* A line from the left to the right. The points are 8 of 48000 Hz apart, so that the low tone has
 * 3 periods, and the high one 45, whose lines are close to each other. */
static enum part look_at_wave(const struct view *v)
{
	const struct box box = find_box(v);
	const unsigned lit = count_lit(v, 0, 0, PICTURE_WIDTH, PICTURE_HEIGHT);

	if (box.width < PICTURE_WIDTH * 9 / 10)
		return OTHER;
	if (box.height < PICTURE_HEIGHT / 10)
		return SILENT;
	if (box.height < PICTURE_HEIGHT / 2)
		return OTHER;
	return lit < PICTURE_PIXELS / 10 ? LOW : lit > PICTURE_PIXELS / 4 ? HIGH : OTHER;
}

/* A dot; a slanting line of what is at one side alone; a vertical one of what is in both. */
static enum part look_at_scope(const struct view *v)
{
	const struct box box = find_box(v);

	if (box.width <= 0 || box.width > PICTURE_WIDTH * 9 / 10)
		return OTHER;
	if (box.height < PICTURE_HEIGHT / 10 && box.width < PICTURE_WIDTH / 10)
		return SILENT;
	if (box.height < PICTURE_HEIGHT / 2)
		return OTHER;
	return box.width < PICTURE_WIDTH / 20 ? HIGH : box.width > PICTURE_HEIGHT / 2 ? LOW : OTHER;
}

/* ---- the parts of all pictures ---- */

struct judge {
	enum part (*look)(const struct view *v);
	enum part last, run_of; /* of the music; of the pictures in a row */
	unsigned run, pictures, strange, n;
	enum part parts[256];
};

static void take_picture(struct judge *j, const AVFrame *f)
{
	const struct view v = {f->data[0], f->linesize[0]};
	enum part part =
		f->width == PICTURE_WIDTH && f->height == PICTURE_HEIGHT ? j->look(&v) : OTHER;

	j->pictures++;
	j->strange += part == OTHER;
	j->run = part == j->run_of ? j->run + 1 : 1;
	j->run_of = part;
	if (j->run != RUN || part == OTHER || (j->n && part == j->last))
		return;
	j->last = part;
	if (j->n < sizeof j->parts / sizeof j->parts[0])
		j->parts[j->n++] = part;
}

/* Nothing, low, nothing, high, and so on: each part follows from the two before it. */
static bool is_music(const struct judge *j)
{
	for (unsigned i = 1; i < j->n; i++)
		if ((j->parts[i] == SILENT) == (j->parts[i - 1] == SILENT))
			return false;
	for (unsigned i = 2; i < j->n; i++)
		if (j->parts[i] != SILENT && j->parts[i] == j->parts[i - 2])
			return false;
	return j->n >= PARTS && j->strange * 100 <= j->pictures * STRANGE;
}

static int decode(struct judge *j, AVCodecContext *c, FILE *in)
{
	AVPacket *packet = av_packet_alloc();
	AVFrame *frame = av_frame_alloc();
	uint8_t head[IVF_HEAD];
	int err = !packet || !frame || fread(head, 1, IVF_HEAD, in) != IVF_HEAD;

	while (!err && fread(head, 1, FRAME_HEAD, in) == FRAME_HEAD) {
		size_t n = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16;

		err = n > FRAME_MAX || av_new_packet(packet, (int)n) ||
		      fread(packet->data, 1, n, in) != n || avcodec_send_packet(c, packet);
		while (!err && avcodec_receive_frame(c, frame) == 0)
			take_picture(j, frame);
		av_packet_unref(packet);
	}
	av_packet_free(&packet);
	av_frame_free(&frame);
	return err;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		enum part (*look)(const struct view *v);
	} modes[] = {{"cqt", look_at_bars},
		     {"spectrum", look_at_spectrum},
		     {"waves", look_at_wave},
		     {"vectorscope", look_at_scope}};
	const AVCodec *codec = avcodec_find_decoder(AV_CODEC_ID_VP8);
	AVCodecContext *c = codec ? avcodec_alloc_context3(codec) : NULL;
	FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL;
	struct judge j = {0};
	bool good = false;

	for (size_t i = 0; argc == 3 && i < sizeof modes / sizeof modes[0]; i++)
		if (strcmp(modes[i].name, argv[2]) == 0)
			j.look = modes[i].look;
	if (!in || !j.look || !c || avcodec_open2(c, codec, NULL) || decode(&j, c, in)) {
		fprintf(stderr, "usage: visualized IVF MODE, with VP8\n");
	} else {
		good = is_music(&j);
		printf("%s: %u pictures, %u of no part, parts ", argv[2], j.pictures, j.strange);
		for (unsigned i = 0; i < j.n; i++)
			putchar(letters[j.parts[i]]);
		putchar('\n');
	}
	if (in)
		fclose(in);
	avcodec_free_context(&c);
	return good ? 0 : 1;
}
