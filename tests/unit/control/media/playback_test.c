/* Speech over the link: credit, prepared playbacks, and what a reconnect or a successor inherits.
 */
#include "tests/unit/control/media/toy_mediad.h"

#include "control/media/call.h"

static void on_playback(struct media_playback *pb, enum media_playback_event ev, uint64_t samples,
			unsigned reason, uint64_t at, void *arg)
{
	struct toy *t = arg;

	(void)pb;
	(void)at;
	t->events++;
	t->ev = ev;
	t->samples = samples;
	t->reason = reason;
	if (t->stop_event)
		env_stop(t->env);
}

/* ---- toy mediad's reports of the playback ---- */

static void send_credit(struct toy *t, uint64_t samples)
{
	toy_send(t, (struct media_msg){.type = MEDIA_SAY_CREDIT,
				       .say_credit = {.call = t->call_id,
						      .playback = t->playback,
						      .samples = samples}});
}

static void send_drained(struct toy *t, uint32_t playback, uint64_t samples)
{
	toy_send(t, (struct media_msg){.type = MEDIA_SAY_DRAINED,
				       .say_drained = {.call = t->call_id,
						       .playback = playback,
						       .samples = samples}});
}

static void send_stopped(struct toy *t, uint64_t samples, enum media_reason reason)
{
	toy_send(t, (struct media_msg){.type = MEDIA_SAY_STOPPED,
				       .say_stopped = {.call = t->call_id,
						       .playback = t->playback,
						       .samples = samples,
						       .reason = (uint8_t)reason}});
}

/* Opens a playback, or prepares one, and writes n samples of silence. */
static bool begin_playback(struct toy *t, bool prepared, size_t n)
{
	static int16_t pcm[24000];

	return toy_up_with_call(t) &&
	       !(prepared ? media_playback_prepare(&t->pb, t->call, 24000, on_playback, t)
			  : media_playback_open(&t->pb, t->call, 24000, on_playback, t)) &&
	       !media_playback_write(t->pb, pcm, n);
}

/* mediad has all n samples, and room for more. */
static bool begin_with_credit(struct toy *t, size_t n)
{
	if (!begin_playback(t, false, n) || !toy_run_until(t, MEDIA_SAY_OPEN, 1))
		return false;
	send_credit(t, 100000);
	toy_settle(t);
	return true;
}

TEST(media_speech_goes_as_credit_allows)
{
	struct toy t;

	CHECK(begin_playback(&t, false, 24000));
	CHECK(toy_run_until(&t, MEDIA_SAY_OPEN, 1));
	toy_settle(&t);
	CHECK_INT(t.say_samples, 0);
	send_credit(&t, 5000);
	toy_settle(&t);
	CHECK_INT(t.say_samples, 5000);
	/* absolute: the same again is nothing more */
	send_credit(&t, 5000);
	toy_settle(&t);
	CHECK_INT(t.say_samples, 5000);
	media_playback_end(t.pb);
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_SAY_END], 0);
	send_credit(&t, 100000);
	CHECK(toy_run_until(&t, MEDIA_SAY_END, 1));
	CHECK_INT(t.say_samples, 24000);
	send_drained(&t, t.playback, 24000);
	CHECK(toy_run_until(&t, 0, 0));
	CHECK_INT(t.ev, MEDIA_PB_DRAINED);
	CHECK_INT(t.samples, 24000);
	/* what comes late finds nobody */
	send_stopped(&t, 9, MEDIA_REASON_NONE);
	toy_settle(&t);
	CHECK_INT(t.events, 1);
	toy_free(&t);
}

TEST(media_a_prepared_playback_keeps_audio_until_it_starts)
{
	struct toy t;

	CHECK(begin_playback(&t, true, 24000));
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_SAY_OPEN], 0);
	CHECK_INT(media_playback_start(t.pb), 0);
	CHECK(toy_run_until(&t, MEDIA_SAY_OPEN, 1));
	send_credit(&t, 24000);
	toy_settle(&t);
	CHECK_INT(t.say_samples, 24000);
	toy_free(&t);
}

TEST(media_a_prepared_playback_that_never_starts_leaves_nothing)
{
	static int16_t pcm[24000];
	struct toy t;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(media_playback_prepare(&t.pb, t.call, 24000, on_playback, &t), 0);
	for (unsigned i = 0; i < 300; i++)
		CHECK_INT(media_playback_write(t.pb, pcm, 24000), 0);
	CHECK_INT(media_playback_write(t.pb, pcm, 1), ENOBUFS);
	t.pb = media_playback_free(t.pb);
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_SAY_OPEN] + t.count[MEDIA_SAY_STOP], 0);
	CHECK_INT(t.events, 0);
	toy_free(&t);
}

TEST(media_backlog_is_capped)
{
	static int16_t pcm[8000 * 150];
	struct toy t;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(media_playback_open(&t.pb, t.call, 8000, on_playback, &t), 0);
	CHECK_INT(media_playback_write(t.pb, pcm, 8000 * 150), 0);
	CHECK_INT(media_playback_write(t.pb, pcm, 8000 * 150), 0);
	CHECK_INT(media_playback_write(t.pb, pcm, 1), ENOBUFS);
	CHECK_INT(media_playback_written(t.pb), 8000 * 300);
	toy_free(&t);
}

TEST(media_stop_overtakes_and_ends_writing)
{
	static int16_t pcm[2400];
	struct toy t;

	CHECK(begin_playback(&t, false, 2400));
	media_playback_stop(t.pb, 60);
	CHECK_INT(media_playback_write(t.pb, pcm, 10), EPIPE);
	CHECK(toy_run_until(&t, MEDIA_SAY_STOP, 1));
	send_stopped(&t, 960, MEDIA_REASON_STOPPED);
	CHECK(toy_run_until(&t, 0, 0));
	CHECK_INT(t.ev, MEDIA_PB_STOPPED);
	CHECK_INT(t.samples, 960);
	CHECK_INT(t.reason, MEDIA_REASON_STOPPED);
	toy_free(&t);
}

TEST(media_claims_a_playback_after_a_reconnect)
{
	struct toy t;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(media_playback_open(&t.pb, t.call, 24000, on_playback, &t), 0);
	CHECK(toy_run_until(&t, MEDIA_SAY_OPEN, 1));
	t.holds_call =
		true; /* only the connection broke: the call and its playback are still there */
	toy_gone(&t);
	/* What is wished meanwhile is told when it is back. */
	media_playback_gain(t.pb, 350, 0);
	media_playback_pause(t.pb, 60);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(toy_run_until(&t, MEDIA_SAY_CLAIM, 1));
	CHECK(toy_run_until(&t, MEDIA_SAY_GAIN, 1));
	CHECK(toy_run_until(&t, MEDIA_SAY_PAUSE, 1));
	CHECK_INT(t.events, 0);
	toy_free(&t);
}

TEST(media_a_pause_that_crosses_a_resume_is_not_told)
{
	struct media_msg paused = {.type = MEDIA_SAY_PAUSED};
	struct toy t;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(media_playback_open(&t.pb, t.call, 24000, on_playback, &t), 0);
	CHECK(toy_run_until(&t, MEDIA_SAY_OPEN, 1));
	media_playback_pause(t.pb, 60);
	media_playback_resume(t.pb, 60);
	paused.say_paused.call = t.call_id;
	paused.say_paused.playback = t.playback;
	toy_send(&t, paused);
	toy_settle(&t);
	CHECK_INT(t.events, 0);
	media_playback_pause(t.pb, 60);
	toy_send(&t, paused);
	toy_settle(&t);
	CHECK_INT(t.events, 1);
	CHECK_INT(t.ev, MEDIA_PB_PAUSED);
	toy_free(&t);
}

/* The connection breaks before mediad has the end of the speech. */
TEST(media_repeats_speech_that_a_broken_connection_held)
{
	static int16_t pcm[4800];
	struct toy t;

	CHECK(begin_with_credit(&t, 9600));
	CHECK_INT(t.say_samples, 9600);
	CHECK_INT(media_playback_write(t.pb, pcm, 4800), 0);
	media_playback_end(t.pb);
	t.holds_call = true;
	toy_gone(&t);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(toy_run_until(&t, MEDIA_SAY_END, 1));
	CHECK_INT(t.say_samples, 14400);
	CHECK_INT(t.count[MEDIA_SAY_CLAIM], 1);
	toy_free(&t);
}

/* The frame of the playback's backlog alone finds no memory: what it holds is kept. */
TEST(media_speech_that_found_no_memory_goes_later)
{
	static int16_t pcm[480];
	struct toy t;

	CHECK(begin_with_credit(&t, 960));
	test_no_memory(true);
	CHECK_INT(media_playback_write(t.pb, pcm, 480), 0);
	media_playback_end(t.pb);
	test_no_memory(false);
	CHECK(toy_run_until(&t, MEDIA_SAY_END, 1));
	CHECK_INT(t.say_samples, 1440);
	toy_free(&t);
}

/* The next mediad gets the rest from the sample on that was due; its counts begin there. */
TEST(media_playback_of_a_killed_mediad_goes_on)
{
	static int16_t pcm[48000];
	uint32_t first;
	struct toy t;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(media_playback_open(&t.pb, t.call, 24000, on_playback, &t), 0);
	CHECK_INT(media_playback_write(t.pb, pcm, 48000), 0);
	media_playback_end(t.pb);
	CHECK(toy_run_until(&t, MEDIA_SAY_OPEN, 1));
	first = t.playback;
	send_credit(&t, 24000);
	CHECK(toy_run_until(&t, MEDIA_SAY, 25));
	send_credit(&t, 36000); /* half a second was taken for sending */
	CHECK(toy_run_until(&t, MEDIA_SAY, 38));
	CHECK_INT(t.say_samples, 36000);
	toy_send(&t, (struct media_msg){.type = MEDIA_SAY_STARTED,
					.say_started = {.call = t.call_id, .playback = first}});
	CHECK(toy_run_until(&t, 0, 0));
	t.playback = 0; /* the next mediad knows nothing of it */
	t.say_samples = 0;
	toy_gone(&t);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(toy_run_until(&t, MEDIA_SAY_OPEN, 2));
	CHECK(t.playback && t.playback != first);
	send_credit(&t, 24000);
	send_credit(&t, 36000);
	CHECK(toy_run_until(&t, MEDIA_SAY_END, 1));
	CHECK_INT(t.say_samples, 48000 - 12000);
	/* That it started is known; what was played counts from the beginning. */
	toy_send(&t,
		 (struct media_msg){.type = MEDIA_SAY_STARTED,
				    .say_started = {.call = t.call_id, .playback = t.playback}});
	send_drained(&t, t.playback, 36000);
	CHECK(toy_run_until(&t, 0, 0));
	CHECK(t.events == 2 && t.ev == MEDIA_PB_DRAINED);
	CHECK_INT(t.samples, 48000);
	toy_free(&t);
}

/* A new control has claimed playback 9 of the one before; ended: mediad has all of it. */
static bool claim_inherited(struct toy *t, bool ended)
{
	if (toy_alloc(t))
		return false;
	t->holds_call = true;
	t->playback = 9;
	t->ended = ended;
	return !toy_listen(t) && !toy_start_control(t, 10) &&
	       !media_call_open(&t->call, t->media, &toy_want, toy_on_call, t) &&
	       toy_run_until(t, MEDIA_SAY_CLAIM, 1);
}

/* The speech of the control before is claimed, ended if that control could not, and makes room for
 * our own. */
static void inherit(bool ended)
{
	struct toy t;

	CHECK(claim_inherited(&t, ended));
	toy_settle(&t);
	CHECK_INT(t.inherited, 1);
	CHECK_INT(t.count[MEDIA_SAY_END], !ended);
	CHECK_INT(t.count[MEDIA_SAY_STOP], 0);
	CHECK(media_call_plays_inherited(t.call));
	CHECK(media_has_unsent(t.media) == false);
	CHECK_INT(media_playback_open(&t.pb, t.call, 24000, on_playback, &t), 0);
	CHECK(toy_run_until(&t, MEDIA_SAY_STOP, 1));
	CHECK(media_has_unsent(t.media));
	toy_send(&t, (struct media_msg){.type = MEDIA_SAY_STOPPED,
					.say_stopped = {.call = t.call_id, .playback = 9}});
	toy_settle(&t);
	CHECK_INT(t.inherited_ends, 1);
	CHECK(!media_call_plays_inherited(t.call));
	CHECK_INT(t.events, 0);
	toy_free(&t);
}

TEST(media_inherits_speech)
{
	inherit(true);
	inherit(false);
}

/* A control that has spoken in one call takes over what another call's mediad still plays. */
TEST(media_inherits_speech_after_it_spoke_elsewhere)
{
	struct media_call *other = NULL;
	struct media_want elsewhere = toy_want;
	struct media_playback *pb = NULL;
	struct toy t;

	elsewhere.guild++;
	CHECK_INT(toy_alloc(&t), 0);
	CHECK_INT(toy_listen(&t) || toy_start_control(&t, 10), 0);
	CHECK_INT(media_call_open(&other, t.media, &elsewhere, NULL, NULL), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_OPEN, 1));
	CHECK_INT(media_playback_open(&pb, other, 24000, NULL, NULL), 0);
	CHECK(toy_run_until(&t, MEDIA_SAY_OPEN, 1));
	toy_gone(&t);
	t.holds_call = true;
	t.playback = 9;
	t.ended = true;
	CHECK_INT(media_call_open(&t.call, t.media, &toy_want, toy_on_call, &t), 0);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(toy_run_until(&t, MEDIA_SAY_CLAIM, 1));
	CHECK_INT(t.inherited, 1);
	media_playback_free(pb);
	media_call_free(other);
	toy_free(&t);
}

/* A mediad with many calls reports them in more than one turn of the loop, and timers run between.
 */
TEST(media_waits_for_the_report_of_inherited_speech)
{
	struct toy t;

	CHECK_INT(toy_alloc(&t), 0);
	t.holds_call = t.ended = t.still_reports = true;
	t.playback = 9;
	CHECK_INT(toy_listen(&t) || toy_start_control(&t, 10), 0);
	CHECK_INT(media_call_open(&t.call, t.media, &toy_want, toy_on_call, &t), 0);
	CHECK(toy_run_until(&t, MEDIA_HELLO, 1));
	toy_settle(&t);
	CHECK_INT(t.inherited, 1);
	media_playbacks_tick(t.call, env_now(t.env) + (MEDIA_RESUME_MS + 1) * NS_PER_MS);
	CHECK_INT(t.inherited_ends, 0);
	toy_send(&t, (struct media_msg){.type = MEDIA_SYNCED, .synced = {.calls = 1}});
	CHECK(toy_run_until(&t, MEDIA_SAY_CLAIM, 1));
	toy_free(&t);
}

/* The time to wait for another mediad ends while this one reports. */
TEST(media_waits_for_the_report_of_its_own_speech)
{
	struct toy t;

	CHECK(begin_with_credit(&t, 4800));
	t.still_reports = true;
	t.holds_call = true;
	toy_gone(&t);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(toy_run_until(&t, MEDIA_HELLO, 2));
	toy_settle(&t);
	media_playbacks_tick(t.call, env_now(t.env) + (MEDIA_RESUME_MS + 1) * NS_PER_MS);
	CHECK_INT(t.events, 0);
	toy_send(&t, (struct media_msg){.type = MEDIA_SYNCED, .synced = {.calls = 1}});
	CHECK(toy_run_until(&t, MEDIA_SAY_CLAIM, 1));
	toy_free(&t);
}

/* The mediad is killed while it reports the playback: the next one knows nothing of it. */
TEST(media_playback_goes_on_although_a_mediad_has_reported_it)
{
	struct toy t;

	CHECK(begin_playback(&t, false, 2400));
	CHECK(toy_run_until(&t, MEDIA_SAY_OPEN, 1));
	t.holds_call = t.still_reports = true;
	toy_gone(&t);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(toy_run_until(&t, MEDIA_HELLO, 2));
	toy_settle(&t);
	t.playback = 0;
	t.holds_call = t.still_reports = false;
	toy_gone(&t);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(toy_run_until(&t, MEDIA_SAY_OPEN, 2));
	CHECK_INT(t.count[MEDIA_SAY_CLAIM], 0);
	CHECK_INT(t.events, 0);
	toy_free(&t);
}

/* Speech after the end of an inherited answer does not count as an interruption. */
TEST(media_tells_the_end_of_inherited_speech)
{
	struct toy t;

	CHECK(claim_inherited(&t, true));
	toy_settle(&t);
	CHECK_INT(t.inherited_ends, 0);
	send_drained(&t, 9, 480);
	toy_settle(&t);
	CHECK_INT(t.inherited_ends, 1);
	CHECK(!media_call_plays_inherited(t.call));
	toy_free(&t);
}

/* The bot left and came back while mediad was away: the answer is of the conversation that was
 * left. */
TEST(media_does_not_inherit_its_own_speech_of_a_call_that_was_left)
{
	struct toy t;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(media_playback_open(&t.pb, t.call, 24000, NULL, NULL), 0);
	CHECK(toy_run_until(&t, MEDIA_SAY_OPEN, 1));
	toy_gone(&t);
	toy_settle(&t);
	t.pb = media_playback_free(t.pb);
	t.call = media_call_free(t.call);
	CHECK_INT(media_call_open(&t.call, t.media, &toy_want, toy_on_call, &t), 0);
	t.holds_call = true;
	CHECK_INT(toy_listen(&t), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_SET, 1));
	toy_settle(&t);
	CHECK_INT(t.inherited, 0);
	CHECK_INT(t.count[MEDIA_SAY_CLAIM], 0);
	toy_free(&t);
}

/* A mediad that kept the call and has no such playback any more has played it or stopped it. */
TEST(media_playback_that_a_mediad_forgot_stops)
{
	struct toy t;

	CHECK(begin_with_credit(&t, 4800));
	t.playback = 0;
	t.holds_call = true;
	toy_gone(&t);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(toy_run_until(&t, 0, 0));
	CHECK_INT(t.ev, MEDIA_PB_STOPPED);
	CHECK_INT(t.reason, MEDIA_REASON_CONNECTION_LOST);
	toy_free(&t);
}

/* The mediad kept the call, and SAY_OPEN never reached it. */
TEST(media_opens_a_playback_again_that_a_broken_connection_held)
{
	struct toy t;

	CHECK(begin_playback(&t, false, 9600));
	media_playback_end(t.pb);
	t.holds_call = true;
	toy_gone(&t);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(toy_run_until(&t, MEDIA_SAY_OPEN, 1));
	send_credit(&t, 24000);
	CHECK(toy_run_until(&t, MEDIA_SAY_END, 1));
	CHECK_INT(t.say_samples, 9600);
	CHECK_INT(t.events, 0);
	toy_free(&t);
}

/* Its sound was in the mediad alone that was killed. */
TEST(media_does_not_open_inherited_speech_again)
{
	struct toy t;

	CHECK(claim_inherited(&t, true));
	t.playback = 0;
	t.holds_call = false;
	toy_gone(&t);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_OPEN, 1));
	toy_settle(&t);
	CHECK_INT(t.inherited_ends, 1);
	CHECK_INT(t.count[MEDIA_SAY_OPEN], 0);
	toy_free(&t);
}

TEST(media_playback_stops_when_mediad_stays_away)
{
	struct toy t;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(media_playback_open(&t.pb, t.call, 24000, on_playback, &t), 0);
	CHECK(toy_run_until(&t, MEDIA_SAY_OPEN, 1));
	toy_gone(&t);
	CHECK(toy_run_until(&t, 0, 0));
	CHECK_INT(t.ev, MEDIA_PB_STOPPED);
	toy_free(&t);
}

/* The next mediad has no room for the call, where an answer went on. */
static bool begin_refused_speech(struct toy *t)
{
	if (!begin_playback(t, false, 24000))
		return false;
	media_playback_end(t->pb);
	if (!toy_run_until(t, MEDIA_SAY_OPEN, 1))
		return false;
	t->playback = 0;
	toy_gone(t);
	if (toy_listen(t) || !toy_run_until(t, MEDIA_SAY_OPEN, 2))
		return false;
	toy_state(t, t->call_id, 0, 0, MEDIA_PHASE_FAILED, false);
	toy_settle(t);
	return t->events == 0;
}

TEST(media_speech_of_a_refused_call_goes_on_with_its_lease)
{
	struct toy t;

	CHECK(begin_refused_speech(&t));
	CHECK_INT(media_call_credentials(t.call, "s", "t", "h", 301), 0);
	CHECK(toy_run_until(&t, MEDIA_SAY_OPEN, 3));
	CHECK_INT(t.events, 0);
	toy_free(&t);
}

/* The next lease may take a minute. */
TEST(media_speech_of_a_refused_call_does_not_wait_for_a_late_lease)
{
	struct toy t;

	CHECK(begin_refused_speech(&t));
	media_playbacks_tick(t.call, env_now(t.env) + (MEDIA_RESUME_MS + 1) * NS_PER_MS);
	CHECK_INT(t.events, 1);
	CHECK_INT(t.ev, MEDIA_PB_STOPPED);
	CHECK_INT(media_call_credentials(t.call, "s", "t", "h", 301), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_CREDENTIALS, 1));
	CHECK_INT(t.count[MEDIA_SAY_OPEN], 2);
	toy_free(&t);
}

/* mediad does not answer commands of a call that it does not hold. */
TEST(media_opens_no_speech_in_a_refused_call)
{
	struct media_playback *other = NULL;
	struct toy t;

	CHECK(begin_refused_speech(&t));
	CHECK_INT(media_playback_open(&other, t.call, 24000, on_playback, &t), ENOTCONN);
	media_playback_stop(t.pb, 0);
	CHECK_INT(media_call_credentials(t.call, "s", "t", "h", 301), 0);
	CHECK_INT(t.events, 1);
	CHECK_INT(media_playback_open(&other, t.call, 24000, NULL, NULL), 0);
	media_playback_free(other);
	toy_free(&t);
}

/* The mediad that refused it ends, and the next one has room. */
TEST(media_opens_a_refused_call_at_the_next_mediad)
{
	struct toy t;

	CHECK(begin_refused_speech(&t));
	toy_gone(&t);
	toy_settle(&t);
	CHECK_INT(media_call_last(t.call)->phase, MEDIA_PHASE_UNKNOWN);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(toy_run_until(&t, MEDIA_SAY_OPEN, 3));
	CHECK_INT(t.count[MEDIA_CALL_OPEN], 3);
	toy_free(&t);
}
