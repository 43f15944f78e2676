/* Control with two mediads: where a call is placed, and where it goes. */
#include <time.h>

#include "control/media/call.h"
#include "ipc/env_replay.h"
#include "tests/unit/control/media/toy_mediad.h"

static uint64_t ahead_ns; /* of the system's clock */

static uint64_t read_clock(void *arg)
{
	struct timespec ts;

	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of_timespec(&ts) + ahead_ns;
}

/* Control wants a call, and only t's mediad listens. */
static bool start_with_two(struct toy *t, struct toy *other)
{
	const char *socks[] = {t->path, other->path, NULL};
	struct media_conf conf = {.socks = socks, .user = 900, .epoch = 10};

	if (toy_alloc(t))
		return false;
	ahead_ns = 0;
	env_replay_clock(t->env, read_clock, NULL);
	*other = (struct toy){.answers_pings = true, .env = t->env};
	snprintf(other->path, sizeof other->path, "%s/o", t->dir);
	return !toy_listen(t) && !media_alloc(&t->media, t->env, &conf) &&
	       !media_call_open(&t->call, t->media, &toy_want, toy_on_call, t);
}

/* The call is open at t's mediad; the other one's does not listen yet. */
static bool begin_with_two(struct toy *t, struct toy *other)
{
	return start_with_two(t, other) && toy_run_until(t, MEDIA_CALL_OPEN, 1);
}

/* The other one's mediad is synced, while t's has reported the call in its n-th connection, without
 * SYNCED. */
static bool report_beside(struct toy *t, struct toy *other, unsigned n)
{
	if (toy_listen(other) || !toy_run_until(t, MEDIA_HELLO, n))
		return false;
	for (unsigned i = 0; i < 100 && !other->hellos; i++)
		toy_settle(t);
	toy_settle(t);
	return other->hellos == 1;
}

/* t's mediad was away and reports the call again. */
static bool report_again(struct toy *t, struct toy *other)
{
	toy_gone(t);
	toy_settle(t);
	t->holds_call = t->still_reports = true;
	return !toy_listen(t) && report_beside(t, other, 2);
}

/* t's mediad has the call of the control before. */
static bool report_first(struct toy *t, struct toy *other)
{
	if (!start_with_two(t, other))
		return false;
	t->holds_call = t->still_reports = true;
	return report_beside(t, other, 1);
}

/* t's mediad stays away. */
static bool goes_to(struct toy *t, const struct toy *other)
{
	ahead_ns = (MEDIA_MOVE_MS + 100) * NS_PER_MS;
	media_wake(t->media, 0);
	for (unsigned i = 0; i < 100 && !other->count[MEDIA_CALL_OPEN]; i++)
		toy_settle(t);
	return other->count[MEDIA_CALL_OPEN] == 1;
}

static void end_with_two(struct toy *t, struct toy *other)
{
	t->media = media_free(t->media); /* the other toy's socket goes first */
	t->call = NULL;
	toy_gone(other);
	toy_free(t);
}

/* It would be in the call twice: the first mediad keeps a call that was taken for ours. */
TEST(media_does_not_move_a_call_that_its_mediad_has_reported_again)
{
	struct toy t, other;

	CHECK(begin_with_two(&t, &other));
	CHECK(report_again(&t, &other));
	media_wake(t.media, 0);
	ahead_ns = (MEDIA_MOVE_MS + 100) * NS_PER_MS;
	toy_settle(&t);
	toy_send(&t, (struct media_msg){.type = MEDIA_SYNCED, .synced = {.calls = 1}});
	toy_settle(&t);
	CHECK_INT(other.count[MEDIA_CALL_OPEN], 0);
	CHECK_INT(t.count[MEDIA_CALL_SET], 1);
	end_with_two(&t, &other);
}

/* Its report is not the truth any more: the call goes to the other mediad. */
TEST(media_moves_a_call_whose_mediad_is_lost_while_it_reports)
{
	struct toy t, other;
	unsigned states;

	CHECK(begin_with_two(&t, &other));
	CHECK(report_again(&t, &other));
	states = t.states;
	toy_gone(&t);
	toy_settle(&t);
	CHECK_INT(t.states, states + 1);
	CHECK_INT(media_call_last(t.call)->phase, MEDIA_PHASE_UNKNOWN);
	CHECK(goes_to(&t, &other));
	end_with_two(&t, &other);
}

/* A new control has had nothing from this mediad but the report. */
TEST(media_moves_a_call_whose_mediad_is_lost_in_its_first_report)
{
	struct toy t, other;

	CHECK(report_first(&t, &other));
	toy_gone(&t);
	toy_settle(&t);
	CHECK_INT(media_call_last(t.call)->phase, MEDIA_PHASE_UNKNOWN);
	CHECK(goes_to(&t, &other));
	end_with_two(&t, &other);
}

/* Speech and leases find no call before SYNCED, although another mediad is synced. */
TEST(media_tells_a_reported_state_when_its_own_mediad_is_synced)
{
	struct toy t, other;

	CHECK(report_first(&t, &other));
	CHECK_INT(t.states, 0);
	toy_send(&t, (struct media_msg){.type = MEDIA_SYNCED, .synced = {.calls = 1}});
	toy_settle(&t);
	CHECK_INT(t.states, 1);
	CHECK_INT(t.count[MEDIA_CALL_SET], 1);
	end_with_two(&t, &other);
}

/* Both mediads are synced, and t's has the call. */
static bool begin_with_both(struct toy *t, struct toy *other)
{
	return begin_with_two(t, other) && report_beside(t, other, 1);
}

static void refuse_call(struct toy *t, struct toy *at)
{
	toy_state(at, at->call_id, 0, 0, MEDIA_PHASE_FAILED, false);
	toy_settle(t);
}

TEST(media_tries_each_mediad_when_one_has_no_room)
{
	struct toy t, other;
	unsigned states;

	CHECK(begin_with_both(&t, &other));
	states = t.states;
	refuse_call(&t, &other); /* of a call that it was not given */
	refuse_call(&t, &t);
	CHECK_INT(other.count[MEDIA_CALL_OPEN], 1);
	CHECK_INT(t.states, states + 1);
	CHECK_INT(media_call_last(t.call)->phase, MEDIA_PHASE_WAITING);
	/* None has room: the owner is told. */
	refuse_call(&t, &other);
	CHECK_INT(t.states, states + 2);
	CHECK_INT(media_call_last(t.call)->phase, MEDIA_PHASE_FAILED);
	CHECK_INT(t.count[MEDIA_CALL_OPEN] + other.count[MEDIA_CALL_OPEN], 2);
	/* The next lease tries again. */
	CHECK_INT(media_call_credentials(t.call, "s", "t", "h", 301), 0);
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_CALL_OPEN] + other.count[MEDIA_CALL_OPEN], 3);
	CHECK_INT(t.count[MEDIA_CALL_CREDENTIALS] + other.count[MEDIA_CALL_CREDENTIALS], 1);
	end_with_two(&t, &other);
}

/* Which calls the other one holds is not known yet: the lease is not lost, but the call waits. */
TEST(media_places_a_refused_call_when_the_other_has_told_its_calls)
{
	struct toy t, other;

	CHECK(begin_with_two(&t, &other));
	refuse_call(&t, &t);
	CHECK_INT(media_call_last(t.call)->phase, MEDIA_PHASE_FAILED);
	other.holds_call = other.still_reports = true;
	CHECK_INT(toy_listen(&other), 0);
	for (unsigned i = 0; i < 100 && !other.hellos; i++)
		toy_settle(&t);
	toy_settle(&t);
	CHECK_INT(other.hellos, 1);
	CHECK_INT(media_call_credentials(t.call, "s", "t", "h", 301), ENOTCONN);
	media_wake(t.media, 0);
	ahead_ns = (MEDIA_SETTLE_MS + 100) * NS_PER_MS;
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_CALL_OPEN] + other.count[MEDIA_CALL_OPEN], 2);
	end_with_two(&t, &other);
}

TEST(media_gives_a_full_mediad_no_call_for_a_while)
{
	struct media_want want = toy_want;
	struct media_call *second = NULL, *third = NULL;
	struct toy t, other;

	CHECK(begin_with_both(&t, &other));
	refuse_call(&t, &t);
	want.guild = 101;
	CHECK_INT(media_call_open(&second, t.media, &want, toy_on_call, &t), 0);
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_CALL_OPEN], 1);
	CHECK_INT(other.count[MEDIA_CALL_OPEN], 2);
	ahead_ns = (MEDIA_FULL_MS + 100) * NS_PER_MS;
	want.guild = 102;
	CHECK_INT(media_call_open(&third, t.media, &want, toy_on_call, &t), 0);
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_CALL_OPEN], 2);
	end_with_two(&t, &other);
}

static void note_end(struct media_playback *pb, enum media_playback_event ev, uint64_t samples,
		     unsigned reason, uint64_t at, void *arg)
{
	struct toy *t = arg;

	(void)pb, (void)samples, (void)reason, (void)at;
	t->events += ev == MEDIA_PB_STOPPED;
}

/* The answer goes on where the call goes, as with a mediad that comes back: it has waited for less
 * than MEDIA_RESUME_MS. */
TEST(media_speech_goes_with_a_call_that_moves)
{
	static const int16_t pcm[2400];
	struct toy t, other;

	CHECK(begin_with_both(&t, &other));
	CHECK_INT(media_playback_open(&t.pb, t.call, 24000, note_end, &t), 0);
	CHECK_INT(media_playback_write(t.pb, pcm, 2400), 0);
	media_playback_end(t.pb);
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_SAY_OPEN], 1);
	toy_gone(&t);
	toy_settle(&t);
	CHECK(goes_to(&t, &other));
	toy_settle(&t);
	CHECK_INT(other.count[MEDIA_SAY_OPEN], 1);
	ahead_ns = (MEDIA_RESUME_MS + 100) * NS_PER_MS;
	media_wake(t.media, 0);
	toy_settle(&t);
	CHECK_INT(t.events, 0);
	media_playback_free(t.pb);
	t.pb = NULL;
	end_with_two(&t, &other);
}

/* As above, but the first mediad has no room, and the call waits for the other one's report. */
TEST(media_speech_goes_with_a_refused_call_that_waits)
{
	static const int16_t pcm[2400];
	struct toy t, other;

	CHECK(begin_with_two(&t, &other));
	CHECK_INT(media_playback_open(&t.pb, t.call, 24000, note_end, &t), 0);
	CHECK_INT(media_playback_write(t.pb, pcm, 2400), 0);
	media_playback_end(t.pb);
	toy_settle(&t);
	refuse_call(&t, &t);
	other.holds_call = other.still_reports = true;
	CHECK_INT(toy_listen(&other), 0);
	for (unsigned i = 0; i < 100 && !other.hellos; i++)
		toy_settle(&t);
	toy_settle(&t);
	CHECK_INT(media_call_credentials(t.call, "s", "t", "h", 301), ENOTCONN);
	media_wake(t.media, 0);
	ahead_ns = (MEDIA_SETTLE_MS + 100) * NS_PER_MS;
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_CALL_OPEN] + other.count[MEDIA_CALL_OPEN], 2);
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_SAY_OPEN] + other.count[MEDIA_SAY_OPEN], 2);
	CHECK_INT(t.events, 0);
	media_playback_free(t.pb);
	t.pb = NULL;
	end_with_two(&t, &other);
}
