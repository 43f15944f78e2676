/* Datagrams that the kernel drops, with real sockets over loopback: those that were received and
 * those that were dropped are all that were sent. */
#include "mediad/engine/overflow.h"

#include <netinet/in.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/env_replay.h"
#include "mediad/engine/audio_thread.h"
#include "proto/base/time.h"
#include "tests/test.h"

enum { FLOOD = 300, SOURCE_COMMAND = 1 };

static struct {
	struct audio_thread *t;
	struct call_stream *cs;
	int to; /* the voice server's end */
	uint64_t now;
} rig;

static uint64_t read_clock(void *arg)
{
	(void)arg;
	return rig.now += 1000;
}

static void command(struct cmd c)
{
	c.stream = rig.cs;
	CHECK(audio_thread_push(rig.t, &c));
	env_replay_step(audio_thread_env(rig.t), rig.now, SOURCE_COMMAND, 0, NULL, 0);
}

/* Makes a session whose socket has room for a few datagrams. */
static void link_socket(void)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct sockaddr_in from = sa;
	socklen_t n = sizeof sa;
	int in = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), room = 4096;

	rig.to = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	CHECK_INT(bind(rig.to, (struct sockaddr *)&from, sizeof from), 0);
	CHECK_INT(getsockname(rig.to, (struct sockaddr *)&from, &n), 0);
	CHECK_INT(connect(in, (struct sockaddr *)&from, sizeof from), 0);
	CHECK_INT(getsockname(in, (struct sockaddr *)&sa, &n), 0);
	CHECK_INT(connect(rig.to, (struct sockaddr *)&sa, sizeof sa), 0);
	CHECK_INT(setsockopt(in, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), 0);
	overflow_watch(in);
	command((struct cmd){.type = CMD_LINK, .link = {.fd = in, .link = 1, .ssrc = 40}});
}

static void flood(unsigned n)
{
	static const uint8_t datagram[500];

	while (n--)
		CHECK_INT(send(rig.to, datagram, sizeof datagram, 0), sizeof datagram);
	for (unsigned i = 0; i < 20; i++)
		audio_thread_turn(rig.t);
}

/* The kernel tells the count with the datagram after the drops. */
TEST(audio_thread_counts_datagrams_that_the_kernel_dropped)
{
	uint64_t before;

	rig.now = 1000 * NS_PER_S;
	CHECK_INT(audio_thread_alloc(&rig.t, 1, false, NULL), 0);
	env_replay_clock(audio_thread_env(rig.t), read_clock, NULL);
	CHECK_INT(call_stream_alloc(&rig.cs, NULL, 64000), 0);
	command((struct cmd){.type = CMD_STREAM_ADD});
	link_socket();
	flood(1);
	CHECK_INT(rig.cs->stats.kernel_dropped, 0);
	flood(FLOOD);
	flood(1);
	CHECK(rig.cs->stats.kernel_dropped > FLOOD / 2);
	CHECK_INT(rig.cs->stats.received + rig.cs->stats.kernel_dropped, FLOOD + 2);
	/* The count of another socket begins at 0. */
	before = rig.cs->stats.kernel_dropped;
	close(rig.to);
	link_socket();
	flood(1);
	CHECK_INT(rig.cs->stats.kernel_dropped, before);
	for (unsigned i = 0; i < 2; i++) {
		flood(FLOOD);
		flood(1);
	}
	CHECK_INT(rig.cs->stats.received + rig.cs->stats.kernel_dropped, 3 * FLOOD + 5);
	close(rig.to);
	audio_thread_free(rig.t);
}

TEST(call_stream_reads_no_overflow_that_is_too_short)
{
	struct call_stream *cs;

	CHECK_INT(call_stream_alloc(&cs, NULL, 64000), 0);
	cs->linked = true;
	call_stream_note_overflow(cs, (const uint8_t *)"\0\0\7", 3);
	CHECK_INT(cs->stats.kernel_dropped, 0);
	/* It wraps. */
	cs->overflow = UINT32_MAX - 1;
	call_stream_note_overflow(cs, (const uint8_t *)"\0\0\0\3", 4);
	CHECK_INT(cs->stats.kernel_dropped, 5);
	call_stream_free(cs);
}
