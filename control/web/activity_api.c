/* What the bot did: GET /api/actions, /api/stats, /api/voice/history/sessions/:session/events and
 * the stream /api/activity/events. Rows come of the store, figures of the counters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/action_id.h"
#include "control/events/events.h"
#include "control/events/message_actions.def"
#include "control/store/store.h"
#include "control/web/inside.h"
#include "control/web/list_query.h"
#include "control/web/state_stream.h"
#include "ipc/env.h"
#include "proto/base/iso_time.h"
#include "proto/discord.h"

enum {
	SNAPSHOT_ACTIONS = 220,
	SNAPSHOT_BYTES = 48 << 10, /* of its actions; an event takes SSE_EVENT_MAX */
	HOUR_MS = 3600000,
	SINCE_HOURS_MAX = 24 * 400,
};

/* "" for none, or the kinds as ",a,b,". */
static bool read_kinds(const struct http_head *head, char out[ACTION_KINDS_SIZE])
{
	char kinds[ACTION_KINDS_SIZE - 2];

	*out = '\0';
	if (!http_head_has_query(head, "kinds"))
		return true;
	if (!http_head_query(head, "kinds", kinds, sizeof kinds) ||
	    kinds[strspn(kinds, "abcdefghijklmnopqrstuvwxyz_0123456789,")])
		return false;
	snprintf(out, ACTION_KINDS_SIZE, ",%s,", kinds);
	return true;
}

/* The seeds' names, beside those of all lists. */
static bool read_query(struct web *w, const struct http_head *head, struct action_query *q)
{
	uint64_t hours, limit, guild;

	if (!list_query_number(head, "limit", STORE_ACTIONS_MAX, &limit) ||
	    !list_query_number(head, "guildId", UINT64_MAX, &guild) ||
	    !list_query_number(head, "guild", UINT64_MAX, &q->guild) ||
	    !list_query_number(head, "user", UINT64_MAX, &q->user) ||
	    !list_query_number(head, "since", INT64_MAX, &q->since_ms) ||
	    !list_query_number(head, "sinceHours", SINCE_HOURS_MAX, &hours) ||
	    !list_query_number(head, "cursor", INT64_MAX, &q->cursor) ||
	    !read_kinds(head, q->kinds))
		return false;
	q->guild = guild ? guild : q->guild;
	q->limit = limit ? (unsigned)limit : ACTIONS_LIMIT;
	if (hours)
		q->since_ms = env_wall_ms(web_env(w)) - hours * HOUR_MS;
	return true;
}

static void list(struct web *w, const struct web_request *r, const struct action_query *q,
		 read_done_h *h)
{
	bool words = r->role >= WEB_OPERATOR;

	web_read(w, r,
		 &(struct store_query){.what = STORE_ACTIONS,
				       .guild = r->scope ? r->scope : q->guild,
				       .user = q->user,
				       .reason = q->kinds,
				       .session = q->session,
				       .since_ms = q->since_ms,
				       .row = q->cursor,
				       .most = q->limit,
				       .words = words,
				       .operators = words},
		 h);
}

void web_actions_get(struct web *w, const struct web_request *r)
{
	struct action_query q = {0};

	if (read_query(w, r->head, &q))
		list(w, r, &q, NULL);
	else
		web_refuse(r->x, WEB_BAD_ACTIONS_QUERY);
}

/* Of one voice session, whose id is SERVER-START. */
void web_session_events_get(struct web *w, const struct web_request *r)
{
	struct action_query q = {0};

	if (!read_query(w, r->head, &q)) {
		web_refuse(r->x, WEB_BAD_ACTIONS_QUERY);
		return;
	}
	q.guild = r->id;
	q.session = r->id2;
	list(w, r, &q, NULL);
}

/* They are those of all servers. */
void web_stats_get(struct web *w, const struct web_request *r)
{
	const struct web_conf *c = web_shown(w);

	if (r->scope)
		web_refuse(r->x, WEB_FORBIDDEN);
	else
		web_json(r->x, 200, c->statsh(c->arg));
}

/* ---- the stream ---- */

/* As many of the newest as one event holds. */
static json_t *fit_actions(const json_t *document)
{
	json_t *all = json_object_get(document, "actions"), *list = json_array(), *row;
	size_t i, bytes = 0;

	json_array_foreach(all, i, row)
	{
		bytes += json_dumpb(row, NULL, 0, JSON_COMPACT) + 1;
		if (bytes > SNAPSHOT_BYTES)
			break;
		json_array_append(list, row);
	}
	return list;
}

/* A reader that missed events gets the figures alone; the actions are those of /api/actions. */
static json_t *snapshot(bool words, uint64_t guild, json_t *first, void *arg)
{
	const struct web_conf *c = web_shown(arg);

	(void)words;
	(void)guild;
	return json_pack("{s:o,s:o}", "actions", fit_actions(first), "stats", c->statsh(c->arg));
}

static json_t *state(bool words, uint64_t guild, void *arg)
{
	const struct web_conf *c = web_shown(arg);

	(void)words;
	(void)guild;
	return c->statsh(c->arg);
}

static const char *message_kind(const char *reason)
{
	static const struct {
		const char *reason, *kind;
	} of[] = {
#define ROW_(reason, kind) {#reason, #kind},
		MESSAGE_ACTIONS(ROW_)
#undef ROW_
	};

	for (size_t i = 0; reason && i < sizeof of / sizeof of[0]; i++)
		if (strcmp(reason, of[i].reason) == 0)
			return of[i].kind;
	return "reply_skipped";
}

static const char *kind_of(const struct bus_event *ev)
{
	switch (ev->type) {
	case EVENT_TEXT_MESSAGE:
		return message_kind(ev->text.reason);
	case EVENT_TURN:
		return ev->turn.reason && strcmp(ev->turn.reason, "answered") == 0
			       ? "voice_turn_out"
			       : "reply_skipped";
	case EVENT_TOOL_CALLED:
		return "llm_tool_call";
	case EVENT_SESSION_STARTED:
		return "voice_session_start";
	case EVENT_SESSION_OVER:
		return "voice_session_end";
	default:
		return bus_event_info(ev->type)->name;
	}
}

static json_t *id_json(uint64_t id)
{
	return id ? json_sprintf("%llu", (unsigned long long)id) : json_null();
}

static json_t *detail_json(const struct bus_event *ev)
{
	switch (ev->type) {
	case EVENT_TURN:
		return json_pack("{s:I,s:s?,s:o}", "turn", (json_int_t)ev->turn.turn, "reason",
				 ev->turn.reason, "firstAudioMs",
				 ev->turn.first_audio_ms < 0
					 ? json_null()
					 : json_integer((json_int_t)ev->turn.first_audio_ms));
	case EVENT_TOOL_CALLED:
		return json_pack("{s:s?,s:s?,s:I,s:I}", "tool", ev->tool.name, "state",
				 ev->tool.code, "lastedMs", (json_int_t)ev->tool.lasted_ms, "call",
				 (json_int_t)ev->tool.call);
	case EVENT_SESSION_STARTED:
		return json_object();
	case EVENT_SESSION_OVER:
		return json_pack("{s:s?}", "why", ev->session.why);
	default:
		return bus_event_json(ev, false);
	}
}

static uint64_t channel_of(const struct bus_event *ev)
{
	return ev->type == EVENT_TURN		? ev->turn.channel
	       : ev->type == EVENT_TOOL_CALLED	? ev->tool.channel
	       : ev->type == EVENT_TEXT_MESSAGE ? ev->text.channel
	       : ev->type == EVENT_SESSION_OVER || ev->type == EVENT_SESSION_STARTED
		       ? ev->session.channel
		       : 0;
}

/* A session is known by its start, as its row is. */
static uint64_t time_of(const struct bus_event *ev)
{
	return ev->type == EVENT_SESSION_STARTED ? ev->session.session : ev->at_ms;
}

/* As the rows of /api/actions. What a turn cost is known there alone: its providers tell later. */
static json_t *event(const struct bus_event *ev, bool words, void *arg)
{
	const char *content = ev->type == EVENT_TURN	      ? ev->turn.said
			      : ev->type == EVENT_TOOL_CALLED ? ev->tool.summary
							      : NULL;
	bool shown = words && content && *content && !bus_event_is_transient(ev);
	char at[ISO_TIME_SIZE];
	struct action action = {
		.kind = kind_of(ev), .at_ms = time_of(ev), .guild = ev->guild, .user = ev->user};
	json_t *details;

	(void)arg;
	if (!words && bus_event_info(ev->type)->audience < EVENT_FOR_GUILD)
		return NULL;
	details = detail_json(ev);
	action.details = details;
	iso_time_format(at, action.at_ms);
	return json_pack("{s:o,s:s,s:o,s:o,s:o,s:o,s:s,s:s?,s:o,s:o}", "id", action_id(&action),
			 "createdAt", at, "guildId", id_json(ev->guild), "channelId",
			 id_json(channel_of(ev)), "messageId",
			 id_json(ev->type == EVENT_TEXT_MESSAGE ? ev->text.message : 0), "userId",
			 id_json(ev->user), "kind", action.kind, "content", shown ? content : NULL,
			 "metadata", details, "usdCost",
			 ev->type == EVENT_TOOL_CALLED ? json_real((double)ev->tool.nano / 1e9)
						       : json_null());
}

int web_make_activity_stream(struct web *w, bool words, struct state_stream **out)
{
	struct state_stream_conf conf = {
		.env = web_env(w),
		.bus = web_shown(w)->bus,
		.mask = BUS_MASK(EVENT_TURN) | BUS_MASK(EVENT_TOOL_CALLED) |
			BUS_MASK(EVENT_SESSION_STARTED) | BUS_MASK(EVENT_SESSION_OVER) |
			BUS_MASK(EVENT_COMMAND) | BUS_MASK(EVENT_FAULT) | BUS_MASK(EVENT_FAILOVER) |
			BUS_MASK(EVENT_ENGINE_REFUSED) | BUS_MASK(EVENT_MEMORY_WRITTEN) |
			BUS_MASK(EVENT_TEXT_MESSAGE),
		.words = words,
		.snapshot = "activity_snapshot",
		.state = "stats_update",
		.event = "action_event",
		.snapshoth = snapshot,
		.stateh = state,
		.eventh = event,
		.arg = w};

	return state_stream_alloc(out, &conf);
}

static void join(struct web *w, struct http_exchange *x, enum web_role role, json_t *actions)
{
	struct state_stream *s = web_stream(w, WEB_STREAM_ACTIVITY, role >= WEB_OPERATOR);

	if (web_refuse_stream(w, x))
		return;
	if (state_stream_join(s, x, http_request_head(x), 0, actions))
		http_reply(x, 503, NULL, NULL, 0);
}

static void join_with(struct web *w, struct http_exchange *x, enum web_role role,
		      const struct store_document *document)
{
	json_t *actions = json_loads(document->document, 0, NULL);

	join(w, x, role, actions);
	json_decref(actions);
}

void web_activity_events_get(struct web *w, const struct web_request *r)
{
	struct action_query q = {.limit = SNAPSHOT_ACTIONS};

	/* It tells of all servers. /api/events has those of one. */
	if (r->scope)
		web_refuse(r->x, WEB_FORBIDDEN);
	else if (web_shown(w)->store)
		list(w, r, &q, join_with);
	else
		join(w, r->x, r->role, NULL);
}
