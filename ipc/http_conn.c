/* A connection: reads and parses requests, sends queued bytes, keeps deadlines. Belongs to the
 * shell and runs between steps. */
#include "ipc/env.h"
#include "ipc/http_inside.h"
#include "ipc/log.h"
#include "proto/base/cursor.h"
#include "proto/base/time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINGER_MS = 2000, LINGER_BYTES = 1 << 20, BYTES_A_SECOND = 64 << 10, WATCH_END = 0x1000 };

static void set_deadline(struct http_exchange *x, uint64_t when)
{
	x->deadline = when;
	http_server_wake_at(x->s, when);
}

static void set_deadline_ms(struct http_exchange *x, uint32_t ms)
{
	set_deadline(x, http_clock() + ms * NS_PER_MS);
}

/* ---- steps ---- */

void http_conn_deliver(struct http_exchange *x, enum http_input kind, struct http_text head,
		       const void *p, size_t n)
{
	struct http_server *s = x->s;
	struct wr w = wr_of(s->record, sizeof s->record);

	wr_be(&w, x->slot, 4);
	wr_bytes(&w, head.p, head.n);
	wr_bytes(&w, p, n);
	s->delivering = x;
	env_deliver(s->env, s->source, (uint8_t)kind, s->record, w.pos);
	s->delivering = NULL;
	/* Bodies hold secrets and pictures of people. */
	explicit_bzero(s->record, w.pos);
}

static void deliver_request(struct http_exchange *x, const uint8_t *p, size_t n)
{
	char head[1 + sizeof x->address];
	size_t len = strlen(x->address);

	head[0] = (char)len;
	memcpy(head + 1, x->address, len);
	http_conn_deliver(x, HTTP_IN_REQUEST, (struct http_text){head, 1 + len}, p, n);
}

static void deliver_body(struct http_exchange *x, const uint8_t *p, size_t n, bool last)
{
	const char head = last;

	http_conn_deliver(x, HTTP_IN_BODY, (struct http_text){&head, 1}, p, n);
}

/* Answers the request by the server itself, and ends the connection. */
static void refuse_request(struct http_exchange *x, int status)
{
	const char head[2] = {(char)(status >> 8), (char)status};

	x->state = HTTP_CONN_LINGER;
	http_conn_deliver(x, HTTP_IN_REFUSED, (struct http_text){head, sizeof head}, NULL, 0);
}

void http_conn_close(struct http_exchange *x)
{
	if (x->active)
		http_conn_deliver(x, HTTP_IN_GONE, (struct http_text){0}, NULL, 0);
	http_exchange_free(x);
}

/* ---- sending ---- */

/* Drops sent bytes once they are most of the buffer: a client that reads for ever, but never all,
 * costs no more than the bytes that wait for it. */
static void forget_sent(struct http_exchange *x)
{
	size_t waiting = http_out_waiting(x);

	if (x->out_at < waiting)
		return;
	memmove(x->out.p, x->out.p + x->out_at, waiting);
	x->out.n = waiting;
	x->out_at = 0;
}

bool http_conn_flush(struct http_exchange *x)
{
	while (http_out_waiting(x)) {
		ssize_t k = send(x->fd, x->out.p + x->out_at, http_out_waiting(x), MSG_NOSIGNAL);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0 && errno == EAGAIN) {
			forget_sent(x);
			return true;
		}
		if (k < 0)
			return false;
		x->out_at += (size_t)k;
		x->sent += (uint64_t)k;
	}
	http_bytes_free(&x->out);
	x->out_at = 0;
	return true;
}

/* ---- reading ---- */

/* Begins to read a head. */
static void enter_head(struct http_exchange *x)
{
	x->state = HTTP_CONN_HEAD;
	x->waits_since = http_clock();
	x->seen = 0;
	x->deadline = 0;
}

/* Derives the connection's state from the exchange after the step of a request or of a body. */
static void settle_state(struct http_exchange *x)
{
	if (x->events)
		x->state = HTTP_CONN_STREAM;
	else if (x->active && x->bodyh && !x->body_whole)
		x->state = HTTP_CONN_BODY;
	else if (x->active || x->upgradeh)
		x->state = HTTP_CONN_BUSY;
	else if (x->last)
		x->state = HTTP_CONN_LINGER;
	else
		enter_head(x);
}

/* The bytes are the connection's own: those that were received, or those that it kept. */
static void hide_cookies(const struct http_head *head)
{
	for (unsigned i = 0; i < head->n_fields; i++)
		if (http_text_like(head->fields[i].name, "Cookie"))
			memset((char *)(uintptr_t)head->fields[i].value.p, '*',
			       head->fields[i].value.n);
}

/* The status that refuses the head in the same step, or 0. Of an invalid head nothing is delivered
 * where secrets are hidden: they could be anywhere in it, and a journal holds what is delivered. */
static int check_head(const struct http_exchange *x, const uint8_t *p, size_t n)
{
	const struct http_server_conf *c = &x->s->conf;
	struct http_head head;
	int status;

	if (!c->checkh && !c->hide_cookies)
		return 0;
	status = http_head_parse(&head, (const char *)p, n);
	if (status)
		return status;
	status = c->checkh ? c->checkh(&head, c->arg) : 0;
	if (c->hide_cookies)
		hide_cookies(&head);
	return status;
}

/* Takes a head from n bytes and returns its length; 0: more bytes are needed, or the connection no
 * longer reads. */
static size_t take_head(struct http_exchange *x, const uint8_t *p, size_t n)
{
	long len = http_head_find((const char *)p, n, &x->seen);
	int status;

	if (len < 0) {
		refuse_request(x, 400);
		return 0;
	}
	if (len > HTTP_HEAD_MAX || (!len && n > HTTP_HEAD_MAX)) {
		refuse_request(x, 431);
		return 0;
	}
	if (!len)
		return 0;
	status = check_head(x, p, (size_t)len);
	if (status) {
		refuse_request(x, status);
		return 0;
	}
	x->seen = 0;
	deliver_request(x, p, (size_t)len);
	x->body_came = x->body_earned = 0;
	x->deadline = 0;
	http_body_init(&x->decoder, x->chunked, x->length);
	settle_state(x);
	return (size_t)len;
}

/* Takes bytes of the body and returns how many of n belonged to it. */
static size_t take_body(struct http_exchange *x, const uint8_t *p, size_t n)
{
	const uint8_t *data;
	size_t len;
	long k = http_body_feed(&x->decoder, p, n, &data, &len);

	if (k < 0) {
		refuse_request(x, 400);
		return 0;
	}
	x->body_came += len;
	if (x->body_came > x->body_max) {
		refuse_request(x, 413);
		return 0;
	}
	if (len || http_body_ended(&x->decoder))
		deliver_body(x, data, len, http_body_ended(&x->decoder));
	settle_state(x);
	return (size_t)k;
}

/* Parses as many of n bytes as possible; returns how many. */
static size_t parse_bytes(struct http_exchange *x, const uint8_t *p, size_t n)
{
	unsigned requests = 0;
	size_t at = 0, k = 1;

	while (k && at < n && !x->broken) {
		if (x->state == HTTP_CONN_HEAD) {
			if (requests++ == HTTP_REQUESTS_A_TURN ||
			    http_out_waiting(x) > HTTP_OUT_HIGH) {
				http_mark_dirty(x);
				break;
			}
			k = take_head(x, p + at, n - at);
		} else if (x->state == HTTP_CONN_BODY && !x->held) {
			k = take_body(x, p + at, n - at);
		} else {
			break;
		}
		at += k;
	}
	/* Nothing that comes behind the last request counts. */
	return x->state == HTTP_CONN_STREAM || x->state == HTTP_CONN_LINGER ? n : at;
}

/* Keeps the unparsed bytes, in exactly as much memory as they need. */
static void keep_rest(struct http_exchange *x, const uint8_t *p, size_t n)
{
	struct http_bytes rest = {0};

	if (n && !http_bytes_add(&rest, p, n))
		x->broken = true;
	http_bytes_free(&x->in);
	x->in = rest;
}

/* ---- events of the socket ---- */

static void on_in(evutil_socket_t fd, short what, void *arg);

static void on_out(evutil_socket_t fd, short what, void *arg)
{
	struct http_exchange *x = arg;

	(void)fd;
	(void)what;
	http_conn_turn(x);
}

/* While the connection does not read, it watches the client's end edge-triggered: unread bytes
 * would otherwise trigger again and again, and EV_CLOSED alone does not report a reset. */
static short wanted_events(const struct http_exchange *x)
{
	switch (x->state) {
	case HTTP_CONN_HEAD:
		return http_out_waiting(x) > HTTP_OUT_HIGH ? WATCH_END : EV_READ;
	case HTTP_CONN_BODY:
		return x->held ? WATCH_END : EV_READ;
	case HTTP_CONN_LINGER:
		return EV_READ;
	default:
		return WATCH_END;
	}
}

/* Both events of a descriptor must use the same trigger mode. */
static bool assign_events(struct http_exchange *x, short want)
{
	struct event_base *base = env_base(x->s->env);
	short in = want == WATCH_END ? EV_READ | EV_CLOSED | EV_ET : EV_READ;
	short out = want == WATCH_END ? EV_WRITE | EV_ET : EV_WRITE;

	event_del(x->in_ev);
	event_del(x->out_ev);
	x->out_waits = false;
	x->watching = want;
	if (event_assign(x->in_ev, base, x->fd, in | EV_PERSIST, on_in, x) ||
	    event_assign(x->out_ev, base, x->fd, out | EV_PERSIST, on_out, x))
		return false;
	event_priority_set(x->in_ev, http_priority(x->s));
	event_priority_set(x->out_ev, http_priority(x->s));
	return !event_add(x->in_ev, NULL);
}

static bool watch_socket(struct http_exchange *x)
{
	short want = wanted_events(x);
	bool waits = http_out_waiting(x) > 0 || x->more_events;

	if (want != x->watching && !assign_events(x, want))
		return false;
	if (waits == x->out_waits)
		return true;
	x->out_waits = waits;
	return (waits ? event_add(x->out_ev, NULL) : event_del(x->out_ev)) == 0;
}

/* After the response was sent, shuts down the sending side and reads away what still arrives: a
 * close with unread bytes would discard the response (RFC 9112 section 9.6). */
static void linger_close(struct http_exchange *x)
{
	if (http_out_waiting(x)) {
		x->deadline = 0;
	} else if (!x->half_closed) {
		x->half_closed = true;
		shutdown(x->fd, SHUT_WR);
		set_deadline_ms(x, LINGER_MS);
	}
}

/* Bytes that the client's side has not acknowledged. */
static uint64_t bytes_in_socket(const struct http_exchange *x)
{
	int n = 0;

	return ioctl(x->fd, SIOCOUTQ, &n) || n < 0 ? 0 : (uint64_t)n;
}

static uint64_t bytes_taken(const struct http_exchange *x)
{
	uint64_t in_socket = bytes_in_socket(x);

	return x->sent > in_socket ? x->sent - in_socket : 0;
}

static void start_out_deadline(struct http_exchange *x)
{
	x->taken_before = bytes_taken(x);
	x->taken_goal = x->sent + http_out_waiting(x);
	x->out_deadline = http_clock() + x->s->conf.write_ms * NS_PER_MS;
	http_server_wake_at(x->s, x->out_deadline);
}

/* A reader of events for whom nothing is queued may still have left all of it in its socket. */
static bool bytes_wait(const struct http_exchange *x)
{
	return http_out_waiting(x) || x->more_events ||
	       (x->state == HTTP_CONN_STREAM && bytes_in_socket(x));
}

static void renew_out_deadline(struct http_exchange *x)
{
	if (!x->out_deadline && (http_out_waiting(x) || x->more_events))
		start_out_deadline(x);
	else if (x->out_deadline && !bytes_wait(x))
		x->out_deadline = 0;
}

/* True if the client took too little since the deadline was set: neither what waited then nor
 * HTTP_OUT_MIN bytes of it. */
static bool client_too_slow(const struct http_exchange *x)
{
	uint64_t taken = bytes_taken(x);

	return taken < x->taken_goal && taken < x->taken_before + HTTP_OUT_MIN;
}

static void renew_deadlines(struct http_exchange *x)
{
	const struct http_server_conf *c = &x->s->conf;

	switch (x->state) {
	case HTTP_CONN_HEAD:
		/* The deadline of a head starts with its first byte. */
		if (http_out_waiting(x) > HTTP_OUT_HIGH)
			x->deadline = 0;
		else if (!x->in.n)
			set_deadline_ms(x, x->read_any ? c->idle_ms : c->head_ms);
		else if (!x->deadline)
			set_deadline_ms(x, c->head_ms);
		break;
	case HTTP_CONN_BODY:
		if (x->held)
			x->deadline = 0;
		else if (!x->deadline)
			set_deadline_ms(x, x->body_ms ? x->body_ms : c->body_ms);
		break;
	case HTTP_CONN_STREAM:
		if (!x->deadline)
			set_deadline_ms(x, c->heartbeat_ms);
		break;
	case HTTP_CONN_LINGER:
		linger_close(x);
		break;
	case HTTP_CONN_BUSY:
		x->deadline = 0;
		break;
	}
	renew_out_deadline(x);
}

/* ---- turns ---- */

static void hand_over_socket(struct http_exchange *x)
{
	http_upgrade_h *h = x->upgradeh;
	void *arg = x->upgrade_arg;
	struct http_bytes head = x->handover;
	int fd = x->fd;

	x->handover = (struct http_bytes){0};
	if (!http_bytes_add(&head, x->in.p, x->in.n)) {
		http_bytes_free(&head);
		http_conn_close(x);
		return;
	}
	event_del(x->in_ev);
	event_del(x->out_ev);
	x->fd = -1;
	http_exchange_free(x);
	h(fd, (const char *)head.p, head.n, arg);
	http_bytes_free(&head);
}

static bool conn_is_idle(const struct http_exchange *x)
{
	return x->state == HTTP_CONN_HEAD && !x->in.n && !http_out_waiting(x);
}

/* Brings the connection up to date after a step, or after bytes of the client. */
static void update_connection(struct http_exchange *x)
{
	if (x->broken || !http_conn_flush(x) || (x->events && !http_events_flush(x))) {
		http_conn_close(x);
		return;
	}
	/* The answers to what the client asked before go first. */
	if (x->upgradeh && !http_out_waiting(x)) {
		hand_over_socket(x);
		return;
	}
	renew_deadlines(x);
	if ((x->s->draining && conn_is_idle(x)) || !watch_socket(x))
		http_conn_close(x);
}

void http_conn_turn(struct http_exchange *x)
{
	/* A stream may have ended, or a response may have been completed later. */
	if (x->state == HTTP_CONN_BUSY || x->state == HTTP_CONN_STREAM ||
	    x->state == HTTP_CONN_BODY)
		settle_state(x);
	if (!http_conn_flush(x)) {
		http_conn_close(x);
		return;
	}
	if (x->in.n && ((x->state == HTTP_CONN_BODY && !x->held) ||
			(x->state == HTTP_CONN_HEAD && http_out_waiting(x) <= HTTP_OUT_HIGH))) {
		size_t taken;

		x->seen = 0;
		taken = parse_bytes(x, x->in.p, x->in.n);
		keep_rest(x, x->in.p + taken, x->in.n - taken);
	}
	update_connection(x);
}

static void look_for_end(struct http_exchange *x, short what)
{
	int err = 0;
	socklen_t n = sizeof err;

	if (what & EV_CLOSED || getsockopt(x->fd, SOL_SOCKET, SO_ERROR, &err, &n) || err)
		http_conn_close(x);
}

static void on_in(evutil_socket_t fd, short what, void *arg)
{
	struct http_exchange *x = arg;
	uint8_t *buf = x->s->scratch;
	size_t have = x->in.n, taken;
	ssize_t k;

	if (x->watching == WATCH_END) {
		look_for_end(x, what);
		return;
	}
	/* Earlier requests still wait for their turn. */
	if (x->dirty) {
		http_conn_turn(x);
		return;
	}
	if (have)
		memcpy(buf, x->in.p, have);
	k = recv(fd, buf + have, HTTP_READ_MAX - have, 0);
	if (k < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (k <= 0) {
		http_conn_close(x);
		return;
	}
	if (x->state == HTTP_CONN_LINGER) {
		explicit_bzero(buf, (size_t)k);
		x->lingered += (uint64_t)k;
		if (x->lingered > LINGER_BYTES)
			http_conn_close(x);
		return;
	}
	if (x->state == HTTP_CONN_HEAD && !have)
		x->deadline = 0;
	x->read_any = true;
	taken = parse_bytes(x, buf, have + (size_t)k);
	keep_rest(x, buf + taken, have + (size_t)k - taken);
	explicit_bzero(buf, have + (size_t)k);
	update_connection(x);
}

void http_conn_late(struct http_exchange *x, uint64_t now)
{
	uint64_t grown;

	/* It was answered, and its turn comes in this turn of the loop. */
	if (x->dirty)
		return;
	if (x->out_deadline && x->out_deadline <= now) {
		if (client_too_slow(x)) {
			http_conn_close(x);
			return;
		}
		x->out_deadline = 0;
		if (!x->deadline || x->deadline > now) {
			update_connection(x);
			return;
		}
	}
	switch (x->state) {
	case HTTP_CONN_HEAD:
		if (!x->in.n) {
			http_conn_close(x);
			return;
		}
		refuse_request(x, 408);
		break;
	case HTTP_CONN_BODY:
		/* Received bytes extend the deadline. */
		grown = x->body_came / BYTES_A_SECOND * 1000;
		if (grown > x->body_earned) {
			set_deadline(x, x->deadline + (grown - x->body_earned) * NS_PER_MS);
			x->body_earned = grown;
			return;
		}
		refuse_request(x, 408);
		break;
	case HTTP_CONN_STREAM:
		set_deadline_ms(x, x->s->conf.heartbeat_ms);
		if (!x->out_deadline && bytes_wait(x))
			start_out_deadline(x);
		if (!http_out_waiting(x) && !http_bytes_add(&x->out, ":\n\n", 3))
			x->broken = true;
		break;
	case HTTP_CONN_LINGER:
		http_conn_close(x);
		return;
	case HTTP_CONN_BUSY:
		x->deadline = 0;
		return;
	}
	update_connection(x);
}

int http_conn_open(struct http_exchange *x, int fd)
{
	struct event_base *base = env_base(x->s->env);

	x->fd = fd;
	x->in_ev = event_new(base, fd, EV_READ, on_in, x);
	x->out_ev = event_new(base, fd, EV_WRITE, on_out, x);
	if (!x->in_ev || !x->out_ev)
		return ENOMEM;
	enter_head(x);
	renew_deadlines(x);
	return watch_socket(x) ? 0 : ENOMEM;
}
