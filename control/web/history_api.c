/* What pages read over HTTP: the rooms now, the history of the store, and who waits for it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/store/store.h"
#include "control/web/inside.h"
#include "control/web/list_query.h"
#include "control/web/live_turns.h"
#include "control/web/live_voice.h"
#include "ipc/env.h"

enum { READS_MAX = 16, DAY_MS = 86400000 };

/* One that waits for the store. */
struct read {
	struct reads *all;
	struct http_exchange *x; /* NULL: its client is gone */
	enum web_role role;
	read_done_h *doneh;
	bool used;
};

struct reads {
	struct web *web;
	struct store *store;
	struct read v[READS_MAX];
};

int reads_alloc(struct reads **out, struct web *w, struct store *store)
{
	struct reads *r = calloc(1, sizeof *r);

	if (!r)
		return ENOMEM;
	r->web = w;
	r->store = store;
	for (unsigned i = 0; i < READS_MAX; i++)
		r->v[i].all = r;
	*out = r;
	return 0;
}

struct reads *reads_free(struct reads *r)
{
	if (!r)
		return NULL;
	for (unsigned i = 0; r->store && i < READS_MAX; i++)
		store_forget(r->store, &r->v[i]);
	free(r);
	return NULL;
}

struct store *web_reads_store(const struct web *w)
{
	return web_reads(w)->store;
}

static void lose_read(struct http_exchange *x, void *arg)
{
	struct read *read = arg;

	(void)x;
	read->x = NULL;
}

void web_on_read(int err, const struct store_document *document, void *arg)
{
	struct read *read = arg;
	struct http_exchange *x = read->x;

	read->used = false;
	read->x = NULL;
	if (!x)
		return;
	http_on_gone(x, NULL, NULL);
	if (err)
		web_refuse(x, err == ENOENT ? WEB_NO_SUCH_TURN : WEB_NO_HISTORY);
	else if (read->doneh)
		read->doneh(read->all->web, x, read->role, document);
	else
		http_reply(x, 200, "application/json", document->document,
			   strlen(document->document));
}

struct read *web_read_begin(struct web *w, const struct web_request *r, read_done_h *h)
{
	struct reads *reads = web_reads(w);

	if (!reads->store) {
		web_refuse(r->x, WEB_NO_HISTORY);
		return NULL;
	}
	for (unsigned i = 0; i < READS_MAX; i++) {
		struct read *read = &reads->v[i];

		if (read->used)
			continue;
		read->used = true;
		read->x = r->x;
		read->role = r->role;
		read->doneh = h;
		return read;
	}
	web_refuse(r->x, WEB_BUSY);
	return NULL;
}

void web_read_begun(const struct web_request *r, struct read *read, int err)
{
	if (!err) {
		http_on_gone(r->x, lose_read, read);
		return;
	}
	read->used = false;
	web_refuse(r->x, err == ENOSPC ? WEB_BUSY : WEB_NO_HISTORY);
}

void web_read(struct web *w, const struct web_request *r, const struct store_query *q,
	      read_done_h *h)
{
	struct read *read = web_read_begin(w, r, h);

	if (read)
		web_read_begun(r, read,
			       store_read_history(web_reads(w)->store, q, web_on_read, read));
}

static void list(struct web *w, const struct web_request *r, enum store_reading what)
{
	struct list_query q;

	if (!list_query_read(&q, r->head)) {
		web_refuse(r->x, WEB_BAD_LIST_QUERY);
		return;
	}
	/* Of costs: today's. */
	if (what == STORE_COSTS && !q.since_ms)
		q.since_ms = env_wall_ms(web_env(w)) / DAY_MS * DAY_MS;
	web_read(w, r,
		 &(struct store_query){.what = what,
				       .guild = q.guild,
				       .user = q.user,
				       .reason = q.reason,
				       .since_ms = q.since_ms,
				       .row = q.cursor,
				       .most = q.limit,
				       .timeline = q.timeline,
				       .words = r->role >= WEB_OPERATOR,
				       .operators = r->role >= WEB_OPERATOR},
		 NULL);
}

void web_turns_get(struct web *w, const struct web_request *r)
{
	list(w, r, STORE_TURNS);
}

void web_turn_get(struct web *w, const struct web_request *r)
{
	web_read(w, r,
		 &(struct store_query){
			 .what = STORE_TURN, .row = r->id, .words = r->role >= WEB_OPERATOR},
		 NULL);
}

void web_errors_get(struct web *w, const struct web_request *r)
{
	list(w, r, STORE_ERRORS);
}

void web_costs_get(struct web *w, const struct web_request *r)
{
	list(w, r, STORE_COSTS);
}

void web_audit_get(struct web *w, const struct web_request *r)
{
	list(w, r, STORE_AUDIT);
}

void web_tool_events_get(struct web *w, const struct web_request *r)
{
	list(w, r, STORE_CALLS);
}

void web_past_sessions_get(struct web *w, const struct web_request *r)
{
	list(w, r, STORE_SESSIONS);
}

void web_reasons_get(struct web *w, const struct web_request *r)
{
	const struct web_conf *c = web_shown(w);

	web_json(r->x, 200, c->reasonsh(c->arg));
}

/* Of the calls of tools in this server, those that run. */
static json_t *running_calls(const struct web *w, uint64_t guild)
{
	json_t *all = live_voice_calls(web_voice(w), guild), *list = json_array(), *call;
	size_t i;

	json_array_foreach(all, i, call)
	{
		if (json_is_null(json_object_get(call, "completedAt")))
			json_array_append(list, call);
	}
	json_decref(all);
	return list;
}

static void add_turns(const struct web *w, json_t *room, bool words)
{
	const char *id = json_string_value(json_object_get(room, "guild"));
	uint64_t guild = id ? strtoull(id, NULL, 10) : 0;

	/* The people of the call compare it; who only sees figures need not. */
	if (!words && json_is_object(json_object_get(room, "secure")))
		json_object_set_new(json_object_get(room, "secure"), "code", json_null());
	json_object_set_new(room, "calls", running_calls(w, guild));
	json_object_set_new(room, "turns", live_turns_current(web_turns(w), guild, words));
	json_object_set_new(room, "lastTurn", live_turns_last(web_turns(w), guild, words));
}

void web_rooms_get(struct web *w, const struct web_request *r)
{
	const struct web_conf *c = web_shown(w);
	bool words = r->role >= WEB_OPERATOR;
	json_t *rooms = c->roomsh(c->arg), *room;
	size_t i;

	json_array_foreach(rooms, i, room) add_turns(w, room, words);
	web_json(r->x, 200, rooms ? json_pack("{s:o}", "rooms", rooms) : NULL);
}
