/* Plays the items of a plan (plan.h) to a bot in guildd: a guild, three members and their calls for
 * each room, all rooms at the same time. Writes room-N-asker.pcm, room-N-other.pcm and
 * room-N-bot.pcm (s16le mono at 8 kHz on one clock) and played.tsv (talk.h) to the folder. */
#ifndef TESTS_SOUND_CALL_H
#define TESTS_SOUND_CALL_H

#include <stdbool.h>
#include <stdint.h>

struct call_conf {
	const char *folder; /* of the plan */
	const char *api;    /* guildd's control API */
	const char *ca, *mediad;
	uint64_t seed;
	bool noise;	     /* a fan, music and an echo, one of each in every room */
	unsigned open_mic_s; /* one question in so many seconds, over an open microphone; 0: as
				planned */
};

/* Exit status. */
int call_run(const struct call_conf *conf);

#endif
