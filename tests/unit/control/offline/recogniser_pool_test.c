/* The worker threads: more utterances than recognisers, some of them dropped. */
#include "control/offline/recogniser_pool.h"
#include "control/offline/rules.h"
#include "control/offline/speech.h"
#include "control/offline/speech_queue.h"
#include "ipc/env.h"
#include "ipc/tmr.h"
#include "tests/test.h"

static struct fixture {
	struct env *env;
	struct tmr *deadline;
	int16_t *pcm;
	size_t n;
	unsigned heard, spoken, wanted;
	uint64_t order[8];
	char text[RECOGNISER_TEXT_SIZE];
	bool late, after_end;
} fx;

static void on_deadline(void *arg)
{
	fx.late = true;
	env_stop(arg);
}

static void on_heard(uint64_t id, const struct recognition *heard, void *arg)
{
	(void)arg;
	if (fx.heard < 8)
		fx.order[fx.heard] = id;
	snprintf(fx.text, sizeof fx.text, "%s", heard ? heard->text : "(failed)");
	if (++fx.heard == fx.wanted)
		env_stop(fx.env);
}

static bool keep(const int16_t *pcm, size_t n, const char *piece, void *arg)
{
	int16_t *p = realloc(fx.pcm, (fx.n + n) * sizeof *p + 1);

	(void)piece;
	(void)arg;
	if (!p)
		return false;
	memcpy(p + fx.n, pcm, n * sizeof *p);
	fx.pcm = p;
	fx.n += n;
	return true;
}

static int setup(void)
{
	struct speech *s = NULL;
	int err;

	memset(&fx, 0, sizeof fx);
	err = env_alloc(&fx.env, &(struct env_conf){.loop = true});
	if (!err)
		err = tmr_alloc(&fx.deadline, fx.env, on_deadline, fx.env);
	if (!err)
		tmr_start(fx.deadline, 600000000000u);
	if (!err)
		err = speech_alloc(&s);
	if (!err)
		err = speech_say(s, "roll two dice", "rms", 1, keep, NULL);
	speech_free(s);
	return err;
}

static void teardown(void)
{
	tmr_free(fx.deadline);
	env_free(fx.env);
	free(fx.pcm);
}

TEST(recogniser_pool_takes_more_utterances_than_it_has_ears)
{
	struct rules *rules = NULL;
	struct pattern_graph graph;
	struct recogniser_pool_conf conf = {.recognisers = 1, .h = on_heard};
	struct recogniser_pool *h = NULL;
	const char *why = "";

	CHECK_INT(setup(), 0);
	CHECK_INT(rules_alloc(&rules), 0);
	CHECK_INT(rules_graph(rules, &graph), 0);
	conf.recogniser = (struct recogniser_conf){.graph = &graph, .sounds = rules_sounds()};
	CHECK_INT(recogniser_pool_alloc(&h, fx.env, &conf, &why), 0);
	for (uint64_t id = 1; id <= 5; id++) {
		CHECK_INT(recogniser_pool_begin(h, id << 32), 0);
		CHECK_INT(recogniser_pool_feed(h, id << 32, fx.pcm, fx.n), 0);
	}
	CHECK_INT(recogniser_pool_begin(h, 2ull << 32), EEXIST);
	CHECK_INT(recogniser_pool_feed(h, 77, fx.pcm, fx.n), ENOENT);
	CHECK_INT(recogniser_pool_end(h, 77), ENOENT);
	/* 1 keeps the recogniser and says nothing; 2 is dropped, 5 too with its owner. */
	recogniser_pool_drop(h, 2ull << 32);
	recogniser_pool_drop_owner(h, 5);
	CHECK_INT(recogniser_pool_feed(h, 5ull << 32, fx.pcm, fx.n), ENOENT);
	CHECK_INT(recogniser_pool_end(h, 1ull << 32), 0);
	CHECK_INT(recogniser_pool_end(h, 4ull << 32), 0);
	CHECK_INT(recogniser_pool_end(h, 3ull << 32), 0);
	fx.wanted = 3;
	env_run(fx.env);
	CHECK(!fx.late);
	CHECK_STR(fx.text, "roll two dice");
	CHECK_INT(fx.order[0], 1ull << 32);
	/* Nothing is left that keeps it from ending. */
	CHECK_INT(recogniser_pool_begin(h, 9), 0);
	CHECK_INT(recogniser_pool_feed(h, 9, fx.pcm, fx.n), 0);
	recogniser_pool_free(h);
	pattern_graph_free(&graph);
	rules_free(rules);
	teardown();
}

static void on_spoken(uint64_t id, const int16_t *pcm, size_t n, const char *piece, bool last,
		      void *arg)
{
	(void)pcm;
	(void)arg;
	(void)piece;
	if (fx.order[id])
		fx.after_end = true;
	fx.spoken += (unsigned)n;
	if (last) {
		fx.order[id] = 1;
		if (++fx.heard == fx.wanted)
			env_stop(fx.env);
	}
}

TEST(speech_queue_says_lines_in_order_and_stops_some)
{
	struct speech_queue *t = NULL;

	CHECK_INT(setup(), 0);
	CHECK_INT(speech_queue_alloc(&t, fx.env, on_spoken, NULL), 0);
	CHECK_INT(speech_queue_say(t, 0, "One. Two.", "slt", 1), 0);
	CHECK_INT(speech_queue_say(t, 1, "A line that is long, but nobody will hear it.", "slt", 1),
		  0);
	CHECK_INT(speech_queue_say(t, 2, "Three.", "hal", 1), 0);
	speech_queue_stop(t, 1);
	fx.wanted = 3;
	env_run(fx.env);
	CHECK(!fx.late && !fx.after_end);
	CHECK(fx.spoken > 12000 && fx.spoken < 60000);
	speech_queue_stop_owner(t, 0);
	speech_queue_free(t);
	teardown();
}
