#include "control/metrics/counters.h"

#include <string.h>

#include "control/events/events.h"

static const struct {
	const char *name, *text;
} rows[] = {
#define X(NAME, name, text) {#name, text},
	COUNTERS(X)
#undef X
};

void counter_add(struct counters *c, enum counter counter)
{
	c->v[counter]++;
}

/* A speculative answer goes on in the place of its question, which was admitted before. */
static void take_admitted(struct counters *c, const struct event_turn *t)
{
	if (!t->why || !strstr(t->why, "\"speculative_start\""))
		counter_add(c, COUNTER_TURNS_ADMITTED);
}

static void take_turn(struct counters *c, const struct event_turn *t)
{
	if (bus_turn_is_part(t->reason))
		return;
	counter_add(c, COUNTER_TURNS_ENDED);
	if (t->reason && strcmp(t->reason, "answered") == 0)
		counter_add(c, COUNTER_TURNS_ANSWERED);
}

void counters_take_event(struct counters *c, const struct bus_event *ev)
{
	static const struct {
		enum event_type type;
		enum counter counter;
	} plain[] = {
		{EVENT_READY, COUNTER_LOGINS},
		{EVENT_RESUMED, COUNTER_LOGINS},
		{EVENT_COMMAND, COUNTER_COMMANDS},
		{EVENT_UTTERANCE, COUNTER_TRANSCRIPTS},
		{EVENT_TURN_SPEAKING, COUNTER_ANSWERS_SPOKEN},
		{EVENT_ENGINE_UP, COUNTER_ENGINES_UP},
		{EVENT_ENGINE_DOWN, COUNTER_ENGINES_DOWN},
		{EVENT_FAILOVER, COUNTER_FAILOVERS},
		{EVENT_TOLD, COUNTER_TOLD},
		{EVENT_SOUND_PLAYED, COUNTER_SOUNDS_PLAYED},
		{EVENT_SOUND_DROPPED, COUNTER_SOUNDS_DROPPED},
	};

	for (unsigned i = 0; i < sizeof plain / sizeof plain[0]; i++)
		if (ev->type == plain[i].type)
			counter_add(c, plain[i].counter);
	if (ev->type == EVENT_MEDIAD_LINK)
		counter_add(c, ev->link.up ? COUNTER_MEDIAD_UP : COUNTER_MEDIAD_DOWN);
	if (ev->type == EVENT_CALL_STATE && ev->call.phase && strcmp(ev->call.phase, "up") == 0)
		counter_add(c, COUNTER_CALLS_UP);
	if (ev->type == EVENT_TURN_ADMITTED)
		take_admitted(c, &ev->turn);
	if (ev->type == EVENT_TURN)
		take_turn(c, &ev->turn);
	if (ev->type == EVENT_FAULT && !ev->fault.ended)
		counter_add(c, COUNTER_FAULTS);
}

const char *counter_name(enum counter counter)
{
	return rows[counter].name;
}

const char *counter_text(enum counter counter)
{
	return rows[counter].text;
}

json_t *counters_json(const struct counters *c)
{
	json_t *j = json_object();

	for (unsigned i = 0; i < COUNTER_COUNT; i++)
		json_object_set_new(j, rows[i].name, json_integer((json_int_t)c->v[i]));
	return j;
}

void counters_read(const json_t *j, struct counters *out)
{
	for (unsigned i = 0; i < COUNTER_COUNT; i++) {
		json_int_t n = json_integer_value(json_object_get(j, rows[i].name));

		out->v[i] = n > 0 ? (uint64_t)n : 0;
	}
}
