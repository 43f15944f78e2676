#include "mediad/music/track_ring.h"

#include <pthread.h>
#include <stdalign.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/test.h"
#include "tests/unit/mediad/engine/present.h"

static alignas(4096) uint8_t memory[TRACK_RING_MEMORY];

struct pair {
	struct track_ring *reader, *writer;
};

static int make_pair(struct pair *p)
{
	int err = track_ring_alloc(&p->reader, memory);

	if (!err)
		err = track_ring_alloc(&p->writer, memory);
	if (!err)
		track_ring_reset(p->reader);
	return err;
}

static void free_pair(struct pair *p)
{
	track_ring_free(p->reader);
	track_ring_free(p->writer);
}

/* Frame n of a test track. */
static int16_t left(uint64_t n)
{
	return (int16_t)(n * 7);
}

static size_t write_frames(struct track_ring *w, uint64_t from, size_t frames)
{
	int16_t pcm[2 * 960];
	size_t done = 0;

	while (done < frames) {
		size_t n = frames - done < 960 ? frames - done : 960, put;

		for (size_t i = 0; i < n; i++) {
			pcm[2 * i] = left(from + done + i);
			pcm[2 * i + 1] = (int16_t)~left(from + done + i);
		}
		put = track_ring_write(w, pcm, n);
		done += put;
		if (put < n)
			break;
	}
	return done;
}

/* Returns the frames that follow `from` as they should, up to `frames`. */
static size_t read_frames(struct track_ring *r, uint64_t from, size_t frames)
{
	int16_t pcm[2 * 960];
	size_t done = 0;

	while (done < frames) {
		size_t n = frames - done < 960 ? frames - done : 960, got = 0;

		if (track_ring_read(r, pcm, n, &got) || !got)
			break;
		for (size_t i = 0; i < got; i++, done++)
			if (pcm[2 * i] != left(from + done) ||
			    pcm[2 * i + 1] != (int16_t)~left(from + done))
				return done;
	}
	return done;
}

TEST(track_ring_keeps_order_around_its_end)
{
	struct pair p = {0};
	uint64_t at = 0;

	CHECK_INT(make_pair(&p), 0);
	for (int round = 0; round < 7; round++) {
		CHECK_INT(write_frames(p.writer, at, 55001), 55001);
		CHECK_INT(track_ring_ready(p.reader), 55001);
		CHECK_INT(read_frames(p.reader, at, 55001), 55001);
		at += 55001;
	}
	CHECK_INT(track_ring_ready(p.reader), 0);
	free_pair(&p);
}

TEST(track_ring_takes_no_more_than_it_holds)
{
	struct pair p = {0};

	CHECK_INT(make_pair(&p), 0);
	CHECK_INT(track_ring_room(p.writer), TRACK_RING_FRAMES);
	CHECK_INT(write_frames(p.writer, 0, TRACK_RING_FRAMES + 5000), TRACK_RING_FRAMES);
	CHECK_INT(track_ring_room(p.writer), 0);
	CHECK_INT(read_frames(p.reader, 0, 100), 100);
	CHECK_INT(track_ring_room(p.writer), 100);
	CHECK_INT(read_frames(p.reader, 100, TRACK_RING_FRAMES), TRACK_RING_FRAMES - 100);
	free_pair(&p);
}

TEST(track_ring_end_comes_after_the_last_frame)
{
	struct pair p = {0};

	CHECK_INT(make_pair(&p), 0);
	CHECK_INT(write_frames(p.writer, 0, 1000), 1000);
	CHECK_INT(read_frames(p.reader, 0, 1000), 1000);
	CHECK(!track_ring_ended(p.reader));
	CHECK_INT(write_frames(p.writer, 1000, 10), 10);
	track_ring_end(p.writer);
	CHECK(!track_ring_ended(p.reader));
	CHECK_INT(read_frames(p.reader, 1000, 10), 10);
	CHECK(track_ring_ended(p.reader));
	track_ring_reset(p.reader);
	CHECK(!track_ring_ended(p.reader));
	free_pair(&p);
}

TEST(track_ring_of_no_frames_ends_at_once)
{
	struct pair p = {0};

	CHECK_INT(make_pair(&p), 0);
	track_ring_end(p.writer);
	CHECK(track_ring_ended(p.reader));
	free_pair(&p);
}

TEST(track_ring_is_cut_where_its_writer_died)
{
	struct pair p = {0};

	CHECK_INT(make_pair(&p), 0);
	CHECK_INT(write_frames(p.writer, 0, 500), 500);
	track_ring_cut(p.reader);
	CHECK(!track_ring_ended(p.reader));
	CHECK_INT(read_frames(p.reader, 0, 500), 500);
	CHECK(track_ring_ended(p.reader));
	free_pair(&p);
}

/* One that says that it is at its end has to go: it would hold its track for ever. */
TEST(track_ring_writer_rests_when_full)
{
	struct pair p = {0};

	CHECK_INT(make_pair(&p), 0);
	CHECK(!track_ring_rests(p.reader));
	CHECK_INT(write_frames(p.writer, 0, TRACK_RING_FRAMES), TRACK_RING_FRAMES);
	CHECK(track_ring_rests(p.reader));
	CHECK_INT(track_ring_written(p.reader), TRACK_RING_FRAMES);
	CHECK_INT(read_frames(p.reader, 0, 1), 1);
	CHECK(!track_ring_rests(p.reader));
	track_ring_end(p.writer);
	CHECK(!track_ring_rests(p.reader));
	free_pair(&p);
}

/* The first word of the memory is the index of frames written. */
static void set_written(uint64_t n)
{
	memcpy(memory, &n, sizeof n);
}

TEST(track_ring_refuses_hostile_indices)
{
	static const uint64_t false_indices[] = {1999, TRACK_RING_FRAMES + 2001, UINT64_MAX,
						 UINT64_MAX / 2, INT64_MAX};

	for (size_t i = 0; i < sizeof false_indices / sizeof false_indices[0]; i++) {
		struct pair p = {0};
		int16_t pcm[2 * 960];
		size_t got = 77;

		CHECK_INT(make_pair(&p), 0);
		CHECK_INT(write_frames(p.writer, 0, 4000), 4000);
		CHECK_INT(read_frames(p.reader, 0, 2000), 2000);
		set_written(false_indices[i]);
		CHECK_INT(track_ring_ready(p.reader), 0);
		CHECK_INT(track_ring_read(p.reader, pcm, 960, &got), EPROTO);
		CHECK_INT(got, 77);
		set_written(4000);
		CHECK_INT(track_ring_read(p.reader, pcm, 960, &got), EPROTO);
		track_ring_reset(p.reader);
		CHECK_INT(track_ring_read(p.reader, pcm, 960, &got), 0);
		CHECK_INT(got, 0);
		free_pair(&p);
	}
}

/* A hostile writer's index of frames read moves nothing at the reader. */
TEST(track_ring_reader_trusts_its_own_index)
{
	struct pair p = {0};
	const uint64_t false_index = 3;

	CHECK_INT(make_pair(&p), 0);
	CHECK_INT(write_frames(p.writer, 0, 4000), 4000);
	CHECK_INT(read_frames(p.reader, 0, 2000), 2000);
	memcpy(memory + TRACK_RING_READER, &false_index, sizeof false_index);
	CHECK_INT(read_frames(p.reader, 2000, 4000), 2000);
	free_pair(&p);
}

TEST(track_ring_without_memory_stays_empty)
{
	struct track_ring *r = NULL;
	int16_t pcm[2];
	size_t got = 1;

	CHECK_INT(track_ring_alloc(&r, NULL), 0);
	track_ring_reset(r);
	track_ring_cut(r);
	CHECK_INT(track_ring_read(r, pcm, 1, &got), 0);
	CHECK_INT(got, 0);
	CHECK(!track_ring_ended(r));
	track_ring_free(r);
}

enum { THREAD_FRAMES = 400000 };

static void *write_all(void *writer)
{
	uint64_t at = 0;

	while (at < THREAD_FRAMES) {
		size_t n = THREAD_FRAMES - at < 1111 ? (size_t)(THREAD_FRAMES - at) : 1111;

		at += write_frames(writer, at, n);
	}
	track_ring_end(writer);
	return NULL;
}

TEST(track_ring_passes_sound_between_threads)
{
	struct pair p = {0};
	pthread_t thread;
	uint64_t at = 0;

	CHECK_INT(make_pair(&p), 0);
	CHECK_INT(pthread_create(&thread, NULL, write_all, p.writer), 0);
	while (!track_ring_ended(p.reader))
		at += read_frames(p.reader, at, 960);
	pthread_join(thread, NULL);
	CHECK_INT(at, THREAD_FRAMES);
	free_pair(&p);
}

TEST_OOM(track_ring_survives_failing_allocation)
{
	struct track_ring *r = NULL;

	CHECK_INT(track_ring_alloc(&r, memory + 1), EINVAL);
	CHECK_OOM(track_ring_alloc(&r, memory), );
	track_ring_free(r);
	CHECK(track_ring_free(NULL) == NULL);
}

/* A station sends sound as fast as it plays: a second of it outlasts a pause of the network. */
TEST(track_ring_is_buffered)
{
	struct pair p = {0};
	uint64_t n = 0;

	CHECK_INT(make_pair(&p), 0);
	track_ring_buffer(p.reader, 48000);
	CHECK_INT(write_frames(p.writer, 0, 47999), 47999);
	CHECK_INT(read_frames(p.reader, 0, 960), 0);
	CHECK_INT(write_frames(p.writer, 47999, 1), 1);
	for (; n < 48000; n += 960)
		CHECK_INT(read_frames(p.reader, n, 960), 960);
	/* It has run empty. */
	CHECK_INT(read_frames(p.reader, n, 960), 0);
	CHECK_INT(write_frames(p.writer, n, 40000), 40000);
	CHECK_INT(read_frames(p.reader, n, 960), 0);
	CHECK(!track_ring_ended(p.reader));
	track_ring_end(p.writer);
	for (; n < 88000 - 960; n += 960)
		CHECK_INT(read_frames(p.reader, n, 960), 960);
	track_ring_reset(p.reader);
	free_pair(&p);
	/* The next track is none. */
	CHECK_INT(make_pair(&p), 0);
	CHECK_INT(write_frames(p.writer, 0, 960), 960);
	CHECK_INT(read_frames(p.reader, 0, 960), 960);
	free_pair(&p);
}

/* Again for the next track, after the memory was given back. */
TEST(track_ring_pages_are_present)
{
	void *shared = mmap(NULL, TRACK_RING_MEMORY, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const size_t sound = TRACK_RING_READER - 65536;
	struct track_ring *r = NULL;
	unsigned all = 0;

	CHECK(shared != MAP_FAILED);
	CHECK_INT(track_ring_alloc(&r, shared), 0);
	for (int track = 0; track < 2; track++) {
		CHECK_INT(present_pages(shared, TRACK_RING_MEMORY, NULL), 0);
		track_ring_reset(r);
		track_ring_populate(r);
		CHECK_INT(present_pages(shared, sound, &all), all);
		CHECK_INT(all, sound / PRESENT_PAGE);
		CHECK_INT(present_pages((uint8_t *)shared + TRACK_RING_READER,
					TRACK_RING_MEMORY - TRACK_RING_READER, &all),
			  all);
		/* What nobody watches takes no memory. */
		CHECK_INT(present_pages((uint8_t *)shared + sound, TRACK_RING_READER - sound, NULL),
			  0);
		CHECK_INT(madvise(shared, TRACK_RING_MEMORY, MADV_REMOVE), 0);
	}
	track_ring_free(r);
	munmap(shared, TRACK_RING_MEMORY);
	/* There is no memory on replay. */
	CHECK_INT(track_ring_alloc(&r, NULL), 0);
	track_ring_populate(r);
	track_ring_free(r);
}

TEST(track_ring_carries_analyses_while_they_are_watched)
{
	const struct analysis made = {.bands = {7}, .wave = {-3}, .scope = {{1, 2}}};
	const uint64_t place = (uint64_t)ANALYSIS_STEP * 70;
	struct analysis got = {0};
	struct pair p = {0};

	CHECK_INT(make_pair(&p), 0);
	CHECK(!track_ring_watched(p.writer));
	track_ring_watch(p.reader, true);
	CHECK(track_ring_watched(p.writer));
	CHECK(!track_ring_analysis(p.reader, 0, &got));
	track_ring_put_analysis(p.writer, place, &made);
	CHECK(track_ring_analysis(p.reader, place, &got));
	CHECK(memcmp(&got, &made, sizeof got) == 0);
	/* Not those of another place, whatever the writer says, nor those of the track before. */
	CHECK(!track_ring_analysis(p.reader, place - 64 * ANALYSIS_STEP, &got));
	CHECK(!track_ring_analysis(p.reader, place + 1, &got));
	track_ring_reset(p.reader);
	CHECK(!track_ring_watched(p.writer));
	CHECK(!track_ring_analysis(p.reader, place, &got));
	free_pair(&p);
	/* On replay there is no memory. */
	CHECK_INT(track_ring_alloc(&p.reader, NULL), 0);
	track_ring_watch(p.reader, true);
	track_ring_put_analysis(p.reader, 0, &made);
	CHECK(!track_ring_watched(p.reader) && !track_ring_analysis(p.reader, 0, &got));
	CHECK(!track_ring_taken(p.reader) && !track_ring_copy(p.reader, 0, NULL, 1));
	track_ring_free(p.reader);
}

/* A hostile writer puts anything anywhere: a place is a place of this ring, and bytes are bytes. */
TEST(track_ring_bounds_analyses_of_a_hostile_writer)
{
	struct analysis got = {0};
	struct pair p = {0};

	CHECK_INT(make_pair(&p), 0);
	track_ring_watch(p.reader, true);
	memset(memory, 0xff, TRACK_RING_READER);
	for (uint64_t i = 0; i < 200; i++)
		CHECK(!track_ring_analysis(p.reader, i * ANALYSIS_STEP, &got));
	CHECK(!track_ring_analysis(p.reader, UINT64_MAX / ANALYSIS_STEP * ANALYSIS_STEP, &got));
	memset(memory, 0, TRACK_RING_READER);
	free_pair(&p);
}

TEST(track_ring_copies_what_was_written)
{
	int16_t pcm[2 * 960];
	struct pair p = {0};

	CHECK_INT(make_pair(&p), 0);
	CHECK_INT(write_frames(p.writer, 0, 1000), 1000);
	CHECK_INT(track_ring_copy(p.writer, 900, pcm, 960), 100);
	CHECK_INT(pcm[0], left(900));
	CHECK_INT(track_ring_copy(p.writer, 1001, pcm, 960), 0);
	CHECK_INT(read_frames(p.reader, 0, 1000), 1000);
	CHECK_INT(track_ring_taken(p.writer), 1000);
	/* What was read stays until it is written over. */
	CHECK_INT(track_ring_copy(p.writer, 0, pcm, 960), 960);
	CHECK_INT(write_frames(p.writer, 1000, TRACK_RING_FRAMES), TRACK_RING_FRAMES);
	CHECK_INT(track_ring_copy(p.writer, 999, pcm, 960), 0);
	CHECK_INT(track_ring_copy(p.writer, 1000, pcm, 960), 960);
	CHECK_INT(pcm[0], left(1000));
	free_pair(&p);
}
