/* What the former dashboard asks for and Parley has nothing of: the answers are true, and always
 * the same (docs/decisions/0240). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/web/inside.h"
#include "control/web/list_query.h"

enum { FORMER_LIMIT = 30, FORMER_LIMIT_MAX = 120, FORMER_TEXT = 128 };

/* {guildId, limit, rows}: of this server, which must be named. NULL: the query is none; refused. */
static json_t *begin_rows(const struct web_request *r)
{
	uint64_t guild, limit;

	if (!list_query_number(r->head, "guildId", UINT64_MAX, &guild) || !guild ||
	    !list_query_number(r->head, "limit", FORMER_LIMIT_MAX, &limit)) {
		web_refuse(r->x, WEB_BAD_LIST_QUERY);
		return NULL;
	}
	return json_pack("{s:o,s:I,s:[]}", "guildId", json_sprintf("%" PRIu64, guild), "limit",
			 (json_int_t)(limit ? limit : FORMER_LIMIT), "rows");
}

static json_t *split(char *list)
{
	json_t *all = json_array();
	char *item, *rest = list;

	while ((item = strsep(&rest, ", ")))
		if (*item)
			json_array_append_new(all, json_string(item));
	return all;
}

/* Parley does nothing by a timetable. */
void web_automations_get(struct web *w, const struct web_request *r)
{
	char text[FORMER_TEXT] = "", statuses[FORMER_TEXT] = "";
	json_t *j = begin_rows(r);
	uint64_t channel;

	(void)w;
	if (!j)
		return;
	if (!list_query_number(r->head, "channelId", UINT64_MAX, &channel) ||
	    (http_head_has_query(r->head, "q") &&
	     !http_head_query(r->head, "q", text, sizeof text)) ||
	    (http_head_has_query(r->head, "status") &&
	     !http_head_query(r->head, "status", statuses, sizeof statuses))) {
		json_decref(j);
		web_refuse(r->x, WEB_BAD_LIST_QUERY);
		return;
	}
	json_object_set_new(j, "channelId",
			    channel ? json_sprintf("%" PRIu64, channel) : json_null());
	json_object_set_new(j, "query", json_string(text));
	if (!*statuses)
		snprintf(statuses, sizeof statuses, "active,paused");
	json_object_set_new(j, "statuses", split(statuses));
	web_json(r->x, 200, j);
}

/* So no automation has run. */
void web_automation_runs_get(struct web *w, const struct web_request *r)
{
	json_t *j = begin_rows(r);
	uint64_t automation;

	(void)w;
	if (j && list_query_number(r->head, "automationId", INT64_MAX, &automation) && automation) {
		json_object_set_new(j, "automationId", json_integer((json_int_t)automation));
		web_json(r->x, 200, j);
	} else if (j) {
		json_decref(j);
		web_refuse(r->x, WEB_BAD_LIST_QUERY);
	}
}

/* Nothing to do: the memory is read for every turn. */
void web_memory_refresh_post(struct web *w, const struct web_request *r)
{
	(void)w;
	web_json(r->x, 200, json_pack("{s:b}", "ok", 1));
}
