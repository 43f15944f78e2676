/* Makes a sound test of the wordings of tests/conversations: chooses items by a seed, has
 * everything spoken, and writes items.tsv (items.h), prompts.tsv (the catalogue of
 * tests/standins/prompts.h) and brain.txt (the script of a stand-in that answers). */
#ifndef TESTS_SOUND_PLAN_H
#define TESTS_SOUND_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct plan_conf {
	const char *folder;   /* where the files go */
	const char *voices;   /* where recordings are kept */
	const char *wordings; /* tests/conversations/wordings/tuned or untouched */
	unsigned items;	      /* backchannels, takeovers and asides, of each; a quarter of others */
	unsigned rooms;
	uint64_t seed;
	bool questions; /* nothing but questions, one a room */
};

/* 0, or an error that was told. */
int plan_make(const struct plan_conf *conf);

#endif
