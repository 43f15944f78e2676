#include "tests/test.h"

#include <jansson.h>

#include "mediad/dave/media.h"
#include "mediad/video/payload.h"
#include "tests/random.h"

enum { FRAME = 40000, PAYLOAD = 1200 };

static uint8_t joined[2 * FRAME];

/* Cuts a frame and joins its payloads. Each payload lies in a block of its own size, so that
 * reading past it is seen. Returns the number of payloads; 0 when something failed. */
static unsigned cut_and_join(struct video_packetizer *p, enum video_codec codec,
			     const uint8_t *frame, size_t n, size_t cap,
			     struct video_depacketizer *d)
{
	unsigned count = 0;
	bool last = false;
	size_t len;

	video_depacketizer_start(d, codec, joined, sizeof joined);
	if (video_packetizer_start(p, codec, frame, n, cap))
		return 0;
	for (;;) {
		uint8_t *payload = malloc(cap), *exact;
		bool more = payload && video_packetizer_next(p, payload, &len, &last), ok;

		exact = more ? realloc(payload, len) : NULL;
		ok = exact && !video_depacketizer_add(d, exact, len) && len <= cap;
		free(exact ? exact : payload);
		if (!more)
			break;
		if (!ok)
			return 0;
		count++;
	}
	return last && !video_depacketizer_end(d) ? count : 0;
}

#define CHECK_COMES_BACK(codec, frame, size, cap)                                                  \
	do {                                                                                       \
		CHECK(cut_and_join(&p, codec, frame, size, cap, &d) > 0);                          \
		CHECK_MEM(d.out, d.n, frame, size);                                                \
	} while (0)

/* Writes a unit of random bytes without a start code in it. */
static size_t put_unit(uint64_t *seed, uint8_t *out, uint8_t head, size_t n)
{
	static const uint8_t code[] = {0, 0, 0, 1};

	memcpy(out, code, 4);
	out[4] = head;
	for (size_t i = 1; i < n; i++)
		out[4 + i] = (uint8_t)random_between(seed, 2, 255);
	return 4 + n;
}

/* ---- H.264 ---- */

TEST(video_h264_forms)
{
	/* SPS and PPS share a STAP-A, whose importance is the greater of theirs; the IDR slice, one
	 * byte longer than a payload, goes in two fragments; the last slice is a payload. */
	static const uint8_t frame[] = {0,  0,	0,  1,	  0x67, 1,  2, 0, 0, 0,	 1,    0x48, 3,	 0,
					0,  0,	1,  0x65, 5,	6,  7, 8, 9, 10, 11,   12,   13, 14,
					15, 16, 17, 18,	  19,	20, 0, 0, 0, 1,	 0x41, 9};
	static const uint8_t stap[] = {0x78, 0, 3, 0x67, 1, 2, 0, 2, 0x48, 3},
			     first[] = {0x7c, 0x85, 5,	6,  7,	8,  9,	10,
					11,   12,   13, 14, 15, 16, 17, 18},
			     second[] = {0x7c, 0x45, 19, 20};
	struct video_packetizer p = {0};
	uint8_t out[16];
	bool last;
	size_t n;

	CHECK_INT(video_packetizer_start(&p, VIDEO_H264, frame, sizeof frame, sizeof out), 0);
	CHECK(video_packetizer_next(&p, out, &n, &last) && !last);
	CHECK_MEM(out, n, stap, sizeof stap);
	CHECK(video_payload_begins_frame(VIDEO_H264, out, n));
	CHECK(video_packetizer_next(&p, out, &n, &last) && !last);
	CHECK_MEM(out, n, first, sizeof first);
	CHECK(!video_payload_begins_frame(VIDEO_H264, out, n));
	CHECK(video_packetizer_next(&p, out, &n, &last) && !last);
	CHECK_MEM(out, n, second, sizeof second);
	CHECK(video_packetizer_next(&p, out, &n, &last) && last);
	CHECK_MEM(out, n, "\x41\x09", 2);
	CHECK(!video_packetizer_next(&p, out, &n, &last));
}

TEST(video_h264_comes_back)
{
	uint8_t *frame = malloc(FRAME);
	struct video_packetizer p = {0};
	struct video_depacketizer d;
	uint64_t seed = 7;

	CHECK(frame);
	for (unsigned i = 0; i < 300; i++) {
		unsigned units = random_between(&seed, 1, 9);
		size_t n = 0;
		bool key = false;

		for (unsigned u = 0; u < units; u++) {
			uint8_t type = (uint8_t)random_between(&seed, 1, 23);

			key = key || type == 5;
			n += put_unit(&seed, frame + n, 0x60 | type,
				      random_between(&seed, 1, i % 3 ? 40 : 4000));
		}
		CHECK_COMES_BACK(VIDEO_H264, frame, n,
				 i % 2 ? PAYLOAD : random_between(&seed, 16, 99));
		CHECK_INT(d.key, key);
	}
	free(frame);
}

/* Short start codes become long ones; a unit keeps the zeros at its end. */
TEST(video_h264_start_codes)
{
	static const uint8_t in[] = {0, 0, 1, 0x67, 1, 0, 0, 1, 0x68, 2, 0, 0, 0, 0, 1, 0x65, 7},
			     want[] = {0,    0, 0, 1, 0x67, 1, 0, 0,	0, 1,
				       0x68, 2, 0, 0, 0,    0, 1, 0x65, 7};
	struct video_packetizer p = {0};
	struct video_depacketizer d;

	CHECK_INT(cut_and_join(&p, VIDEO_H264, in, sizeof in, PAYLOAD, &d), 1);
	CHECK_MEM(d.out, d.n, want, sizeof want);
	CHECK(d.key);
	CHECK_COMES_BACK(VIDEO_H264, want, (sizeof want), PAYLOAD);
}

TEST(video_h264_refuses)
{
	static const struct {
		const char *p;
		size_t n;
	} bad[] = {
		{"", 0},		     /* nothing */
		{"\x60", 1},		     /* type 0 */
		{"\x7e\x01", 2},	     /* type 30 */
		{"\x79\x00\x01\x67", 4},     /* STAP-B */
		{"\x78", 1},		     /* STAP-A of no unit */
		{"\x78\x00\x00", 3},	     /* of an empty one */
		{"\x78\x00\x03\x67\x01", 5}, /* of one cut short */
		{"\x78\x00\x02\x78\x01", 5}, /* of another aggregate */
		{"\x7c", 1},		     /* FU-A without its header */
		{"\x7c\x05\x01", 3},	     /* that continues nothing */
		{"\x7c\xc5\x01", 3},	     /* that is its own end */
		{"\x7c\x98\x01", 3},	     /* of an aggregate */
	};
	struct video_depacketizer d;
	uint8_t out[64];

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		video_depacketizer_start(&d, VIDEO_H264, out, sizeof out);
		CHECK_INT(video_depacketizer_add(&d, (const uint8_t *)bad[i].p, bad[i].n), EBADMSG);
	}
	/* A unit in fragments admits nothing between, and must end. */
	video_depacketizer_start(&d, VIDEO_H264, out, sizeof out);
	CHECK_INT(video_depacketizer_end(&d), EBADMSG);
	CHECK_INT(video_depacketizer_add(&d, (const uint8_t *)"\x7c\x85\x01", 3), 0);
	CHECK_INT(video_depacketizer_end(&d), EBADMSG);
	CHECK_INT(video_depacketizer_add(&d, (const uint8_t *)"\x41\x01", 2), EBADMSG);
	CHECK_INT(video_depacketizer_add(&d, (const uint8_t *)"\x7c\x85\x01", 3), EBADMSG);
	CHECK_INT(video_depacketizer_add(&d, (const uint8_t *)"\x7c\x41\x01", 3), EBADMSG);
	CHECK_INT(video_depacketizer_add(&d, (const uint8_t *)"\x7c\x45\x02", 3), 0);
	CHECK_INT(video_depacketizer_end(&d), 0);
	CHECK_MEM(out, d.n, "\0\0\0\1\x65\1\2", 7);
	/* The frame must fit. */
	video_depacketizer_start(&d, VIDEO_H264, out, 7);
	CHECK_INT(video_depacketizer_add(&d, (const uint8_t *)"\x41\x01\x02\x03", 4), EMSGSIZE);
}

TEST(video_h264_refuses_frames)
{
	static const uint8_t none[] = {1, 2, 3}, before[] = {9, 0, 0, 1, 0x65},
			     reserved[] = {0, 0, 1, 0x65, 1, 0, 0, 1, 0x7c, 0x85};
	struct video_packetizer p = {0};

	CHECK_INT(video_packetizer_start(&p, VIDEO_H264, none, sizeof none, 99), EBADMSG);
	CHECK_INT(video_packetizer_start(&p, VIDEO_H264, before, sizeof before, 99), EBADMSG);
	CHECK_INT(video_packetizer_start(&p, VIDEO_H264, reserved, sizeof reserved, 99), EBADMSG);
	CHECK_INT(video_packetizer_start(&p, VIDEO_H264, none, 0, 99), EBADMSG);
	CHECK_INT(video_packetizer_start(&p, VIDEO_H264, before + 1, 4, VIDEO_PAYLOAD_MIN - 1),
		  EINVAL);
	CHECK_INT(video_packetizer_start(&p, VIDEO_NONE, before + 1, 4, 99), EINVAL);
}

/* The frames with which libdave tests its ranges. */
TEST(video_h264_takes_libdaves_frames)
{
	const char *path = test_shared("vectors/dave/libdave-codec-ranges.json");
	json_t *doc, *c;
	size_t i, taken = 0;

	if (!path) {
		test_skip("../shared is not there");
		return;
	}
	doc = json_load_file(path, 0, NULL);
	CHECK(doc);
	json_array_foreach(json_object_get(doc, "cases"), i, c)
	{
		const char *codec = json_string_value(json_object_get(c, "codec")),
			   *hex = json_string_value(json_object_get(c, "frame"));
		struct video_packetizer p = {0};
		struct video_depacketizer d;
		struct dave_clear_ranges ranges;
		uint8_t frame[512], sent[640];
		size_t n = 0;

		if (!codec || strcmp(codec, "H264") != 0)
			continue;
		for (; hex[2 * n] && n < sizeof frame; n++)
			if (sscanf(hex + 2 * n, "%2hhx", &frame[n]) != 1)
				break;
		/* As DAVE sends it: with long start codes. */
		CHECK_INT(dave_find_clear_ranges(&ranges, DAVE_H264, frame, n, sent, sizeof sent),
			  0);
		CHECK(cut_and_join(&p, VIDEO_H264, frame, n, 24, &d) > 0);
		CHECK_MEM(d.out, d.n, sent, ranges.n);
		taken++;
	}
	json_decref(doc);
	CHECK_INT(taken, 8);
}

/* ---- VP8 ---- */

TEST(video_vp8_comes_back)
{
	uint8_t *frame = malloc(FRAME);
	struct video_packetizer p = {0};
	struct video_depacketizer d;
	uint64_t seed = 9;

	CHECK(frame);
	for (size_t i = 0; i < FRAME; i++)
		frame[i] = (uint8_t)random_next(&seed);
	for (unsigned i = 0; i < 200; i++) {
		size_t n = random_between(&seed, 1, i % 2 ? 50 : FRAME);

		frame[0] = (uint8_t)i;
		p.picture_id = (uint16_t)i;
		CHECK_COMES_BACK(VIDEO_VP8, frame, n, i % 3 ? PAYLOAD : 16);
		CHECK_INT(d.key, !(i & 1));
	}
	free(frame);
}

/* The examples of RFC 7741, section 4.6: key frame, inter frame, second partition. */
TEST(video_vp8_descriptors)
{
	static const uint8_t short_id[] = {0x90, 0x80, 0x11, 0x00, 0xaa},
			     continued[] = {0x80, 0x80, 0x11, 0xbb},
			     all[] = {0x91, 0xf0, 0x92, 0x34, 0x05, 0x21, 0xcc},
			     bare[] = {0x10, 0x01, 0xdd}, bare_more[] = {0x00, 0xee};
	struct video_depacketizer d;
	uint8_t out[64];

	video_depacketizer_start(&d, VIDEO_VP8, out, sizeof out);
	CHECK_INT(video_depacketizer_add(&d, short_id, sizeof short_id), 0);
	CHECK(d.key && video_payload_begins_frame(VIDEO_VP8, short_id, sizeof short_id));
	CHECK_INT(video_depacketizer_add(&d, continued, sizeof continued), 0);
	CHECK_INT(video_depacketizer_add(&d, all, sizeof all), 0);
	CHECK(!video_payload_begins_frame(VIDEO_VP8, all, sizeof all));
	CHECK_INT(video_depacketizer_end(&d), 0);
	CHECK_MEM(out, d.n, "\x00\xaa\xbb\xcc", 4);
	/* Another beginning is not of this frame. */
	CHECK_INT(video_depacketizer_add(&d, bare, sizeof bare), EBADMSG);

	video_depacketizer_start(&d, VIDEO_VP8, out, sizeof out);
	CHECK_INT(video_depacketizer_add(&d, bare_more, sizeof bare_more), EBADMSG);
	video_depacketizer_start(&d, VIDEO_VP8, out, sizeof out);
	CHECK_INT(video_depacketizer_add(&d, bare, sizeof bare), 0);
	CHECK(!d.key);
	CHECK_INT(video_depacketizer_add(&d, bare_more, sizeof bare_more), 0);
	CHECK_MEM(out, d.n, "\x01\xdd\xee", 3);
	for (size_t n = 0; n < sizeof all; n++) {
		video_depacketizer_start(&d, VIDEO_VP8, out, sizeof out);
		CHECK_INT(video_depacketizer_add(&d, all, n), EBADMSG);
	}
}

TEST(video_vp8_writes)
{
	static const uint8_t frame[] = "a frame of VP8 in two payloads";
	struct video_packetizer p = {.picture_id = 0x1234};
	uint8_t out[20];
	bool last;
	size_t n;

	CHECK_INT(video_packetizer_start(&p, VIDEO_VP8, frame, 30, sizeof out), 0);
	CHECK(video_packetizer_next(&p, out, &n, &last) && !last);
	CHECK_MEM(out, n,
		  "\x90\x80\x92\x34"
		  "a frame of VP8 i",
		  20);
	CHECK(video_packetizer_next(&p, out, &n, &last) && last);
	CHECK_MEM(out, n, "\x80\x80\x92\x34n two payloads", 18);
	CHECK(!video_packetizer_next(&p, out, &n, &last));
	CHECK_INT(video_packetizer_start(&p, VIDEO_VP8, frame, 0, sizeof out), EBADMSG);
}

/* ---- AV1 ---- */

/* Writes a unit, with its size unless it is the last. */
static size_t put_obu(uint64_t *seed, uint8_t *out, unsigned type, bool extension, size_t n,
		      bool last)
{
	size_t at = 0;

	out[at++] = (uint8_t)(type << 3 | (extension ? 4 : 0) | (last ? 0 : 2));
	if (extension)
		out[at++] = 0x48;
	for (size_t left = n; !last; left >>= 7) {
		out[at++] = (uint8_t)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
		if (left <= 0x7f)
			break;
	}
	for (size_t i = 0; i < n; i++)
		out[at++] = (uint8_t)random_next(seed);
	return at;
}

TEST(video_av1_comes_back)
{
	uint8_t *frame = malloc(FRAME);
	struct video_packetizer p = {0};
	struct video_depacketizer d;
	uint64_t seed = 11;

	CHECK(frame);
	for (unsigned i = 0; i < 300; i++) {
		unsigned units = random_between(&seed, 1, 6);
		bool key = false;
		size_t n = 0;

		for (unsigned u = 0; u < units; u++) {
			unsigned type =
				(const unsigned[]){1, 3, 4, 5, 6, 7, 15}[random_below(&seed, 7)];

			key = key || type == 1;
			n += put_obu(&seed, frame + n, type, random_below(&seed, 2),
				     random_below(&seed, i % 2 ? 30 : 5000), u == units - 1);
		}
		CHECK_COMES_BACK(VIDEO_AV1, frame, n,
				 i % 3 ? PAYLOAD : random_between(&seed, 16, 80));
		CHECK_INT(d.key, key);
	}
	free(frame);
}

TEST(video_av1_forms)
{
	/* A delimiter, a sequence header and a frame: the delimiter is left out, sizes too. */
	static const uint8_t frame[] = {0x12, 0, 0x0a, 2, 0xaa, 0xbb, 0x32, 3, 1, 2, 3},
			     payload[] = {0x08, 3, 0x08, 0xaa, 0xbb, 4, 0x30, 1, 2, 3},
			     back[] = {0x0a, 2, 0xaa, 0xbb, 0x30, 1, 2, 3},
			     counted[] = {0x20, 3, 0x08, 0xaa, 0xbb, 0x30, 1, 2, 3},
			     sized[] = {0x10, 0x32, 3, 1, 2, 3};
	struct video_packetizer p = {0};
	struct video_depacketizer d;
	uint8_t out[64];
	bool last;
	size_t n;

	CHECK_INT(video_packetizer_start(&p, VIDEO_AV1, frame, sizeof frame, sizeof out), 0);
	CHECK(video_packetizer_next(&p, out, &n, &last) && last);
	CHECK_MEM(out, n, payload, sizeof payload);
	CHECK(video_payload_begins_frame(VIDEO_AV1, out, n));
	CHECK(cut_and_join(&p, VIDEO_AV1, frame, sizeof frame, PAYLOAD, &d) == 1);
	CHECK_MEM(d.out, d.n, back, sizeof back);
	/* W counts the elements; a unit may come with its size. */
	video_depacketizer_start(&d, VIDEO_AV1, out, sizeof out);
	CHECK_INT(video_depacketizer_add(&d, counted, sizeof counted), 0);
	CHECK_INT(video_depacketizer_end(&d), 0);
	CHECK_MEM(out, d.n, back, sizeof back);
	video_depacketizer_start(&d, VIDEO_AV1, out, sizeof out);
	CHECK_INT(video_depacketizer_add(&d, sized, sizeof sized), 0);
	CHECK_INT(video_depacketizer_end(&d), 0);
	CHECK_MEM(out, d.n, "\x30\1\2\3", 4);
	CHECK(!d.key);
}

TEST(video_av1_refuses)
{
	static const struct {
		const char *p;
		size_t n;
	} bad[] = {
		{"", 0},		 /* nothing */
		{"\x00", 1},		 /* no element */
		{"\x80\x01\x30", 3},	 /* continues nothing */
		{"\x00\x05\x30\x01", 4}, /* an element cut short */
		{"\x00\x80", 2},	 /* a size cut short */
		{"\x10\x30\x01\x30", 4}, /* one unit, which is well */
		{"\x20\x7f\x30", 3},	 /* the first of two cut short */
	};
	struct video_depacketizer d;
	struct video_packetizer p = {0};
	uint8_t out[64];

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		video_depacketizer_start(&d, VIDEO_AV1, out, sizeof out);
		CHECK_INT(video_depacketizer_add(&d, (const uint8_t *)bad[i].p, bad[i].n),
			  i == 5 ? 0 : EBADMSG);
	}
	/* A wrong size inside a unit, an empty element, a unit that does not end. */
	video_depacketizer_start(&d, VIDEO_AV1, out, sizeof out);
	CHECK_INT(video_depacketizer_add(&d, (const uint8_t *)"\x10\x32\x07\x01", 4), 0);
	CHECK_INT(video_depacketizer_end(&d), EBADMSG);
	video_depacketizer_start(&d, VIDEO_AV1, out, sizeof out);
	CHECK_INT(video_depacketizer_add(&d, (const uint8_t *)"\x00\x00", 2), 0);
	CHECK_INT(video_depacketizer_end(&d), EBADMSG);
	/* A delimiter alone, or at the end. */
	video_depacketizer_start(&d, VIDEO_AV1, out, sizeof out);
	CHECK_INT(video_depacketizer_add(&d, (const uint8_t *)"\x10\x10", 2), 0);
	CHECK_INT(video_depacketizer_end(&d), EBADMSG);
	video_depacketizer_start(&d, VIDEO_AV1, out, sizeof out);
	CHECK_INT(video_depacketizer_add(&d, (const uint8_t *)"\x20\x02\x30\x09\x10", 5), 0);
	CHECK_INT(video_depacketizer_end(&d), EBADMSG);
	video_depacketizer_start(&d, VIDEO_AV1, out, sizeof out);
	CHECK_INT(video_depacketizer_add(&d, (const uint8_t *)"\x40\x02\x30\x01", 4), 0);
	CHECK_INT(video_depacketizer_end(&d), EBADMSG);
	CHECK_INT(video_depacketizer_add(&d, (const uint8_t *)"\x00\x02\x30\x01", 4), EBADMSG);
	CHECK_INT(video_depacketizer_add(&d, (const uint8_t *)"\x88\x01\x02", 3), EBADMSG);
	CHECK_INT(video_depacketizer_add(&d, (const uint8_t *)"\x80\x01\x02", 3), 0);
	CHECK_INT(video_depacketizer_end(&d), 0);
	CHECK_MEM(out, d.n, "\x30\1\2", 3);
	/* Frames: a size that does not fit, nothing but a delimiter. */
	CHECK_INT(video_packetizer_start(&p, VIDEO_AV1, (const uint8_t *)"\x32\x05\x01", 3, 99),
		  EBADMSG);
	CHECK_INT(video_packetizer_start(&p, VIDEO_AV1, (const uint8_t *)"\x12\x00", 2, 99),
		  EBADMSG);
}

/* ---- with end-to-end encryption ---- */

struct secret_pair {
	struct dave_sealer *s;
	struct dave_opener *o;
};

static bool pair_start(struct secret_pair *k)
{
	static const uint8_t base[DAVE_SECRET] = "a secret of ours";
	struct dave_key *send = NULL, *receive = NULL;

	if (dave_sealer_alloc(&k->s) || dave_opener_alloc(&k->o) ||
	    dave_key_alloc(&send, base, 1, 0) || dave_key_alloc(&receive, base, 1, 0))
		return false;
	dave_sealer_set(k->s, send);
	dave_opener_add(k->o, receive, 0, NULL, NULL);
	return true;
}

/* A frame that DAVE has encrypted passes through payloads of any size unharmed, and what is needed
 * to find key frames stays clear. */
static bool passes(struct secret_pair *k, enum dave_codec dave, enum video_codec codec,
		   const uint8_t *frame, size_t n, size_t cap)
{
	static uint8_t sealed[DAVE_VIDEO_CAP(FRAME)], opened[DAVE_VIDEO_CAP(FRAME)],
		plain[2 * FRAME];
	struct video_packetizer p = {0};
	struct video_depacketizer d;
	struct dave_clear_ranges ranges;
	size_t len, n_opened;
	uint64_t epoch;

	return !dave_seal(k->s, dave, frame, n, sealed, sizeof sealed, &len) &&
	       !dave_find_clear_ranges(&ranges, dave, frame, n, plain, sizeof plain) &&
	       cut_and_join(&p, codec, sealed, len, cap, &d) && d.key &&
	       dave_open(k->o, (struct slice){d.out, d.n}, 1, opened, sizeof opened, &n_opened,
			 &epoch) == DAVE_SEALED &&
	       n_opened == ranges.n && memcmp(opened, plain, n_opened) == 0;
}

TEST(video_frames_pass_encrypted)
{
	uint8_t *frame = malloc(FRAME);
	struct secret_pair k = {0};
	uint64_t seed = 13;

	CHECK(frame && pair_start(&k));
	for (unsigned i = 0; i < 400; i++) {
		size_t cap = i % 2 ? PAYLOAD : random_between(&seed, 300, 1100),
		       size = random_between(&seed, 20, 9000), n = 0;

		n += put_unit(&seed, frame, 0x67, 12);
		n += put_unit(&seed, frame + n, 0x68, 4);
		n += put_unit(&seed, frame + n, 0x65, size);
		n += put_unit(&seed, frame + n, 0x65, size);
		CHECK(passes(&k, DAVE_H264, VIDEO_H264, frame, n, cap));
		frame[0] &= 0xfe;
		CHECK(passes(&k, DAVE_VP8, VIDEO_VP8, frame, n, cap));
		n = put_obu(&seed, frame, 2, false, 0, false);
		n += put_obu(&seed, frame + n, 1, false, 11, false);
		n += put_obu(&seed, frame + n, 6, true, size, i % 2);
		CHECK(passes(&k, DAVE_AV1, VIDEO_AV1, frame, n, cap));
	}
	free(frame);
	dave_sealer_free(k.s);
	dave_opener_free(k.o);
}
