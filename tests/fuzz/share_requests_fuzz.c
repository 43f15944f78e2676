/* Requests of shared screens, by the real server on loopback: the first byte chooses one, the rest
 * is its body. The browser has a share's cookie and the program its token, so that bodies are read.
 * Whatever comes, the server answers, and no handler gets more than it may. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <jansson.h>
#include <sys/socket.h>

#include "control/configure/live_settings.h"
#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/web/web.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TOKEN	"0123456789abcdef0123456789abcdef"
#define KEY	"AAAAAAAAAAAAAAAAAAAAAAAA"
#define SESSION "/api/voice/share-session/" KEY
enum { REQUEST_MAX = 1 << 17, PICTURE_MAX = 1 << 20, STEP_MS = 1, STEPS = 2000, SHARE = 7 };

static const struct request {
	const char *path, *type;
} requests[] = {
	{"/api/voice/stream-ingest/frame", "application/json"},
	{"/api/voice/share-session", "application/json"},
	{SESSION "/frame", "image/png"},
	{SESSION "/state", "application/json"},
	{SESSION "/open", "application/json"},
	{SESSION "/stop", "application/json"},
};

static struct env *env;
static struct settings *settings;
static struct live_settings *live;
static struct bus *bus;
static struct web *web;
static struct tmr *tick;

static json_t *on_object(void *arg)
{
	(void)arg;
	return json_pack("{s:b,s:[]}", "ready", 1, "servers");
}

static json_t *on_list(void *arg)
{
	(void)arg;
	return json_array();
}

static char *on_metrics(void *arg)
{
	(void)arg;
	return strdup("");
}

static json_t *on_channels(uint64_t guild, void *arg)
{
	(void)guild, (void)arg;
	return NULL;
}

static int on_order(const struct web_order *o, char why[WEB_WHY_SIZE], void *arg)
{
	(void)o, (void)arg;
	*why = '\0';
	return 0;
}

static void on_tick(void *arg)
{
	(void)arg;
	env_stop(env);
}

static void on_share(const struct web_share *what, struct web_share_answer *a, void *arg)
{
	bool of_browser = what->kind != WEB_SHARE_OFFER && what->kind != WEB_SHARE_INGEST;

	(void)arg;
	if (what->picture.n > PICTURE_MAX || (what->picture.n && !what->picture.p) ||
	    (of_browser && (strcmp(what->token, KEY) != 0 || what->browser != SHARE)) ||
	    (!of_browser && (!what->guild || !what->target)) ||
	    (what->kind == WEB_SHARE_OFFER && (!what->channel || !what->requester)) ||
	    (what->kind == WEB_SHARE_INGEST && !what->type))
		abort();
	*a = (struct web_share_answer){.status = 200, .code = "", .text = ""};
}

static uint32_t match_share(const char *key, void *arg)
{
	(void)arg;
	return strcmp(key, KEY) == 0 ? SHARE : 0;
}

static bool knows_program(const char *token, void *arg)
{
	(void)arg;
	return strcmp(token, TOKEN) == 0;
}

static bool open_web(void)
{
	static const uint32_t hours = 1;
	struct live_settings_conf lc = {0};
	struct web_conf wc = {.listen = "127.0.0.1:0",
			      .token = TOKEN,
			      .session_hours = &hours,
			      .mcph = on_object,
			      .readyh = on_object,
			      .metricsh = on_metrics,
			      .roomsh = on_list,
			      .reasonsh = on_object,
			      .statsh = on_object,
			      .guildsh = on_list,
			      .channelsh = on_channels,
			      .orderh = on_order,
			      .shareh = on_share,
			      .share_matchh = match_share,
			      .share_programh = knows_program};

	log_set_level(LOG_FATAL_);
	if (env_alloc(&env, &(struct env_conf){.loop = true}) || settings_alloc(&settings))
		return false;
	lc.settings = settings;
	if (live_settings_alloc(&live, &lc) || bus_alloc(&bus) ||
	    tmr_alloc(&tick, env, on_tick, NULL))
		return false;
	wc.env = env;
	wc.live = live;
	wc.bus = bus;
	return web_alloc(&web, &wc) == 0;
}

static size_t write_request(char *out, const struct request *r, const uint8_t *p, size_t n)
{
	size_t m = (size_t)snprintf(out, REQUEST_MAX,
				    "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
				    "Authorization: Bearer " TOKEN "\r\n"
				    "X-Public-Api-Token: " TOKEN "\r\n"
				    "Cookie: parley_share=" KEY "\r\n"
				    "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n",
				    r->path, r->type, n);

	memcpy(out + m, p, n);
	return m + n;
}

/* Until the server has answered. */
static void exchange(const char *request, size_t n)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(web_port(web)),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	/* The server limits the requests of an address. */
	static uint32_t sent;
	struct sockaddr_in own = {.sin_family = AF_INET,
				  .sin_addr.s_addr =
					  htonl(INADDR_LOOPBACK + 1 + sent++ / 1000 % 65000)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char answer[16] = "";
	ssize_t got = -1;

	if (fd < 0 || bind(fd, (struct sockaddr *)&own, sizeof own) ||
	    connect(fd, (struct sockaddr *)&at, sizeof at) ||
	    send(fd, request, n, MSG_NOSIGNAL) != (ssize_t)n)
		abort();
	for (unsigned i = 0; i < STEPS && got < 0; i++) {
		tmr_start(tick, STEP_MS * NS_PER_MS);
		env_run(env);
		got = recv(fd, answer, sizeof answer - 1, MSG_DONTWAIT);
	}
	if (got < 12 || strncmp(answer, "HTTP/1.1 ", 9) != 0)
		abort();
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char request[REQUEST_MAX];
	const struct request *r;

	if (size < 1 || size > REQUEST_MAX / 2)
		return 0;
	if (!web && !open_web())
		abort();
	r = &requests[data[0] % (sizeof requests / sizeof requests[0])];
	exchange(request, write_request(request, r, data + 1, size - 1));
	return 0;
}
