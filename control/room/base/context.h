/* The narrow context of the room's machines: all that a machine gets besides its own state and an
 * event. It holds the time, the settings, the facts of the call, who is in the channel, and the
 * effects of the running step with the space for their texts.
 *
 * It leads to the state of every machine, but by pointers to types that only the owner completes: a
 * machine calls functions of another one and cannot see its state. What the groups offer one
 * another beyond their own headers is in turns.h, hearing.h and answers.h beside this file; the
 * folders include each other in one order only: base, floor, turn, hearing, answer.
 *
 * Ownership: the context and the states are parts of struct room (inside.h) and live as long.
 * `settings` is borrowed for the life of the room, `effects` for the step; texts live until the
 * next step. For control/room only. */
#ifndef CONTROL_ROOM_BASE_CONTEXT_H
#define CONTROL_ROOM_BASE_CONTEXT_H

#include "control/room/base/event.h"
#include "control/room/base/people.h"
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

struct room_compaction;
struct room_inherited_voice;
struct room_soundboard;
struct room_tool_results;
struct room_names;
struct room_played_words;
struct room_remark;
struct room_retrieval;

struct room_context {
	uint64_t now; /* ns, of the running step */
	const struct settings *settings;
	char name[ROOM_NAME_MAX]; /* the bot's */
	struct room_names *names; /* to which it answers; only the session writes */
	bool guest;
	bool asr_shared; /* one transcription session for all speakers, fixed when the room began */
	bool asr_files;	 /* recordings are transcribed instead of streams, the same */
	/* The call. Only the session (session.h) and the end of the room write these. */
	bool up, muted, over;
	struct room_effects *effects;
	struct room_texts texts;
	struct room_messages messages;

	const struct room_people *people;
	struct room_turns *turns;
	struct room_history *history;
	struct room_moments *moments;
	struct room_compaction *compaction;
	struct room_retrieval *retrieval;
	struct room_soundboard *soundboard;
	struct room_tool_results *tool_results;
	struct room_classifier *classifier;
	struct room_captures *captures;
	struct room_transcripts *transcripts;
	struct room_eot_prediction *eot_prediction;
	struct room_floor *floor;
	struct room_followup *followup;
	struct room_choice *choice;
	struct room_music *music;
	struct room_barge_in *barge_in;
	struct room_overlap_questions *overlap_questions;
	struct room_inherited_voice *inherited_voice;
	struct room_speculative *speculative;
	struct room_reply *reply;
	struct room_retry *retry;
	struct room_output *output;
	struct room_played_words *played_words;
	struct room_instructions *instructions;
	struct room_thought *thought;
	struct room_remark *remark;
	struct room_session *session;
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

/* ---- what a machine reports to others ---- */

/* Something happened that counts as activity of the session. */
void room_report_activity(struct room_context *context);
/* Somebody speaks, which counts as activity now and then. */
void room_report_speech(struct room_context *context);
/* Something changed that the brain's instructions tell. */
void room_report_change(struct room_context *context);

#endif
