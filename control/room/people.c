#include "control/room/people.h"

#include <strings.h>

#include "control/room/hearing/long_capture.h"
#include "control/room/inside.h"
#include "control/room/turn/segment.h"

struct room_speaker *room_speaker(struct room *room, uint64_t user)
{
	for (unsigned i = 0; i < room->places; i++)
		if (room->speaker[i].used && room->speaker[i].user == user)
			return &room->speaker[i];
	return NULL;
}

unsigned room_people(const struct room *room)
{
	unsigned n = 0;

	for (unsigned i = 0; i < room->places; i++)
		n += room->speaker[i].used && !room->speaker[i].is_bot;
	return n;
}

unsigned room_people_present(const struct room_context *context)
{
	return room_people(room_of(context));
}

const char *room_person_next(const struct room_context *context, unsigned *place)
{
	const struct room *room = room_of(context);

	while (*place < room->places) {
		const struct room_speaker *sp = &room->speaker[(*place)++];

		if (sp->used && !sp->is_bot)
			return sp->name;
	}
	return NULL;
}

const char *room_person_name(const struct room_context *context, uint64_t user)
{
	const struct room_speaker *sp = room_speaker(room_of(context), user);

	return sp ? sp->name : NULL;
}

uint64_t room_person_by_name(const struct room_context *context, const char *name)
{
	const struct room *room = room_of(context);
	uint64_t user = 0;

	for (unsigned i = 0; i < room->places; i++) {
		const struct room_speaker *sp = &room->speaker[i];

		if (!sp->used || sp->is_bot || strcasecmp(sp->name, name) != 0)
			continue;
		if (user)
			return 0;
		user = sp->user;
	}
	return user;
}

static void remove_member(struct room *room, struct room_speaker *sp)
{
	room_moment_add(&room->moments, ROOM_MOMENT_LEAVE, sp->user, sp->name, NULL,
			room->context.now);
	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS;
	     i = room_turn_next(room, i + 1)) {
		struct room_turn *t = &room->turn[i];

		/* An answer that others can hear is spoken to its end. */
		if (t->phase == ROOM_PHASE_FREE || t->phase == ROOM_PHASE_ENDED)
			continue;
		if (t->user == sp->user && room_people(room) > 1 &&
		    room_long_capture_flush(room, t))
			continue;
		/* The words of others in the same turn are still answered. */
		if (t->phase < ROOM_PHASE_ASKED && room_segment_drop(t, sp->user))
			room_turn_reassign(t);
		/* An answer that others can hear or asked for, too, is spoken to its end. */
		else if (t->user == sp->user &&
			 (room_people(room) <= 1 || !(t->first_audio_at || room_segment_shared(t))))
			room_turn_cancel(&room->context, t, ROOM_REASON_LEFT);
	}
	if (sp->asr_open)
		room_asr_close(room, sp, "user_left");
	if (!sp->is_bot)
		room_emit(&room->context, ROOM_DO_UNLISTEN)->user = sp->user;
	*sp = (struct room_speaker){0};
	while (room->places && !room->speaker[room->places - 1].used)
		room->places--;
}

static void listen_to_speaker(struct room *room, const struct room_speaker *sp)
{
	struct room_effect *e = room_emit(&room->context, ROOM_DO_LISTEN);

	e->user = sp->user;
	e->ms = room->context.settings->silence_ms;
}

static void add_member(struct room *room, const struct room_event *ev)
{
	struct room_speaker *sp = NULL;

	for (unsigned i = 0; i < ROOM_SPEAKERS && !sp; i++)
		if (!room->speaker[i].used)
			sp = &room->speaker[i];
	if (!sp)
		return; /* beyond the cap nobody else is heard */
	if (sp == &room->speaker[room->places])
		room->places++;
	*sp = (struct room_speaker){.used = true, .user = ev->user, .is_bot = ev->is_bot};
	room_clean_name((const char *)ev->text.p, ev->text.n, sp->name, sizeof sp->name);
	room_moment_add(&room->moments, ROOM_MOMENT_JOIN, sp->user, sp->name, NULL,
			room->context.now);
	room_thought_restart(&room->thought, &room->context);
	if (!ev->is_bot)
		listen_to_speaker(room, sp);
}

static void update_member(struct room *room, const struct room_event *ev)
{
	struct room_speaker *sp = room_speaker(room, ev->user);

	if (sp && !ev->yes)
		remove_member(room, sp);
	else if (sp)
		room_clean_name((const char *)ev->text.p, ev->text.n, sp->name, sizeof sp->name);
	else if (ev->yes)
		add_member(room, ev);
	else
		return;
	room_instructions_changed(&room->instructions, &room->context);
}

static void record_soundboard(struct room *room, const struct room_event *ev)
{
	const struct room_speaker *sp = room_speaker(room, ev->user);
	char name[ROOM_MOMENT_TEXT];

	if (!sp)
		return;
	room_clean_name((const char *)ev->text.p, ev->text.n, name, sizeof name);
	room_moment_add(&room->moments, ROOM_MOMENT_SOUNDBOARD, sp->user, sp->name, name,
			room->context.now);
	room_instructions_changed(&room->instructions, &room->context);
}

void room_people_on_event(struct room *room, const struct room_event *ev)
{
	switch (ev->type) {
	case ROOM_MEMBER:
		update_member(room, ev);
		break;
	case ROOM_SOUNDBOARD_PLAYED:
		record_soundboard(room, ev);
		break;
	case ROOM_SETTINGS:
		room_instructions_changed(&room->instructions, &room->context);
		for (unsigned i = 0; i < room->places; i++)
			if (room->speaker[i].used && !room->speaker[i].is_bot)
				listen_to_speaker(room, &room->speaker[i]);
		break;
	default:
		break;
	}
}
