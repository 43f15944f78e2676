/* Starts the timer of the next try after the wait of proto/base/backoff.h, with jitter from the
 * env's random source. */
#ifndef IPC_BACKOFF_H
#define IPC_BACKOFF_H

#include "proto/base/backoff.h"

struct env;
struct tmr;

/* Draws a random word only for a backoff with jitter. */
void backoff_wait(struct backoff *b, struct env *env, struct tmr *t);

#endif
