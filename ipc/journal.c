#include "ipc/journal.h"

#include "proto/base/cursor.h"
#include "proto/base/time.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	RING_BYTES = 4 << 20, /* a thread; a power of two */
	REC_HEAD = 4 + 8 + 8 + 1 + 1 + 4 + 1,
	DRAIN_MS = 10,
	MAX_THREADS = 64,
};

/* Bytes between one producer and the writer; head and tail run freely. A record is published whole.
 */
struct byte_ring {
	uint8_t *buf;
	_Alignas(64) atomic_size_t head;
	_Alignas(64) atomic_size_t tail;
};

struct journal {
	int fd;
	unsigned n;
	bool shapes;
	char *meta;
	struct byte_ring *rings;
	atomic_uint_fast64_t order;
	atomic_bool broken;
	atomic_bool stop;
	pthread_t writer;
	bool running;
	bool failed; /* writer's own: the file took no more, a record in it may be cut */
};

static void put(struct byte_ring *r, size_t *head, const void *p, size_t n)
{
	size_t at = *head & (RING_BYTES - 1), first = RING_BYTES - at;

	if (first > n)
		first = n;
	if (first)
		memcpy(r->buf + at, p, first);
	if (n > first)
		memcpy(r->buf, (const uint8_t *)p + first, n - first);
	*head += n;
}

void journal_write(struct journal *j, uint8_t thread, const struct journal_record *record)
{
	size_t len = record->len;
	struct byte_ring *r;
	uint8_t rec[REC_HEAD];
	struct wr w = wr_of(rec, sizeof rec);
	size_t head, tail;

	/* The number is taken by the consumer of an input, after its producer's: so the order holds
	 * across threads. */
	uint64_t order = atomic_fetch_add(&j->order, 1);

	if (thread >= j->n || atomic_load_explicit(&j->broken, memory_order_relaxed))
		return;
	r = &j->rings[thread];
	head = atomic_load_explicit(&r->head, memory_order_relaxed);
	tail = atomic_load_explicit(&r->tail, memory_order_acquire);
	if (len > RING_BYTES || RING_BYTES - (head - tail) < REC_HEAD + len) {
		atomic_store(&j->broken, true);
		return;
	}
	wr_be(&w, REC_HEAD - 4 + len, 4);
	wr_be(&w, order, 8);
	wr_be(&w, record->now, 8);
	wr_be(&w, thread, 1);
	wr_be(&w, record->what, 1);
	wr_be(&w, record->source, 4);
	wr_be(&w, record->kind, 1);
	put(r, &head, rec, sizeof rec);
	put(r, &head, record->data, len);
	atomic_store_explicit(&r->head, head, memory_order_release);
}

static int write_all(int fd, const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return errno;
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

static void drain(struct journal *j)
{
	for (unsigned i = 0; i < j->n; i++) {
		struct byte_ring *r = &j->rings[i];
		size_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
		size_t head = atomic_load_explicit(&r->head, memory_order_acquire);

		while (tail != head) {
			size_t at = tail & (RING_BYTES - 1), n = head - tail;

			if (n > RING_BYTES - at)
				n = RING_BYTES - at;
			if (!j->failed && write_all(j->fd, r->buf + at, n)) {
				j->failed = true;
				atomic_store(&j->broken, true);
			}
			explicit_bzero(r->buf + at, n); /* it may hold a lease or a key */
			tail += n;
		}
		atomic_store_explicit(&r->tail, tail, memory_order_release);
	}
}

static void (*writer_starts)(void);

void journal_on_writer(void (*h)(void))
{
	writer_starts = h;
}

static void *writer(void *arg)
{
	struct journal *j = arg;
	const struct timespec pause = {.tv_nsec = (long)(DRAIN_MS * NS_PER_MS)};

	if (writer_starts)
		writer_starts();
	while (!atomic_load(&j->stop)) {
		drain(j);
		nanosleep(&pause, NULL);
	}
	drain(j);
	return NULL;
}

static int write_first_lines(int fd, const char *first, const char *meta)
{
	int err = write_all(fd, (const uint8_t *)first, strlen(first));

	if (!err)
		err = write_all(fd, (const uint8_t *)meta, strlen(meta));
	return err ? err : write_all(fd, (const uint8_t *)"\n", 1);
}

static int create(struct journal **out, const char *path, unsigned threads, const char *meta,
		  bool shapes)
{
	struct journal *j;
	int err = 0;

	if (!out || !path || !threads || threads > MAX_THREADS || !meta || strchr(meta, '\n'))
		return EINVAL;
	j = calloc(1, sizeof *j);
	if (!j)
		return ENOMEM;
	j->n = threads;
	j->shapes = shapes;
	j->meta = strdup(meta);
	if (!j->meta) {
		free(j);
		return ENOMEM;
	}
	j->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (j->fd < 0 || fchmod(j->fd, 0600)) {
		err = errno;
		goto out;
	}
	j->rings = aligned_alloc(64, threads * sizeof *j->rings);
	if (!j->rings) {
		err = ENOMEM;
		goto out;
	}
	memset(j->rings, 0, threads * sizeof *j->rings);
	for (unsigned i = 0; i < threads && !err; i++) {
		j->rings[i].buf = malloc(RING_BYTES);
		err = j->rings[i].buf ? 0 : ENOMEM;
		/* Touched here, so that an audio thread takes no page fault later. */
		if (!err)
			memset(j->rings[i].buf, 0, RING_BYTES);
	}
	if (!err)
		err = write_first_lines(
			j->fd, shapes ? JOURNAL_FIRST_LINE_SHAPES "\n" : JOURNAL_FIRST_LINE "\n",
			meta);
	if (!err)
		err = pthread_create(&j->writer, NULL, writer, j);
	j->running = !err;
out:
	if (err)
		journal_free(j);
	else
		*out = j;
	return err;
}

int journal_create(struct journal **out, const char *path, unsigned threads, const char *meta)
{
	return create(out, path, threads, meta, false);
}

int journal_create_shapes(struct journal **out, const char *path, unsigned threads,
			  const char *meta)
{
	return create(out, path, threads, meta, true);
}

const char *journal_meta_line(const struct journal *j)
{
	return j->meta;
}

bool journal_of_shapes(const struct journal *j)
{
	return j->shapes;
}

struct journal *journal_free(struct journal *j)
{
	if (!j)
		return NULL;
	if (j->running) {
		atomic_store(&j->stop, true);
		pthread_join(j->writer, NULL);
		if (atomic_load(&j->broken) && !j->failed) {
			uint8_t rec[REC_HEAD] = {0, 0, 0, REC_HEAD - 4};

			rec[4 + 8 + 8 + 1] = JOURNAL_BROKEN;
			write_all(j->fd, rec, sizeof rec);
		}
	}
	for (unsigned i = 0; j->rings && i < j->n; i++)
		free(j->rings[i].buf);
	free(j->rings);
	free(j->meta);
	if (j->fd >= 0)
		close(j->fd);
	free(j);
	return NULL;
}

bool journal_broken(const struct journal *j)
{
	return atomic_load(&j->broken);
}

void journal_lose(struct journal *j)
{
	atomic_store(&j->broken, true);
}
