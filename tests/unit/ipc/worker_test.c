#include "ipc/worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>

#include "tests/unit/ipc/loop.h"

enum { MAX = 1000, OWNER = 1000 };

struct job {
	unsigned n, square;
};

static struct scene {
	struct loop loop;
	struct worker *w;
	pthread_t self;
	unsigned put, done, strange;
	bool outside;
	unsigned said; /* newest answer */
	bool fails;    /* runh gives no answer */

	/* The worker's thread writes these; the test reads them when it is gone, or between steps.
	 */
	atomic_uint runs, freed, elsewhere;
	char name[16];
} scene;

static void on_start(void *arg)
{
	(void)arg;
	prctl(PR_GET_NAME, scene.name);
}

static void on_run(void *arg, struct worker_answer *answer, void *scene_arg)
{
	struct job *j = arg;
	unsigned square = j->n * j->n;

	(void)scene_arg;
	scene.runs++;
	scene.elsewhere += !pthread_equal(pthread_self(), scene.self);
	if (!scene.outside)
		j->square = square;
	else if (!scene.fails)
		worker_answer_add(answer, &square, sizeof square);
}

static void on_done(void *arg, uint64_t owner, const uint8_t *answer, size_t len, void *scene_arg)
{
	struct job *j = arg;

	(void)scene_arg;
	scene.strange += owner != OWNER + scene.done || j->n != scene.done ||
			 !pthread_equal(pthread_self(), scene.self);
	scene.said = j->square;
	if (len == sizeof scene.said)
		memcpy(&scene.said, answer, len);
	scene.strange += len != (scene.outside && !scene.fails ? sizeof scene.said : 0);
	env_output(scene.loop.env, ENV_OUT_FILE, 0, &scene.said, sizeof scene.said);
	free(j);
	if (++scene.done == scene.put)
		env_stop(scene.loop.env);
}

static void on_free(void *job)
{
	scene.freed++;
	free(job);
}

static int make_worker(bool outside, bool finish)
{
	const struct worker_conf conf = {.name = "squares",
					 .max = MAX,
					 .outside = outside,
					 .finish = finish,
					 .starth = on_start,
					 .runh = on_run,
					 .doneh = on_done,
					 .freeh = on_free};

	scene.self = pthread_self();
	scene.outside = outside;
	return worker_alloc(&scene.w, scene.loop.env, &conf);
}

static int start(bool outside, struct journal *journal)
{
	int err;

	memset(&scene, 0, sizeof scene);
	err = loop_open(&scene.loop, journal);
	return err ? err : make_worker(outside, false);
}

static int start_replay(bool outside, struct journal_reader *reader)
{
	const struct env_conf conf = {.loop = true, .replaying = true};
	int err;

	memset(&scene, 0, sizeof scene);
	err = env_alloc(&scene.loop.env, &conf);
	if (!err && reader)
		err = journal_attach(reader, scene.loop.env, 0);
	if (!err)
		err = tmr_alloc(&scene.loop.deadline, scene.loop.env, loop_late,
				&scene.loop); /* as loop_open does */
	return err ? err : make_worker(outside, false);
}

static void finish(void)
{
	scene.w = worker_free(scene.w);
	loop_close(&scene.loop);
}

static int put(void)
{
	struct job *j = calloc(1, sizeof *j);
	int err = j ? 0 : ENOMEM;

	if (j) {
		j->n = scene.put;
		err = worker_put(scene.w, j, OWNER + scene.put);
	}
	if (err)
		free(j);
	else
		scene.put++;
	return err;
}

static void check_order(bool outside)
{
	CHECK_INT(start(outside, NULL), 0);
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < 100; i++)
			CHECK_INT(put(), 0);
		CHECK(loop_run(&scene.loop));
		CHECK_INT(scene.done, scene.put);
	}
	CHECK_INT(scene.strange, 0);
	CHECK_INT(scene.runs, scene.put);
	CHECK_INT(scene.elsewhere, scene.put);
	CHECK_INT(scene.said, 1999 * 1999);
	CHECK_STR(scene.name, "squares");
	finish();
	CHECK_INT(scene.freed, 0);
}

/* Also jobs that are put after others came back. */
TEST(worker_keeps_order_of_pure_jobs)
{
	check_order(false);
}

TEST(worker_keeps_order_of_answers)
{
	check_order(true);
}

/* An answer that could not be made is an empty one. */
TEST(worker_gives_an_empty_answer)
{
	CHECK_INT(start(true, NULL), 0);
	scene.fails = true;
	CHECK_INT(put(), 0);
	CHECK(loop_run(&scene.loop));
	CHECK_INT(scene.done, 1);
	CHECK_INT(scene.strange, 0);
	finish();
}

/* Without `finish` every job is freed, run or not, and none reaches the handler. */
TEST(worker_freed_in_the_middle)
{
	CHECK_INT(start(false, NULL), 0);
	for (unsigned i = 0; i < MAX; i++)
		CHECK_INT(put(), 0);
	finish();
	CHECK_INT(scene.done, 0);
	CHECK_INT(scene.freed, MAX);
}

TEST(worker_finishes_waiting_jobs)
{
	memset(&scene, 0, sizeof scene);
	CHECK_INT(loop_open(&scene.loop, NULL), 0);
	CHECK_INT(make_worker(true, true), 0);
	for (unsigned i = 0; i < MAX; i++)
		CHECK_INT(put(), 0);
	finish();
	CHECK_INT(scene.done, 0);
	CHECK_INT(scene.runs, MAX);
	CHECK_INT(scene.freed, MAX);
}

static void check_replay(bool outside)
{
	char path[] = "/tmp/parley-worker-XXXXXX", recorded[1][65], hex[65];
	struct journal *j = NULL;
	struct journal_reader *r = NULL;
	int fd = mkstemp(path);
	uint64_t at;

	CHECK(fd >= 0);
	close(fd);
	CHECK_INT(journal_create(&j, path, 1, "{}"), 0);
	CHECK_INT(start(outside, j), 0);
	for (unsigned i = 0; i < 9; i++)
		CHECK_INT(put(), 0);
	CHECK(loop_run(&scene.loop));
	CHECK_INT(scene.said, 64);
	env_finish(scene.loop.env);
	finish();
	journal_free(j);

	CHECK_INT(journal_open(&r, path), 0);
	CHECK_INT(start_replay(outside, r), 0);
	for (unsigned i = 0; i < 9; i++)
		CHECK_INT(put(), 0);
	CHECK_INT(journal_replay(r, (struct env *[]){scene.loop.env}, 1, &at, recorded), 0);
	CHECK_INT(scene.done, 9);
	CHECK_INT(scene.said, 64);
	CHECK_INT(scene.strange, 0);
	CHECK_INT(scene.runs, outside ? 0 : 9);
	CHECK_INT(scene.elsewhere, 0);
	env_digest(scene.loop.env, hex);
	CHECK_STR(hex, recorded[0]);
	finish();
	journal_close(r);
	unlink(path);
}

/* On the thread that replays, and to the same end. */
TEST(worker_replays_pure_jobs)
{
	check_replay(false);
}

/* Without running them: the answers are those of the record. */
TEST(worker_replays_answers)
{
	check_replay(true);
}

/* On replay nothing runs before its return is delivered, so all of it waits. */
TEST(worker_refuses_more_than_its_limit)
{
	CHECK_INT(start_replay(true, NULL), 0);
	for (unsigned i = 0; i < MAX; i++)
		CHECK_INT(put(), 0);
	CHECK_INT(put(), ENOSPC);
	finish();
	CHECK_INT(scene.freed, MAX);
}

static uint8_t big[WORKER_ANSWER_MAX];

static void on_run_big(void *job, struct worker_answer *answer, void *arg)
{
	(void)job, (void)arg;
	scene.strange += worker_answer_add(answer, big, 3) != 0;
	scene.strange += worker_answer_add(answer, big, sizeof big) != EMSGSIZE;
	scene.strange += worker_answer_add(answer, big, sizeof big - 3) != 0;
	scene.strange += worker_answer_add(answer, big, 1) != EMSGSIZE;
}

static void on_done_big(void *job, uint64_t owner, const uint8_t *answer, size_t len, void *arg)
{
	(void)owner, (void)answer, (void)arg;
	scene.said = (unsigned)len;
	free(job);
	env_stop(scene.loop.env);
}

TEST(worker_bounds_an_answer)
{
	const struct worker_conf conf = {.name = "big",
					 .max = 1,
					 .outside = true,
					 .runh = on_run_big,
					 .doneh = on_done_big,
					 .freeh = on_free};

	memset(&scene, 0, sizeof scene);
	CHECK_INT(loop_open(&scene.loop, NULL), 0);
	CHECK_INT(worker_alloc(&scene.w, scene.loop.env, &conf), 0);
	CHECK_INT(put(), 0);
	CHECK(loop_run(&scene.loop));
	CHECK_INT(scene.strange, 0);
	CHECK_INT(scene.said, WORKER_ANSWER_MAX);
	finish();
}

TEST(worker_refuses_wrong_conf)
{
	struct worker_conf conf = {.name = "a name that is too long",
				   .max = 1,
				   .runh = on_run,
				   .doneh = on_done,
				   .freeh = on_free};

	memset(&scene, 0, sizeof scene);
	CHECK_INT(loop_open(&scene.loop, NULL), 0);
	CHECK_INT(worker_alloc(&scene.w, scene.loop.env, &conf), EINVAL);
	conf.name = "short";
	conf.max = 0;
	CHECK_INT(worker_alloc(&scene.w, scene.loop.env, &conf), EINVAL);
	CHECK(!worker_free(NULL));
	finish();
}

TEST_OOM(worker_oom)
{
	memset(&scene, 0, sizeof scene);
	CHECK_OOM(loop_open(&scene.loop, NULL), finish());
	CHECK_OOM(make_worker(true, false), finish());
	CHECK_OOM(put(), finish());
	finish();
}

static int post(void)
{
	struct job *j = calloc(1, sizeof *j);
	int err = j ? worker_post(scene.w, j) : ENOMEM;

	if (err)
		free(j);
	return err;
}

/* Posted jobs run in their place among the others, are freed, and nothing comes back of them. */
TEST(worker_runs_posted_jobs_without_a_result)
{
	CHECK_INT(start(true, NULL), 0);
	scene.fails = true; /* a posted job has no answer to append to */
	for (unsigned i = 0; i < 20; i++)
		CHECK_INT(post(), 0);
	CHECK_INT(put(), 0);
	CHECK(loop_run(&scene.loop));
	CHECK_INT(scene.done, 1);
	CHECK_INT(scene.runs, 21);
	CHECK_INT(scene.freed, 20);
	finish();
}

TEST(worker_frees_posted_jobs_on_replay)
{
	CHECK_INT(start_replay(true, NULL), 0);
	for (unsigned i = 0; i < 2 * MAX; i++)
		CHECK_INT(post(), 0);
	CHECK_INT(scene.freed, 2 * MAX);
	CHECK_INT(scene.runs, 0);
	finish();
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void on_run_gate(void *job, struct worker_answer *answer, void *arg)
{
	(void)job, (void)answer, (void)arg;
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
}

TEST(worker_refuses_more_posted_jobs_than_its_limit)
{
	const struct worker_conf conf = {.name = "gate",
					 .max = 3,
					 .outside = true,
					 .finish = true,
					 .runh = on_run_gate,
					 .freeh = on_free};

	memset(&scene, 0, sizeof scene);
	CHECK_INT(loop_open(&scene.loop, NULL), 0);
	CHECK_INT(worker_alloc(&scene.w, scene.loop.env, &conf), 0);
	pthread_mutex_lock(&gate);
	for (unsigned i = 0; i < 3; i++)
		CHECK_INT(post(), 0);
	CHECK_INT(post(), ENOSPC);
	CHECK_INT(put(), EINVAL); /* it has no handler of results */
	pthread_mutex_unlock(&gate);
	finish();
	CHECK_INT(scene.freed, 3);
}

/* ---- released workers ---- */

static struct {
	pthread_mutex_t gate;
	atomic_uint runs, ends;
} stalled = {.gate = PTHREAD_MUTEX_INITIALIZER};

/* As a disk that does not answer until the test lets it. */
static void run_stalled(void *job, struct worker_answer *answer, void *arg)
{
	(void)job;
	(void)answer;
	(void)arg;
	pthread_mutex_lock(&stalled.gate);
	stalled.runs++;
	pthread_mutex_unlock(&stalled.gate);
}

static void end_stalled(void *arg)
{
	(void)arg;
	stalled.ends++;
}

TEST(a_released_worker_finishes_while_nobody_waits)
{
	const struct worker_conf conf = {.name = "stalled",
					 .max = 8,
					 .outside = true,
					 .finish = true,
					 .runh = run_stalled,
					 .endh = end_stalled,
					 .freeh = free};
	struct worker *w = NULL;
	struct loop l;

	stalled.runs = stalled.ends = 0;
	CHECK_INT(loop_open(&l, NULL), 0);
	CHECK_INT(worker_alloc(&w, l.env, &conf), 0);
	pthread_mutex_lock(&stalled.gate);
	for (unsigned i = 0; i < 3; i++)
		CHECK_INT(worker_post(w, malloc(1)), 0);
	/* worker_free would wait for the gate, and for ever. */
	worker_release(w);
	loop_close(&l);
	CHECK(!worker_await_released(1));
	CHECK_INT(stalled.runs, 0);
	pthread_mutex_unlock(&stalled.gate);
	CHECK(worker_await_released(5000));
	CHECK_INT(stalled.runs, 3);
	CHECK_INT(stalled.ends, 1);
}
