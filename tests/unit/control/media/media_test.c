/* The link to mediad against a toy mediad: a Unix socket, both ends in one loop. */
#include "control/media/media.h"

#include <stdlib.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/peer.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/test.h"

enum { SEEN_MAX = 256 };

/* A mediad that writes down what it gets and says what the test tells it to. */
struct toy {
	struct env *env;
	struct tmr *deadline;
	char dir[40], path[60];
	struct peer_server *server;
	struct peer *peer;
	struct media *media;
	struct media_call *call;
	struct media_playback *pb;

	unsigned hellos;
	struct media_hello hello;
	unsigned seen[SEEN_MAX]; /* types, in order */
	unsigned n_seen;
	unsigned count[1024]; /* by type */
	uint32_t call_id, gen, listen_id, playback;
	uint64_t say_samples;
	char token[64];
	bool answers_pings;

	/* what a restarted mediad holds */
	bool holds_call, holds_stray, leaves_call;
	bool ended; /* its playback has got SAY_END */

	unsigned inherited, wants, states, heard, ups, downs, secures, codes;
	char code[48];
	enum media_playback_event ev;
	unsigned events, reason;
	uint64_t samples;
	unsigned stop_type; /* the loop ends at the n-th message of this type */
	unsigned stop_count;
	bool stop_event, timed_out;
};

static void send(struct toy *t, struct media_msg msg)
{
	uint8_t buf[MEDIA_MAX_FRAME];
	size_t len;

	if (media_pack(&msg, MEDIA_MINOR, buf, sizeof buf, &len) == 0 && t->peer)
		peer_send(t->peer,
			  media_lane_of(msg.type) == MEDIA_LANE_AUDIO ? PEER_AUDIO : PEER_COMMAND,
			  buf, len);
}

static void toy_state(struct toy *t, uint32_t call, uint32_t gen, uint64_t guild,
		      enum media_phase phase, bool wants)
{
	send(t, (struct media_msg){.type = MEDIA_CALL_STATE,
				   .call_state = {.call = call,
						  .gen = gen,
						  .phase = (uint8_t)phase,
						  .wants_credentials = wants,
						  .guild = guild,
						  .channel = 301,
						  .mode = slice_str("aead_aes256_gcm_rtpsize")}});
}

static void toy_hello(struct toy *t, const struct media_hello *h)
{
	t->hellos++;
	t->hello = *h;
	send(t, (struct media_msg){
			.type = MEDIA_HELLO,
			.hello = {.major = MEDIA_MAJOR, .minor = MEDIA_MINOR, .instance = 5}});
	if (t->holds_call)
		toy_state(t, 77, 3, 100, t->leaves_call ? MEDIA_PHASE_CLOSED : MEDIA_PHASE_UP,
			  false);
	if (t->holds_stray)
		toy_state(t, 78, 1, 999, MEDIA_PHASE_UP, false);
	if (t->playback)
		send(t, (struct media_msg){.type = MEDIA_SAY_STATE,
					   .say_state = {.call = t->holds_call ? 77 : t->call_id,
							 .playback = t->playback,
							 .samples = 480,
							 .rate = 24000,
							 .ended = t->ended}});
	send(t, (struct media_msg){.type = MEDIA_SYNCED, .synced = {.calls = 1}});
}

static int on_toy(struct peer *p, const uint8_t *body, size_t len, void *arg)
{
	struct toy *t = arg;
	struct media_msg msg;

	(void)p;
	if (media_unpack(&msg, MEDIA_SIDE_CONTROL, body, len))
		return EPROTO;
	if (msg.type == MEDIA_PING && !t->answers_pings)
		return 0;
	if (t->n_seen < SEEN_MAX)
		t->seen[t->n_seen++] = msg.type;
	t->count[msg.type]++;
	if (msg.type == MEDIA_HELLO)
		toy_hello(t, &msg.hello);
	else if (msg.type >= MEDIA_CALL_OPEN)
		t->call_id = msg.call_close.call;
	if (msg.type == MEDIA_CALL_OPEN)
		toy_state(t, t->call_id, 0, msg.call_open.guild, MEDIA_PHASE_WAITING, true);
	if (msg.type == MEDIA_CALL_CREDENTIALS) {
		t->gen = msg.call_credentials.gen;
		snprintf(t->token, sizeof t->token, "%.*s", (int)msg.call_credentials.token.n,
			 (const char *)msg.call_credentials.token.p);
	}
	if (msg.type == MEDIA_LISTEN)
		t->listen_id = msg.listen.listen;
	if (msg.type == MEDIA_SAY_OPEN)
		t->playback = msg.say_open.playback;
	if (msg.type == MEDIA_SAY)
		t->say_samples += msg.say.pcm.n / 2;
	if (t->stop_type == msg.type && t->count[msg.type] >= t->stop_count)
		env_stop(t->env);
	return 0;
}

static void on_toy_lost(struct peer *p, int err, void *arg)
{
	struct toy *t = arg;

	(void)err;
	t->peer = peer_free(p);
}

static int on_accept(struct peer *p, uid_t uid, struct peer_conf *conf, void *arg)
{
	struct toy *t = arg;

	(void)uid;
	t->peer = p;
	*conf = (struct peer_conf){
		.max_frame = MEDIA_MAX_FRAME, .msgh = on_toy, .losth = on_toy_lost, .arg = t};
	return 0;
}

static void on_deadline(void *arg)
{
	struct toy *t = arg;

	t->timed_out = true;
	env_stop(t->env);
}

static void on_wants(struct media_call *call, void *arg)
{
	struct toy *t = arg;

	(void)call;
	t->wants++;
}

static void on_link(bool up, void *arg)
{
	struct toy *t = arg;

	if (up)
		t->ups++;
	else
		t->downs++;
}

static void on_call(struct media_call *call, const struct media_msg *msg, void *arg)
{
	struct toy *t = arg;

	(void)call;
	if (msg->type == MEDIA_CALL_STATE)
		t->states++;
	t->inherited += msg->type == MEDIA_SAY_STATE;
	if (msg->type == MEDIA_HEARD)
		t->heard++;
	if (msg->type == MEDIA_CALL_SECURE)
		t->secures++;
	if (msg->type == MEDIA_CODE) {
		t->codes++;
		snprintf(t->code, sizeof t->code, "%.*s", (int)msg->code.code.n,
			 (const char *)msg->code.code.p);
	}
}

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

/* Runs until the toy got `count` messages of `type` in all; 0: until a playback event. */
static bool run_until(struct toy *t, unsigned type, unsigned count)
{
	t->stop_type = type;
	t->stop_count = count;
	t->stop_event = !type;
	t->timed_out = false;
	if (type && t->count[type] >= count)
		return true;
	tmr_start(t->deadline, 8000 * NS_PER_MS);
	env_run(t->env);
	tmr_stop(t->deadline);
	return !t->timed_out;
}

static void on_soon(void *arg)
{
	env_stop(arg);
}

/* Lets what is under way arrive: both ends are local, so a few ms of loop are plenty. */
static void settle(struct toy *t)
{
	struct tmr *soon = NULL;

	t->stop_type = 0;
	t->stop_event = false;
	if (tmr_alloc(&soon, t->env, on_soon, t->env))
		return;
	tmr_start(soon, 30 * NS_PER_MS);
	env_run(t->env);
	tmr_free(soon);
}

static int toy_alloc(struct toy *t)
{
	struct env_conf env = {.loop = true};
	int err;

	memset(t, 0, sizeof *t);
	t->answers_pings = true;
	snprintf(t->dir, sizeof t->dir, "/tmp/parley-media-XXXXXX");
	if (!mkdtemp(t->dir))
		return errno;
	snprintf(t->path, sizeof t->path, "%s/s", t->dir);
	err = env_alloc(&t->env, &env);
	if (!err)
		err = tmr_alloc(&t->deadline, t->env, on_deadline, t);
	return err;
}

static int toy_listen(struct toy *t)
{
	return peer_listen(&t->server, t->env, t->path, (uid_t)-1, on_accept, t);
}

static void toy_gone(struct toy *t)
{
	t->peer = peer_free(t->peer);
	t->server = peer_server_free(t->server);
}

static int control_alloc_side(struct toy *t, uint64_t epoch)
{
	const char *socks[] = {t->path, NULL};
	struct media_conf conf = {.socks = socks,
				  .user = 900,
				  .epoch = epoch,
				  .wantsh = on_wants,
				  .linkh = on_link,
				  .arg = t};

	return media_alloc(&t->media, t->env, &conf);
}

static void toy_free(struct toy *t)
{
	media_playback_free(t->pb);
	media_call_free(t->call);
	media_free(t->media);
	toy_gone(t);
	tmr_free(t->deadline);
	env_free(t->env);
	unlink(t->path);
	rmdir(t->dir);
}

static const struct media_want want = {
	.guild = 100, .channel = 301, .bitrate = 64000, .consent = true};

static bool up_with_call(struct toy *t)
{
	if (toy_alloc(t) || toy_listen(t) || control_alloc_side(t, 10) ||
	    media_call_open(&t->call, t->media, &want, on_call, t))
		return false;
	if (!run_until(t, MEDIA_CALL_OPEN, 1))
		return false;
	settle(t);
	return true;
}

TEST(media_says_hello_and_opens_what_is_wanted)
{
	struct toy t;

	CHECK(up_with_call(&t));
	CHECK_INT(t.hello.epoch, 10);
	CHECK_INT(t.hello.user, 900);
	CHECK_INT(t.ups, 1);
	CHECK_INT(t.wants, 1);
	CHECK(media_call_last(t.call) && media_call_last(t.call)->phase == MEDIA_PHASE_WAITING);
	toy_free(&t);
}

TEST(media_waits_for_a_mediad_that_comes_late)
{
	struct toy t;

	CHECK_INT(toy_alloc(&t), 0);
	CHECK_INT(control_alloc_side(&t, 10), 0);
	settle(&t);
	CHECK_INT(t.hellos, 0);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(run_until(&t, MEDIA_HELLO, 1));
	toy_free(&t);
}

TEST(media_hands_out_leases_of_rising_generation)
{
	struct toy t;

	CHECK(up_with_call(&t));
	CHECK_INT(media_call_credentials(t.call, "s", "t1", "h:1", 301), 0);
	CHECK(run_until(&t, MEDIA_CALL_CREDENTIALS, 1));
	CHECK_INT(t.gen, 1);
	CHECK_STR(t.token, "t1");
	CHECK_INT(media_call_credentials(t.call, "s", "t2", "h:1", 301), 0);
	CHECK(run_until(&t, MEDIA_CALL_CREDENTIALS, 2));
	CHECK_INT(t.gen, 2);
	/* what an older generation still says is not heard */
	t.states = 0;
	toy_state(&t, t.call_id, 1, 100, MEDIA_PHASE_FAILED, false);
	settle(&t);
	CHECK_INT(t.states, 0);
	toy_state(&t, t.call_id, 2, 100, MEDIA_PHASE_UP, false);
	settle(&t);
	CHECK_INT(t.states, 1);
	CHECK_INT(media_call_last(t.call)->phase, MEDIA_PHASE_UP);
	toy_free(&t);
}

TEST(media_brings_everything_back_when_mediad_was_killed)
{
	struct toy t;

	CHECK(up_with_call(&t));
	CHECK_INT(media_call_listen(t.call, 501, 24000, 700), 0);
	CHECK_INT(media_call_consent(t.call, 502, false), 0);
	CHECK(run_until(&t, MEDIA_LISTEN, 1));
	toy_gone(&t);
	settle(&t);
	CHECK_INT(t.downs, 1);
	CHECK_INT(media_call_last(t.call)->phase, MEDIA_PHASE_UNKNOWN);
	CHECK_INT(media_call_credentials(t.call, "s", "t", "h", 301), ENOTCONN);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(run_until(&t, MEDIA_LISTEN, 2));
	settle(&t);
	CHECK_INT(t.count[MEDIA_CALL_OPEN], 2);
	CHECK_INT(t.count[MEDIA_CONSENT], 2);
	CHECK_INT(t.wants, 2); /* fresh credentials, the old are never sent again */
	CHECK_INT(t.count[MEDIA_CALL_CREDENTIALS], 0);
	toy_free(&t);
}

TEST(media_takes_over_a_call_and_closes_strays)
{
	struct toy t;

	CHECK_INT(toy_alloc(&t), 0);
	t.holds_call = t.holds_stray = true;
	CHECK_INT(toy_listen(&t), 0);
	CHECK_INT(control_alloc_side(&t, 11), 0);
	CHECK_INT(media_call_open(&t.call, t.media, &want, on_call, &t), 0);
	CHECK(run_until(&t, MEDIA_CALL_SET, 1));
	settle(&t);
	CHECK_INT(t.count[MEDIA_CALL_OPEN], 0);
	CHECK_INT(t.count[MEDIA_CALL_CLOSE], 1);
	CHECK_INT(t.wants, 0);
	CHECK_INT(t.states, 1);
	CHECK_INT(media_call_last(t.call)->phase, MEDIA_PHASE_UP);
	/* the next lease is of a generation above the one it was taken over with */
	CHECK_INT(media_call_credentials(t.call, "s", "t", "h", 301), 0);
	CHECK(run_until(&t, MEDIA_CALL_CREDENTIALS, 1));
	CHECK_INT(t.gen, 4);
	toy_free(&t);
}

TEST(media_does_not_take_over_a_call_that_is_being_left)
{
	struct toy t;

	CHECK_INT(toy_alloc(&t), 0);
	t.holds_call = t.leaves_call = true;
	CHECK_INT(toy_listen(&t), 0);
	CHECK_INT(control_alloc_side(&t, 11), 0);
	CHECK_INT(media_call_open(&t.call, t.media, &want, on_call, &t), 0);
	CHECK(run_until(&t, MEDIA_CALL_OPEN, 1));
	CHECK_INT(t.call_id, 78);
	settle(&t);
	CHECK_INT(t.wants, 1);
	CHECK_INT(t.count[MEDIA_CALL_CLOSE], 0);
	/* its end concerns nobody */
	toy_state(&t, 77, 3, 100, MEDIA_PHASE_CLOSED, false);
	settle(&t);
	CHECK_INT(media_call_last(t.call)->phase, MEDIA_PHASE_WAITING);
	toy_free(&t);
}

TEST(media_speech_goes_as_credit_allows)
{
	static int16_t pcm[24000];
	struct toy t;

	CHECK(up_with_call(&t));
	CHECK_INT(media_playback_open(&t.pb, t.call, 24000, on_playback, &t), 0);
	CHECK_INT(media_playback_write(t.pb, pcm, 24000), 0);
	CHECK(run_until(&t, MEDIA_SAY_OPEN, 1));
	settle(&t);
	CHECK_INT(t.say_samples, 0);
	send(&t,
	     (struct media_msg){
		     .type = MEDIA_SAY_CREDIT,
		     .say_credit = {.call = t.call_id, .playback = t.playback, .samples = 5000}});
	settle(&t);
	CHECK_INT(t.say_samples, 5000);
	/* absolute: the same again is nothing more */
	send(&t,
	     (struct media_msg){
		     .type = MEDIA_SAY_CREDIT,
		     .say_credit = {.call = t.call_id, .playback = t.playback, .samples = 5000}});
	settle(&t);
	CHECK_INT(t.say_samples, 5000);
	media_playback_end(t.pb);
	settle(&t);
	CHECK_INT(t.count[MEDIA_SAY_END], 0);
	send(&t,
	     (struct media_msg){
		     .type = MEDIA_SAY_CREDIT,
		     .say_credit = {.call = t.call_id, .playback = t.playback, .samples = 100000}});
	CHECK(run_until(&t, MEDIA_SAY_END, 1));
	CHECK_INT(t.say_samples, 24000);
	send(&t,
	     (struct media_msg){
		     .type = MEDIA_SAY_DRAINED,
		     .say_drained = {.call = t.call_id, .playback = t.playback, .samples = 24000}});
	CHECK(run_until(&t, 0, 0));
	CHECK_INT(t.ev, MEDIA_PB_DRAINED);
	CHECK_INT(t.samples, 24000);
	/* what comes late finds nobody */
	send(&t, (struct media_msg){
			 .type = MEDIA_SAY_STOPPED,
			 .say_stopped = {.call = t.call_id, .playback = t.playback, .samples = 9}});
	settle(&t);
	CHECK_INT(t.events, 1);
	toy_free(&t);
}

TEST(media_a_prepared_playback_keeps_audio_until_it_starts)
{
	static int16_t pcm[24000];
	struct toy t;

	CHECK(up_with_call(&t));
	CHECK_INT(media_playback_prepare(&t.pb, t.call, 24000, on_playback, &t), 0);
	CHECK_INT(media_playback_write(t.pb, pcm, 24000), 0);
	settle(&t);
	CHECK_INT(t.count[MEDIA_SAY_OPEN], 0);
	CHECK_INT(media_playback_start(t.pb), 0);
	CHECK(run_until(&t, MEDIA_SAY_OPEN, 1));
	send(&t,
	     (struct media_msg){
		     .type = MEDIA_SAY_CREDIT,
		     .say_credit = {.call = t.call_id, .playback = t.playback, .samples = 24000}});
	settle(&t);
	CHECK_INT(t.say_samples, 24000);
	toy_free(&t);
}

TEST(media_a_prepared_playback_that_never_starts_leaves_nothing)
{
	static int16_t pcm[24000];
	struct toy t;

	CHECK(up_with_call(&t));
	CHECK_INT(media_playback_prepare(&t.pb, t.call, 24000, on_playback, &t), 0);
	for (unsigned i = 0; i < 300; i++)
		CHECK_INT(media_playback_write(t.pb, pcm, 24000), 0);
	CHECK_INT(media_playback_write(t.pb, pcm, 1), ENOBUFS);
	t.pb = media_playback_free(t.pb);
	settle(&t);
	CHECK_INT(t.count[MEDIA_SAY_OPEN] + t.count[MEDIA_SAY_STOP], 0);
	CHECK_INT(t.events, 0);
	toy_free(&t);
}

TEST(media_backlog_is_capped)
{
	static int16_t pcm[8000 * 150];
	struct toy t;

	CHECK(up_with_call(&t));
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

	CHECK(up_with_call(&t));
	CHECK_INT(media_playback_open(&t.pb, t.call, 24000, on_playback, &t), 0);
	CHECK_INT(media_playback_write(t.pb, pcm, 2400), 0);
	media_playback_stop(t.pb, 60);
	CHECK_INT(media_playback_write(t.pb, pcm, 10), EPIPE);
	CHECK(run_until(&t, MEDIA_SAY_STOP, 1));
	send(&t, (struct media_msg){.type = MEDIA_SAY_STOPPED,
				    .say_stopped = {.call = t.call_id,
						    .playback = t.playback,
						    .samples = 960,
						    .reason = MEDIA_REASON_STOPPED}});
	CHECK(run_until(&t, 0, 0));
	CHECK_INT(t.ev, MEDIA_PB_STOPPED);
	CHECK_INT(t.samples, 960);
	CHECK_INT(t.reason, MEDIA_REASON_STOPPED);
	toy_free(&t);
}

TEST(media_claims_a_playback_after_a_reconnect)
{
	struct toy t;

	CHECK(up_with_call(&t));
	CHECK_INT(media_playback_open(&t.pb, t.call, 24000, on_playback, &t), 0);
	CHECK(run_until(&t, MEDIA_SAY_OPEN, 1));
	t.holds_call =
		true; /* only the connection broke: the call and its playback are still there */
	toy_gone(&t);
	/* What is wished meanwhile is told when it is back. */
	media_playback_gain(t.pb, 350, 0);
	media_playback_pause(t.pb, 60);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(run_until(&t, MEDIA_SAY_CLAIM, 1));
	CHECK(run_until(&t, MEDIA_SAY_GAIN, 1));
	CHECK(run_until(&t, MEDIA_SAY_PAUSE, 1));
	CHECK_INT(t.events, 0);
	toy_free(&t);
}

static void credit(struct toy *t, uint64_t samples)
{
	send(t, (struct media_msg){.type = MEDIA_SAY_CREDIT,
				   .say_credit = {.call = t->call_id,
						  .playback = t->playback,
						  .samples = samples}});
}

/* The next mediad gets the rest from the sample on that was due; its counts begin there. */
TEST(media_playback_of_a_killed_mediad_goes_on)
{
	static int16_t pcm[48000];
	uint32_t first;
	struct toy t;

	CHECK(up_with_call(&t));
	CHECK_INT(media_playback_open(&t.pb, t.call, 24000, on_playback, &t), 0);
	CHECK_INT(media_playback_write(t.pb, pcm, 48000), 0);
	media_playback_end(t.pb);
	CHECK(run_until(&t, MEDIA_SAY_OPEN, 1));
	first = t.playback;
	credit(&t, 24000);
	CHECK(run_until(&t, MEDIA_SAY, 25));
	credit(&t, 36000); /* half a second was taken for sending */
	CHECK(run_until(&t, MEDIA_SAY, 38));
	CHECK_INT(t.say_samples, 36000);
	send(&t, (struct media_msg){.type = MEDIA_SAY_STARTED,
				    .say_started = {.call = t.call_id, .playback = first}});
	CHECK(run_until(&t, 0, 0));
	t.playback = 0; /* the next mediad knows nothing of it */
	t.say_samples = 0;
	toy_gone(&t);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(run_until(&t, MEDIA_SAY_OPEN, 2));
	CHECK(t.playback && t.playback != first);
	credit(&t, 24000);
	credit(&t, 36000);
	CHECK(run_until(&t, MEDIA_SAY_END, 1));
	CHECK_INT(t.say_samples, 48000 - 12000);
	/* That it started is known; what was played counts from the beginning. */
	send(&t, (struct media_msg){.type = MEDIA_SAY_STARTED,
				    .say_started = {.call = t.call_id, .playback = t.playback}});
	send(&t,
	     (struct media_msg){
		     .type = MEDIA_SAY_DRAINED,
		     .say_drained = {.call = t.call_id, .playback = t.playback, .samples = 36000}});
	CHECK(run_until(&t, 0, 0));
	CHECK(t.events == 2 && t.ev == MEDIA_PB_DRAINED);
	CHECK_INT(t.samples, 48000);
	toy_free(&t);
}

/* The speech of the control before is claimed, ended if that control could not, and makes room for
 * our own. */
static void inherit(bool ended)
{
	struct toy t;

	CHECK_INT(toy_alloc(&t), 0);
	t.holds_call = true;
	t.playback = 9;
	t.ended = ended;
	CHECK_INT(toy_listen(&t) || control_alloc_side(&t, 10), 0);
	CHECK_INT(media_call_open(&t.call, t.media, &want, on_call, &t), 0);
	CHECK(run_until(&t, MEDIA_SAY_CLAIM, 1));
	settle(&t);
	CHECK_INT(t.inherited, 1);
	CHECK_INT(t.count[MEDIA_SAY_END], !ended);
	CHECK_INT(t.count[MEDIA_SAY_STOP], 0);
	CHECK(media_has_unsent(t.media) == false);
	CHECK_INT(media_playback_open(&t.pb, t.call, 24000, on_playback, &t), 0);
	CHECK(run_until(&t, MEDIA_SAY_STOP, 1));
	CHECK(media_has_unsent(t.media));
	send(&t, (struct media_msg){.type = MEDIA_SAY_STOPPED,
				    .say_stopped = {.call = t.call_id, .playback = 9}});
	settle(&t);
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
	struct media_want elsewhere = want;
	struct media_playback *pb = NULL;
	struct toy t;

	elsewhere.guild++;
	CHECK_INT(toy_alloc(&t), 0);
	CHECK_INT(toy_listen(&t) || control_alloc_side(&t, 10), 0);
	CHECK_INT(media_call_open(&other, t.media, &elsewhere, NULL, NULL), 0);
	CHECK(run_until(&t, MEDIA_CALL_OPEN, 1));
	CHECK_INT(media_playback_open(&pb, other, 24000, NULL, NULL), 0);
	CHECK(run_until(&t, MEDIA_SAY_OPEN, 1));
	toy_gone(&t);
	t.holds_call = true;
	t.playback = 9;
	t.ended = true;
	CHECK_INT(media_call_open(&t.call, t.media, &want, on_call, &t), 0);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(run_until(&t, MEDIA_SAY_CLAIM, 1));
	CHECK_INT(t.inherited, 1);
	media_playback_free(pb);
	media_call_free(other);
	toy_free(&t);
}

/* A mediad that kept the call and has no such playback any more has played it or stopped it. */
TEST(media_playback_that_a_mediad_forgot_stops)
{
	struct toy t;

	CHECK(up_with_call(&t));
	CHECK_INT(media_playback_open(&t.pb, t.call, 24000, on_playback, &t), 0);
	CHECK(run_until(&t, MEDIA_SAY_OPEN, 1));
	t.playback = 0;
	t.holds_call = true;
	toy_gone(&t);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(run_until(&t, 0, 0));
	CHECK_INT(t.ev, MEDIA_PB_STOPPED);
	CHECK_INT(t.reason, MEDIA_REASON_CONNECTION_LOST);
	toy_free(&t);
}

TEST(media_playback_stops_when_mediad_stays_away)
{
	struct toy t;

	CHECK(up_with_call(&t));
	CHECK_INT(media_playback_open(&t.pb, t.call, 24000, on_playback, &t), 0);
	CHECK(run_until(&t, MEDIA_SAY_OPEN, 1));
	toy_gone(&t);
	CHECK(run_until(&t, 0, 0));
	CHECK_INT(t.ev, MEDIA_PB_STOPPED);
	toy_free(&t);
}

TEST(media_gives_way_to_a_newer_control)
{
	struct toy t;

	CHECK(up_with_call(&t));
	send(&t,
	     (struct media_msg){.type = MEDIA_FAULT, .fault = {.code = MEDIA_FAULT_TAKEN_OVER}});
	settle(&t);
	t.peer = peer_free(t.peer);
	settle(&t);
	CHECK(media_superseded(t.media));
	CHECK_INT(t.downs, 1);
	settle(&t);
	CHECK_INT(t.hellos, 1); /* not tried again */
	toy_free(&t);
}

TEST(media_closes_a_mediad_that_breaks_the_protocol)
{
	struct toy t;

	CHECK(up_with_call(&t));
	peer_send(t.peer, PEER_COMMAND, "\xff\xff", 2);
	CHECK(run_until(&t, MEDIA_HELLO, 2));
	CHECK(run_until(&t, MEDIA_CALL_OPEN, 2));
	toy_free(&t);
}

TEST(media_letting_go_keeps_the_calls_in_mediad)
{
	struct toy t;

	CHECK(up_with_call(&t));
	media_disconnect(t.media);
	t.call = media_call_free(t.call);
	settle(&t);
	CHECK_INT(t.count[MEDIA_CALL_CLOSE], 0);
	toy_free(&t);
}

TEST(media_unlistens_and_changes_rates)
{
	struct toy t;
	uint32_t first;

	CHECK(up_with_call(&t));
	CHECK_INT(media_call_listen(t.call, 501, 24000, 700), 0);
	CHECK(run_until(&t, MEDIA_LISTEN, 1));
	first = t.listen_id;
	CHECK_INT(media_call_listen(t.call, 501, 24000, 700), 0); /* the same: nothing is sent */
	CHECK_INT(media_call_listen(t.call, 501, 16000, 700), 0);
	CHECK(run_until(&t, MEDIA_LISTEN, 2));
	CHECK(t.listen_id != first);
	CHECK_INT(t.count[MEDIA_UNLISTEN], 1);
	CHECK_INT(media_call_listen(t.call, 501, 0, 0), 0);
	CHECK(run_until(&t, MEDIA_UNLISTEN, 2));
	toy_free(&t);
}

TEST_OOM(media_allocates)
{
	struct toy t;
	int err = toy_alloc(&t);

	CHECK_OOM(err, toy_free(&t));
	err = control_alloc_side(&t, 10);
	CHECK_OOM(err, toy_free(&t));
	err = media_call_open(&t.call, t.media, &want, on_call, &t);
	CHECK_OOM(err, toy_free(&t));
	err = media_call_listen(t.call, 501, 24000, 700);
	CHECK_OOM(err, toy_free(&t));
	err = media_call_consent(t.call, 501, true);
	CHECK_OOM(err, toy_free(&t));
	toy_free(&t);
}

static void toy_secure(struct toy *t, uint32_t gen, const char *code)
{
	send(t, (struct media_msg){.type = MEDIA_CALL_SECURE,
				   .call_secure = {.call = t->call_id,
						   .gen = gen,
						   .version = 1,
						   .known = true,
						   .members = 2,
						   .privacy_code = slice_str(code)}});
}

/* What is kept outlives the message, and is forgotten with its mediad. */
TEST(media_keeps_how_a_call_is_encrypted)
{
	struct toy t;

	CHECK(up_with_call(&t));
	CHECK(!media_call_secured(t.call));
	toy_secure(&t, 0, "123456789012345678901234567890");
	settle(&t);
	CHECK_INT(t.secures, 1);
	CHECK(media_call_secured(t.call));
	CHECK_MEM(media_call_secured(t.call)->privacy_code.p,
		  media_call_secured(t.call)->privacy_code.n, "123456789012345678901234567890", 30);
	CHECK_INT(media_call_verify(t.call, 501), 0);
	CHECK(run_until(&t, MEDIA_VERIFY, 1));
	send(&t, (struct media_msg){
			 .type = MEDIA_CODE,
			 .code = {.call = t.call_id, .user = 501, .code = slice_str("12345")}});
	settle(&t);
	CHECK_INT(t.codes, 1);
	CHECK_STR(t.code, "12345");
	toy_gone(&t);
	settle(&t);
	CHECK(!media_call_secured(t.call));
	CHECK_INT(media_call_verify(t.call, 501), ENOTCONN);
	toy_free(&t);
}
