/* GET /api/rooms. Its answer is kept for a moment: a thousand pages may ask at once, and each would
 * have the same rooms described anew. It is kept for each kind of reader apart: with words or
 * without, of all servers or of the one whose members sign in with Discord (all its channels, or
 * those that everybody may enter), and by the room that
 * the page shows: of a hundred rooms it has all of that one, and of the others what its list
 * tells. A page asks
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
#include "proto/discord.h"

enum { ROOMS_FRESH_MS = 40 };

enum { KINDS = 16 };

/* `whole`: this room's server, 0 for all of them. */
struct kind {
	bool words, open;
	uint64_t scope, whole;
};

struct rooms_kept {
	struct kept {
		char *text; /* NULL: none */
		struct kind kind;
		uint64_t made; /* ns */
	} v[KINDS];
};

/* Notes of screens in it tell what people showed. */
static void forget(struct kept *v)
{
	if (v->text)
		explicit_bzero(v->text, strlen(v->text));
	free(v->text);
	v->text = NULL;
}

void rooms_forget(struct rooms_kept *k)
{
	for (unsigned i = 0; i < KINDS; i++)
		forget(&k->v[i]);
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

static uint64_t guild_of(const json_t *room)
{
	const char *id = json_string_value(json_object_get(room, "guild"));

	return id ? strtoull(id, NULL, 10) : 0;
}

void web_hide_notes(json_t *room)
{
	json_t *screens = json_object_get(room, "screens"), *screen, *note;
	size_t i, k;

	json_array_foreach(screens, i, screen)
	{
		json_t *notes = json_object_get(screen, "notes");

		json_array_foreach(notes, k, note)
		{
			json_object_set_new(note, "text", json_null());
		}
	}
}

static void add_turns(const struct web *w, json_t *room, bool words)
{
	uint64_t guild = guild_of(room);

	/* The people of the call compare it; who only sees figures need not. */
	if (!words && json_is_object(json_object_get(room, "secure")))
		json_object_set_new(json_object_get(room, "secure"), "code", json_null());
	if (!words)
		web_hide_notes(room);
	json_object_set_new(room, "calls", running_calls(w, guild));
	json_object_set_new(room, "turns", live_turns_current(web_turns(w), guild, words));
	json_object_set_new(room, "lastTurn", live_turns_last(web_turns(w), guild, words));
}

/* Without most of its bytes, of which a list of rooms tells nothing. */
static void shorten(json_t *room)
{
	static const char *const parts[] = {"brainTools", "secure", "lastTurn"};
	json_t *screen;
	size_t k;

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		json_object_set_new(room, parts[i], json_null());
	json_array_foreach(json_object_get(room, "screens"), k, screen)
	{
		json_object_del(screen, "notes");
	}
	json_object_set_new(room, "turns", json_array());
	json_object_set_new(room, "calls", json_array());
}

static char *write_rooms(const struct web *w, const struct kind *kind)
{
	json_t *rooms = web_seen_rooms(w, kind->scope, kind->open), *room, *all;
	char *text;
	size_t i;

	json_array_foreach(rooms, i, room)
	{
		if (kind->whole && guild_of(room) != kind->whole)
			shorten(room);
		else
			add_turns(w, room, kind->words);
	}
	all = rooms ? json_pack("{s:o}", "rooms", rooms) : NULL;
	text = web_text(all);
	json_decref(all);
	return text;
}

static bool read_kind(const struct web_request *r, struct kind *kind)
{
	char text[24];

	*kind = (struct kind){.words = r->role >= WEB_OPERATOR, .scope = r->scope, .open = r->open};
	return !http_head_has_query(r->head, "whole") ||
	       (http_head_query(r->head, "whole", text, sizeof text) &&
		discord_snowflake(text, &kind->whole));
}

/* The answer for this kind, or the one that was made first. */
static struct kept *find_kept(struct rooms_kept *k, const struct kind *kind)
{
	struct kept *first = &k->v[0];

	for (unsigned i = 0; i < KINDS; i++) {
		struct kept *v = &k->v[i];

		if (v->kind.words == kind->words && v->kind.open == kind->open &&
		    v->kind.scope == kind->scope && v->kind.whole == kind->whole)
			return v;
		if (v->made < first->made)
			first = v;
	}
	forget(first);
	*first = (struct kept){.kind = *kind};
	return first;
}

void web_rooms_get(struct web *w, const struct web_request *r)
{
	uint64_t now = env_now(web_env(w));
	struct kind kind;
	struct kept *v;

	if (!read_kind(r, &kind)) {
		web_refuse(r->x, WEB_BAD_WHOLE);
		return;
	}
	v = find_kept(web_rooms(w), &kind);
	if (!v->text || now - v->made >= ROOMS_FRESH_MS * NS_PER_MS) {
		forget(v);
		v->text = write_rooms(w, &kind);
		v->made = now;
	}
	if (v->text)
		http_reply(r->x, 200, "application/json", v->text, strlen(v->text));
	else
		http_reply(r->x, 503, NULL, NULL, 0);
}
