/* A player with a queue, and what it orders. */
#ifndef TESTS_UNIT_CONTROL_MUSIC_PLAYER_SCENE_H
#define TESTS_UNIT_CONTROL_MUSIC_PLAYER_SCENE_H

#include "control/music/player.h"
#include "tests/test.h"
#include "tests/unit/control/music/tracks.h"

extern struct music_queue *player_queue;
extern struct music_player player;
extern char player_orders[512];
extern size_t player_orders_n; /* how many were given, since the test set it */

/* A queue of tracks whose titles are these letters. */
void player_begin(const char *letters);
void player_report(uint32_t music, enum music_phase phase, uint64_t position);
/* What the player ordered since the last time: "PLAY1a@0 NEXT2b ": the number, the title, the
 * position. */
void player_note_order(const struct music_order *o, void *arg);
const char *player_take_orders(void);
/* The same behind music_player_sync(). */
const char *player_sync(void);
/* The same behind music_player_up(). */
const char *player_up(void);

#endif
