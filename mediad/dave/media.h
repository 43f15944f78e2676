/* The sealer encrypts our frames, an opener decrypts the frames of one sender: the audio thread's
 * part of DAVE. Allocates nothing after _alloc.
 *
 * Times are in ns of the caller's clock. Keys are lent; keys no longer needed are passed to a
 * handler, to be returned. */
#ifndef MEDIAD_DAVE_MEDIA_H
#define MEDIAD_DAVE_MEDIA_H

#include "mediad/dave/frame.h"
#include "mediad/dave/key.h"

/* Returns the key to the caller. */
typedef void(dave_key_h)(struct dave_key *key, void *arg);

/* ---- sending ---- */
struct dave_sealer;
int dave_sealer_alloc(struct dave_sealer **out);
/* Also frees the key it holds. */
struct dave_sealer *dave_sealer_free(struct dave_sealer *s);
/* Sets the key, or none (NULL). A key of another ratchet restarts the nonces at 1; one of the same
 * ratchet continues them, also after a time without a key. Returns the previous key, or NULL. */
struct dave_key *dave_sealer_set(struct dave_sealer *s, struct dave_key *key);
bool dave_sealer_ready(const struct dave_sealer *s);
/* The counter of the next frame, with the generation in bits 24 and above. A ratchet that was used
 * before must continue where it was, because a reused counter reveals the plaintext. */
void dave_sealer_set_counter(struct dave_sealer *s, uint64_t counter);
uint64_t dave_sealer_counter(const struct dave_sealer *s);
/* Encrypts a frame. frame and out must not overlap. A frame that is not of its codec is encrypted
 * whole. Returns ENOKEY; EMSGSIZE when cap is too small; EOVERFLOW when the lent generations are
 * used up or the codec needs more clear ranges than a supplement holds; EBADMSG when ten attempts
 * all produced a start code, so that the frame must be dropped. `out` is undefined then. Opus grows
 * by at most DAVE_OPUS_OVERHEAD bytes, which cap may rely on; for video, cap DAVE_VIDEO_CAP(n)
 * always suffices. */
int dave_seal(struct dave_sealer *s, enum dave_codec codec, const uint8_t *frame, size_t n,
	      uint8_t *out, size_t cap, size_t *len);
#define DAVE_VIDEO_CAP(n) (3 * (size_t)(n) + 2 * DAVE_SUPPLEMENT_MAX)
/* True if the generation in use is the key's second, so that the next pair is wanted. True once per
 * pair. */
bool dave_sealer_wants_next(struct dave_sealer *s);

/* ---- receiving ---- */
enum {
	DAVE_KEYS = 48, /* epochs kept of one sender; frequent re-keying makes one every 250 ms */
	DAVE_GRACE_MS = 10000, /* time for which an older key, or clear frames after an upgrade, are
				  accepted */
	DAVE_RATE_MAX = 170,   /* frames per second; bounds the generation of a young key */
};
struct dave_opener;
int dave_opener_alloc(struct dave_opener **out);
struct dave_opener *dave_opener_free(struct dave_opener *o);
/* Adds a key, which counts as the newest; every older one is accepted until now + DAVE_GRACE_MS,
 * unless it ends before (dave_key_end_at), and no older one ends later than a newer one. A
 * later pair of generations of a present ratchet replaces its pair. Displaced or useless keys (an
 * earlier pair) go to h. */
void dave_opener_add(struct dave_opener *o, struct dave_key *key, uint64_t now, dave_key_h *h,
		     void *arg);
/* The sender has no newer key: the newest one is accepted until now + DAVE_GRACE_MS, too. */
void dave_opener_expire(struct dave_opener *o, uint64_t now);
/* Removes all keys; they go to h. */
void dave_opener_clear(struct dave_opener *o, dave_key_h *h, void *arg);
/* Removes expired keys; they go to h. To be called periodically. */
void dave_opener_sweep(struct dave_opener *o, uint64_t now, dave_key_h *h, void *arg);
/* Accepts frames that are not protocol frames while now < until; 0 = never, UINT64_MAX = always
 * (version 0). */
void dave_opener_clear_until(struct dave_opener *o, uint64_t until);

enum dave_opened {
	DAVE_SEALED,  /* decrypted with a key */
	DAVE_SILENCE, /* the silence frame */
	DAVE_CLEAR,   /* not encrypted, which is allowed now */
	/* refused: */
	DAVE_NOT_SEALED, /* not a protocol frame */
	DAVE_NO_KEY,	 /* there is no key */
	DAVE_FAILED,	 /* no key decrypts it */
	DAVE_REPLAYED,	 /* authentic, but its nonce was used before or is too old */
};
/* Decrypts a frame, trying the newest key first; only success changes the state. out (cap >=
 * frame.n, else DAVE_FAILED) must not overlap frame and is undefined when the frame is refused.
 * *len: bytes written. *epoch: of the key used, 0 for none. */
enum dave_opened dave_open(struct dave_opener *o, struct slice frame, uint64_t now, uint8_t *out,
			   size_t cap, size_t *len, uint64_t *epoch);
/* True if the newest key's first generation has expired (DAVE_GRACE_MS after its second was first
 * used), so that the next pair is wanted. True once per pair. */
bool dave_opener_wants_next(struct dave_opener *o);

#endif
