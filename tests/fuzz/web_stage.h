/* A web server on loopback that a fuzz target asks. One to a program. */
#ifndef TESTS_FUZZ_WEB_STAGE_H
#define TESTS_FUZZ_WEB_STAGE_H

#include <stdint.h>
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

#define TOKEN "0123456789abcdef0123456789abcdef"
enum { REQUEST_MAX = 1 << 17, STEP_MS = 1, STEPS = 2000 };

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

/* Opens it on the first call. wc and lc: what the target adds to what every server wants. */
static bool open_web(struct web_conf wc, struct live_settings_conf lc)
{
	static const uint32_t hours = 1;

	if (web)
		return true;
	log_set_level(LOG_FATAL_);
	if (env_alloc(&env, &(struct env_conf){.loop = true}) || settings_alloc(&settings))
		return false;
	lc.settings = settings;
	if (live_settings_alloc(&live, &lc) || bus_alloc(&bus) ||
	    tmr_alloc(&tick, env, on_tick, NULL))
		return false;
	wc.listen = "127.0.0.1:0";
	wc.token = TOKEN;
	wc.session_hours = &hours;
	wc.mcph = wc.readyh = wc.reasonsh = wc.statsh = on_object;
	wc.metricsh = on_metrics;
	wc.roomsh = wc.guildsh = on_list;
	wc.channelsh = on_channels;
	wc.orderh = on_order;
	wc.env = env;
	wc.live = live;
	wc.bus = bus;
	return web_alloc(&web, &wc) == 0;
}

/* Until the server has answered; an event stream begins and is left. */
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

#endif
