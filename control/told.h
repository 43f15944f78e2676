/* Prints the context that a model got for an answer: from the store, where
 * keep_contexts kept it.
 *
 *   turn 12, 2026-11-22 12:03:04 UTC, prompts 1       (answer 12 in channel 7 of server 1, …)
 *   You are a voice in a Discord room. …
 *   user bob: what was that
 *   assistant: it was the horn
 *   user: (left out)
 *   user: [alice]: and now */
#ifndef CONTROL_TOLD_H
#define CONTROL_TOLD_H

#include <stdio.h>

#include "control/why.h"

/* `control --context[=TURN]`: the newest one of that turn or written answer (its number, 0: any)
 * and server (0: any), or that of the answer to a written message. Nothing is printed to out if the
 * newest answer of that number is another one, of which nothing is kept. The exit status. */
int told_run(FILE *out, const struct why_query *q);

#endif
