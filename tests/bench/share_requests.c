#include "tests/bench/share_requests.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/dialect/base64.h"
#include "control/settings/settings.h"
#include "control/web/web.h"
#include "ipc/env.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/bench/share_server.h"
#include "tests/picture.h"
#include "tests/random.h"

enum {
	FIRST = 1000,
	OPENED = 100, /* links that their browser has opened; the next are for races */
	OWNERS = 200,
	LEFT = FIRST + OPENED - 1, /* whose requester leaves the voice channel */
	MOVED = LEFT - 1,	   /* and goes to another one */
	HONEST = OPENED - 2,
	EACH_ADDRESS = 500, /* requests; the server limits those of an address */
	ANSWER_MAX = 4096,
	POLL_MS = 10,
	LIMIT_S = 240,
	STARTS = 200,
};
#define PROGRAM "program.program.program.token"
#define PREFIX	"parley_share="

enum way {
	GUESSED_TOKEN,
	GUESSED_COOKIE,
	CHANGED_TOKEN,
	CHANGED_COOKIE,
	NO_COOKIE,
	FOREIGN_COOKIE,
	SWAPPED,
	SEVERAL_COOKIES,
	OTHER_NAME,
	OTHER_SITE,
	REQUESTER_LEFT,
	REQUESTER_MOVED,
	NOT_OPENED,
	PROGRAM_GUESSED,
	PROGRAM_OF_OTHERS,
	RACE,
	WAYS
};

/* What the server's process and that of the browsers share. */
struct common {
	bool gone; /* those who leave have left */
	struct share_requests found;
	bool done;
};

static struct {
	struct env *env;
	struct tmr *tmr;
	struct share_server server;
	char token[OWNERS][SHARE_SECRET_SIZE], key[OPENED][SHARE_SECRET_SIZE];
	struct common *common;
	pid_t browsers;
	uint64_t deadline, seed;
	char ingested[1024];
} w;

/* ---- one request ---- */

static int connection = -1;

static void dial_again(unsigned address)
{
	char from[32];

	snprintf(from, sizeof from, "127.1.%u.%u", address / 250, 1 + address % 250);
	if (connection >= 0)
		close(connection);
	connection = share_server_dial(&w.server, from);
}

/* The status of an answer, which is read whole; 0: the connection is closed. */
static unsigned read_status(int fd)
{
	char answer[ANSWER_MAX + 1], *end = NULL, *length;
	size_t n = 0;

	while (n < ANSWER_MAX) {
		ssize_t got = read(fd, answer + n, ANSWER_MAX - n);

		if (got <= 0)
			return 0;
		n += (size_t)got;
		answer[n] = '\0';
		end = end ? end : strstr(answer, "\r\n\r\n");
		length = end ? strcasestr(answer, "Content-Length:") : NULL;
		if (end && (!length || length > end ||
			    n >= (size_t)(end + 4 - answer) + strtoul(length + 15, NULL, 10)))
			return (unsigned)strtoul(answer + strlen("HTTP/1.1 "), NULL, 10);
	}
	return 0;
}

struct request {
	const char *path, *origin, *fields, *type;
	const void *body;
	size_t n;
};

static void write_request(int fd, const struct request *q)
{
	unsigned port = web_port(w.server.web);
	char all[4096];
	int n = snprintf(all, sizeof all,
			 "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n%s%s%s%s"
			 "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n",
			 q->path, port, q->origin ? "Origin: " : "", q->origin ? q->origin : "",
			 q->origin ? "\r\n" : "", q->fields, q->type, q->n);

	memcpy(all + n, q->body, q->n);
	share_server_write(fd, all, (size_t)n + q->n);
}

/* A picture with this token and these cookies. */
static unsigned show(const char *token, const char *cookies, const char *origin)
{
	char path[128], fields[512] = "";

	snprintf(path, sizeof path, "/api/voice/share-session/%s/frame", token);
	if (*cookies)
		snprintf(fields, sizeof fields, "Cookie: %s\r\n", cookies);
	write_request(connection, &(struct request){path, origin, fields, "image/png", picture_png,
						    sizeof picture_png});
	return read_status(connection);
}

static unsigned ingest(const char *program, uint64_t target)
{
	char body[1024], fields[256] = "";
	int n = snprintf(body, sizeof body,
			 "{\"guildId\":\"%d\",\"streamerUserId\":\"%llu\",\"mimeType\":"
			 "\"image/png\",\"dataBase64\":\"%s\"}",
			 SHARE_GUILD, (unsigned long long)target, w.ingested);

	if (*program)
		snprintf(fields, sizeof fields, "X-Public-Api-Token: %s\r\n", program);
	write_request(connection, &(struct request){"/api/voice/stream-ingest/frame", NULL, fields,
						    "application/json", body, (size_t)n});
	return read_status(connection);
}

/* ---- tries ---- */

static void make_secret(char out[SHARE_SECRET_SIZE])
{
	uint8_t bytes[SHARE_SECRET_BYTES];

	for (unsigned i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)random_next(&w.seed);
	share_secret_write(out, bytes);
}

static void change_letter(char *text)
{
	char *p = &text[random_below(&w.seed, (unsigned)strlen(text))];

	*p = *p == 'A' ? 'B' : 'A';
}

/* Cookies of other shares, as a parser may mistake them. */
static void write_several(char *out, size_t size, const char *own, const char *other)
{
	static const char *const shapes[] = {PREFIX "%s; " PREFIX "%s", PREFIX "\"%s\"; x=%s",
					     "x=1; " PREFIX "%s;" PREFIX "%s",
					     PREFIX "%s," PREFIX "%s"};

	snprintf(out, size, shapes[random_below(&w.seed, sizeof shapes / sizeof shapes[0])], own,
		 other);
}

static unsigned try_cookie(enum way way, unsigned i, const char *origin)
{
	static const char *const names[] = {"parley_share_", "xparley_share", "parley_shar",
					    "Parley_Share",  "parley-share",  "token"};
	const char *other = w.key[(i + 1 + random_below(&w.seed, HONEST - 1)) % HONEST];
	char token[SHARE_SECRET_SIZE], key[SHARE_SECRET_SIZE], cookies[256];

	memcpy(token, w.token[i], sizeof token);
	memcpy(key, w.key[i], sizeof key);
	if (way == GUESSED_TOKEN)
		make_secret(token);
	else if (way == GUESSED_COOKIE)
		make_secret(key);
	else if (way == CHANGED_TOKEN)
		change_letter(token);
	else if (way == CHANGED_COOKIE)
		change_letter(key);
	else if (way == FOREIGN_COOKIE)
		memcpy(key, other, sizeof key);
	else if (way == SWAPPED && random_below(&w.seed, 2))
		memcpy(key, token, sizeof key);
	else if (way == SWAPPED)
		memcpy(token, key, sizeof token);
	snprintf(cookies, sizeof cookies, PREFIX "%s", key);
	if (way == NO_COOKIE)
		*cookies = '\0';
	else if (way == SEVERAL_COOKIES)
		write_several(cookies, sizeof cookies, other, w.key[(i + HONEST / 2) % HONEST]);
	else if (way == OTHER_NAME)
		snprintf(cookies, sizeof cookies, "%s=%s",
			 names[random_below(&w.seed, sizeof names / sizeof names[0])], key);
	return show(token, cookies, origin);
}

/* A token that is none: cut, longer, of other letters, or none at all. */
static unsigned try_program(void)
{
	char token[2 * sizeof PROGRAM] = PROGRAM;
	unsigned way = random_below(&w.seed, 5);

	if (way == 0)
		token[random_below(&w.seed, sizeof PROGRAM - 1)] = '\0';
	else if (way == 1)
		strcat(token, "x");
	else if (way == 2)
		change_letter(token);
	else if (way == 3)
		token[0] = 'P';
	else
		make_secret(token);
	return ingest(token, FIRST + random_below(&w.seed, HONEST));
}

/* Two browsers open a link at once. Returns how many got it besides the first. */
static unsigned race(unsigned link)
{
	char path[128];
	struct request open = {path, NULL, "", "text/plain", "", 0};
	int other = share_server_dial(&w.server, "127.2.0.1");
	unsigned a, b;

	snprintf(path, sizeof path, "/api/voice/share-session/%s/open", w.token[link]);
	write_request(connection, &open);
	write_request(other, &open);
	a = read_status(connection);
	b = read_status(other);
	close(other);
	if (a != 200 && b != 200)
		bench_die("nobody wins a race: %u, %u", a, b);
	return (a == 200) + (b == 200) - 1;
}

static unsigned try_once(unsigned n)
{
	enum way way = (enum way)(n % WAYS);
	unsigned i = random_below(&w.seed, HONEST), link = OPENED + n / WAYS;
	char cookies[64];

	if (way == RACE && link < OWNERS - 1)
		return race(link) ? 200 : 403;
	if (way == NOT_OPENED || way == RACE)
		return show(w.token[OWNERS - 1], "", NULL);
	if (way == PROGRAM_GUESSED)
		return try_program();
	if (way == PROGRAM_OF_OTHERS)
		return ingest(PROGRAM, random_below(&w.seed, 2) ? LEFT : FIRST + OWNERS);
	if (way == REQUESTER_LEFT || way == REQUESTER_MOVED) {
		i = (way == REQUESTER_LEFT ? LEFT : MOVED) - FIRST;
		snprintf(cookies, sizeof cookies, PREFIX "%s", w.key[i]);
		return show(w.token[i], cookies, NULL);
	}
	return try_cookie(way, i, way == OTHER_SITE ? "http://evil.example" : NULL);
}

/* The rightful browser and program, while imaged starts and decodes: 503 then. */
static void be_honest(void)
{
	const struct timespec pause = {0, 20000000};
	char cookies[64];
	unsigned shown = 503, sent = 503;

	snprintf(cookies, sizeof cookies, PREFIX "%s", w.key[0]);
	for (unsigned i = 0; i < STARTS && (shown == 503 || sent == 503); i++) {
		if (shown == 503)
			shown = show(w.token[0], cookies, NULL);
		else
			sent = ingest(PROGRAM, FIRST);
		nanosleep(&pause, NULL);
	}
	if (shown != 200 || sent != 200)
		bench_die("the rightful browser gets %u, the program %u", shown, sent);
}

static void be_browsers(unsigned tries)
{
	dial_again(0);
	be_honest();
	w.common->gone = true;
	for (unsigned i = 0; i < tries; i++) {
		unsigned status;

		if (i % EACH_ADDRESS == 0)
			dial_again(1 + i / EACH_ADDRESS);
		status = try_once(i);
		/* A server may close behind a refusal. */
		if (!status) {
			dial_again(1 + i / EACH_ADDRESS);
			status = try_once(i);
		}
		if (!status || status == 429)
			bench_die("a try was answered with %u", status);
		w.common->found.tries++;
		w.common->found.taken += status / 100 != 4;
		if (status / 100 != 4)
			fprintf(stderr, "share_hijack: way %u was taken with %u\n", i % WAYS,
				status);
	}
	dial_again(0);
	be_honest();
	w.common->done = true;
}

/* ---- the server ---- */

static uint64_t channel_of(uint64_t guild, uint64_t user, void *arg)
{
	(void)guild, (void)arg;
	if (w.common->gone && (user == LEFT || user == MOVED))
		return user == LEFT ? 0 : SHARE_CHANNEL + 1;
	return user < FIRST + OWNERS ? SHARE_CHANNEL : 0;
}

static void make_shares(void)
{
	uint32_t share;

	for (unsigned i = 0; i < OWNERS; i++) {
		const struct share_owner owner = {SHARE_GUILD, SHARE_CHANNEL, FIRST + i, FIRST + i,
						  false};

		if (vision_offer(w.server.vision, &owner, w.token[i]) ||
		    (i < OPENED && vision_open(w.server.vision, w.token[i], 0, w.key[i], &share)))
			bench_die("a share was refused");
	}
}

static void on_tmr(void *arg)
{
	(void)arg;
	if (waitpid(w.browsers, NULL, WNOHANG) || env_now(w.env) > w.deadline)
		env_stop(w.env);
	else
		tmr_start(w.tmr, POLL_MS * NS_PER_MS);
}

static void start_browsers(unsigned tries)
{
	w.browsers = fork();
	if (w.browsers)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	be_browsers(tries);
	_exit(0);
}

struct share_requests share_requests_run(unsigned tries)
{
	w.seed = 3;
	w.common = mmap(NULL, sizeof *w.common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (w.common == MAP_FAILED)
		bench_die("out of memory");
	base64_encode(picture_png, sizeof picture_png, w.ingested);
	BENCH_OK(env_alloc(&w.env, &(struct env_conf){.loop = true}));
	BENCH_OK(settings_alloc(&w.server.settings));
	w.server.settings->share_frames_per_minute = UINT32_MAX;
	w.server.channel_of = channel_of;
	w.server.program = PROGRAM;
	share_server_open(&w.server, w.env);
	make_shares();
	BENCH_OK(tmr_alloc(&w.tmr, w.env, on_tmr, NULL));
	w.deadline = env_now(w.env) + LIMIT_S * NS_PER_S;
	start_browsers(tries);
	tmr_start(w.tmr, POLL_MS * NS_PER_MS);
	env_run(w.env);
	if (!w.common->done)
		bench_die("the requests did not come to their end");
	share_server_close(&w.server);
	return w.common->found;
}
