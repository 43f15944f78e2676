#include "mediad/decoder/fetcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/jail/jail.h"
#include "mediad/decoder/fence.h"
#include "mediad/decoder/fetcher_inside.h"
#include "proto/base/time.h"

enum {
	NOTHING_FD = 2,
	FIRST_CLOSED = 3,
	SKIP_MAX = 64 << 10, /* bytes that are read and dropped rather than requested again */
	WAIT_MS = 1000,
};

/* ---- requests ---- */

static void send_answer(struct fetcher *f, size_t length)
{
	struct range_answer *a = &f->answer;

	a->size = f->live ? RANGE_UNKNOWN : f->size;
	a->begin = f->segments ? (int64_t)segments_begin(f->segments) : RANGE_UNKNOWN;
	a->lasts = f->segments ? (int64_t)segments_length(f->segments) : 0;
	a->length = (uint32_t)length;
	a->reason = length ? 0 : (uint8_t)f->failure;
	a->seekable = f->seekable && !f->live;
	f->asked = false;
	if (send(REQUESTS_FD, a, offsetof(struct range_answer, data) + length, MSG_NOSIGNAL) < 0)
		_exit(EXIT_SUCCESS);
}

/* Drops what is before the asked offset from the window. */
static void move_window(struct fetcher *f)
{
	size_t drop;

	if (f->ask.offset <= f->offset)
		return;
	drop = f->ask.offset - f->offset < f->n ? (size_t)(f->ask.offset - f->offset) : f->n;
	memmove(f->bytes, f->bytes + drop, f->n - drop);
	f->offset += drop;
	f->n -= drop;
}

/* Copies what of these n bytes at an offset was asked for into the answer; returns its length. */
static size_t copy_kept(struct fetcher *f, uint64_t offset, const uint8_t *bytes, size_t n)
{
	uint64_t from = f->ask.offset - offset;

	if (f->ask.offset < offset || from >= n)
		return 0;
	n -= (size_t)from;
	n = n < f->ask.length ? n : f->ask.length;
	memcpy(f->answer.data, bytes + from, n);
	return n;
}

/* Answers from what is kept, or that the source ends there, while the transfer goes on. After the
 * beginning what follows it is requested. Returns false if the window is to answer, or if nothing
 * is kept of that place. */
static bool answer_from_kept(struct fetcher *f)
{
	bool at_end = f->seekable && f->size > 0 && f->ask.offset >= (uint64_t)f->size;
	size_t n;

	if (f->failure || (f->ask.offset >= f->offset && f->ask.offset <= f->offset + f->n))
		return false;
	n = copy_kept(f, 0, f->head, f->n_head);
	if (n && !f->segments && f->offset > f->n_head && (int64_t)f->n_head != f->size)
		fetcher_start_transfer(f, f->n_head);
	if (!n)
		n = copy_kept(f, f->tail_at, f->tail, f->n_tail);
	if (!n && !at_end)
		return false;
	send_answer(f, n);
	return true;
}

/* An honest decoder does not seek where it was told that it cannot, but once to the beginning. */
static void seek_source(struct fetcher *f)
{
	if (f->segments) {
		f->failure = DECODER_REASON_NOT_SEEKABLE;
		return;
	}
	f->tail_at = f->ask.offset;
	f->n_tail = 0;
	fetcher_start_transfer(f, f->ask.offset);
}

/* Answers the request if that is possible now. */
static void try_answer(struct fetcher *f)
{
	size_t n;

	if (!f->ask.length) {
		if (f->known || f->ended || f->failure)
			send_answer(f, 0);
		return;
	}
	if (answer_from_kept(f))
		return;
	if (!f->failure &&
	    (f->ask.offset < f->offset || f->ask.offset > f->offset + f->n + SKIP_MAX))
		seek_source(f);
	move_window(f);
	if (f->n && f->ask.offset == f->offset) {
		n = f->n < f->ask.length ? f->n : f->ask.length;
		memcpy(f->answer.data, f->bytes, n);
		f->ask.offset += n;
		move_window(f);
		send_answer(f, n);
	} else if (f->ended || f->failure) {
		send_answer(f, 0);
	}
}

static void read_request(struct fetcher *f)
{
	ssize_t n = recv(REQUESTS_FD, &f->ask, sizeof f->ask, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != sizeof f->ask || f->ask.length > RANGE_MAX)
		_exit(EXIT_SUCCESS);
	f->asked = true;
	fetcher_send_titles(f);
}

/* When there is something to do that nobody else wakes us for; 0: never. A source that has failed,
 * or whose sound nobody takes, waits for the decoder. */
static uint64_t next_time(const struct fetcher *f)
{
	if (f->failure)
		return 0;
	return f->retry.at ? f->retry.at : fetcher_wants_segments(f) ? f->look_at : 0;
}

/* Milliseconds until there may be more to read. */
static int count_wait(const struct fetcher *f)
{
	uint64_t at = next_time(f), now = at ? fetcher_clock() : 0;

	if (!at || at >= now + WAIT_MS * NS_PER_MS)
		return WAIT_MS;
	return at > now ? (int)((at - now) / NS_PER_MS) + 1 : 0;
}

static _Noreturn void serve_requests(struct fetcher *f)
{
	for (;;) {
		struct curl_waitfd wait = {.fd = REQUESTS_FD,
					   .events = f->asked ? 0 : CURL_WAIT_POLLIN};

		fetcher_try_again(f);
		fetcher_read_segments(f);
		curl_multi_poll(f->multi, &wait, 1, count_wait(f), NULL);
		if (!f->asked)
			read_request(f);
		if (f->running)
			fetcher_run_transfer(f);
		while (f->asked) {
			try_answer(f);
			if (f->asked)
				break;
			read_request(f);
		}
	}
}

/* ---- the process ---- */

static int keep_descriptors(const struct fetcher_start *s)
{
	int requests = fcntl(s->requests, F_DUPFD, FIRST_CLOSED),
	    titles = fcntl(s->titles, F_DUPFD, FIRST_CLOSED), nothing = open("/dev/null", O_RDWR);

	if (requests < 0 || titles < 0 || nothing < 0 || dup2(nothing, NOTHING_FD) < 0 ||
	    dup2(requests, REQUESTS_FD) < 0 || dup2(titles, TITLES_FD) < 0)
		return errno;
	return close_range(FIRST_CLOSED, ~0u, 0) ? errno : 0;
}

static int enter_fence(const struct fetcher_start *s, pid_t parent)
{
	uint16_t ports[HTTP_GUARD_PORTS_MAX];

	return fence_enter(parent, ports, http_guard_ports(s->guard, ports));
}

static void run_fetcher(const void *start, pid_t parent)
{
	const struct fetcher_start *s = start;
	struct fetcher *f = calloc(1, sizeof *f);

	if (!f || munmap(s->rings, s->rings_size) ||
	    (s->videos && munmap(s->videos, s->videos_size)) || keep_descriptors(s) ||
	    enter_fence(s, parent))
		_exit(EXIT_FAILURE);
	f->start = s;
	f->size = RANGE_UNKNOWN;
	f->watch.guard = s->guard;
	f->multi = curl_multi_init();
	f->easy = curl_easy_init();
	f->aliases = curl_slist_append(NULL, "ICY 200 OK");
	if (!f->multi || !f->easy || !f->aliases || strlen(s->url) >= sizeof f->url)
		_exit(EXIT_FAILURE);
	strcpy(f->url, s->url);
	strcpy(f->named, s->url);
	fetcher_start_transfer(f, 0);
	serve_requests(f);
}

int fetcher_prepare(void)
{
	return curl_global_init(CURL_GLOBAL_DEFAULT) ? ENOMEM : 0;
}

int fetcher_fork(pid_t *out, const struct fetcher_start *start)
{
	return jail_fork(out, run_fetcher, start);
}
