/* The mind of one voice channel, pure: who spoke, whether it was meant for the bot, when to ask the brain, when to stop.
 *
 * room_step() is the only door. It takes one fact and the time, and returns what to do; it performs nothing itself.
 * Facts about a turn, an utterance or a playback carry its id, and one that is late is dropped by comparison.
 *
 *   mediad ── SPEAKING, HEARD, HEARD_END ──► captures ──► turns ──► transcripts ──► queue and admission ──► brain
 *   mediad ◄── SAY_* ── output ◄── brain's sound;  interruptions cut it
 *
 * After a step the caller performs the effects in their order, and sees to it that room_deadline() brings a
 * ROOM_TIMER. What performing an effect causes comes back as a later event, never inside the step.
 *
 * Ownership: strings and samples in an event are borrowed for the step. Those in effects live until the next step
 * (samples: as long as the event's). Settings are borrowed for the life of the room. */
#ifndef CONTROL_ROOM_ROOM_H
#define CONTROL_ROOM_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/room/turn.h"
#include "proto/base/cursor.h"

struct room;
struct settings;

enum {
	ROOM_RATE = 24000, /* of all sound in the room, samples a second */
	ROOM_SPEAKERS = 64,
	ROOM_TURNS = 96,
	ROOM_EFFECTS = 1024,
};

enum room_event_type {
	ROOM_CALL,	/* yes: sound can flow; no: it cannot */
	ROOM_MEMBER,	/* user, text = name, is_bot; yes: is in the channel, no: left */
	ROOM_MUTE,	/* yes: the bot cannot be heard (server-muted, suppressed) */
	ROOM_SPEAKING,	/* user, yes/no, at: arrival of the first or last voice packet */
	ROOM_HEARD,	/* user, at, pcm: s16le mono at ROOM_RATE */
	ROOM_HEARD_END, /* user, at: arrival of the last voice packet */
	ROOM_PARTIAL,	/* user, utterance, text so far */
	ROOM_TRANSCRIPT,	/* user, utterance, text; empty when there were no words */
	ROOM_TRANSCRIPT_FAILED, /* user, utterance, text = why */
	ROOM_BRAIN_AUDIO,	/* turn, pcm */
	ROOM_BRAIN_TEXT,	/* turn, text: the next words of the answer */
	ROOM_BRAIN_DONE,	/* turn: the answer is whole */
	ROOM_BRAIN_FAILED,	/* turn, text = why */
	ROOM_SAY_STARTED,	/* turn, at: its first sample left */
	ROOM_SAY_DRAINED,	/* turn, samples: all left */
	ROOM_SAY_STOPPED,	/* turn, samples that left; no more will */
	ROOM_TIMER,		/* room_deadline() was reached */
	ROOM_SHUTDOWN,		/* the bot leaves; nothing may be stepped but more of this */
};

struct room_event {
	enum room_event_type type;
	uint64_t user;
	uint32_t utterance;
	uint32_t turn;
	bool yes, is_bot;
	uint64_t at; /* ns, the clock of `now` */
	uint64_t samples;
	struct slice text, pcm;
};

enum room_effect_type {
	ROOM_DO_LISTEN,		/* user, ms: silence that ends an utterance */
	ROOM_DO_UNLISTEN,	/* user */
	ROOM_DO_ASR_START,	/* user, utterance: connect if need be, sound follows */
	ROOM_DO_ASR_APPEND,	/* user, utterance, pcm */
	ROOM_DO_ASR_COMMIT,	/* user, utterance: a transcript is awaited */
	ROOM_DO_ASR_CANCEL,	/* user, utterance: forget it */
	ROOM_DO_ASR_CLOSE,	/* user: close the session */
	ROOM_DO_INSTRUCT,	/* text: the brain's instructions from now on */
	ROOM_DO_ASK,		/* turn, text: one line */
	ROOM_DO_BRAIN_CANCEL,	/* turn */
	ROOM_DO_BRAIN_TRUNCATE, /* turn, ms: as much of the answer was heard */
	ROOM_DO_SAY_PCM,	/* turn, pcm: keep until SAY_OPEN, then play */
	ROOM_DO_SAY_OPEN,	/* turn */
	ROOM_DO_SAY_END,	/* turn: no more sound will come */
	ROOM_DO_SAY_STOP,	/* turn, ms: fade */
	ROOM_DO_TELL,		/* text for the room's text channel */
	ROOM_DO_ADMIT,		/* record, text = the rule that admitted it */
	ROOM_DO_RECORD,		/* record: a turn ended */
};

struct room_effect {
	enum room_effect_type type;
	uint64_t user;
	uint32_t utterance, turn, ms;
	struct slice pcm;
	const char *text;
	const struct room_turn *record;
};

struct room_effects {
	size_t n;
	struct room_effect v[ROOM_EFFECTS];
};

/* name: what the bot is called when the settings do not say. ENOMEM, EINVAL without a name. Caller owns *out. */
int room_alloc(struct room **out, const struct settings *settings, const char *name);
struct room *room_free(struct room *room);

/* One fact at `now` (ns, never going back). effects->n is set anew. */
void room_step(struct room *room, const struct room_event *event, uint64_t now, struct room_effects *effects);
/* When the room wants a ROOM_TIMER at the latest; UINT64_MAX for never. */
uint64_t room_deadline(const struct room *room);

/* The chain of decisions of a turn that lives or ended lately, one line each. ENOENT unknown turn. */
int room_why(const struct room *room, uint32_t turn, char *buf, size_t size);
/* Turns that ended for this reason, since room_alloc. */
uint64_t room_count(const struct room *room, enum room_reason reason);
/* The turn that is being answered, NULL when the floor is free. Borrowed until the next step. */
const struct room_turn *room_active(const struct room *room);
/* People in the room without bots. */
unsigned room_people(const struct room *room);

#endif
