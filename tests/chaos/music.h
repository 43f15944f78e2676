/* The music of one agent: TONE_TRACKS files in tones of the agent's own, over and over, by
 * control's own queue, player and link to mediad. The queue is kept as control's store keeps it, so
 * that another agent goes on with it. */
#ifndef TESTS_CHAOS_MUSIC_H
#define TESTS_CHAOS_MUSIC_H

#include "tests/chaos/agent.h"
#include "tests/chaos/tone.h"

struct chaos_music;
struct media_call;
struct media_msg;

enum { CHAOS_TRACK_S = 4 };

/* Writes the files of each agent: FOLDER/PERSON/TRACK.wav. errno. */
int chaos_music_write(const char *folder);
/* Static. */
const char *chaos_track_name(unsigned track);

/* st is borrowed. Goes on with the queue of st if there is one. errno. The caller owns *out. */
int chaos_music_alloc(struct chaos_music **out, enum chaos_who who, struct agent_state *st);
struct chaos_music *chaos_music_free(struct chaos_music *m);
/* Every message about the call. */
void chaos_music_take(struct chaos_music *m, struct media_call *call, const struct media_msg *msg);
/* The call is left. */
void chaos_music_leave(struct chaos_music *m);
/* Asks for music again, as people do, if it has been halted for a while. Time in ns. */
void chaos_music_tick(struct chaos_music *m, uint64_t now);

#endif
