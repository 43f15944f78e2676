#include "control/web/live_turns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "proto/base/iso_time.h"

struct entry {
	uint64_t guild, turn;
	bool ended;
	struct bus_event *ev; /* own */
};

struct live_turns {
	struct entry v[LIVE_TURNS_MAX]; /* the oldest first */
	unsigned n;
};

static void remove_at(struct live_turns *t, unsigned i)
{
	free(t->v[i].ev);
	memmove(&t->v[i], &t->v[i + 1], (--t->n - i) * sizeof t->v[0]);
}

/* Leaves figures alone: the turn's words and decisions are those of the history. */
static void shorten(struct live_turns *t, unsigned i)
{
	struct bus_event lean = *t->v[i].ev, *copy;

	lean.turn.heard = lean.turn.said = lean.turn.segments = lean.turn.why = NULL;
	copy = bus_event_copy(&lean, NULL);
	if (!copy) {
		remove_at(t, i);
		return;
	}
	free(t->v[i].ev);
	t->v[i].ev = copy;
}

/* The turn itself. When one ends, the one before it is shortened, and the oldest gives way. */
static void remove_replaced(struct live_turns *t, const struct bus_event *ev)
{
	unsigned newer = 0;

	for (unsigned i = t->n; i-- > 0;) {
		const struct entry *e = &t->v[i];

		if (e->guild != ev->guild)
			continue;
		if (e->turn == ev->turn.turn)
			remove_at(t, i);
		else if (e->ended && ev->type == EVENT_TURN && ++newer == LIVE_TURNS_RECENT)
			remove_at(t, i);
		else if (e->ended && ev->type == EVENT_TURN && newer == 1)
			shorten(t, i);
	}
}

/* The oldest one that ended, or the oldest. */
static unsigned least(const struct live_turns *t)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->v[i].ended)
			return i;
	return 0;
}

static void remove_guild(struct live_turns *t, uint64_t guild)
{
	for (unsigned i = 0; i < t->n;)
		if (t->v[i].guild == guild)
			remove_at(t, i);
		else
			i++;
}

static void on_event(const struct bus_event *ev, void *arg)
{
	struct live_turns *t = arg;
	struct bus_event lean = *ev, *copy;

	if (ev->type == EVENT_SESSION_STARTED || ev->type == EVENT_SESSION_OVER) {
		remove_guild(t, ev->guild);
		return;
	}
	remove_replaced(t, ev);
	if (ev->type == EVENT_TURN && ev->turn.transient)
		lean.turn.heard = lean.turn.said = lean.turn.segments = NULL;
	copy = bus_event_copy(&lean, NULL);
	if (!copy)
		return;
	if (t->n == LIVE_TURNS_MAX)
		remove_at(t, least(t));
	t->v[t->n++] = (struct entry){.guild = ev->guild,
				      .turn = ev->turn.turn,
				      .ended = ev->type == EVENT_TURN,
				      .ev = copy};
}

int live_turns_alloc(struct live_turns **out, struct bus *bus)
{
	struct live_turns *t = calloc(1, sizeof *t);
	int err = t ? bus_subscribe(bus,
				    BUS_MASK(EVENT_TURN_ADMITTED) | BUS_MASK(EVENT_TURN_SPEAKING) |
					    BUS_MASK(EVENT_TURN) | BUS_MASK(EVENT_SESSION_STARTED) |
					    BUS_MASK(EVENT_SESSION_OVER),
				    on_event, t)
		    : ENOMEM;

	if (err)
		free(t);
	else
		*out = t;
	return err;
}

void live_turns_forget(struct live_turns *t)
{
	while (t->n)
		remove_at(t, t->n - 1);
}

struct live_turns *live_turns_free(struct live_turns *t)
{
	if (!t)
		return NULL;
	live_turns_forget(t);
	free(t);
	return NULL;
}

/* ---- as JSON ---- */

static json_t *text_json(const char *text)
{
	return text && *text ? json_string(text) : json_null();
}

static json_t *maybe_json(int64_t v)
{
	return v < 0 ? json_null() : json_integer((json_int_t)v);
}

static json_t *why_json(const char *why)
{
	json_t *list = json_loads(why ? why : "", 0, NULL);

	if (json_is_array(list))
		return list;
	json_decref(list);
	return json_array();
}

static json_t *turn_json(const struct bus_event *ev, bool words)
{
	const struct event_turn *t = &ev->turn;
	char at[ISO_TIME_SIZE];

	iso_time_format(at, ev->at_ms);
	return json_pack("{s:I,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "turn",
			 (json_int_t)t->turn, "stage", t->stage ? t->stage : "", "at", at, "user",
			 ev->user ? json_sprintf("%llu", (unsigned long long)ev->user)
				  : json_null(),
			 "name", text_json(t->name), "heard", text_json(words ? t->heard : NULL),
			 "said", text_json(words ? t->said : NULL), "reason", text_json(t->reason),
			 "text", text_json(t->text), "firstAudioMs", maybe_json(t->first_audio_ms),
			 "why", why_json(t->why));
}

static bool shows_words(const struct bus_event *ev, enum live_words words)
{
	return words == LIVE_WORDS || (words == LIVE_KEPT_WORDS && !bus_event_is_transient(ev));
}

json_t *live_turns_current(const struct live_turns *t, uint64_t guild, enum live_words words)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < t->n; i++)
		if (t->v[i].guild == guild && !t->v[i].ended)
			json_array_append_new(
				list, turn_json(t->v[i].ev, shows_words(t->v[i].ev, words)));
	return list;
}

json_t *live_turns_last(const struct live_turns *t, uint64_t guild, bool words)
{
	for (unsigned i = t->n; i-- > 0;)
		if (t->v[i].guild == guild && t->v[i].ended)
			return turn_json(t->v[i].ev, words);
	return json_null();
}

json_t *live_turns_recent(const struct live_turns *t, uint64_t guild, bool words)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < t->n; i++)
		if (t->v[i].guild == guild && t->v[i].ended)
			json_array_append_new(list, turn_json(t->v[i].ev, words));
	return list;
}
