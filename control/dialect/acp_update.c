/* Updates and requests of a working agent (acp.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/acp_inside.h"
#include "control/dialect/json_read.h"
#include "proto/base/utf8.h"

enum { DOLLARS_MAX = 1000000 };

static bool equals(struct slice s, const char *text)
{
	return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

/* ---- the answer ---- */

static void append(struct acp *a, const char *p, size_t n)
{
	size_t room = ACP_TEXT_MAX - a->n;
	char *grown;

	if (n > room) {
		n = utf8_whole(p, room);
		a->cut = true;
	}
	grown = n ? realloc(a->text, a->n + n + 1) : NULL;
	if (!grown)
		return;
	memcpy(grown + a->n, p, n);
	grown[a->n += n] = '\0';
	a->text = grown;
}

static void take_words(struct acp *a, const json_t *content)
{
	struct slice text = json_read_text(content, "text");

	if (!equals(json_read_text(content, "type"), "text") || !text.n)
		return;
	if (a->apart && a->n)
		append(a, "\n\n", 2);
	a->apart = false;
	append(a, (const char *)text.p, text.n);
}

/* ---- progress ---- */

static void tell_progress(struct acp *a, const char *before, struct slice text)
{
	char line[ACP_PROGRESS_MAX];
	size_t most = sizeof line - 1 - strlen(before);

	if (!text.n)
		return;
	if (text.n > most)
		text.n = utf8_whole((const char *)text.p, most);
	snprintf(line, sizeof line, "%s%.*s", before, (int)text.n, (const char *)text.p);
	utf8_mend(line);
	utf8_plain(line);
	if (strcmp(line, a->progress) == 0)
		return;
	memcpy(a->progress, line, sizeof line);
	a->conf.progressh(a->task, line, a->conf.arg);
}

/* The step that is in progress, with its place in the plan. */
static void take_plan(struct acp *a, const json_t *entries)
{
	size_t n = json_array_size(entries), i;
	char before[32];
	json_t *entry;

	json_array_foreach(entries, i, entry)
	{
		if (i == ACP_PLAN_MAX)
			return;
		if (!equals(json_read_text(entry, "status"), "in_progress"))
			continue;
		snprintf(before, sizeof before, "step %zu of %zu: ", i + 1, n);
		tell_progress(a, before, json_read_text(entry, "content"));
		return;
	}
}

/* ---- costs ---- */

static void take_usage(struct acp *a, const json_t *cost)
{
	double amount = json_number_value(json_object_get(cost, "amount"));

	if (!equals(json_read_text(cost, "currency"), "USD") || !(amount >= 0) ||
	    amount > DOLLARS_MAX)
		return;
	a->cost = (uint64_t)(amount * 1e6 + 0.5);
	if (a->conf.cost_max && a->cost > a->cost_before &&
	    a->cost - a->cost_before > a->conf.cost_max)
		acp_stop(a, ACP_TOO_DEAR);
}

void acp_take_update(struct acp *a, const json_t *update)
{
	struct slice kind = json_read_text(update, "sessionUpdate");

	if (equals(kind, "agent_message_chunk")) {
		take_words(a, json_object_get(update, "content"));
	} else if (equals(kind, "tool_call")) {
		a->apart = true;
		tell_progress(a, "", json_read_text(update, "title"));
	} else if (equals(kind, "plan")) {
		take_plan(a, json_object_get(update, "entries"));
	} else if (equals(kind, "usage_update")) {
		take_usage(a, json_object_get(update, "cost"));
	}
}

/* ---- permissions ---- */

static bool grants(const struct acp *a, const json_t *call)
{
	struct slice kind = json_read_text(call, "kind");

	if (a->state != ACP_WORKING || a->granted == ACP_PERMISSIONS_MAX)
		return false;
	switch (a->conf.grants) {
	case ACP_GRANTS_ALL:
		return true;
	case ACP_GRANTS_READING:
		return equals(kind, "read") || equals(kind, "search") || equals(kind, "think");
	default:
		return false;
	}
}

/* NULL: the agent offers none of this kind. */
static const json_t *find_option(const json_t *options, const char *kind)
{
	json_t *option;
	size_t i;

	json_array_foreach(options, i, option)
	{
		if (equals(json_read_text(option, "kind"), kind) &&
		    json_is_string(json_object_get(option, "optionId")))
			return json_object_get(option, "optionId");
	}
	return NULL;
}

/* Never for always: each use is judged by itself. */
json_t *acp_judge(struct acp *a, const json_t *params)
{
	const json_t *options = json_object_get(params, "options"), *chosen = NULL;

	if (grants(a, json_object_get(params, "toolCall"))) {
		chosen = find_option(options, "allow_once");
		a->granted += chosen != NULL;
	}
	if (!chosen && a->state == ACP_WORKING)
		chosen = find_option(options, "reject_once");
	if (!chosen)
		return json_pack("{s:{s:s}}", "outcome", "outcome", "cancelled");
	return json_pack("{s:{s:s, s:O}}", "outcome", "outcome", "selected", "optionId", chosen);
}
