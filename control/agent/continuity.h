/* Continuity: an agent that comes to a voice channel recalls the last lines that were said there,
 * and summaries of the sessions before. The models are told what the settings and the consent of
 * its speakers allow now (recall.h). */
#ifndef CONTROL_AGENT_CONTINUITY_H
#define CONTROL_AGENT_CONTINUITY_H

struct agent;
struct agent_continuity;

struct memory_slice;

/* The summaries of the last session, if it ended at most CONTINUITY_HOURS ago, enter prompts,
 * whatever the question, once one of their people is there again, until people have heard an
 * answer to a question with them. */
enum { CONTINUITY_HOURS = 24, CONTINUITY_LINES = 12 };

/* ENOMEM. a is borrowed; the caller owns *out. */
int agent_continuity_alloc(struct agent_continuity **out, struct agent *a);
struct agent_continuity *agent_continuity_free(struct agent_continuity *c);
/* Asks the store for lines of at most CONTINUITY_HOURS ago, which reach the room as ROOM_RECALLED,
 * and for summaries of memory_days.
 * Does nothing where prompts hold no memory. */
void agent_continuity_begin(struct agent_continuity *c);
/* Asks for the summaries again: a fact was forgotten, and a summary may have gone with it. */
void agent_continuity_renew(struct agent_continuity *c);
/* Adds what was left unfinished when the last conversation ended (unfinished.h), while everybody
 * for whom it was is there again. */
void agent_continuity_add_unfinished(struct agent_continuity *c, struct memory_slice *s);
/* The model is asked with this slice: after the next answer that people hear, what was unfinished
 * and the summaries of the last session are told no more. */
void agent_continuity_note_told(struct agent_continuity *c, const char *memory);
/* Adds the summaries that fit the question, and those of the last session if they were not told
 * yet. */
void agent_continuity_add(struct agent_continuity *c, struct memory_slice *s, const char *question);

#endif
