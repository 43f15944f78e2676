#include "control/child.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/embedded.h"
#include "ipc/env.h"
#include "ipc/tmr.h"
#include "tests/test.h"

#define MS UINT64_C(1000000)

struct watch {
	struct env *env;
	struct tmr *deadline;
	struct child *child;
	unsigned ups, downs, lines, stop_lines;
	char line[256];
	bool timed_out;
};

static void on_line(const char *line, void *arg)
{
	struct watch *w = arg;

	snprintf(w->line, sizeof w->line, "%s", line);
	if (++w->lines == w->stop_lines)
		env_stop(w->env);
}

static void on_state(bool up, void *arg)
{
	struct watch *w = arg;

	if (up)
		w->ups++;
	else
		w->downs++;
}

static void on_deadline(void *arg)
{
	struct watch *w = arg;

	w->timed_out = true;
	env_stop(w->env);
}

static int watch_alloc(struct watch *w, const char *script, const char *const *hide)
{
	const char *argv[] = {"/bin/sh", "-c", script, NULL};
	struct env_conf conf = {.loop = true};
	int err;

	memset(w, 0, sizeof *w);
	err = env_alloc(&w->env, &conf);
	if (!err)
		err = tmr_alloc(&w->deadline, w->env, on_deadline, w);
	if (!err)
		err = child_alloc(&w->child, w->env, argv, hide, on_line, on_state, w);
	return err;
}

static bool run_for_lines(struct watch *w, unsigned n)
{
	w->stop_lines = n;
	tmr_start(w->deadline, 5000 * MS);
	env_run(w->env);
	tmr_stop(w->deadline);
	return !w->timed_out;
}

static void watch_free(struct watch *w)
{
	child_free(w->child);
	tmr_free(w->deadline);
	env_free(w->env);
}

TEST(child_is_started_again_and_ended)
{
	struct watch w;
	pid_t first, second;

	CHECK_INT(watch_alloc(&w, "echo \"up $$\"; exec sleep 100", NULL), 0);
	CHECK(run_for_lines(&w, 1));
	first = child_pid(w.child);
	CHECK(first > 0);
	CHECK(strncmp(w.line, "up ", 3) == 0 && atoi(w.line + 3) == first);
	CHECK_INT(kill(first, SIGKILL), 0);
	CHECK(run_for_lines(&w, 2));
	second = child_pid(w.child);
	CHECK(second > 0 && second != first);
	CHECK_INT(w.ups, 2);
	CHECK_INT(w.downs, 1);
	watch_free(&w);
	CHECK(kill(second, 0) != 0); /* gone, and no zombie of ours */
}

TEST(child_does_not_get_what_is_hidden)
{
	static const char *const hide[] = {"PARLEY_TEST_SECRET", NULL};
	struct watch w;

	setenv("PARLEY_TEST_SECRET", "hunter2", 1);
	CHECK_INT(watch_alloc(&w, "echo \"[$PARLEY_TEST_SECRET]\"; exec sleep 100", hide), 0);
	CHECK(run_for_lines(&w, 1));
	CHECK_STR(w.line, "[]");
	unsetenv("PARLEY_TEST_SECRET");
	watch_free(&w);
}

TEST(child_that_cannot_run_is_tried_again_later)
{
	struct watch w;

	CHECK_INT(watch_alloc(&w, "exit 3", NULL), 0);
	tmr_start(w.deadline, 400 * MS);
	env_run(w.env);
	CHECK(w.ups >= 2 && w.ups <= 3);
	watch_free(&w);
}

TEST_OOM(child_allocates)
{
	struct watch w;
	int err = watch_alloc(&w, "exec sleep 100", NULL);

	CHECK_OOM(err, watch_free(&w));
	watch_free(&w);
}

TEST(embedded_reads_the_ready_line)
{
	char url[64];
	unsigned port = 0;

	CHECK_INT(embedded_parse("{\"url\":\"ws://127.0.0.1:41234/v1/realtime\"}", url, sizeof url,
				 &port),
		  0);
	CHECK_STR(url, "ws://127.0.0.1:41234/v1/realtime");
	CHECK_INT(port, 41234);
	CHECK_INT(embedded_parse("hello", url, sizeof url, &port), EBADMSG);
	CHECK_INT(embedded_parse("{\"url\":\"ws://10.0.0.1:1/\"}", url, sizeof url, &port),
		  EBADMSG);
	CHECK_INT(embedded_parse("{\"url\":\"ws://127.0.0.1:99999/\"}", url, sizeof url, &port),
		  EBADMSG);
}

static void on_embedded(const char *url, void *arg)
{
	on_line(url, arg);
}

/* A stand-in that finds the port it had before taken by somebody else. */
static bool put_stand_in(const char *dir, char *path, size_t size)
{
	FILE *f;

	snprintf(path, size, "%s/offlined", dir);
	f = fopen(path, "w");
	if (!f)
		return false;
	fprintf(f,
		"#!/bin/sh\n[ \"$2\" = 127.0.0.1:0 ] || exit 1\n"
		"n=4001; [ ! -e %s/n ] || n=4002; : >%s/n\n"
		"echo \"{\\\"url\\\":\\\"ws://127.0.0.1:$n/\\\"}\"\nexec sleep 100\n",
		dir, dir);
	return fclose(f) == 0 && chmod(path, 0700) == 0;
}

TEST(embedded_moves_when_its_port_is_taken)
{
	const char *before = getenv("PATH");
	char dir[] = "/tmp/embedded-XXXXXX", path[64], with[4096];
	struct embedded *e = NULL;
	struct watch w = {0};

	CHECK(before && mkdtemp(dir) && put_stand_in(dir, path, sizeof path));
	snprintf(with, sizeof with, "%s:%s", dir, before);
	CHECK_INT(env_alloc(&w.env, &(struct env_conf){.loop = true}), 0);
	CHECK_INT(tmr_alloc(&w.deadline, w.env, on_deadline, &w), 0);
	setenv("PATH", with, 1);
	CHECK_INT(embedded_alloc(&e, w.env, on_embedded, &w), 0);
	CHECK(run_for_lines(&w, 1));
	CHECK_STR(w.line, "ws://127.0.0.1:4001/");
	CHECK_INT(kill(embedded_pid(e), SIGKILL), 0);
	CHECK(run_for_lines(&w, 2));
	CHECK_STR(w.line, "ws://127.0.0.1:4002/");
	setenv("PATH", with + strlen(dir) + 1, 1);
	embedded_free(e);
	tmr_free(w.deadline);
	env_free(w.env);
	unlink(path);
	snprintf(path, sizeof path, "%s/n", dir);
	unlink(path);
	rmdir(dir);
}

TEST(child_inherits_no_descriptor)
{
	struct watch w;
	int pair[2];

	CHECK_INT(pipe(pair), 0); /* as a library makes them: not close-on-exec */
	CHECK_INT(watch_alloc(&w, "echo $(ls /proc/self/fd | wc -l); exec sleep 100", NULL), 0);
	CHECK(run_for_lines(&w, 1));
	CHECK_STR(w.line, "4"); /* stdin, stdout, stderr, and the folder that ls reads */
	watch_free(&w);
	close(pair[0]);
	close(pair[1]);
}

TEST(child_programs_are_found_or_not)
{
	char buf[64];

	CHECK_INT(child_find("sh", buf, sizeof buf), 0);
	CHECK(buf[0] == '/' && strcmp(buf + strlen(buf) - 3, "/sh") == 0);
	CHECK_INT(child_find("/bin/sh", buf, sizeof buf), 0);
	CHECK_STR(buf, "/bin/sh");
	CHECK_INT(child_find("no-such-program", buf, sizeof buf), ENOENT);
	CHECK_INT(child_find("/bin/no-such-program", buf, sizeof buf), ENOENT);
	CHECK_INT(child_find("/etc/passwd", buf, sizeof buf), ENOENT);
	CHECK_INT(child_find("sh", buf, 3), ENOENT);
}
