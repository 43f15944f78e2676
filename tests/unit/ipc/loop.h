/* A loop with a deadline, and a folder of its own, for the tests of ipc. Included by one test file
 * each. */
#ifndef TESTS_UNIT_IPC_LOOP_H
#define TESTS_UNIT_IPC_LOOP_H

#include "ipc/env.h"
#include "ipc/journal.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/test.h"

#include <dirent.h>
#include <unistd.h>

struct loop {
	struct env *env;
	struct tmr *deadline;
	bool late;
};

static inline void loop_late(void *arg)
{
	struct loop *l = arg;

	l->late = true;
	env_stop(l->env);
}

/* 0 or the error of what failed. */
static inline int loop_open(struct loop *l, struct journal *j)
{
	const struct env_conf conf = {.loop = true, .journal = j};
	int err;

	memset(l, 0, sizeof *l);
	err = env_alloc(&l->env, &conf);
	return err ? err : tmr_alloc(&l->deadline, l->env, loop_late, l);
}

static inline void loop_close(struct loop *l)
{
	l->deadline = tmr_free(l->deadline);
	l->env = env_free(l->env);
}

/* Until somebody stops the loop. False when nobody did in 60 s, which a sanitizer on a
 * busy machine may need. */
static inline bool loop_run(struct loop *l)
{
	tmr_start(l->deadline, 60 * NS_PER_S);
	env_run(l->env);
	tmr_stop(l->deadline);
	return !l->late;
}

static inline void loop_stop(void *arg)
{
	struct loop *l = arg;

	env_stop(l->env);
}

/* Runs for so long, for what must not happen. */
static inline void loop_run_for(struct loop *l, uint64_t ns)
{
	struct tmr *t;

	if (tmr_alloc(&t, l->env, loop_stop, l))
		return;
	tmr_start(t, ns);
	loop_run(l);
	tmr_free(t);
}

/* Runs until the condition holds, or for 20 s, for what another process or thread does. */
#define LOOP_UNTIL(l, condition)                                                                   \
	do {                                                                                       \
		for (unsigned step_ = 0; step_ < 4000 && !(condition); step_++)                    \
			loop_run_for(l, 5 * NS_PER_MS);                                            \
	} while (0)

static inline bool folder_make(char dir[32])
{
	strcpy(dir, "/tmp/parley-ipc-XXXXXX");
	return mkdtemp(dir) != NULL;
}

/* Removes it with the files in it. */
static inline void folder_remove(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[512];

	while (d && (e = readdir(d))) {
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		unlink(path);
	}
	if (d)
		closedir(d);
	rmdir(dir);
}

#endif
