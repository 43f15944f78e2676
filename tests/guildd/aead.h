/* The two transport modes that Discord still speaks, for whole packets of the rtpsize layout:
 *
 *   clear header (= AAD) | ciphertext | tag 16 | nonce 4
 *
 * AES-256-GCM by libcrypto, XChaCha20-Poly1305 by libsodium. Written apart from mediad's code on
 * purpose: two sides that share a cipher layer can be wrong together. */
#ifndef GUILDD_AEAD_H
#define GUILDD_AEAD_H

#include <stddef.h>
#include <stdint.h>

enum gd_mode { GD_MODE_NONE, GD_MODE_AES, GD_MODE_XCHACHA };
enum { GD_KEY = 32, GD_TAG = 16, GD_NONCE = 4, GD_AEAD_EXTRA = GD_TAG + GD_NONCE };

const char *gd_mode_name(enum gd_mode mode);
/* GD_MODE_NONE when unknown. */
enum gd_mode gd_mode_parse(const char *name);

struct gd_aead;
/* key: 32 bytes, copied. EINVAL, ENOMEM. Caller owns *out. */
int gd_aead_alloc(struct gd_aead **out, enum gd_mode mode, const uint8_t key[GD_KEY]);
/* Wipes the key. */
struct gd_aead *gd_aead_free(struct gd_aead *a);

/* Opens pkt, whose first `head` bytes are clear. out needs room for len bytes; *out_len gets the
 * size. EBADMSG when too short or forged. */
int gd_aead_open(struct gd_aead *a, const uint8_t *pkt, size_t len, size_t head, uint8_t *out,
		 size_t *out_len);
/* Writes head | sealed body | tag | counter (big-endian) to out. ENOBUFS when cap is too small. */
int gd_aead_seal(struct gd_aead *a, uint32_t counter, const uint8_t *head, size_t head_len,
		 const uint8_t *body, size_t body_len, uint8_t *out, size_t cap, size_t *out_len);

#endif
