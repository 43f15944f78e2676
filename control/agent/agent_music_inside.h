/* Shared by the files of agent_music.h: agent_music.c, the jukebox and the room; agent_music_ask.c,
 * requests for tracks; agent_music_text.c, what models read. For them only. */
#ifndef CONTROL_AGENT_AGENT_MUSIC_INSIDE_H
#define CONTROL_AGENT_AGENT_MUSIC_INSIDE_H

#include <jansson.h>

#include "control/agent/agent_music.h"
#include "control/jukebox/jukebox.h"
#include "control/music/choice.h"

enum { MUSIC_ASKS = 8, MUSIC_SEEN = 32, MUSIC_CONTEXT_MAX = 1024 };

struct music_ask;

struct agent_music {
	struct agent_music_conf conf;
	struct music_ask *asks; /* under way; at most MUSIC_ASKS */
	struct music_choice choice;
	struct track *seen; /* a ring of MUSIC_SEEN tracks that models were told; NULL until then */
	unsigned n_seen;
	bool held;	  /* by the room, for as long as an answer takes */
	uint32_t asked;	  /* the turn whose music begins; 0: none */
	const char *told; /* the room's word for the phase that it knows; "": none */
	bool track;	  /* as the room was told */
	char context[MUSIC_CONTEXT_MAX];
};

/* ---- agent_music.c ---- */
/* Performs it, and tells the model in its own words how it went: an object, or NULL with *why set.
 */
json_t *music_perform(struct agent_music *m, const struct jukebox_request *r, const char **why);

/* ---- agent_music_ask.c ---- */
void music_asks_end(struct agent_music *m);
/* Gives an output, which is stolen; NULL: the call failed, because of why. */
void music_give(struct agent_music *m, uint32_t id, json_t *output, const char *why);
/* The track of this selection, as models were told it. NULL: it is not known. */
const struct track *music_find_selection(const struct agent_music *m, const char *selection);

/* ---- agent_music_text.c ---- */
/* {"selection_id", "title", "artist", "album", "source"}; what is not known is left out. */
json_t *music_tell_track(const struct track *t);
/* "Toto - Africa". */
json_t *music_tell_label(const struct track *t);
/* The state of the jukebox. */
json_t *music_tell_state(const struct agent_music *m);
/* The same with the newest tracks of the history, the last one first. */
json_t *music_tell_all(const struct agent_music *m);
/* The state in a few lines, for prompts. "" while there has been no music. */
void music_write_context(const struct agent_music *m, char to[MUSIC_CONTEXT_MAX]);

#endif
