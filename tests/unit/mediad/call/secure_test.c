/* End-to-end encryption of a call, from the gateway's messages to the keys of its stream, in
 * simulated time. Jobs run when the test allows it, with results set by the test. */
#include "mediad/call/call_internal.h"

#include "ipc/env.h"
#include "ipc/env_replay.h"
#include "ipc/journal.h"
#include "ipc/ws.h"
#include "mediad/key_worker.h"
#include "proto/base/time.h"
#include "tests/test.h"

enum { SELF = 99, ANNA = 7, BEN = 8, STRANGER = 3, SEEN = 256 };

static struct rig {
	struct env *env;
	struct ws_ctx *ws;
	struct engine *engine;
	struct worker *worker;
	uint32_t probe; /* a source of ours; the worker's is the next */
	struct call *c;
	uint32_t flows;
	uint64_t sessions, now, serial;
	bool gone;
	bool fine; /* the next answer of the system is 0, not 1 */

	struct media_call_secure secure; /* newest */
	char privacy_code[31];
	unsigned told, codes, late;
	char code[46];
	struct media_call_state state;
	enum dave_job_type job;	   /* newest that came back */
	enum dave_verdict verdict; /* of what comes back */
	bool poor;		   /* there is no memory while it is taken in */
	bool without_anna;	   /* the next epochs */
} rig;

static void on_out(const struct media_msg *msg, uint32_t flow, void *arg)
{
	(void)flow, (void)arg;
	if (msg->type == MEDIA_CALL_SECURE) {
		rig.secure = msg->call_secure;
		snprintf(rig.privacy_code, sizeof rig.privacy_code, "%.*s",
			 (int)msg->call_secure.privacy_code.n,
			 (const char *)msg->call_secure.privacy_code.p);
		rig.told++;
	}
	if (msg->type == MEDIA_CODE) {
		snprintf(rig.code, sizeof rig.code, "%.*s", (int)msg->code.code.n,
			 (const char *)msg->code.code.p);
		rig.codes++;
	}
	if (msg->type == MEDIA_CALL_STATE)
		rig.state = msg->call_state;
}

static void on_gone(struct call *c, void *arg)
{
	(void)c, (void)arg;
	rig.gone = true;
}

static struct dave_epoch *make_epoch(void)
{
	static const uint64_t users[] = {ANNA, BEN, SELF};
	static const uint8_t key[65] = {4};
	struct dave_epoch *e = calloc(1, sizeof *e);

	if (e)
		e->member = calloc(3, sizeof *e->member);
	if (!e || !e->member)
		return dave_epoch_free(e);
	e->serial = ++rig.serial;
	e->number = 100 + e->serial;
	e->n = 3;
	for (unsigned i = 0; i < 3; i++) {
		e->member[i].user = i || !rig.without_anna ? users[i] : STRANGER;
		memset(e->member[i].base, (int)(e->serial * 3 + i), sizeof e->member[i].base);
		e->member[i].signature_key = mls_slice(key, sizeof key);
	}
	memset(e->authenticator, (int)e->serial, sizeof e->authenticator);
	return e;
}

static void on_done(void *done, uint64_t owner, const uint8_t *answer, size_t len, void *arg)
{
	struct dave_job *job = done;

	(void)answer, (void)len, (void)arg;
	rig.job = job->type;
	if (job->type == DAVE_JOB_WELCOME || job->type == DAVE_JOB_COMMIT) {
		job->verdict = rig.verdict;
		job->epoch = rig.verdict == DAVE_DONE ? make_epoch() : NULL;
		job->in_group = rig.verdict == DAVE_DONE;
	}
	test_no_memory(rig.poor);
	if (call_job_done(rig.c, job, owner))
		job = NULL;
	test_no_memory(false);
	if (!job)
		return;
	rig.late++;
	dave_job_free(job);
}

static void on_probe(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	(void)kind, (void)data, (void)len, (void)arg;
}

/* Rings have room, and a UDP socket can be made. */
static const uint8_t *on_world(uint8_t what, size_t n, void *arg)
{
	static uint8_t zeros[64], yes[8] = {[7] = 1};

	(void)n, (void)arg;
	if (what != JOURNAL_ANSWER || rig.fine) {
		rig.fine = false;
		return zeros;
	}
	return yes;
}

static void wait_ms(unsigned ms)
{
	rig.now += ms * NS_PER_MS;
	env_replay_step(rig.env, rig.now, rig.probe, 0, NULL, 0);
}

static int start(bool stage)
{
	struct env_conf ec = {.loop = true, .replaying = true};
	struct engine_conf gc = {.threads = 1, .evh = call_engine_event};
	struct call_conf cc = {.outh = on_out, .goneh = on_gone};
	struct media_call_open open = {.call = 3,
				       .guild = 41,
				       .channel = 5,
				       .user = SELF,
				       .bitrate = 64000,
				       .consent = true,
				       .stage = stage};
	int err;

	memset(&rig, 0, sizeof rig);
	rig.now = 1000 * NS_PER_S;
	rig.verdict = DAVE_DONE;
	err = env_alloc(&rig.env, &ec);
	gc.env = rig.env;
	if (!err) {
		env_replay_world(rig.env, on_world, NULL);
		err = ws_ctx_alloc(&rig.ws, rig.env, NULL);
	}
	if (!err)
		err = engine_alloc(&rig.engine, &gc);
	if (!err) {
		env_replay_world(engine_env(rig.engine, 1), on_world, NULL);
		err = env_source_add(rig.env, &rig.probe, on_probe, NULL);
	}
	if (!err)
		err = key_worker_alloc(&rig.worker, rig.env, on_done, NULL);
	cc.env = rig.env;
	cc.ws = rig.ws;
	cc.engine = rig.engine;
	cc.worker = rig.worker;
	cc.flows = &rig.flows;
	cc.sessions = &rig.sessions;
	if (!err)
		err = call_alloc(&rig.c, &cc, &open);
	if (!err)
		wait_ms(0);
	return err;
}

static void finish(void)
{
	engine_free(rig.engine);
	worker_free(rig.worker);
	call_free(rig.c);
	ws_ctx_free(rig.ws);
	env_free(rig.env);
}

/* The audio thread takes its commands, and the loop thread what came of them: one a step. */
static void audio(void)
{
	for (unsigned i = 0; i < 64; i++)
		env_replay_step(engine_env(rig.engine, 1), rig.now, 1, 0, NULL, 0);
	for (unsigned i = 0; i < 64; i++)
		env_replay_step(rig.env, rig.now, rig.probe - 1, 0, NULL, 0);
}

/* The oldest job comes back. */
static void work(void)
{
	env_replay_step(rig.env, rig.now, rig.probe + 1, 0, NULL, 0);
}

static void text(const char *json)
{
	vgw_ws_text(rig.c->gw, rig.now, rig.c->conn, json, strlen(json));
	call_finish_step(rig.c);
}

static void binary(uint8_t op, const char *payload, size_t n)
{
	uint8_t msg[64] = {0, 0, op};

	memcpy(msg + 3, payload, n);
	vgw_ws_binary(rig.c->gw, rig.now, rig.c->conn, msg, n + 3);
	call_finish_step(rig.c);
}

/* As far as it goes before op 4. */
static void greeted(const char *session)
{
	struct media_call_credentials m = {.gen = rig.c->gen + 1,
					   .session = slice_str(session),
					   .token = slice_str("tok"),
					   .endpoint = slice_str("voice.example:1"),
					   .channel = 5};

	call_credentials(rig.c, &m);
	vgw_ws_open(rig.c->gw, rig.now, rig.c->conn);
	rig.fine = true;
	text("{\"op\":8,\"d\":{\"heartbeat_interval\":13750}}");
	text("{\"op\":2,\"d\":{\"ssrc\":12,\"ip\":\"127.0.0.1\",\"port\":5000,\"modes\":[\"aead_"
	     "aes256_gcm_rtpsize\"]}}");
	vgw_discovered(rig.c->gw, rig.now, "203.0.113.9", 4000);
	call_finish_step(rig.c);
}

static void join(const char *session, unsigned version)
{
	char json[400];

	greeted(session);
	snprintf(json, sizeof json,
		 "{\"op\":4,\"d\":{\"mode\":\"aead_aes256_gcm_rtpsize\",\"dave_protocol_version\":%"
		 "u,\"secret_key\":"
		 "[1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8]}}",
		 version);
	text(json);
	text("{\"op\":11,\"d\":{\"user_ids\":[\"7\",\"8\"]}}");
}

static void speaks(uint64_t user, unsigned ssrc)
{
	char json[100];

	snprintf(json, sizeof json, "{\"op\":5,\"d\":{\"user_id\":\"%u\",\"ssrc\":%u}}",
		 (unsigned)user, ssrc);
	text(json);
}

/* In a group with ANNA, whose slot is there, and BEN, who did not speak yet. */
static void settled(void)
{
	join("s1", 1);
	work(); /* keys of our own */
	speaks(ANNA, 700);
	binary(30, "\0\0welcome", 9);
	work();
	audio();
}

static const struct slot *slot_of(uint64_t user)
{
	const struct person *p = hear_find(rig.c, user);

	return p ? p->slot : NULL;
}

TEST(secure_lends_keys_of_each_epoch)
{
	CHECK_INT(start(false), 0);
	join("s1", 1);
	audio();
	CHECK(rig.secure.known && !rig.secure.ready && rig.secure.version == 1);
	CHECK(rig.c->stream->dave_known && !rig.c->stream->clear);
	work();
	CHECK_INT(rig.job, DAVE_JOB_RESET);
	speaks(ANNA, 700);
	binary(30, "\0\0welcome", 9);
	work();
	audio();
	CHECK_INT(rig.job, DAVE_JOB_WELCOME);
	CHECK(rig.secure.ready && rig.secure.members == 3 && rig.secure.epoch == 101);
	CHECK_INT(strlen(rig.privacy_code), 30);
	CHECK(rig.c->stream->epoch == (UINT64_C(1) << 32 | 1));
	CHECK(slot_of(ANNA)->epoch == rig.c->stream->epoch);
	/* An epoch whose transition waits: heard at once, sealed with at op 22. */
	binary(29, "\0\5commit", 8);
	work();
	audio();
	CHECK(rig.secure.pending);
	CHECK(slot_of(ANNA)->epoch == (UINT64_C(1) << 32 | 2));
	CHECK(rig.c->stream->epoch == (UINT64_C(1) << 32 | 1));
	/* A speaker who speaks for the first time is lent both keys, the newest last. */
	speaks(BEN, 800);
	audio();
	text("{\"op\":22,\"d\":{\"transition_id\":5}}");
	audio();
	CHECK(!rig.secure.pending);
	CHECK(rig.c->stream->epoch == (UINT64_C(1) << 32 | 2));
	finish();
}

TEST(secure_lends_the_next_generations)
{
	struct ev ev = {.type = EV_DAVE_NEXT};

	CHECK_INT(start(false), 0);
	settled();
	ev.stream = rig.c->stream;
	ev.dave.epoch = rig.c->stream->epoch;
	ev.dave.generation = 1;
	call_engine_event(&ev, rig.c);
	ev.dave.user = ANNA;
	ev.dave.generation = 2;
	call_engine_event(&ev, rig.c);
	audio();
	CHECK_INT(rig.c->stream->generation, 1);
	CHECK_INT(slot_of(ANNA)->generation, 2);
	/* Of an epoch that is not kept, or of nobody. */
	ev.dave.epoch++;
	ev.dave.generation = 3;
	call_engine_event(&ev, rig.c);
	ev.dave.user = BEN;
	call_engine_event(&ev, rig.c);
	ev.dave.user = 1234;
	call_engine_event(&ev, rig.c);
	audio();
	CHECK_INT(slot_of(ANNA)->generation, 2);
	finish();
}

/* A speaker far into its ratchet gets another slot: the ratchet continues where it was. */
TEST(secure_lends_a_new_slot_the_generation_in_use)
{
	struct media_listen listen = {.listen = 4, .user = ANNA, .rate = 24000, .silence_ms = 500};
	struct ev ev = {.type = EV_DAVE_NEXT};

	CHECK_INT(start(false), 0);
	settled();
	call_listen(rig.c, &listen); /* so that who leaves is remembered */
	ev.stream = rig.c->stream;
	ev.dave.epoch = rig.c->stream->epoch;
	ev.dave.user = ANNA;
	ev.dave.generation = 2;
	call_engine_event(&ev, rig.c);
	audio();
	text("{\"op\":13,\"d\":{\"user_id\":\"7\"}}");
	audio();
	CHECK(!slot_of(ANNA));
	speaks(ANNA, 701);
	audio();
	CHECK(slot_of(ANNA)->generation == 2 && slot_of(ANNA)->epoch == ev.dave.epoch);
	/* An epoch later all begin anew. */
	binary(29, "\0\5commit", 8);
	work();
	text("{\"op\":13,\"d\":{\"user_id\":\"7\"}}");
	audio();
	speaks(ANNA, 702);
	audio();
	CHECK(slot_of(ANNA)->generation == 0 && slot_of(ANNA)->epoch == ev.dave.epoch + 1);
	finish();
}

/* Time goes on, and the timer of what is owed fires when it is due. */
static void pay_for(unsigned ms)
{
	for (; ms; ms -= 50) {
		wait_ms(50);
		if (rig.c->secure.retry_wait_ms && rig.now >= rig.c->secure.retry_at)
			env_replay_step(rig.env, rig.now, rig.probe + 4, 0, NULL, 0);
	}
}

/* No memory for the keys of an epoch, nor of later generations: they are lent once there is, at a
 * bounded pace. */
TEST(secure_lends_deferred_keys_later)
{
	const uint64_t first = UINT64_C(1) << 32 | 1;
	struct ev ev = {.type = EV_DAVE_NEXT};

	CHECK_INT(start(false), 0);
	settled();
	CHECK_INT(slot_of(ANNA)->epoch, first);
	rig.poor = true;
	binary(29, "\0\5commit", 8);
	work();
	rig.poor = false;
	audio();
	CHECK_INT(slot_of(ANNA)->epoch, first);
	CHECK(hear_find(rig.c, ANNA)->deferred.is && rig.c->secure.retry_wait_ms);
	test_no_memory(true);
	pay_for(800);
	CHECK_INT(rig.c->secure.retry_wait_ms, 800);
	test_no_memory(false);
	audio();
	CHECK_INT(slot_of(ANNA)->epoch, first);
	pay_for(800);
	audio();
	CHECK(!rig.c->secure.retry_wait_ms && !hear_find(rig.c, ANNA)->deferred.is);
	CHECK_INT(slot_of(ANNA)->epoch, first + 1);
	text("{\"op\":22,\"d\":{\"transition_id\":5}}");
	audio();
	CHECK_INT(rig.c->stream->epoch, first + 1);
	/* Later generations of them. */
	ev.stream = rig.c->stream;
	ev.dave.epoch = first + 1;
	ev.dave.generation = 1;
	test_no_memory(true);
	call_engine_event(&ev, rig.c);
	ev.dave.user = ANNA;
	ev.dave.generation = 2;
	call_engine_event(&ev, rig.c);
	test_no_memory(false);
	audio();
	CHECK(rig.c->stream->generation == 0 && slot_of(ANNA)->generation == 0);
	pay_for(100);
	audio();
	CHECK(rig.c->stream->generation == 1 && slot_of(ANNA)->generation == 2);
	finish();
}

/* An epoch that was followed by another is not owed any more, nor what was owed in a session that
 * is over. */
TEST(secure_defers_only_useful_keys)
{
	CHECK_INT(start(false), 0);
	settled();
	rig.poor = true;
	binary(29, "\0\5commit", 8);
	work();
	rig.poor = false;
	CHECK(hear_find(rig.c, ANNA)->deferred.is);
	binary(29, "\0\6commit", 8);
	work();
	audio();
	CHECK(!hear_find(rig.c, ANNA)->deferred.is);
	pay_for(100);
	CHECK_INT(rig.c->secure.retry_wait_ms, 0);
	audio();
	CHECK(slot_of(ANNA)->epoch == (UINT64_C(1) << 32 | 3));
	rig.poor = true;
	binary(29, "\0\7commit", 8);
	work();
	rig.poor = false;
	CHECK(hear_find(rig.c, ANNA)->deferred.is);
	join("s2", 1);
	CHECK(!hear_find(rig.c, ANNA)->deferred.is && !rig.c->secure.retry_wait_ms);
	finish();
}

/* A speaker was removed from the group before its last key could be lent: what it said until then
 * can still be heard. */
TEST(secure_lends_the_deferred_key_of_an_epoch_that_a_speaker_has_left)
{
	CHECK_INT(start(false), 0);
	settled();
	rig.poor = true;
	binary(29, "\0\5commit", 8);
	work();
	rig.poor = false;
	CHECK(hear_find(rig.c, ANNA)->deferred.is);
	rig.without_anna = true;
	binary(29, "\0\6commit", 8);
	work();
	audio();
	CHECK(hear_find(rig.c, ANNA)->deferred.is);
	pay_for(200);
	audio();
	CHECK(!hear_find(rig.c, ANNA)->deferred.is);
	CHECK(slot_of(ANNA)->epoch == (UINT64_C(1) << 32 | 2));
	finish();
}

/* The keys of an epoch that is over, its grace included, are lent to nobody. */
TEST(secure_drops_the_deferred_key_of_an_epoch_that_is_over)
{
	CHECK_INT(start(false), 0);
	settled();
	rig.poor = true;
	binary(29, "\0\5commit", 8);
	work();
	rig.poor = false;
	rig.without_anna = true;
	binary(29, "\0\6commit", 8);
	work();
	audio();
	wait_ms(11000);
	env_replay_step(rig.env, rig.now, rig.probe + 4, 0, NULL, 0);
	audio();
	CHECK(!hear_find(rig.c, ANNA)->deferred.is && !rig.c->secure.retry_wait_ms);
	CHECK(slot_of(ANNA)->epoch == (UINT64_C(1) << 32 | 1));
	finish();
}

TEST(secure_outage_heals_by_recover_then_rejoin)
{
	struct ev ev = {.type = EV_DAVE_OUTAGE};

	CHECK_INT(start(false), 0);
	settled();
	wait_ms(3000);
	ev.stream = rig.c->stream;
	ev.dave.user = ANNA;
	ev.dave.undecryptable = true;
	ev.dave.at = rig.now - 700 * NS_PER_MS;
	call_engine_event(&ev, rig.c);
	CHECK_INT(rig.secure.undecryptable, 1);
	CHECK_INT(rig.secure.heal, MEDIA_HEAL_RECOVER);
	CHECK_INT(rig.secure.recovers, 1);
	CHECK(hear_find(rig.c, ANNA)->outage_since == ev.dave.at);
	work();
	CHECK_INT(rig.job, DAVE_JOB_REKEY);
	for (unsigned i = 0; i < 15; i++) {
		wait_ms(720);
		call_engine_event(&ev, rig.c);
	}
	CHECK_INT(rig.secure.heal, MEDIA_HEAL_REJOIN);
	CHECK_INT(rig.secure.rejoins, 1);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_WAITING);
	CHECK_INT(rig.state.reason, MEDIA_REASON_NOT_DECRYPTED);
	CHECK(rig.state.wants_credentials);
	CHECK(!rig.secure.known && !rig.c->secure.session);
	CHECK(hear_find(rig.c, ANNA)->outage_since == 0);
	audio();
	CHECK(!rig.c->stream->dave_known);
	/* The recovery steps continue where they were. */
	join("s2", 1);
	CHECK_INT(rig.secure.rejoins, 1);
	work();
	audio();
	CHECK(rig.c->stream->dave_known);
	finish();
}

/* A fault before op 4 must not leave the session up without end-to-end encryption for ever. */
TEST(secure_rejoins_before_it_is_up)
{
	CHECK_INT(start(false), 0);
	greeted("s1");
	binary(25, "no sender", 9);
	work();
	CHECK_INT(rig.job, DAVE_JOB_EXTERNAL_SENDER);
	dave_session_timer(rig.c->secure.session, rig.now);
	call_finish_step(rig.c);
	CHECK_INT(rig.secure.rejoins, 1);
	CHECK_INT(rig.state.reason, MEDIA_REASON_NOT_DECRYPTED);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_COOLING);
	wait_ms(1000);
	vgw_timer(rig.c->gw, rig.now);
	call_finish_step(rig.c);
	CHECK(rig.state.wants_credentials && !rig.c->secure.session);
	join("s2", 1);
	work();
	CHECK(rig.secure.known && rig.state.phase == MEDIA_PHASE_UP);
	finish();
}

TEST(secure_outage_ends)
{
	struct ev ev = {.type = EV_DAVE_OUTAGE};

	CHECK_INT(start(false), 0);
	settled();
	wait_ms(3000);
	ev.dave.user = ANNA;
	ev.dave.undecryptable = true;
	ev.dave.at = rig.now - 700 * NS_PER_MS;
	call_engine_event(&ev, rig.c);
	work();
	binary(30, "\0\0welcome", 9); /* with the old key alone it would not be over */
	work();
	ev.dave.undecryptable = false;
	call_engine_event(&ev, rig.c);
	CHECK_INT(rig.secure.undecryptable, 0);
	CHECK_INT(rig.secure.heal, MEDIA_HEAL_NONE);
	CHECK_INT(rig.secure.recovers, 1);
	CHECK(hear_find(rig.c, ANNA)->outage_since == 0);
	finish();
}

TEST(secure_resumes_when_something_was_missed)
{
	struct ev ev = {.type = EV_DAVE_OUTAGE};

	CHECK_INT(start(false), 0);
	settled();
	text("{\"op\":77,\"seq\":10,\"d\":{}}");
	text("{\"op\":77,\"seq\":13,\"d\":{}}"); /* after 0, of the welcome, both are gaps */
	wait_ms(3000);
	ev.dave.user = ANNA;
	ev.dave.undecryptable = true;
	ev.dave.at = rig.now - 700 * NS_PER_MS;
	call_engine_event(&ev, rig.c);
	work();
	for (unsigned i = 0; i < 15; i++) {
		wait_ms(720);
		call_engine_event(&ev, rig.c);
	}
	CHECK_INT(rig.secure.resumes, 1);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_RESUMING);
	/* What is said meanwhile waits for op 9 and is no error. */
	vgw_ws_open(rig.c->gw, rig.now, rig.c->conn);
	vgw_ws_binary(rig.c->gw, rig.now, rig.c->conn, (const uint8_t *)"\0\x0b\x1d\0\6commit",
		      11); /* 11, missed before */
	call_finish_step(rig.c);
	work();
	CHECK(rig.secure.pending);
	text("{\"op\":9,\"d\":null}");
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	CHECK(rig.c->secure.session && !rig.c->secure.rejoin);
	CHECK(rig.secure.pending);
	finish();
}

static void unmapped(uint32_t ssrc, bool persistent)
{
	struct ev ev = {.type = EV_UNMAPPED_SSRC, .stream = rig.c->stream};

	ev.unmapped.ssrc = ssrc;
	ev.unmapped.persistent = persistent;
	call_engine_event(&ev, rig.c);
}

/* The message that maps an SSRC was lost: an unmapped SSRC triggers one resume at once, and not
 * again and again. */
TEST(call_resumes_for_an_unmapped_ssrc)
{
	CHECK_INT(start(false), 0);
	settled();
	unmapped(900, true); /* the session has only just come up: names may be on their way */
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	wait_ms(UNMAPPED_SETTLE_MS);
	unmapped(900, false); /* a straggler */
	unmapped(700, true);  /* ANNA's, on its way to her slot */
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	unmapped(900, true);
	CHECK(rig.state.phase == MEDIA_PHASE_RESUMING &&
	      rig.state.reason == MEDIA_REASON_CONNECTION_LOST);
	unmapped(901, true);
	CHECK_INT(rig.c->unmapped.asks, 1);
	vgw_ws_open(rig.c->gw, rig.now, rig.c->conn);
	text("{\"op\":8,\"d\":{\"heartbeat_interval\":60000}}");
	text("{\"op\":9,\"d\":null}");
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	unmapped(900, true);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	speaks(BEN, 900);
	CHECK_INT(rig.c->unmapped.asks, 0);
	wait_ms(UNMAPPED_WAIT_MS);
	unmapped(900, true);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	unmapped(901, true);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_RESUMING);
	finish();
}

/* A job of an ended session has no owner. */
TEST(secure_late_jobs_are_not_adopted)
{
	CHECK_INT(start(false), 0);
	join("s1", 1);
	vgw_ws_closed(rig.c->gw, rig.now, rig.c->conn, 4006, MEDIA_REASON_NONE);
	call_finish_step(rig.c);
	CHECK(!rig.c->secure.session);
	work();
	CHECK_INT(rig.late, 1);
	join("s2", 1);
	join("s3", 1);
	work();
	CHECK_INT(rig.late, 2);
	work();
	CHECK_INT(rig.late, 2);
	CHECK_INT(rig.job, DAVE_JOB_RESET);
	finish();
}

TEST(secure_without_encryption)
{
	CHECK_INT(start(true), 0);
	join("s1", 0);
	audio();
	CHECK(rig.secure.known && rig.secure.ready && !rig.secure.version);
	CHECK(rig.c->stream->clear && rig.c->stream->clear_until == UINT64_MAX);
	CHECK(!rig.c->secure.clear_logged);
	finish();
	/* No stage: said once. */
	CHECK_INT(start(false), 0);
	join("s1", 0);
	CHECK(rig.c->secure.clear_logged);
	finish();
}

static void set_e2ee(enum media_e2ee e2ee, bool stage)
{
	struct media_call_set m = {
		.channel = 5, .bitrate = 64000, .stage = stage, .e2ee = (uint8_t)e2ee};

	call_set(rig.c, &m);
}

#define PREPARE_CLEAR "{\"op\":21,\"d\":{\"transition_id\":8,\"protocol_version\":0}}"
#define EXECUTE_CLEAR "{\"op\":22,\"d\":{\"transition_id\":8}}"

/* A call that was encrypted is left when that ends, and another session without encryption is
 * refused before anything is sent; an encrypted one is welcome. */
TEST(secure_leaves_a_call_that_loses_its_encryption)
{
	CHECK_INT(start(false), 0);
	settled();
	text(PREPARE_CLEAR);
	audio();
	CHECK(!rig.c->stream->clear && rig.c->stream->clear_until <= rig.now);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	text(EXECUTE_CLEAR);
	audio();
	CHECK_INT(rig.state.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(rig.state.reason, MEDIA_REASON_NOT_ENCRYPTED);
	CHECK(!rig.state.wants_credentials && !rig.c->stream->clear);
	join("s2", 0);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(rig.state.reason, MEDIA_REASON_NOT_ENCRYPTED);
	audio();
	CHECK(!rig.c->stream->clear);
	join("s3", 1);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	finish();
}

TEST(secure_refuses_a_clear_call_where_encryption_is_required_from_the_start)
{
	CHECK_INT(start(false), 0);
	set_e2ee(MEDIA_E2EE_ALWAYS, false);
	join("s1", 0);
	CHECK_INT(rig.state.reason, MEDIA_REASON_NOT_ENCRYPTED);
	set_e2ee(MEDIA_E2EE_PREFER, false);
	join("s2", 0);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	/* The setting is applied to the call at hand, too. A stage has none. */
	set_e2ee(MEDIA_E2EE_ALWAYS, true);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	set_e2ee(MEDIA_E2EE_ALWAYS, false);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_FAILED);
	finish();
}

TEST(secure_a_clear_call_that_became_encrypted_stays_so)
{
	CHECK_INT(start(false), 0);
	join("s1", 0);
	work();
	text("{\"op\":24,\"d\":{\"epoch\":1,\"protocol_version\":1}}");
	binary(25, "sender", 6);
	work();
	work();
	binary(30, "\0\11welcome", 9);
	work();
	text("{\"op\":22,\"d\":{\"transition_id\":9}}");
	CHECK(rig.secure.version == 1 && rig.c->secure.encrypted);
	text(PREPARE_CLEAR);
	text(EXECUTE_CLEAR);
	CHECK_INT(rig.state.reason, MEDIA_REASON_NOT_ENCRYPTED);
	finish();
}

TEST(secure_downgrade_and_upgrade)
{
	CHECK_INT(start(false), 0);
	settled();
	set_e2ee(MEDIA_E2EE_PREFER, false);
	text("{\"op\":21,\"d\":{\"transition_id\":8,\"protocol_version\":0}}");
	audio();
	CHECK(!rig.c->stream->clear && rig.c->stream->clear_until == UINT64_MAX);
	text("{\"op\":22,\"d\":{\"transition_id\":8}}");
	audio();
	CHECK(rig.c->stream->clear && rig.secure.version == 0);
	work();
	text("{\"op\":24,\"d\":{\"epoch\":1,\"protocol_version\":1}}");
	work();
	binary(30, "\0\11welcome", 9);
	work();
	audio();
	CHECK(rig.c->stream->clear);
	text("{\"op\":22,\"d\":{\"transition_id\":9}}");
	audio();
	CHECK(!rig.c->stream->clear && rig.secure.version == 1 && rig.secure.ready);
	CHECK(rig.c->stream->clear_until == rig.now + 10 * NS_PER_S);
	finish();
}

/* Commands of an older generation are late; those about playbacks are found by their ids. */
TEST(call_drops_commands_of_an_older_generation)
{
	struct media_msg set = {.type = MEDIA_CALL_SET,
				.call_set = {.channel = 5, .bitrate = 64000, .mute = true}};
	struct media_msg consent = {.type = MEDIA_CONSENT, .consent = {.user = 77, .yes = true}};
	struct media_msg open = {.type = MEDIA_SAY_OPEN,
				 .say_open = {.playback = 9, .rate = 24000}};

	CHECK_INT(start(false), 0);
	join("s1", 1);
	CHECK_INT(rig.c->gen, 1);
	CHECK_INT(call_run_command(rig.c, &set), 0);
	CHECK_INT(call_run_command(rig.c, &consent), 0);
	CHECK(!rig.c->mute && !hear_find(rig.c, 77));
	set.call_set.gen = consent.consent.gen = 1;
	CHECK_INT(call_run_command(rig.c, &set), 0);
	CHECK_INT(call_run_command(rig.c, &consent), 0);
	CHECK(rig.c->mute && hear_find(rig.c, 77));
	CHECK_INT(call_run_command(rig.c, &open), 0);
	CHECK(rig.c->playbacks[0] && rig.c->playbacks[0]->id == 9);
	finish();
}

/* The consent of users who were not asked is part of what a new control says. */
TEST(call_set_changes_the_default_consent)
{
	struct media_call_set m = {.channel = 5, .bitrate = 64000};

	CHECK_INT(start(false), 0);
	call_set(rig.c, &m);
	CHECK(rig.c->consent); /* an older control says nothing about it */
	m.consent = MEDIA_CONSENT_NO;
	call_set(rig.c, &m);
	CHECK(!rig.c->consent && !hear_has_consent(rig.c));
	m.consent = MEDIA_CONSENT_YES;
	call_set(rig.c, &m);
	CHECK(hear_has_consent(rig.c));
	finish();
}

static bool consents(uint64_t user)
{
	const struct person *p = hear_find(rig.c, user);

	return p && p->consent_known ? p->consented : rig.c->consent;
}

/* What one control knew of single users is nothing that the next one has said. */
TEST(call_consents_of_a_control_that_is_gone_are_forgotten)
{
	struct media_call_set m = {.channel = 5, .bitrate = 64000, .consent = MEDIA_CONSENT_NO};
	struct media_consent anna = {.user = ANNA, .yes = true}, ben = {.user = BEN, .yes = true};

	CHECK_INT(start(false), 0);
	call_set(rig.c, &m);
	call_consent(rig.c, &anna);
	call_consent(rig.c, &ben);
	call_set(rig.c, &m);
	CHECK(consents(ANNA) && consents(BEN));
	call_send_all(rig.c); /* to another control, which repeats one of them */
	CHECK(consents(ANNA) && consents(BEN));
	call_consent(rig.c, &ben);
	call_set(rig.c, &m);
	CHECK(!consents(ANNA) && consents(BEN));
	finish();
}

TEST(call_a_refused_consent_without_memory_refuses_all)
{
	struct media_consent stranger = {.user = 4711, .yes = false};

	CHECK_INT(start(false), 0);
	for (uint64_t user = 1000; hear_find(rig.c, user - 1) || user == 1000; user++) {
		struct media_consent c = {.user = user, .yes = true};

		test_no_memory(user >= 1000 + 64);
		call_consent(rig.c, &c);
	}
	call_consent(rig.c, &stranger);
	test_no_memory(false);
	CHECK(!hear_find(rig.c, 4711) && !rig.c->consent);
	finish();
}

TEST(secure_verifies_members)
{
	struct media_verify m = {.user = ANNA};

	CHECK_INT(start(false), 0);
	call_verify(rig.c, &m);
	CHECK_INT(rig.codes, 1);
	CHECK_STR(rig.code, "");
	settled();
	call_verify(rig.c, &m);
	work();
	CHECK_INT(rig.job, DAVE_JOB_CODE);
	CHECK_INT(rig.codes, 2);
	CHECK_INT(strlen(rig.code), 45);
	m.user = 1234;
	call_verify(rig.c, &m);
	CHECK_INT(rig.codes, 3);
	CHECK_STR(rig.code, "");
	finish();
}

TEST(secure_a_new_control_is_told)
{
	CHECK_INT(start(false), 0);
	settled();
	rig.told = 0;
	call_send_all(rig.c);
	CHECK_INT(rig.told, 1);
	CHECK_INT(rig.secure.members, 3);
	finish();
}

/* Whatever finds no memory: nothing leaks, and the call can be left. */
TEST_OOM(secure_oom)
{
	struct ev ev = {.type = EV_DAVE_NEXT};
	int err = start(false);

	if (err) {
		finish();
		CHECK_OOM(err, (void)0);
	}
	settled();
	binary(29, "\0\5commit", 8);
	work();
	speaks(BEN, 800);
	audio();
	ev.stream = rig.c->stream;
	ev.dave.epoch = rig.c->stream->epoch;
	ev.dave.generation = 1;
	call_engine_event(&ev, rig.c);
	call_verify(rig.c, &(struct media_verify){.user = ANNA});
	for (unsigned i = 0; i < 4; i++)
		work();
	wait_ms(1000);
	call_leave(rig.c);
	audio();
	finish();
}
