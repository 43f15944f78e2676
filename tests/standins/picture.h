/* Pictures that clients send: decoded, and what they show in words, so that a test can tell which
 * picture reached a provider.
 *
 * A test picture carries a number in the upper eighth of its area, in sixteen cells of equal width:
 * the first white, the last black, and between them fourteen bits, the highest first, white for 1.
 * It survives scaling and JPEG. */
#ifndef STANDINS_PICTURE_H
#define STANDINS_PICTURE_H

#include <stdbool.h>
#include <stddef.h>

enum { SI_PICTURE_MAX = 128 };

/* "image/png 320x200 frame 37 hash 0011223344556677", without the frame where the picture has none.
 * False: it is no base64, not of this type, or cannot be decoded. JPEG and PNG are decoded; of WebP
 * and GIF only the first bytes are checked, and no size is told. */
bool si_picture_read(const char *type, const char *base64, size_t n, char out[SI_PICTURE_MAX]);
/* The same of a data URI. */
bool si_picture_url(const char *url, char out[SI_PICTURE_MAX]);

#endif
