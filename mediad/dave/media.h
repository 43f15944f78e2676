/* Sealing what we send and opening what one sender sends: the audio thread's part of DAVE. Allocates nothing after _alloc.
 *
 * Times in ns of the caller's clock. Keys are lent; what is no longer needed is handed to a handler, to be given back. */
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
/* A key of another epoch starts the nonces anew (the first is 1); one of the same epoch and a later generation goes on.
 * NULL: no key. Gives back the key held before, or NULL. */
struct dave_key *dave_sealer_set(struct dave_sealer *s, struct dave_key *key);
bool dave_sealer_ready(const struct dave_sealer *s);
/* ENOKEY; EMSGSIZE cap; EOVERFLOW the generations lent are spent; else as dave_plan_frame, whose EBADMSG is not an error
 * here. frame and out must not overlap. Opus: at most DAVE_OPUS_OVERHEAD bytes longer. */
int dave_seal(struct dave_sealer *s, enum dave_codec codec, const uint8_t *frame, size_t n, uint8_t *out, size_t cap,
	      size_t *len);
/* The generation in use is the key's second: the next pair is wanted. True once a pair. */
bool dave_sealer_wants_next(struct dave_sealer *s);

/* ---- in ---- */
enum {
	DAVE_KEYS = 48,		  /* epochs remembered of one sender; a storm of re-keys has one every 250 ms */
	DAVE_GRACE_MS = 10000,	  /* an older key, or clear frames after an upgrade, are accepted for so long */
	DAVE_MISSING_MAX = 1000,  /* nonces left out that may still come */
	DAVE_RATE_MAX = 170,	  /* frames a second: bounds the generation of a young key */
};
struct dave_opener;
int dave_opener_alloc(struct dave_opener **out);
struct dave_opener *dave_opener_free(struct dave_opener *o);
/* The newest epoch; every older one is accepted until now + DAVE_GRACE_MS. A key of an epoch that is there already replaces
 * its generations. Spent and displaced keys go to h. */
void dave_opener_add(struct dave_opener *o, struct dave_key *key, uint64_t now, dave_key_h *h, void *arg);
/* All keys go to h. */
void dave_opener_clear(struct dave_opener *o, dave_key_h *h, void *arg);
/* Gives back what has expired; to be called now and then. */
void dave_opener_sweep(struct dave_opener *o, uint64_t now, dave_key_h *h, void *arg);
/* Frames that are no protocol frames pass while now < until; 0 = never, UINT64_MAX = always (version 0). */
void dave_opener_clear_until(struct dave_opener *o, uint64_t until);

enum dave_opened {
	DAVE_SEALED,   /* opened with a key */
	DAVE_SILENCE,  /* the three bytes */
	DAVE_CLEAR,    /* not protected, and that is allowed now */
	/* refused: */
	DAVE_NOT_SEALED, /* not a protocol frame */
	DAVE_NO_KEY,	 /* nothing to open it with */
	DAVE_FAILED,	 /* no key opens it */
	DAVE_REPLAYED,	 /* this nonce was seen, or is too old */
};
/* Newest key first; only a success changes the state. out (cap >= n) may not overlap frame; *len bytes. *epoch: of the key
 * that opened it, 0 for none. */
enum dave_opened dave_open(struct dave_opener *o, const uint8_t *frame, size_t n, uint64_t now, uint8_t *out, size_t cap,
			   size_t *len, uint64_t *epoch);
/* As dave_sealer_wants_next, for the newest epoch. */
bool dave_opener_wants_next(struct dave_opener *o);

/* ---- replay of one ratchet, by nonces of 40 bits (generation << 24 | counter) ---- */
struct dave_window {
	bool any;
	uint64_t newest;
	uint32_t n_missing, first; /* ring, oldest first */
	uint64_t missing[DAVE_MISSING_MAX];
};
bool dave_window_fresh(const struct dave_window *w, uint64_t nonce);
void dave_window_mark(struct dave_window *w, uint64_t nonce);
/* The full generation of one whose lowest 8 bits came, the oldest still valid being `oldest`. */
uint32_t dave_generation(uint32_t oldest, uint8_t low);

#endif
