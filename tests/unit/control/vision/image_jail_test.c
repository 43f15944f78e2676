#include "control/vision/image_jail.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/test.h"

static const uint8_t png[] = {0x89, 'P', 'N', 'G', 13,	10, 26, 10, 0, 0, 0,
			      13,   'I', 'H', 'D', 'R', 0,  0,	0,  8, 0, 0,
			      0,    8,	 8,   2,   0,	0,  0,	0,  0, 0, 0};
static const struct image_limits limits = {.side = 320, .quality = 60};
static char path[] = "/tmp/imaged-XXXXXX";
static struct env *env;
static struct image_jail *jail;
static struct tmr *limit;
static enum image_reason reasons[4];
static unsigned results;

static void stop(void *arg)
{
	(void)arg;
	env_stop(env);
}

static void take(const struct image_result *r, void *arg)
{
	(void)arg;
	reasons[results++ % 4] = r->reason;
	env_stop(env);
}

/* Runs this in the place of imaged. */
static bool begin(const char *script)
{
	int fd;
	FILE *f;

	snprintf(path, sizeof path, "/tmp/imaged-XXXXXX");
	fd = mkstemp(path);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	results = 0;
	if (!f)
		return false;
	fprintf(f, "#!/bin/sh\n%s\n", script);
	fclose(f);
	chmod(path, 0700);
	return env_alloc(&env, &(struct env_conf){.loop = true}) == 0 &&
	       image_jail_alloc(&jail, env, path) == 0 && tmr_alloc(&limit, env, stop, NULL) == 0;
}

static void end(void)
{
	tmr_free(limit);
	limit = NULL;
	jail = image_jail_free(jail);
	env = env_free(env);
	unlink(path);
}

static void run(uint64_t ms)
{
	tmr_start(limit, ms * NS_PER_MS);
	env_run(env);
}

static int ask(enum image_reason *why)
{
	int err = ENOTCONN;

	for (unsigned i = 0; err == ENOTCONN && i < 100; i++) {
		err = image_jail_decode(jail, png, sizeof png, &limits, take, NULL, why);
		if (err == ENOTCONN)
			run(10);
	}
	return err;
}

TEST(image_results_of_imaged_reach_who_asked)
{
	enum image_reason why;

	CHECK(begin("head -c 45 >/dev/null; echo 99 2; echo nonsense; echo 1 2; sleep 9"));
	CHECK_INT(ask(&why), 0);
	run(5000);
	end();
	CHECK_INT(results, 1);
	CHECK_INT(reasons[0], IMAGE_DAMAGED);
}

TEST(image_requests_end_with_imaged)
{
	enum image_reason why;

	CHECK(begin("head -c 45 >/dev/null; exit 3"));
	CHECK_INT(ask(&why), 0);
	run(5000);
	end();
	CHECK_INT(results, 1);
	CHECK_INT(reasons[0], IMAGE_CRASHED);
}

TEST(image_requests_are_checked_and_limited)
{
	enum image_reason why = IMAGE_OK;
	unsigned n = 0;

	CHECK(begin("sleep 9"));
	CHECK_INT(image_jail_decode(jail, (const uint8_t *)"GIF89a", 6, &limits, take, NULL, &why),
		  EBADMSG);
	CHECK_INT(why, IMAGE_NOT_A_PICTURE);
	while (ask(&why) == 0 && n < 100)
		n++;
	CHECK_INT(n, IMAGE_JAIL_WAITING);
	CHECK_INT(image_jail_decode(jail, png, sizeof png, &limits, take, NULL, &why), EBUSY);
	CHECK_INT(why, IMAGE_BUSY);
	image_jail_cancel(jail, NULL);
	end();
	CHECK_INT(results, 0);
}

TEST(images_need_imaged)
{
	enum image_reason why = IMAGE_OK;

	CHECK_INT(env_alloc(&env, &(struct env_conf){.loop = true}), 0);
	CHECK_INT(image_jail_alloc(&jail, env, "/no/such/program"), 0);
	CHECK_INT(image_jail_decode(jail, png, sizeof png, &limits, take, NULL, &why), ENOTCONN);
	CHECK_INT(why, IMAGE_NO_PROCESS);
	jail = image_jail_free(jail);
	env = env_free(env);
}
