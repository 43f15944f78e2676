/* The loop thread does not read its events. An audio thread leaves commands and datagrams where
 * they are before the event ring is full, so no event is lost. The loop runs in the test, without
 * its thread. */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/env_replay.h"
#include "mediad/engine/audio_thread.h"
#include "proto/base/time.h"
#include "tests/test.h"

enum { DATAGRAMS = 40, BATCH = 16, SSRC = 9 };

static struct {
	struct audio_thread *t;
	struct call_stream *stream;
	unsigned pushed, returned; /* keys */
} ring;

static uint64_t stand_still(void *arg)
{
	(void)arg;
	return 1000 * NS_PER_S;
}

static int start(void)
{
	struct cmd c = {.type = CMD_STREAM_ADD};
	int err;

	memset(&ring, 0, sizeof ring);
	err = audio_thread_alloc(&ring.t, 1, false, NULL);
	if (!err)
		err = call_stream_alloc(&ring.stream, NULL, 64000);
	if (err)
		return err;
	env_replay_clock(audio_thread_env(ring.t), stand_still, NULL);
	c.stream = ring.stream;
	return audio_thread_push(ring.t, &c) ? 0 : ENOSPC;
}

/* A stream without a session returns each key. Returns false when the command ring is full. */
static bool push_key(void)
{
	static const uint8_t bytes[RTPSIZE_KEY];
	struct cmd c = {.type = CMD_KEY, .stream = ring.stream};

	if (rtpsize_alloc(&c.key, RTPSIZE_XCHACHA20_POLY1305, bytes))
		abort();
	if (audio_thread_push(ring.t, &c)) {
		ring.pushed++;
		return true;
	}
	rtpsize_free(c.key);
	return false;
}

static void read_events(void)
{
	struct ev ev;

	while (audio_thread_pop(ring.t, &ev)) {
		ring.returned += ev.type == EV_KEY_GONE;
		ev_dispose(&ev);
	}
}

TEST(full_ring_leaves_commands)
{
	CHECK_INT(start(), 0);
	for (unsigned i = 0; i < 6; i++) {
		while (push_key())
			;
		audio_thread_turn(ring.t);
	}
	CHECK_INT(ring.stream->n_owed, 0);
	CHECK(audio_thread_waiting(ring.t) > THREAD_UP / 4);
	while (ring.returned < ring.pushed) {
		read_events();
		/* Without commands the turn would wait for ever. */
		CHECK(audio_thread_next(ring.t, stand_still(NULL)) < UINT64_MAX);
		audio_thread_turn(ring.t);
		read_events();
	}
	CHECK_INT(ring.returned, ring.pushed);
	CHECK_INT(ring.stream->n_owed, 0);
	audio_thread_free(ring.t);
}

static unsigned count_unread(int fd)
{
	uint8_t p[UDP_MAX_PACKET];
	unsigned n = 0;

	while (recv(fd, p, sizeof p, MSG_DONTWAIT) > 0)
		n++;
	return n;
}

/* The ring has just enough room at first, and the first datagram, an answer to IP discovery, makes
 * an event. The thread ends its batch and leaves the rest in the kernel. */
TEST(full_ring_leaves_datagrams)
{
	struct cmd c = {.type = CMD_LINK, .link = {.link = 1, .ssrc = SSRC}};
	uint8_t answer[DISCOVERY_SIZE] = {[1] = 2, [3] = 70, [7] = SSRC, [73] = 9};
	int fds[2];

	memcpy(answer + 8, "1.2.3.4", 7);
	CHECK_INT(start(), 0);
	while (ring.pushed < THREAD_UP - THREAD_ROOM_DATAGRAM)
		CHECK(push_key());
	audio_thread_turn(ring.t);
	CHECK_INT(audio_thread_waiting(ring.t), THREAD_UP - THREAD_ROOM_DATAGRAM);
	CHECK_INT(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
	c.stream = ring.stream;
	c.link.fd = fds[1];
	CHECK(audio_thread_push(ring.t, &c));
	audio_thread_turn(ring.t);
	for (unsigned i = 0; i < DATAGRAMS; i++)
		CHECK_INT(send(fds[0], answer, sizeof answer, 0), sizeof answer);
	CHECK(audio_thread_next(ring.t, stand_still(NULL)) < UINT64_MAX);
	audio_thread_turn(ring.t);
	CHECK_INT(count_unread(fds[1]), DATAGRAMS - BATCH);
	close(fds[0]);
	audio_thread_free(ring.t);
}
