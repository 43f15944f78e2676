/* GET /api/rooms. Its answer is kept for a moment: a thousand pages may ask at once, and each would
 * have the same rooms described anew. It is kept for each kind of reader apart: with words or
 * without, of all servers or of the one whose members sign in with Discord. A page asks
 * ROOMS_FRESH_MS or more after an event has told it of a change (page.js), so it never gets an
 * answer from before that change. Who changes something and asks at once gets the change, because
 * whatever an event tells ends what is kept. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "control/web/inside.h"
#include "control/web/live_turns.h"
#include "control/web/live_voice.h"
#include "ipc/env.h"
#include "proto/base/time.h"

enum { ROOMS_FRESH_MS = 40 };

enum { KINDS = 4 };

struct rooms_kept {
	struct {
		char *text; /* NULL: none */
		uint64_t scope;
		uint64_t made; /* ns */
	} v[KINDS];
};

void rooms_forget(struct rooms_kept *k)
{
	for (unsigned i = 0; i < KINDS; i++) {
		free(k->v[i].text);
		k->v[i].text = NULL;
	}
}

static void on_event(const struct bus_event *ev, void *arg)
{
	(void)ev;
	rooms_forget(arg);
}

int rooms_alloc(struct rooms_kept **out, struct bus *bus)
{
	struct rooms_kept *k = calloc(1, sizeof *k);
	int err = k ? bus_subscribe(bus, BUS_ALL, on_event, k) : ENOMEM;

	if (err)
		free(k);
	else
		*out = k;
	return err;
}

struct rooms_kept *rooms_free(struct rooms_kept *k)
{
	if (!k)
		return NULL;
	rooms_forget(k);
	free(k);
	return NULL;
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

static char *write_rooms(const struct web *w, uint64_t scope, bool words)
{
	const struct web_conf *c = web_shown(w);
	json_t *rooms = web_only(c->roomsh(c->arg), "guild", scope), *room, *all;
	char *text;
	size_t i;

	json_array_foreach(rooms, i, room) add_turns(w, room, words);
	all = rooms ? json_pack("{s:o}", "rooms", rooms) : NULL;
	text = web_text(all);
	json_decref(all);
	return text;
}

void web_rooms_get(struct web *w, const struct web_request *r)
{
	struct rooms_kept *k = web_rooms(w);
	bool words = r->role >= WEB_OPERATOR;
	unsigned kind = words + 2 * (r->scope != 0);
	uint64_t now = env_now(web_env(w));

	if (!k->v[kind].text || k->v[kind].scope != r->scope ||
	    now - k->v[kind].made >= ROOMS_FRESH_MS * NS_PER_MS) {
		free(k->v[kind].text);
		k->v[kind].text = write_rooms(w, r->scope, words);
		k->v[kind].scope = r->scope;
		k->v[kind].made = now;
	}
	if (k->v[kind].text)
		http_reply(r->x, 200, "application/json", k->v[kind].text, strlen(k->v[kind].text));
	else
		http_reply(r->x, 503, NULL, NULL, 0);
}
