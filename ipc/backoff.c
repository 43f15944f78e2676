#include "ipc/backoff.h"

#include "ipc/env.h"
#include "ipc/tmr.h"

void backoff_wait(struct backoff *b, struct env *env, struct tmr *t)
{
	uint32_t random = 0;

	if (b->conf->jitter_ms)
		env_random(env, &random, sizeof random);
	tmr_start(t, backoff_next(b, random));
}
