/* What people do with a real control: Discord's commands, of alice in the text channel. */
#ifndef TESTS_CHAOS_COMMANDS_H
#define TESTS_CHAOS_COMMANDS_H

#include "tests/chaos/cluster.h"

void command_join(struct cluster *h);
void command_leave(struct cluster *h);
/* Plays the bot's tracks, over and over. True if control has taken all of that. */
bool command_play_tracks(struct cluster *h);
void command_resume(struct cluster *h);

#endif
