/* Whether a provider is there and takes the key, asked without anything that costs: for `control
 * --check`.
 *
 * A realtime provider passes when its session is created, an HTTP provider when it returns its list
 * of models. */
#ifndef CONTROL_ENGINE_PROBE_H
#define CONTROL_ENGINE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/settings/provider_record.h"
#include "ipc/http.h"
#include "ipc/ws.h"

/* Opens a session; what comes goes to the handler. EINVAL no address of a WebSocket, ENOMEM. Caller
 * owns *out. */
int probe_session(struct ws **out, struct ws_ctx *ctx, const char *url, const char *model,
		  const char *key, ws_h *h, void *arg);

enum probe_answer { PROBE_NOTHING, PROBE_CREATED, PROBE_REFUSED };
/* What a message of the session says; why gets the refusal, always terminated. */
enum probe_answer probe_read(const uint8_t *data, size_t len, char *why, size_t size);

/* Asks for the models. EINVAL, ENOENT no address, ENOMEM. */
int probe_models(struct http *http, const struct provider_record *p, uint32_t ms, http_resp_h *h,
		 void *arg);

#endif
