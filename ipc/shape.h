/* Shapes of messages: their structure and numbers as text, without keys, sound and words (journals of shapes).
 *
 * What is let through is what is known to be harmless; everything else is its length. Each writes at most size bytes,
 * no NUL, and returns how many; what is too long is cut, what is not of its kind gives as much as could be read. */
#ifndef IPC_SHAPE_H
#define IPC_SHAPE_H

#include <stddef.h>
#include <stdint.h>

/* JSON: names and plain numbers. Texts are *LENGTH but those of "t" and "type" (names of events), lists [COUNT bytes]:
 * keys come as lists of numbers. */
size_t shape_json(const char *json, size_t len, char *text, size_t size);
/* msgpack: numbers; texts and bytes are *LENGTH. */
size_t shape_msgpack(const uint8_t *data, size_t len, char *text, size_t size);

#endif
