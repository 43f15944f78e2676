/* Prints the context that a model got for an answer: from the store, where
 * keep_contexts kept it.
 *
 *   turn 12, 2026-11-22 12:03:04 UTC, prompts 1
 *   You are a voice in a Discord room. …
 *   user bob: what was that
 *   assistant: it was the horn
 *   user: (left out)
 *   user: [alice]: and now */
#ifndef CONTROL_TOLD_H
#define CONTROL_TOLD_H

#include <stdint.h>
#include <stdio.h>

/* `control --context TURN`: the newest one of that turn (0: of any) and server (0: any). The exit
 * status. */
int told_run(FILE *out, const char *state_dir, uint64_t turn, uint64_t guild);

#endif
