/* Questions that are lost to one socket: stt_reconnect_lost.
 *
 * One speaker's transcription session (control/engine/transcribe_session.h) talks to the stand-in
 * of a provider (build/standin openai) through a relay in this process, which resets the connection
 * of each utterance once, after a seeded number of its bytes: while it is spoken, at its commit, or
 * not at all where the number is beyond them. An utterance is lost when its transcript does not
 * come or is wrong.
 *
 *   BENCH_KILLS=n   utterances (1000) */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/engine/transcribe_session.h"
#include "ipc/env.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/bench/plane.h"

enum { PIECES = 30, PIECE = 960, BYTES = 42000, WAIT_S = 10 };

static const char words[] = "what time is it";

static struct stt {
	struct env *env;
	struct transcribe_session *stt;
	struct tmr *timer, *late;
	uint16_t port; /* of the stand-in */
	uint32_t utterance, of, lost, killed;
	unsigned piece;
	size_t bytes, kill_at; /* 0: not any more */
	uint32_t seed;
} w = {.seed = 1};

struct pair {
	struct bufferevent *client, *server;
};

/* ---- the relay ---- */

static void pair_close(struct pair *p, bool reset)
{
	const struct linger hard = {.l_onoff = 1};
	struct bufferevent *both[] = {p->client, p->server};

	for (unsigned i = 0; i < 2; i++) {
		if (reset)
			setsockopt(bufferevent_getfd(both[i]), SOL_SOCKET, SO_LINGER, &hard,
				   sizeof hard);
		bufferevent_free(both[i]);
	}
	free(p);
}

static void pass(struct bufferevent *from, void *arg)
{
	struct pair *p = arg;

	if (from == p->client) {
		w.bytes += evbuffer_get_length(bufferevent_get_input(from));
		if (w.kill_at && w.bytes >= w.kill_at) {
			w.kill_at = 0;
			w.killed++;
			pair_close(p, true);
			return;
		}
	}
	bufferevent_write_buffer(from == p->client ? p->server : p->client,
				 bufferevent_get_input(from));
}

static void ended(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		pair_close(arg, false);
}

static void accepted(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *from, int len,
		     void *arg)
{
	struct event_base *base = evconnlistener_get_base(l);
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(w.port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct pair *p = calloc(1, sizeof *p);

	(void)from;
	(void)len;
	(void)arg;
	if (!p)
		bench_die("out of memory");
	p->client = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
	p->server = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	if (!p->client || !p->server ||
	    bufferevent_socket_connect(p->server, (struct sockaddr *)&to, sizeof to))
		bench_die("the relay cannot connect");
	bufferevent_setcb(p->client, pass, NULL, ended, p);
	bufferevent_setcb(p->server, pass, NULL, ended, p);
	bufferevent_enable(p->client, EV_READ | EV_WRITE);
	bufferevent_enable(p->server, EV_READ | EV_WRITE);
}

/* ---- the speaker ---- */

static void speak(void *arg)
{
	static const uint8_t pcm[PIECE];

	(void)arg;
	transcribe_session_append(w.stt, 1, w.utterance, pcm, sizeof pcm);
	if (++w.piece < PIECES) {
		tmr_start(w.timer, NS_PER_MS);
		return;
	}
	transcribe_session_commit(w.stt, 1, w.utterance);
	tmr_start(w.late, WAIT_S * NS_PER_S);
}

static void next(void)
{
	tmr_stop(w.late);
	if (w.utterance == w.of) {
		env_stop(w.env);
		return;
	}
	w.seed = w.seed * 1103515245u + 12345u;
	w.bytes = 0;
	w.kill_at = 1 + (w.seed >> 8) % BYTES;
	w.piece = 0;
	if (transcribe_session_start(w.stt, 1, ++w.utterance))
		bench_die("out of memory");
	tmr_start(w.timer, NS_PER_MS);
}

static void lose(void *arg)
{
	(void)arg;
	w.lost++;
	next();
}

static void heard(enum transcribe_event ev, uint64_t user, uint32_t utterance, const uint8_t *text,
		  size_t len, struct transcribe_sure sure, void *arg)
{
	(void)user;
	(void)sure;
	(void)arg;
	if (ev == TRANSCRIBE_PARTIAL || utterance != w.utterance)
		return;
	if (ev == TRANSCRIBE_FAILED || len != strlen(words) || memcmp(text, words, len) != 0)
		w.lost++;
	next();
}

/* ---- the stand-in ---- */

static pid_t start_standin(const char *folder)
{
	char script[256], port[256];
	const char *argv[] = {"build/standin", "openai", "--script", script, "--port-file", port,
			      "--log",	       "fatal",	 NULL};
	unsigned n = 0;
	FILE *f;
	pid_t pid;

	snprintf(script, sizeof script, "%s/script", folder);
	snprintf(port, sizeof port, "%s/port", folder);
	f = fopen(script, "w");
	if (!f || fprintf(f, "commit * transcript %s\n", words) < 0 || fclose(f))
		bench_die("no script in %s", folder);
	pid = plane_spawn((char *const *)argv, NULL);
	for (unsigned i = 0; i < 500 && !n; i++) {
		usleep(10000);
		f = fopen(port, "r");
		if (f && fscanf(f, "%u", &n) != 1)
			n = 0;
		if (f)
			fclose(f);
	}
	if (!n)
		bench_die("the stand-in does not start");
	w.port = (uint16_t)n;
	return pid;
}

static uint16_t listen_here(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof at;
	struct evconnlistener *l = evconnlistener_new_bind(
		env_base(w.env), accepted, NULL, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE, 16,
		(struct sockaddr *)&at, sizeof at);

	if (!l || getsockname(evconnlistener_get_fd(l), (struct sockaddr *)&at, &len))
		bench_die("the relay cannot listen");
	return ntohs(at.sin_port);
}

int main(void)
{
	const char *kills = getenv("BENCH_KILLS");
	char folder[] = "/tmp/parley-stt-XXXXXX", url[64];
	struct ws_ctx *ctx = NULL;
	pid_t standin;

	w.of = kills ? (uint32_t)strtoul(kills, NULL, 10) : 1000;
	if (!mkdtemp(folder))
		bench_die("no folder");
	standin = start_standin(folder);
	BENCH_OK(env_alloc(&w.env, &(struct env_conf){.loop = true}));
	BENCH_OK(ws_ctx_alloc(&ctx, w.env, NULL));
	BENCH_OK(tmr_alloc(&w.timer, w.env, speak, NULL));
	BENCH_OK(tmr_alloc(&w.late, w.env, lose, NULL));
	snprintf(url, sizeof url, "ws://127.0.0.1:%u/v1/realtime", listen_here());
	BENCH_OK(transcribe_session_alloc(&w.stt, &(struct transcribe_conf){.env = w.env,
									    .ws = ctx,
									    .url = url,
									    .model = "m",
									    .language = "",
									    .key = "",
									    .h = heard}));
	next();
	env_run(w.env);
	bench_row_more("stt_reconnect_lost", w.lost, "", "\"utterances\": %u, \"killed\": %u", w.of,
		       w.killed);
	kill(standin, SIGTERM);
	waitpid(standin, NULL, 0);
	execlp("rm", "rm", "-r", folder, (char *)NULL);
	return 0;
}
