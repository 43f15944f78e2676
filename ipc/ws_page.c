/* Plain HTTP on a WebSocket port: one page a request, whole, from memory. */
#include "ipc/ws_inside.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD_MAX = 4096, PATH_LEN = 1024, PAGE_MAX = 4 << 20 };

/* The body that waits until it can be written. */
struct ws_page_body {
	size_t n;
	uint8_t bytes[]; /* LWS_PRE of room, then the body */
};

static bool add(struct lws *wsi, const char *name, const char *value, uint8_t **p, uint8_t *end)
{
	return lws_add_http_header_by_name(wsi, (const uint8_t *)name, (const uint8_t *)value,
					   (int)strlen(value), p, end) == 0;
}

static bool write_head(struct lws *wsi, const struct ws_page *page)
{
	const char *policy = page->policy ? page->policy : "default-src 'none'";
	uint8_t buf[LWS_PRE + HEAD_MAX], *start = buf + LWS_PRE, *p = start;
	uint8_t *end = buf + sizeof buf - 1;

	return lws_add_http_common_headers(wsi, (unsigned)page->status, page->type, page->len, &p,
					   end) == 0 &&
	       add(wsi, "cache-control:", "no-store", &p, end) &&
	       add(wsi, "x-content-type-options:", "nosniff", &p, end) &&
	       add(wsi, "x-frame-options:", "deny", &p, end) &&
	       add(wsi, "referrer-policy:", "no-referrer", &p, end) &&
	       add(wsi, "content-security-policy:", policy, &p, end) &&
	       lws_finalize_write_http_header(wsi, start, &p, end) == 0;
}

/* Non-zero closes. */
static int answer(struct lws *wsi, const char *path, struct ws_page_body **body)
{
	struct ws_page page = {.status = 404, .type = "text/plain"};

	if (lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) <= 0)
		page.status = 405;
	else if (strlen(path) < PATH_LEN)
		ws_server_page(wsi, path, &page);
	if (page.len > PAGE_MAX)
		return -1;
	if (!page.data || !page.len) {
		page.data = page.status == 404 ? "not here\n" : "refused\n";
		page.len = strlen(page.data);
	}
	*body = malloc(sizeof **body + LWS_PRE + page.len);
	if (!*body)
		return -1;
	(*body)->n = page.len;
	memcpy((*body)->bytes + LWS_PRE, page.data, page.len);
	if (!write_head(wsi, &page))
		return -1;
	lws_callback_on_writable(wsi);
	return 0;
}

static int write_body(struct lws *wsi, struct ws_page_body **body)
{
	struct ws_page_body *b = *body;
	int k;

	if (!b)
		return -1;
	*body = NULL;
	k = lws_write(wsi, b->bytes + LWS_PRE, b->n, LWS_WRITE_HTTP_FINAL);
	free(b);
	return k < 0 || lws_http_transaction_completed(wsi) ? -1 : 0;
}

static int begin(struct lws *wsi, const char *path, struct ws_plain *plain)
{
	struct ws_ctx *ctx = NULL;
	size_t max = lws_hdr_total_length(wsi, WSI_TOKEN_POST_URI) > 0
			     ? ws_server_max_post(wsi, &ctx)
			     : 0;

	if (!max)
		return answer(wsi, path, &plain->body);
	plain->post = ws_post_new(ctx, wsi, path, max);
	return plain->post ? 0 : -1;
}

int ws_page_callback(struct lws *wsi, enum lws_callback_reasons reason, struct ws_plain *plain,
		     void *in, size_t len)
{
	if (plain && plain->post && reason != LWS_CALLBACK_HTTP)
		return ws_post_callback(&plain->post, reason, in, len);
	switch (reason) {
	case LWS_CALLBACK_HTTP:
		return !plain || plain->body || plain->post ? -1 : begin(wsi, in, plain);
	case LWS_CALLBACK_HTTP_WRITEABLE:
		return plain ? write_body(wsi, &plain->body) : -1;
	case LWS_CALLBACK_CLOSED_HTTP:
		if (plain) {
			free(plain->body);
			plain->body = NULL;
		}
		return 0;
	default:
		return lws_callback_http_dummy(wsi, reason, plain, in, len);
	}
}
