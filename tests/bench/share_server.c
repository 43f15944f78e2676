#include "tests/bench/share_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/configure/live_settings.h"
#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/web/web.h"
#include "ipc/env.h"
#include "tests/bench/bench.h"

/* ---- the world ---- */

static uint64_t everybody_is_there(uint64_t guild, uint64_t user, void *arg)
{
	(void)guild, (void)user, (void)arg;
	return SHARE_CHANNEL;
}

static uint64_t bot_channel(uint64_t guild, void *arg)
{
	(void)guild, (void)arg;
	return SHARE_CHANNEL;
}

static const char *name_of(uint64_t guild, uint64_t user, void *arg)
{
	(void)guild, (void)user, (void)arg;
	return "Bob";
}

/* ---- what the web server asks for ---- */

static json_t *nothing(void *arg)
{
	(void)arg;
	return NULL;
}

static json_t *no_channels(uint64_t guild, void *arg)
{
	(void)guild, (void)arg;
	return NULL;
}

static char *no_figures(void *arg)
{
	(void)arg;
	return NULL;
}

static int no_order(const struct web_order *order, char why[WEB_WHY_SIZE], void *arg)
{
	(void)order, (void)why, (void)arg;
	return ENOENT;
}

static void on_share(const struct web_share *what, struct web_share_answer *a, void *arg)
{
	struct share_server *s = arg;
	uint32_t share = 0;
	enum share_refusal refusal = SHARE_OFF;

	if (what->kind == WEB_SHARE_EXPECT)
		refusal = vision_expect(s->vision, what->token, what->browser, what->bytes);
	else if (what->kind == WEB_SHARE_FRAME)
		refusal = vision_frame(s->vision, what->token, what->browser, true, what->picture,
				       &share);
	else if (what->kind == WEB_SHARE_INGEST)
		refusal = vision_ingest(s->vision, what->guild, what->target, true, what->picture,
					&share);
	else if (what->kind == WEB_SHARE_OPEN)
		refusal = vision_open(s->vision, what->token, what->browser, a->key, &share);
	a->status = share_refusal_status(refusal);
	a->code = share_refusal_code(refusal);
	a->text = share_refusal_text(refusal);
	a->body = refusal ? NULL : vision_state(s->vision, share);
}

static uint32_t match_share(const char *key, void *arg)
{
	const struct share_server *s = arg;

	return vision_match_key(s->vision, key);
}

static bool knows_program(const char *token, void *arg)
{
	const struct share_server *s = arg;

	return s->program && strcmp(token, s->program) == 0;
}

/* ---- making ---- */

void share_server_open(struct share_server *s, struct env *env)
{
	static const uint32_t hours = 1;
	struct live_settings_conf lc = {.settings = s->settings};
	struct web_conf wc = {.env = env,
			      .listen = "127.0.0.1:0",
			      .token = "0123456789abcdef0123456789abcdef",
			      .mcph = nothing,
			      .readyh = nothing,
			      .session_hours = &hours,
			      .roomsh = nothing,
			      .reasonsh = nothing,
			      .statsh = nothing,
			      .guildsh = nothing,
			      .channelsh = no_channels,
			      .orderh = no_order,
			      .metricsh = no_figures,
			      .shareh = on_share,
			      .share_matchh = match_share,
			      .share_programh = knows_program,
			      .arg = s};
	struct vision_conf vc = {
		.env = env,
		.settings = s->settings,
		.world = {s->channel_of ? s->channel_of : everybody_is_there, bot_channel, NULL},
		.nameh = name_of};
	char imaged[256];

	s->env = env;
	BENCH_OK(bus_alloc(&s->bus));
	BENCH_OK(live_settings_alloc(&s->live, &lc));
	wc.live = s->live;
	wc.bus = s->bus;
	BENCH_OK(web_alloc(&s->web, &wc));
	snprintf(imaged, sizeof imaged, "%s/imaged", getenv("BIN") ? getenv("BIN") : "build");
	vc.bus = s->bus;
	vc.program = imaged;
	BENCH_OK(vision_alloc(&s->vision, &vc));
}

void share_server_close(struct share_server *s)
{
	s->vision = vision_free(s->vision);
	s->web = web_free(s->web);
}

/* ---- clients ---- */

int share_server_dial(const struct share_server *s, const char *from)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(web_port(s->web)),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
			   own = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

	if (fd < 0 ||
	    (from && (inet_pton(AF_INET, from, &own.sin_addr) != 1 ||
		      bind(fd, (struct sockaddr *)&own, sizeof own))) ||
	    connect(fd, (struct sockaddr *)&at, sizeof at) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes))
		bench_die("no connection to the web server");
	return fd;
}

void share_server_write(int fd, const void *data, size_t n)
{
	const uint8_t *p = data;

	while (n) {
		ssize_t k = send(fd, p, n, MSG_NOSIGNAL);

		if (k <= 0)
			bench_die("the page cannot write");
		p += k;
		n -= (size_t)k;
	}
}
