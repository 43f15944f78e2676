/* The message about what plays, in the text chat of a voice channel: one for each spell of music.
 *
 *   state    input                                     next
 *   NONE     something plays                           SENDING: it is posted
 *   SENDING  Discord has it                            SHOWN
 *   SHOWN    the text differs, 5 s after the last one  SENDING: it is edited
 *   SHOWN    nothing plays any more                    NONE: it says so and loses its buttons
 *   any      refused, or deleted by a member           NONE, and none is posted for this track
 *
 * The owner gives the text; an equal one is not sent. While music plays the text is looked at every
 * NOW_PLAYING_EDIT_MS. The id of the message goes to the owner's state, so that the next control
 * edits the same one; a message whose id was lost is found again by its nonce for some minutes. */
#ifndef CONTROL_DISCORD_NOW_PLAYING_H
#define CONTROL_DISCORD_NOW_PLAYING_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

struct env;
struct now_playing;
struct rest;
struct words;

enum { NOW_PLAYING_EDIT_MS = 5000 };

struct now_playing_text {
	uint32_t entry;	    /* that plays; 0: nothing does */
	uint64_t starts;    /* of the queue; with the entry it makes the nonce */
	json_t *components; /* of the message; the handler makes it and now_playing takes it */
};
typedef void(now_playing_text_h)(struct words *words, struct now_playing_text *t, void *arg);
/* The message in the channel is another one now; 0: none. */
typedef void(now_playing_kept_h)(uint64_t message, void *arg);

struct now_playing_conf {
	struct env *env; /* borrowed, as rest and arg are */
	struct rest *rest;
	uint64_t channel;
	uint64_t message; /* that the previous control left; 0: none */
	unsigned edit_ms; /* NOW_PLAYING_EDIT_MS; tests take less */
	now_playing_text_h *h;
	now_playing_kept_h *kepth;
	void *arg;
};

/* conf is copied. ENOMEM. The caller owns *out. */
int now_playing_alloc(struct now_playing **out, const struct now_playing_conf *conf);
/* Leaves the message as it is. NULL accepted. */
struct now_playing *now_playing_free(struct now_playing *n);
/* The bot leaves: the message says, in this language, that the music is over, or that it waits in
 * this channel until the bot is back; then the message is kept, for it tells of that music again.
 * Frees n. NULL accepted. */
struct now_playing *now_playing_end(struct now_playing *n, const char *language, bool waits);
/* Looks at the text, now or when the next edit is due. */
void now_playing_look(struct now_playing *n);
uint64_t now_playing_channel(const struct now_playing *n);
uint64_t now_playing_message(const struct now_playing *n);

#endif
