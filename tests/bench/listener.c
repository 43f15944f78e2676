/* The control of a bench, as a process of its own: control's link to mediad (control/media) and a
 * handler that counts the sound it gets. Another process measures it: tests/bench/listening.h.
 *
 *   listener SOCKET ENDPOINT FIRST CALLS SPEAKERS      opens these calls and listens to their
 *                                                      speakers; prints "up"
 *
 * Commands, a line each:
 *   count        prints how many frames the handler got (without concealed ones)
 *   say          a playback in every call, fed every second as by a provider; prints "ok"
 *   hush         stops them; prints "ok" */
#include "control/media/media.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/bench/bench.h"
#include "tests/bench/far_end.h"
#include "tests/bench/speech.h"

#include <event2/event.h>
#include <inttypes.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RATE = 24000, USER = 900, SPEECH = 4 * RATE, AHEAD_S = 3, AT_ONCE = 8 };

static struct rig {
	struct env *env;
	struct media *media;
	struct tmr *feed;
	const char *endpoint;
	unsigned first, calls, speakers, opened, ready;
	struct {
		struct media_call *call;
		struct media_playback *playback;
		bool up, secure, counted;
	} call[FAR_END_CALLS];
	uint64_t heard;
	int16_t speech[2 * SPEECH];
} rig;

static unsigned index_of(const struct media_call *call)
{
	return (unsigned)(media_call_guild(call) - far_end_guild(0));
}

static void on_wants(struct media_call *call, void *arg)
{
	unsigned i = index_of(call);
	char token[64];

	(void)arg;
	far_end_token(token, sizeof token, i);
	BENCH_OK(media_call_credentials(call, "session", token, rig.endpoint, far_end_guild(i)));
}

static void open_next(void);

static void note_ready(unsigned i)
{
	if (rig.call[i].counted || !rig.call[i].up || !rig.call[i].secure)
		return;
	rig.call[i].counted = true;
	if (++rig.ready == rig.calls) {
		printf("up\n");
		fflush(stdout);
	}
	open_next();
}

/* Where the room would be. */
static void on_call(struct media_call *call, const struct media_msg *msg, void *arg)
{
	unsigned i = index_of(call);

	(void)arg;
	if (msg->type == MEDIA_HEARD) {
		rig.heard += !(msg->heard.flags & MEDIA_HEARD_CONCEALED);
		return;
	}
	if (msg->type == MEDIA_CALL_STATE)
		rig.call[i].up = msg->call_state.phase == MEDIA_PHASE_UP;
	else if (msg->type == MEDIA_CALL_SECURE)
		rig.call[i].secure = msg->call_secure.version == 1 && msg->call_secure.ready;
	note_ready(i);
}

static void on_playback(struct media_playback *pb, enum media_playback_event ev, uint64_t samples,
			unsigned reason, uint64_t at, void *arg)
{
	(void)pb, (void)samples, (void)at, (void)arg;
	if (ev == MEDIA_PB_STOPPED)
		bench_die("a playback stopped: %s", media_reason_text(reason));
}

/* A second of speech for every playback; each call is somewhere else in it. */
static void on_feed(void *arg)
{
	(void)arg;
	for (unsigned i = rig.first; i < rig.first + rig.calls; i++) {
		struct media_playback *pb = rig.call[i].playback;

		if (pb)
			BENCH_OK(media_playback_write(
				pb, rig.speech + (media_playback_written(pb) + i * 7919) % SPEECH,
				RATE));
	}
	tmr_start(rig.feed, NS_PER_S);
}

static void say(void)
{
	for (unsigned i = rig.first; i < rig.first + rig.calls; i++)
		BENCH_OK(media_playback_open(&rig.call[i].playback, rig.call[i].call, RATE,
					     on_playback, NULL));
	for (unsigned s = 0; s < AHEAD_S; s++)
		on_feed(NULL);
	printf("ok\n");
}

static void hush(void)
{
	tmr_stop(rig.feed);
	for (unsigned i = rig.first; i < rig.first + rig.calls; i++)
		rig.call[i].playback = media_playback_free(rig.call[i].playback);
	printf("ok\n");
}

static void on_line(evutil_socket_t fd, short what, void *arg)
{
	char line[64];
	ssize_t n = read((int)fd, line, sizeof line - 1);

	(void)what, (void)arg;
	if (n <= 0) {
		env_stop(rig.env);
		return;
	}
	line[n] = '\0';
	if (!strcmp(line, "count\n"))
		printf("%" PRIu64 "\n", rig.heard);
	else if (!strcmp(line, "say\n"))
		say();
	else if (!strcmp(line, "hush\n"))
		hush();
	else
		bench_die("not understood: %s", line);
	fflush(stdout);
}

static void open_call(unsigned i)
{
	struct media_want want = {.guild = far_end_guild(i),
				  .channel = far_end_guild(i),
				  .bitrate = 64000,
				  .consent = true};

	BENCH_OK(media_call_open(&rig.call[i].call, rig.media, &want, on_call, NULL));
	for (unsigned s = 0; s < rig.speakers; s++)
		BENCH_OK(media_call_listen(rig.call[i].call, far_end_user(i, s), RATE, 700));
}

/* A handful at a time, so that none waits too long for its answers. */
static void open_next(void)
{
	while (rig.opened < rig.calls && rig.opened < rig.ready + AT_ONCE)
		open_call(rig.first + rig.opened++);
}

int main(int argc, char **argv)
{
	const char *socks[] = {argc > 1 ? argv[1] : NULL, NULL};
	struct media_conf mc = {.socks = socks, .user = USER, .epoch = 1, .wantsh = on_wants};
	struct env_conf ec = {.loop = true};
	struct event *in;

	if (argc != 6 || sodium_init() < 0)
		bench_die("usage: listener SOCKET ENDPOINT FIRST CALLS SPEAKERS");
	rig.endpoint = argv[2];
	rig.first = (unsigned)atoi(argv[3]);
	rig.calls = (unsigned)atoi(argv[4]);
	rig.speakers = (unsigned)atoi(argv[5]);
	if (rig.first + rig.calls > FAR_END_CALLS)
		bench_die("too many calls");
	log_init("listener", LOG_WARN_);
	signal(SIGPIPE, SIG_IGN);
	speech_make(rig.speech, SPEECH, RATE, 1);
	memcpy(rig.speech + SPEECH, rig.speech, sizeof rig.speech / 2);
	BENCH_OK(env_alloc(&rig.env, &ec));
	BENCH_OK(tmr_alloc(&rig.feed, rig.env, on_feed, NULL));
	BENCH_OK(media_alloc(&rig.media, rig.env, &mc));
	open_next();
	in = event_new(env_base(rig.env), STDIN_FILENO, EV_READ | EV_PERSIST, on_line, NULL);
	if (!in || event_add(in, NULL))
		bench_die("out of memory");
	env_run(rig.env);
	for (unsigned i = rig.first; i < rig.first + rig.opened; i++) {
		media_playback_free(rig.call[i].playback);
		media_call_free(rig.call[i].call);
	}
	event_free(in);
	media_free(rig.media);
	tmr_free(rig.feed);
	env_free(rig.env);
	return 0;
}
