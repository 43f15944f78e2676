/* Why a session ended or a request was refused, in the provider's words: one plain line, cut at
 * whole characters. Pure; the text always ends with NUL. */
#ifndef CONTROL_ENGINE_CORE_DESCRIBE_H
#define CONTROL_ENGINE_CORE_DESCRIBE_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/cursor.h"

/* "closed 1008 quota": the code and reason of a WebSocket's close (RFC 6455 §7.1.6). */
void describe_close(uint16_t code, const uint8_t *reason, size_t n, char *buf, size_t size);
/* "insufficient_quota: you have none": either may be empty. */
void describe_error(const char *code, struct slice text, char *buf, size_t size);

#endif
