#include "tests/room/states.h"

#include <string.h>

#include "control/room/inside.h"

static const struct {
	const char *name, *states, *square;
} machines[] = {
#define M(NAME, name, states, square) {#name, states, square},
	ROOM_MACHINES(M)
#undef M
};

static const char *const pairs[STATES_MACHINES] = {
#define P(NAME, name, square) [STATES_##NAME] = square,
	ROOM_PAIRS(P)
#undef P
};

static const struct {
	char letter;
	const char *text;
} never[] = {
#define N(letter, text) {letter, text},
	ROOM_NEVER(N)
#undef N
};

const char *states_machine(unsigned machine)
{
	return machines[machine].name;
}

unsigned states_count(unsigned machine)
{
	unsigned n = 1;

	for (const char *p = machines[machine].states; *p; p++)
		n += *p == ' ';
	return n;
}

void states_name(unsigned machine, unsigned state, char name[STATES_NAME])
{
	const char *p = machines[machine].states;
	size_t n;

	for (; state; state--)
		p += strcspn(p, " ") + 1;
	n = strcspn(p, " ");
	n = n < STATES_NAME ? n : STATES_NAME - 1;
	memcpy(name, p, n);
	name[n] = '\0';
}

static const char *text_of(char letter)
{
	for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
		if (never[i].letter == letter)
			return never[i].text;
	return NULL;
}

const char *states_never(unsigned machine, unsigned from, unsigned to)
{
	return text_of(machines[machine].square[from * states_count(machine) + to]);
}

bool states_paired(unsigned machine)
{
	return pairs[machine];
}

const char *states_never_both(unsigned machine, unsigned output, unsigned state)
{
	return text_of(pairs[machine][output * states_count(machine) + state]);
}

/* ---- what is there ---- */

static uint8_t retry_state(const struct room_retry *l)
{
	if (!l->asked_at)
		return 0;
	if (l->heard)
		return 4;
	return l->recovered ? 3 : l->retries ? 2 : 1;
}

static uint8_t session(const struct room *room)
{
	if (room->context.over)
		return 3;
	if (room->session.lost_at)
		return 2;
	return room->session.up_at != 0;
}

static uint8_t plan(const struct room *room)
{
	return room->turns.active && room->reply.planned &&
			       room->reply.turn == room->turns.active->id
		       ? (uint8_t)(1 + room->reply.plan.phase)
		       : 0;
}

static uint8_t tool(const struct room_followup *f, uint64_t now)
{
	if (room_followup_tools_until(f, now))
		return 1;
	return room_followup_tool_owner(f, now) ? 2 : 0;
}

void states_of(const struct room *room, uint64_t now, uint8_t at[STATES_MACHINES])
{
	const struct room_instructions *f = &room->instructions;

	at[STATES_OUTPUT] = (uint8_t)room_output_state_now(&room->context).phase;
	at[STATES_LEVEL] = (uint8_t)room->barge_in.level.lowered;
	at[STATES_MUSIC] = (uint8_t)room->music.phase;
	at[STATES_FLOOR] = room_floor_engaged(&room->floor, room->context.settings, now);
	at[STATES_RETRY] = retry_state(&room->retry);
	at[STATES_SPECULATIVE] = room->speculative.turn != 0;
	at[STATES_INSTRUCTIONS] = (uint8_t)(f->dirty + 2 * f->in_flight);
	at[STATES_SESSION] = session(room);
	at[STATES_BREAKER] = room->classifier.breaker.open_until > now;
	at[STATES_RECORDINGS] = (uint8_t)((room->transcripts.recordings.running.n > 0) +
					  (room->transcripts.recordings.waiting.n > 0));
	at[STATES_CHOICE] = room_choice_open(&room->choice, now);
	at[STATES_TOOL] = tool(&room->followup, now);
	at[STATES_PLAN] = plan(room);
}
