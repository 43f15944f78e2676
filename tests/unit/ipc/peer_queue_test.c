/* The send queue of a peer against a plain list of frames, on random walks. */
#include "ipc/peer_queue.h"

#include <errno.h>

#include "ipc/frame.h"
#include "proto/base/cursor.h"
#include "tests/test.h"

enum { FLOWS = 5, FRAMES = 4096, STEPS = 20000, CAP = 3000 };

/* What the audio lane should hold, the oldest first. A frame begins with its number. */
static struct {
	struct peer_queue q;
	struct {
		uint32_t number, flow;
		size_t n;
	} frames[FRAMES]; /* flow 0: it may not be dropped */
	unsigned n, dropped;
	uint32_t next;
	bool wrong;
	uint32_t sheds_for;
} walk;

static uint32_t draw(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % below;
}

static size_t bytes_of(uint32_t flow)
{
	size_t sum = 0;

	for (unsigned i = 0; i < walk.n; i++)
		if (walk.frames[i].flow == flow)
			sum += walk.frames[i].n;
	return sum;
}

static void forget(unsigned i)
{
	memmove(walk.frames + i, walk.frames + i + 1, (--walk.n - i) * sizeof walk.frames[0]);
}

/* The flow that sends loses its own oldest frame, else the one with most bytes does. */
static void on_drop(const uint8_t *body, size_t len, void *arg)
{
	struct rd r = rd_of(body, len);
	uint32_t number = (uint32_t)rd_be(&r, 4), flow = 0;
	unsigned i = 0;

	(void)arg;
	while (i < walk.n && walk.frames[i].number != number)
		i++;
	if (i == walk.n || !(flow = walk.frames[i].flow)) {
		walk.wrong = true;
		return;
	}
	for (unsigned k = 0; k < i; k++)
		walk.wrong |= walk.frames[k].flow == flow;
	if (walk.sheds_for && bytes_of(walk.sheds_for))
		walk.wrong |= flow != walk.sheds_for;
	else
		for (uint32_t other = 1; other <= FLOWS; other++)
			walk.wrong |= bytes_of(other) > bytes_of(flow);
	forget(i);
	walk.dropped++;
}

static bool add(uint32_t flow, size_t len)
{
	uint8_t body[200] = {0};
	struct wr w = wr_of(body, sizeof body);
	unsigned before = walk.dropped, n;

	walk.sheds_for = flow;
	n = peer_queue_shed(&walk.q, flow, FRAME_HEAD + len, CAP, on_drop, NULL);
	if (n != walk.dropped - before)
		return false;
	if (walk.q.lane[PEER_AUDIO].bytes + FRAME_HEAD + len > CAP)
		return true;
	wr_be(&w, walk.next, 4);
	if (peer_queue_add(&walk.q, PEER_AUDIO, flow != 0, flow, body, len))
		return false;
	walk.frames[walk.n].number = walk.next++;
	walk.frames[walk.n].flow = flow;
	walk.frames[walk.n++].n = FRAME_HEAD + len;
	return true;
}

/* The kernel takes the first frame. */
static bool take(void)
{
	struct iovec iov;
	struct rd r;

	if (!peer_queue_peek(&walk.q, &iov, 1))
		return !walk.n;
	r = rd_of((const uint8_t *)iov.iov_base + FRAME_HEAD, iov.iov_len - FRAME_HEAD);
	if (!walk.n || iov.iov_len != walk.frames[0].n || rd_be(&r, 4) != walk.frames[0].number)
		return false;
	peer_queue_took(&walk.q, iov.iov_len);
	forget(0);
	return true;
}

TEST(peer_queue_sheds_the_oldest_of_the_right_flow)
{
	uint32_t seed = 7;

	memset(&walk, 0, sizeof walk);
	peer_queue_init(&walk.q);
	for (unsigned i = 0; i < STEPS && !walk.wrong; i++) {
		bool stalls = i / 500 % 2; /* the other side takes few */

		if (draw(&seed, stalls ? 20 : 2))
			CHECK(add(draw(&seed, FLOWS + 1), 4 + draw(&seed, 190)));
		else
			CHECK(take());
		CHECK(walk.q.n_flows <= FLOWS);
	}
	CHECK(!walk.wrong);
	CHECK(walk.dropped > 1000);
	while (walk.n)
		CHECK(take());
	CHECK(peer_queue_empty(&walk.q));
	CHECK_INT(walk.q.n_flows, 0);
	peer_queue_clear(&walk.q);
}

TEST_OOM(peer_queue_without_memory)
{
	struct peer_queue q;
	int err = 0;

	peer_queue_init(&q);
	for (uint32_t flow = 1; !err && flow < 40; flow++)
		err = peer_queue_add(&q, PEER_AUDIO, true, flow, "x", 1);
	if (err)
		CHECK_INT(err, ENOMEM);
	peer_queue_clear(&q);
	CHECK_OOM(err, (void)0);
}
