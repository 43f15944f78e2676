/* True if a provider is there and takes the key, asked without anything that costs: for `control
 * --check`.
 *
 * A realtime provider passes when its session is created, an HTTP provider when it returns its list
 * of models. */
#ifndef CONTROL_ENGINE_PROBE_H
#define CONTROL_ENGINE_PROBE_H

#include <stddef.h>
#include <stdint.h>

#include "control/settings/provider_record.h"
#include "ipc/http.h"

struct probe;
struct ws_ctx;

struct probe_conf {
	enum dialect dialect;
	const char *url; /* of the WebSocket */
	const char *model, *key;
};

enum probe_answer { PROBE_CREATED, PROBE_REFUSED, PROBE_CLOSED };
/* why: of a refusal or close, "" when nothing was said. It may free the probe. */
typedef void(probe_h)(enum probe_answer answer, const char *why, void *arg);

/* Opens a session. EINVAL no address of a WebSocket, or a dialect without sessions; ENOMEM. Caller
 * owns *out. */
int probe_session(struct probe **out, struct ws_ctx *ctx, const struct probe_conf *conf, probe_h *h,
		  void *arg);
struct probe *probe_free(struct probe *p);

/* Asks for the models. EINVAL, ENOENT no address, ENOMEM. */
int probe_models(struct http *http, const struct provider_record *p, uint32_t ms, http_resp_h *h,
		 void *arg);

#endif
