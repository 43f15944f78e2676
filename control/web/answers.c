/* Answers of the web server: JSON, and problems (RFC 9457). */
#include <stdlib.h>
#include <string.h>

#include "control/web/gzip.h"
#include "control/web/inside.h"

char *web_text(const json_t *body)
{
	return body ? json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
}

/* Smaller ones gain less than a packet; larger ones would keep the loop of the rooms for more than
 * some milliseconds, as a hundred of those of a room would each second: these have their own way
 * out (rooms_api.c). */
enum { PACK_LEAST = 4 << 10, PACK_MOST = 256 << 10, FASTEST = 1 };

void web_send_text(struct http_exchange *x, int status, const char *type, const char *text)
{
	size_t n = strlen(text), packed_n;
	const struct http_head *head = http_request_head(x);
	uint8_t *packed = NULL;

	if (n >= PACK_LEAST && n <= PACK_MOST)
		http_reply_field(x, "Vary", "Accept-Encoding");
	if (n >= PACK_LEAST && n <= PACK_MOST && head && gzip_taken(head) &&
	    gzip_pack(text, n, FASTEST, &packed, &packed_n) == 0) {
		http_reply_field(x, "Content-Encoding", "gzip");
		http_reply(x, status, type, packed, packed_n);
	} else {
		http_reply(x, status, type, text, n);
	}
	free(packed);
}

static void answer(struct http_exchange *x, int status, const char *type, json_t *body)
{
	char *text = web_text(body);

	json_decref(body);
	if (text)
		web_send_text(x, status, type, text);
	else
		http_reply(x, 503, NULL, NULL, 0);
	free(text);
}

void web_json(struct http_exchange *x, int status, json_t *body)
{
	answer(x, status, "application/json", body);
}

void web_problem(struct http_exchange *x, int status, const char *code, const char *text,
		 json_t *more)
{
	json_t *all = json_pack("{s:s,s:s,s:i,s:s}", "type", "about:blank", "title", text, "status",
				status, "error", code);

	if (all && more)
		json_object_update(all, more);
	json_decref(more);
	answer(x, status, "application/problem+json", all);
}

void web_refuse(struct http_exchange *x, enum web_refusal refusal)
{
	web_refuse_with(x, refusal, NULL);
}

static const struct {
	int status;
	const char *code, *text;
} problems[] = {
#define PROBLEM(NAME, status, code, text) {status, #code, text},
	WEB_PROBLEMS(PROBLEM)
#undef PROBLEM
};

const char *web_refusal_code(enum web_refusal refusal)
{
	return problems[refusal].code;
}

void web_refuse_with(struct http_exchange *x, enum web_refusal refusal, json_t *more)
{
	web_problem(x, problems[refusal].status, problems[refusal].code, problems[refusal].text,
		    more);
}
