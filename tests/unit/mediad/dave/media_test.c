#include "tests/test.h"

#include <malloc.h>

#include "mediad/dave/key_internal.h"
#include "proto/base/leb128.h"
#include "mediad/dave/media.h"
#include "proto/base/time.h"

enum { FRAME_MAX = 3000 };
static const uint8_t base_a[DAVE_SECRET] = "the first secret",
		     base_b[DAVE_SECRET] = "another secret!";

/* ---- fixtures ---- */

struct pair {
	struct dave_sealer *s;
	struct dave_opener *o;
	unsigned back;	    /* keys given back */
	uint64_t last_back; /* epoch of the last one */
};

static void returned(struct dave_key *key, void *arg)
{
	struct pair *p = arg;

	p->back++;
	p->last_back = dave_key_epoch(key);
	dave_key_free(key);
}

/* A key of its own secret for every epoch. */
static struct dave_key *key_of(uint64_t epoch, uint32_t generation)
{
	uint8_t base[DAVE_SECRET];
	struct dave_key *k = NULL;

	memcpy(base, base_a, sizeof base);
	base[0] = (uint8_t)epoch;
	base[1] = (uint8_t)(epoch >> 8);
	(void)dave_key_alloc(&k, base, epoch, generation);
	return k;
}

static void send_with(struct pair *p, uint64_t epoch, uint32_t generation)
{
	dave_key_free(dave_sealer_set(p->s, key_of(epoch, generation)));
}

static void hear_with(struct pair *p, uint64_t epoch, uint32_t generation, uint64_t now)
{
	dave_opener_add(p->o, key_of(epoch, generation), now, returned, p);
}

static bool pair_start(struct pair *p)
{
	memset(p, 0, sizeof *p);
	if (dave_sealer_alloc(&p->s) || dave_opener_alloc(&p->o))
		return false;
	send_with(p, 1, 0);
	hear_with(p, 1, 0, 0);
	return true;
}

static void pair_end(struct pair *p)
{
	dave_sealer_free(p->s);
	dave_opener_free(p->o);
}

struct sealed {
	uint8_t p[FRAME_MAX];
	size_t n;
};

static const uint8_t voice[] = "a frame of forty bytes, more or less ...";
enum { VOICE = sizeof voice - 1 };

static bool seal_voice(struct pair *p, struct sealed *f)
{
	return dave_seal(p->s, DAVE_OPUS, voice, VOICE, f->p, sizeof f->p, &f->n) == 0;
}

static enum dave_opened open_at(struct pair *p, const struct sealed *f, uint64_t now)
{
	uint8_t out[FRAME_MAX];
	uint64_t epoch = 99;
	size_t n = 0;
	enum dave_opened got =
		dave_open(p->o, (struct slice){f->p, f->n}, now, out, sizeof out, &n, &epoch);

	if (got == DAVE_SEALED &&
	    (n != VOICE || memcmp(out, voice, VOICE) != 0 || epoch == 0 || epoch == 99))
		return DAVE_FAILED;
	if (got == DAVE_CLEAR && (n != f->n || memcmp(out, f->p, n) != 0 || epoch != 0))
		return DAVE_FAILED;
	return got;
}

static uint32_t lcg(uint64_t *s)
{
	*s = *s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*s >> 33);
}

/* ---- there and back ---- */

/* Annex B units, AV1 units, or noise. */
static size_t make_frame(enum dave_codec codec, uint8_t *p, size_t n, uint64_t *seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)lcg(seed) | (codec == DAVE_H264 || codec == DAVE_H265 ? 4 : 0);
	if (codec == DAVE_H264 || codec == DAVE_H265) {
		static const uint8_t types[] = {0x41, 0x65, 0x67, 0x02, 0x40};

		for (size_t i = 0; i + 5 < n; i += 4 + lcg(seed) % 400)
			memcpy(p + i, (uint8_t[]){0, 0, 1, types[lcg(seed) % sizeof types]}, 4);
	} else if (codec == DAVE_AV1 && n >= 40) {
		memcpy(p, (uint8_t[]){0x12, 0, 0x0a, 10}, 4);
		memcpy(p + 14, (uint8_t[]){0x32, 0x87, 0x00}, 3); /* 7 bytes, its size padded */
		p[24] = 0x30;
	}
	return n;
}

static void round_trip(struct pair *p, enum dave_codec codec, size_t n, uint64_t *seed)
{
	static uint8_t frame[FRAME_MAX], plain[2 * FRAME_MAX];
	struct dave_clear_ranges plan;
	size_t cap = codec == DAVE_OPUS ? n + DAVE_OPUS_OVERHEAD : DAVE_VIDEO_CAP(n), len = 0,
	       back = 0;
	uint8_t *sealed = malloc(cap), *opened = NULL;
	uint64_t epoch = 0;
	int err = dave_find_clear_ranges(&plan, codec, frame, make_frame(codec, frame, n, seed),
					 plain, sizeof plain);
	enum dave_opened got = DAVE_FAILED;

	if (err) {
		plan.n = n;
		memcpy(plain, frame, n);
	}
	if (sealed)
		err = dave_seal(p->s, codec, frame, n, sealed, cap, &len);
	if (!err)
		opened = malloc(len);
	if (opened)
		got = dave_open(p->o, (struct slice){sealed, len}, 0, opened, len, &back, &epoch);
	if (got != DAVE_SEALED || back != plan.n || memcmp(opened, plain, back) != 0)
		test_fail(__FILE__, __LINE__, "codec %d, %zu bytes: sealing gave %d, opening %d",
			  codec, n, err, got);
	free(sealed);
	free(opened);
}

TEST(dave_media_round_trip)
{
	static const size_t sizes[] = {0,  1,  2,   3,	 9,   10,  11,	 15,   16,
				       17, 40, 160, 511, 512, 513, 1275, 1500, FRAME_MAX};
	uint64_t seed = 5;
	struct pair p;

	CHECK(pair_start(&p));
	for (enum dave_codec c = DAVE_OPUS; c <= DAVE_UNKNOWN; c++)
		for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
			for (unsigned again = 0; again < 8; again++)
				round_trip(&p, c, sizes[i], &seed);
	pair_end(&p);
}

/* A slice whose text, sealed with each of the counters [1, tries], holds a start code: the cipher
 * is a key stream, so the plaintext for it is found from any other text's. */
enum { SLICE = 200, SLICE_CLEAR = 6 };

static bool make_imitating(struct pair *p, enum dave_codec codec, uint8_t *slice, size_t clear,
			   unsigned tries)
{
	static const uint8_t code[] = {0, 0, 1};
	uint8_t out[DAVE_VIDEO_CAP(SLICE)];
	size_t len;

	for (unsigned c = 1; c <= tries; c++) {
		size_t at = clear + 1 + 5 * c;

		dave_sealer_set_counter(p->s, c);
		if (dave_seal(p->s, codec, slice, SLICE, out, sizeof out, &len))
			return false;
		for (unsigned i = 0; i < sizeof code; i++)
			slice[at + i] ^= out[at + i] ^ code[i];
	}
	dave_sealer_set_counter(p->s, 1);
	return true;
}

static void check_imitating(enum dave_codec codec, const char *head, size_t n_head, size_t clear)
{
	uint8_t slice[SLICE], out[DAVE_VIDEO_CAP(SLICE)];
	struct dave_frame parsed;
	size_t len = 77;
	struct pair p;

	for (unsigned tries = 1; tries <= 10; tries++) {
		memset(slice, 0x55, sizeof slice);
		memcpy(slice, head, n_head);
		CHECK(pair_start(&p));
		CHECK(make_imitating(&p, codec, slice, clear, tries));
		if (tries < 10) {
			CHECK_INT(dave_seal(p.s, codec, slice, SLICE, out, sizeof out, &len), 0);
			CHECK(dave_frame_parse(&parsed, out, len));
			CHECK_INT(parsed.nonce, tries + 1);
			len = 77;
		} else {
			CHECK_INT(dave_seal(p.s, codec, slice, SLICE, out, sizeof out, &len),
				  EBADMSG);
			CHECK_INT(len, 77);
		}
		CHECK_INT(dave_sealer_counter(p.s), tries < 10 ? tries + 2 : 11);
		pair_end(&p);
	}
}

TEST(dave_media_start_codes)
{
	check_imitating(DAVE_H264, "\0\0\0\1\x41\xff", 6, SLICE_CLEAR);
	check_imitating(DAVE_H265, "\0\0\0\1\x02\x01", 6, SLICE_CLEAR);
	/* not of the codec: sealed whole */
	check_imitating(DAVE_H264, "", 0, 0);
}

TEST(dave_media_layout)
{
	struct sealed f;
	struct dave_frame parsed;
	struct pair p;

	CHECK(pair_start(&p));
	CHECK(dave_sealer_ready(p.s));
	CHECK(seal_voice(&p, &f));
	CHECK_INT(f.n, VOICE + 12);
	CHECK_MEM(f.p + f.n - 4, 4, "\x01\x0c\xfa\xfa", 4);
	dave_sealer_set_counter(p.s, 128);
	CHECK(seal_voice(&p, &f));
	CHECK_INT(f.n, VOICE + 13);
	dave_sealer_set_counter(p.s, 0xffffff);
	CHECK(seal_voice(&p, &f));
	CHECK(dave_frame_parse(&parsed, f.p, f.n));
	CHECK_INT(parsed.nonce, 0xffffff);
	CHECK(f.n <= VOICE + DAVE_OPUS_OVERHEAD);
	pair_end(&p);
}

TEST(dave_media_room)
{
	uint8_t out[VOICE + DAVE_OPUS_OVERHEAD];
	static const uint8_t slice[] = "\0\0\0\1\x41\xff"
				       "0123456789";
	uint8_t video[DAVE_VIDEO_CAP(sizeof slice)];
	struct pair p;
	size_t len, need = sizeof slice - 1 + 8 + 1 + 2 + 3;

	CHECK(pair_start(&p));
	for (size_t cap = 0; cap < VOICE + 12; cap++)
		CHECK_INT(dave_seal(p.s, DAVE_OPUS, voice, VOICE, out, cap, &len), EMSGSIZE);
	CHECK_INT(dave_sealer_counter(p.s), 1);
	CHECK_INT(dave_seal(p.s, DAVE_OPUS, voice, VOICE, out, VOICE + 12, &len), 0);
	for (size_t cap = 0; cap < need + 6; cap++)
		CHECK_INT(dave_seal(p.s, DAVE_H264, slice, sizeof slice - 1, video, cap, &len),
			  EMSGSIZE);
	CHECK_INT(dave_seal(p.s, DAVE_H264, slice, sizeof slice - 1, video, need + 6, &len), 0);
	CHECK_INT(len, need);
	dave_key_free(dave_sealer_set(p.s, NULL));
	CHECK(!dave_sealer_ready(p.s));
	CHECK_INT(dave_seal(p.s, DAVE_OPUS, voice, VOICE, out, sizeof out, &len), ENOKEY);
	pair_end(&p);
}

/* A supplement counts its bytes in one byte. */
TEST(dave_media_supplement_full)
{
	static uint8_t frame[8 * 100], out[DAVE_VIDEO_CAP(sizeof frame)];
	struct pair p;
	size_t len;

	for (size_t i = 0; i < sizeof frame; i += 8)
		memcpy(frame + i, "\0\0\1\x41\xff\x77\x77\x77", 8);
	CHECK(pair_start(&p));
	CHECK_INT(dave_seal(p.s, DAVE_H264, frame, 8 * 86, out, sizeof out, &len), 0);
	CHECK_INT(out[len - 3], 8 + 1 + 3 + 15 * 2 + 71 * 3);
	CHECK_INT(out[len - 3], DAVE_SUPPLEMENT_MAX);
	CHECK_INT(dave_seal(p.s, DAVE_H264, frame, 8 * 87, out, sizeof out, &len), EOVERFLOW);
	pair_end(&p);
}

/* ---- what is not authentic ---- */

TEST(dave_media_damaged)
{
	static const uint8_t slice[] = "\0\0\0\1\x41\xff"
				       "0123456789"
				       "\0\0\0\1\x41\xff"
				       "0123456789";
	uint8_t sealed[DAVE_VIDEO_CAP(sizeof slice)], bad[sizeof sealed], out[sizeof sealed];
	struct pair p;
	size_t n, len;
	uint64_t epoch;

	CHECK(pair_start(&p));
	CHECK_INT(dave_seal(p.s, DAVE_H264, slice, sizeof slice - 1, sealed, sizeof sealed, &n), 0);
	for (size_t i = 0; i < n * 8; i++) {
		memcpy(bad, sealed, n);
		bad[i / 8] ^= (uint8_t)(1 << i % 8);
		CHECK(dave_open(p.o, (struct slice){bad, n}, 0, out, sizeof out, &len, &epoch) >=
		      DAVE_NOT_SEALED);
	}
	for (size_t i = 0; i < n; i++) {
		enum dave_opened got =
			dave_open(p.o, (struct slice){sealed, i}, 0, out, sizeof out, &len, &epoch);

		CHECK(got >= DAVE_NOT_SEALED);
		CHECK(dave_open(p.o, (struct slice){sealed + n - i, i}, 0, out, sizeof out, &len,
				&epoch) >= DAVE_NOT_SEALED);
	}
	CHECK_INT(dave_open(p.o, (struct slice){sealed, n}, 0, out, n - 1, &len, &epoch),
		  DAVE_FAILED);
	CHECK_INT(dave_open(p.o, (struct slice){sealed, n}, 0, out, n, &len, &epoch), DAVE_SEALED);
	CHECK_MEM(out, len, slice, sizeof slice - 1);
	CHECK_INT(epoch, 1);
	pair_end(&p);
}

TEST(dave_media_no_key)
{
	struct sealed f;
	struct pair p;

	CHECK(pair_start(&p));
	CHECK(seal_voice(&p, &f));
	dave_opener_clear(p.o, returned, &p);
	CHECK_INT(p.back, 1);
	CHECK_INT(open_at(&p, &f, 0), DAVE_NO_KEY);
	hear_with(&p, 2, 0, 0);
	CHECK_INT(open_at(&p, &f, 0), DAVE_FAILED);
	pair_end(&p);
}

TEST(dave_media_replay)
{
	struct sealed f[4];
	struct pair p;

	CHECK(pair_start(&p));
	for (unsigned i = 0; i < 4; i++)
		CHECK(seal_voice(&p, &f[i]));
	CHECK_INT(open_at(&p, &f[1], 0), DAVE_SEALED);
	CHECK_INT(open_at(&p, &f[1], 0), DAVE_REPLAYED);
	CHECK_INT(open_at(&p, &f[0], 0), DAVE_REPLAYED); /* older than the first that came */
	CHECK_INT(open_at(&p, &f[3], 0), DAVE_SEALED);
	CHECK_INT(open_at(&p, &f[2], 0), DAVE_SEALED);
	CHECK_INT(open_at(&p, &f[2], 0), DAVE_REPLAYED);
	CHECK_INT(open_at(&p, &f[3], 0), DAVE_REPLAYED);
	/* A number that was seen, but under a key that we lack, is a failure. */
	send_with(&p, 7, 0);
	CHECK(seal_voice(&p, &f[0]));
	CHECK(seal_voice(&p, &f[0]));
	CHECK_INT(open_at(&p, &f[0], 0), DAVE_FAILED);
	pair_end(&p);
}

/* A thousand behind the newest still come, each once; what was passed over before them is gone. */
TEST(dave_media_reorder)
{
	static struct sealed f[DAVE_MISSING_MAX + 4];
	enum { N = DAVE_MISSING_MAX + 4 };
	struct pair p;

	CHECK(pair_start(&p));
	for (unsigned i = 0; i < N; i++)
		CHECK(seal_voice(&p, &f[i]));
	CHECK_INT(open_at(&p, &f[0], 0), DAVE_SEALED);
	CHECK_INT(open_at(&p, &f[N - 1], 0), DAVE_SEALED);
	CHECK_INT(open_at(&p, &f[1], 0), DAVE_REPLAYED);
	CHECK_INT(open_at(&p, &f[2], 0), DAVE_REPLAYED);
	for (unsigned i = N - 2; i >= 3; i--)
		CHECK_INT(open_at(&p, &f[i], 0), DAVE_SEALED);
	for (unsigned i = 0; i < N; i++)
		CHECK_INT(open_at(&p, &f[i], 0), DAVE_REPLAYED);
	pair_end(&p);
}

/* ---- epochs ---- */

TEST(dave_media_grace)
{
	struct sealed old[3], young[2];
	struct pair p;

	CHECK(pair_start(&p));
	for (unsigned i = 0; i < 3; i++)
		CHECK(seal_voice(&p, &old[i]));
	send_with(&p, 2, 0);
	CHECK_INT(dave_sealer_counter(p.s), 1);
	CHECK(seal_voice(&p, &young[0]));
	CHECK(seal_voice(&p, &young[1]));
	CHECK_INT(open_at(&p, &young[0], 5 * NS_PER_S), DAVE_FAILED);
	hear_with(&p, 2, 0, 5 * NS_PER_S);
	CHECK_INT(p.back, 0);
	CHECK_INT(open_at(&p, &old[0], 5 * NS_PER_S), DAVE_SEALED);
	CHECK_INT(open_at(&p, &young[0], 5 * NS_PER_S), DAVE_SEALED);
	CHECK_INT(open_at(&p, &young[0], 5 * NS_PER_S), DAVE_REPLAYED);
	CHECK_INT(open_at(&p, &old[1], 15 * NS_PER_S - 1), DAVE_SEALED);
	dave_opener_sweep(p.o, 15 * NS_PER_S - 1, returned, &p);
	CHECK_INT(p.back, 0);
	CHECK_INT(open_at(&p, &old[2], 15 * NS_PER_S), DAVE_FAILED);
	dave_opener_sweep(p.o, 15 * NS_PER_S, returned, &p);
	CHECK_INT(p.back, 1);
	CHECK_INT(p.last_back, 1);
	CHECK_INT(open_at(&p, &young[1], 1000000 * NS_PER_S), DAVE_SEALED);
	pair_end(&p);
}

/* An older epoch keeps the end that it was given first. */
TEST(dave_media_grace_is_not_renewed)
{
	struct sealed f[2];
	struct pair p;

	CHECK(pair_start(&p));
	CHECK(seal_voice(&p, &f[0]));
	CHECK(seal_voice(&p, &f[1]));
	hear_with(&p, 2, 0, 1 * NS_PER_S);
	hear_with(&p, 3, 0, 8 * NS_PER_S);
	CHECK_INT(open_at(&p, &f[0], 11 * NS_PER_S - 1), DAVE_SEALED);
	CHECK_INT(open_at(&p, &f[1], 11 * NS_PER_S), DAVE_FAILED);
	dave_opener_sweep(p.o, 11 * NS_PER_S, returned, &p);
	CHECK_INT(p.back, 1);
	dave_opener_sweep(p.o, 18 * NS_PER_S, returned, &p);
	CHECK_INT(p.back, 2);
	CHECK_INT(p.last_back, 2);
	dave_opener_clear(p.o, returned, &p);
	CHECK_INT(p.back, 3);
	pair_end(&p);
}

/* A sender who is in no newer epoch has as long. */
TEST(dave_media_grace_of_the_last_key)
{
	struct sealed f[3];
	struct pair p;

	CHECK(pair_start(&p));
	for (unsigned i = 0; i < 3; i++)
		CHECK(seal_voice(&p, &f[i]));
	dave_opener_expire(p.o, 1 * NS_PER_S);
	dave_opener_expire(p.o, 8 * NS_PER_S);
	CHECK_INT(open_at(&p, &f[0], 11 * NS_PER_S - 1), DAVE_SEALED);
	CHECK_INT(open_at(&p, &f[1], 11 * NS_PER_S), DAVE_NO_KEY);
	hear_with(&p, 2, 0, 9 * NS_PER_S);
	CHECK_INT(open_at(&p, &f[2], 11 * NS_PER_S), DAVE_FAILED);
	dave_opener_sweep(p.o, 11 * NS_PER_S, returned, &p);
	CHECK(p.back == 1 && p.last_back == 1);
	send_with(&p, 2, 0);
	CHECK(seal_voice(&p, &f[0]));
	CHECK_INT(open_at(&p, &f[0], 1000000 * NS_PER_S), DAVE_SEALED);
	pair_end(&p);
}

/* More epochs than there is room for: the oldest goes; each of the others opens its frame. */
TEST(dave_media_frequent_rekeying)
{
	static struct sealed f[DAVE_KEYS + 3];
	struct pair p;

	CHECK(pair_start(&p));
	CHECK(seal_voice(&p, &f[0]));
	for (unsigned e = 2; e <= DAVE_KEYS + 2; e++) {
		send_with(&p, e, 0);
		CHECK(seal_voice(&p, &f[e - 1]));
		hear_with(&p, e, 0, e);
	}
	CHECK_INT(p.back, 2);
	CHECK_INT(p.last_back, 2);
	CHECK_INT(open_at(&p, &f[0], NS_PER_S), DAVE_FAILED);
	CHECK_INT(open_at(&p, &f[1], NS_PER_S), DAVE_FAILED);
	for (unsigned e = 3; e <= DAVE_KEYS + 2; e++)
		CHECK_INT(open_at(&p, &f[e - 1], NS_PER_S), DAVE_SEALED);
	dave_opener_sweep(p.o, 100 * NS_PER_S, returned, &p);
	CHECK_INT(p.back, DAVE_KEYS + 1);
	pair_end(&p);
}

/* Numbers of epochs may start anew with a new session: what counts is the secret, and who came
 * last. */
TEST(dave_media_same_number_other_secret)
{
	struct sealed before, after;
	struct dave_key *k = NULL;
	struct pair p;

	CHECK(pair_start(&p));
	CHECK(seal_voice(&p, &before));
	CHECK_INT(dave_key_alloc(&k, base_b, 1, 0), 0);
	dave_opener_add(p.o, k, 0, returned, &p);
	CHECK_INT(p.back, 0);
	CHECK_INT(dave_key_alloc(&k, base_b, 1, 0), 0);
	dave_key_free(dave_sealer_set(p.s, k));
	CHECK_INT(dave_sealer_counter(p.s), 1);
	CHECK(seal_voice(&p, &after));
	CHECK_INT(open_at(&p, &after, 1), DAVE_SEALED);
	CHECK_INT(open_at(&p, &before, 1), DAVE_SEALED);
	pair_end(&p);
}

/* The same key again, or a moment without: no counter is used twice. */
TEST(dave_media_counter_goes_on)
{
	struct sealed f;
	struct pair p;

	CHECK(pair_start(&p));
	CHECK(seal_voice(&p, &f));
	CHECK(seal_voice(&p, &f));
	send_with(&p, 1, 0);
	CHECK_INT(dave_sealer_counter(p.s), 3);
	dave_key_free(dave_sealer_set(p.s, NULL));
	send_with(&p, 1, 0);
	CHECK_INT(dave_sealer_counter(p.s), 3);
	send_with(&p, 2, 0);
	CHECK_INT(dave_sealer_counter(p.s), 1);
	pair_end(&p);
}

/* ---- clear frames ---- */

TEST(dave_media_clear)
{
	struct sealed f = {.p = "plain opus", .n = 10}, silence = {.p = {0xf8, 0xff, 0xfe}, .n = 3},
		      none = {.n = 0}, sealed;
	struct pair p;

	CHECK(pair_start(&p));
	CHECK_INT(open_at(&p, &f, 0), DAVE_NOT_SEALED);
	CHECK_INT(open_at(&p, &silence, 0), DAVE_SILENCE);
	CHECK_INT(open_at(&p, &silence, 1), DAVE_SILENCE);
	dave_opener_clear_until(p.o, 10 * NS_PER_S);
	CHECK_INT(open_at(&p, &f, 10 * NS_PER_S - 1), DAVE_CLEAR);
	CHECK_INT(open_at(&p, &f, 10 * NS_PER_S), DAVE_NOT_SEALED);
	dave_opener_clear_until(p.o, UINT64_MAX);
	CHECK_INT(open_at(&p, &f, 1000000 * NS_PER_S), DAVE_CLEAR);
	CHECK_INT(open_at(&p, &none, 0), DAVE_CLEAR);
	CHECK(seal_voice(&p, &sealed));
	CHECK_INT(open_at(&p, &sealed, 0), DAVE_SEALED);
	CHECK_INT(open_at(&p, &sealed, 0), DAVE_REPLAYED);
	dave_opener_clear_until(p.o, 0);
	CHECK_INT(open_at(&p, &f, 0), DAVE_NOT_SEALED);
	pair_end(&p);
}

/* ---- generations ---- */

/* 2^24 frames at 170 a second. */
#define GENERATION_AGE ((((UINT64_C(1) << 24) + DAVE_RATE_MAX - 1) / DAVE_RATE_MAX) * NS_PER_S)

TEST(dave_media_generations)
{
	struct sealed last, first, second, late, spent;
	struct pair p;
	uint64_t t = GENERATION_AGE;

	CHECK(pair_start(&p));
	dave_sealer_set_counter(p.s, (1 << 24) - 2);
	CHECK(seal_voice(&p, &late));
	CHECK(seal_voice(&p, &last));
	CHECK(dave_sealer_wants_next(p.s));
	CHECK(!dave_sealer_wants_next(p.s));
	CHECK(seal_voice(&p, &first));
	CHECK(seal_voice(&p, &second));
	CHECK_INT(open_at(&p, &last, 0), DAVE_SEALED);
	/* A ratchet cannot be there so young. */
	CHECK_INT(open_at(&p, &first, t - NS_PER_S), DAVE_FAILED);
	CHECK_INT(open_at(&p, &first, t), DAVE_SEALED);
	CHECK_INT(open_at(&p, &first, t), DAVE_REPLAYED);
	CHECK(!dave_opener_wants_next(p.o));
	/* The first generation's last frames have ten seconds, but this one is older than the first
	 * that came. */
	CHECK_INT(open_at(&p, &late, t + 10 * NS_PER_S - 1), DAVE_REPLAYED);
	CHECK_INT(open_at(&p, &late, t + 10 * NS_PER_S), DAVE_FAILED);
	CHECK(dave_opener_wants_next(p.o));
	CHECK(!dave_opener_wants_next(p.o));
	/* The same pair again changes nothing. */
	hear_with(&p, 1, 0, t + 11 * NS_PER_S);
	CHECK_INT(p.back, 1);
	CHECK_INT(open_at(&p, &late, t + 11 * NS_PER_S), DAVE_FAILED);
	CHECK_INT(open_at(&p, &second, t + 20 * NS_PER_S), DAVE_SEALED);

	/* The next pair: numbers and replay go on. */
	send_with(&p, 1, 1);
	CHECK(!dave_sealer_wants_next(p.s));
	hear_with(&p, 1, 1, t + 20 * NS_PER_S);
	CHECK_INT(p.back, 2);
	CHECK_INT(open_at(&p, &second, t + 20 * NS_PER_S), DAVE_REPLAYED);
	CHECK(!dave_opener_wants_next(p.o));
	CHECK(seal_voice(&p, &first));
	CHECK_INT(open_at(&p, &first, t + 20 * NS_PER_S), DAVE_SEALED);
	dave_sealer_set_counter(p.s, (UINT64_C(3) << 24) - 1);
	CHECK(seal_voice(&p, &last));
	CHECK(!seal_voice(&p, &spent));
	CHECK_INT(open_at(&p, &last, 2 * t), DAVE_SEALED);
	/* An earlier pair is of no use. */
	hear_with(&p, 1, 0, 2 * t);
	CHECK_INT(p.back, 3);
	pair_end(&p);
}

/* Within the ten seconds a frame of the first generation is opened behind one of the second. */
TEST(dave_media_generations_overlap)
{
	struct sealed f[3];
	struct pair p;
	uint64_t t = GENERATION_AGE;

	CHECK(pair_start(&p));
	dave_sealer_set_counter(p.s, (1 << 24) - 3);
	for (unsigned i = 0; i < 3; i++)
		CHECK(seal_voice(&p, &f[i]));
	CHECK_INT(open_at(&p, &f[0], t), DAVE_SEALED);
	CHECK(seal_voice(&p, &f[0]));
	CHECK_INT(open_at(&p, &f[0], t), DAVE_SEALED);
	CHECK_INT(open_at(&p, &f[1], t + 9 * NS_PER_S), DAVE_SEALED);
	CHECK_INT(open_at(&p, &f[2], t + 10 * NS_PER_S), DAVE_FAILED);
	pair_end(&p);
}

/* The slot of a speaker was reclaimed for a pause. The next one gets the generation in use, and its
 * own age bounds the generations after that. */
TEST(dave_media_generations_continue_in_another_slot)
{
	struct sealed second, third;
	struct pair p;
	uint64_t t = GENERATION_AGE;

	CHECK(pair_start(&p));
	dave_sealer_set_counter(p.s, 1 << 24);
	CHECK(seal_voice(&p, &second));
	send_with(&p, 1, 1);
	dave_sealer_set_counter(p.s, 2 << 24);
	CHECK(seal_voice(&p, &third));
	dave_opener_free(p.o);
	p.o = NULL;
	CHECK_INT(dave_opener_alloc(&p.o), 0);
	hear_with(&p, 1, 1, t);
	CHECK_INT(open_at(&p, &second, t), DAVE_SEALED);
	CHECK_INT(open_at(&p, &third, t), DAVE_FAILED);
	CHECK_INT(open_at(&p, &third, 2 * t), DAVE_SEALED);
	pair_end(&p);
}

TEST(dave_media_generation_refused)
{
	struct sealed f;
	struct pair p;

	CHECK(pair_start(&p));
	CHECK(seal_voice(&p, &f));
	/* The same frame with the counter of another generation, which no key has. */
	f.n = VOICE + DAVE_TAG;
	f.n = (size_t)(leb128_write(f.p + f.n, 0xc0000001) - f.p);
	memcpy(f.p + f.n, "\x10\xfa\xfa", 3);
	f.n += 3;
	CHECK_INT(open_at(&p, &f, UINT64_MAX / 2), DAVE_FAILED);
	/* A key that begins later skips what is before. */
	send_with(&p, 9, 3);
	CHECK_INT(dave_sealer_counter(p.s), 3 << 24);
	pair_end(&p);
}

/* ---- memory ---- */

/* Allocations of the whole program, libraries too: told by the sanitizer, else seen in the heap's
 * size. */
__attribute__((weak)) int
__sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
					  void (*on_free)(const volatile void *));
static unsigned allocations;

static void on_malloc(const volatile void *p, size_t n)
{
	(void)p;
	(void)n;
	allocations++;
}

static void on_free(const volatile void *p)
{
	(void)p;
}

static size_t heap(void)
{
	struct mallinfo2 m = mallinfo2();

	return allocations + m.uordblks + m.hblkhd;
}

TEST(dave_media_allocates_nothing)
{
	static const uint8_t slice[] = "\0\0\0\1\x41\xff"
				       "0123456789";
	static uint8_t out[DAVE_VIDEO_CAP(sizeof voice)], back[sizeof out];
	struct pair p;
	uint64_t epoch;
	size_t len, n, before;

	if (__sanitizer_install_malloc_and_free_hooks)
		__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
	before = heap();
	CHECK(pair_start(&p));
	CHECK(heap() > before);
	hear_with(&p, 2, 0, 0);
	before = heap();
	for (unsigned i = 0; i < 100; i++) {
		CHECK_INT(dave_seal(p.s, DAVE_OPUS, voice, VOICE, out, sizeof out, &len), 0);
		CHECK_INT(
			dave_open(p.o, (struct slice){out, len}, 0, back, sizeof back, &n, &epoch),
			DAVE_SEALED);
		CHECK_INT(
			dave_open(p.o, (struct slice){out, len}, 0, back, sizeof back, &n, &epoch),
			DAVE_REPLAYED);
		CHECK_INT(dave_seal(p.s, DAVE_H264, slice, sizeof slice - 1, out, sizeof out, &len),
			  0);
		CHECK_INT(
			dave_open(p.o, (struct slice){out, len}, 0, back, sizeof back, &n, &epoch),
			DAVE_SEALED);
	}
	CHECK_INT(heap(), before);
	pair_end(&p);
}

TEST_OOM(dave_media_oom)
{
	struct dave_sealer *s = NULL;
	struct dave_opener *o = NULL;

	CHECK_OOM(dave_sealer_alloc(&s), );
	CHECK_OOM(dave_opener_alloc(&o), dave_sealer_free(s));
	dave_sealer_free(s);
	dave_opener_free(o);
	CHECK(!dave_sealer_free(NULL));
	CHECK(!dave_opener_free(NULL));
}
