/* A user of guildd joins a voice channel through its control API, and the call gets the lease from
 * the reply: what an application would learn from the main gateway. */
#ifndef TESTS_JOIN_H
#define TESTS_JOIN_H

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "control/media/media.h"
#include "ipc/http.h"

/* api: the address of the control API. h is called once with the reply, unless this fails. */
static inline int join_request(struct http *http, const char *api, uint64_t user, uint64_t guild,
			       uint64_t channel, http_resp_h *h, void *arg)
{
	static const char *const headers[] = {"Content-Type: application/json", NULL};
	char url[256], body[128];
	struct http_call req = {.method = "POST", .url = url, .headers = headers, .body = body};

	snprintf(url, sizeof url, "%s/users/%" PRIu64 "/join", api, user);
	snprintf(body, sizeof body, "{\"guild_id\":\"%" PRIu64 "\",\"channel_id\":\"%" PRIu64 "\"}",
		 guild, channel);
	req.body_len = strlen(body);
	return http_request(NULL, http, &req, h, arg);
}

/* EPROTO: the reply holds no lease. */
static inline int join_take_lease(struct media_call *call, const struct http_resp *resp,
				  uint64_t channel)
{
	json_t *o = resp->err || resp->status != 200
			    ? NULL
			    : json_loadb(resp->body.p, resp->body.n, 0, NULL);
	const char *session = json_string_value(json_object_get(o, "session_id"));
	const char *token = json_string_value(json_object_get(o, "token"));
	const char *endpoint = json_string_value(json_object_get(o, "endpoint"));
	int err = EPROTO;

	if (session && token && endpoint)
		err = media_call_credentials(call, session, token, endpoint, channel);
	json_decref(o);
	return err;
}

#endif
