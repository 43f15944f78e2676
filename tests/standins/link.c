#include "tests/standins/link.h"

#include "ipc/log.h"
#include "tests/standins/link_inside.h"
#include "tests/standins/record.h"

#include <errno.h>
#include <event2/buffer.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "proto/base/time.h"

enum { WRITE_MAX = 64 << 20, REASON_MAX = 123 };

static struct si_link *links;
static uint32_t n_links;

void *si_alloc(size_t n)
{
	void *p = calloc(1, n ? n : 1);

	if (!p) {
		log_fatal("no_memory", "bytes=%zu", n);
		exit(1);
	}
	return p;
}

char *si_copy(const char *text, size_t n)
{
	char *p = si_alloc(n + 1);

	if (n)
		memcpy(p, text, n);
	return p;
}

uint64_t si_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of_timespec(&ts);
}

static void link_free(struct si_link *l)
{
	for (struct si_link **at = &links; *at; at = &(*at)->next)
		if (*at == l) {
			*at = l->next;
			break;
		}
	si_plans_free(l);
	free(l->held);
	if (l->ops)
		l->ops->free(l->session);
	if (l->bev)
		bufferevent_free(l->bev);
	if (l->reaper)
		event_free(l->reaper);
	if (l->timer)
		event_free(l->timer);
	if (l->release)
		event_free(l->release);
	free(l->head_text);
	free(l->body);
	free(l->message);
	free(l);
}

void si_links_close(void)
{
	while (links)
		link_free(links);
}

void si_link_end(struct si_link *l)
{
	if (l->dead)
		return;
	l->dead = true;
	si_record_note(l->st->record, l->number, "closed", "");
	event_active(l->reaper, EV_TIMEOUT, 0);
}

/* Waits until all is written, then ends the connection. */
static void link_finish(struct si_link *l)
{
	l->close_sent = true;
	bufferevent_enable(l->bev, EV_WRITE);
	if (!evbuffer_get_length(bufferevent_get_output(l->bev)))
		si_link_end(l);
}

static void link_abort(struct si_link *l)
{
	const struct linger reset = {.l_onoff = 1};

	setsockopt(bufferevent_getfd(l->bev), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
	si_link_end(l);
}

static void link_freeze(struct si_link *l)
{
	l->frozen = true;
	bufferevent_disable(l->bev, EV_READ | EV_WRITE);
	si_plans_free(l);
}

void si_link_write(struct si_link *l, const void *data, size_t n)
{
	if (l->dead || l->frozen)
		return;
	if (evbuffer_get_length(bufferevent_get_output(l->bev)) > WRITE_MAX)
		si_link_end(l);
	else
		bufferevent_write(l->bev, data, n);
}

/* ---- the socket ---- */

/* Between two fragments there may be a ping, which a client must answer and ignore. */
void si_socket_send(struct si_link *l, enum si_opcode opcode, const void *data, size_t n)
{
	size_t most = l->split ? l->split : n, at = 0;
	uint8_t head[SI_FRAME_HEAD];

	if (l->state != SI_SOCKET || l->close_sent)
		return;
	do {
		size_t m = n - at < most ? n - at : most;

		si_link_write(l, head, si_frame_head(head, at ? SI_MORE : opcode, at + m == n, m));
		si_link_write(l, (const uint8_t *)data + at, m);
		if (at == 0 && m < n)
			si_link_write(l, head, si_frame_head(head, SI_PING, true, 0));
		at += m;
	} while (at < n && !l->dead);
}

void si_socket_close(struct si_link *l, uint16_t code, const char *text, size_t n)
{
	uint8_t payload[2 + REASON_MAX] = {(uint8_t)(code >> 8), (uint8_t)code};
	uint8_t head[SI_FRAME_HEAD];
	char note[32];

	if (l->state != SI_SOCKET || l->close_sent)
		return;
	n = n < REASON_MAX ? n : REASON_MAX;
	if (n)
		memcpy(payload + 2, text, n);
	snprintf(note, sizeof note, "%u", code);
	si_record_note(l->st->record, l->number, "close", note);
	si_link_write(l, head, si_frame_head(head, SI_CLOSE, true, 2 + n));
	si_link_write(l, payload, 2 + n);
	link_finish(l);
}

/* ---- the script ---- */

void si_link_insert(struct si_link *l, const void *data, size_t n)
{
	uint8_t *held;

	if (l->state == SI_SOCKET || l->state == SI_STREAM) {
		si_plan(l,
			&(struct si_plan){.out = l->state == SI_SOCKET ? SI_OUT_TEXT : SI_OUT_CHUNK,
					  .data = data,
					  .n = n});
		return;
	}
	held = si_alloc(l->held_n + n);
	if (l->held_n)
		memcpy(held, l->held, l->held_n);
	memcpy(held + l->held_n, data, n);
	free(l->held);
	l->held = held;
	l->held_n += n;
}

void si_link_release(struct si_link *l)
{
	uint8_t *held = l->held;
	size_t n = l->held_n;

	l->held = NULL;
	l->held_n = 0;
	if (n)
		si_link_insert(l, held, n);
	free(held);
}

/* An event: in a stream of the form of its data. */
static void event_insert(struct si_link *l, const char *json)
{
	size_t size = strlen(json) + 16;
	char *text = si_alloc(size);
	bool socket = l->state == SI_SOCKET;

	snprintf(text, size, "%s%s%s", socket ? "" : "data: ", json, socket ? "" : "\n\n");
	si_link_insert(l, text, strlen(text));
	free(text);
}

static void bytes_send(struct si_link *l, const char *hex)
{
	uint8_t bytes[512];
	size_t n = 0;
	unsigned v;

	while (n < sizeof bytes && sscanf(hex, "%2x", &v) == 1) {
		bytes[n++] = (uint8_t)v;
		hex += strcspn(hex, " ");
		hex += strspn(hex, " ");
	}
	si_link_insert(l, bytes, n);
}

/* An event of n bytes that no client needs to know. */
static void huge_send(struct si_link *l, uint32_t n)
{
	static const char before[] = "{\"type\":\"x.huge\",\"filler\":\"", after[] = "\"}";
	size_t extra = sizeof before + sizeof after - 2;
	char *text = si_alloc(n + extra + 1);
	size_t fill = n > extra ? n - extra : 0;

	memcpy(text, before, sizeof before - 1);
	memset(text + sizeof before - 1, 'x', fill);
	memcpy(text + sizeof before - 1 + fill, after, sizeof after);
	event_insert(l, text);
	free(text);
}

static void slow_set(struct si_link *l, uint32_t bytes)
{
	static const struct timeval tick = {.tv_usec = 1000};
	struct ev_token_bucket_cfg *cfg =
		ev_token_bucket_cfg_new(EV_RATE_LIMIT_MAX, EV_RATE_LIMIT_MAX, bytes, bytes, &tick);

	/* The program sets this once for a link, and ends soon. */
	if (cfg)
		bufferevent_set_rate_limit(l->bev, cfg);
}

void si_link_act(struct si_link *l, const struct si_act *a)
{
	switch (a->action) {
	case SI_DO_RAW:
		si_link_insert(l, a->text, strlen(a->text));
		break;
	case SI_DO_BYTES:
		bytes_send(l, a->text);
		break;
	case SI_DO_HUGE:
		huge_send(l, a->number);
		break;
	case SI_DO_SPLIT:
		l->split = a->number;
		break;
	case SI_DO_SLOW:
		slow_set(l, a->number ? a->number : 1);
		break;
	case SI_DO_EXTRA:
		l->extra = true;
		event_insert(l, "{\"type\":\"x.unknown.event\"}");
		break;
	case SI_DO_CLOSE:
		if (l->state == SI_SOCKET)
			si_socket_close(l, (uint16_t)a->number, a->text, strlen(a->text));
		else
			si_link_end(l);
		break;
	case SI_DO_ABORT:
		link_abort(l);
		break;
	case SI_DO_HALFOPEN:
		link_freeze(l);
		break;
	default:
		if (l->ops && l->ops->act)
			l->ops->act(l->session, a);
	}
}

/* Fills what an answer asks for; false: the action concerns the connection or the session. */
static bool acts_note(struct si_acts *acts, const struct si_act *a)
{
	const struct si_act **at[SI_N_ACTIONS] = {
		[SI_DO_SAY] = &acts->say,	[SI_DO_CALL] = &acts->call,
		[SI_DO_FAIL] = &acts->fail,	[SI_DO_TRANSCRIPT] = &acts->transcript,
		[SI_DO_STATUS] = &acts->status, [SI_DO_REASON] = &acts->reason,
	};

	if (a->action == SI_DO_DELAY)
		acts->delay_ms = a->number;
	else if (a->action == SI_DO_GAP)
		acts->gap_ms = a->number;
	else if (a->action == SI_DO_LATE)
		acts->late = a->number;
	else if (a->action == SI_DO_RETRY)
		acts->retry_after_s = a->number;
	else if (a->action == SI_DO_SILENT)
		acts->silent = true;
	else if (a->action == SI_DO_NODONE)
		acts->nodone = true;
	else if (a->action == SI_DO_ERROR)
		acts->error = a;
	else if (at[a->action])
		*at[a->action] = a;
	else
		return false;
	return true;
}

void si_link_fire(struct si_link *l, enum si_trigger t, struct si_acts *acts)
{
	memset(acts, 0, sizeof *acts);
	acts->n = si_script_fire(l->st->script, t, acts->all, SI_LINK_ACTS);
	for (size_t i = 0; i < acts->n; i++)
		if (!acts_note(acts, acts->all[i]))
			si_link_act(l, acts->all[i]);
}

static void timed_run(void *arg)
{
	struct si_timed *t = arg;

	si_link_act(t->l, &t->act);
}

void si_link_opened(struct si_link *l)
{
	const struct si_act *acts[SI_LINK_ACTS];
	size_t n = si_script_times(l->st->script, acts, SI_LINK_ACTS);
	struct si_acts now;

	si_record_note(l->st->record, l->number, "open", l->head.path);
	for (size_t i = 0; i < n; i++) {
		l->timed[i] = (struct si_timed){.l = l, .act = *acts[i]};
		si_plan(l, &(struct si_plan){.out = SI_OUT_CALL,
					     .after_ms = acts[i]->at_ms,
					     .h = timed_run,
					     .arg = &l->timed[i]});
	}
	si_link_fire(l, SI_OPEN, &now);
	for (size_t i = 0; i < now.n; i++)
		if (now.error == now.all[i] && l->ops && l->ops->act)
			l->ops->act(l->session, now.error);
}

bool si_link_extra(const struct si_link *l)
{
	return l->extra;
}

/* ---- the connection ---- */

static void on_read(struct bufferevent *bev, void *arg)
{
	(void)bev;
	si_link_read(arg);
}

static void on_written(struct bufferevent *bev, void *arg)
{
	struct si_link *l = arg;

	(void)bev;
	if (l->close_sent)
		si_link_end(l);
}

static void on_ended(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	(void)what;
	si_link_end(arg);
}

static void on_reap(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	link_free(arg);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	si_plans_flush(arg);
}

static void on_release(evutil_socket_t fd, short what, void *arg)
{
	struct si_link *l = arg;

	(void)fd;
	(void)what;
	l->hold = false;
	si_link_read(l);
}

void si_link_start(struct si_standin *st, const struct si_provider *provider, evutil_socket_t fd)
{
	struct si_link *l = si_alloc(sizeof *l);
	const int one = 1;

	evutil_make_socket_nonblocking(fd);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	l->st = st;
	l->provider = provider;
	l->number = ++n_links;
	l->next = links;
	links = l;
	l->bev = bufferevent_socket_new(st->base, fd, BEV_OPT_CLOSE_ON_FREE);
	l->reaper = event_new(st->base, -1, 0, on_reap, l);
	l->timer = event_new(st->base, -1, 0, on_timer, l);
	l->release = event_new(st->base, -1, 0, on_release, l);
	if (!l->bev || !l->reaper || !l->timer || !l->release)
		exit(1);
	bufferevent_setcb(l->bev, on_read, on_written, on_ended, l);
	bufferevent_enable(l->bev, EV_READ | EV_WRITE);
	si_record_note(st->record, l->number, "connected", "");
	si_link_fire(l, SI_CONNECT, &l->connect);
	if (l->connect.silent)
		l->hold = true;
	else if (l->connect.delay_ms) {
		const struct timeval tv = {.tv_sec = l->connect.delay_ms / 1000,
					   .tv_usec = l->connect.delay_ms % 1000 * 1000};

		l->hold = true;
		event_add(l->release, &tv);
	}
}

struct si_standin *si_link_standin(const struct si_link *l)
{
	return l->st;
}

uint32_t si_link_number(const struct si_link *l)
{
	return l->number;
}
