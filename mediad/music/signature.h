/* The format of a source by its first bytes, for the formats that decoderd plays.
 *
 * libav asks each of its 350 demuxers when it is not told the format, and so runs code of libraries
 * that nobody needs. Pure. */
#ifndef MEDIAD_MUSIC_SIGNATURE_H
#define MEDIAD_MUSIC_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

enum { SIGNATURE_HEAD = 192 }; /* bytes that suffice */

/* Returns libav's name of the demuxer, static, or NULL if the bytes are of no known format. */
const char *signature_format(const uint8_t *head, size_t n);
/* Bytes of an ID3v2 tag at the beginning, whose format is the one of the bytes after it; 0: none.
 */
size_t signature_tag(const uint8_t *head, size_t n);

#endif
