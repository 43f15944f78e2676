#include "tests/bench/rooms.h"

#include "control/media/media.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/bench/bench.h"
#include "tests/bench/plane.h"
#include "tests/bench/speech.h"
#include "tests/join.h"

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
	BOT = 900,
	PERSON = 601,
	SPEECH_MS = 600,
	SPEECH = RATE * SPEECH_MS / 1000,
	LISTEN_MS = 700,
	PATIENCE_MS = 6000,
	AUDIBLE = 200, /* of 32768: decoded silence is below, any speech above */
	SETTINGS_MAX = 32,
};

struct person {
	uint64_t guild, channel, text;
	struct media_call *call;
	struct media_playback *say;
	struct tmr *tmr;
	bool up, bot_here;
	unsigned said; /* utterances */
	unsigned lost; /* of them without an answer */
	bool heard;    /* the bot has spoken since the last one */
};

static struct world {
	struct env *env;
	struct tmr *tmr;
	struct http *http;
	struct media *media; /* of the members */
	struct rooms_conf conf;
	char folder[64], api[128], rest[160], ca[256], journal[128], member_mediad[PATH_MAX];
	pid_t guildd, mediad, control;
	struct person person[ROOMS_MAX];
	unsigned rooms;
	int16_t speech[SPEECH];
} w;

unsigned rooms_number(const char *name, unsigned otherwise, unsigned most)
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

void rooms_run(unsigned ms)
{
	tmr_start(w.tmr, ms * NS_PER_MS);
	env_run(w.env);
}

void rooms_until(bool (*done)(void), unsigned ms, const char *what)
{
	for (unsigned n = 0; !done(); n += 20) {
		if (n > ms)
			bench_die("not after %u ms: %s (logs in %s)", ms, what, w.folder);
		rooms_run(20);
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
	rooms_until(replied, 10000, path);
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
		rooms_run(50);
		ready = json_load_file(file, 0, NULL);
	}
	snprintf(w.api, sizeof w.api, "%s", json_string_value(json_object_get(ready, "control")));
	snprintf(w.rest, sizeof w.rest, "%s", json_string_value(json_object_get(ready, "rest")));
	snprintf(w.ca, sizeof w.ca, "%s", json_string_value(json_object_get(ready, "ca")));
	json_decref(ready);
}

/* Adds what the settings of every bench have, then the bench's own. */
static void bot_settings(const char **env)
{
	static char api[200], rooms[128];
	static const char *const fixed[] = {
		"DISCORD_TOKEN=guildd.bot.token", "PARLEY_GUEST=off",
		/* What is short and what it is not about: what is decided is the same each time. */
		"PARLEY_SPECULATIVE=off", "PARLEY_INTERIM_MS=0", "PARLEY_ECHO_GUARD_MS=0",
		"PARLEY_PROMOTE_MS=100", "PARLEY_BARGE_IN_MS=100", NULL};
	static char end_short[32], end_middle[32], end_long[32];
	unsigned n = 0;

	snprintf(api, sizeof api, "PARLEY_DISCORD_API=%s", w.rest);
	snprintf(rooms, sizeof rooms, "PARLEY_ROOM_JOURNALS=%s/rooms", w.folder);
	snprintf(end_short, sizeof end_short, "PARLEY_END_SHORT_MS=%d", ROOMS_END_MS);
	snprintf(end_middle, sizeof end_middle, "PARLEY_END_MIDDLE_MS=%d", ROOMS_END_MS);
	snprintf(end_long, sizeof end_long, "PARLEY_END_LONG_MS=%d", ROOMS_END_MS);
	env[n++] = api;
	env[n++] = end_short;
	env[n++] = end_middle;
	env[n++] = end_long;
	if (w.conf.journals)
		env[n++] = rooms;
	for (unsigned i = 0; fixed[i]; i++)
		env[n++] = fixed[i];
	for (unsigned i = 0; w.conf.settings && w.conf.settings[i]; i++) {
		if (n + 1 == SETTINGS_MAX)
			bench_die("too many settings");
		env[n++] = w.conf.settings[i];
	}
	env[n] = NULL;
}

/* Writes the settings file; returns its path, NULL for none. */
static const char *write_config(void)
{
	static char path[96];
	FILE *f;

	if (!w.conf.config)
		return NULL;
	snprintf(path, sizeof path, "%s/parley.json", w.folder);
	f = fopen(path, "w");
	if (!f || fputs(w.conf.config, f) < 0 || fclose(f))
		bench_die("%s: %s", path, strerror(errno));
	return path;
}

static void start_bot(void)
{
	char sock[96], state[96], rooms[96];
	const char *config = write_config();
	const char *mediad[] = {
		"--listen", sock, "--ca", w.ca, w.conf.journals ? "--journal" : NULL,
		w.journal,  NULL};
	const char *control[] = {"--media-sock",
				 sock,
				 "--state-dir",
				 state,
				 "--ca",
				 w.ca,
				 config ? "--config" : NULL,
				 config,
				 NULL};
	const char *env[SETTINGS_MAX];

	unsetenv("OPENAI_API_KEY");
	snprintf(sock, sizeof sock, "%s/mediad.sock", w.folder);
	snprintf(state, sizeof state, "%s/state", w.folder);
	snprintf(rooms, sizeof rooms, "%s/rooms", w.folder);
	snprintf(w.journal, sizeof w.journal, "%s/mediad.journal", w.folder);
	mkdir(rooms, 0700);
	bot_settings(env);
	w.mediad = start("mediad", "mediad", mediad, NULL);
	for (unsigned n = 0; access(sock, F_OK); n++) {
		if (n > 200)
			bench_die("mediad does not start");
		rooms_run(50);
	}
	w.control = start("control", "control", control, env);
}

/* ---- members ---- */

static void on_said(struct media_playback *pb, enum media_playback_event ev, uint64_t samples,
		    unsigned reason, uint64_t at, void *arg)
{
	const struct person *p = arg;

	(void)pb, (void)samples, (void)at;
	if (ev == MEDIA_PB_STOPPED)
		bench_die("somebody's speech was stopped: %s", media_reason_text(reason));
	if (ev == MEDIA_PB_DRAINED && w.conf.askedh)
		w.conf.askedh((unsigned)(p - w.person), bench_clock(), w.conf.arg);
}

/* Speaks; may fail, and is then tried again. */
static void speak(void *arg)
{
	struct person *p = arg;

	p->lost += p->said && !p->heard;
	p->heard = false;
	p->said++;
	media_playback_free(p->say);
	BENCH_OK(media_playback_open(&p->say, p->call, RATE, on_said, p));
	BENCH_OK(media_playback_write(p->say, w.speech, SPEECH));
	media_playback_end(p->say);
	tmr_start(p->tmr, PATIENCE_MS * NS_PER_MS);
}

static bool audible(const struct slice *pcm)
{
	for (size_t i = 0; i + 1 < pcm->n; i += 2) {
		int16_t s = (int16_t)(pcm->p[i] | pcm->p[i + 1] << 8);

		if (s > AUDIBLE || s < -AUDIBLE)
			return true;
	}
	return false;
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
		if (msg->speaking.user != BOT || !msg->speaking.on || !p->said)
			break;
		p->heard = true;
		tmr_start(p->tmr, (w.conf.listen_ms + p->said * 7 % 20) * NS_PER_MS);
		break;
	case MEDIA_HEARD:
		if (msg->heard.user == BOT && w.conf.heardh)
			w.conf.heardh((unsigned)(p - w.person), msg->heard.at,
				      audible(&msg->heard.pcm), w.conf.arg);
		break;
	default:
		break;
	}
}

static void on_lease(const struct http_resp *resp, void *arg)
{
	struct person *p = arg;

	if (join_take_lease(p->call, resp, p->channel))
		bench_die("guildd gives no lease: HTTP %d %s", resp->status, resp->errtext);
}

static struct person *person_of(const struct media_call *call)
{
	for (unsigned i = 0; i < w.rooms; i++)
		if (w.person[i].guild == media_call_guild(call))
			return &w.person[i];
	bench_die("a call of no room");
}

static void on_wants(struct media_call *call, void *arg)
{
	struct person *p = person_of(call);

	(void)arg;
	BENCH_OK(join_request(w.http, w.api, PERSON, p->guild, p->channel, on_lease, p));
}

/* Makes a guild with two channels, the member and the bot. */
static void person_settles(struct person *p, unsigned i)
{
	char path[96];

	p->guild = made(post("/guilds", "{\"name\":\"room%u\",\"owner_id\":\"%d\"}", i, PERSON));
	snprintf(path, sizeof path, "/guilds/%" PRIu64 "/members", p->guild);
	json_decref(post(path, "{\"user_id\":\"%d\"}", BOT));
	json_decref(post(path, "{\"user_id\":\"%d\"}", PERSON));
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

/* The members' mediad runs without its log. */
static void start_members(void)
{
	struct media_conf mc = {.spawn = w.member_mediad,
				.ca_file = w.ca,
				.run_dir = w.folder,
				.user = PERSON,
				.epoch = 1,
				.members = true,
				.wantsh = on_wants};
	char program[PATH_MAX];
	FILE *f;

	plane_program(program, sizeof program, "mediad");
	snprintf(w.member_mediad, sizeof w.member_mediad, "%s/members", w.folder);
	f = fopen(w.member_mediad, "w");
	if (!f || fprintf(f, "#!/bin/sh\nexec '%s' --log fatal \"$@\"\n", program) < 0 ||
	    fclose(f) || chmod(w.member_mediad, 0700))
		bench_die("%s: %s", w.member_mediad, strerror(errno));
	BENCH_OK(media_alloc(&w.media, w.env, &mc));
}

static void person_joins(struct person *p)
{
	struct media_want want = {
		.guild = p->guild, .channel = p->channel, .bitrate = 64000, .consent = true};

	BENCH_OK(tmr_alloc(&p->tmr, w.env, speak, p));
	BENCH_OK(media_call_open(&p->call, w.media, &want, on_call, p));
	json_decref(post("/interactions",
			 "{\"user_id\":\"%d\",\"channel_id\":\"%" PRIu64
			 "\",\"name\":\"join\",\"options\":[{\"name\":\"channel\","
			 "\"type\":7,\"value\":\"%" PRIu64 "\"}]}",
			 PERSON, p->text, p->channel));
}

/* True if control has registered its commands. */
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

struct env *rooms_open(unsigned rooms)
{
	struct env_conf ec = {.loop = true};

	if (sodium_init() < 0)
		bench_die("libsodium does not start");
	log_init("bench", LOG_FATAL_);
	w.rooms = rooms;
	snprintf(w.folder, sizeof w.folder, "/tmp/parley-bench.XXXXXX");
	if (!mkdtemp(w.folder))
		bench_die("%s: %s", w.folder, strerror(errno));
	speech_make(w.speech, SPEECH, RATE, 1);
	BENCH_OK(env_alloc(&w.env, &ec));
	BENCH_OK(tmr_alloc(&w.tmr, w.env, on_tmr, NULL));
	BENCH_OK(http_alloc(&w.http, w.env, NULL, "parley-bench"));
	return w.env;
}

void rooms_begin(const struct rooms_conf *conf)
{
	w.conf = *conf;
	if (!w.conf.listen_ms)
		w.conf.listen_ms = LISTEN_MS;
	start_guildd();
	json_decref(post("/users", "{\"id\":\"%d\",\"name\":\"person\"}", PERSON));
	for (unsigned i = 0; i < w.rooms; i++)
		person_settles(&w.person[i], i);
	start_bot();
	rooms_until(registered, 10000, "control is ready");
	start_members();
	for (unsigned i = 0; i < w.rooms; i++)
		person_joins(&w.person[i]);
	rooms_until(all_here, 20000 + w.rooms * 1000, "everybody is in their call");
	rooms_run(1000);
	/* Spreads the members, so that they do not speak in step. */
	for (unsigned i = 0; i < w.rooms; i++) {
		speak(&w.person[i]);
		rooms_run(317);
	}
}

void rooms_end(void)
{
	end(w.control);
	end(w.mediad);
	for (unsigned i = 0; i < w.rooms; i++) {
		media_playback_free(w.person[i].say);
		media_call_free(w.person[i].call);
		tmr_free(w.person[i].tmr);
	}
	media_free(w.media);
	rooms_run(100);
	end(w.guildd);
}

void rooms_close(void)
{
	http_free(w.http);
	tmr_free(w.tmr);
	env_free(w.env);
	forget(w.folder);
	memset(&w, 0, sizeof w);
}

unsigned rooms_count(void)
{
	return w.rooms;
}

uint64_t rooms_guild(unsigned room)
{
	return w.person[room].guild;
}

const char *rooms_folder(void)
{
	return w.folder;
}

const char *rooms_journal(void)
{
	return w.journal;
}

pid_t rooms_control(void)
{
	return w.control;
}

unsigned rooms_lost(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w.rooms; i++)
		n += w.person[i].lost;
	return n;
}

pid_t rooms_start(const char *name, const char *log, const char *const *args)
{
	return start(name, log, args, NULL);
}
