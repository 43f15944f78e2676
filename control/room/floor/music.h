/* The room's side of music: who is heard while it plays, and when it is paused and resumed. The
 * mixer of mediad ducks it under speech by itself.
 *
 *   phase        input                           next              effect
 *   IDLE         reported: loading, playing      LOADING, PLAYING
 *   LOADING      reported: playing               PLAYING           older answers stop
 *   PLAYING      a turn for the bot,             PAUSED_WAKE       MUSIC pause; the speaker owns
 *                music_wake_pause                                  the follow-ups
 *   any of them  a command: stop, pause, skip,   IDLE, PAUSED      MUSIC; all but stop and pause
 *                resume, louder, quieter                           only ask
 *   PLAYING      HANDOFF: pause                  PAUSED_WAKE       MUSIC pause, as for a turn
 *   PAUSED_WAKE  HANDOFF: none, duck             -                 MUSIC resume at once
 *   PAUSED_WAKE  no speech, no turn, no answer   -                 MUSIC resume if there is a
 *                                                                  track, else IDLE
 *   PAUSED_WAKE  reported: paused, once it is    PAUSED            a person paused it meanwhile
 *                to go on
 *   PAUSED...    reported: playing               PLAYING
 *   any          reported: idle, failed          IDLE
 *
 * PLAYING always follows a report. The wake latch: after a turn for the bot further turns need no
 * name for music_latch_s, from anyone while music plays, from its owner while it is paused. It is
 * renewed when the answer was played to its end. A capture that begins in the latch counts as
 * begun in it, however late its transcript is. For control/room only. */
#ifndef CONTROL_ROOM_FLOOR_MUSIC_H
#define CONTROL_ROOM_FLOOR_MUSIC_H

#include "control/room/base/context.h"

struct room_saying;

enum { ROOM_MUSIC_TRACKS_MAX = 1024 };

enum room_music_phase {
	ROOM_MUSIC_IDLE,
	ROOM_MUSIC_LOADING,
	ROOM_MUSIC_PLAYING,
	ROOM_MUSIC_PAUSED,
	ROOM_MUSIC_PAUSED_WAKE,
};

enum room_music_control {
	ROOM_MUSIC_NO_CONTROL,
	ROOM_MUSIC_STOP,
	ROOM_MUSIC_PAUSE,
	ROOM_MUSIC_SKIP,
	ROOM_MUSIC_RESUME,
	ROOM_MUSIC_LOUDER,
	ROOM_MUSIC_QUIETER,
};

struct room_music {
	enum room_music_phase phase;
	uint64_t owner; /* owner of PAUSED_WAKE */
	uint64_t asker; /* whose turn asked for the music; 0: not known */
	uint64_t latch_until;
	bool track;			    /* there is a track to resume */
	bool resumes;			    /* it resumes by itself after the answer */
	bool renews;			    /* the latch is renewed when the answer was played */
	char tracks[ROOM_MUSIC_TRACKS_MAX]; /* of TRACKS */
};

/* True if only commands are admitted: music plays or loads. */
bool room_music_locks(const struct room_music *m);
/* True if music affects admission. */
bool room_music_gates(const struct room_music *m);
bool room_music_latched(const struct room_music *m, uint64_t user, uint64_t now);
/* The command that is the whole utterance, beside the bot's name and polite words; a question is
 * none. */
enum room_music_control room_music_control(const struct room_saying *said);
/* True if the music obeys the speaker of this turn: they address the bot, asked for the music, may
 * go on in the latch, or nobody else is there. */
bool room_music_obeys(const struct room_music *m, const struct room_context *context,
		      const struct room_turn *turn);

/* Handles ROOM_MUSIC: text = loading, playing, paused, idle or failed; yes: there is a track;
 * turn: the turn that asked for it. And ROOM_HANDOFF, ROOM_TRACKS. */
void room_music_on_event(struct room_music *m, struct room_context *context,
			 const struct room_event *ev);
/* user: who commands it; 0: the room itself. */
void room_music_command(struct room_music *m, struct room_context *context, uint64_t user,
			enum room_music_control control);
/* A turn for the bot arrived while music affects admission: opens the latch, and pauses music
 * for a fresh one. */
void room_music_wake(struct room_music *m, struct room_context *context, uint64_t user);
/* An answer was played to its end: renews the latch if its turn used it. */
void room_music_answered(struct room_music *m, const struct room_context *context);
/* At the end of a step. */
void room_music_tick(struct room_music *m, struct room_context *context);
uint64_t room_music_deadline(const struct room_music *m, const struct room_context *context);
/* What plays and waits, for the prompt; "": nothing. */
const char *room_music_tracks(const struct room_music *m);
/* Music is paused, by a person or for an answer. */
bool room_music_paused(const struct room_music *m);
/* Nothing plays, loads or is paused. */
bool room_music_idle(const struct room_music *m);
/* The user of this turn may go on in the latch: it began in it, or music is paused for them. */
bool room_music_admits(const struct room_music *m, uint64_t user, bool latched, uint64_t now);
/* The latch is renewed once the answer was played. */
void room_music_renew(struct room_music *m);

#endif
