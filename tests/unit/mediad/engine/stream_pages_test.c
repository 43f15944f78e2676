/* What the loop thread lends is present in memory, so that its first use on the audio thread takes
 * no page fault. */
#include <malloc.h>
#include <stdlib.h>

#include "mediad/engine/audio_thread.h"
#include "mediad/engine/call_stream.h"
#include "tests/test.h"
#include "tests/unit/mediad/engine/present.h"

/* Memory that earlier tests have left, taken so that nobody else gets it. */
enum { USED_MAX = 8192, USED = 3 * PRESENT_PAGE };
static struct {
	void *used[USED_MAX];
	unsigned n;
} heap;

static void allocate_as_before(void)
{
	while (heap.n)
		free(heap.used[--heap.n]);
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	mallopt(M_TOP_PAD, 128 << 10);
}

/* Memory that was used before is present by chance, so each allocation from this size on gets fresh
 * pages. Where another allocator serves, as under sanitizers, this returns false and the test is
 * skipped. */
static bool allocate_fresh_pages(void)
{
	mallopt(M_MMAP_THRESHOLD, 8192);
	mallopt(M_TOP_PAD, 0);
	malloc_trim(0);
	while (heap.n < USED_MAX) {
		void *p = calloc(1, USED);

		if (!p)
			break;
		heap.used[heap.n++] = p;
		if (!present_pages(p, USED, NULL))
			return true;
	}
	allocate_as_before();
	test_skip("memory is not of the C library's own allocator, so that it may be present by "
		  "chance");
	return false;
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
