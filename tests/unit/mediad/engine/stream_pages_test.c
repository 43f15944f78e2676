/* What the loop thread lends is present in memory, so that its first use on the audio thread takes
 * no page fault. */
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mediad/engine/audio_thread.h"
#include "mediad/engine/call_stream.h"
#include "tests/test.h"
#include "tests/unit/mediad/engine/present.h"

/* Memory that was used before is present by chance, so each allocation of this size gets fresh
 * pages. Returns false where another allocator serves. */
static bool allocate_fresh_pages(void)
{
	uint8_t *p;
	bool fresh;

	mallopt(M_MMAP_THRESHOLD, 8192);
	mallopt(M_TOP_PAD, 0);
	malloc_trim(0); /* what is left of the heap would do */
	p = calloc(8, PRESENT_PAGE);
	fresh = p && present_pages(p, (size_t)8 * PRESENT_PAGE, NULL) == 0;
	free(p);
	return fresh;
}

static void allocate_as_before(void)
{
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	mallopt(M_TOP_PAD, 128 << 10);
}

static void check_present(const void *p, size_t n)
{
	unsigned all = 0, present = present_pages(p, n, &all);

	CHECK(all > 0);
	CHECK_INT(present, all);
}

TEST(call_stream_pages_are_present_when_it_is_lent)
{
	struct call_stream *cs = NULL;

	if (!allocate_fresh_pages())
		return;
	CHECK_INT(call_stream_alloc(&cs, NULL, 64000), 0);
	check_present(cs, sizeof *cs);
	check_present(cs->left, CALL_STREAM_LEFT * sizeof *cs->left);
	call_stream_free(cs);
	allocate_as_before();
}

/* The buffers of datagrams and of music are part of it. */
TEST(audio_thread_pages_are_present_when_it_is_made)
{
	struct audio_thread *t = NULL;

	if (!allocate_fresh_pages())
		return;
	CHECK_INT(audio_thread_alloc(&t, 1, false, NULL), 0);
	check_present(t, malloc_usable_size(t));
	audio_thread_free(t);
	allocate_as_before();
}

static long faults(void)
{
	struct rusage r;

	getrusage(RUSAGE_THREAD, &r);
	return r.ru_minflt;
}

/* Writes to each page of it, and to each place of the ring of commands. Returns how many of these
 * writes took a page fault. */
static long use(struct audio_thread *t)
{
	const struct cmd cmd = {.type = CMD_SPEAKING_SENT};
	volatile uint8_t *p = (uint8_t *)t;
	long before = faults();

	for (size_t i = 0; i < malloc_usable_size(t); i += PRESENT_PAGE)
		p[i] = p[i];
	while (audio_thread_push(t, &cmd))
		;
	return faults() - before;
}

/* mediad starts its decoders after its audio threads. */
TEST(audio_thread_pages_outlast_a_fork)
{
	struct audio_thread *t = NULL;

	if (!allocate_fresh_pages())
		return;
	for (unsigned populated = 0; populated < 2; populated++) {
		pid_t child;

		CHECK_INT(audio_thread_alloc(&t, 1, false, NULL), 0);
		use(t); /* the code is there, too */
		t = audio_thread_free(t);
		CHECK_INT(audio_thread_alloc(&t, 1, false, NULL), 0);
		child = fork();
		if (child == 0)
			_exit(0);
		CHECK(waitpid(child, NULL, 0) == child);
		if (populated)
			audio_thread_populate(t);
		CHECK_INT(use(t) == 0, populated);
		t = audio_thread_free(t);
	}
	allocate_as_before();
}
