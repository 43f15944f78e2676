/* Answers of the web server: JSON, and problems (RFC 9457). */
#include <stdlib.h>
#include <string.h>

#include "control/web/inside.h"

char *web_text(const json_t *body)
{
	return body ? json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
}

static void answer(struct http_exchange *x, int status, const char *type, json_t *body)
{
	char *text = web_text(body);

	json_decref(body);
	if (text)
		http_reply(x, status, type, text, strlen(text));
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
