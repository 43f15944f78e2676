/* Recovery after a process is killed: back_ms, the time without audio after SIGKILL of mediad;
 * takeover_lost_ms, audio lost at the far end while control is killed and another takes over. Uses
 * real processes.
 *
 * For the first: control's link to mediad (control/media), which runs mediad as its child, in a
 * channel of guildd where alice speaks all the time; from the kill to the first sound of hers that
 * is heard again. guildd gives leases at once. For the second: mediad at a far end of our own
 * speaks for a control that is this program (`recovery --control …`), which is killed as it speaks;
 * the next one claims the playback and goes on.
 *
 *   BENCH_KILLS=n     how often of each (10) */
#include "control/media/media.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/log.h"
#include "ipc/peer.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/bench/bench.h"
#include "tests/bench/plane.h"
#include "tests/bench/speech.h"
#include "tests/join.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	RATE = 24000,
	SPEECH = 8 * RATE,
	AHEAD = RATE, /* samples spoken ahead */
	KILLS = 10,
	KILLS_MAX = 1000,
	ALICE_KILLS = 5,
	ALICE = 501,
	BOB = 502,
	USER = 900
};
static const uint64_t guild = 41771983423143937, channel = 127121515262115840;

static unsigned kills(void)
{
	const char *wish = getenv("BENCH_KILLS");
	unsigned n = wish ? (unsigned)atoi(wish) : KILLS;

	return n < KILLS_MAX ? n : KILLS_MAX;
}

/* ---- mediad dies ---- */

struct somebody {
	uint64_t user;
	struct media *media;
	struct media_call *call;
	struct media_playback *say;
	bool up, drained;
	uint64_t heard_at; /* time of the last frame with audio */
};

static struct world {
	struct env *env;
	struct tmr *tmr;
	struct http *http;
	char folder[64], api[128], ca[256], mediad[PATH_MAX];
	pid_t guildd;
	struct somebody alice, bot;
	int16_t speech[SPEECH];
} w;

static void on_lease(const struct http_resp *resp, void *arg)
{
	struct somebody *s = arg;

	if (join_take_lease(s->call, resp, channel))
		bench_die("guildd gives no lease: HTTP %d %s", resp->status, resp->errtext);
}

static void on_wants(struct media_call *call, void *arg)
{
	struct somebody *s = arg;

	(void)call;
	BENCH_OK(join_request(w.http, w.api, s->user, guild, channel, on_lease, s));
}

static void on_said(struct media_playback *pb, enum media_playback_event ev, uint64_t samples,
		    unsigned reason, uint64_t at, void *arg)
{
	struct somebody *s = arg;

	(void)pb, (void)samples, (void)reason, (void)at;
	if (ev == MEDIA_PB_STOPPED)
		bench_die("alice's speech was stopped: %s", media_reason_text(reason));
	s->drained = s->drained || ev == MEDIA_PB_DRAINED;
}

static void on_call(struct media_call *call, const struct media_msg *msg, void *arg)
{
	struct somebody *s = arg;

	(void)call;
	if (msg->type == MEDIA_CALL_STATE)
		s->up = msg->call_state.phase == MEDIA_PHASE_UP;
	if (msg->type == MEDIA_CALL_STATE && msg->call_state.phase == MEDIA_PHASE_FAILED)
		bench_die("a call failed: %s", media_reason_text(msg->call_state.reason));
	if (msg->type == MEDIA_HEARD && !(msg->heard.flags & MEDIA_HEARD_CONCEALED))
		s->heard_at = bench_clock();
}

static void somebody_start(struct somebody *s, uint64_t user)
{
	struct media_want want = {
		.guild = guild, .channel = channel, .bitrate = 64000, .consent = true};
	struct media_conf mc = {.spawn = w.mediad,
				.ca_file = w.ca,
				.run_dir = w.folder,
				.user = user,
				.epoch = 1,
				.wantsh = on_wants,
				.arg = s};

	*s = (struct somebody){.user = user};
	BENCH_OK(media_alloc(&s->media, w.env, &mc));
	BENCH_OK(media_call_open(&s->call, s->media, &want, on_call, s));
}

static void somebody_end(struct somebody *s)
{
	media_playback_free(s->say);
	media_call_free(s->call);
	media_free(s->media);
}

static void on_tmr(void *arg)
{
	(void)arg;
	env_stop(w.env);
}

static void run(unsigned ms)
{
	tmr_start(w.tmr, ms * NS_PER_MS);
	env_run(w.env);
	/* Alice never stops speaking. */
	while (w.alice.say && media_playback_written(w.alice.say) < UINT32_MAX &&
	       !media_playback_write(w.alice.say, w.speech, SPEECH))
		;
}

static void until(bool (*done)(void), unsigned ms, const char *what)
{
	for (unsigned n = 0; !done(); n++) {
		if (n > ms)
			bench_die("not after %u ms: %s", ms, what);
		run(1);
	}
}

static bool alice_is_up(void)
{
	return w.alice.up;
}

static bool bot_hears(void)
{
	return w.bot.heard_at && bench_clock() - w.bot.heard_at < 60 * NS_PER_MS;
}

/* Finds the child process that is not one of these. */
static pid_t other_child(const pid_t *known, unsigned n)
{
	char path[64];
	pid_t found = 0;
	int pid;
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "r");
	while (f && fscanf(f, "%d", &pid) == 1) {
		bool is = false;

		for (unsigned i = 0; i < n; i++)
			is = is || known[i] == pid;
		if (!is)
			found = pid;
	}
	if (f)
		fclose(f);
	if (!found)
		bench_die("there is no mediad");
	return found;
}

/* mediad as control's child, without its log. */
static void make_quiet_mediad(void)
{
	char program[PATH_MAX];
	FILE *f;

	plane_program(program, sizeof program, "mediad");
	snprintf(w.mediad, sizeof w.mediad, "%s/mediad", w.folder);
	f = fopen(w.mediad, "w");
	if (!f || fprintf(f, "#!/bin/sh\nexec '%s' --log fatal \"$@\"\n", program) < 0 ||
	    fclose(f) || chmod(w.mediad, 0700))
		bench_die("%s: %s", w.mediad, strerror(errno));
}

static void start_guildd(void)
{
	char file[96], program[PATH_MAX];
	const char *argv[] = {program, "--ready-file", file, "--log", "fatal", NULL};
	json_t *ready = NULL;

	snprintf(file, sizeof file, "%s/ready", w.folder);
	plane_program(program, sizeof program, "guildd");
	w.guildd = plane_spawn((char *const *)argv, NULL);
	for (unsigned n = 0; !ready; n++) {
		if (n > 200)
			bench_die("guildd does not start");
		run(50);
		ready = json_load_file(file, 0, NULL);
	}
	snprintf(w.api, sizeof w.api, "%s", json_string_value(json_object_get(ready, "control")));
	snprintf(w.ca, sizeof w.ca, "%s", json_string_value(json_object_get(ready, "ca")));
	json_decref(ready);
	unlink(file);
}

static void back_row(void)
{
	static double gone[KILLS_MAX];
	struct env_conf ec = {.loop = true};
	unsigned n = kills();
	pid_t known[2];

	snprintf(w.folder, sizeof w.folder, "/tmp/parley-bench.XXXXXX");
	if (!mkdtemp(w.folder))
		bench_die("%s: %s", w.folder, strerror(errno));
	make_quiet_mediad();
	speech_make(w.speech, SPEECH, RATE, 1);
	BENCH_OK(env_alloc(&w.env, &ec));
	BENCH_OK(tmr_alloc(&w.tmr, w.env, on_tmr, NULL));
	BENCH_OK(http_alloc(&w.http, w.env, NULL, "parley-bench"));
	start_guildd();
	known[0] = w.guildd;
	for (unsigned i = 0; i < n; i++) {
		uint64_t from, before;

		/* Every join costs alice some messages, and a session may not send any number of
		 * them in a minute (4021). */
		if (i % ALICE_KILLS == 0) {
			if (i)
				somebody_end(&w.alice);
			somebody_start(&w.alice, ALICE);
			until(alice_is_up, 10000, "alice is in the channel");
			known[1] = other_child(known, 1);
		}
		/* A new one each time: a mediad that dies over and over is started again ever
		 * later. */
		somebody_start(&w.bot, BOB);
		BENCH_OK(media_call_listen(w.bot.call, ALICE, RATE, 700));
		if (!w.alice.say)
			BENCH_OK(media_playback_open(&w.alice.say, w.alice.call, RATE, on_said,
						     &w.alice));
		until(bot_hears, 20000, "the bot hears alice");
		run(200 + i * 37 % 100);
		before = w.bot.heard_at;
		from = bench_clock();
		if (bench_clock() - before > 60 * NS_PER_MS)
			bench_die("the bot does not hear alice");
		kill(other_child(known, 2), SIGKILL);
		w.bot.heard_at = 0;
		until(bot_hears, 20000, "the bot hears alice again");
		gone[i] = (double)(w.bot.heard_at - from) / 1e6;
		somebody_end(&w.bot);
		run(50);
	}
	bench_raw("back_ms", gone, n);
	bench_row_more("back_ms", bench_quantile(gone, n, 0.99), "ms",
		       "\"p50\": %.0f, \"max\": %.0f, \"kills\": %u", bench_quantile(gone, n, 0.5),
		       bench_quantile(gone, n, 1), n);
	somebody_end(&w.alice);
	kill(w.guildd, SIGTERM);
	waitpid(w.guildd, NULL, 0);
	http_free(w.http);
	tmr_free(w.tmr);
	env_free(w.env);
	unlink(w.mediad);
	rmdir(w.folder);
}

/* ---- control dies: the control ---- */

static struct control {
	struct env *env;
	struct peer *peer;
	struct tmr *tmr;
	const char *endpoint;
	uint32_t next, playback, seq;
	uint64_t base, credit, sent; /* base: what the one before us may have sent of it */
	bool claimed, ended;
	int16_t speech[SPEECH];
} c;

enum { CLAIMED_MS = 900, SELF = 1 };

static void say(const struct media_msg *msg)
{
	uint8_t buf[MEDIA_MAX_FRAME];
	size_t len;

	BENCH_OK(media_pack(msg, MEDIA_MINOR, buf, sizeof buf, &len));
	BENCH_OK(peer_send(c.peer,
			   media_lane_of(msg->type) == MEDIA_LANE_AUDIO ? PEER_AUDIO : PEER_COMMAND,
			   buf, len));
}

static void speak(void)
{
	struct media_msg msg = {.type = MEDIA_SAY_OPEN};

	c.playback = c.next++;
	c.base = c.sent = c.credit = 0;
	c.claimed = c.ended = false;
	msg.say_open = (struct media_say_open){
		.call = 1, .gen = 1, .playback = c.playback, .rate = RATE, .gain = 1000};
	say(&msg);
}

static void pump(void)
{
	while (c.base + c.sent + RATE / 25 <= c.credit) {
		struct media_msg msg = {.type = MEDIA_SAY};

		msg.say = (struct media_say){
			.call = 1,
			.gen = 1,
			.playback = c.playback,
			.seq = c.seq++,
			.pcm = {(const uint8_t *)(c.speech + c.sent % SPEECH), RATE / 25 * 2}};
		say(&msg);
		c.sent += RATE / 25;
	}
}

/* Continues the claimed playback for long enough, then opens one of its own. */
static void on_claimed_enough(void *arg)
{
	struct media_msg msg = {.type = MEDIA_SAY_END};

	(void)arg;
	msg.say_end = (struct media_say_end){.call = 1, .gen = 1, .playback = c.playback};
	say(&msg);
	c.ended = true;
}

static void lease(const struct media_call_state *s)
{
	struct media_msg msg = {.type = MEDIA_CALL_CREDENTIALS};
	char token[64];

	far_end_token(token, sizeof token, SELF);
	msg.call_credentials = (struct media_call_credentials){.call = 1,
							       .gen = s->gen + 1,
							       .session = slice_str("session"),
							       .token = slice_str(token),
							       .endpoint = slice_str(c.endpoint),
							       .channel = far_end_guild(SELF)};
	say(&msg);
}

static int on_frame(struct peer *peer, const uint8_t *body, size_t len, void *arg)
{
	struct media_msg msg, out = {.type = MEDIA_SAY_CLAIM};
	static bool up, synced;

	(void)peer, (void)arg;
	BENCH_OK(media_unpack(&msg, MEDIA_SIDE_MEDIAD, body, len));
	switch (msg.type) {
	case MEDIA_SYNCED:
		out.type = MEDIA_CALL_OPEN;
		out.call_open = (struct media_call_open){.call = 1,
							 .guild = far_end_guild(SELF),
							 .channel = far_end_guild(SELF),
							 .user = USER,
							 .bitrate = 64000};
		say(&out);
		synced = true;
		break;
	case MEDIA_CALL_STATE:
		if (msg.call_state.wants_credentials)
			lease(&msg.call_state);
		up = msg.call_state.phase == MEDIA_PHASE_UP;
		break;
	case MEDIA_SAY_STATE:
		c.playback = msg.say_state.playback;
		c.claimed = true;
		out.say_claim =
			(struct media_say_claim){.call = 1, .gen = 1, .playback = c.playback};
		say(&out);
		tmr_start(c.tmr, CLAIMED_MS * NS_PER_MS);
		break;
	case MEDIA_SAY_CREDIT:
		if (msg.say_credit.playback != c.playback)
			break;
		/* The whole credit is a minute; the previous control may have used what it may. */
		if (!c.credit && !c.base)
			c.base = msg.say_credit.samples - (c.claimed ? 0 : AHEAD);
		c.credit = msg.say_credit.samples;
		/* Credit goes on after the end, audio must not. */
		if (!c.ended)
			pump();
		break;
	case MEDIA_SAY_DRAINED:
		/* mediad also repeats how earlier playbacks ended. */
		if (msg.say_drained.playback == c.playback)
			speak();
		break;
	case MEDIA_SAY_STOPPED:
		if (msg.say_stopped.playback == c.playback)
			bench_die("a playback was stopped: %s",
				  media_reason_text(msg.say_stopped.reason));
		break;
	default:
		break;
	}
	if (up && synced && !c.playback)
		speak();
	return 0;
}

static void on_lost(struct peer *peer, int err, void *arg)
{
	(void)peer, (void)err, (void)arg;
	env_stop(c.env);
}

static int control_main(char **argv)
{
	struct peer_conf pc = {.max_frame = MEDIA_MAX_FRAME, .msgh = on_frame, .losth = on_lost};
	struct media_msg hello = {.type = MEDIA_HELLO};
	struct env_conf ec = {.loop = true};

	log_init("control", LOG_WARN_);
	c.endpoint = argv[3];
	c.next = (uint32_t)atoi(argv[4]) * 1000;
	speech_make(c.speech, SPEECH, RATE, 1);
	BENCH_OK(env_alloc(&c.env, &ec));
	BENCH_OK(tmr_alloc(&c.tmr, c.env, on_claimed_enough, NULL));
	BENCH_OK(peer_connect(&c.peer, c.env, argv[2], &pc));
	hello.hello = (struct media_hello){.major = MEDIA_MAJOR,
					   .minor = MEDIA_MINOR,
					   .build = slice_str("bench"),
					   .instance = (uint64_t)getpid(),
					   .epoch = (uint64_t)atoi(argv[4]),
					   .user = USER};
	say(&hello);
	env_run(c.env);
	return 0;
}

/* ---- control dies: the far end ---- */

static struct recogniser {
	pthread_mutex_t lock;
	bool any;
	uint32_t ts;   /* of the newest packet of sound */
	uint64_t at;   /* and when it came, CLOCK_MONOTONIC */
	uint64_t lost; /* RTP time between two packets of sound that is not theirs, since `from` */
	uint64_t longest; /* between two of them, ns */
	uint64_t packets;
} ear = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void on_packet(unsigned call, uint64_t at, const uint8_t *p, size_t n, void *arg)
{
	uint32_t ts = (uint32_t)p[4] << 24 | (uint32_t)p[5] << 16 | (uint32_t)p[6] << 8 | p[7];
	uint64_t now = bench_clock();

	(void)call, (void)at, (void)arg;
	if (n <= 12 + 3 + 16 + 4)
		return; /* silence */
	pthread_mutex_lock(&ear.lock);
	if (ear.any) {
		ear.lost += ts - ear.ts - 960;
		if (now - ear.at > ear.longest)
			ear.longest = now - ear.at;
	}
	ear.any = true;
	ear.ts = ts;
	ear.at = now;
	ear.packets++;
	pthread_mutex_unlock(&ear.lock);
}

static void recogniser_start(void)
{
	pthread_mutex_lock(&ear.lock);
	ear.lost = ear.longest = ear.packets = 0;
	pthread_mutex_unlock(&ear.lock);
}

static bool speaks(void *arg)
{
	bool yes;

	(void)arg;
	pthread_mutex_lock(&ear.lock);
	yes = ear.packets > 10 && bench_clock() - ear.at < 40 * NS_PER_MS;
	pthread_mutex_unlock(&ear.lock);
	return yes;
}

static pid_t start_control(struct plane *p, unsigned epoch)
{
	char number[16], self[PATH_MAX];
	const char *argv[] = {self,   "--control", plane_socket(p), far_end_endpoint(plane_far(p)),
			      number, NULL};
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	self[n > 0 ? n : 0] = '\0';
	snprintf(number, sizeof number, "%u", epoch);
	return plane_spawn((char *const *)argv, NULL);
}

static void takeover_row(void)
{
	static double lost[KILLS_MAX], longest[KILLS_MAX];
	struct plane_conf conf = {.cpu = -1, .apart = true, .packeth = on_packet};
	unsigned n = kills(), epoch = 1;
	struct plane *p;
	pid_t control;

	plane_alloc(&p, &conf);
	control = start_control(p, epoch++);
	for (unsigned i = 0; i < n; i++) {
		/* A playback of its own, not the claimed one. */
		plane_run(p, i ? CLAIMED_MS + 1200 : 0);
		recogniser_start();
		plane_until(p, speaks, NULL, 10000, "control speaks");
		plane_run(p, 600 + i * 7 % 20);
		recogniser_start();
		kill(control, SIGKILL);
		waitpid(control, NULL, 0);
		control = start_control(p, epoch++);
		plane_run(p, CLAIMED_MS - 200);
		pthread_mutex_lock(&ear.lock);
		lost[i] = (double)ear.lost / 48;
		longest[i] = (double)ear.longest / 1e6;
		if (!ear.packets)
			bench_die("nothing was said after the kill");
		pthread_mutex_unlock(&ear.lock);
	}
	kill(control, SIGKILL);
	waitpid(control, NULL, 0);
	bench_raw("takeover_lost_ms", lost, n);
	bench_row_more("takeover_lost_ms", bench_quantile(lost, n, 1), "ms",
		       "\"longest_interval_ms\": %.1f, \"kills\": %u",
		       bench_quantile(longest, n, 1), n);
	plane_free(p);
}

int main(int argc, char **argv)
{
	if (sodium_init() < 0)
		bench_die("libsodium does not start");
	if (argc == 5 && !strcmp(argv[1], "--control"))
		return control_main(argv);
	takeover_row();
	log_init("bench", LOG_FATAL_); /* killed processes are expected here */
	back_row();
	return 0;
}
