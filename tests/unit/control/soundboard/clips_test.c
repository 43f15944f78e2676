#include "control/soundboard/clips.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/test.h"

static struct env *env;
static struct clips *clips;
static unsigned told;

static void take_sounds(void *arg)
{
	(void)arg;
	told++;
	env_stop(env);
}

static void give_up(void *arg)
{
	(void)arg;
	env_stop(env);
}

/* Runs this in the place of decoderd. */
static bool run(const char *script)
{
	char path[] = "/tmp/clips-XXXXXX";
	struct tmr *limit = NULL;
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	bool begun;

	told = 0;
	if (!f)
		return false;
	fprintf(f, "#!/bin/sh\n%s\n", script);
	fclose(f);
	chmod(path, 0700);
	begun = env_alloc(&env, &(struct env_conf){.loop = true}) == 0 &&
		clips_alloc(&clips, env, path, "/folder", take_sounds, NULL) == 0 &&
		tmr_alloc(&limit, env, give_up, NULL) == 0;
	if (begun) {
		tmr_start(limit, 60 * NS_PER_S);
		env_run(env);
	}
	tmr_free(limit);
	unlink(path);
	return begun && told == 1;
}

static void end(void)
{
	clips = clips_free(clips);
	env = env_free(env);
}

TEST(a_folder_becomes_sounds)
{
	CHECK(run("[ \"$1 $2\" = '--sounds /folder' ] || exit 1\n"
		  "printf 'Ding\\t01000200\\nbroken\\nDING\\t0300\\ntada\\t0400\\n'"));
	CHECK_INT(clips_count(clips), 2);
	CHECK_STR(clips_at(clips, 0)->name, "Ding");
	CHECK(clips_find(clips, "dING") == clips_at(clips, 0));
	CHECK_INT(clips_at(clips, 0)->n, 2);
	CHECK_INT(clips_find(clips, "tada")->pcm[0], 4);
	CHECK(!clips_find(clips, "tad"));
	end();
}

/* Code in a jailed process of decoderd could send what it finds there as sound. */
TEST(sounds_are_decoded_without_controls_environment)
{
	CHECK_INT(setenv("AWS_SECRET_ACCESS_KEY", "planted", 1), 0);
	CHECK(run("[ -z \"$AWS_SECRET_ACCESS_KEY\" ] && printf 'Ding\\t01000200\\n'"));
	unsetenv("AWS_SECRET_ACCESS_KEY");
	CHECK_INT(clips_count(clips), 1);
	end();
}

TEST(a_folder_has_a_limit_of_sounds)
{
	CHECK(run("for i in $(seq 1 40); do printf 's%d\\t0100\\n' $i; done"));
	CHECK_INT(clips_count(clips), CLIPS_MAX);
	end();
}

TEST(without_decoderd_there_are_no_sounds)
{
	CHECK(run("exit 1"));
	CHECK_INT(clips_count(clips), 0);
	end();
	CHECK_INT(env_alloc(&env, &(struct env_conf){.loop = true}), 0);
	CHECK_INT(clips_alloc(&clips, env, "/nowhere/decoderd", "/folder", take_sounds, NULL), 0);
	CHECK_INT(clips_count(clips), 0);
	end();
	CHECK_INT(env_alloc(&env, &(struct env_conf){.loop = true}), 0);
	CHECK_INT(clips_alloc(&clips, env, "/bin/false", "", take_sounds, NULL), 0);
	CHECK_INT(clips_count(clips), 0);
	end();
	CHECK_INT(clips_alloc(&clips, NULL, "", "", NULL, NULL), EINVAL);
}

TEST_OOM(sounds_of_a_folder_without_memory)
{
	struct env *e = NULL;
	struct clips *c = NULL;
	int err = env_alloc(&e, &(struct env_conf){.loop = true});

	if (!err)
		err = clips_alloc(&c, e, "/bin/false", "", NULL, NULL);
	clips_free(c);
	env_free(e);
	CHECK_OOM(err, (void)0);
}
