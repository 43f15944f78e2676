/* The narrow context of the room's machines: all that a machine gets besides its own state and an
 * event. It holds the time, the settings, the facts of the call, and the effects of the running
 * step with the space for their texts; functions tell who is in the room. What a machine may do
 * with turns is in turn/turns.h.
 *
 * A machine with this context includes no other machine's state, so the compiler holds that it
 * writes its own only. Machines that decide across the room take struct room (inside.h) instead;
 * docs/architecture.md lists them.
 *
 * Ownership: the context is the first member of struct room and lives as long. `settings` is
 * borrowed for the life of the room, `effects` for the step; texts live until the next step. For
 * control/room only. */
#ifndef CONTROL_ROOM_BASE_CONTEXT_H
#define CONTROL_ROOM_BASE_CONTEXT_H

#include "control/room/base/event.h"
#include "control/room/base/turn.h"

/* The texts that effects of the running step point to, one after another. Effects that may be
 * numerous can use half of the space. */
enum { ROOM_TEXTS = 1 << 17, ROOM_TEXTS_MANY = ROOM_TEXTS / 2 };

struct room_texts {
	size_t n;
	char buf[ROOM_TEXTS];
};

/* Lines of the conversation that effects of the running step point to. */
enum { ROOM_MESSAGES = 128 };

struct room_messages {
	size_t n;
	struct room_message v[ROOM_MESSAGES];
};

struct room_context {
	uint64_t now; /* ns, of the running step */
	const struct settings *settings;
	char name[ROOM_NAME_MAX]; /* the bot's */
	bool guest;
	/* The call. Only the session (session.h) and the end of the room write these. */
	bool up, muted, over;
	struct room_effects *effects;
	struct room_texts texts;
	struct room_messages messages;
};

/* ---- effects (context.c) ---- */

struct room_effect *room_emit(struct room_context *context, enum room_effect_type type);
/* Reserves `size` bytes for an effect's text; room_text_keep keeps what was written there. NULL
 * if the step has used more than `most` bytes. */
char *room_text(struct room_context *context, size_t size, size_t most);
/* Keeps the text that was written to the place from room_text. */
const char *room_text_keep(struct room_context *context, const char *text);
/* Copies one of many texts, as valid UTF-8; NULL if the step has used too much space. */
const char *room_text_of(struct room_context *context, const char *text, size_t n);

/* ---- people (people.c) ---- */

/* People in the room without bots. */
unsigned room_people_present(const struct room_context *context);
/* The names of people without bots, in the order of their places: begins with *place = 0 and counts
 * it on. NULL: there is nobody else. */
const char *room_person_next(const struct room_context *context, unsigned *place);
/* The name of somebody who is in the room, else NULL. */
const char *room_person_name(const struct room_context *context, uint64_t user);

/* The only person present with this name, in any case, bots aside; 0 = nobody or several. */
uint64_t room_person_by_name(const struct room_context *context, const char *name);

/* ---- what a machine reports to others (room.c) ---- */

/* Something happened that counts as activity of the session. */
void room_report_activity(struct room_context *context);
/* Something changed that the brain's instructions tell. */
void room_report_change(struct room_context *context);

#endif
