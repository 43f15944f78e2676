#include "tests/talk/board.h"

#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct board {
	struct env *env;
	struct http *http;
	struct http_req *req;
	struct tmr *tmr;
	char url[256];
	board_h *h;
	void *arg;
	json_t *list;
};

/* The last messages with text; NULL without memory. */
static json_t *newest(const json_t *messages)
{
	json_t *list = json_array();

	for (size_t i = json_array_size(messages); list && i-- > 0;) {
		const json_t *m = json_array_get(messages, i);
		json_t *text = json_object_get(m, "content");
		json_t *name = json_object_get(json_object_get(m, "author"), "username");

		if (!json_is_string(name) || !json_string_length(text) ||
		    json_array_size(list) == BOARD_SHOWN)
			continue;
		json_array_insert_new(list, 0, json_pack("{s:O,s:O}", "name", name, "text", text));
	}
	return list;
}

int board_take(struct board *b, const char *text, size_t n)
{
	json_t *messages = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
	json_t *list = json_is_array(messages) ? newest(messages) : NULL;

	json_decref(messages);
	if (!list)
		return EBADMSG;
	if (json_equal(list, b->list)) {
		json_decref(list);
		return EALREADY;
	}
	json_decref(b->list);
	b->list = list;
	return 0;
}

static void on_answer(const struct http_resp *resp, void *arg)
{
	struct board *b = arg;

	b->req = NULL;
	tmr_start(b->tmr, NS_PER_S);
	if (!resp->err && resp->status == 200 && board_take(b, resp->body.p, resp->body.n) == 0)
		b->h(b->arg);
}

static void ask(void *arg)
{
	struct board *b = arg;
	const struct http_call call = {.method = "GET", .url = b->url};

	if (http_request(&b->req, b->http, &call, on_answer, b))
		tmr_start(b->tmr, NS_PER_S);
}

int board_alloc(struct board **out, struct env *env, struct http *http, const char *api,
		uint64_t channel, board_h *h, void *arg)
{
	struct board *b;
	int err;

	if (!out || !env || !http || !h)
		return EINVAL;
	b = calloc(1, sizeof *b);
	if (!b)
		return ENOMEM;
	b->env = env;
	b->http = http;
	b->h = h;
	b->arg = arg;
	snprintf(b->url, sizeof b->url, "%s/channels/%" PRIu64 "/messages", api, channel);
	b->list = json_array();
	err = b->list ? tmr_alloc(&b->tmr, env, ask, b) : ENOMEM;
	if (err) {
		board_free(b);
		return err;
	}
	tmr_start(b->tmr, 0);
	*out = b;
	return 0;
}

struct board *board_free(struct board *b)
{
	if (!b)
		return NULL;
	if (b->req)
		http_req_cancel(b->req);
	tmr_free(b->tmr);
	json_decref(b->list);
	free(b);
	return NULL;
}

json_t *board_list(const struct board *b)
{
	return b->list;
}
