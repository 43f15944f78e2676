#include "control/room/people.h"

#include <stdio.h>
#include <string.h>

#include "control/room/answer/barge_in.h"
#include "control/room/base/answers.h"
#include "control/room/base/context.h"
#include "control/room/base/hearing.h"
#include "control/room/base/text.h"
#include "control/room/base/turns.h"
#include "control/room/hearing/captures.h"
#include "control/room/hearing/eot_prediction.h"
#include "control/room/hearing/transcript.h"
#include "control/room/turn/history.h"
#include "control/room/turn/moments.h"
#include "control/room/turn/segment.h"
#include "control/settings/settings.h"
#include "proto/base/utf8.h"

/* Only here people are written. */
static struct room_people *own_people(const struct room_context *context)
{
	return (struct room_people *)(uintptr_t)context->people;
}

unsigned room_place(const struct room_context *context, uint64_t user)
{
	const struct room_people *people = context->people;

	for (unsigned i = 0; i < people->places; i++)
		if (people->person[i].used && people->person[i].user == user)
			return i;
	return ROOM_SPEAKERS;
}

unsigned room_people_present(const struct room_context *context)
{
	const struct room_people *people = context->people;
	unsigned n = 0;

	for (unsigned i = 0; i < people->places; i++)
		n += people->person[i].used && !people->person[i].is_bot;
	return n;
}

bool room_is_alone(const struct room_context *context, uint64_t user)
{
	return room_people_present(context) == 1 && room_place(context, user) < ROOM_SPEAKERS;
}

const char *room_person_next(const struct room_context *context, unsigned *place)
{
	const struct room_people *people = context->people;

	while (*place < people->places) {
		const struct room_person *person = &people->person[(*place)++];

		if (person->used && !person->is_bot)
			return person->name;
	}
	return NULL;
}

const char *room_person_name(const struct room_context *context, uint64_t user)
{
	unsigned place = room_place(context, user);

	return place < ROOM_SPEAKERS ? context->people->person[place].name : NULL;
}

static bool is_taken(const struct room_context *context, uint64_t user, const char *name)
{
	const struct room_people *people = context->people;

	for (unsigned i = 0; i < people->places; i++)
		if (people->person[i].used && people->person[i].user != user &&
		    room_script_same(people->person[i].name, name))
			return true;
	return room_history_has_name(context->history, user, name);
}

static void number_name(const struct room_context *context, uint64_t user, const char *name,
			char to[ROOM_NAME_MAX])
{
	char base[ROOM_NAME_MAX - 8];

	utf8_copy(base, sizeof base, name);
	utf8_copy(to, ROOM_NAME_MAX, name);
	for (unsigned k = 2; is_taken(context, user, to); k++)
		snprintf(to, ROOM_NAME_MAX, "%s (%u)", base, k);
}

void room_person_label(const struct room_context *context, uint64_t user, const char *name,
		       char to[ROOM_NAME_MAX])
{
	const char *known = room_person_name(context, user);

	if (known)
		utf8_copy(to, ROOM_NAME_MAX, known);
	else
		number_name(context, user, name, to);
}

uint64_t room_person_by_name(const struct room_context *context, const char *name)
{
	const struct room_people *people = context->people;
	uint64_t user = 0;

	for (unsigned i = 0; i < people->places; i++) {
		const struct room_person *person = &people->person[i];

		if (!person->used || person->is_bot || !room_script_same(person->name, name))
			continue;
		if (user)
			return 0;
		user = person->user;
	}
	return user;
}

/* Ends or changes a turn when this person leaves. heard: what they said so far is answered. */
static void leave_turn(struct room_context *context, struct room_turn *t, uint64_t user, bool heard)
{
	unsigned present = room_people_present(context);

	if (heard && t->user == user && present > 1 && room_long_capture_flush(context, t))
		return;
	/* The words of others in the same turn are still answered. */
	if (t->phase < ROOM_PHASE_ASKED && room_segment_drop(t, user))
		room_turn_reassign(t);
	/* An answer that others can hear or asked for, too, is spoken to its end. */
	else if (t->user == user &&
		 (present <= 1 || !(t->first_audio_at || room_segment_shared(t))))
		room_turn_cancel(context, t, ROOM_REASON_LEFT);
}

/* Turns that are admitted already come first: the words that are flushed after them make another
 * turn, or commit their speculative answer, which shares its fate. */
static void leave_turns(struct room_context *context, uint64_t user, bool heard)
{
	for (int open = 0; open <= 1; open++)
		for (struct room_turn *t = room_turn_next(context, NULL); t;
		     t = room_turn_next(context, t))
			if (t->phase != ROOM_PHASE_ENDED &&
			    (t->phase <= ROOM_PHASE_TRANSCRIBING) == open &&
			    !room_speculative_holds(context, t->id))
				leave_turn(context, t, user, heard);
}

/* Ends speech-to-text for the person in this place and clears what the machines keep of them. */
static void forget_speech(struct room_context *context, unsigned place, const char *why)
{
	room_asr_close(context, place, why);
	room_captures_forget(context, place);
	room_asr_forget(context, place);
	room_eot_prediction_forget(context, place);
	room_turn_forget(context, place);
	room_barge_in_forget(context, place);
}

static void stop_listening(struct room_context *context, unsigned place, const char *why)
{
	forget_speech(context, place, why);
	if (!context->people->person[place].is_bot)
		room_emit(context, ROOM_DO_UNLISTEN)->user = context->people->person[place].user;
}

/* mediad hears them no more. What they were about to say is dropped; they may agree again. */
static void refuse_member(struct room_context *context, uint64_t user)
{
	unsigned place = room_place(context, user);

	if (place == ROOM_SPEAKERS)
		return;
	leave_turns(context, user, false);
	forget_speech(context, place, "user_left");
}

static void remove_member(struct room_context *context, unsigned place)
{
	struct room_people *people = own_people(context);
	struct room_person *person = &people->person[place];

	room_moment_add(context->moments, ROOM_MOMENT_LEAVE, person->user, person->name, NULL,
			context->now);
	leave_turns(context, person->user, true);
	stop_listening(context, place, "user_left");
	*person = (struct room_person){0};
	while (people->places && !people->person[people->places - 1].used)
		people->places--;
}

void room_people_dismiss(struct room_context *context)
{
	struct room_people *people = own_people(context);

	for (unsigned i = 0; i < people->places; i++) {
		if (!people->person[i].used)
			continue;
		stop_listening(context, i, "shutdown");
		people->person[i] = (struct room_person){0};
	}
	people->places = 0;
}

static void listen_to(struct room_context *context, const struct room_person *person)
{
	struct room_effect *e = room_emit(context, ROOM_DO_LISTEN);

	e->user = person->user;
	e->ms = context->settings->silence_ms;
}

/* "Ana (2)" for the name "Ana". */
static bool is_numbered(const char *label, const char *name)
{
	size_t n = strlen(name), digits;

	if (strncmp(label, name, n) != 0 || strncmp(label + n, " (", 2) != 0)
		return false;
	digits = strspn(label + n + 2, "0123456789");
	return digits && strcmp(label + n + 2 + digits, ")") == 0;
}

/* A number stays with its person while the name does. */
static void name_member(const struct room_context *context, struct room_person *person,
			const struct room_event *ev)
{
	char name[ROOM_NAME_MAX];

	room_clean_name((const char *)ev->text.p, ev->text.n, name, sizeof name);
	if (!is_numbered(person->name, name))
		number_name(context, person->user, name, person->name);
}

static void add_member(struct room_context *context, const struct room_event *ev)
{
	struct room_people *people = own_people(context);
	struct room_person *person = NULL;

	for (unsigned i = 0; i < ROOM_SPEAKERS && !person; i++)
		if (!people->person[i].used)
			person = &people->person[i];
	if (!person)
		return; /* beyond the cap nobody else is heard */
	if (person == &people->person[people->places])
		people->places++;
	*person = (struct room_person){.used = true, .user = ev->user, .is_bot = ev->is_bot};
	name_member(context, person, ev);
	room_moment_add(context->moments, ROOM_MOMENT_JOIN, person->user, person->name, NULL,
			context->now);
	room_answer_restart_silence(context);
	if (!ev->is_bot)
		listen_to(context, person);
}

static void update_member(struct room_context *context, const struct room_event *ev)
{
	struct room_people *people = own_people(context);
	unsigned place = room_place(context, ev->user);
	bool present = place < ROOM_SPEAKERS;

	if (present && !ev->yes) {
		remove_member(context, place);
	} else if (present && ev->is_bot != context->people->person[place].is_bot) {
		/* It turned out to be a bot, or settings changed whom the bot listens to. */
		remove_member(context, place);
		add_member(context, ev);
	} else if (present) {
		name_member(context, &people->person[place], ev);
	} else if (ev->yes) {
		add_member(context, ev);
	} else {
		return;
	}
	room_report_change(context);
}

static void record_soundboard(struct room_context *context, const struct room_event *ev)
{
	const char *user = room_person_name(context, ev->user);
	char name[ROOM_MOMENT_TEXT];

	if (!user)
		return;
	room_clean_name((const char *)ev->text.p, ev->text.n, name, sizeof name);
	room_moment_add(context->moments, ROOM_MOMENT_SOUNDBOARD, ev->user, user, name,
			context->now);
	room_report_change(context);
}

static void record_share(struct room_context *context, const struct room_event *ev)
{
	const char *user = room_person_name(context, ev->user);
	bool own = ev->type == ROOM_VIDEO_SHARE;
	enum room_moment_kind start = own ? ROOM_MOMENT_VIDEO_START : ROOM_MOMENT_SHARE_START,
			      stop = own ? ROOM_MOMENT_VIDEO_STOP : ROOM_MOMENT_SHARE_STOP;

	if (user)
		room_moment_add(context->moments, ev->yes ? start : stop, ev->user, user, NULL,
				context->now);
}

void room_people_on_event(struct room_context *context, const struct room_event *ev)
{
	const struct room_people *people = context->people;

	switch (ev->type) {
	case ROOM_MEMBER:
		update_member(context, ev);
		break;
	case ROOM_WITHDRAWN:
		if (!ev->yes)
			refuse_member(context, ev->user);
		break;
	case ROOM_SOUNDBOARD_PLAYED:
		record_soundboard(context, ev);
		break;
	case ROOM_SCREEN_SHARE:
	case ROOM_VIDEO_SHARE:
		record_share(context, ev);
		break;
	case ROOM_SETTINGS:
		room_report_change(context);
		for (unsigned i = 0; i < people->places; i++)
			if (people->person[i].used && !people->person[i].is_bot)
				listen_to(context, &people->person[i]);
		break;
	default:
		break;
	}
}
