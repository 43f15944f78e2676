/* What the role see says of shared screens, for models that are shown no pictures: notes about what
 * changed, as often as the settings allow (control/vision/core/note_pace.h), and answers of the
 * tool see_screenshare_snapshot. The words go to the notes of the share (control/vision/vision.h)
 * and into outputs of tools, and nowhere else. Everything runs on env's loop thread. */
#ifndef CONTROL_AGENT_SCREEN_LOOKS_H
#define CONTROL_AGENT_SCREEN_LOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "control/vision/vision.h"

struct agent;
struct agent_conf;
struct screen_looks;

enum {
	SCREEN_LOOKS = 4,	 /* calls of the tool at a time */
	SCREEN_LOOK_TEXT = 2000, /* bytes; more is cut */
	SCREEN_LOOK_MS = 15000,
	SCREEN_LOOK_TOKENS = 400,
	SCREEN_NOTE_TOKENS = 80,
	SCREEN_LOOK_QUESTION = 220 /* bytes */
};

/* *out NULL without screens. ENOMEM. Caller owns *out, and frees it before the agent's parts. */
int screen_looks_alloc(struct screen_looks **out, struct agent *a, const struct agent_conf *conf);
/* NULL accepted, here and below. */
struct screen_looks *screen_looks_free(struct screen_looks *l);
void screen_looks_settings(struct screen_looks *l);
/* How often the role see was asked in this session, and what that cost, in billionths of a dollar.
 */
struct screen_looks_paid {
	unsigned asked;
	uint64_t nano;
};
struct screen_looks_paid screen_looks_paid(const struct screen_looks *l);
/* True if a model sees for those that do not. */
bool screen_looks_can(struct screen_looks *l);
/* The picture of this share is a keyframe. */
void screen_looks_changed(struct screen_looks *l, uint32_t share);
/* This person's screen is not to be looked at any more (0: nobody's): what is asked about it
 * is not told. */
void screen_looks_stop(struct screen_looks *l, uint64_t user);

/* Borrowed until return. */
struct screen_looked {
	bool ok;
	const char *text;  /* what the picture shows, or why that is not known */
	const char *about; /* whose screen it is, and how old it was then, as a sentence */
	uint64_t age_ms;   /* of the picture now */
};
typedef void(screen_look_h)(uint32_t id, const struct screen_looked *got, void *arg);
/* Describes a picture, for a call of a tool with this id. h is called once, perhaps from inside.
 * question: "" for none. ENOSPC: SCREEN_LOOKS wait. */
int screen_looks_ask(struct screen_looks *l, uint32_t id, const struct vision_picture *picture,
		     const char *question, screen_look_h *h, void *arg);
/* The call wants no answer any more. */
void screen_looks_cancel(struct screen_looks *l, uint32_t id);

#endif
