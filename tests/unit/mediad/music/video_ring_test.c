#include "mediad/music/video_ring.h"

#include <signal.h>
#include <stdalign.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

static alignas(65536) uint8_t memory[VIDEO_RING_MEMORY];
static uint8_t sent[VIDEO_RING_UNIT_MAX], got[VIDEO_RING_UNIT_MAX];

struct pair {
	struct video_ring *reader, *writer;
};

static int make_pair(struct pair *p)
{
	int err = video_ring_alloc(&p->reader, memory);

	if (!err)
		err = video_ring_alloc(&p->writer, memory);
	if (!err)
		video_ring_reset(p->reader);
	return err;
}

static void free_pair(struct pair *p)
{
	video_ring_free(p->reader);
	video_ring_free(p->writer);
}

static struct video_unit unit_of(unsigned n)
{
	for (size_t i = 0; i < 64; i++)
		sent[i] = (uint8_t)(n + i);
	return (struct video_unit){.at_us = n * UINT64_C(33333),
				   .key = n % 30 == 0,
				   .n = 1 + n * 977 % VIDEO_RING_UNIT_MAX};
}

static bool is_same(const struct video_unit *u, const struct video_unit *want)
{
	size_t n = want->n < 64 ? want->n : 64;

	return u->at_us == want->at_us && u->key == want->key && u->n == want->n &&
	       memcmp(got, sent, n) == 0;
}

TEST(video_ring_keeps_units_whole_and_in_order)
{
	struct video_unit u, want;
	struct pair p;

	CHECK_INT(make_pair(&p), 0);
	CHECK_INT(video_ring_read(p.reader, &u, got), EAGAIN);
	/* Far more than the ring holds, so that units lie across its end. */
	for (unsigned i = 0; i < 200; i++) {
		want = unit_of(i * 37);
		CHECK(video_ring_write(p.writer, &want, sent));
		CHECK_INT(video_ring_read(p.reader, &u, got), 0);
		CHECK(is_same(&u, &want));
	}
	CHECK(!video_ring_ended(p.reader));
	video_ring_end(p.writer);
	CHECK(video_ring_ended(p.reader));
	free_pair(&p);
}

TEST(video_ring_takes_units_until_it_is_full)
{
	const struct video_unit unit = {.n = VIDEO_RING_UNIT_MAX};
	struct video_unit u;
	struct pair p;
	unsigned n = 0;

	CHECK_INT(make_pair(&p), 0);
	CHECK(!video_ring_rests(p.reader));
	while (video_ring_write(p.writer, &unit, sent))
		n++;
	CHECK_INT(n, 3);
	CHECK(video_ring_rests(p.reader));
	CHECK_INT(video_ring_read(p.reader, &u, got), 0);
	CHECK(video_ring_write(p.writer, &unit, sent));
	/* A writer that died leaves what it wrote. */
	video_ring_cut(p.reader);
	for (unsigned i = 0; i < 3; i++)
		CHECK(!video_ring_ended(p.reader) && !video_ring_read(p.reader, &u, got));
	CHECK(video_ring_ended(p.reader));
	free_pair(&p);
}

/* What a hostile process may write into its part of the memory. */
TEST(video_ring_trusts_no_index_and_no_size)
{
	const struct video_unit unit = {.n = 100};
	struct video_unit u;
	struct pair p;
	uint64_t *written = (uint64_t *)memory;

	CHECK_INT(make_pair(&p), 0);
	*written = UINT64_MAX;
	CHECK_INT(video_ring_read(p.reader, &u, got), EPROTO);
	*written = 0;
	CHECK_INT(video_ring_read(p.reader, &u, got), EPROTO);
	video_ring_reset(p.reader);
	*written = 5; /* less than a head */
	CHECK_INT(video_ring_read(p.reader, &u, got), EPROTO);
	for (uint32_t n = 101; n; n = n == 101 ? UINT32_MAX : 0) {
		video_ring_free(p.writer);
		CHECK_INT(video_ring_alloc(&p.writer, memory), 0);
		video_ring_reset(p.reader);
		CHECK(video_ring_write(p.writer, &unit, sent));
		memcpy(memory + 64 + 8, &n, sizeof n);
		CHECK_INT(video_ring_read(p.reader, &u, got), EPROTO);
	}
	free_pair(&p);
}

/* What the visualizer draws comes the other way, in memory that its process cannot write to. */
TEST(video_ring_feeds_its_writer)
{
	struct analysis a = {.bands = {1}}, out;
	uint64_t taken = 0;
	struct pair p;

	CHECK_INT(make_pair(&p), 0);
	CHECK(!video_ring_take(p.writer, &taken, &out));
	for (uint8_t i = 1; i <= 3; i++) {
		a.bands[0] = i;
		video_ring_feed(p.reader, &a);
	}
	for (uint8_t i = 1; i <= 3; i++)
		CHECK(video_ring_take(p.writer, &taken, &out) && out.bands[0] == i);
	CHECK(!video_ring_take(p.writer, &taken, &out));
	/* Who was away gets the newest one. */
	for (unsigned i = 0; i < 100; i++) {
		a.bands[0] = (uint8_t)i;
		video_ring_feed(p.reader, &a);
	}
	CHECK(video_ring_take(p.writer, &taken, &out) && out.bands[0] == 99);
	CHECK(!video_ring_take(p.writer, &taken, &out));
	free_pair(&p);
	/* On replay there is no memory. */
	CHECK_INT(video_ring_alloc(&p.reader, NULL), 0);
	video_ring_feed(p.reader, &a);
	CHECK(!video_ring_take(p.reader, &taken, &out));
	video_ring_free(p.reader);
}

TEST(video_ring_guards_the_readers_index)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		if (video_ring_guard(memory))
			_exit(1);
		*(volatile uint64_t *)memory = 1;
		*(volatile uint64_t *)(memory + VIDEO_RING_READER) = 1;
		_exit(2);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status));
}

TEST_OOM(video_ring_without_memory)
{
	struct video_ring *r = NULL;

	CHECK_OOM(video_ring_alloc(&r, memory), (void)0);
	CHECK_INT(video_ring_alloc(&r, memory + 1), EINVAL);
	video_ring_free(r);
}
