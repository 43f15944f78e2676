#include "control/room/answer/thought.h"

#include <stdio.h>

#include "control/room/inside.h"
#include "control/room/floor/music.h"
#include "control/room/hearing/captures.h"
#include "control/room/turn/turn_queue.h"
#include "proto/base/time.h"

enum { GREET_MS = 1000 };

static const char greeting[] =
	"(You have just come into the room. Say a short hello to who is there.)";
static const char thought[] = "(Nobody has said anything for a while. If there is something worth "
			      "saying, say it in one short "
			      "sentence.)";

/* The conditions of a thought besides time. */
static bool may_speak(const struct room *room)
{
	if (room->active || !room->context.up || room->context.muted || room->context.guest ||
	    !room_people(room) || room->context.settings->command_only ||
	    !room_music_idle(&room->music) || room_live_captures(room))
		return false;
	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS; i = room_turn_next(room, i + 1))
		if (room->turn[i].phase > ROOM_PHASE_HEARING &&
		    room->turn[i].phase < ROOM_PHASE_ENDED)
			return false;
	return true;
}

/* splitmix64 of values that a replay knows as well. */
static bool draw_thought(const struct room *room)
{
	uint64_t z = room->context.now + room->thought.drawn * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	z ^= z >> 31;
	return z % 100 < room->context.settings->thought_eagerness;
}

static bool thoughts_enabled(const struct room *room)
{
	return room->context.settings->volition != SETTINGS_VOLITION_OFF &&
	       room->context.settings->thought_eagerness && !room->context.guest;
}

static void speak_thought(struct room *room, const char *what, enum room_rule rule)
{
	struct room_turn *t = room_turn_new_prompted(room, what);

	if (!t)
		return;
	room_turn_decide(t, rule, true,
			 (int64_t)((room->context.now - room->thought.quiet_at) / NS_PER_MS), 0);
	room_answer_ask(room, t);
	if (room->context.settings->interruptions != SETTINGS_INTERRUPT_NONE)
		t->policy = room_interruption_policy_own(ROOM_SCOPE_ANYONE, 0);
	room->thought.spoken++;
}

void room_thought_on_speech(struct room *room)
{
	struct room_turn *a = room->active;

	room->thought.greeted = true;
	room->thought.quiet_at = room->context.now;
	if (a && !a->user && !a->first_audio_at)
		room_turn_cancel(room, a, ROOM_REASON_THOUGHT_WITHDRAWN);
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* When the next greeting or thought is due; `greets` tells which. */
static uint64_t next_due(const struct room *room, bool *greets)
{
	const struct room_thought *th = &room->thought;
	uint64_t quiet = later_of(th->quiet_at, later_of(room->free_at, room_session_up_at(room)));
	uint64_t at = UINT64_MAX;

	*greets = !th->greeted && room->context.settings->greet && !room->context.guest;
	if (!room->context.up)
		return at;
	if (*greets)
		at = room_session_up_at(room) + GREET_MS * NS_PER_MS;
	else if (thoughts_enabled(room) && room_people(room))
		at = quiet + room->context.settings->thought_silence_s * NS_PER_S;
	return at == UINT64_MAX ? at : later_of(at, th->look_at);
}

void room_thought_tick(struct room *room)
{
	struct room_thought *th = &room->thought;
	const struct settings *s = room->context.settings;
	bool greets;

	if (room->context.now < next_due(room, &greets))
		return;
	th->look_at = room->context.now + s->retry_ms * NS_PER_MS;
	if (!may_speak(room))
		return;
	if (greets) {
		th->greeted = true;
		speak_thought(room, greeting, ROOM_RULE_GREETING);
		return;
	}
	if (room_floor_volition_in(&room->floor, s, room->context.now))
		return;
	th->drawn++;
	th->look_at = room->context.now + s->thought_interval_s * NS_PER_S;
	if (!draw_thought(room))
		return;
	room_floor_apply(&room->floor, s, ROOM_FLOOR_OFFER_VOLITION, 0, room->context.now);
	speak_thought(room, thought, ROOM_RULE_THOUGHT);
}

uint64_t room_thought_deadline(const struct room *room)
{
	bool greets;

	return next_due(room, &greets);
}

void room_thought_restart(struct room *room)
{
	room->thought.quiet_at = room->context.now;
}
