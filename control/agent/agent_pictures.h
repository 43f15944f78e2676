/* What people attach in the chat of the voice channel, for the models of the room: looked at as
 * soon as it comes, kept in memory for a while, and told before a question; a voice's session is
 * shown it at once. Images go to models that take them; others are told what the role see says. */
#ifndef CONTROL_AGENT_AGENT_PICTURES_H
#define CONTROL_AGENT_AGENT_PICTURES_H

#include "control/agent/agent.h"
#include "control/engine/core/ask.h"

struct agent_pictures;
struct tool_look;

enum {
	AGENT_PICTURES = 8,	  /* that are kept; the oldest go */
	AGENT_PICTURES_SHOWN = 4, /* images of one question */
	AGENT_PICTURES_S = 600,	  /* after which they go */
};

/* ENOMEM. *out: NULL where nothing that is attached is looked at. Caller owns *out. */
int agent_pictures_alloc(struct agent_pictures **out, struct agent *a,
			 const struct agent_conf *conf);
/* These accept NULL. */
struct agent_pictures *agent_pictures_free(struct agent_pictures *p);
void agent_pictures_settings(struct agent_pictures *p);
/* Somebody wrote this, whose words may be told. */
void agent_pictures_typed(struct agent_pictures *p, const struct agent_typed *typed);
/* The message is gone, or (0) all that this user showed. True if a voice's session was shown
 * something of it. */
bool agent_pictures_drop(struct agent_pictures *p, uint64_t message, uint64_t user);
/* What was shown lately, to the model of this turn. False: nothing. images: AGENT_PICTURES_SHOWN;
 * *text is the caller's to free. */
bool agent_pictures_message(const struct agent_pictures *p, uint32_t turn, struct engine_message *m,
			    struct engine_image *images, char **text);
/* Of struct tool_host. */
bool agent_pictures_looks(const struct agent_pictures *p);
int agent_pictures_look(struct agent_pictures *p, uint32_t id, const struct tool_look *what);
void agent_pictures_cancel(struct agent_pictures *p, uint32_t id);

#endif
