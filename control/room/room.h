/* The room: the conversation logic of one voice channel, a pure core. Decides who spoke, whether
 * it was meant for the bot, when to ask the brain, and when to stop.
 *
 * room_step() is the only entrance. It takes one event and the time and returns effects; it
 * performs nothing itself. Events about a turn, an utterance or a playback carry its id, and a
 * late event is dropped by comparison.
 *
 *   mediad --SPEAKING, HEARD, HEARD_END--> captures --> turns --> transcripts --> admission
 *          --> turn queue --> brain
 *   mediad <--SAY_*-- output <-- the brain's audio; the barge-in arbiter stops it
 *
 * After a step the caller performs the effects in their order and delivers ROOM_TIMER at
 * room_deadline(). The results of effects come back as later events, never inside the step.
 *
 * Ownership: strings and samples in an event are borrowed for the step. Those in effects live
 * until the next step (samples: as long as the event's). Settings are borrowed for the life of the
 * room. */
#ifndef CONTROL_ROOM_ROOM_H
#define CONTROL_ROOM_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/room/base/event.h"
#include "control/room/base/people.h"
#include "control/room/base/turn.h"

struct room;
struct settings;

/* name: the bot's name if the settings have none. ENOMEM, EINVAL without a name. Caller owns
 * *out. */
int room_alloc(struct room **out, const struct settings *settings, const char *name);
struct room *room_free(struct room *room);

/* Processes one event at `now` (ns, never decreasing). effects->n is set anew. */
void room_step(struct room *room, const struct room_event *event, uint64_t now,
	       struct room_effects *effects);
/* When the room needs a ROOM_TIMER at the latest; UINT64_MAX for never. */
uint64_t room_deadline(const struct room *room);

/* The chain of decisions of a live or recently ended turn, one line each. ENOENT: unknown turn.
 * */
int room_why(const struct room *room, uint32_t turn, char *buf, size_t size);
/* Turns that ended for this reason, since room_alloc. */
uint64_t room_count(const struct room *room, enum room_reason reason);
/* The turn that has the floor, NULL when it is free. Borrowed until the next step. */
const struct room_turn *room_active(const struct room *room);
/* The next turn at or after this place that has not ended; NULL: there is none. Borrowed until the
 * next step. */
const struct room_turn *room_live_turn(const struct room *room, unsigned *place);
/* The turn's answer is speculative: nobody hears it yet, and if it fails, its question is asked
 * again. */
bool room_speculates(const struct room *room, uint32_t turn);
/* True if the operator's order of this number waits until the room is quiet, or is being said. */
bool room_holds_order(const struct room *room, uint64_t order);
/* The name that people call it by. Borrowed until the next step. */
const char *room_bot_name(const struct room *room);
/* True if this is its name, or another one to which it answers, in any case. */
bool room_is_bot_name(const struct room *room, const char *name);
/* The name of the next person at or after this place, bots left out; NULL: there is none. Borrowed
 * until the next step. */
const char *room_person(const struct room *room, unsigned *place);
/* Somebody present or not by the name that the models know (control/room/base/people.h). True if
 * the person is present. */
bool room_label(const struct room *room, uint64_t user, const char *name, char to[ROOM_NAME_MAX]);
/* The only person present with this name, in any case; 0: nobody or several. */
uint64_t room_user_of(const struct room *room, const char *name);
/* The code of the language to write to the people in (settings, else the last speaker's); "": not
 * known. Borrowed until the next step. */
const char *room_language_now(const struct room *room);
/* The names of the sounds that answers may play, with ", " between; "": none. Borrowed until the
 * next step. */
const char *room_sound_names(const struct room *room);
/* When the user's session of speech-to-text is closed if it stays unused; UINT64_MAX: it is in use,
 * or there is none. */
uint64_t room_asr_closes_at(const struct room *room, uint64_t user);
/* When the voice session ends by its length, and when for lack of activity, if nothing else
 * happens; UINT64_MAX: never. active_at: when somebody last was active; 0: the call never was up.
 */
struct room_times {
	uint64_t active_at, length_end, idle_end;
};
void room_session_times(const struct room *room, struct room_times *out);
/* What the bot attends to, and when it says something of its own. Times in ns; 0: never so far. */
struct room_attention {
	bool engaged;	      /* it takes part in a conversation */
	uint64_t holder;      /* with this user; 0: with nobody */
	uint64_t relevant_at; /* it was last addressed, or spoke */
	uint64_t ends_at;     /* unless somebody goes on; 0 where it is not engaged */
	bool holds;	      /* a turn that waits is held for more words */
	bool thinks;	      /* words of its own are under way */
	uint64_t due_at;      /* of the next ones, if nobody speaks; UINT64_MAX: there are none */
	uint64_t tried_at, heard_at; /* the last ones were due; were heard */
	bool asr_shared, asr_files;
	unsigned recordings; /* are transcribed or wait for it (recording_queue.h) */
};
void room_attention(const struct room *room, uint64_t now, struct room_attention *out);
/* ns: what was said from then on stands in the prompt of a text model (prompt.h); 0: nothing does.
 */
uint64_t room_told_since(const struct room *room);
/* True if the conversation has these words of this person, 0: of the bot, from then (ns) on. */
bool room_said_since(const struct room *room, uint64_t since, uint64_t user, const char *words);
/* The next line at or after this place that a person wrote and models may be told; NULL: there is
 * none. Borrowed until the next step. */
const char *room_written_line(const struct room *room, unsigned *place);
/* People in the room without bots. */
unsigned room_people(const struct room *room);
/* True if this user is the only person in it, bots aside. */
bool room_alone_with(const struct room *room, uint64_t user);

#endif
