/* POSTs to a WebSocket port: the body is gathered whole, the answer goes out as its owner has it.
 */
#include "ipc/env.h"
#include "ipc/ws_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_LEN = 256, HEAD_MAX = 1024 };

struct piece {
	struct piece *next;
	size_t n;
	uint8_t bytes[]; /* LWS_PRE of room, then the piece */
};

struct ws_post {
	struct ws_ctx *ctx;
	struct lws *wsi; /* NULL: the client is gone */
	char path[PATH_LEN], type[PATH_LEN];
	uint8_t *in;
	size_t n_in, cap_in;
	bool owned; /* its owner has not ended it */
	bool begun, head_out, ended;
	int status;
	char answer_type[64];
	struct piece *first, **last;
	size_t queued;
	void (*goneh)(void *arg);
	void *arg;
};

static void post_free(struct ws_post *p)
{
	while (p->first) {
		struct piece *k = p->first;

		p->first = k->next;
		free(k);
	}
	free(p->in);
	free(p);
}

/* ---- the body ---- */

static struct ws_post *post_new(struct ws_ctx *ctx, struct lws *wsi, const char *path,
				size_t length)
{
	struct ws_post *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->in = malloc(length);
	if (!p->in || strlen(path) >= sizeof p->path) {
		post_free(p);
		return NULL;
	}
	p->ctx = ctx;
	p->wsi = wsi;
	p->cap_in = length;
	p->last = &p->first;
	strcpy(p->path, path);
	if (lws_hdr_copy(wsi, p->type, sizeof p->type, WSI_TOKEN_HTTP_CONTENT_TYPE) < 0)
		p->type[0] = '\0';
	return p;
}

struct ws_post *ws_post_new(struct ws_ctx *ctx, struct lws *wsi, const char *path, size_t max)
{
	char text[16];
	unsigned long length;

	if (lws_hdr_copy(wsi, text, sizeof text, WSI_TOKEN_HTTP_CONTENT_LENGTH) <= 0)
		return NULL;
	length = strtoul(text, NULL, 10);
	return length && length <= max ? post_new(ctx, wsi, path, length) : NULL;
}

/* Non-zero closes. */
static int more_body(struct ws_post *p, const void *data, size_t n)
{
	if (n > p->cap_in - p->n_in)
		return -1;
	if (n)
		memcpy(p->in + p->n_in, data, n);
	p->n_in += n;
	return 0;
}

static int whole_body(struct ws_post *p)
{
	lws_set_timeout(p->wsi, NO_PENDING_TIMEOUT, 0);
	p->owned = true; /* its owner may end it at once */
	if (ws_server_post(p->wsi, p))
		return 0;
	p->owned = false;
	return -1;
}

const char *ws_post_path(const struct ws_post *p)
{
	return p->path;
}

const char *ws_post_type(const struct ws_post *p)
{
	return p->type;
}

const uint8_t *ws_post_body(const struct ws_post *p, size_t *n)
{
	*n = p->n_in;
	return p->in;
}

/* ---- the answer ---- */

static void want_write(struct ws_post *p)
{
	if (!p->wsi)
		return;
	lws_callback_on_writable(p->wsi);
	ws_kick(p->ctx);
}

int ws_post_begin(struct ws_post *p, int status, const char *type)
{
	if (p->begun)
		return EALREADY;
	p->begun = true;
	p->status = status;
	snprintf(p->answer_type, sizeof p->answer_type, "%s", type);
	want_write(p);
	return 0;
}

int ws_post_write(struct ws_post *p, const void *data, size_t n)
{
	struct piece *k;

	if (!p->begun || !p->wsi)
		return ENOTCONN;
	if (!n)
		return 0;
	if (n > WS_MAX_QUEUED - p->queued)
		return ENOBUFS;
	k = malloc(sizeof *k + LWS_PRE + n);
	if (!k)
		return ENOMEM;
	k->next = NULL;
	k->n = n;
	memcpy(k->bytes + LWS_PRE, data, n);
	*p->last = k;
	p->last = &k->next;
	p->queued += n;
	want_write(p);
	return 0;
}

void ws_post_end(struct ws_post *p)
{
	p->owned = false;
	p->ended = true;
	p->goneh = NULL;
	if (p->wsi)
		want_write(p);
	else
		post_free(p);
}

void ws_post_on_gone(struct ws_post *p, void (*h)(void *arg), void *arg)
{
	p->goneh = h;
	p->arg = arg;
}

/* Its length is not known, so the end of the connection is its end. */
static int write_head(struct ws_post *p)
{
	uint8_t buf[LWS_PRE + HEAD_MAX], *start = buf + LWS_PRE, *at = start;
	uint8_t *end = buf + sizeof buf - 1;

	p->head_out = true;
	if (lws_add_http_common_headers(p->wsi, (unsigned)p->status, p->answer_type,
					LWS_ILLEGAL_HTTP_CONTENT_LEN, &at, end) ||
	    lws_finalize_write_http_header(p->wsi, start, &at, end))
		return -1;
	lws_callback_on_writable(p->wsi);
	return 0;
}

static int on_writable(struct ws_post *p)
{
	struct piece *k = p->first;
	bool last;
	int n;

	if (!p->begun)
		return p->ended ? -1 : 0;
	if (!p->head_out)
		return write_head(p);
	if (!k)
		return p->ended ? -1 : 0;
	p->first = k->next;
	if (!p->first)
		p->last = &p->first;
	p->queued -= k->n;
	last = !p->first && p->ended;
	n = lws_write(p->wsi, k->bytes + LWS_PRE, k->n,
		      last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP);
	free(k);
	if (n < 0 || last)
		return -1;
	if (p->first)
		lws_callback_on_writable(p->wsi);
	return 0;
}

static void closed(struct ws_post *p)
{
	p->wsi = NULL;
	if (!p->owned)
		post_free(p);
	else if (p->goneh)
		p->goneh(p->arg);
}

int ws_post_callback(struct ws_post **post, enum lws_callback_reasons reason, void *in, size_t len)
{
	struct ws_post *p = *post;

	switch (reason) {
	case LWS_CALLBACK_HTTP_BODY:
		return more_body(p, in, len);
	case LWS_CALLBACK_HTTP_BODY_COMPLETION:
		return whole_body(p);
	case LWS_CALLBACK_HTTP_WRITEABLE:
		return on_writable(p);
	case LWS_CALLBACK_CLOSED_HTTP:
		*post = NULL;
		closed(p);
		return 0;
	default:
		return 0;
	}
}
