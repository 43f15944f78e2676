/* The music of one agent: a short file in the agent's tone, in a loop, by control's own queue,
 * player and link to mediad. */
#ifndef TESTS_CHAOS_MUSIC_H
#define TESTS_CHAOS_MUSIC_H

#include "tests/chaos/agent.h"

struct chaos_music;
struct media_call;
struct media_msg;

/* Writes the file of each agent into this folder. errno. */
int chaos_music_write(const char *folder);

/* st is borrowed: its music_reports and music_failures count. ENOMEM. The caller owns *out. */
int chaos_music_alloc(struct chaos_music **out, enum chaos_who who, struct agent_state *st);
struct chaos_music *chaos_music_free(struct chaos_music *m);
/* Every message about the call; NULL when the call is left. */
void chaos_music_take(struct chaos_music *m, struct media_call *call, const struct media_msg *msg);

#endif
