/* The soundboard sounds that an answer or a tool plays: decides whether one may play now, has the
 * agent's owner play it, and tells the room or the tool when it has begun and ended.
 *
 * A sound that cannot be played is left out of the answer without a word: the event sound_dropped
 * has the reason. Nothing plays for an answer that was cut. For control/agent only. */
#ifndef CONTROL_AGENT_AGENT_SOUNDS_H
#define CONTROL_AGENT_AGENT_SOUNDS_H

#include <stdint.h>

struct agent;
struct agent_sounds;
struct room_effect;
struct room_turn;

/* The chunk of a sound that a tool plays; those of answers are small numbers. */
#define AGENT_SOUND_TOOL UINT32_MAX

/* R(errno, name): why a sound was not played. 0 is "played". */
#define AGENT_SOUND_REASONS(R)                                                                     \
	R(ENOENT, "unknown")                                                                       \
	R(EEXIST, "ambiguous")                                                                     \
	R(EBUSY, "too_many")                                                                       \
	R(EPERM, "muted")                                                                          \
	R(EACCES, "refused")                                                                       \
	R(ENOTSUP, "off")                                                                          \
	R(EXDEV, "not_allowed")                                                                    \
	R(ECANCELED, "cut")

/* EINVAL, ENOMEM. Caller owns *out. */
int agent_sounds_alloc(struct agent_sounds **out, struct agent *a);
struct agent_sounds *agent_sounds_free(struct agent_sounds *s);
/* ROOM_DO_SOUNDBOARD, or the SAY effects of an answer. */
void agent_sounds_effect(struct agent_sounds *s, const struct room_effect *e);
/* A tool's sound; call is the number of its call. 0: the tool's output comes later; or an errno. */
int agent_sounds_call(struct agent_sounds *s, uint32_t call, const char *name);
/* The turn is over: its sounds end, unless it was answered. */
void agent_sounds_over(struct agent_sounds *s, const struct room_turn *turn);

#endif
