#include "tests/talk/stream.h"

#include "ipc/backoff.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 65536, ID_SIZE = 64, URL_SIZE = 256, FIELD_SIZE = 256, DAY_MS = 86400000 };

struct stream {
	struct env *env;
	struct http *http;
	struct http_req *req;
	struct tmr *tmr;
	struct backoff backoff;
	stream_h *h;
	void *arg;
	char url[URL_SIZE], auth[FIELD_SIZE];
	char id[ID_SIZE]; /* of the last event that came whole */
	size_t n;
	bool skip; /* until the end of a line that is too long */
	char line[LINE_SIZE];
	/* Of the event that is coming. */
	char next_id[ID_SIZE];
	bool has_data;
	char data[LINE_SIZE];
};

/* ---- what comes: control sends each event as lines id, event, data (proto/http/ring.h) ---- */

static const char *value_of(const char *line, const char *name)
{
	size_t n = strlen(name);

	return strncmp(line, name, n) == 0 ? line + n : NULL;
}

static void forget_event(struct stream *s)
{
	s->next_id[0] = '\0';
	s->has_data = false;
}

/* Who comes back behind an event that came in part would never get its rest. */
static void end_event(struct stream *s)
{
	bool has_data = s->has_data;

	if (s->next_id[0])
		memcpy(s->id, s->next_id, sizeof s->id);
	forget_event(s);
	if (has_data)
		s->h(s->data, strlen(s->data), s->arg);
}

static void take_line(struct stream *s)
{
	const char *id = value_of(s->line, "id: "), *data = value_of(s->line, "data: ");

	if (id) {
		snprintf(s->next_id, sizeof s->next_id, "%s", id);
	} else if (data) {
		s->has_data = true;
		memcpy(s->data, data, strlen(data) + 1);
	} else if (!s->line[0]) {
		end_event(s);
	}
}

static void on_part(const struct http_resp *resp, void *arg)
{
	struct stream *s = arg;

	backoff_reset(&s->backoff);
	for (size_t i = 0; i < resp->body.n; i++) {
		char c = resp->body.p[i];

		if (c != '\n' && s->n < sizeof s->line - 1) {
			s->line[s->n++] = c;
		} else if (c != '\n') {
			s->skip = true;
		} else {
			s->line[s->n] = '\0';
			if (!s->skip)
				take_line(s);
			s->n = 0;
			s->skip = false;
		}
	}
}

static void on_end(const struct http_resp *resp, void *arg)
{
	struct stream *s = arg;

	s->req = NULL;
	s->n = 0;
	s->skip = false;
	forget_event(s);
	log_info("stream_ended", "status=%d error=\"%s\"", resp->status, resp->errtext);
	backoff_wait(&s->backoff, s->env, s->tmr);
}

static void ask(void *arg)
{
	struct stream *s = arg;
	char last[FIELD_SIZE];
	const char *const headers[] = {s->auth, *s->id ? last : NULL, NULL};
	const struct http_call call = {.method = "GET",
				       .url = s->url,
				       .headers = headers,
				       .timeout_ms = DAY_MS,
				       .max_body = SIZE_MAX,
				       .parth = on_part};

	snprintf(last, sizeof last, "Last-Event-ID: %s", s->id);
	if (http_request(&s->req, s->http, &call, on_end, s))
		backoff_wait(&s->backoff, s->env, s->tmr);
}

int stream_alloc(struct stream **out, struct env *env, struct http *http, const char *url,
		 const char *token, stream_h *h, void *arg)
{
	static const struct backoff_conf again = {.first_ms = 100, .max_ms = 5000};
	struct stream *s;
	int err;

	if (!out || !env || !http || !h || strlen(url) >= URL_SIZE)
		return EINVAL;
	s = calloc(1, sizeof *s);
	if (!s)
		return ENOMEM;
	s->env = env;
	s->http = http;
	s->h = h;
	s->arg = arg;
	s->backoff = backoff_of(&again);
	snprintf(s->url, sizeof s->url, "%s", url);
	err = (size_t)snprintf(s->auth, sizeof s->auth, "Authorization: Bearer %s", token) <
			      sizeof s->auth
		      ? tmr_alloc(&s->tmr, env, ask, s)
		      : EINVAL;
	if (err) {
		free(s);
		return err;
	}
	tmr_start(s->tmr, 0);
	*out = s;
	return 0;
}

struct stream *stream_free(struct stream *s)
{
	if (!s)
		return NULL;
	if (s->req)
		http_req_cancel(s->req);
	tmr_free(s->tmr);
	free(s);
	return NULL;
}
