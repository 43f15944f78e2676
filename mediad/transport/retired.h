/* The packet layouts of the XSalsa20 modes that Discord retired in November 2024; for rtpsize.c
 * alone.
 *
 * All use libsodium's secretbox: clear header | tag 16 | ciphertext | appended bytes. The header is
 * not authenticated. Except in lite_rtpsize a header extension is encrypted whole, its preamble
 * included.
 *
 * xsalsa20_poly1305: the nonce is the 12 header bytes and zeros; nothing is appended.
 *
 * xsalsa20_poly1305_suffix: the nonce has 24 bytes, which are appended.
 *
 * xsalsa20_poly1305_lite: the nonce is 4 counter bytes and zeros; the counter is appended.
 *
 * xsalsa20_poly1305_lite_rtpsize: as lite, with the clear part of the rtpsize modes. */
#ifndef MEDIAD_TRANSPORT_RETIRED_H
#define MEDIAD_TRANSPORT_RETIRED_H

#include "mediad/transport/rtpsize.h"

bool retired_mode(enum rtpsize_mode mode);
/* The number of bytes appended after the ciphertext. */
size_t retired_appended(enum rtpsize_mode mode);
/* out holds `clear` bytes; appends the encrypted rest. counter: of this packet. Returns EINVAL. */
int retired_seal(enum rtpsize_mode mode, const uint8_t key[RTPSIZE_KEY], uint32_t counter,
		 size_t clear, struct slice rest, uint8_t *out, size_t *len);
/* packet: n bytes, of which the first `clear` are not encrypted. Writes the plaintext to `to` (may
 * be the place of the ciphertext); *plain: its length. Returns EBADMSG when too short, EACCES when
 * not authentic. */
int retired_open(enum rtpsize_mode mode, const uint8_t key[RTPSIZE_KEY], const uint8_t *packet,
		 size_t n, size_t clear, uint8_t *to, size_t *plain);

#endif
