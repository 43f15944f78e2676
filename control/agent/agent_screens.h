/* Screens that members of the room share, as its models get them: what tools tell, and the newest
 * pictures with the notes about them before a question. */
#ifndef CONTROL_AGENT_AGENT_SCREENS_H
#define CONTROL_AGENT_AGENT_SCREENS_H

#include <stddef.h>
#include <stdint.h>

#include "control/engine/core/ask.h"
#include "control/vision/vision.h"
#include "proto/base/cursor.h"

struct agent;
struct tool_screen;

enum {
	AGENT_SCREENS = 2,
	AGENT_SCREENS_OTHERS = 512,
	AGENT_SCREENS_TEXT = VISION_NOTES_MAX + AGENT_SCREENS_OTHERS + 1024
};

/* What a message of screens points to. */
struct agent_shown {
	struct vision_picture pictures[AGENT_SCREENS];
	struct engine_image images[AGENT_SCREENS];
	char text[AGENT_SCREENS_TEXT];
};

/* True if the model that answers is shown pictures; otherwise it is told what the role see says. */
bool agent_screens_seen(const struct agent *a);
/* What this person's screen shows now can be told: the bot may remark on it. */
void agent_screen_told(struct agent *a, uint64_t user);
/* False: nothing is shown. speaker: whose question it is; their own screen comes before others.
 * *fresh: a picture is not the one of the last call; *news: that, or its age, a pause or the newest
 * note is told otherwise. shown is the caller's and holds what *out points to. */
bool agent_screens_message(struct agent *a, uint64_t speaker, struct agent_shown *shown,
			   struct engine_message *out, bool *fresh, bool *news);
/* A model learns of the screens in this turn, by pictures or in words: its answer may quote them,
 * and its conversation holds them. */
void agent_screens_note(struct agent *a, uint32_t turn);
/* Performs a request of a tool and gives its output to outputh, with out_arg. An errno: it does
 * not.
 */
typedef void(agent_screens_h)(uint32_t id, bool ok, struct slice text, void *arg);
int agent_screens_ask(struct agent *a, uint32_t id, const struct tool_screen *what,
		      agent_screens_h *outputh, void *out_arg);
/* The request was taken back, or its time is over: a video that is still being opened is not
 * shown. */
void agent_screens_cancel(struct agent *a, uint32_t id);

#endif
