#include "tests/bench/plane.h"

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/peer.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/bench/speech.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RATE = 24000, CHUNK = RATE / 25, SPEECH = 4 * RATE, AHEAD = RATE, JOIN_MS = 20000 };

struct voice {
	uint32_t playback;   /* 0: silent */
	uint64_t sent, base; /* base: credit that is left unused */
	uint32_t seq;
};

struct plane {
	struct plane_conf conf;
	struct env *env;
	struct far_end *far_end;
	struct peer *peer;
	struct tmr *tmr;
	char folder[64], socket[128];
	pid_t pid;
	clockid_t clock;
	bool synced;
	unsigned calls, up, sealed; /* opened; in phase UP; with keys of DAVE */
	enum media_phase phase[FAR_END_CALLS];
	bool has_keys[FAR_END_CALLS];
	struct voice voices[FAR_END_CALLS];
	uint32_t listens;
	int16_t speech[SPEECH];
};

/* ---- programs ---- */

void plane_program(char *buf, size_t size, const char *name)
{
	const char *bin = getenv("BIN");
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (!bin && n > 0) {
		self[n] = '\0';
		for (int up = 0; up < 2; up++)
			*strrchr(self, '/') = '\0';
		bin = self;
	}
	snprintf(buf, size, "%s/%s", bin ? bin : "build", name);
}

pid_t plane_spawn(char *const argv[], const struct plane_conf *conf)
{
	pid_t parent = getpid(), pid = fork();
	cpu_set_t set;

	if (pid < 0)
		bench_die("fork: %s", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(STDERR_FILENO, STDOUT_FILENO); /* ours is for rows */
	if (conf && conf->cpu >= 0) {
		CPU_ZERO(&set);
		CPU_SET(conf->cpu, &set);
		sched_setaffinity(0, sizeof set, &set);
	}
	if (conf && conf->preload)
		setenv("LD_PRELOAD", conf->preload, 1);
	if (getppid() == parent)
		execv(argv[0], argv);
	fprintf(stderr, "bench: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

uint64_t plane_cpu(const struct plane *p)
{
	struct timespec ts;

	if (clock_gettime(p->clock, &ts))
		bench_die("mediad is gone");
	return ns_of_timespec(&ts);
}

unsigned plane_status_kb(pid_t pid, const char *field)
{
	char path[64], line[256];
	unsigned kb = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, field, strlen(field)) && line[strlen(field)] == ':')
			kb = (unsigned)strtoul(line + strlen(field) + 1, NULL, 10);
	if (f)
		fclose(f);
	return kb;
}

/* ---- messages ---- */

void plane_send(struct plane *p, const struct media_msg *msg)
{
	uint8_t buf[MEDIA_MAX_FRAME];
	size_t len;

	BENCH_OK(media_pack(msg, MEDIA_MINOR, buf, sizeof buf, &len));
	BENCH_OK(peer_send(p->peer,
			   media_lane_of(msg->type) == MEDIA_LANE_AUDIO ? PEER_AUDIO : PEER_COMMAND,
			   buf, len));
}

static void lease(struct plane *p, const struct media_call_state *s)
{
	struct media_msg msg = {.type = MEDIA_CALL_CREDENTIALS};
	char token[64];

	far_end_token(token, sizeof token, s->call);
	msg.call_credentials =
		(struct media_call_credentials){.call = s->call,
						.gen = s->gen + 1,
						.session = slice_str("session"),
						.token = slice_str(token),
						.endpoint = slice_str(far_end_endpoint(p->far_end)),
						.channel = far_end_guild(s->call)};
	plane_send(p, &msg);
}

static void on_state(struct plane *p, const struct media_call_state *s)
{
	if (s->call >= FAR_END_CALLS || s->phase == MEDIA_PHASE_FAILED)
		bench_die("call %u: %s, %s", s->call, media_phase_name(s->phase),
			  media_reason_name(s->reason));
	p->up += (s->phase == MEDIA_PHASE_UP) - (p->phase[s->call] == MEDIA_PHASE_UP);
	p->phase[s->call] = s->phase;
	if (s->wants_credentials)
		lease(p, s);
}

static void on_secure(struct plane *p, const struct media_call_secure *s)
{
	bool has = s->version == 1 && s->epoch && s->ready;

	if (s->call >= FAR_END_CALLS)
		bench_die("call %u", s->call);
	p->sealed += has - p->has_keys[s->call];
	p->has_keys[s->call] = has;
}

/* Speaks AHEAD samples ahead, in portions like control's, as if the audio came in real time: the
 * whole credit is a minute. */
static void pump(struct plane *p, const struct media_say_credit *c)
{
	struct voice *v = c->call < FAR_END_CALLS ? &p->voices[c->call] : NULL;

	if (v && v->playback == c->playback && !v->sent && !v->base)
		v->base = c->samples > AHEAD ? c->samples - AHEAD : 0;
	while (v && v->playback == c->playback && v->base + v->sent + CHUNK <= c->samples) {
		struct media_msg msg = {.type = MEDIA_SAY};

		/* Each call somewhere else in the speech. */
		msg.say = (struct media_say){
			.call = c->call,
			.gen = 1,
			.playback = c->playback,
			.seq = v->seq++,
			.pcm = {(const uint8_t *)(p->speech +
						  (v->sent + c->call * CHUNK * 7ull) % SPEECH),
				CHUNK * 2}};
		plane_send(p, &msg);
		v->sent += CHUNK;
	}
}

static int on_frame(struct peer *peer, const uint8_t *body, size_t len, void *arg)
{
	struct plane *p = arg;
	struct media_msg msg;

	(void)peer;
	BENCH_OK(media_unpack(&msg, MEDIA_SIDE_MEDIAD, body, len));
	switch (msg.type) {
	case MEDIA_SYNCED:
		p->synced = true;
		break;
	case MEDIA_PING:
		plane_send(p, &(struct media_msg){.type = MEDIA_PONG, .pong = {.id = msg.ping.id}});
		break;
	case MEDIA_FAULT:
		bench_die("mediad: %.*s", (int)msg.fault.text.n, (const char *)msg.fault.text.p);
	case MEDIA_CALL_STATE:
		on_state(p, &msg.call_state);
		break;
	case MEDIA_CALL_SECURE:
		on_secure(p, &msg.call_secure);
		break;
	case MEDIA_SAY_CREDIT:
		pump(p, &msg.say_credit);
		break;
	default:
		break;
	}
	if (p->conf.msgh)
		p->conf.msgh(&msg, p->conf.arg);
	return 0;
}

static void on_lost(struct peer *peer, int err, void *arg)
{
	(void)peer, (void)arg;
	bench_die("mediad is lost: %s", err ? strerror(err) : "it closed the connection");
}

/* ---- time ---- */

static void on_tmr(void *arg)
{
	struct plane *p = arg;

	env_stop(p->env);
}

void plane_run(struct plane *p, unsigned ms)
{
	tmr_start(p->tmr, ms * NS_PER_MS);
	env_run(p->env);
}

void plane_until(struct plane *p, bool (*done)(void *arg), void *arg, unsigned ms, const char *what)
{
	for (unsigned n = 0; !done(arg); n++) {
		if (n * 5 > ms)
			bench_die("not after %u ms: %s", ms, what);
		plane_run(p, 5);
	}
}

/* ---- calls ---- */

static bool all_up(void *arg)
{
	struct plane *p = arg;

	return p->up == p->calls && p->sealed == p->calls;
}

void plane_calls(struct plane *p, unsigned from, unsigned n)
{
	for (unsigned i = from; i < from + n; i++) {
		struct media_msg msg = {.type = MEDIA_CALL_OPEN};

		msg.call_open = (struct media_call_open){.call = i,
							 .gen = 0,
							 .guild = far_end_guild(i),
							 .channel = far_end_guild(i),
							 .user = PLANE_USER,
							 .bitrate = 64000,
							 .consent = true};
		plane_send(p, &msg);
		p->calls++;
		/* A handful at a time, so that none waits too long for its answers. */
		if (i % 8 == 7)
			plane_until(p, all_up, p, JOIN_MS, "calls are up");
	}
	plane_until(p, all_up, p, JOIN_MS, "calls are up");
}

void plane_speaker(struct plane *p, unsigned call, unsigned speaker, uint32_t rate)
{
	struct media_msg msg = {.type = MEDIA_LISTEN};

	msg.listen = (struct media_listen){.call = call,
					   .gen = 1,
					   .listen = ++p->listens,
					   .user = far_end_user(call, speaker),
					   .rate = rate,
					   .silence_ms = 700};
	if (rate)
		plane_send(p, &msg);
	far_end_speaking(p->far_end, call, speaker, 0);
}

void plane_close(struct plane *p, unsigned call)
{
	struct media_msg msg = {.type = MEDIA_CALL_CLOSE};

	msg.call_close = (struct media_call_close){.call = call, .gen = 1};
	plane_send(p, &msg);
	p->calls--;
	p->sealed -= p->has_keys[call];
	p->has_keys[call] = false;
}

void plane_say(struct plane *p, unsigned call, uint32_t playback)
{
	struct media_msg msg = {.type = MEDIA_SAY_OPEN};

	msg.say_open = (struct media_say_open){
		.call = call, .gen = 1, .playback = playback, .rate = RATE, .gain = 1000};
	p->voices[call] = (struct voice){.playback = playback};
	plane_send(p, &msg);
}

void plane_stop(struct plane *p, unsigned call, uint32_t playback)
{
	struct media_msg msg = {.type = MEDIA_SAY_STOP};

	msg.say_stop =
		(struct media_say_stop){.call = call, .gen = 1, .playback = playback, .fade_ms = 0};
	p->voices[call].playback = 0;
	plane_send(p, &msg);
}

/* ---- life ---- */

struct env *plane_env(struct plane *p)
{
	return p->env;
}

struct far_end *plane_far(struct plane *p)
{
	return p->far_end;
}

pid_t plane_pid(const struct plane *p)
{
	return p->pid;
}

const char *plane_socket(const struct plane *p)
{
	return p->socket;
}

static bool listens(void *arg)
{
	struct plane *p = arg;

	return !access(p->socket, F_OK);
}

static bool connected(void *arg)
{
	struct plane *p = arg;
	struct peer_conf conf = {.max_frame = MEDIA_MAX_FRAME,
				 .audio_cap = 64 << 20,
				 .command_cap = 64 << 20,
				 .msgh = on_frame,
				 .losth = on_lost,
				 .arg = p};

	return !peer_connect(&p->peer, p->env, p->socket, &conf);
}

static bool synced(void *arg)
{
	struct plane *p = arg;

	return p->synced;
}

static void start_mediad(struct plane *p)
{
	char program[PATH_MAX], threads[16];
	const char *argv[16] = {program,
				"--listen",
				p->socket,
				"--ca",
				far_end_ca(p->far_end),
				"--log",
				getenv("BENCH_LOG") ? getenv("BENCH_LOG") : "fatal"};
	unsigned n = 7;

	plane_program(program, sizeof program, "mediad");
	snprintf(threads, sizeof threads, "%u", p->conf.threads);
	if (p->conf.threads) {
		argv[n++] = "--threads";
		argv[n++] = threads;
	}
	if (p->conf.journal) {
		argv[n++] = "--journal";
		argv[n++] = p->conf.journal;
	}
	if (p->conf.music_root) {
		argv[n++] = "--music-root";
		argv[n++] = p->conf.music_root;
	}
	if (p->conf.music_address) {
		argv[n++] = "--music-address";
		argv[n++] = p->conf.music_address;
	}
	p->pid = plane_spawn((char *const *)argv, &p->conf);
	if (clock_getcpuclockid(p->pid, &p->clock))
		bench_die("mediad has no clock");
}

void plane_alloc(struct plane **out, const struct plane_conf *conf)
{
	struct env_conf ec = {.loop = true};
	struct plane *p = calloc(1, sizeof *p);
	struct media_msg hello = {.type = MEDIA_HELLO};

	if (!p)
		bench_die("out of memory");
	log_init("bench", LOG_WARN_);
	signal(SIGPIPE, SIG_IGN);
	p->conf = *conf;
	speech_make(p->speech, SPEECH, RATE, 1);
	snprintf(p->folder, sizeof p->folder, "/tmp/parley-bench.XXXXXX");
	if (!mkdtemp(p->folder))
		bench_die("%s: %s", p->folder, strerror(errno));
	snprintf(p->socket, sizeof p->socket, "%s/mediad.sock", p->folder);
	BENCH_OK(env_alloc(&p->env, &ec));
	BENCH_OK(tmr_alloc(&p->tmr, p->env, on_tmr, p));
	far_end_alloc(&p->far_end, p->env, conf->speakers ? conf->speakers : 1, conf->packeth,
		      conf->arg);
	start_mediad(p);
	plane_until(p, conf->apart ? listens : connected, p, 5000, "mediad listens");
	*out = p;
	if (conf->apart)
		return;
	hello.hello = (struct media_hello){.major = MEDIA_MAJOR,
					   .minor = MEDIA_MINOR,
					   .build = slice_str("bench"),
					   .instance = 1,
					   .epoch = 1,
					   .user = PLANE_USER};
	plane_send(p, &hello);
	plane_until(p, synced, p, 5000, "mediad says SYNCED");
}

struct plane *plane_free(struct plane *p)
{
	int status = 0;

	peer_free(p->peer);
	kill(p->pid, SIGTERM);
	/* It says goodbye to the gateways, which are ours. */
	for (unsigned n = 0; waitpid(p->pid, &status, WNOHANG) == 0; n++) {
		if (n > 1000)
			bench_die("mediad does not end");
		plane_run(p, 5);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		bench_die("mediad ended badly: status %x", status);
	far_end_free(p->far_end);
	tmr_free(p->tmr);
	env_free(p->env);
	unlink(p->socket);
	rmdir(p->folder);
	free(p);
	return NULL;
}
