/* Music for one room: what its models and members ask for by voice, and what the room learns about
 * what plays.
 *
 *   input                                    what follows
 *   a tool's request for music               tracks by control/music_sources, then the jukebox;
 *                                            several fit: CHOICE to the room, options to the model
 *   CHOOSE of the room                       the chosen track completes the request
 *   MUSIC of the room, commanded by a person the jukebox, with their rights
 *   MUSIC of the room itself                 the jukebox holds the music, or lets it go on
 *   the jukebox changed                      MUSIC and TRACKS to the room
 *
 * Ducking is a rule of mediad's mixer. Selections name tracks that were told before; one that is
 * not known any more gives way to the words beside it. Titles come from files and sites of
 * strangers: they are single plain lines. A shell; runs on env's loop thread. */
#ifndef CONTROL_AGENT_AGENT_MUSIC_H
#define CONTROL_AGENT_AGENT_MUSIC_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/cursor.h"

struct agent_music;
struct env;
struct jukebox;
struct music_sources;
struct room_effect;
struct room_event;
struct tool_music;

struct agent_music_conf {
	struct env *env;
	uint64_t guild;
	struct music_sources *sources; /* may be NULL: nothing can be found */
	struct jukebox *jukebox;       /* may be NULL: nothing can be played */
	/* The output of a call (control/tools/builtin/host.h). */
	void (*outputh)(uint32_t id, bool ok, struct slice text, void *arg);
	/* An event for the room, borrowed. */
	void (*feedh)(const struct room_event *ev, void *arg);
	/* A spoken command was refused: it wants votes (needed > 0) or a DJ. May be NULL. */
	void (*refusedh)(unsigned votes, unsigned needed, void *arg);
	/* A chosen track is not played or queued: an error of jukebox_do. May be NULL. */
	void (*failedh)(int err, void *arg);
	void *arg;
};

/* conf is copied, what it names is borrowed. ENOMEM; errors of jukebox_subscribe. The caller owns
 * *out and frees it before the jukebox and the sources. */
int agent_music_alloc(struct agent_music **out, const struct agent_music_conf *conf);
/* No handler is called any more. NULL accepted. */
struct agent_music *agent_music_free(struct agent_music *m);

/* True if tracks can be searched for; if music can be played at all; if addresses of the web can.
 * m: NULL accepted. */
bool agent_music_searches(const struct agent_music *m);
bool agent_music_plays(const struct agent_music *m);
bool agent_music_web(const struct agent_music *m);
/* True if a track plays, or is paused. m: NULL accepted. */
bool agent_music_has_track(const struct agent_music *m);

/* Begins a call; its output comes by outputh, perhaps from inside. ENOSPC: too many are under way;
 * ENOTSUP: there is no such source; ENOMEM. */
int agent_music_ask(struct agent_music *m, uint32_t id, const struct tool_music *what);
/* The call gets no output any more. m: NULL accepted. */
void agent_music_cancel(struct agent_music *m, uint32_t id);
/* MUSIC and CHOOSE of the room. m: NULL accepted. */
void agent_music_effect(struct agent_music *m, const struct room_effect *e);
/* Tells the room what plays, as after the start of the room. m: NULL accepted. */
void agent_music_tell(struct agent_music *m);

#endif
