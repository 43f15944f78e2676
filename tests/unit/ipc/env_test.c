#include "tests/unit/ipc/loop.h"
#include "tests/unit/ipc/zone.h"

#include "proto/base/time.h"

#include <event2/event.h>

enum { MANY = 200 };

static struct {
	struct loop l;
	char order[16];
	unsigned n;
	struct tmr *a, *b, *c;
	uint64_t due, fired, inside[2];
} fx;

static void note(char c)
{
	if (fx.n < sizeof fx.order - 1)
		fx.order[fx.n++] = c;
}

static void on_a(void *arg)
{
	(void)arg;
	note('a');
}

static void on_b(void *arg)
{
	(void)arg;
	note('b');
}

static void on_c(void *arg)
{
	(void)arg;
	note('c');
	env_stop(fx.l.env);
}

static bool begin(void)
{
	memset(&fx, 0, sizeof fx);
	return !loop_open(&fx.l, NULL) && !tmr_alloc(&fx.a, fx.l.env, on_a, NULL) &&
	       !tmr_alloc(&fx.b, fx.l.env, on_b, NULL) && !tmr_alloc(&fx.c, fx.l.env, on_c, NULL);
}

static void end(void)
{
	fx.a = tmr_free(fx.a);
	fx.b = tmr_free(fx.b);
	fx.c = tmr_free(fx.c);
	loop_close(&fx.l);
}

TEST(timers_fire_by_their_time)
{
	CHECK(begin());
	tmr_start(fx.c, 9 * NS_PER_MS);
	tmr_start(fx.b, 6 * NS_PER_MS);
	tmr_start(fx.a, 3 * NS_PER_MS);
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.order, "abc");
	end();
}

TEST(a_restarted_timer_fires_once_and_a_stopped_one_never)
{
	CHECK(begin());
	tmr_start(fx.a, 1 * NS_PER_MS);
	tmr_start(fx.a, 6 * NS_PER_MS);
	tmr_start(fx.b, 2 * NS_PER_MS);
	tmr_stop(fx.b);
	tmr_stop(fx.b);
	tmr_start(fx.c, 9 * NS_PER_MS);
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.order, "ac");
	end();
}

TEST(a_time_that_has_passed_fires_at_once)
{
	CHECK(begin());
	tmr_start_at(fx.a, 1);
	tmr_start_at(fx.c, env_now(fx.l.env) + 3 * NS_PER_MS);
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.order, "ac");
	end();
}

/* A handler that is slow before it starts its timer must still get the whole delay. */
static void on_due(void *arg)
{
	if (!fx.due) {
		struct tmr *t = *(struct tmr **)arg;
		uint64_t now = env_now(fx.l.env);

		usleep(5000);
		fx.inside[0] = now;
		fx.inside[1] = env_now(fx.l.env);
		fx.due = now + 8 * NS_PER_MS;
		tmr_start(t, 8 * NS_PER_MS);
		return;
	}
	fx.fired = env_now(fx.l.env);
	env_stop(fx.l.env);
}

TEST(time_stands_still_in_a_step_and_no_timer_is_early)
{
	struct tmr *t;
	uint64_t before;

	CHECK(begin());
	CHECK_INT(tmr_alloc(&t, fx.l.env, on_due, &t), 0);
	tmr_start(t, 0);
	CHECK(loop_run(&fx.l));
	CHECK(fx.inside[0] && fx.inside[0] == fx.inside[1]);
	CHECK(fx.fired >= fx.due);
	before = env_now(fx.l.env);
	CHECK(before >= fx.fired);
	usleep(1000);
	CHECK(env_now(fx.l.env) > before);
	tmr_free(t);
	end();
}

static void on_free_self(void *arg)
{
	(void)arg;
	note('s');
	fx.a = tmr_free(fx.a);
	fx.b = tmr_free(fx.b);
}

TEST(a_timer_may_free_itself_and_another_that_is_due)
{
	CHECK(begin());
	tmr_free(fx.a);
	CHECK_INT(tmr_alloc(&fx.a, fx.l.env, on_free_self, NULL), 0);
	tmr_start(fx.a, 1 * NS_PER_MS);
	tmr_start(fx.b, 1 * NS_PER_MS + 1000);
	tmr_start(fx.c, 5 * NS_PER_MS);
	usleep(3000); /* both are due in the same turn */
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.order, "sc");
	end();
}

TEST(a_stop_that_came_before_ends_the_run_at_once)
{
	CHECK(begin());
	tmr_start(fx.a, 0);
	env_stop(fx.l.env);
	env_run(fx.l.env);
	CHECK_STR(fx.order, "");
	tmr_start(fx.c, 1 * NS_PER_MS);
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.order, "ac");
	end();
}

/* ---- sources ---- */
static struct {
	unsigned n;
	uint8_t kind, data[8];
	size_t len;
	void *arg;
} got;

static void on_input(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	got.n++;
	got.kind = kind;
	got.len = len;
	if (len && len <= sizeof got.data)
		memcpy(got.data, data, len);
	got.arg = arg;
}

TEST(an_input_reaches_its_source_until_that_is_gone)
{
	uint32_t one, two, ids[MANY];
	int x, y;

	CHECK(begin());
	memset(&got, 0, sizeof got);
	CHECK_INT(env_source_add(fx.l.env, &one, NULL, NULL), EINVAL);
	CHECK_INT(env_source_add(fx.l.env, &one, on_input, &x), 0);
	CHECK_INT(env_source_add(fx.l.env, &two, on_input, &y), 0);
	CHECK(one && two && one != two);
	env_deliver(fx.l.env, two, 7, "abc", 3);
	CHECK(got.n == 1 && got.kind == 7 && got.arg == &y);
	CHECK_MEM(got.data, got.len, "abc", 3);
	env_source_del(fx.l.env, two);
	env_source_del(fx.l.env, two);
	env_source_del(fx.l.env, 0);
	env_deliver(fx.l.env, two, 7, NULL, 0);
	env_deliver(fx.l.env, 0, 7, NULL, 0);
	env_deliver(fx.l.env, 123456, 7, NULL, 0);
	CHECK_INT(got.n, 1);
	/* The table of a loop grows, and what was there stays. */
	for (unsigned i = 0; i < MANY; i++)
		CHECK_INT(env_source_add(fx.l.env, &ids[i], on_input, &ids[i]), 0);
	env_deliver(fx.l.env, one, 1, NULL, 0);
	CHECK(got.arg == &x);
	env_deliver(fx.l.env, ids[MANY - 1], 1, NULL, 0);
	CHECK(got.arg == &ids[MANY - 1]);
	end();
}

TEST(an_audio_thread_has_a_table_of_fixed_size)
{
	const struct env_conf conf = {.thread = 1};
	struct env *env;
	uint32_t id;

	CHECK_INT(env_alloc(&env, &conf), 0);
	CHECK(!env_base(env));
	for (unsigned i = 0; i < ENV_MAX_SOURCES_AUDIO; i++)
		CHECK_INT(env_source_add(env, &id, on_input, NULL), 0);
	CHECK_INT(env_source_add(env, &id, on_input, NULL), ENOSPC);
	env_source_del(env, id);
	CHECK_INT(env_source_add(env, &id, on_input, NULL), 0);
	env_free(env);
}

TEST(without_a_journal_there_is_no_digest)
{
	char hex[65];

	CHECK(begin());
	env_output(fx.l.env, ENV_OUT_WS, 1, "abc", 3);
	env_digest(fx.l.env, hex);
	CHECK_INT(strlen(hex), 64);
	CHECK_INT(strspn(hex, "0"), 64);
	end();
}

TEST(random_bytes_differ_and_wall_time_is_sane)
{
	uint8_t a[32], b[32];

	CHECK(begin());
	env_random(fx.l.env, a, sizeof a);
	env_random(fx.l.env, b, sizeof b);
	CHECK(memcmp(a, b, sizeof a) != 0);
	CHECK(env_wall_ms(fx.l.env) > UINT64_C(1600000000000));
	CHECK_INT(env_answer(fx.l.env, -11), -11);
	end();
}

TEST(the_offset_from_utc_is_that_of_the_machines_zone)
{
	CHECK(begin());
	zone_set("XXX-03:30");
	CHECK_INT(env_utc_offset(fx.l.env, ""), 12600);
	zone_set("XXX05:00");
	CHECK_INT(env_utc_offset(fx.l.env, ""), -18000);
	CHECK_INT(env_utc_offset(fx.l.env, "Nowhere/City"), -18000);
	CHECK_INT(env_utc_offset(fx.l.env, "Asia/Tokyo"), 32400);
	CHECK_INT(env_utc_offset_at(fx.l.env, "Europe/Berlin", UINT64_C(1774746000000)), 7200);
	CHECK_INT(env_utc_offset_at(fx.l.env, "Europe/Berlin", UINT64_C(1774745999000)), 3600);
	zone_set(NULL);
	end();
}

TEST_OOM(env_and_timer_survive_every_failed_allocation)
{
	struct env_conf conf = {.loop = true};
	struct env *env = NULL;
	struct tmr *t = NULL;

	CHECK_OOM(env_alloc(&env, &conf), (void)0);
	CHECK_OOM(tmr_alloc(&t, env, on_a, NULL), env_free(env));
	tmr_free(t);
	env_free(env);
}

/* ---- many timers ---- */

static struct crowd {
	struct loop l;
	struct tmr *t[MANY];
	uint64_t due[MANY], last;
	unsigned fired, early, disorder;
} crowd;

static void on_one(void *arg)
{
	uint64_t due = *(uint64_t *)arg;

	crowd.early += env_now(crowd.l.env) < due;
	crowd.disorder += due < crowd.last;
	crowd.last = due;
	if (++crowd.fired == MANY / 2)
		env_stop(crowd.l.env);
}

/* In the order of their times, however they were started, restarted and stopped. */
TEST(many_timers_fire_in_order)
{
	uint64_t now;

	memset(&crowd, 0, sizeof crowd);
	CHECK_INT(loop_open(&crowd.l, NULL), 0);
	for (unsigned i = 0; i < MANY; i++)
		CHECK_INT(tmr_alloc(&crowd.t[i], crowd.l.env, on_one, &crowd.due[i]), 0);
	now = env_now(crowd.l.env);
	for (unsigned i = 0; i < MANY; i++)
		tmr_start(crowd.t[i], (i * 37 % 61) * NS_PER_MS);
	for (unsigned i = 0; i < MANY; i++) {
		crowd.due[i] = now + 1000 * NS_PER_US * (2 + i * 7919 % 997 / 40);
		tmr_start_at(crowd.t[i], crowd.due[i]);
	}
	for (unsigned i = 0; i < MANY; i += 2)
		tmr_stop(crowd.t[i]);
	CHECK(loop_run(&crowd.l));
	CHECK_INT(crowd.fired, MANY / 2);
	CHECK_INT(crowd.early, 0);
	CHECK_INT(crowd.disorder, 0);
	for (unsigned i = 0; i < MANY; i++)
		tmr_free(crowd.t[i]);
	loop_close(&crowd.l);
}

/* A slow machine starts timers whose times are over: they fire in the order of these. */
TEST(timers_of_the_past_fire_in_order)
{
	uint64_t now;

	memset(&crowd, 0, sizeof crowd);
	CHECK_INT(loop_open(&crowd.l, NULL), 0);
	now = env_now(crowd.l.env);
	for (unsigned i = 0; i < MANY / 2; i++) {
		CHECK_INT(tmr_alloc(&crowd.t[i], crowd.l.env, on_one, &crowd.due[i]), 0);
		crowd.due[i] = now - i * NS_PER_US;
		tmr_start_at(crowd.t[i], crowd.due[i]);
	}
	CHECK(loop_run(&crowd.l));
	CHECK_INT(crowd.fired, MANY / 2);
	CHECK_INT(crowd.disorder, 0);
	for (unsigned i = 0; i < MANY / 2; i++)
		tmr_free(crowd.t[i]);
	loop_close(&crowd.l);
}

/* ---- priorities ---- */

enum { LATE = 3 };

static struct event *usual, *late[LATE];
static int ends[2];

static void on_usual(evutil_socket_t fd, short what, void *arg)
{
	char byte;

	(void)what;
	(void)arg;
	if (read(fd, &byte, 1) == 1)
		note('u');
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	note((char)('1' + *(const int *)arg));
	/* Something comes in while others of this priority wait. */
	if (fx.n <= 4)
		CHECK_INT(write(ends[1], "x", 1), 1);
}

TEST(what_may_wait_is_handled_one_at_a_time_behind_everything_else)
{
	static const int number[LATE] = {0, 1, 2};

	CHECK(begin());
	CHECK_INT(pipe(ends), 0);
	usual = event_new(env_base(fx.l.env), ends[0], EV_READ | EV_PERSIST, on_usual, NULL);
	CHECK(usual != NULL);
	CHECK_INT(event_add(usual, NULL), 0);
	CHECK_INT(write(ends[1], "x", 1), 1);
	for (unsigned i = 0; i < LATE; i++) {
		late[i] = event_new(env_base(fx.l.env), -1, 0, on_late,
				    (void *)(uintptr_t)&number[i]);
		CHECK(late[i] != NULL);
		CHECK_INT(event_priority_set(late[i], ENV_LAST), 0);
		event_active(late[i], EV_TIMEOUT, 0);
	}
	tmr_start(fx.c, 5 * NS_PER_MS);
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.order, "u1u2u3c");
	for (unsigned i = 0; i < LATE; i++)
		event_free(late[i]);
	event_free(usual);
	close(ends[0]);
	close(ends[1]);
	end();
}
