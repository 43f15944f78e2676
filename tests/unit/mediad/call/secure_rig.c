#include "tests/unit/mediad/call/secure_rig.h"

struct rig rig;

static void on_out(const struct media_msg *msg, uint32_t flow, void *arg)
{
	(void)flow, (void)arg;
	if (msg->type == MEDIA_CALL_STATS)
		rig.call_stats = msg->call_stats;
	if (msg->type == MEDIA_USER_STATS)
		rig.user_stats = msg->user_stats;
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
	if (msg->type == MEDIA_VIDEO_SOURCE) {
		rig.source = msg->video_source;
		rig.sources++;
	}
	if (msg->type == MEDIA_VIDEO_STATE) {
		rig.video = msg->video_state;
		rig.states++;
	}
	if (msg->type == MEDIA_VIDEO_FILM) {
		rig.film = msg->video_film;
		snprintf(rig.film_failure, sizeof rig.film_failure, "%.*s",
			 (int)msg->video_film.failure.n, (const char *)msg->video_film.failure.p);
	}
	if (msg->type == MEDIA_VIDEO_FRAME) {
		rig.frame = msg->video_frame;
		rig.parts++;
		rig.part_bytes += msg->video_frame.data.n;
	}
}

static size_t on_queued(void *arg)
{
	(void)arg;
	return rig.queued;
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

void rig_wait_ms(unsigned ms)
{
	rig.now += ms * NS_PER_MS;
	env_replay_step(rig.env, rig.now, rig.probe, 0, NULL, 0);
}

static int start(bool stage, bool stream, bool live)
{
	struct env_conf ec = {.loop = true, .replaying = !live};
	struct engine_conf gc = {.threads = 1, .evh = call_engine_event};
	struct call_conf cc = {.outh = on_out, .queuedh = on_queued, .goneh = on_gone};
	struct media_call_open open = {.call = 3,
				       .guild = 41,
				       .channel = 5,
				       .user = SELF,
				       .bitrate = 64000,
				       .consent = true,
				       .stage = stage,
				       .stream = stream};
	int err;

	memset(&rig, 0, sizeof rig);
	rig.now = 1000 * NS_PER_S;
	rig.verdict = DAVE_DONE;
	err = env_alloc(&rig.env, &ec);
	gc.env = rig.env;
	if (!err && !live)
		env_replay_world(rig.env, on_world, NULL);
	if (!err)
		err = ws_ctx_alloc(&rig.ws, rig.env, NULL);
	if (!err)
		err = engine_alloc(&rig.engine, &gc);
	if (!err && !live)
		env_replay_world(engine_env(rig.engine, 1), on_world, NULL);
	if (!err)
		err = env_source_add(rig.env, &rig.probe, on_probe, NULL);
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
	if (!err && !live)
		rig_wait_ms(0);
	return err;
}

int rig_start(bool stage)
{
	return start(stage, false, false);
}

int rig_start_stream(void)
{
	return start(false, true, false);
}

int rig_start_live_stream(void)
{
	return start(false, true, true);
}

void rig_finish(void)
{
	engine_free(rig.engine);
	worker_free(rig.worker);
	call_free(rig.c);
	ws_ctx_free(rig.ws);
	env_free(rig.env);
}

void rig_audio(void)
{
	for (unsigned i = 0; i < 64; i++)
		env_replay_step(engine_env(rig.engine, 1), rig.now, 1, 0, NULL, 0);
	for (unsigned i = 0; i < 64; i++)
		env_replay_step(rig.env, rig.now, rig.probe - 1, 0, NULL, 0);
}

/* The engine makes its timer before the source of its only thread, which comes before the probe. */
void rig_retry(void)
{
	env_replay_step(rig.env, rig.now, rig.probe - 2, 0, NULL, 0);
}

void rig_work(void)
{
	env_replay_step(rig.env, rig.now, rig.probe + 1, 0, NULL, 0);
}

void rig_text(const char *json)
{
	vgw_ws_text(rig.c->gw, rig.now, rig.c->conn, json, strlen(json));
	call_finish_step(rig.c);
}

void rig_binary(uint8_t op, const char *payload, size_t n)
{
	uint8_t msg[64] = {0, 0, op};

	memcpy(msg + 3, payload, n);
	vgw_ws_binary(rig.c->gw, rig.now, rig.c->conn, msg, n + 3);
	call_finish_step(rig.c);
}

void rig_greeted(const char *session)
{
	struct media_call_credentials m = {.gen = rig.c->gen + 1,
					   .session = slice_str(session),
					   .token = slice_str("tok"),
					   .endpoint = slice_str("voice.example:1"),
					   .channel = rig.c->channel,
					   .after_failure = true};

	rig.key++;
	call_credentials(rig.c, &m);
	vgw_ws_open(rig.c->gw, rig.now, rig.c->conn);
	rig.fine = true;
	rig_text("{\"op\":8,\"d\":{\"heartbeat_interval\":13750}}");
	rig_text("{\"op\":2,\"d\":{\"ssrc\":12,\"ip\":\"66.22.196.1\",\"port\":5000,\"modes\":["
		 "\"aead_"
		 "aes256_gcm_rtpsize\"],\"streams\":[{\"ssrc\":13,\"rtx_ssrc\":14}]}}");
	vgw_discovered(rig.c->gw, rig.now, "203.0.113.9", 4000);
	call_finish_step(rig.c);
}

void rig_described(unsigned version)
{
	char json[400];

	snprintf(json, sizeof json,
		 "{\"op\":4,\"d\":{\"mode\":\"aead_aes256_gcm_rtpsize\",\"dave_protocol_version\":%"
		 "u,\"secret_key\":"
		 "[%u,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8]}}",
		 version, rig.key);
	rig_text(json);
}

void rig_join(const char *session, unsigned version)
{
	rig_greeted(session);
	rig_described(version);
	rig_text("{\"op\":11,\"d\":{\"user_ids\":[\"7\",\"8\"]}}");
}

void rig_speaks(uint64_t user, unsigned ssrc)
{
	char json[100];

	snprintf(json, sizeof json, "{\"op\":5,\"d\":{\"user_id\":\"%u\",\"ssrc\":%u}}",
		 (unsigned)user, ssrc);
	rig_text(json);
}

void rig_settled(void)
{
	rig_join("s1", 1);
	rig_work(); /* keys of our own */
	rig_speaks(ANNA, 700);
	rig_binary(30, "\0\0welcome", 9);
	rig_work();
	rig_audio();
}
