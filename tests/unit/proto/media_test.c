#include "tests/test.h"

#include <msgpack.h>

#include "proto/codec.h"
#include "proto/media.h"

/* A value for every field, different in each, as large as its type allows when `big`. */
struct filler {
	uint64_t n;
	bool big;
	uint8_t bytes[MEDIA_PCM_MAX];
};

static uint64_t number(struct filler *f, uint64_t most)
{
	f->n++;
	return f->big ? most : f->n & most;
}

static struct slice bytes(struct filler *f, size_t cap)
{
	f->n++;
	return (struct slice){.p = f->bytes, .n = f->big ? cap : f->n % 20};
}

#define FILL_u8			      number(&f, UINT8_MAX)
#define FILL_u16		      number(&f, UINT16_MAX)
#define FILL_u32		      number(&f, UINT32_MAX)
#define FILL_u64		      number(&f, UINT64_MAX)
#define FILL_b			      (number(&f, 1) & 1)
#define FILL_str(cap)		      bytes(&f, cap)
#define FILL_bin(cap)		      bytes(&f, cap)
#define FILL(type, field, since, def) m->field = FILL_##type;

#define SAME_NUMBER(a, b)	      ((a) == (b))
#define SAME_SLICE(a, b)	      ((a).n == (b).n && ((a).n == 0 || memcmp((a).p, (b).p, (a).n) == 0))
#define SAME_u8			      SAME_NUMBER
#define SAME_u16		      SAME_NUMBER
#define SAME_u32		      SAME_NUMBER
#define SAME_u64		      SAME_NUMBER
#define SAME_b			      SAME_NUMBER
#define SAME_str(cap)		      SAME_SLICE
#define SAME_bin(cap)		      SAME_SLICE
#define SAME(type, field, since, def) &&SAME_##type(a->field, b->field)

static const struct row {
	enum media_type type;
	const char *name;
	char direction;
	enum media_lane lane;
	size_t cap;
} rows[] = {
#define X(NAME, name, num, dir, lane, cap, since) {num, #NAME, #dir[0], MEDIA_LANE_##lane, cap},
	MEDIA_MESSAGES(X)
#undef X
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void fill(struct media_msg *msg, enum media_type type, bool big)
{
	static struct filler f;

	f.big = big;
	for (size_t i = 0; i < sizeof f.bytes; i++)
		f.bytes[i] = (uint8_t)('a' + i % 26);
	memset(msg, 0, sizeof *msg);
	msg->type = type;
	switch (type) {
#define X(NAME, name_, num, dir, lane, cap, since)                                                 \
	case num: {                                                                                \
		struct media_##name_ *m = &msg->name_;                                             \
		MEDIA_FIELDS_##NAME(FILL) break;                                                   \
	}
		MEDIA_MESSAGES(X)
#undef X
	}
}

static bool same(const struct media_msg *one, const struct media_msg *two)
{
	if (one->type != two->type)
		return false;
	switch (one->type) {
#define X(NAME, name_, num, dir, lane, cap, since)                                                 \
	case num: {                                                                                \
		const struct media_##name_ *a = &one->name_, *b = &two->name_;                     \
		return true MEDIA_FIELDS_##NAME(SAME);                                             \
	}
		MEDIA_MESSAGES(X)
#undef X
	}
	return false;
}

static enum media_side sender(const struct row *r)
{
	return r->direction == 'M' ? MEDIA_SIDE_MEDIAD : MEDIA_SIDE_CONTROL;
}

TEST(media_every_message_round_trips)
{
	static uint8_t buf[MEDIA_MAX_FRAME];
	struct media_msg in, out;
	size_t len;

	for (int i = 0; i < 2 * ROWS; i++) {
		const struct row *r = &rows[i / 2];

		fill(&in, r->type, i & 1);
		CHECK_INT(media_pack(&in, MEDIA_MINOR, buf, sizeof buf, &len), 0);
		CHECK(len <= r->cap);
		CHECK_INT(media_unpack(&out, sender(r), buf, len), 0);
		CHECK(same(&in, &out));
		if (r->direction == 'B') {
			CHECK_INT(media_unpack(&out, MEDIA_SIDE_MEDIAD, buf, len), 0);
			CHECK(same(&in, &out));
		} else {
			enum media_side other = sender(r) == MEDIA_SIDE_CONTROL
							? MEDIA_SIDE_MEDIAD
							: MEDIA_SIDE_CONTROL;

			CHECK_INT(media_unpack(&out, other, buf, len), EPERM);
		}
		CHECK_STR(media_type_name(r->type), r->name);
		CHECK_INT(media_lane_of(r->type), r->lane);
	}
	CHECK_STR(media_type_name(9999), "?");
}

/* What we write is msgpack as another reader sees it. */
TEST(media_bytes_are_msgpack)
{
	static uint8_t buf[MEDIA_MAX_FRAME];
	struct media_msg in;
	size_t len;

	for (int i = 0; i < 2 * ROWS; i++) {
		msgpack_unpacked u;
		size_t off = 0;
		bool ok;

		fill(&in, rows[i / 2].type, i & 1);
		CHECK_INT(media_pack(&in, MEDIA_MINOR, buf, sizeof buf, &len), 0);
		msgpack_unpacked_init(&u);
		ok = msgpack_unpack_next(&u, (char *)buf, len, &off) == MSGPACK_UNPACK_SUCCESS &&
		     off == len && u.data.type == MSGPACK_OBJECT_ARRAY &&
		     u.data.via.array.ptr[0].via.u64 == (uint64_t)rows[i / 2].type;
		msgpack_unpacked_destroy(&u);
		CHECK(ok);
	}
}

TEST(media_cut_anywhere_is_malformed)
{
	static uint8_t buf[MEDIA_MAX_FRAME];
	struct media_msg in, out = {.type = MEDIA_PING};
	size_t len;

	for (int i = 0; i < ROWS; i++) {
		fill(&in, rows[i].type, false);
		CHECK_INT(media_pack(&in, MEDIA_MINOR, buf, sizeof buf, &len), 0);
		for (size_t n = 0; n < len; n++) {
			uint8_t *exact = malloc(n ? n : 1);
			int err;

			memcpy(exact, buf, n);
			err = media_unpack(&out, sender(&rows[i]), exact, n);
			free(exact);
			CHECK_INT(err, EBADMSG);
		}
		buf[len] = 0; /* and so is something behind the end */
		CHECK_INT(media_unpack(&out, sender(&rows[i]), buf, len + 1), EBADMSG);
	}
	CHECK_INT(out.type, MEDIA_PING); /* untouched */
}

TEST(media_packing_keeps_to_caps)
{
	static uint8_t buf[MEDIA_MAX_FRAME];
	char text[300];
	struct media_msg m = {.type = MEDIA_FAULT};
	size_t len = 77;

	memset(text, 'x', sizeof text);
	m.fault.text = (struct slice){(uint8_t *)text, 257};
	CHECK_INT(media_pack(&m, MEDIA_MINOR, buf, sizeof buf, &len), EMSGSIZE);
	m.fault.text.n = 256;
	CHECK_INT(media_pack(&m, MEDIA_MINOR, buf, 200, &len), EMSGSIZE);
	CHECK_INT(len, 77);
	CHECK_INT(media_pack(&m, MEDIA_MINOR, buf, sizeof buf, &len), 0);
	m.type = (enum media_type)4711;
	CHECK_INT(media_pack(&m, MEDIA_MINOR, buf, sizeof buf, &len), EINVAL);
}

static int unpack_hex(struct media_msg *m, const void *bytes_, size_t n)
{
	return media_unpack(m, MEDIA_SIDE_CONTROL, bytes_, n);
}
#define UNPACK(m, lit) unpack_hex(m, lit, sizeof lit - 1)

TEST(media_reads_any_integer_width)
{
	struct media_msg m;

	CHECK_INT(UNPACK(&m, "\x92\x02\x05"), 0);
	CHECK_INT(m.ping.id, 5);
	CHECK_INT(UNPACK(&m, "\x92\xcd\x00\x02\xcc\x05"), 0);
	CHECK_INT(m.ping.id, 5);
	CHECK_INT(UNPACK(&m, "\xdc\x00\x02\xcf\0\0\0\0\0\0\0\x02\xce\0\0\0\x05"), 0);
	CHECK_INT(m.ping.id, 5);
	CHECK_INT(UNPACK(&m, "\xdd\0\0\0\x02\xd0\x02\xd3\0\0\0\0\0\0\0\x05"), 0);
	CHECK_INT(m.ping.id, 5);
	CHECK_INT(UNPACK(&m, "\x92\x02\xd0\xff"), EBADMSG); /* -1 */
	CHECK_INT(UNPACK(&m, "\x92\x02\xff"), EBADMSG);
	CHECK_INT(UNPACK(&m, "\x92\x02\xc3"), EBADMSG);		      /* true */
	CHECK_INT(UNPACK(&m, "\x92\x02\xca\0\0\0\0"), EBADMSG);	      /* 0.0 */
	CHECK_INT(UNPACK(&m, "\x92\x02\xa1x"), EBADMSG);	      /* "x" */
	CHECK_INT(UNPACK(&m, "\x93\x05\xce\0\x01\0\0\xa0"), EBADMSG); /* 65536 in 16 bits */
}

TEST(media_unknown_types)
{
	struct media_msg m;

	CHECK_INT(UNPACK(&m, "\x91\x63"), ENOSYS);
	CHECK_INT(UNPACK(&m, "\x92\xcd\x7f\xff\x01"), ENOSYS);
	CHECK_INT(UNPACK(&m, "\x91\xcd\x80\x00"), EPROTO);
	CHECK_INT(UNPACK(&m, "\x91\xce\xff\xff\xff\xff"), EPROTO);
	CHECK_INT(UNPACK(&m, "\x90"), EBADMSG);
	CHECK_INT(UNPACK(&m, "\x80"), EBADMSG);
	CHECK_INT(UNPACK(&m, "\xc1"), EBADMSG);
	CHECK_INT(UNPACK(&m, "\xdd\x7f\xff\xff\xff\x02"), EBADMSG); /* a count nobody has */
}

TEST(media_skips_what_a_newer_peer_appends)
{
	struct media_msg m;

	/* One of everything behind the field we know. */
	CHECK_INT(UNPACK(&m, "\x9f\x05\x05\xa0\xc0\xc2\xcb\1\2\3\4\5\6\7\x08\xa2hi\xc4\x01z\x92\x01"
			     "\x91\x02"
			     "\x81\x01\x02\xd4\x01\x02\xc7\x02\x01xy\xd9\x01q\xf0\xda\0\1w"),
		  0);
	CHECK_INT(m.fault.code, 5);
	CHECK_INT(UNPACK(&m, "\x93\x02\x05\xc1"), EBADMSG);
	CHECK_INT(UNPACK(&m, "\x93\x02\x05\x91\x91\x91\x91\x91\x91\x91\x91\xc0"), 0);
	CHECK_INT(UNPACK(&m, "\x93\x02\x05\x91\x91\x91\x91\x91\x91\x91\x91\x91\xc0"), EBADMSG);
	CHECK_INT(UNPACK(&m, "\x93\x02\x05\xdf\xff\xff\xff\xff"), EBADMSG);
}

/* ---- versions: a message of minor 1 whose third field came with minor 2, its last with minor 3
 * ---- */
struct grown {
	uint32_t a;
	struct slice name;
	uint16_t b;
	struct slice blob;
	bool c;
};
static const struct codec_field grown_fields[] = {
	{"a", CODEC_U32, offsetof(struct grown, a), 0, 1, 7, NULL},
	{"name", CODEC_STR, offsetof(struct grown, name), 8, 2, 0, "none"},
	{"b", CODEC_U16, offsetof(struct grown, b), 0, 2, 99, NULL},
	{"blob", CODEC_BIN, offsetof(struct grown, blob), 8, 3, 0, NULL},
	{"c", CODEC_BOOL, offsetof(struct grown, c), 0, 3, 1, NULL},
};
static const struct codec_message grown = {42, "GROWN", 64, 1, grown_fields, 5};

TEST(codec_minor_versions)
{
	struct grown in = {.a = 1,
			   .name = {(const uint8_t *)"bob", 3},
			   .b = 2,
			   .blob = {(const uint8_t *)"xy", 2},
			   .c = false};
	uint8_t buf[64];
	size_t len;

	CHECK_INT(codec_pack(&grown, &in, 0, buf, sizeof buf, &len), EINVAL); /* not known there */
	for (unsigned minor = 1; minor <= 4; minor++) {
		struct rd r;
		struct grown out;
		uint64_t num;
		uint32_t left;

		CHECK_INT(codec_pack(&grown, &in, minor, buf, sizeof buf, &len), 0);
		r = rd_of(buf, len);
		memset(&out, 0xee, sizeof out);
		CHECK_INT(codec_head(&r, &num, &left), 0);
		CHECK_INT(num, 42);
		CHECK_INT(left, minor == 1 ? 1 : minor == 2 ? 3 : 5);
		CHECK_INT(codec_fields(&grown, &r, left, &out), 0);
		CHECK_INT(out.a, 1);
		CHECK_INT(out.b, minor >= 2 ? 2 : 99);
		CHECK_MEM(out.name.p, out.name.n, minor >= 2 ? "bob" : "none", minor >= 2 ? 3 : 4);
		CHECK_INT(out.blob.n, minor >= 3 ? 2 : 0);
		CHECK_INT(out.c, minor >= 3 ? 0 : 1);
	}
}

TEST(media_first_fields_must_be_there)
{
	struct media_msg m;

	CHECK_INT(UNPACK(&m, "\x91\x02"), EBADMSG);
}

TEST(media_print_leaves_out_sound_and_secrets)
{
	static uint8_t pcm[64];
	struct media_msg m = {
		.type = MEDIA_SAY,
		.say = {.call = 3, .gen = 1, .playback = 9, .seq = 4, .pcm = {pcm, 64}}};
	char buf[2000], tiny[8];

	media_print(&m, buf, sizeof buf);
	CHECK_STR(buf, "{\"type\":\"SAY\",\"call\":3,\"gen\":1,\"playback\":9,\"seq\":4}");
	m = (struct media_msg){.type = MEDIA_CALL_CREDENTIALS,
			       .call_credentials = {.call = 1,
						    .gen = 2,
						    .session = slice_str("sess-secret"),
						    .token = slice_str("tok-secret"),
						    .endpoint = slice_str("a\"\n:443"),
						    .channel = 5}};
	media_print(&m, buf, sizeof buf);
	CHECK(!strstr(buf, "secret"));
	CHECK(strstr(buf, "\"endpoint\":\"a\\u0022\\u000a:443\""));
	m = (struct media_msg){.type = MEDIA_MUSIC_PLAY,
			       .music_play = {.path = slice_str("http://secret@radio.example/"),
					      .headers = slice_str("Cookie: secret")}};
	media_print(&m, buf, sizeof buf);
	CHECK(strstr(buf, "\"duck_release_ms\":") && !strstr(buf, "secret"));
	media_print(&m, tiny, sizeof tiny);
	CHECK_STR(tiny, "{\"type\"");
	m = (struct media_msg){.type = MEDIA_MEMBER, .member = {.user = 12, .present = true}};
	media_print(&m, buf, sizeof buf);
	CHECK(strstr(buf, "\"present\":true}"));
}

TEST(media_names_and_texts)
{
	CHECK_STR(media_reason_name(MEDIA_REASON_UDP_BLOCKED), "udp_blocked");
	CHECK_STR(media_reason_text(MEDIA_REASON_STOPPED), "it was stopped");
	CHECK_STR(media_reason_name(12345), "unknown");
	CHECK_STR(media_phase_name(MEDIA_PHASE_UP), "up");
	CHECK_STR(media_phase_text(99), "not known");
	CHECK_STR(media_fault_text(MEDIA_FAULT_TAKEN_OVER), "a newer control took over");
}

/* An older peer is told what it knows, and what it does not tell has a value. */
TEST(media_minor_0)
{
	struct media_msg in, out;
	uint8_t buf[256];
	size_t len;

	fill(&in, MEDIA_USER_STATS, true);
	CHECK_INT(media_pack(&in, 0, buf, sizeof buf, &len), 0);
	CHECK_INT(media_unpack(&out, MEDIA_SIDE_MEDIAD, buf, len), 0);
	CHECK_INT(out.user_stats.jitter_us, UINT32_MAX);
	CHECK(!out.user_stats.in_outage);
	CHECK_INT(out.user_stats.outages, 0);
	CHECK_INT(out.user_stats.not_sealed, 0);
	fill(&in, MEDIA_CALL_SECURE, false);
	CHECK_INT(media_pack(&in, 0, buf, sizeof buf, &len), EINVAL);
	CHECK_INT(media_since(MEDIA_CALL_SECURE), 1);
	CHECK_INT(media_since(MEDIA_CALL_STATE), 0);
	CHECK_INT(media_since((enum media_type)9999), 0);
}
