#include "tests/unit/control/media/toy_mediad.h"

#include <stdlib.h>
#include <unistd.h>

const struct media_want toy_want = {
	.guild = 100, .channel = 301, .bitrate = 64000, .consent = true};

void toy_send(struct toy *t, struct media_msg msg)
{
	uint8_t buf[MEDIA_MAX_FRAME];
	size_t len;

	if (media_pack(&msg, MEDIA_MINOR, buf, sizeof buf, &len) == 0 && t->peer)
		peer_send(t->peer,
			  media_lane_of(msg.type) == MEDIA_LANE_AUDIO ? PEER_AUDIO : PEER_COMMAND,
			  buf, len);
}

void toy_fault(struct toy *t, enum media_fault_code code)
{
	toy_send(t, (struct media_msg){.type = MEDIA_FAULT,
				       .fault = {.code = (uint16_t)code, .text = slice_str("")}});
}

void toy_state(struct toy *t, uint32_t call, uint32_t gen, uint64_t guild, enum media_phase phase,
	       bool wants)
{
	toy_send(t,
		 (struct media_msg){.type = MEDIA_CALL_STATE,
				    .call_state = {.call = call,
						   .gen = gen,
						   .phase = (uint8_t)phase,
						   .wants_credentials = wants,
						   .guild = guild,
						   .channel = t->channel,
						   .mode = slice_str("aead_aes256_gcm_rtpsize")}});
}

void toy_encrypt(struct toy *t)
{
	toy_send(t, (struct media_msg){.type = MEDIA_CALL_SECURE,
				       .call_secure = {.call = 77,
						       .gen = 3,
						       .version = 1,
						       .known = true,
						       .ready = true,
						       .privacy_code = slice_str("")}});
}

void toy_decoders(struct toy *t, bool running, const struct media_folder *folders, unsigned n)
{
	uint8_t bytes[MEDIA_FOLDERS * MEDIA_FOLDER_BYTES];

	for (unsigned i = 0; i < n; i++)
		media_folder_put(bytes + (size_t)i * MEDIA_FOLDER_BYTES, &folders[i]);
	toy_send(t, (struct media_msg){
			    .type = MEDIA_DECODERS,
			    .decoders = {.running = running,
					 .folders = {bytes, (size_t)n * MEDIA_FOLDER_BYTES}}});
	toy_settle(t);
}

void toy_addresses(struct toy *t, const char *list)
{
	toy_send(t, (struct media_msg){.type = MEDIA_DECODERS,
				       .decoders = {.running = true,
						    .tells_addresses = true,
						    .addresses = slice_str(list)}});
	toy_settle(t);
}

static void toy_hello(struct toy *t, const struct media_hello *h)
{
	t->hellos++;
	t->hello = *h;
	toy_send(t, (struct media_msg){
			    .type = MEDIA_HELLO,
			    .hello = {.major = MEDIA_MAJOR, .minor = MEDIA_MINOR, .instance = 5}});
	if (t->modelh)
		t->modelh(t, &(struct media_msg){.type = MEDIA_HELLO, .hello = *h});
	if (t->lacks_real_time)
		toy_fault(t, MEDIA_FAULT_NO_REAL_TIME);
	if (t->holds_call)
		toy_state(t, 77, 3, 100, t->leaves_call ? MEDIA_PHASE_CLOSED : MEDIA_PHASE_UP,
			  false);
	if (t->encrypts)
		toy_encrypt(t);
	for (unsigned i = 0; i < t->strays; i++)
		toy_state(t, 78 + i, 1, 999 + i, MEDIA_PHASE_UP, false);
	if (t->playback)
		toy_send(t,
			 (struct media_msg){.type = MEDIA_SAY_STATE,
					    .say_state = {.call = t->holds_call ? 77 : t->call_id,
							  .playback = t->playback,
							  .samples = 480,
							  .rate = 24000,
							  .ended = t->ended,
							  .written = t->say_samples}});
	if (!t->still_reports)
		toy_send(t, (struct media_msg){.type = MEDIA_SYNCED, .synced = {.calls = 1}});
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
	if (t->n_seen < TOY_SEEN)
		t->seen[t->n_seen++] = msg.type;
	t->count[msg.type]++;
	if (msg.type == MEDIA_HELLO)
		toy_hello(t, &msg.hello);
	else if (msg.type >= MEDIA_CALL_OPEN)
		t->call_id = msg.call_close.call;
	if (msg.type == MEDIA_CALL_OPEN)
		t->open = msg.call_open;
	if (msg.type == MEDIA_CALL_OPEN)
		toy_state(t, t->call_id, 0, msg.call_open.guild, MEDIA_PHASE_WAITING, true);
	if (msg.type == MEDIA_CALL_CREDENTIALS) {
		t->gen = msg.call_credentials.gen;
		t->after_failure = msg.call_credentials.after_failure;
		snprintf(t->token, sizeof t->token, "%.*s", (int)msg.call_credentials.token.n,
			 (const char *)msg.call_credentials.token.p);
	}
	if (msg.type == MEDIA_CALL_SET)
		t->set = msg.call_set;
	if (msg.type == MEDIA_LISTEN)
		t->listen_id = msg.listen.listen;
	if (msg.type == MEDIA_SAY_OPEN)
		t->playback = msg.say_open.playback;
	if (msg.type == MEDIA_MUSIC_GAIN) {
		t->music_gain = msg.music_gain.target;
		t->music_fine_gain = msg.music_gain.fine_target;
		t->music_duck = msg.music_gain.duck;
		t->music_duck_ms[0] = msg.music_gain.duck_attack_ms;
		t->music_duck_ms[1] = msg.music_gain.duck_hold_ms;
		t->music_duck_ms[2] = msg.music_gain.duck_release_ms;
	}
	if (msg.type == MEDIA_MUSIC_PLAY) {
		t->music_start = msg.music_play.start;
		t->music_gain = msg.music_play.gain;
		t->music_fine_gain = msg.music_play.fine_gain;
		t->music_duck = msg.music_play.duck;
		t->music_duck_ms[0] = msg.music_play.duck_attack_ms;
		t->music_duck_ms[1] = msg.music_play.duck_hold_ms;
		t->music_duck_ms[2] = msg.music_play.duck_release_ms;
		t->music_paused = msg.music_play.paused;
		snprintf(t->music_path, sizeof t->music_path, "%.*s", (int)msg.music_play.path.n,
			 (const char *)msg.music_play.path.p);
		snprintf(t->music_headers, sizeof t->music_headers, "%.*s",
			 (int)msg.music_play.headers.n, (const char *)msg.music_play.headers.p);
	}
	if (msg.type == MEDIA_MUSIC_NEXT) {
		t->music_crossfade_ms = msg.music_next.crossfade_ms;
		t->music_next = msg.music_next.kind;
		t->music_after = msg.music_next.after;
	}
	if (msg.type == MEDIA_SAY)
		t->say_samples += msg.say.pcm.n / 2;
	if (t->stop_type == msg.type && t->count[msg.type] >= t->stop_count)
		env_stop(t->env);
	return 0;
}

static int on_model(struct peer *p, const uint8_t *body, size_t len, void *arg)
{
	struct toy *t = arg;
	struct media_msg msg;

	(void)p;
	if (media_unpack(&msg, MEDIA_SIDE_CONTROL, body, len))
		return EPROTO;
	t->count[msg.type]++;
	if (msg.type == MEDIA_HELLO)
		toy_hello(t, &msg.hello);
	else
		t->modelh(t, &msg);
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
	*conf = (struct peer_conf){.max_frame = MEDIA_MAX_FRAME,
				   .msgh = t->modelh ? on_model : on_toy,
				   .losth = on_toy_lost,
				   .arg = t};
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

void toy_on_call(struct media_call *call, const struct media_msg *msg, void *arg)
{
	struct toy *t = arg;

	(void)call;
	if (msg->type == MEDIA_CALL_STATE)
		t->states++;
	t->inherited += msg->type == MEDIA_SAY_STATE;
	t->inherited_ends += msg->type == MEDIA_SAY_DRAINED || msg->type == MEDIA_SAY_STOPPED;
	t->faults += msg->type == MEDIA_FAULT;
	if (msg->type == MEDIA_MUSIC_STATE)
		t->music = msg->music_state.music;
	t->speaking += msg->type == MEDIA_SPEAKING;
	t->members += msg->type == MEDIA_MEMBER;
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

bool toy_run_until(struct toy *t, unsigned type, unsigned count)
{
	t->stop_type = type;
	t->stop_count = count;
	t->stop_event = !type;
	t->timed_out = false;
	if (type && t->count[type] >= count)
		return true;
	tmr_start(t->deadline, 60000 * NS_PER_MS);
	env_run(t->env);
	tmr_stop(t->deadline);
	return !t->timed_out;
}

static void on_soon(void *arg)
{
	env_stop(arg);
}

void toy_run_ms(struct toy *t, unsigned ms)
{
	struct tmr *soon = NULL;

	t->stop_type = 0;
	t->stop_event = false;
	if (tmr_alloc(&soon, t->env, on_soon, t->env))
		return;
	tmr_start(soon, ms * NS_PER_MS);
	env_run(t->env);
	tmr_free(soon);
}

void toy_settle(struct toy *t)
{
	toy_run_ms(t, 30);
}

bool toy_exchange(struct toy *t)
{
	toy_send(t, (struct media_msg){.type = MEDIA_PING});
	return toy_run_until(t, MEDIA_PONG, t->count[MEDIA_PONG] + 1);
}

bool toy_back(struct toy *t)
{
	if (!t->server && toy_listen(t))
		return false;
	return toy_run_until(t, MEDIA_HELLO, t->count[MEDIA_HELLO] + 1) && toy_exchange(t);
}

int toy_alloc(struct toy *t)
{
	struct env_conf env = {.loop = true};
	int err;

	memset(t, 0, sizeof *t);
	t->answers_pings = true;
	t->channel = 301;
	snprintf(t->dir, sizeof t->dir, "/tmp/parley-media-XXXXXX");
	if (!mkdtemp(t->dir))
		return errno;
	snprintf(t->path, sizeof t->path, "%s/s", t->dir);
	err = env_alloc(&t->env, &env);
	if (!err)
		err = tmr_alloc(&t->deadline, t->env, on_deadline, t);
	return err;
}

int toy_listen(struct toy *t)
{
	return peer_listen(&t->server, t->env, t->path, (uid_t)-1, on_accept, t);
}

void toy_gone(struct toy *t)
{
	t->peer = peer_free(t->peer);
	t->server = peer_server_free(t->server);
}

int toy_start_control(struct toy *t, uint64_t epoch)
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

void toy_free(struct toy *t)
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

bool toy_up_with_call(struct toy *t)
{
	if (toy_alloc(t) || toy_listen(t) || toy_start_control(t, 10) ||
	    media_call_open(&t->call, t->media, &toy_want, toy_on_call, t))
		return false;
	if (!toy_run_until(t, MEDIA_CALL_OPEN, 1))
		return false;
	toy_settle(t);
	return true;
}
