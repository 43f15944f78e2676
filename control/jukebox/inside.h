/* The state of a jukebox, shared by jukebox.c (the link to mediad, saving, who is told) and
 * requests.c (what people ask). */
#ifndef CONTROL_JUKEBOX_INSIDE_H
#define CONTROL_JUKEBOX_INSIDE_H

#include "control/jukebox/jukebox.h"
#include "control/music/player.h"

struct tmr;

struct jukebox {
	struct jukebox_conf conf;
	struct media_call *call;   /* NULL: outside */
	struct music_queue *queue; /* owned; NULL until the first jukebox_enter */
	struct music_player player;
	struct music_votes votes;
	struct tmr *tmr; /* tells and saves what has changed, after the running step */
	struct {
		jukebox_changed_h *changedh;
		jukebox_failed_h *failedh;
		void *arg;
	} subscriber[JUKEBOX_SUBSCRIBERS];
	struct music_report heard; /* the newest of the present music */
	uint32_t titled;	   /* the music that title is about; 0: none */
	char title[TRACK_TITLE_MAX];
	/* Music that mediad was not ordered, since it cannot open it; 0: none. */
	uint32_t refused_play, refused_next;
	struct {
		uint64_t revision;
		enum jukebox_phase phase;
		unsigned titles;
	} told;
	unsigned titles; /* changes of the title */
	uint64_t saved_revision, saved_position, saved_at;
	size_t saved_bytes;
};

/* Something may have changed: tells and saves it after the running step. */
void jukebox_settle(struct jukebox *j);

#endif
