/* Plain HTTP on a WebSocket port: one page a request, whole, from memory. */
#include "ipc/ws_inside.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD_MAX = 4096, PATH_LEN = 1024, PAGE_MAX = 4 << 20 };

/* The body that waits until it can be written. */
struct body {
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
static int answer(struct lws *wsi, const char *path, struct body **body)
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

static int write_body(struct lws *wsi, struct body **body)
{
	struct body *b = *body;
	int k;

	if (!b)
		return -1;
	*body = NULL;
	k = lws_write(wsi, b->bytes + LWS_PRE, b->n, LWS_WRITE_HTTP_FINAL);
	free(b);
	return k < 0 || lws_http_transaction_completed(wsi) ? -1 : 0;
}

int ws_page_callback(struct lws *wsi, enum lws_callback_reasons reason, void **user, void *in,
		     size_t len)
{
	struct body **body = (struct body **)user;

	switch (reason) {
	case LWS_CALLBACK_HTTP:
		return !body || *body ? -1 : answer(wsi, in, body);
	case LWS_CALLBACK_HTTP_WRITEABLE:
		return body ? write_body(wsi, body) : -1;
	case LWS_CALLBACK_CLOSED_HTTP:
		if (body) {
			free(*body);
			*body = NULL;
		}
		return 0;
	default:
		return lws_callback_http_dummy(wsi, reason, user, in, len);
	}
}
