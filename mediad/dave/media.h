/* Sealing what we send and opening what one sender sends: the audio thread's part of DAVE.
 * Allocates nothing after _alloc.
 *
 * Times in ns of the caller's clock. Keys are lent; what is no longer needed is handed to a
 * handler, to be given back. */
#ifndef MEDIAD_DAVE_MEDIA_H
#define MEDIAD_DAVE_MEDIA_H

#include "mediad/dave/frame.h"
#include "mediad/dave/key.h"

/* key: the caller's again. */
typedef void(dave_key_h)(struct dave_key *key, void *arg);

/* ---- out ---- */
struct dave_sealer;
int dave_sealer_alloc(struct dave_sealer **out);
/* Frees the key it holds. */
struct dave_sealer *dave_sealer_free(struct dave_sealer *s);
/* A key of another ratchet starts the nonces anew (the first is 1); one of the same ratchet goes
 * on, also when there was no key (NULL) in between. Gives back the key held before, or NULL. */
struct dave_key *dave_sealer_set(struct dave_sealer *s, struct dave_key *key);
bool dave_sealer_ready(const struct dave_sealer *s);
/* The counter of the next frame, the generation in its bits from 24 on. A ratchet that was used
 * before goes on where it was: a counter used twice gives the plaintext away. */
void dave_sealer_set_counter(struct dave_sealer *s, uint64_t counter);
uint64_t dave_sealer_counter(const struct dave_sealer *s);
/* ENOKEY; EMSGSIZE cap; EOVERFLOW the generations lent are spent, or the codec needs more clear
 * ranges than a supplement holds; EBADMSG what was sealed imitated a start code ten times: to be
 * dropped. What is not a frame of its codec is sealed whole. frame and out must not overlap; `out`
 * is scratch where this fails. Opus: at most DAVE_OPUS_OVERHEAD bytes longer, and cap needs no
 * more; video: cap DAVE_VIDEO_CAP(n) always does. */
int dave_seal(struct dave_sealer *s, enum dave_codec codec, const uint8_t *frame, size_t n,
	      uint8_t *out, size_t cap, size_t *len);
#define DAVE_VIDEO_CAP(n) (3 * (size_t)(n) + 2 * DAVE_SUPPLEMENT_MAX)
/* The generation in use is the key's second: the next pair is wanted. True once a pair. */
bool dave_sealer_wants_next(struct dave_sealer *s);

/* ---- in ---- */
enum {
	DAVE_KEYS =
		48, /* epochs remembered of one sender; a storm of re-keys has one every 250 ms */
	DAVE_GRACE_MS = 10000, /* an older key, or clear frames after an upgrade, are accepted for
				  so long */
	DAVE_RATE_MAX = 170,   /* frames a second: bounds the generation of a young key */
};
struct dave_opener;
int dave_opener_alloc(struct dave_opener **out);
struct dave_opener *dave_opener_free(struct dave_opener *o);
/* The key that comes last is the newest; every older one is accepted until now + DAVE_GRACE_MS. A
 * later pair of generations of a ratchet that is there already replaces the pair. Keys displaced,
 * or of no use (an earlier pair), go to h. */
void dave_opener_add(struct dave_opener *o, struct dave_key *key, uint64_t now, dave_key_h *h,
		     void *arg);
/* All keys go to h. */
void dave_opener_clear(struct dave_opener *o, dave_key_h *h, void *arg);
/* Gives back what has expired; to be called now and then. */
void dave_opener_sweep(struct dave_opener *o, uint64_t now, dave_key_h *h, void *arg);
/* Frames that are no protocol frames pass while now < until; 0 = never, UINT64_MAX = always
 * (version 0). */
void dave_opener_clear_until(struct dave_opener *o, uint64_t until);

enum dave_opened {
	DAVE_SEALED,  /* opened with a key */
	DAVE_SILENCE, /* the three bytes */
	DAVE_CLEAR,   /* not protected, and that is allowed now */
	/* refused: */
	DAVE_NOT_SEALED, /* not a protocol frame */
	DAVE_NO_KEY,	 /* nothing to open it with */
	DAVE_FAILED,	 /* no key opens it */
	DAVE_REPLAYED,	 /* it is authentic, but its nonce was seen or is too old */
};
/* Newest key first; only a success changes the state. out (cap >= frame.n, else DAVE_FAILED) may
 * not overlap frame and is scratch where the frame is refused. *len bytes. *epoch: of the key that
 * opened it, 0 for none. */
enum dave_opened dave_open(struct dave_opener *o, struct slice frame, uint64_t now, uint8_t *out,
			   size_t cap, size_t *len, uint64_t *epoch);
/* The newest key's first generation is over (DAVE_GRACE_MS after its second was heard): the next
 * pair is wanted. True once a pair. */
bool dave_opener_wants_next(struct dave_opener *o);

#endif
