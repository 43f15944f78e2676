#include "control/web/list_query.h"

#include <string.h>

#include "proto/discord.h"

bool list_query_number(const struct http_head *head, const char *name, uint64_t max, uint64_t *out)
{
	char text[24];

	*out = 0;
	if (!http_head_has_query(head, name))
		return true;
	return http_head_query(head, name, text, sizeof text) && discord_u64(text, out) && *out &&
	       *out <= max;
}

/* `reason`; of the audit it is called `kind`. */
static bool read_reason(const struct http_head *head, char out[LIST_REASON_SIZE])
{
	const char *name = http_head_has_query(head, "kind") ? "kind" : "reason";

	*out = '\0';
	if (!http_head_has_query(head, name))
		return true;
	return http_head_query(head, name, out, LIST_REASON_SIZE) && *out &&
	       !out[strspn(out, "abcdefghijklmnopqrstuvwxyz_0123456789")];
}

bool list_query_read(struct list_query *q, const struct http_head *head)
{
	uint64_t limit, timeline;

	*q = (struct list_query){0};
	if (!list_query_number(head, "guild", UINT64_MAX, &q->guild) ||
	    !list_query_number(head, "user", UINT64_MAX, &q->user) ||
	    !list_query_number(head, "since", INT64_MAX, &q->since_ms) ||
	    !list_query_number(head, "before", INT64_MAX, &q->before_ms) ||
	    !list_query_number(head, "cursor", INT64_MAX, &q->cursor) ||
	    !list_query_number(head, "limit", LIST_LIMIT_MAX, &limit) ||
	    !list_query_number(head, "timeline", 1, &timeline) || !read_reason(head, q->reason) ||
	    (http_head_has_query(head, "q") &&
	     !http_head_query(head, "q", q->letters, sizeof q->letters)))
		return false;
	q->timeline = timeline;
	q->limit = limit ? (unsigned)limit : LIST_LIMIT;
	return true;
}
