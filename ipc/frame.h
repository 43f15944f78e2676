/* Cutting a byte stream into frames `u32 big-endian length | body`. Pure. */
#ifndef IPC_FRAME_H
#define IPC_FRAME_H

#include <stddef.h>
#include <stdint.h>

enum { FRAME_HEAD = 4 };

/* Finds a whole frame at the start of buf. Returns its size with the head and sets *body and *len
 * (borrowed from buf); 0 when more bytes are needed; -1 when the length is zero or above max. */
long frame_cut(const uint8_t *buf, size_t n, size_t max, const uint8_t **body, size_t *len);
void frame_head(uint8_t out[FRAME_HEAD], size_t len);

#endif
