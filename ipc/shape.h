/* Shapes of messages: their structure and numbers as text, without keys, sound and words (journals
 * of shapes).
 *
 * Only data known to be harmless is written; everything else is replaced by its length. Each
 * function writes at most size bytes without a NUL and returns their number; long output is
 * truncated, malformed input gives the part that could be read. */
#ifndef IPC_SHAPE_H
#define IPC_SHAPE_H

#include <stddef.h>
#include <stdint.h>

/* JSON: names and plain numbers. Strings are written as *LENGTH, except under "t" and "type" (event
 * names); lists as [COUNT bytes], because keys come as lists of numbers. */
size_t shape_json(const char *json, size_t len, char *text, size_t size);
/* msgpack: numbers; strings and bytes are written as *LENGTH. */
size_t shape_msgpack(const uint8_t *data, size_t len, char *text, size_t size);

#endif
