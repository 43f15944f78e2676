/* Continuity: an agent that comes to a voice channel recalls the last lines that were said there,
 * in a session before. The models are told what the settings and the consent of its speakers allow
 * now (recall.h). */
#ifndef CONTROL_AGENT_CONTINUITY_H
#define CONTROL_AGENT_CONTINUITY_H

struct agent;
struct agent_continuity;

enum { CONTINUITY_HOURS = 24, CONTINUITY_LINES = 12 };

/* ENOMEM. a is borrowed; the caller owns *out. */
int agent_continuity_alloc(struct agent_continuity **out, struct agent *a);
struct agent_continuity *agent_continuity_free(struct agent_continuity *c);
/* Asks the store for lines of at most CONTINUITY_HOURS ago; they reach the room as ROOM_RECALLED.
 * Does nothing where prompts hold no memory. */
void agent_continuity_begin(struct agent_continuity *c);

#endif
