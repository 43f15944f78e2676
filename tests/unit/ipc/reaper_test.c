#include "ipc/reaper.h"

#include <signal.h>

#include "ipc/child.h"
#include "proto/base/time.h"
#include "tests/unit/ipc/loop.h"

static struct {
	struct loop loop;
	struct reaper *reaper;
	unsigned lines, states;
} rig;

static void on_line(const char *line, size_t len, void *arg)
{
	(void)line;
	(void)len;
	(void)arg;
	rig.lines++;
	env_stop(rig.loop.env);
}

static void on_state(bool up, int status, void *arg)
{
	(void)up;
	(void)status;
	(void)arg;
	rig.states++;
}

/* A child that has told its first line. */
static struct child *start(const char *script)
{
	const char *const argv[] = {"/bin/sh", "-c", script, NULL};
	struct child *c = NULL;
	unsigned lines = rig.lines;

	if (child_alloc(&c, rig.loop.env,
			&(struct child_conf){
				.argv = argv, .once = true, .lineh = on_line, .stateh = on_state}))
		return NULL;
	if (!loop_run(&rig.loop) || rig.lines != lines + 1)
		return child_free(c);
	return c;
}

static bool begin(void)
{
	memset(&rig, 0, sizeof rig);
	return loop_open(&rig.loop, NULL) == 0 && reaper_alloc(&rig.reaper, rig.loop.env) == 0;
}

static void end(void)
{
	reaper_free(rig.reaper);
	loop_close(&rig.loop);
}

TEST(reaper_frees_a_child_once_it_has_ended)
{
	struct child *c;
	pid_t pid;

	CHECK(begin());
	c = start("echo up; sleep 60");
	CHECK(c);
	pid = child_pid(c);
	rig.states = 0;
	reaper_take(rig.reaper, c);
	CHECK_INT(reaper_count(rig.reaper), 1);
	LOOP_UNTIL(&rig.loop, !reaper_count(rig.reaper));
	CHECK_INT(reaper_count(rig.reaper), 0);
	CHECK_INT(rig.states, 0);
	CHECK(kill(pid, 0) != 0);
	end();
}

/* Freeing the reaper kills what ignores SIGTERM, and the limit counts once for all. */
TEST(reaper_kills_children_that_do_not_end)
{
	static const char script[] = "trap '' TERM; echo up; while :; do sleep 1; done";
	struct child *c[3];
	pid_t pid[3];

	CHECK(begin());
	for (unsigned i = 0; i < 3; i++) {
		c[i] = start(script);
		CHECK(c[i]);
		pid[i] = child_pid(c[i]);
	}
	for (unsigned i = 0; i < 3; i++)
		reaper_take(rig.reaper, c[i]);
	CHECK_INT(reaper_count(rig.reaper), 3);
	end();
	for (unsigned i = 0; i < 3; i++)
		CHECK(kill(pid[i], 0) != 0);
}

TEST(reaper_takes_children_that_do_not_run)
{
	const char *const argv[] = {"/bin/true", NULL};
	struct child *c;

	CHECK(begin());
	CHECK_INT(child_alloc(&c, rig.loop.env, &(struct child_conf){.argv = argv}), 0);
	reaper_take(rig.reaper, c);
	reaper_take(rig.reaper, NULL);
	CHECK_INT(reaper_count(rig.reaper), 1);
	LOOP_UNTIL(&rig.loop, !reaper_count(rig.reaper));
	CHECK_INT(reaper_count(rig.reaper), 0);
	end();
}

TEST(child_free_takes_its_wait_from_the_shared_limit)
{
	unsigned left_ms = 100;
	struct child *c;

	CHECK(begin());
	c = start("trap '' TERM; echo up; while :; do sleep 1; done");
	CHECK(c);
	child_free_within(c, &left_ms);
	CHECK_INT(left_ms, 0);
	end();
}
