/* Responses compressed with gzip for clients that accept it (RFC 9110 8.4.1.3 and 12.5.3, RFC
 * 1952). Pure but for its memory. */
#ifndef CONTROL_WEB_GZIP_H
#define CONTROL_WEB_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_head;

/* "gzip" is among what the client accepts, unless with the weight 0. */
bool gzip_is_accepted(const struct http_head *head);
/* level: 1 (fastest) to 9. ENOMEM, EIO. The caller frees *out; *out_n: its bytes. */
int gzip_compress(const void *data, size_t n, int level, uint8_t **out, size_t *out_n);

#endif
