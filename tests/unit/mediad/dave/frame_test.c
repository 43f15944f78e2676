#include "tests/test.h"

#include "mediad/dave/frame.h"
#include "tests/unit/mediad/dave/answers.h"

enum { CAP = 4096 };

/* ---- parsing ---- */

/* body bytes, tag, then the rest of the supplement; its size and the magic are put behind unless
 * size is given. */
static size_t make(uint8_t *out, size_t body, const char *rest, size_t n_rest, int size)
{
	size_t n = body + DAVE_TAG;

	memset(out, 0x11, n);
	memcpy(out + n, rest, n_rest);
	n += n_rest;
	out[n++] = (uint8_t)(size < 0 ? DAVE_TAG + n_rest + DAVE_TAIL : (size_t)size);
	out[n++] = DAVE_MAGIC;
	out[n++] = DAVE_MAGIC;
	return n;
}

#define PARSE(body, rest, size)                                                                    \
	(n = make(p, body, rest, sizeof(rest) - 1, size), heap_parse(&f, p, n))

/* From a block of exactly that size, so that reading past it is seen. */
static bool heap_parse(struct dave_frame *f, const uint8_t *p, size_t n)
{
	uint8_t *exact = malloc(n ? n : 1);
	bool ok;

	if (!exact)
		return false;
	memcpy(exact, p, n);
	ok = dave_frame_parse(f, exact, n);
	free(exact);
	return ok;
}

TEST(dave_frame_strict)
{
	struct dave_frame f;
	uint8_t p[600];
	size_t n;

	CHECK(PARSE(5, "\x01", -1));
	CHECK_INT(f.body.n, 5);
	CHECK_INT(f.nonce, 1);
	CHECK_INT(f.n_ranges, 0);
	CHECK(PARSE(0, "\x01", -1));
	CHECK_INT(f.body.n, 0);
	/* the size */
	CHECK(!PARSE(5, "\x01", 0));
	CHECK(!PARSE(5, "\x01", 10));
	CHECK(!PARSE(5, "\x01", 11));
	CHECK(!PARSE(5, "\x01", 18));
	CHECK(!PARSE(5, "\x01", 255));
	CHECK(!PARSE(5, "", -1));
	/* the nonce */
	CHECK(PARSE(5, "\xff\xff\xff\xff\x0f", -1));
	CHECK_INT(f.nonce, UINT32_MAX);
	CHECK(!PARSE(5, "\xff\xff\xff\xff\x1f", -1));
	CHECK(!PARSE(5, "\xff\xff\xff\xff\xff\x01", -1));
	CHECK(!PARSE(5, "\x80\x80\x80\x80\x80\x00", -1));
	CHECK(!PARSE(5, "\x80", -1));
	CHECK(PARSE(5, "\x81\x00", -1));
	CHECK_INT(f.nonce, 1);
	/* ranges */
	CHECK(PARSE(5, "\x01\x00\x05", -1));
	CHECK_INT(f.n_ranges, 1);
	CHECK(PARSE(5, "\x01\x00\x02\x02\x01\x04\x01", -1));
	CHECK_INT(f.n_ranges, 3);
	CHECK_INT(f.range[2].at, 4);
	CHECK(PARSE(5, "\x01\x05\x00", -1));
	CHECK(!PARSE(5, "\x01\x00\x06", -1));
	CHECK(!PARSE(5, "\x01\x06\x00", -1));
	CHECK(!PARSE(5, "\x01\x00", -1));
	CHECK(!PARSE(5, "\x01\x00\x02\x01\x01", -1));
	CHECK(!PARSE(5, "\x01\x02\x01\x00\x01", -1));
	CHECK(!PARSE(5, "\x01\x01\xff\xff\xff\xff\x0f", -1));
	CHECK(!PARSE(5, "\x01\xff\xff\xff\xff\x0f\x01", -1));
	CHECK(!PARSE(5, "\x01\x00\x80", -1));
	/* the magic */
	n = make(p, 5, "\x01", 1, -1);
	p[n - 1] = 0xfb;
	CHECK(!heap_parse(&f, p, n));
	p[n - 1] = DAVE_MAGIC;
	p[n - 2] = 0;
	CHECK(!heap_parse(&f, p, n));
}

/* Every length that is too short, and every byte of a good supplement cut off in front. */
TEST(dave_frame_short)
{
	struct dave_frame f;
	uint8_t p[600];
	size_t n = make(p, 0, "\x01", 1, -1);

	CHECK_INT(n, 12);
	for (size_t cut = 1; cut <= n; cut++)
		CHECK(!heap_parse(&f, p + cut, n - cut));
	memset(p, DAVE_MAGIC, sizeof p);
	for (n = 0; n < 600; n++)
		CHECK(!heap_parse(&f, p, n) || f.body.n + 0xfa == n);
	memset(p, 11, sizeof p);
	p[11] = p[10] = DAVE_MAGIC;
	CHECK(!heap_parse(&f, p, 12));
}

TEST(dave_frame_silence)
{
	CHECK(dave_is_silence((const uint8_t *)"\xf8\xff\xfe", 3));
	CHECK(!dave_is_silence((const uint8_t *)"\xf8\xff\xfe", 2));
	CHECK(!dave_is_silence((const uint8_t *)"\xf8\xff\xff", 3));
	CHECK(!dave_is_silence((const uint8_t *)"\xf8\xff\xfe\x00", 4));
}

/* ---- plans ---- */

struct want {
	unsigned n;
	struct dave_range range[8];
};

static bool same_ranges(const struct dave_range *got, uint32_t n, const struct want *want)
{
	return n == want->n && memcmp(got, want->range, n * sizeof *got) == 0;
}

static void read_want(struct want *w, const json_t *ranges)
{
	json_t *r;
	size_t i;

	w->n = 0;
	json_array_foreach(ranges, i, r)
	{
		if (i == 8)
			return;
		w->range[w->n++] = (struct dave_range){
			.at = (uint32_t)json_integer_value(json_array_get(r, 0)),
			.n = (uint32_t)json_integer_value(json_array_get(r, 1))};
	}
}

static void check_inbound(const json_t *c, const struct want *want)
{
	struct dave_frame f;
	uint8_t frame[512];
	size_t n = answers_bytes(c, "frame", frame, sizeof frame);

	CHECK(dave_frame_parse(&f, frame, n));
	CHECK_INT(f.body.n,
		  json_integer_value(json_object_get(c, "frame_size_without_supplement")));
	CHECK(same_ranges(f.range, f.n_ranges, want));
}

static void check_outbound(const json_t *c, const struct want *want)
{
	struct dave_clear_ranges plan;
	uint8_t frame[512], out[1024], header[512];
	size_t n = answers_bytes(c, "frame", frame, sizeof frame);
	size_t n_header = answers_bytes(c, "expected_unencrypted_header", header, sizeof header);

	CHECK_INT(dave_find_clear_ranges(&plan, answers_codec(answers_text(c, "codec")), frame, n,
					 out, sizeof out),
		  0);
	if (!same_ranges(plan.range, plan.n_ranges, want))
		test_fail(__FILE__, __LINE__, "%s", answers_text(c, "name"));
	CHECK_MEM(out, n_header, header, n_header);
}

TEST(dave_ranges_libdave)
{
	json_t *j = answers_shared("libdave-codec-ranges.json"), *c;
	struct want want;
	size_t i;

	if (!j)
		return;
	json_array_foreach(json_object_get(j, "cases"), i, c)
	{
		read_want(&want, json_object_get(c, "unencrypted_ranges"));
		if (json_object_get(c, "codec"))
			check_outbound(c, &want);
		else
			check_inbound(c, &want);
	}
	CHECK_INT(i, 15);
	json_decref(j);
}

#define HEX(s) (const uint8_t *)(s), sizeof(s) - 1

static const struct plan_case {
	const char *name;
	enum dave_codec codec;
	const uint8_t *frame;
	size_t n;
	int err;
	const uint8_t *out;
	size_t n_out;
	struct want want;
} cases[] = {
	{"opus", DAVE_OPUS, HEX("\0\0\1abc"), 0, HEX("\0\0\1abc"), {0}},
	{"vp9", DAVE_VP9, HEX("\0\0\1abc"), 0, HEX("\0\0\1abc"), {0}},
	{"unknown", DAVE_UNKNOWN, HEX("abc"), 0, HEX("abc"), {0}},
	{"vp8 key frame",
	 DAVE_VP8,
	 HEX("\0"
	     "123456789ab"),
	 0,
	 HEX("\0"
	     "123456789ab"),
	 {1, {{0, 10}}}},
	{"vp8 short key frame",
	 DAVE_VP8,
	 HEX("\0"
	     "123"),
	 0,
	 HEX("\0"
	     "123"),
	 {1, {{0, 4}}}},
	{"vp8 other frame",
	 DAVE_VP8,
	 HEX("\1"
	     "123"),
	 0,
	 HEX("\1"
	     "123"),
	 {1, {{0, 1}}}},
	{"vp8 nothing", DAVE_VP8, HEX(""), 0, HEX(""), {0}},
	/* one value of 1 bit, one of 5, two bits of the third; a long tail of zeros is no value */
	{"h264 slice",
	 DAVE_H264,
	 HEX("\0\0\1\x41\xff\xff"),
	 0,
	 HEX("\0\0\0\1\x41\xff\xff"),
	 {1, {{0, 6}}}},
	{"h264 zeros", DAVE_H264, HEX("\0\0\1\x41\0\0"), 0, HEX("\0\0\0\1\x41\0\0"), {1, {{0, 7}}}},
	{"h264 header alone", DAVE_H264, HEX("\0\0\1\x41"), 0, HEX("\0\0\0\1\x41"), {1, {{0, 5}}}},
	{"h264 second byte",
	 DAVE_H264,
	 HEX("\0\0\1\x41\x28\xe7zz"),
	 0,
	 HEX("\0\0\0\1\x41\x28\xe7zz"),
	 {1, {{0, 7}}}},
	{"h264 third number in the second byte",
	 DAVE_H264,
	 HEX("\0\0\1\x41\xc1\xffzz"),
	 0,
	 HEX("\0\0\0\1\x41\xc1\xffzz"),
	 {1, {{0, 7}}}},
	{"h264 zeros in front",
	 DAVE_H264,
	 HEX("\0\0\0\0\1\x09\x10"),
	 0,
	 HEX("\0\0\0\1\x09\x10"),
	 {1, {{0, 6}}}},
	{"h264 empty units",
	 DAVE_H264,
	 HEX("\0\0\1\0\0\1\x09\0\0\1"),
	 0,
	 HEX("\0\0\0\1\x09"),
	 {1, {{0, 5}}}},
	{"h264 nothing but codes", DAVE_H264, HEX("\0\0\1\0\0\1"), EBADMSG, NULL, 0, {0}},
	{"h264 no code", DAVE_H264, HEX("\0\0\x41\xff\xff"), EBADMSG, NULL, 0, {0}},
	{"h264 something in front", DAVE_H264, HEX("x\0\0\1\x41\xff\xff"), EBADMSG, NULL, 0, {0}},
	{"h264 nothing", DAVE_H264, HEX(""), EBADMSG, NULL, 0, {0}},
	{"h265 slice",
	 DAVE_H265,
	 HEX("\0\0\1\x02\x01zz"),
	 0,
	 HEX("\0\0\0\1\x02\x01zz"),
	 {1, {{0, 6}}}},
	{"h265 short slice", DAVE_H265, HEX("\0\0\1\x02"), 0, HEX("\0\0\0\1\x02"), {1, {{0, 5}}}},
	{"h265 parameters",
	 DAVE_H265,
	 HEX("\0\0\1\x40\x01zz"),
	 0,
	 HEX("\0\0\0\1\x40\x01zz"),
	 {1, {{0, 8}}}},
	{"av1 one unit",
	 DAVE_AV1,
	 HEX("\x32\3abc"),
	 0,
	 HEX("\x30"
	     "abc"),
	 {1, {{0, 1}}}},
	{"av1 without a size",
	 DAVE_AV1,
	 HEX("\x30"
	     "abc"),
	 0,
	 HEX("\x30"
	     "abc"),
	 {1, {{0, 1}}}},
	{"av1 two units, padded size",
	 DAVE_AV1,
	 HEX("\x12\0\x0a\x82\0ab\x36\x48\2cd"),
	 0,
	 HEX("\x0a\2ab\x34\x48"
	     "cd"),
	 {2, {{0, 2}, {4, 2}}}},
	{"av1 ends with padding",
	 DAVE_AV1,
	 HEX("\x0a\2ab\x7a\1z"),
	 0,
	 HEX("\x08"
	     "ab"),
	 {1, {{0, 1}}}},
	{"av1 tile list", DAVE_AV1, HEX("\x42\1x\x0a\0"), 0, HEX("\x08"), {1, {{0, 1}}}},
	{"av1 nothing kept", DAVE_AV1, HEX("\x12\0"), EBADMSG, NULL, 0, {0}},
	{"av1 nothing", DAVE_AV1, HEX(""), EBADMSG, NULL, 0, {0}},
	{"av1 size past the end", DAVE_AV1, HEX("\x0a\3ab"), EBADMSG, NULL, 0, {0}},
	{"av1 cut in the size", DAVE_AV1, HEX("\x0a\x82"), EBADMSG, NULL, 0, {0}},
	{"av1 cut in the extension", DAVE_AV1, HEX("\x0e"), EBADMSG, NULL, 0, {0}},
};

static bool plan_holds(const struct plan_case *c, size_t cap)
{
	struct dave_clear_ranges plan;
	uint8_t *out = malloc(cap ? cap : 1);
	bool ok;
	int err;

	if (!out)
		return false;
	err = dave_find_clear_ranges(&plan, c->codec, c->frame, c->n, out, cap);
	if (c->err || cap < c->n_out)
		ok = err == (c->err ? c->err : EMSGSIZE);
	else
		ok = !err && plan.n == c->n_out &&
		     (!c->n_out || memcmp(out, c->out, c->n_out) == 0) &&
		     same_ranges(plan.range, plan.n_ranges, &c->want);
	free(out);
	return ok;
}

TEST(dave_ranges_own)
{
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct plan_case *c = &cases[i];

		if (!plan_holds(c, c->n * 5 / 4 + 1))
			test_fail(__FILE__, __LINE__, "%s", c->name);
		for (size_t cap = 0; !c->err && cap < c->n_out; cap++)
			if (!plan_holds(c, cap))
				test_fail(__FILE__, __LINE__, "%s with room for %zu", c->name, cap);
	}
}

/* Slices without end: more clear ranges than fit. */
TEST(dave_ranges_too_many)
{
	struct dave_clear_ranges plan;
	static uint8_t frame[8 * (DAVE_RANGES_MAX + 1)], out[2 * sizeof frame];

	for (size_t i = 0; i < sizeof frame; i += 8)
		memcpy(frame + i, "\0\0\1\x41\xff\xff\xff\xff", 8);
	CHECK_INT(
		dave_find_clear_ranges(&plan, DAVE_H264, frame, sizeof frame - 8, out, sizeof out),
		0);
	CHECK_INT(plan.n_ranges, DAVE_RANGES_MAX);
	CHECK_INT(dave_find_clear_ranges(&plan, DAVE_H264, frame, sizeof frame, out, sizeof out),
		  EOVERFLOW);
}

TEST(dave_start_codes)
{
	/* 6 clear, 6 sealed, 4 clear, 4 sealed, then the supplement */
	static const struct dave_clear_ranges plan = {
		.n = 20, .n_ranges = 2, .range = {{0, 6}, {12, 4}}};
	static const struct {
		size_t at;
		const char *bytes;
		size_t n;
		bool imitates;
	} c[] = {
		{8, "\0\0\1", 3, true},	 {0, "\0\0\0\1", 4, false}, {4, "\0\0\1", 3, true},
		{5, "\0\0\1", 3, true},	 {3, "\0\0\1", 3, false},   {10, "\0\0\1", 3, true},
		{11, "\0\0\1", 3, true}, {12, "\0\0\1", 3, false},  {11, "\0\0\0\1", 4, false},
		{17, "\0\0\1", 3, true}, {19, "\0\0\1", 3, true},   {27, "\0\0\1", 3, true},
		{9, "\0\0\2", 3, false},
	};

	for (unsigned i = 0; i < sizeof c / sizeof c[0]; i++) {
		uint8_t p[30];

		memset(p, 0x77, sizeof p);
		memcpy(p + c[i].at, c[i].bytes, c[i].n);
		if (dave_imitates_start_code(&plan, p, sizeof p) != c[i].imitates)
			test_fail(__FILE__, __LINE__, "at %zu", c[i].at);
	}
}
