#include "tests/picture/jailed.h"

#include <errno.h>

#include "ipc/env.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

enum { LIMIT_S = 20, START_MS = 20, STARTS = 100 };

static void give_up(void *arg)
{
	const struct jailed *j = arg;

	env_stop(j->env);
}

static void take_result(const struct image_result *r, void *arg)
{
	struct jailed *j = arg;

	j->last = *r;
	if (j->resulth)
		j->resulth(&j->last);
	j->last.jpeg = j->last.grey = NULL;
	j->results++;
	env_stop(j->env);
}

bool jailed_begin(struct jailed *j, const char *program)
{
	return env_alloc(&j->env, &(struct env_conf){.loop = true}) == 0 &&
	       image_jail_alloc(&j->jail, j->env, program) == 0 &&
	       tmr_alloc(&j->limit, j->env, give_up, j) == 0;
}

void jailed_end(struct jailed *j)
{
	tmr_free(j->limit);
	j->limit = NULL;
	j->jail = image_jail_free(j->jail);
	j->env = env_free(j->env);
}

static void wait_ns(struct jailed *j, uint64_t ns)
{
	tmr_start(j->limit, ns);
	env_run(j->env);
}

bool jailed_decode(struct jailed *j, struct slice in, const struct image_limits *limits)
{
	unsigned before = j->results;
	enum image_reason why = IMAGE_OK;
	int err = image_jail_decode(j->jail, in.p, in.n, limits, take_result, j, &why);

	/* It is being started. */
	for (unsigned i = 0; err == ENOTCONN && i < STARTS; i++) {
		wait_ns(j, START_MS * NS_PER_MS);
		err = image_jail_decode(j->jail, in.p, in.n, limits, take_result, j, &why);
	}
	if (err == EBADMSG) {
		j->last = (struct image_result){.reason = why};
		return true;
	}
	if (err)
		return false;
	wait_ns(j, LIMIT_S * NS_PER_S);
	return j->results == before + 1;
}
