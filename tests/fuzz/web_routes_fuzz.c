/* Bodies and queries of every route of the dashboard, by the real server on loopback: the first
 * byte chooses the route, the second whether the rest is its body or its query. Whatever comes, the
 * server answers and goes on. */
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
#include "control/web/routes.def"
#include "control/web/web.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TOKEN "0123456789abcdef0123456789abcdef"
enum { REQUEST_MAX = 1 << 17, STEP_MS = 1, STEPS = 2000 };

static const struct route {
	const char *method, *path;
	size_t body;
} routes[] = {
#define ROUTE(METHOD, path, r, handler, n, ms, text) {#METHOD, path, n},
	WEB_ROUTES(ROUTE)
#undef ROUTE
};

static struct env *env;
static struct settings *settings;
static struct live_settings *live;
static struct bus *bus;
static struct web *web;
static struct tmr *tick;

static int on_save(const struct live_settings_version *version, void *arg)
{
	(void)version, (void)arg;
	return EIO;
}

static void on_changed(void *arg)
{
	(void)arg;
}

static void on_told(const char *name, enum settings_when when, const char *author, void *arg)
{
	(void)name, (void)when, (void)author, (void)arg;
}

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
	(void)arg;
	*why = '\0';
	if (o->kind == WEB_SAY && strlen(o->text) > WEB_SAY_MAX)
		abort();
	return 0;
}

static void on_tick(void *arg)
{
	(void)arg;
	env_stop(env);
}

static bool open_web(void)
{
	static const uint32_t hours = 1;
	struct live_settings_conf lc = {.saveh = on_save, .changedh = on_changed, .toldh = on_told};
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
			      .orderh = on_order};

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

/* :NAME in a path is 42, or 42-7. */
static void fill_path(const char *path, char out[160])
{
	const char *colon = strchr(path, ':');

	if (colon)
		snprintf(out, 160, "%.*s%s%s", (int)(colon - path), path,
			 strncmp(colon, ":session", 8) == 0 ? "42-7" : "42",
			 colon + strcspn(colon, "/"));
	else
		snprintf(out, 160, "%s", path);
}

static size_t write_request(char *out, const struct route *r, bool query, const uint8_t *p,
			    size_t n)
{
	char path[160];
	size_t m;

	fill_path(r->path, path);
	m = (size_t)snprintf(out, REQUEST_MAX, "%s %s%s", r->method, path, query ? "?" : "");
	for (size_t i = 0; query && i < n && i < 2000; i++)
		out[m++] = (char)(p[i] > ' ' && p[i] < 0x7f ? p[i] : '%');
	m += (size_t)snprintf(out + m, REQUEST_MAX - m,
			      " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
			      "Authorization: Bearer " TOKEN "\r\n"
			      "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
			      query ? 0 : n);
	if (!query) {
		memcpy(out + m, p, n);
		m += n;
	}
	return m;
}

/* Until the server has answered; an event stream begins and is left. */
static void exchange(const char *request, size_t n)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(web_port(web)),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char answer[16] = "";
	ssize_t got = -1;

	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at) ||
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
	const struct route *r;

	if (size < 2 || size > REQUEST_MAX / 2)
		return 0;
	if (!web && !open_web())
		abort();
	r = &routes[data[0] % (sizeof routes / sizeof routes[0])];
	exchange(request, write_request(request, r, data[1] & 1, data + 2, size - 2));
	return 0;
}
