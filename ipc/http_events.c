/* Event streams: one ring, one more for what is fleeting, and a place in both for each reader.
 * Places move when sockets accept bytes, so they belong to the shell; a step reports to a reader
 * that the ring has overtaken it. */
#include "ipc/env.h"
#include "ipc/http_inside.h"
#include "proto/base/time.h"
#include "proto/http/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* What the kernel holds for a reader that reads nothing; it makes twice as much of it. Otherwise it
 * grows to megabytes (tcp_wmem). */
enum { SOCKET_BYTES = 16 << 10 };
enum { GATHER = 16 << 10, FLUSH_MAX = 64 << 10, LAST_ID_SIZE = 128 };
/* From one round to the next, for each reader: writing to one takes about 10 us, so that all of
 * them together take a fifth of the thread at most, however many events there are. */
enum { READER_NS = 50000, ROUND_NS_MAX = 100000000 };

struct http_events {
	struct env *env;
	uint32_t source; /* of the published events */
	struct sse_ring *ring;
	struct sse_ring *fleeting; /* NULL before the first */
	struct event *pump;	   /* NULL on replay */
	struct http_exchange *readers;
	struct http_exchange *at; /* the next reader of the round that runs; NULL: none runs */
	bool wanted;		  /* something was published since the last round began */
	bool *freed;		  /* told by http_events_free when the pump runs */
	unsigned n_readers;
	uint64_t next_round; /* not earlier; monotonic ns */
	uint64_t gaps;
	http_snapshot_h *snapshoth;
	void *arg;
};

static void ignore_input(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	(void)kind;
	(void)data;
	(void)len;
	(void)arg;
}

/* At once while a round runs; the next round when its time has come. */
static void wake_pump(struct http_events *e)
{
	uint64_t now = e->at ? 0 : http_clock();
	uint64_t wait = !e->at && e->next_round > now ? e->next_round - now : 0;
	const struct timeval tv = {(time_t)(wait / NS_PER_S),
				   (suseconds_t)(wait % NS_PER_S / 1000)};

	if (e->pump)
		event_add(e->pump, &tv);
}

static void begin_round(struct http_events *e)
{
	uint64_t length = (uint64_t)e->n_readers * READER_NS;

	e->wanted = false;
	e->at = e->readers;
	e->next_round = 0;
	/* A few wait for nothing. */
	if (e->n_readers > HTTP_READERS_A_TURN)
		e->next_round = http_clock() + (length < ROUND_NS_MAX ? length : ROUND_NS_MAX);
}

/* A few readers a turn of the loop, so that a thousand of them delay nobody. A round writes to each
 * of them what was published meanwhile, and reaches all before the next begins. */
static void on_pump(evutil_socket_t fd, short what, void *arg)
{
	struct http_events *e = arg;
	bool freed = false;

	(void)fd;
	(void)what;
	/* The loop's timers count from the time of its turn, which may be old. */
	if (!e->at && e->next_round > http_clock()) {
		wake_pump(e);
		return;
	}
	if (!e->at)
		begin_round(e);
	e->freed = &freed;
	for (unsigned i = 0; e->at && i < HTTP_READERS_A_TURN; i++) {
		struct http_exchange *x = e->at;

		e->at = x->next_reader;
		/* A reader with a full socket continues when it is writable. */
		if (!x->out_waits)
			http_conn_turn(x);
		/* By the gone handler of this reader. */
		if (freed)
			return;
	}
	e->freed = NULL;
	if (e->at || e->wanted)
		wake_pump(e);
}

int http_events_alloc(struct http_events **out, struct env *env, http_snapshot_h *h, void *arg)
{
	struct http_events *e = calloc(1, sizeof *e);
	uint32_t epoch;
	int err;

	if (!e)
		return ENOMEM;
	e->env = env;
	e->snapshoth = h;
	e->arg = arg;
	env_random(env, &epoch, sizeof epoch);
	err = sse_ring_alloc(&e->ring, epoch ? epoch : 1);
	if (!err)
		err = env_source_add(env, &e->source, ignore_input, e);
	if (!err && env_base(env) && !(e->pump = evtimer_new(env_base(env), on_pump, e)))
		err = ENOMEM;
	if (e->pump)
		event_priority_set(e->pump, ENV_LAST);
	if (err) {
		http_events_free(e);
		return err;
	}
	*out = e;
	return 0;
}

struct http_events *http_events_free(struct http_events *e)
{
	if (!e)
		return NULL;
	if (e->freed)
		*e->freed = true;
	while (e->readers) {
		struct http_exchange *x = e->readers;

		http_exchange_lose(x);
		http_mark_dirty(x);
	}
	if (e->pump)
		event_free(e->pump);
	env_source_del(e->env, e->source);
	sse_ring_free(e->ring);
	sse_ring_free(e->fleeting);
	free(e);
	return NULL;
}

void http_events_end(struct http_events *e, http_reader_h *h, void *arg)
{
	struct http_exchange *x = e->readers;

	while (x) {
		struct http_exchange *next = x->next_reader;

		if (h(x, arg)) {
			http_exchange_lose(x);
			http_mark_dirty(x);
		}
		x = next;
	}
}

unsigned http_events_readers(const struct http_events *e)
{
	return e->n_readers;
}

uint64_t http_events_key(const struct http_exchange *x)
{
	return x->filter.key;
}

unsigned http_events_keys(const struct http_events *e, uint64_t *keys, unsigned max)
{
	unsigned n = 0;

	for (const struct http_exchange *x = e->readers; x && n < max; x = x->next_reader) {
		unsigned i = 0;

		while (i < n && keys[i] != x->filter.key)
			i++;
		if (i == n)
			keys[n++] = x->filter.key;
	}
	return n;
}

uint64_t http_events_gaps(const struct http_events *e)
{
	return e->gaps;
}

/* ---- in steps ---- */

int http_events_tell(struct http_exchange *x, const char *name, const char *data, size_t n)
{
	char *text;
	size_t k;

	if (!x->events)
		return EINVAL;
	text = malloc(SSE_EVENT_MAX);
	if (!text) {
		/* Otherwise the reader would not know that it missed events. */
		x->broken = true;
		return ENOMEM;
	}
	k = sse_ring_format(x->events->ring, text, SSE_EVENT_MAX, name, data, n);
	if (k)
		http_exchange_send(x, text, k);
	free(text);
	return k ? 0 : EMSGSIZE;
}

/* The reader is up to date from here on. */
static void catch_up_reader(struct http_exchange *x, bool missed)
{
	struct http_events *e = x->events;

	if (missed) {
		e->gaps++;
		http_events_tell(x, "gap", "{}", 2);
	}
	x->at.kept = sse_ring_next(e->ring);
	if (e->snapshoth)
		e->snapshoth(x, e->arg);
}

void http_events_missed(struct http_exchange *x)
{
	if (x->events)
		catch_up_reader(x, true);
}

void http_events_join(struct http_events *e, struct http_exchange *x, const struct http_head *head,
		      const struct sse_filter *filter)
{
	static const struct sse_filter all = {.types = UINT64_MAX};
	char id[LAST_ID_SIZE];
	bool named = http_head_field(head, "last-event-id").n > 0;

	if (!x->active || x->begun)
		return;
	http_head_copy(head, "last-event-id", id, sizeof id);
	http_reply_stream_head(x, "text/event-stream; charset=utf-8");
	if (x->head_only) {
		x->goneh = NULL;
		http_exchange_lose(x);
		return;
	}
	if (x->fd >= 0)
		setsockopt(x->fd, SOL_SOCKET, SO_SNDBUF, &(int){SOCKET_BYTES}, sizeof(int));
	x->events = e;
	x->filter = filter ? *filter : all;
	x->next_reader = e->readers;
	x->at_reader = &e->readers;
	if (e->readers)
		e->readers->at_reader = &x->next_reader;
	e->readers = x;
	e->n_readers++;
	x->at.fleeting = e->fleeting ? sse_ring_next(e->fleeting) : 1;
	if (!sse_ring_resume(e->ring, id, strlen(id), &x->at.kept))
		catch_up_reader(x, named);
	http_exchange_drop_head(x);
	http_mark_dirty(x);
}

void http_events_leave(struct http_exchange *x)
{
	struct http_events *e = x->events;

	if (!e)
		return;
	if (e->at == x)
		e->at = x->next_reader;
	*x->at_reader = x->next_reader;
	if (x->next_reader)
		x->next_reader->at_reader = x->at_reader;
	x->next_reader = NULL;
	x->at_reader = NULL;
	x->events = NULL;
	x->more_events = false;
	e->n_readers--;
}

static int publish(struct http_events *e, struct sse_ring *ring, const struct sse_topic *topic,
		   const char *name, const char *data, size_t n)
{
	const char *text;
	size_t k;
	int err = sse_ring_add(ring, topic, name, data, n, &text, &k);

	if (err)
		return err;
	env_output(e->env, ENV_OUT_HTTP, e->source, text, k);
	if (!e->wanted && e->readers) {
		e->wanted = true;
		if (!e->at)
			wake_pump(e);
	}
	return 0;
}

int http_events_publish(struct http_events *e, const struct sse_topic *topic, const char *name,
			const char *data, size_t n)
{
	return publish(e, e->ring, topic, name, data, n);
}

int http_events_publish_fleeting(struct http_events *e, const struct sse_topic *topic,
				 const char *name, const char *data, size_t n)
{
	int err = e->fleeting ? 0 : sse_ring_alloc(&e->fleeting, 0);

	return err ? err : publish(e, e->fleeting, topic, name, data, n);
}

/* ---- the shell's side ---- */

/* The event at this place of a ring or the next one that this reader wants; false when there is
 * none. */
static bool ring_event(const struct sse_ring *ring, const struct http_exchange *x, uint64_t *cursor,
		       const char **text, size_t *n)
{
	*cursor = sse_ring_seek(ring, *cursor, &x->filter);
	return sse_ring_get(ring, *cursor, text, n);
}

/* The next event for a reader at this place, and its cursor: fleeting ones come behind all others.
 */
static bool next_event(const struct http_exchange *x, struct http_place *at, const char **text,
		       size_t *n, uint64_t **cursor)
{
	const struct sse_ring *fleeting = x->events->fleeting;

	*cursor = &at->kept;
	if (ring_event(x->events->ring, x, &at->kept, text, n))
		return true;
	if (!fleeting)
		return false;
	if (sse_ring_missed(fleeting, at->fleeting))
		at->fleeting = sse_ring_next(fleeting);
	*cursor = &at->fleeting;
	return ring_event(fleeting, x, &at->fleeting, text, n);
}

/* Copies as many events as fit, from the reader's place on. */
static size_t gather_events(const struct http_exchange *x, char *buf, size_t size)
{
	struct http_place at = x->at;
	const char *text;
	uint64_t *cursor;
	size_t n = 0, k;

	while (next_event(x, &at, &text, &k, &cursor) && k <= size - n) {
		memcpy(buf + n, text, k);
		n += k;
		++*cursor;
	}
	return n;
}

/* Moves the reader's place by `took` bytes that the socket accepted: queues the rest of a partly
 * sent event; later events are read from the rings again. */
static bool advance_place(struct http_exchange *x, size_t took)
{
	const char *text;
	uint64_t *cursor;
	size_t k;

	while (took && next_event(x, &x->at, &text, &k, &cursor)) {
		++*cursor;
		if (took < k)
			return http_bytes_add(&x->out, text + took, k - took);
		took -= k;
	}
	return true;
}

/* Returns 0, or the error that ended the connection; EAGAIN: the socket is full. */
static int send_events(struct http_exchange *x, size_t *sent)
{
	char buf[GATHER];
	const char *p = buf;
	size_t n = gather_events(x, buf, sizeof buf);
	uint64_t *cursor;
	ssize_t k;

	*sent = 0;
	if (!n && !next_event(x, &x->at, &p, &n, &cursor))
		return 0;
	do
		k = send(x->fd, p, n, MSG_NOSIGNAL);
	while (k < 0 && errno == EINTR);
	if (k < 0)
		return errno;
	*sent = (size_t)k;
	if (!advance_place(x, (size_t)k))
		return ENOMEM;
	return (size_t)k < n ? EAGAIN : 0;
}

bool http_events_flush(struct http_exchange *x)
{
	size_t total = 0, sent = 1;
	int err = 0;

	x->more_events = false;
	while (!err && sent && x->events && !http_out_waiting(x)) {
		if (sse_ring_missed(x->events->ring, x->at.kept)) {
			http_conn_deliver(x, HTTP_IN_MISSED, (struct http_text){0}, NULL, 0);
			if (x->broken || !http_conn_flush(x))
				return false;
			continue;
		}
		err = send_events(x, &sent);
		total += sent;
		x->sent += sent;
		x->more_events = err == EAGAIN;
		if (total > FLUSH_MAX) {
			http_mark_dirty(x);
			break;
		}
	}
	return !err || err == EAGAIN;
}
