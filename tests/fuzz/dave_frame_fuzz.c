/* Protocol frames and codec planning.
 *
 * Input: a byte of choices, then a frame. Lowest 3 bits: the codec. 8: it is opened as it came. 16:
 * its tag is made a true one first, so that what lies behind authentication is reached with any
 * ranges. 32: it is an encoder's frame, to be planned, sealed and opened. 64: clear frames pass. */
#include <errno.h>
#include <stdlib.h>

#include "mediad/dave/aead.h"
#include "mediad/dave/key_internal.h"
#include "mediad/dave/media.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { AS_IT_CAME = 8, TRUE_TAG = 16, ENCODER = 32, CLEAR = 64, MAX = 1 << 16 };

/* The sender of tests/unit/mediad/dave/davey.json, so that real frames open; and one more epoch. */
static const uint8_t base[DAVE_SECRET] = {0xd8, 0x9c, 0x46, 0xb0, 0xd9, 0xa2, 0x99, 0x88,
					  0x35, 0x05, 0xe6, 0x9a, 0xa0, 0x0c, 0x25, 0xf7};
static const uint8_t other[DAVE_SECRET] = "another secret!";
static struct dave_key *keys[2], *ours;
static uint8_t sealed[DAVE_VIDEO_CAP(MAX)], opened[DAVE_VIDEO_CAP(MAX)], planned[2 * MAX];

static void keep(struct dave_key *key, void *arg)
{
	(void)key;
	(void)arg;
}

static void start(void)
{
	if (dave_key_alloc(&keys[0], other, 1, 0) || dave_key_alloc(&keys[1], base, 2, 0) ||
	    dave_key_alloc(&ours, base, 2, 0))
		abort();
}

/* Opens from a block of exactly n bytes to one of exactly n. */
static enum dave_opened open_exact(struct dave_opener *o, const uint8_t *p, size_t n, size_t *len)
{
	uint8_t *frame = malloc(n ? n : 1), *out = malloc(n ? n : 1);
	enum dave_opened got;
	uint64_t epoch;

	if (!frame || !out)
		abort();
	memcpy(frame, p, n);
	got = dave_open(o, (struct slice){frame, n}, 1, out, n, len, &epoch);
	if (got <= DAVE_CLEAR) {
		if (*len > n || (got == DAVE_SEALED) != (epoch != 0))
			abort();
		memcpy(opened, out, *len);
	}
	free(frame);
	free(out);
	return got;
}

/* Twice: the second is a replay. */
static void open_twice(struct dave_opener *o, const uint8_t *p, size_t n, bool must,
		       const uint8_t *plain, size_t n_plain)
{
	size_t len;
	enum dave_opened got = open_exact(o, p, n, &len);

	if (must && (got != DAVE_SEALED || len != n_plain || memcmp(opened, plain, len) != 0))
		abort();
	if (got == DAVE_SEALED && open_exact(o, p, n, &len) != DAVE_REPLAYED)
		abort();
}

/* The frame's body is taken for plaintext: sealed where it is, with the ranges and the nonce that
 * it names. */
static void open_with_true_tag(struct dave_opener *o, const uint8_t *data, size_t n)
{
	struct dave_frame f;
	struct aead_frame a;

	if (!dave_frame_parse(&f, data, n) || f.nonce >> 24)
		return;
	memcpy(sealed, data, n);
	a = (struct aead_frame){.range = f.range, .n_ranges = f.n_ranges, .n = f.body.n};
	if (!aead_seal(dave_key_cipher(ours, 0), f.nonce, &a, sealed, sealed + n,
		       sealed + f.body.n))
		abort();
	open_twice(o, sealed, n, !dave_is_silence(sealed, n), data, f.body.n);
}

static void seal_and_open(struct dave_opener *o, enum dave_codec codec, const uint8_t *data,
			  size_t n)
{
	struct dave_sealer *s;
	struct dave_clear_ranges plan;
	size_t len, room = n + n / 4;
	uint8_t *out = malloc(room ? room : 1);
	int planned_err, err;

	if (!out || dave_sealer_alloc(&s))
		abort();
	planned_err = dave_find_clear_ranges(&plan, codec, data, n, out, room);
	if (planned_err == EMSGSIZE || (!planned_err && plan.n > room))
		abort();
	if (!planned_err)
		memcpy(planned, out, plan.n);
	free(out);
	(void)dave_sealer_set(s, ours);
	err = dave_seal(s, codec, data, n, sealed, DAVE_VIDEO_CAP(n), &len);
	if (err && err != EOVERFLOW && err != EBADMSG)
		abort();
	if (planned_err == EOVERFLOW && err != EOVERFLOW)
		abort();
	if (!err)
		open_twice(o, sealed, len, !dave_is_silence(sealed, len),
			   planned_err ? data : planned, planned_err ? n : plan.n);
	(void)dave_sealer_set(s, NULL);
	dave_sealer_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dave_opener *o;
	uint8_t how;

	if (size < 1 || size > MAX)
		return 0;
	if (!ours)
		start();
	how = data[0];
	data++;
	size--;
	if (dave_opener_alloc(&o))
		abort();
	for (unsigned i = 0; i < 2; i++) {
		keys[i]->window = (struct dave_window){0};
		dave_opener_add(o, keys[i], i, keep, NULL);
	}
	dave_opener_clear_until(o, how & CLEAR ? 2 : 0);
	if (how & AS_IT_CAME)
		open_twice(o, data, size, false, NULL, 0);
	else if (how & TRUE_TAG)
		open_with_true_tag(o, data, size);
	else if (how & ENCODER)
		seal_and_open(o,
			      (enum dave_codec)(how & 7) > DAVE_UNKNOWN
				      ? DAVE_UNKNOWN
				      : (enum dave_codec)(how & 7),
			      data, size);
	dave_opener_clear(o, keep, NULL);
	dave_opener_free(o);
	return 0;
}
