#include "mediad/key_worker.h"

#include <pthread.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/journal.h"
#include "ipc/tmr.h"
#include "mediad/dave/job.h"
#include "proto/base/time.h"
#include "tests/test.h"

enum { POINT = 65, DEADLINE_S = 60 };

static struct scene {
	struct env *env;
	struct worker *w;
	struct tmr *deadline;
	unsigned awaited, done, out_of_order;
	bool timed_out, elsewhere;
	pthread_t loop;
	char code[46]; /* the last one */
} scene;

static void on_done(void *done, uint64_t owner, const uint8_t *answer, size_t len, void *arg)
{
	struct scene *s = arg;
	struct dave_job *job = done;

	(void)answer, (void)len;
	s->out_of_order += owner != 1000 + s->done;
	s->elsewhere = s->elsewhere || !pthread_equal(pthread_self(), s->loop);
	s->done++;
	memcpy(s->code, job->code, sizeof s->code);
	env_output(s->env, ENV_OUT_WS, 0, job->code, sizeof job->code);
	dave_job_free(job);
	if (s->done == s->awaited)
		env_stop(s->env);
}

static void on_deadline(void *arg)
{
	struct scene *s = arg;

	s->timed_out = true;
	env_stop(s->env);
}

static int start(struct journal *journal, struct journal_reader *reader)
{
	struct env_conf conf = {.loop = true, .replaying = reader != NULL, .journal = journal};
	int err;

	memset(&scene, 0, sizeof scene);
	scene.loop = pthread_self();
	err = env_alloc(&scene.env, &conf);
	if (!err && reader)
		err = journal_attach(reader, scene.env, 0);
	if (!err)
		err = key_worker_alloc(&scene.w, scene.env, on_done, &scene);
	if (!err)
		err = tmr_alloc(&scene.deadline, scene.env, on_deadline, &scene);
	return err;
}

static void finish(void)
{
	worker_free(scene.w);
	tmr_free(scene.deadline);
	env_free(scene.env);
}

static int key_of(struct dave_bytes *out, uint8_t fill)
{
	out->p = malloc(POINT);
	if (!out->p)
		return ENOMEM;
	memset(out->p, fill, POINT);
	out->p[0] = 4;
	out->n = POINT;
	return 0;
}

static int code_job(struct dave_job **out, uint64_t user)
{
	int err = dave_job_alloc(out, DAVE_JOB_CODE);

	if (err)
		return err;
	(*out)->user = user;
	(*out)->self = 7;
	err = key_of(&(*out)->theirs, (uint8_t)user);
	if (!err)
		err = key_of(&(*out)->mine, 1);
	if (err)
		*out = dave_job_free(*out);
	return err;
}

static int put(struct dave_job *job)
{
	int err = worker_put(scene.w, job, 1000 + scene.awaited);

	if (err)
		dave_job_free(job);
	else
		scene.awaited++;
	return err;
}

static int put_code(uint64_t user)
{
	struct dave_job *job;
	int err = code_job(&job, user);

	return err ? err : put(job);
}

static int put_quick(void)
{
	struct dave_job *job;
	int err = dave_job_alloc(&job, DAVE_JOB_DROP);

	if (!err)
		err = dave_mls_state_alloc(&job->mls_state, 7);
	return err ? err : put(job);
}

static void run(void)
{
	tmr_start(scene.deadline, DEADLINE_S * NS_PER_S);
	env_run(scene.env);
}

TEST(key_worker_gives_what_the_job_gives)
{
	struct dave_job *same;

	CHECK_INT(start(NULL, NULL), 0);
	CHECK_INT(put_code(5), 0);
	CHECK_INT(put_code(6), 0);
	run();
	CHECK(!scene.timed_out && !scene.elsewhere);
	CHECK_INT(scene.done, 2);
	CHECK_INT(code_job(&same, 6), 0);
	dave_job_run(same);
	CHECK_INT(strlen(same->code), 45);
	CHECK_STR(scene.code, same->code);
	dave_job_free(same);
	finish();
}

static int record(const char *path)
{
	struct journal *j = NULL;
	int err = journal_create(&j, path, 1, "{}");

	if (!err)
		err = start(j, NULL);
	if (!err)
		err = put_code(5);
	if (!err)
		err = put_quick();
	if (!err)
		err = put_code(6);
	if (!err)
		run();
	env_finish(scene.env);
	finish();
	journal_free(j);
	return err ? err : scene.timed_out ? ETIMEDOUT : 0;
}

/* Without a thread, on the one that replays, and to the same end. */
TEST(key_worker_replays)
{
	char path[] = "/tmp/parley-keys-XXXXXX", recorded[1][65], hex[65], code[46];
	struct journal_reader *r = NULL;
	int fd = mkstemp(path);
	uint64_t at;

	CHECK(fd >= 0);
	close(fd);
	CHECK_INT(record(path), 0);
	memcpy(code, scene.code, sizeof code);

	CHECK_INT(journal_open(&r, path), 0);
	CHECK_INT(start(NULL, r), 0);
	CHECK_INT(put_code(5), 0);
	CHECK_INT(put_quick(), 0);
	CHECK_INT(put_code(6), 0);
	CHECK_INT(scene.done, 0);
	CHECK_INT(journal_replay(r, (struct env *[]){scene.env}, 1, &at, recorded), 0);
	CHECK_INT(scene.done, 3);
	CHECK(!scene.elsewhere);
	CHECK_STR(scene.code, code);
	env_digest(scene.env, hex);
	CHECK_STR(hex, recorded[0]);
	finish();
	journal_close(r);
	unlink(path);
}

TEST_OOM(key_worker_oom)
{
	CHECK_OOM(start(NULL, NULL), finish());
	CHECK_OOM(put_code(5), finish());
	finish();
}
