/* The reply: turns the brain's text into directives, speech and playback. For control/room only.
 *
 *   reply path   the brain's text                              audio
 *   native       directives are removed, the rest is recorded  the brain's own
 *   bridge       the same                                      the brain's own
 *   brain        directives are removed, the rest is chunked   of each chunk, by SPEAK
 *                and planned
 *
 * The addressee and the output lease take effect at the end of the answer's beginning. On the
 * brain path the playback is closed and reopened around a sound, so that the sound begins after
 * the speech before it was played. On the other paths a sound begins when the words before it were
 * played, over the speech. The setting soundboard drops all sounds, sounds_an_answer those beyond
 * it. The backlog is the audio written less the time since the
 * playback began: no more can have been played. It only steers how far ahead text is synthesised;
 * the playout position is never guessed. */
#ifndef CONTROL_ROOM_ANSWER_REPLY_H
#define CONTROL_ROOM_ANSWER_REPLY_H

#include "control/room/answer/chunker.h"
#include "control/room/answer/directive.h"
#include "control/room/answer/planner.h"
#include "control/room/answer/playout_position.h"
#include "control/room/answer/sound_marks.h"
#include "control/room/base/context.h"

struct room_history;

enum { ROOM_NOTES_MAX = 10 /* an answer */ };

struct room_reply {
	uint32_t turn;
	bool planned;  /* it is written, and read out by the role speech */
	bool thought;  /* nobody asked: it may be declined by a word */
	bool complete; /* all of the brain's text came */
	char lead[8];  /* its first letters */
	size_t n_lead;
	bool led;     /* the directives of the beginning took effect */
	bool tainted; /* the brain had read text of strangers */
	bool broke;   /* a chunk could not be synthesised */
	struct room_directive directive;
	struct room_chunker chunker;
	struct room_plan plan;
	struct room_playout playout;
	unsigned notes;
	uint32_t sounds; /* that it may play, so far */
	/* native path */
	uint32_t sounded;	       /* sounds that were requested, the number of the last */
	struct room_sound_marks marks; /* sounds that wait */
	/* brain path: the open playback */
	bool open;
	uint64_t started_at, written, drained; /* drained: samples of the playbacks before */
	uint64_t paused_at, paused_ns;	       /* since when it is paused, 0: not; pauses before */
	uint64_t sound_until;
};

void room_reply_begin(struct room_reply *r, const struct room_context *context,
		      struct room_turn *turn);
/* The brain has read text of strangers: it gets no lease from here on. */
void room_reply_taint(struct room_reply *r);
/* The brain's next text. The turn may have ended afterwards, if the answer was [SKIP]. */
void room_reply_add_text(struct room_reply *r, struct room_context *context, struct room_turn *turn,
			 struct slice text);
/* The brain's text is complete. */
void room_reply_complete(struct room_reply *r, struct room_context *context,
			 struct room_turn *turn);
/* The answer is released. The turn may have ended afterwards. */
void room_reply_released(struct room_reply *r, struct room_context *context,
			 struct room_turn *turn);
/* True if audio must be held back because the directives at the beginning are incomplete. */
bool room_reply_undecided(const struct room_reply *reply);
/* More audio of this chunk is sent to the playback. */
void room_reply_add_audio(struct room_reply *r, struct room_turn *turn, uint32_t chunk,
			  uint64_t samples);
/* Handles SPEECH_* and SOUND_DONE. Returns true if ev holds audio that the plan wants. */
bool room_reply_on_event(struct room_reply *r, struct room_context *context, struct room_turn *turn,
			 const struct room_event *ev);
void room_reply_drained(struct room_reply *r, struct room_context *context, struct room_turn *turn,
			uint64_t samples);
/* All of the answer was played: requests the sounds at its end. */
void room_reply_played(struct room_reply *r, struct room_context *context);
/* Cuts turn->answer to the words that were played, and adds them to the history. */
void room_reply_close(struct room_reply *r, const struct room_context *context,
		      struct room_history *history, struct room_turn *turn);
void room_reply_tick(struct room_reply *r, struct room_context *context);
uint64_t room_reply_deadline(const struct room_reply *r, const struct room_context *context);
/* Until when a voice model is not asked for more, since speech_pause_ms of audio or more wait to be
 * played: until speech_resume_ms are left. 0: it may be asked; UINT64_MAX: until playback has
 * begun. */
uint64_t room_reply_wait(const struct room_reply *r, const struct room_context *context);
/* The answer is written, planned and synthesised. */
bool room_reply_planned(const struct room_reply *r);
/* The whole answer is [SKIP]. */
bool room_reply_skips(const struct room_reply *r);
/* A playback opens; its first sample was played; whether one is open; samples of those before it.
 */
void room_reply_open(struct room_reply *r);
void room_reply_started(struct room_reply *r, uint64_t at);
bool room_reply_is_open(const struct room_reply *r);
/* The open playback is paused, or goes on, from now. */
void room_reply_pause(struct room_reply *r, bool paused, uint64_t now);
/* Number of bytes of the turn's answer that were played at this time. */
size_t room_reply_byte_at(const struct room_reply *r, const struct room_turn *turn, uint64_t at);
uint64_t room_reply_drained_samples(const struct room_reply *r);

#endif
