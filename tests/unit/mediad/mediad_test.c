/* mediad as its control sees it: over the socket, without a voice server. */
#include "mediad/mediad.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/peer.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "proto/base/address_list.h"
#include "proto/media_folder.h"
#include "tests/test.h"

enum { SEEN = 64, DEADLINE_MS = 60000 };

struct scene;

/* A control: what it got, and what ends the loop. */
struct control {
	struct scene *s;
	struct peer *peer;
	struct media_msg seen[SEEN];
	unsigned n;
	bool lost;
	struct media_folder folders[MEDIA_FOLDERS]; /* of the newest DECODERS */
	char addresses[ADDRESS_LIST_BYTES];	    /* the same */
};

struct scene {
	struct env *env;
	struct mediad *m;
	struct tmr *deadline;
	char dir[64], path[96];
	struct control a, b;
	struct control *waits; /* whose message ends the loop */
	unsigned type;	       /* 0: that it is lost */
	bool timed_out, stopped;
};

/* of the next scene */
static const char *decoderd;
static const char *const *roots;
static unsigned n_roots;
static const char *addresses;

static int on_frame(struct peer *p, const uint8_t *body, size_t len, void *arg)
{
	struct control *c = arg;
	struct media_msg msg;
	int err = media_unpack(&msg, MEDIA_SIDE_MEDIAD, body, len);

	(void)p;
	if (err)
		return err;
	/* Texts point into the frame. */
	for (size_t i = 0; msg.type == MEDIA_DECODERS && i < MEDIA_FOLDERS; i++)
		if ((i + 1) * MEDIA_FOLDER_BYTES <= msg.decoders.folders.n)
			c->folders[i] =
				media_folder_get(msg.decoders.folders.p + i * MEDIA_FOLDER_BYTES);
	if (msg.type == MEDIA_DECODERS)
		snprintf(c->addresses, sizeof c->addresses, "%.*s", (int)msg.decoders.addresses.n,
			 (const char *)msg.decoders.addresses.p);
	if (msg.type == MEDIA_FAULT)
		msg.fault.text = slice_str("");
	if (msg.type == MEDIA_CALL_STATE)
		msg.call_state.mode = slice_str("");
	if (c->n < SEEN)
		c->seen[c->n++] = msg;
	if (c->s->waits == c && c->s->type == msg.type)
		env_stop(c->s->env);
	return 0;
}

static void on_lost(struct peer *p, int err, void *arg)
{
	struct control *c = arg;

	(void)p, (void)err;
	c->lost = true;
	if (c->s->waits == c && !c->s->type)
		env_stop(c->s->env);
}

static void on_deadline(void *arg)
{
	struct scene *s = arg;

	s->timed_out = true;
	env_stop(s->env);
}

static void on_stopped(void *arg)
{
	struct scene *s = arg;

	s->stopped = true;
	env_stop(s->env);
}

static int scene_start(struct scene *s)
{
	struct env_conf ec = {.loop = true};
	struct mediad_conf mc = {.peer_uid = (uid_t)-1,
				 .threads = 1,
				 .orphan_s = 1,
				 .stoppedh = on_stopped,
				 .arg = s};
	int err;

	memset(s, 0, sizeof *s);
	s->a.s = s->b.s = s;
	snprintf(s->dir, sizeof s->dir, "/tmp/parley-mediad-XXXXXX");
	if (!mkdtemp(s->dir))
		return errno;
	snprintf(s->path, sizeof s->path, "%s/m.sock", s->dir);
	mc.decoderd = decoderd;
	mc.music_roots = roots;
	mc.n_music_roots = n_roots;
	mc.music_addresses = addresses;
	mc.listen = s->path;
	err = env_alloc(&s->env, &ec);
	mc.env = s->env;
	if (!err)
		err = tmr_alloc(&s->deadline, s->env, on_deadline, s);
	if (!err)
		err = mediad_alloc(&s->m, &mc);
	return err;
}

static void scene_end(struct scene *s)
{
	s->a.peer = peer_free(s->a.peer);
	s->b.peer = peer_free(s->b.peer);
	s->m = mediad_free(s->m);
	s->deadline = tmr_free(s->deadline);
	s->env = env_free(s->env);
	rmdir(s->dir);
}

static void say_msg(struct control *c, const struct media_msg *msg)
{
	uint8_t buf[MEDIA_MAX_FRAME];
	size_t len;

	if (!media_pack(msg, MEDIA_MINOR, buf, sizeof buf, &len))
		peer_send(c->peer, msg->type == MEDIA_SAY ? PEER_AUDIO : PEER_COMMAND, buf, len);
}

static int hello(struct control *c, unsigned major, uint64_t user, uint64_t epoch,
		 uint64_t instance)
{
	struct peer_conf conf = {.msgh = on_frame, .losth = on_lost, .arg = c};
	struct media_msg msg = {.type = MEDIA_HELLO};
	int err;

	c->peer = peer_free(c->peer);
	c->n = 0;
	c->lost = false;
	err = peer_connect(&c->peer, c->s->env, c->s->path, &conf);
	msg.hello.major = (uint16_t)major;
	msg.hello.minor = MEDIA_MINOR;
	msg.hello.user = user;
	msg.hello.epoch = epoch;
	msg.hello.instance = instance;
	msg.hello.build = slice_str("test");
	if (!err)
		say_msg(c, &msg);
	return err;
}

/* Runs until c got one more message of this type (0: until it is lost). The message, or NULL. */
static const struct media_msg *await(struct control *c, unsigned type)
{
	struct scene *s = c->s;

	if (!type && c->lost)
		return NULL;
	s->waits = c;
	s->type = type;
	s->timed_out = false;
	tmr_start(s->deadline, DEADLINE_MS * NS_PER_MS);
	env_run(s->env);
	tmr_stop(s->deadline);
	return s->timed_out || !type ? NULL : &c->seen[c->n - 1];
}

static unsigned count(const struct control *c, unsigned type)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->n; i++)
		n += c->seen[i].type == type;
	return n;
}

static void open_call(struct control *c, uint32_t call, uint64_t guild)
{
	struct media_msg msg = {.type = MEDIA_CALL_OPEN};

	msg.call_open.call = call;
	msg.call_open.guild = guild;
	msg.call_open.channel = 5;
	msg.call_open.user = 99;
	msg.call_open.bitrate = 64000;
	msg.call_open.consent = true;
	say_msg(c, &msg);
}

static void open_playback(struct control *c, uint32_t playback, uint32_t rate)
{
	struct media_msg msg = {.type = MEDIA_SAY_OPEN};

	msg.say_open.call = 1;
	msg.say_open.playback = playback;
	msg.say_open.rate = rate;
	msg.say_open.gain = 1000;
	say_msg(c, &msg);
}

static void send_pcm(struct control *c, uint32_t playback, size_t bytes)
{
	static const uint8_t zeros[MEDIA_PCM_MAX];
	struct media_msg msg = {.type = MEDIA_SAY};

	msg.say.call = 1;
	msg.say.playback = playback;
	msg.say.pcm = (struct slice){zeros, bytes};
	say_msg(c, &msg);
}

/* A scene with one control that has one call. */
static int with_call(struct scene *s)
{
	int err = scene_start(s);

	if (!err)
		err = hello(&s->a, MEDIA_MAJOR, 99, 1, 7);
	if (!err && !await(&s->a, MEDIA_SYNCED))
		err = ETIMEDOUT;
	if (err)
		return err;
	open_call(&s->a, 1, 41);
	return await(&s->a, MEDIA_CALL_STATE) ? 0 : ETIMEDOUT;
}

TEST(mediad_greets)
{
	struct scene s;
	const struct media_msg *m;

	CHECK_INT(scene_start(&s), 0);
	CHECK_INT(hello(&s.a, MEDIA_MAJOR, 99, 1, 7), 0);
	m = await(&s.a, MEDIA_SYNCED);
	CHECK(m && m->synced.calls == 0);
	CHECK_INT(s.a.seen[0].type, MEDIA_HELLO);
	CHECK_INT(s.a.seen[0].hello.major, MEDIA_MAJOR);
	scene_end(&s);
}

TEST(mediad_refuses_another_major)
{
	struct scene s;
	const struct media_msg *m;

	CHECK_INT(scene_start(&s), 0);
	CHECK_INT(hello(&s.a, MEDIA_MAJOR + 1, 99, 1, 7), 0);
	m = await(&s.a, MEDIA_FAULT);
	CHECK(m && m->fault.code == MEDIA_FAULT_VERSION);
	await(&s.a, 0);
	CHECK(s.a.lost);
	scene_end(&s);
}

/* A CALL_OPEN that arrives behind newer credentials changes nothing: the next lease, which names no
 * channel, joins that of the first. The channel that control wants after that is not that of the
 * session. */
TEST(mediad_drops_an_open_of_an_older_generation)
{
	struct media_msg lease = {.type = MEDIA_CALL_CREDENTIALS,
				  .call_credentials = {.call = 1,
						       .gen = 3,
						       .channel = 6,
						       .session = slice_str("s"),
						       .token = slice_str("t"),
						       .endpoint = slice_str("127.0.0.1:9")}};
	struct media_msg next = {.type = MEDIA_CALL_SET,
				 .call_set = {.call = 1, .gen = 4, .channel = 7}};
	const struct media_msg *m;
	struct scene s;

	CHECK_INT(with_call(&s), 0);
	say_msg(&s.a, &lease);
	open_call(&s.a, 1, 41);
	lease.call_credentials.gen = 4;
	lease.call_credentials.channel = 0;
	say_msg(&s.a, &lease);
	say_msg(&s.a, &next);
	open_call(&s.a, 2, 43); /* its state tells that the other messages were read */
	do
		m = await(&s.a, MEDIA_CALL_STATE);
	while (m && m->call_state.call != 2);
	CHECK_INT(hello(&s.b, MEDIA_MAJOR, 99, 2, 8), 0);
	CHECK(await(&s.b, MEDIA_SYNCED));
	for (unsigned i = 0; i < s.b.n; i++)
		if (s.b.seen[i].type == MEDIA_CALL_STATE && s.b.seen[i].call_state.call == 1)
			CHECK(s.b.seen[i].call_state.channel == 6 &&
			      s.b.seen[i].call_state.gen == 4);
	CHECK_INT(count(&s.b, MEDIA_CALL_STATE), 2);
	scene_end(&s);
}

struct second {
	uint64_t user, epoch, instance;
	bool takes_over;
};

TEST(mediad_has_one_control)
{
	static const struct second cases[] = {
		{99, 2, 8, true},  /* a newer one of the same bot */
		{99, 1, 7, true},  /* the same, whose old connection is not yet known to be dead */
		{99, 1, 8, false}, /* another of the same age */
		{99, 0, 8, false}, /* an older one */
		{98, 9, 8, false}, /* another bot */
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct second *k = &cases[i];
		struct scene s;
		const struct media_msg *m;

		CHECK_INT(with_call(&s), 0);
		CHECK_INT(hello(&s.b, MEDIA_MAJOR, k->user, k->epoch, k->instance), 0);
		m = await(&s.b, k->takes_over ? MEDIA_SYNCED : MEDIA_FAULT);
		CHECK(m);
		if (k->takes_over) {
			CHECK_INT(m->synced.calls, 1);
			CHECK_INT(count(&s.b, MEDIA_CALL_STATE), 1);
			if (!s.a.lost)
				await(&s.a, 0);
			CHECK(s.a.lost);
			CHECK_INT(s.a.seen[s.a.n - 1].type, MEDIA_FAULT);
			CHECK_INT(s.a.seen[s.a.n - 1].fault.code, MEDIA_FAULT_TAKEN_OVER);
		} else {
			CHECK_INT(m->fault.code, MEDIA_FAULT_BUSY);
			CHECK(!s.a.lost);
		}
		scene_end(&s);
	}
}

TEST(mediad_closes_on_a_violation)
{
	struct media_msg wrong_side = {.type = MEDIA_SYNCED}, early = {.type = MEDIA_CALL_CLOSE};
	const uint8_t garbage[] = {0xc1, 0xff, 0x00};
	struct peer_conf conf = {.msgh = on_frame, .losth = on_lost};
	struct scene s;
	const struct media_msg *m;

	for (unsigned i = 0; i < 4; i++) {
		CHECK_INT(with_call(&s), 0);
		switch (i) {
		case 0:
			say_msg(&s.a, &wrong_side);
			break;
		case 1:
			peer_send(s.a.peer, PEER_COMMAND, garbage, sizeof garbage);
			break;
		case 2: /* one number, another guild */
			open_call(&s.a, 1, 42);
			break;
		default: /* before HELLO */
			conf.arg = &s.a;
			peer_free(s.a.peer);
			CHECK_INT(peer_connect(&s.a.peer, s.env, s.path, &conf), 0);
			say_msg(&s.a, &early);
			break;
		}
		m = await(&s.a, MEDIA_FAULT);
		CHECK(m && m->fault.code == MEDIA_FAULT_VIOLATION);
		/* The call is still there for whoever starts over. */
		CHECK_INT(hello(&s.a, MEDIA_MAJOR, 99, 1, 7), 0);
		m = await(&s.a, MEDIA_SYNCED);
		CHECK(m && m->synced.calls == 1);
		scene_end(&s);
	}
}

/* Peers that connect and say nothing do not keep a control out. */
TEST(mediad_greets_behind_silent_peers)
{
	struct peer_conf conf = {.msgh = on_frame, .losth = on_lost};
	struct peer *silent[12] = {NULL};
	struct control silent_peer = {0};
	struct scene s;

	CHECK_INT(with_call(&s), 0);
	silent_peer.s = &s;
	conf.arg = &silent_peer;
	for (unsigned i = 0; i < 12; i++)
		CHECK_INT(peer_connect(&silent[i], s.env, s.path, &conf), 0);
	CHECK_INT(hello(&s.b, MEDIA_MAJOR, 99, 2, 8), 0);
	CHECK(await(&s.b, MEDIA_SYNCED));
	for (unsigned i = 0; i < 12; i++)
		peer_free(silent[i]);
	scene_end(&s);
}

/* Unknown types below 32768 are of a newer minor version. */
TEST(mediad_skips_what_is_newer)
{
	const uint8_t newer[] = {0x92, 0xcd, 0x7f, 0xff, 0x01};
	struct media_msg ping = {.type = MEDIA_PING};
	struct scene s;
	const struct media_msg *m;

	CHECK_INT(with_call(&s), 0);
	peer_send(s.a.peer, PEER_COMMAND, newer, sizeof newer);
	ping.ping.id = 77;
	say_msg(&s.a, &ping);
	m = await(&s.a, MEDIA_PONG);
	CHECK(m && m->pong.id == 77);
	scene_end(&s);
}

/* A health check does not say HELLO, and the control that is there stays. */
TEST(mediad_answers_a_ping_of_anybody)
{
	struct peer_conf conf = {.msgh = on_frame, .losth = on_lost};
	struct media_msg ping = {.type = MEDIA_PING};
	struct scene s;
	const struct media_msg *m;

	CHECK_INT(with_call(&s), 0);
	s.b.s = &s;
	conf.arg = &s.b;
	CHECK_INT(peer_connect(&s.b.peer, s.env, s.path, &conf), 0);
	ping.ping.id = 5;
	say_msg(&s.b, &ping);
	m = await(&s.b, MEDIA_PONG);
	CHECK(m && m->pong.id == 5);
	say_msg(&s.a, &ping);
	CHECK(await(&s.a, MEDIA_PONG) && !s.a.lost);
	scene_end(&s);
}

TEST(mediad_call_opens_and_closes)
{
	struct media_msg close = {.type = MEDIA_CALL_CLOSE};
	struct scene s;
	const struct media_msg *m;

	CHECK_INT(with_call(&s), 0);
	m = &s.a.seen[s.a.n - 1];
	CHECK_INT(m->call_state.phase, MEDIA_PHASE_WAITING);
	CHECK_INT(m->call_state.reason, MEDIA_REASON_NEW_CALL);
	CHECK(m->call_state.wants_credentials);
	close.call_close.call = 1;
	say_msg(&s.a, &close);
	m = await(&s.a, MEDIA_CALL_STATE);
	CHECK(m && m->call_state.phase == MEDIA_PHASE_CLOSED);
	/* Again: there is none, and that is told. */
	say_msg(&s.a, &close);
	m = await(&s.a, MEDIA_CALL_STATE);
	CHECK(m && m->call_state.phase == MEDIA_PHASE_CLOSED);
	scene_end(&s);
}

TEST(mediad_refuses_senseless_listens)
{
	static const struct media_listen bad[] = {
		{1, 0, 1, 7, 44100, 700}, {1, 0, 0, 7, 24000, 700},  {1, 0, 1, 0, 24000, 700},
		{1, 0, 1, 7, 24000, 50},  {1, 0, 1, 7, 24000, 6000},
	};
	struct media_msg msg = {.type = MEDIA_LISTEN};
	struct scene s;
	const struct media_msg *m;

	CHECK_INT(with_call(&s), 0);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		msg.listen = bad[i];
		say_msg(&s.a, &msg);
		m = await(&s.a, MEDIA_HEARD_END);
		CHECK(m && m->heard_end.reason == MEDIA_REASON_BAD_REQUEST);
	}
	/* A good one is remembered, also for a user who is not there yet. */
	msg.listen = (struct media_listen){1, 0, 4, 7, 16000, 700};
	say_msg(&s.a, &msg);
	CHECK_INT(hello(&s.b, MEDIA_MAJOR, 99, 2, 8), 0);
	CHECK(await(&s.b, MEDIA_SYNCED));
	CHECK_INT(count(&s.b, MEDIA_LISTENING), 1);
	for (m = s.b.seen; m->type != MEDIA_LISTENING; m++)
		;
	CHECK(m->listening.listen == 4 && m->listening.user == 7);
	CHECK(m->listening.rate == 16000 && m->listening.silence_ms == 700);
	scene_end(&s);
}

TEST(mediad_credit_is_a_bound)
{
	struct scene s;
	const struct media_msg *m;

	CHECK_INT(with_call(&s), 0);
	open_playback(&s.a, 3, 8000);
	m = await(&s.a, MEDIA_SAY_CREDIT);
	CHECK(m && m->say_credit.playback == 3 && m->say_credit.samples == 60 * 8000);
	for (unsigned i = 0; i < 120; i++)
		send_pcm(&s.a, 3, 8000);
	send_pcm(&s.a, 3, 2);
	m = await(&s.a, MEDIA_SAY_STOPPED);
	CHECK(m && m->say_stopped.reason == MEDIA_REASON_OVERFLOW);
	CHECK_INT(m->say_stopped.samples, 0);
	/* Half a sample. */
	open_playback(&s.a, 4, 8000);
	CHECK(await(&s.a, MEDIA_SAY_CREDIT));
	send_pcm(&s.a, 4, 3);
	m = await(&s.a, MEDIA_SAY_STOPPED);
	CHECK(m && m->say_stopped.playback == 4 &&
	      m->say_stopped.reason == MEDIA_REASON_BAD_REQUEST);
	open_playback(&s.a, 5, 7999);
	m = await(&s.a, MEDIA_SAY_STOPPED);
	CHECK(m && m->say_stopped.playback == 5);
	scene_end(&s);
}

TEST(mediad_stops_what_nobody_claims)
{
	struct media_msg claim = {.type = MEDIA_SAY_CLAIM};
	struct scene s;
	const struct media_msg *m;

	CHECK_INT(with_call(&s), 0);
	open_playback(&s.a, 3, 24000);
	CHECK(await(&s.a, MEDIA_SAY_CREDIT));
	open_playback(&s.a, 4, 24000);
	CHECK(await(&s.a, MEDIA_SAY_CREDIT));
	CHECK_INT(hello(&s.b, MEDIA_MAJOR, 99, 2, 8), 0);
	CHECK(await(&s.b, MEDIA_SYNCED));
	CHECK_INT(count(&s.b, MEDIA_SAY_STATE), 2);
	claim.say_claim.call = 1;
	claim.say_claim.playback = 4;
	say_msg(&s.b, &claim);
	m = await(&s.b, MEDIA_SAY_STOPPED);
	CHECK(m && m->say_stopped.playback == 3 && m->say_stopped.reason == MEDIA_REASON_ORPHANED);
	/* One of the same number belongs to the new control from now on. */
	open_playback(&s.b, 3, 24000);
	m = await(&s.b, MEDIA_SAY_CREDIT);
	CHECK(m && m->say_credit.playback == 3);
	scene_end(&s);
}

/* Two answers end while no control is there, and one of them is claimed by a control that heard of
 * it before: the control learns how each ended. */
TEST(mediad_tells_a_new_control_how_each_speech_ended)
{
	struct media_msg stop = {.type = MEDIA_SAY_STOP}, claim = {.type = MEDIA_SAY_CLAIM};
	const struct media_msg *m;
	struct scene s;

	CHECK_INT(with_call(&s), 0);
	stop.say_stop.call = claim.say_claim.call = 1;
	for (uint32_t id = 3; id < 6; id++) {
		open_playback(&s.a, id, 24000);
		CHECK(await(&s.a, MEDIA_SAY_CREDIT));
		stop.say_stop.playback = id;
		say_msg(&s.a, &stop);
		CHECK(await(&s.a, MEDIA_SAY_STOPPED));
	}
	CHECK_INT(hello(&s.b, MEDIA_MAJOR, 99, 2, 8), 0);
	CHECK(await(&s.b, MEDIA_SYNCED));
	CHECK_INT(count(&s.b, MEDIA_SAY_STOPPED), 3);
	for (unsigned i = 0, id = 3; i < s.b.n; i++) {
		m = &s.b.seen[i];
		if (m->type == MEDIA_SAY_STOPPED)
			CHECK_INT(m->say_stopped.playback, id++);
	}
	claim.say_claim.playback = 4;
	say_msg(&s.b, &claim);
	m = await(&s.b, MEDIA_SAY_STOPPED);
	CHECK(m && m->say_stopped.playback == 4 && m->say_stopped.reason == MEDIA_REASON_STOPPED);
	scene_end(&s);
}

/* A new control learns which speech of the previous one goes on, and how the last one ended. */
TEST(mediad_tells_a_new_control_how_speech_goes_on)
{
	struct media_msg end = {.type = MEDIA_SAY_END}, stop = {.type = MEDIA_SAY_STOP};
	const struct media_msg *m;
	struct scene s;

	CHECK_INT(with_call(&s), 0);
	for (uint32_t id = 3; id < 6; id++) {
		open_playback(&s.a, id, 24000);
		CHECK(await(&s.a, MEDIA_SAY_CREDIT));
		send_pcm(&s.a, id, 2400);
	}
	end.say_end.call = stop.say_stop.call = 1;
	end.say_end.playback = 4;
	say_msg(&s.a, &end);
	stop.say_stop.playback = 5;
	say_msg(&s.a, &stop);
	CHECK(await(&s.a, MEDIA_SAY_STOPPED));
	say_msg(&s.a, &(struct media_msg){.type = MEDIA_PING});
	CHECK(await(&s.a, MEDIA_PONG));
	CHECK_INT(hello(&s.b, MEDIA_MAJOR, 99, 2, 8), 0);
	CHECK(await(&s.b, MEDIA_SYNCED));
	CHECK_INT(count(&s.b, MEDIA_SAY_STATE), 2);
	for (unsigned i = 0; i < s.b.n; i++) {
		m = &s.b.seen[i];
		if (m->type == MEDIA_SAY_STATE) {
			CHECK_INT(m->say_state.ended, m->say_state.playback == 4);
			CHECK_INT(m->say_state.written, 1200);
		}
		if (m->type == MEDIA_SAY_STOPPED)
			CHECK_INT(m->say_stopped.playback, 5);
	}
	CHECK_INT(count(&s.b, MEDIA_SAY_STOPPED), 1);
	scene_end(&s);
}

/* Calls outlive their control, but not for ever (here: 1 s). */
TEST(mediad_leaves_when_no_control_comes)
{
	struct scene s;
	const struct media_msg *m;

	CHECK_INT(with_call(&s), 0);
	CHECK_INT(hello(&s.a, MEDIA_MAJOR, 99, 2, 7), 0);
	m = await(&s.a, MEDIA_SYNCED);
	CHECK(m && m->synced.calls == 1);
	s.a.peer = peer_free(s.a.peer);
	s.waits = NULL;
	tmr_start(s.deadline, 1500 * NS_PER_MS);
	env_run(s.env);
	CHECK_INT(hello(&s.a, MEDIA_MAJOR, 99, 2, 7), 0);
	m = await(&s.a, MEDIA_SYNCED);
	CHECK(m && m->synced.calls == 0);
	scene_end(&s);
}

/* True if this thread is an audio thread that waits for events. */
static bool is_waiting_audio_thread(const char *tid)
{
	char path[64], line[64] = "";
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%.16s/stat", tid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(line, sizeof line, f))
		line[0] = '\0';
	fclose(f);
	return strstr(line, "(audio) S");
}

/* Returns 0 when there is none. */
static pid_t find_waiting_audio_thread(void)
{
	DIR *d = opendir("/proc/self/task");
	const struct dirent *e;
	pid_t tid = 0;

	while (d && !tid && (e = readdir(d)))
		if (is_waiting_audio_thread(e->d_name))
			tid = atoi(e->d_name);
	if (d)
		closedir(d);
	return tid;
}

/* The kernel's limit of computing without waiting is exceeded. */
TEST(mediad_tells_each_control_that_real_time_is_lost)
{
	struct sigaction act;
	struct scene s;
	const struct media_msg *m;
	pid_t tid;

	CHECK_INT(with_call(&s), 0);
	while (!(tid = find_waiting_audio_thread()))
		sched_yield();
	sigaction(SIGXCPU, NULL, &act);
	if (act.sa_handler == SIG_DFL) {
		scene_end(&s);
		test_skip("the limit of real time is too low here for real-time priority");
		return;
	}
	CHECK_INT(syscall(SYS_tgkill, getpid(), tid, SIGXCPU), 0);
	m = await(&s.a, MEDIA_FAULT);
	CHECK(m && m->fault.code == MEDIA_FAULT_NO_REAL_TIME);
	CHECK_INT(hello(&s.b, MEDIA_MAJOR, 99, 2, 8), 0);
	CHECK(await(&s.b, MEDIA_SYNCED));
	CHECK_INT(count(&s.b, MEDIA_FAULT), 1);
	CHECK_INT(s.b.seen[1].type, MEDIA_FAULT);
	CHECK_INT(s.b.seen[1].fault.code, MEDIA_FAULT_NO_REAL_TIME);
	scene_end(&s);
}

/* It cannot be started again behind the sandbox (tests/scenarios/music_killed.sh has the rest). */
TEST(mediad_tells_that_decoderd_ended)
{
	struct scene s;
	int err;

	decoderd = "/bin/true";
	err = with_call(&s);
	decoderd = NULL;
	CHECK_INT(err, 0);
	CHECK(count(&s.a, MEDIA_FAULT) || await(&s.a, MEDIA_FAULT));
	CHECK(!s.stopped); /* it has a call */
	CHECK_INT(hello(&s.b, MEDIA_MAJOR, 99, 2, 8), 0);
	CHECK(await(&s.b, MEDIA_SYNCED));
	CHECK_INT(s.b.seen[1].fault.code, MEDIA_FAULT_NO_DECODERS);
	scene_end(&s);
}

static const struct media_msg *find_decoders(const struct control *c)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->seen[i].type == MEDIA_DECODERS)
			return &c->seen[i];
	return NULL;
}

/* control refuses what it cannot play before anybody reads that it plays. */
TEST(mediad_tells_what_music_it_plays)
{
	static const char *const two[] = {"/tmp", "/nonexistent"};
	const struct media_msg *m;
	struct scene s;
	struct stat st;
	int err;

	CHECK_INT(with_call(&s), 0);
	m = find_decoders(&s.a);
	CHECK(m && !m->decoders.running && m->decoders.folders.n == 0);
	CHECK(m && m->decoders.tells_addresses && m->decoders.addresses.n == 0);
	scene_end(&s);
	decoderd = "/bin/cat"; /* waits for its input */
	roots = two;
	n_roots = 2;
	addresses = "10.0.0.5:8000, [fd00::1]:80";
	err = with_call(&s);
	decoderd = NULL;
	roots = NULL;
	n_roots = 0;
	addresses = NULL;
	CHECK_INT(err, 0);
	m = find_decoders(&s.a);
	CHECK(m && m->decoders.folders.n == 2 * MEDIA_FOLDER_BYTES);
	CHECK_INT(stat("/tmp", &st), 0);
	CHECK(s.a.folders[0].device == st.st_dev && s.a.folders[0].number == st.st_ino);
	CHECK_INT(s.a.folders[1].number, 0);
	CHECK(m && m->decoders.tells_addresses);
	CHECK_STR(s.a.addresses, "10.0.0.5:8000, [fd00::1]:80");
	scene_end(&s);
	decoderd = "/nonexistent/decoderd";
	err = with_call(&s);
	decoderd = NULL;
	CHECK_INT(err, 0);
	m = find_decoders(&s.a);
	CHECK(m && !m->decoders.running);
	scene_end(&s);
}

/* Threads of this process. */
static unsigned count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned n = 0;

	while (tasks && readdir(tasks))
		n++;
	if (tasks)
		closedir(tasks);
	return n;
}

static unsigned threads_at_fork;

static void note_threads(void)
{
	threads_at_fork = count_threads();
}

/* After a fork the next write to each page is a fault, so audio threads must not be there yet. */
TEST(mediad_forks_before_it_makes_its_threads)
{
	unsigned before = count_threads();
	struct scene s;
	int err;

	CHECK(before > 0);
	CHECK_INT(pthread_atfork(note_threads, NULL, NULL), 0);
	threads_at_fork = 0;
	decoderd = "/bin/true";
	err = scene_start(&s);
	decoderd = NULL;
	CHECK_INT(err, 0);
	CHECK_INT(threads_at_fork, before);
	CHECK(count_threads() > before);
	scene_end(&s);
}

TEST(mediad_stops_in_order)
{
	struct scene s;

	CHECK_INT(with_call(&s), 0);
	s.waits = NULL;
	tmr_start(s.deadline, DEADLINE_MS * NS_PER_MS);
	mediad_stop(s.m);
	env_run(s.env);
	CHECK(s.stopped && !s.timed_out);
	CHECK(access(s.path, F_OK) != 0);
	scene_end(&s);
}

TEST_OOM(mediad_alloc_oom)
{
	struct scene s;

	CHECK_OOM(scene_start(&s), scene_end(&s));
	scene_end(&s);
}
