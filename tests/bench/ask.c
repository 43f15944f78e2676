/* The delay between a decision and its effect in the running programs, in quiet rooms: ask_p99_ms,
 * cut_p99_ms.
 *
 * guildd, the bot's mediad and control run unmodified. Each room is in a guild of its own with one
 * member, a mediad that this process drives by control's media link. The provider, also for
 * speech-to-text, is a script in this process (brain.h), so no figure contains a model's time. A
 * member speaks as soon as the bot does, which interrupts the bot and is the next question.
 *
 *   ask   from control's read of the utterance's last frame of sound, less the endpointing delay
 * (200 ms until mediad tells the end of speaking, and the room's wait that the settings ask for),
 * to the question on the brain's socket cut   from control's read of the frame that confirms the
 * interruption to SAY_STOP
 *
 * The times of control's reads come from the room's journal, on one clock with the provider's read
 * of the question and with mediad's read of SAY_STOP (its journal). Both figures are therefore
 * slightly too long, by the reader's wake-up time.
 *
 *   BENCH_ASKS=n      questions in all (300: two minutes; 1000: six)      BENCH_ROOMS=n      rooms
 * at a time (4) */
#include "control/media/media.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "mediad/audio/receive.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/bench/bench.h"
#include "tests/bench/brain.h"
#include "tests/bench/plane.h"
#include "tests/bench/speech.h"
#include "tests/bench/journal_times.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	RATE = 24000,
	ROOMS_MAX = 8,
	BOT = 900,
	PERSON = 601,
	SPEECH_MS = 600,
	SPEECH = RATE * SPEECH_MS / 1000,
	ANSWER_MS = 2000,
	END_MS = 100,	 /* the endpointing delay of the settings */
	LISTEN_MS = 700, /* the bot speaks for so long, and up to a frame's length more, before it
			  * is interrupted: not so fast that Discord would call it too many events a
			  * minute */
	PATIENCE_MS = 6000,
	FIT_MS = 1000, /* between a decision and its trace elsewhere */
};

struct person {
	uint64_t user, guild, channel, text;
	char mediad[PATH_MAX];
	struct media *media;
	struct media_call *call;
	struct media_playback *say;
	struct tmr *tmr;
	bool up, bot_here;
	unsigned said; /* utterances */
};

static struct world {
	struct env *env;
	struct tmr *tmr;
	struct http *http;
	struct brain *brain;
	char folder[64], api[128], rest[160], ca[256], journal[128];
	pid_t guildd, mediad, control;
	struct person person[ROOMS_MAX];
	unsigned rooms;
	int16_t speech[SPEECH];
} w;

static unsigned number(const char *name, unsigned otherwise, unsigned most)
{
	const char *wish = getenv(name);
	unsigned n = wish ? (unsigned)atoi(wish) : otherwise;

	return n < 1 ? 1 : n < most ? n : most;
}

/* ---- the loop ---- */

static void on_tmr(void *arg)
{
	(void)arg;
	env_stop(w.env);
}

static void run(unsigned ms)
{
	tmr_start(w.tmr, ms * NS_PER_MS);
	env_run(w.env);
}

static void until(bool (*done)(void), unsigned ms, const char *what)
{
	for (unsigned n = 0; !done(); n += 20) {
		if (n > ms)
			bench_die("not after %u ms: %s (logs in %s)", ms, what, w.folder);
		run(20);
	}
}

/* ---- guildd's control API ---- */

static struct {
	bool done;
	json_t *json;
} reply;

static void on_reply(const struct http_resp *resp, void *arg)
{
	(void)arg;
	if (resp->err || resp->status / 100 != 2)
		bench_die("guildd: HTTP %d %s %.*s", resp->status, resp->errtext, (int)resp->body.n,
			  resp->body.p);
	reply.json = json_loadb(resp->body.p, resp->body.n, JSON_DECODE_ANY, NULL);
	reply.done = true;
}

static bool replied(void)
{
	return reply.done;
}

static const char *const json_headers[] = {"Content-Type: application/json", NULL};

__attribute__((format(printf, 2, 3))) static json_t *post(const char *path, const char *fmt, ...)
{
	char url[256], body[512];
	struct http_call call = {
		.method = "POST", .url = url, .headers = json_headers, .body = body};
	va_list ap;

	snprintf(url, sizeof url, "%s%s", w.api, path);
	va_start(ap, fmt);
	vsnprintf(body, sizeof body, fmt, ap);
	va_end(ap);
	call.body_len = strlen(body);
	reply.done = false;
	BENCH_OK(http_request(NULL, w.http, &call, on_reply, NULL));
	until(replied, 10000, path);
	return reply.json;
}

/* Reads the id of the new object. */
static uint64_t made(json_t *o)
{
	const char *id = json_string_value(json_object_get(o, "id"));
	uint64_t n = id ? strtoull(id, NULL, 10) : 0;

	if (!n)
		bench_die("guildd made nothing");
	json_decref(o);
	return n;
}

/* ---- programs ---- */

/* Starts a program with its log in a file; env: NAME=value, NULL at the end. */
static pid_t start(const char *name, const char *log, const char *const *args,
		   const char *const *env)
{
	char program[PATH_MAX], file[128];
	char *argv[24] = {program};
	pid_t pid = fork();
	unsigned n = 1;
	int fd;

	if (pid < 0)
		bench_die("fork: %s", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	plane_program(program, sizeof program, name);
	while (*args)
		argv[n++] = (char *)*args++;
	snprintf(file, sizeof file, "%s/%s.log", w.folder, log);
	fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	while (env && *env)
		putenv((char *)*env++);
	execv(program, argv);
	_exit(127);
}

static void end(pid_t pid)
{
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

static void start_guildd(void)
{
	char file[96];
	const char *args[] = {"--ready-file", file, NULL};
	json_t *ready = NULL;

	snprintf(file, sizeof file, "%s/ready", w.folder);
	w.guildd = start("guildd", "guildd", args, NULL);
	for (unsigned n = 0; !ready; n++) {
		if (n > 200)
			bench_die("guildd does not start");
		run(50);
		ready = json_load_file(file, 0, NULL);
	}
	snprintf(w.api, sizeof w.api, "%s", json_string_value(json_object_get(ready, "control")));
	snprintf(w.rest, sizeof w.rest, "%s", json_string_value(json_object_get(ready, "rest")));
	snprintf(w.ca, sizeof w.ca, "%s", json_string_value(json_object_get(ready, "ca")));
	json_decref(ready);
}

static void start_bot(void)
{
	static char api[200], brain[128], rooms[128], end_short[32], end_middle[32], end_long[32];
	char sock[96], state[96];
	const char *mediad[] = {"--listen", sock, "--ca", w.ca, "--journal", w.journal, NULL};
	const char *control[] = {"--media-sock", sock, "--state-dir", state, "--ca", w.ca, NULL};
	const char *env[] = {
		api, brain, rooms, end_short, end_middle, end_long,
		"DISCORD_TOKEN=guildd.bot.token", "PARLEY_GUEST=off",
		/* What is short and what it is not about: what is decided is the same each time. */
		"PARLEY_SPECULATIVE=off", "PARLEY_INTERIM_MS=0", "PARLEY_ECHO_GUARD_MS=0",
		"PARLEY_PROMOTE_MS=100", "PARLEY_BARGE_IN_MS=100", NULL};

	unsetenv("OPENAI_API_KEY");
	snprintf(sock, sizeof sock, "%s/mediad.sock", w.folder);
	snprintf(state, sizeof state, "%s/state", w.folder);
	snprintf(w.journal, sizeof w.journal, "%s/mediad.journal", w.folder);
	snprintf(api, sizeof api, "PARLEY_DISCORD_API=%s", w.rest);
	snprintf(brain, sizeof brain, "PARLEY_BRAIN_URL=%s", brain_url(w.brain));
	snprintf(rooms, sizeof rooms, "PARLEY_ROOM_JOURNALS=%s/rooms", w.folder);
	snprintf(end_short, sizeof end_short, "PARLEY_END_SHORT_MS=%d", END_MS);
	snprintf(end_middle, sizeof end_middle, "PARLEY_END_MIDDLE_MS=%d", END_MS);
	snprintf(end_long, sizeof end_long, "PARLEY_END_LONG_MS=%d", END_MS);
	mkdir(rooms + sizeof "PARLEY_ROOM_JOURNALS=" - 1, 0700);
	w.mediad = start("mediad", "mediad", mediad, NULL);
	for (unsigned n = 0; access(sock, F_OK); n++) {
		if (n > 200)
			bench_die("mediad does not start");
		run(50);
	}
	w.control = start("control", "control", control, env);
}

/* ---- members ---- */

static void on_said(struct media_playback *pb, enum media_playback_event ev, uint64_t samples,
		    unsigned reason, uint64_t at, void *arg)
{
	(void)pb, (void)samples, (void)at, (void)arg;
	if (ev == MEDIA_PB_STOPPED)
		bench_die("somebody's speech was stopped: %s", media_reason_text(reason));
}

/* Speaks; may fail, and is then tried again. */
static void speak(void *arg)
{
	struct person *p = arg;

	p->said++;
	media_playback_free(p->say);
	BENCH_OK(media_playback_open(&p->say, p->call, RATE, on_said, p));
	BENCH_OK(media_playback_write(p->say, w.speech, SPEECH));
	media_playback_end(p->say);
	tmr_start(p->tmr, PATIENCE_MS * NS_PER_MS);
}

static void on_call(struct media_call *call, const struct media_msg *msg, void *arg)
{
	struct person *p = arg;

	switch (msg->type) {
	case MEDIA_CALL_STATE:
		if (msg->call_state.phase == MEDIA_PHASE_FAILED)
			bench_die("a call failed: %s", media_reason_text(msg->call_state.reason));
		if (msg->call_state.phase == MEDIA_PHASE_UP && !p->up)
			media_call_listen(call, BOT, RATE, 1000);
		p->up = msg->call_state.phase == MEDIA_PHASE_UP;
		break;
	case MEDIA_MEMBER:
		if (msg->member.user == BOT)
			p->bot_here = msg->member.present;
		break;
	case MEDIA_SPEAKING:
		if (msg->speaking.user == BOT && msg->speaking.on && p->said)
			tmr_start(p->tmr, (LISTEN_MS + p->said * 7 % 20) * NS_PER_MS);
		break;
	default:
		break;
	}
}

static void on_lease(const struct http_resp *resp, void *arg)
{
	struct person *p = arg;
	json_t *o = resp->err || resp->status != 200
			    ? NULL
			    : json_loadb(resp->body.p, resp->body.n, 0, NULL);
	const char *session = json_string_value(json_object_get(o, "session_id"));
	const char *token = json_string_value(json_object_get(o, "token"));
	const char *endpoint = json_string_value(json_object_get(o, "endpoint"));

	if (!session || !token || !endpoint)
		bench_die("guildd gives no lease: HTTP %d %s", resp->status, resp->errtext);
	BENCH_OK(media_call_credentials(p->call, session, token, endpoint, p->channel));
	json_decref(o);
}

static void on_wants(struct media_call *call, void *arg)
{
	struct person *p = arg;
	char url[256], body[128];
	struct http_call req = {
		.method = "POST", .url = url, .headers = json_headers, .body = body};

	(void)call;
	snprintf(url, sizeof url, "%s/users/%" PRIu64 "/join", w.api, p->user);
	snprintf(body, sizeof body, "{\"guild_id\":\"%" PRIu64 "\",\"channel_id\":\"%" PRIu64 "\"}",
		 p->guild, p->channel);
	req.body_len = strlen(body);
	BENCH_OK(http_request(NULL, w.http, &req, on_lease, p));
}

/* Makes a guild with two channels, the member and the bot. */
static void person_settles(struct person *p, unsigned i)
{
	char path[96];

	p->user = PERSON + i;
	json_decref(post("/users", "{\"id\":\"%" PRIu64 "\",\"name\":\"person%u\"}", p->user, i));
	p->guild = made(
		post("/guilds", "{\"name\":\"room%u\",\"owner_id\":\"%" PRIu64 "\"}", i, p->user));
	snprintf(path, sizeof path, "/guilds/%" PRIu64 "/members", p->guild);
	json_decref(post(path, "{\"user_id\":\"%d\"}", BOT));
	json_decref(post(path, "{\"user_id\":\"%" PRIu64 "\"}", p->user));
	snprintf(path, sizeof path, "/guilds/%" PRIu64 "/channels", p->guild);
	p->text = made(post(path, "{\"type\":\"text\",\"name\":\"text\"}"));
	p->channel = made(post(path, "{\"type\":\"voice\",\"name\":\"voice\"}"));
}

static bool all_here(void)
{
	for (unsigned i = 0; i < w.rooms; i++)
		if (!w.person[i].up || !w.person[i].bot_here)
			return false;
	return true;
}

static void person_joins(struct person *p)
{
	struct media_want want = {
		.guild = p->guild, .channel = p->channel, .bitrate = 64000, .consent = true};
	struct media_conf mc = {.spawn = p->mediad,
				.ca_file = w.ca,
				.run_dir = w.folder,
				.user = p->user,
				.epoch = 1,
				.wantsh = on_wants,
				.arg = p};
	char program[PATH_MAX];
	FILE *f;

	/* Without its log. */
	plane_program(program, sizeof program, "mediad");
	snprintf(p->mediad, sizeof p->mediad, "%s/mediad-%" PRIu64, w.folder, p->user);
	f = fopen(p->mediad, "w");
	if (!f || fprintf(f, "#!/bin/sh\nexec '%s' --log fatal \"$@\"\n", program) < 0 ||
	    fclose(f) || chmod(p->mediad, 0700))
		bench_die("%s: %s", p->mediad, strerror(errno));
	BENCH_OK(tmr_alloc(&p->tmr, w.env, speak, p));
	BENCH_OK(media_alloc(&p->media, w.env, &mc));
	BENCH_OK(media_call_open(&p->call, p->media, &want, on_call, p));
	json_decref(post("/interactions",
			 "{\"user_id\":\"%" PRIu64 "\",\"channel_id\":\"%" PRIu64
			 "\",\"name\":\"join\",\"options\":[{\"name\":\"channel\","
			 "\"type\":7,\"value\":\"%" PRIu64 "\"}]}",
			 p->user, p->text, p->channel));
}

/* Whether control has registered its commands. */
static bool registered(void)
{
	char path[128], line[1024];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof path, "%s/control.log", w.folder);
	f = fopen(path, "r");
	while (f && !found && fgets(line, sizeof line, f))
		found = strstr(line, " commands_registered ") != NULL;
	if (f)
		fclose(f);
	return found;
}

/* ---- figures ---- */

/* Finds the provider's connection of this room: the one whose questions match the room's best. */
static unsigned conn_of(const struct journal_times *s, const struct brain_asked *asked, size_t n)
{
	unsigned fits[64] = {0}, best = 0;

	for (size_t i = 0; i < s->asks; i++)
		for (size_t k = 0; k < n; k++)
			if (asked[k].turn == s->ask[i].turn && asked[k].at >= s->ask[i].told &&
			    asked[k].at < s->ask[i].told + FIT_MS * NS_PER_MS)
				fits[asked[k].conn]++;
	for (unsigned i = 0; i < 64; i++)
		if (fits[i] > fits[best])
			best = i;
	return best;
}

static size_t asks_of(const struct journal_times *s, double *ms)
{
	size_t n, count = 0;
	const struct brain_asked *asked = brain_asked(w.brain, &n);
	unsigned conn = conn_of(s, asked, n);

	for (size_t i = 0; i < s->asks; i++)
		for (size_t k = 0; k < n; k++)
			if (asked[k].conn == conn && asked[k].turn == s->ask[i].turn) {
				ms[count++] = (double)(asked[k].at - s->ask[i].heard) / 1e6 -
					      AUDIO_SPEAKING_OFF_MS - END_MS;
				break;
			}
	return count;
}

static size_t cuts_of(const struct journal_times *s, uint64_t guild, double *ms)
{
	uint64_t *stop;
	size_t n = journal_times_stops(&stop, w.journal, guild), k = 0, count = 0;

	for (size_t i = 0; i < s->cuts; i++) {
		while (k < n && stop[k] < s->cut[i].heard)
			k++;
		if (k < n && stop[k] < s->cut[i].heard + FIT_MS * NS_PER_MS)
			ms[count++] = (double)(stop[k] - s->cut[i].heard) / 1e6;
	}
	free(stop);
	return count;
}

static void row(const char *name, double *ms, size_t n, size_t of)
{
	if (!n)
		bench_die("%s: nothing was measured (logs in %s)", name, w.folder);
	bench_raw(name, ms, n);
	bench_row_more(name, bench_quantile(ms, n, 0.99), "ms",
		       "\"p50\": %.2f, \"max\": %.2f, \"n\": %zu, \"of\": %zu, \"rooms\": %u",
		       bench_quantile(ms, n, 0.5), bench_quantile(ms, n, 1), n, of, w.rooms);
}

static void figures(void)
{
	size_t asks = 0, cuts = 0, ask_n = 0, cut_n = 0, cap = 0;
	struct journal_times s[ROOMS_MAX];
	char folder[96];
	double *ask, *cut;

	snprintf(folder, sizeof folder, "%s/rooms", w.folder);
	for (unsigned i = 0; i < w.rooms; i++) {
		journal_times_room(&s[i], folder, w.person[i].guild);
		asks += s[i].asks;
		cuts += s[i].cuts;
	}
	cap = asks + cuts + 1;
	ask = calloc(cap, sizeof *ask);
	cut = calloc(cap, sizeof *cut);
	if (!ask || !cut)
		bench_die("out of memory");
	for (unsigned i = 0; i < w.rooms; i++) {
		ask_n += asks_of(&s[i], ask + ask_n);
		cut_n += cuts_of(&s[i], w.person[i].guild, cut + cut_n);
		journal_times_clear(&s[i]);
	}
	row("ask_p99_ms", ask, ask_n, asks);
	row("cut_p99_ms", cut, cut_n, cuts);
	free(ask);
	free(cut);
}

static void forget(const char *folder)
{
	DIR *d = opendir(folder);
	char path[512];
	struct dirent *e;

	while (d && (e = readdir(d))) {
		snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && unlink(path))
			forget(path);
	}
	if (d)
		closedir(d);
	rmdir(folder);
}

int main(void)
{
	struct env_conf ec = {.loop = true};
	unsigned asks = number("BENCH_ASKS", 300, 100000);
	size_t n = 0;

	if (sodium_init() < 0)
		bench_die("libsodium does not start");
	log_init("bench", LOG_FATAL_);
	w.rooms = number("BENCH_ROOMS", 4, ROOMS_MAX);
	snprintf(w.folder, sizeof w.folder, "/tmp/parley-bench.XXXXXX");
	if (!mkdtemp(w.folder))
		bench_die("%s: %s", w.folder, strerror(errno));
	speech_make(w.speech, SPEECH, RATE, 1);
	BENCH_OK(env_alloc(&w.env, &ec));
	BENCH_OK(tmr_alloc(&w.tmr, w.env, on_tmr, NULL));
	BENCH_OK(http_alloc(&w.http, w.env, NULL, "parley-bench"));
	brain_alloc(&w.brain, w.env, "parley and now what", ANSWER_MS);
	start_guildd();
	for (unsigned i = 0; i < w.rooms; i++)
		person_settles(&w.person[i], i);
	start_bot();
	until(registered, 10000, "control is ready");
	for (unsigned i = 0; i < w.rooms; i++)
		person_joins(&w.person[i]);
	until(all_here, 20000, "everybody is in their call");
	run(1000);
	/* Spreads the members, so that they do not speak in step. */
	for (unsigned i = 0; i < w.rooms; i++) {
		speak(&w.person[i]);
		run(317);
	}
	for (unsigned s = 0; n < asks; s++) {
		if (s > 60 + 3 * asks)
			bench_die("only %zu questions (logs in %s)", n, w.folder);
		run(1000);
		brain_asked(w.brain, &n);
	}
	end(w.control);
	end(w.mediad);
	for (unsigned i = 0; i < w.rooms; i++) {
		media_playback_free(w.person[i].say);
		media_call_free(w.person[i].call);
		media_free(w.person[i].media);
		tmr_free(w.person[i].tmr);
	}
	run(100);
	end(w.guildd);
	figures();
	brain_free(w.brain);
	http_free(w.http);
	tmr_free(w.tmr);
	env_free(w.env);
	forget(w.folder);
	return 0;
}
