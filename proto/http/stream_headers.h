/* Header fields that the server of a stream wants in a request, as the page of the stream names
 * them: lines "Name: value", each with a line feed. Of an allow-list, so that no page makes us send
 * cookies, credentials or a host. Pure. */
#ifndef PROTO_HTTP_STREAM_HEADERS_H
#define PROTO_HTTP_STREAM_HEADERS_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/cursor.h"

enum { STREAM_HEADERS_MAX = 1024 };

/* The names of the list; NULL behind the last. */
const char *stream_headers_name(unsigned i);
/* Appends a field to the lines of to, a string of size bytes. False, and nothing is appended: the
 * name is not of the list or has a line already, the value is empty or has a control character, or
 * there is no room. */
bool stream_headers_add(char *to, size_t size, const char *name, const char *value);
/* True if they are such lines, STREAM_HEADERS_MAX bytes at most; also if there are none. */
bool stream_headers_valid(struct slice lines);

#endif
