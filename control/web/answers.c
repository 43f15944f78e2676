/* Answers of the web server: JSON, and problems (RFC 9457). */
#include <stdlib.h>
#include <string.h>

#include "control/web/gzip.h"
#include "control/web/inside.h"
#include "control/web/queries.h"

char *web_text(const json_t *body)
{
	return body ? json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
}

/* Bytes. Below the least, compression gains less than a packet; above the most it would hold up the
 * loop of the rooms for milliseconds. /api/rooms, which pages ask for many times a second, does not
 * come here (rooms_api.c). */
enum { COMPRESS_LEAST = 4 << 10, COMPRESS_MOST = 256 << 10, FASTEST = 1 };

void web_send_text(struct http_exchange *x, int status, const char *type, const char *text)
{
	size_t n = strlen(text), compressed_n;
	bool fits = n >= COMPRESS_LEAST && n <= COMPRESS_MOST;
	const struct http_head *head = http_request_head(x);
	uint8_t *compressed = NULL;

	if (fits)
		http_reply_field(x, "Vary", "Accept-Encoding");
	if (fits && head && gzip_is_accepted(head) &&
	    gzip_compress(text, n, FASTEST, &compressed, &compressed_n) == 0) {
		http_reply_field(x, "Content-Encoding", "gzip");
		http_reply(x, status, type, compressed, compressed_n);
	} else {
		http_reply(x, status, type, text, n);
	}
	free(compressed);
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

bool web_refuse_query(struct web *w, const struct web_request *r, const char *text)
{
	static const enum web_refusal told[] = {[QUERY_UNKNOWN_NAME] = WEB_UNKNOWN_PARAMETER,
						[QUERY_UNKNOWN_KIND] = WEB_UNKNOWN_KIND,
						[QUERY_UNKNOWN_REASON] = WEB_UNKNOWN_REASON};
	const struct web_conf *c = web_shown(w);
	/* The list of reasons is made only if the query has one. */
	json_t *all = http_head_has_query(r->head, "reason") ? c->reasonsh(c->arg) : NULL;
	enum query_fault fault = query_check(r->head, text, json_object_get(all, "reasons"));

	json_decref(all);
	if (fault)
		web_refuse(r->x, told[fault]);
	return fault != QUERY_FINE;
}
