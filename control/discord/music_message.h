/* What members read and press about music: the message about what plays, and the lists of /music
 * queue and /music history.
 *
 *   **Now playing:** Artist - Title
 *   Requested by @alice.
 *   `▬▬▬▬🔘▬▬▬▬▬▬▬▬▬▬▬` 0:56 / 3:45
 *   **Next:** Another title  Further tracks in the queue: 3.
 *   [Back] [Pause] [Skip] [Stop]
 *   [Repeat] [Shuffle]
 *
 * The text is a function of the state: the position is shown in steps, so an equal text needs no
 * edit. Titles are strangers' and become no markup; a message mentions nobody. Buttons name the
 * channel and the entry, so a late press cannot reach another track. Pure. */
#ifndef CONTROL_DISCORD_MUSIC_MESSAGE_H
#define CONTROL_DISCORD_MUSIC_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "control/music/policy.h"

struct music_queue;
struct words;

enum { MUSIC_BAR_CELLS = 16, MUSIC_BAR_STEP_MS = 5000, MUSIC_BAR_ENDLESS_MS = 30000 };

struct music_view {
	const struct music_queue *queue;
	const char *title; /* of a radio station's present song; NULL or "": none is told */
	bool paused;
	bool halted;		  /* the last tracks failed */
	bool waits;		  /* for the source of the present track */
	struct music_tally votes; /* votes 0: none was given */
};

/* B(NAME, action): the action of a press is "music_ACTION". */
#define MUSIC_BUTTONS(B)                                                                           \
	B(PREVIOUS, "music_previous")                                                              \
	B(PAUSE, "music_pause")                                                                    \
	B(RESUME, "music_resume")                                                                  \
	B(SKIP, "music_skip")                                                                      \
	B(STOP, "music_stop")                                                                      \
	B(LOOP, "music_loop")                                                                      \
	B(SHUFFLE, "music_shuffle")

enum music_button {
#define B(NAME, action) MUSIC_BUTTON_##NAME,
	MUSIC_BUTTONS(B)
#undef B
		MUSIC_BUTTON_COUNT
};

/* The present track, in the language of the words. Without one: that the music is over. */
void music_message_write(struct words *words, const struct music_view *v);
/* Its components; an empty array without a present track. language: a code, for the labels. New
 * reference, NULL without memory. */
json_t *music_message_buttons(const struct music_view *v, const char *language);
/* False: the action is none of music's. */
bool music_button_parse(enum music_button *button, const char *action);
/* The subject of a button: 0, EBADMSG. */
int music_subject_parse(const char *subject, uint64_t *channel, uint32_t *entry);

/* The present track and a page (from 0) of the waiting ones. */
void music_message_queue(struct words *words, const struct music_view *v, size_t page);
void music_message_history(struct words *words, const struct music_queue *q);

#endif
