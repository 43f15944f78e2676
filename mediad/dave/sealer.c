#include <errno.h>
#include <stdlib.h>

#include "mediad/dave/aead.h"
#include "mediad/dave/key_internal.h"
#include "proto/base/leb128.h"
#include "mediad/dave/media.h"

enum { START_CODE_TRIES = 10 };

struct dave_sealer {
	struct dave_key *key;
	uint64_t counter; /* of the next frame */
	uint64_t epoch;	  /* of the ratchet it counts for; kept while there is no key */
	uint8_t id[DAVE_KEY_ID];
	bool next_requested; /* the next pair was requested */
};

int dave_sealer_alloc(struct dave_sealer **out)
{
	struct dave_sealer *s = calloc(1, sizeof *s);

	if (!s)
		return ENOMEM;
	*out = s;
	return 0;
}

struct dave_sealer *dave_sealer_free(struct dave_sealer *s)
{
	if (s)
		dave_key_free(s->key);
	free(s);
	return NULL;
}

struct dave_key *dave_sealer_set(struct dave_sealer *s, struct dave_key *key)
{
	struct dave_key *before = s->key;

	s->key = key;
	if (!key)
		return before;
	s->next_requested = false;
	if (key->epoch != s->epoch || memcmp(key->id, s->id, sizeof s->id) != 0) {
		s->epoch = key->epoch;
		memcpy(s->id, key->id, sizeof s->id);
		s->counter = 1;
	}
	if (s->counter >> 24 < key->generation)
		s->counter = (uint64_t)key->generation << 24;
	return before;
}

bool dave_sealer_ready(const struct dave_sealer *s)
{
	return s->key;
}

void dave_sealer_set_counter(struct dave_sealer *s, uint64_t counter)
{
	s->counter = counter;
}

uint64_t dave_sealer_counter(const struct dave_sealer *s)
{
	return s->counter;
}

bool dave_sealer_wants_next(struct dave_sealer *s)
{
	if (s->next_requested || !s->key || s->counter >> 24 <= s->key->generation)
		return false;
	s->next_requested = true;
	return true;
}

/* ---- encryption ---- */

static size_t supplement_size(uint32_t counter, const struct dave_clear_ranges *ranges)
{
	size_t n = DAVE_TAG + leb128_size(counter) + DAVE_TAIL;

	for (uint32_t i = 0; ranges && i < ranges->n_ranges; i++)
		n += leb128_size(ranges->range[i].at) + leb128_size(ranges->range[i].n);
	return n;
}

/* Writes the part of the supplement after the tag. */
static void write_supplement(uint8_t *p, size_t size, uint32_t counter,
			     const struct dave_clear_ranges *ranges)
{
	p = leb128_write(p, counter);
	for (uint32_t i = 0; ranges && i < ranges->n_ranges; i++) {
		p = leb128_write(p, ranges->range[i].at);
		p = leb128_write(p, ranges->range[i].n);
	}
	*p++ = (uint8_t)size;
	*p++ = DAVE_MAGIC;
	*p = DAVE_MAGIC;
}

/* Takes the counter and the cipher for the next frame. Returns EOVERFLOW. */
static int take_counter(struct dave_sealer *s, struct aead **cipher, uint32_t *counter)
{
	*cipher = dave_key_cipher(s->key, (uint32_t)(s->counter >> 24));
	if (!*cipher)
		return EOVERFLOW;
	*counter = (uint32_t)s->counter;
	return 0;
}

/* Encrypts a frame without clear ranges from `frame` to `out`. */
static int seal_whole(struct dave_sealer *s, const uint8_t *frame, size_t n, uint8_t *out,
		      size_t cap, size_t *len)
{
	struct aead *cipher;
	uint32_t counter;
	size_t size;
	int err = take_counter(s, &cipher, &counter);

	if (err)
		return err;
	size = supplement_size(counter, NULL);
	if (cap < size || n > cap - size)
		return EMSGSIZE;
	s->counter++;
	if (!aead_seal_whole(cipher, counter, frame, n, out, out + n))
		return EINVAL;
	write_supplement(out + n + DAVE_TAG, size, counter, NULL);
	*len = n + size;
	return 0;
}

/* Encrypts the frame in out in place; the clear bytes are gathered after the place of the
 * supplement. */
static int seal_ranges(struct dave_sealer *s, const struct dave_clear_ranges *ranges, uint8_t *out,
		       size_t cap, size_t *len)
{
	struct aead_frame f = {
		.range = ranges->range, .n_ranges = ranges->n_ranges, .n = ranges->n};
	struct aead *cipher;
	uint32_t counter;
	size_t size;
	int err = take_counter(s, &cipher, &counter);

	if (err)
		return err;
	size = supplement_size(counter, ranges);
	if (size > DAVE_SUPPLEMENT_MAX)
		return EOVERFLOW;
	if (cap - ranges->n < size || cap - ranges->n - size < aead_clear(&f))
		return EMSGSIZE;
	s->counter++;
	if (!aead_seal(cipher, counter, &f, out, out + ranges->n + size, out + ranges->n))
		return EINVAL;
	write_supplement(out + ranges->n + DAVE_TAG, size, counter, ranges);
	*len = ranges->n + size;
	return 0;
}

static int seal_video(struct dave_sealer *s, enum dave_codec codec, const uint8_t *frame, size_t n,
		      uint8_t *out, size_t cap, size_t *len)
{
	struct dave_clear_ranges ranges;
	size_t sealed;
	int err;

	for (unsigned i = 0; i < START_CODE_TRIES; i++) {
		err = dave_find_clear_ranges(&ranges, codec, frame, n, out, cap);
		if (err == EBADMSG) {
			ranges.n_ranges = 0;
			err = seal_whole(s, frame, n, out, cap, &sealed);
		} else if (!err) {
			err = seal_ranges(s, &ranges, out, cap, &sealed);
		}
		if (err)
			return err;
		if ((codec != DAVE_H264 && codec != DAVE_H265) ||
		    !dave_imitates_start_code(&ranges, out, sealed)) {
			*len = sealed;
			return 0;
		}
	}
	return EBADMSG;
}

int dave_seal(struct dave_sealer *s, enum dave_codec codec, const uint8_t *frame, size_t n,
	      uint8_t *out, size_t cap, size_t *len)
{
	if (!s->key)
		return ENOKEY;
	switch (codec) {
	case DAVE_OPUS:
	case DAVE_VP9:
	case DAVE_UNKNOWN:
		return seal_whole(s, frame, n, out, cap, len);
	case DAVE_VP8:
	case DAVE_H264:
	case DAVE_H265:
	case DAVE_AV1:
		break;
	}
	return seal_video(s, codec, frame, n, out, cap, len);
}
