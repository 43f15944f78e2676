#include "control/embedded.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/test.h"

struct watch {
	struct env *env;
	struct tmr *deadline;
	unsigned urls, stop_urls;
	char url[256];
	bool timed_out;
};

static void on_deadline(void *arg)
{
	struct watch *w = arg;

	w->timed_out = true;
	env_stop(w->env);
}

static bool run_for_urls(struct watch *w, unsigned n)
{
	w->stop_urls = n;
	tmr_start(w->deadline, 60000 * NS_PER_MS);
	env_run(w->env);
	tmr_stop(w->deadline);
	return !w->timed_out;
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
	struct watch *w = arg;

	snprintf(w->url, sizeof w->url, "%s", url);
	if (++w->urls == w->stop_urls)
		env_stop(w->env);
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
	CHECK_INT(embedded_alloc(&e, w.env, on_embedded, NULL, &w), 0);
	CHECK(run_for_urls(&w, 1));
	CHECK_STR(w.url, "ws://127.0.0.1:4001/");
	CHECK_INT(kill(embedded_pid(e), SIGKILL), 0);
	CHECK(run_for_urls(&w, 2));
	CHECK_STR(w.url, "ws://127.0.0.1:4002/");
	setenv("PATH", with + strlen(dir) + 1, 1);
	embedded_free(e);
	tmr_free(w.deadline);
	env_free(w.env);
	unlink(path);
	snprintf(path, sizeof path, "%s/n", dir);
	unlink(path);
	rmdir(dir);
}
