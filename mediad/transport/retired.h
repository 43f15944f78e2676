/* The packet layouts of the XSalsa20 modes that Discord retired in November 2024, for rtpsize.c
 * alone.
 *
 * All are libsodium's secretbox: clear header | tag 16 | ciphertext | what is appended. The header
 * is not authenticated. With the exception of lite_rtpsize a header extension is sealed whole,
 * preamble included.
 *
 *   xsalsa20_poly1305               nonce: the 12 header bytes, zeros               nothing
 * appended xsalsa20_poly1305_suffix        nonce: 24 bytes                                  they
 * are appended xsalsa20_poly1305_lite          nonce: 4 counter bytes, zeros they are appended
 *   xsalsa20_poly1305_lite_rtpsize  as lite; the clear part is that of the rtpsize modes */
#ifndef MEDIAD_TRANSPORT_RETIRED_H
#define MEDIAD_TRANSPORT_RETIRED_H

#include "mediad/transport/rtpsize.h"

bool retired_mode(enum rtpsize_mode mode);
/* Bytes appended behind the ciphertext. */
size_t retired_appended(enum rtpsize_mode mode);
/* out holds `clear` bytes; appends the sealed rest. counter: of this packet. EINVAL. */
int retired_seal(enum rtpsize_mode mode, const uint8_t key[RTPSIZE_KEY], uint32_t counter,
		 size_t clear, struct slice rest, uint8_t *out, size_t *len);
/* packet: n bytes, the first `clear` of them readable. Writes the plaintext to `to` (may be the
 * place of the ciphertext); *plain: its length. EBADMSG too short, EACCES. */
int retired_open(enum rtpsize_mode mode, const uint8_t key[RTPSIZE_KEY], const uint8_t *packet,
		 size_t n, size_t clear, uint8_t *to, size_t *plain);

#endif
