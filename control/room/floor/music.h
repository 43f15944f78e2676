/* The room's side of music: who is heard while it plays, and when it is softer, paused, and goes
 * on.
 *
 *   phase        input                                       next          does
 *   IDLE         told: loading, playing                      LOADING, PLAYING
 *   LOADING      told: playing                               PLAYING       answers that were asked
 * for before it stop PLAYING      a turn for the bot, music_wake_pause        PAUSED_WAKE   MUSIC
 * pause; follow-ups belong to its speaker PLAYING      the bot speaks -             MUSIC_GAIN
 * down, up again 1200 ms after it any of them  one word: stop, pause, skip, resume         IDLE,
 * PAUSED  MUSIC; resume only asks, and skip PAUSED_WAKE  nothing is said, heard, waits or is made
 * -             MUSIC resume when there is a track, else IDLE PAUSED…      told: playing PLAYING
 *   any          told: idle, failed                          IDLE
 *
 * PLAYING stands only for what was told. The wake latch: after a turn for the bot, more is taken
 * without its name for music_latch_s, from anyone while it plays, from the one who woke it while it
 * is paused for them. It is renewed when the answer was heard to its end; a capture that begins in
 * it counts as begun in it, however late its words are. For control/room only. */
#ifndef CONTROL_ROOM_FLOOR_MUSIC_H
#define CONTROL_ROOM_FLOOR_MUSIC_H

#include "control/room/room.h"

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
};

struct room_music {
	enum room_music_phase phase;
	uint64_t owner; /* of PAUSED_WAKE */
	uint64_t latch_until;
	bool track;   /* there is one to resume */
	bool resumes; /* it goes on by itself after the answer */
	bool renews;  /* the latch is renewed when the answer was heard */
	bool ducked;
};

/* Only commands are taken: it plays or is about to. */
bool room_music_locks(const struct room_music *m);
/* Turns are looked at with music in mind. */
bool room_music_gates(const struct room_music *m);
bool room_music_latched(const struct room_music *m, uint64_t user, uint64_t now);
/* One word that tells the music what to do, with no more than goes with it. */
enum room_music_control room_music_control(const char *text);

/* ROOM_MUSIC: text = loading, playing, paused, idle or failed; yes: there is a track; turn: by
 * which it was asked for. */
void room_music_on_event(struct room *room, const struct room_event *ev);
void room_music_command(struct room *room, enum room_music_control control);
/* A turn for the bot came while music gates: opens the latch, and pauses it for a fresh one. */
void room_music_wake(struct room *room, uint64_t user);
/* An answer was heard to its end: the latch is renewed when its turn came through it. */
void room_music_answered(struct room *room);
/* At the end of a step. */
void room_music_tick(struct room *room);
uint64_t room_music_deadline(const struct room *room);

#endif
