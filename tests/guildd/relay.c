#include "tests/guildd/relay_inside.h"

#include "tests/guildd/dave.h"
#include "tests/guildd/heard.h"
#include "tests/guildd/history.h"
#include "tests/guildd/objects.h"

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <event2/util.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	DISCOVERY = 74,
	KEEPALIVE = 8,
	MAX_LATE = 20000,
	BATCH = 64,
	MAX_EARLY = 25,
	MAX_SENT = 2048
};
#define BURST_NS (4 * NS_PER_MS) /* packets of 20 ms that come closer than this come in a burst */
#define ANNOUNCE_NS                                                                                \
	(250 * NS_PER_MS) /* op 5 travels another way than sound and may come in second */

/* A packet that the network holds back. */
struct late {
	uint64_t at;
	struct sockaddr_in to;
	size_t len;
	uint8_t data[];
};

/* With the switch `nat` clients on this machine are behind a router, which shows them under another
 * address. A change of the switch is a router that has forgotten its clients: what is sent to the
 * address of before reaches nobody. */
static bool is_behind_router(const struct gd_relay *r, const struct sockaddr_in *client)
{
	return ntohl(client->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET &&
	       ntohl(inet_addr(r->g->ip)) >> 24 == IN_LOOPBACKNET;
}

static void leave_router(const struct gd_relay *r, struct sockaddr_in *client)
{
	if (is_behind_router(r, client))
		client->sin_addr.s_addr = htonl(ntohl(client->sin_addr.s_addr) + r->g->sw.nat);
}

/* The way back; false when the router knows no client under that address. */
static bool enter_router(const struct gd_relay *r, struct sockaddr_in *to)
{
	uint32_t ip = ntohl(to->sin_addr.s_addr), own = ntohl(inet_addr(r->g->ip));

	if (!is_behind_router(r, to))
		return true;
	to->sin_addr.s_addr = htonl(own);
	return ip == own + r->g->sw.nat;
}

void relay_send(struct gd_relay *r, const struct sockaddr_in *to, const uint8_t *p, size_t len)
{
	struct sockaddr_in way = *to;

	if (!r->g->sw.udp_down || !enter_router(r, &way))
		return;
	if (sendto(r->fd, p, len, MSG_DONTWAIT, (const struct sockaddr *)&way, sizeof(way)) < 0)
		r->n.send_failed++;
}

static void late_arm(struct gd_relay *r)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < r->late.n; i++) {
		const struct late *l = r->late.v[i];

		first = l->at < first ? l->at : first;
	}
	if (r->late.n)
		tmr_start_at(r->tmr, first);
}

static void late_due(void *arg)
{
	struct gd_relay *r = arg;
	uint64_t now = env_now(r->g->env);

	for (size_t i = 0; i < r->late.n;) {
		struct late *l = r->late.v[i];

		if (l->at > now) {
			i++;
			continue;
		}
		relay_send(r, &l->to, l->data, l->len);
		free(gd_vec_take(&r->late, i));
	}
	late_arm(r);
}

/* Through the network that the switches describe; false when that loses it. */
static bool send_through(struct gd_relay *r, const struct sockaddr_in *to, const uint8_t *p,
			 size_t len)
{
	const struct gd_switches *sw = &r->g->sw;
	struct gd_impair_conf conf = {sw->loss_permille, sw->dup_permille, sw->reorder_permille,
				      sw->reorder_ms,	 sw->delay_ms,	   sw->jitter_ms};
	uint64_t delays[2];
	unsigned n = gd_impair_plan(&r->impair, &conf, delays);

	r->n.net_lost += n == 0;
	r->n.net_doubled += n == 2;
	for (unsigned i = 0; i < n; i++) {
		struct late *l;

		if (!delays[i]) {
			relay_send(r, to, p, len);
			continue;
		}
		l = r->late.n < MAX_LATE ? malloc(sizeof(*l) + len) : NULL;
		if (!l || gd_vec_add(&r->late, l)) {
			free(l);
			r->n.send_failed++;
			continue;
		}
		l->at = env_now(r->g->env) + delays[i];
		l->to = *to;
		l->len = len;
		memcpy(l->data, p, len);
		late_arm(r);
	}
	return n > 0;
}

static struct gd_stream *by_ssrc(struct gd_relay *r, uint32_t ssrc)
{
	for (size_t i = 0; i < r->streams.n; i++) {
		struct gd_stream *s = r->streams.v[i];

		if (s->ssrc == ssrc)
			return s;
	}
	return NULL;
}

static struct gd_stream *by_addr(struct gd_relay *r, const struct sockaddr_in *from)
{
	for (size_t i = 0; i < r->streams.n; i++) {
		struct gd_stream *s = r->streams.v[i];

		if ((s->aead && same_addr(&s->addr, from)) || same_addr(&s->found, from))
			return s;
	}
	return NULL;
}

/* "IP Discovery": type 1, length 70, SSRC, then zeros. Real servers did not answer to leftovers in
 * the rest. */
static void discovery(struct gd_relay *r, const uint8_t *p, const struct sockaddr_in *from)
{
	struct rd in = rd_of(p, DISCOVERY);
	uint32_t type = (uint32_t)rd_be(&in, 2), len = (uint32_t)rd_be(&in, 2);
	struct gd_stream *s = by_ssrc(r, (uint32_t)rd_be(&in, 4));
	uint8_t out[DISCOVERY] = {0};
	struct wr w = wr_of(out, sizeof(out));
	char text[INET_ADDRSTRLEN];
	bool zero = true;

	for (size_t i = 8; i < DISCOVERY; i++)
		zero = zero && !p[i];
	if (type != 1 || len != 70 || !s || !zero) {
		r->n.discovery_bad++;
		return;
	}
	s->n.discovery++;
	if (!r->g->sw.discovery)
		return;
	s->found = *from;
	wr_be(&w, 2, 2);
	wr_be(&w, 70, 2);
	wr_be(&w, s->ssrc, 4);
	if (r->g->sw.discovery_junk) {
		memset(out, 0xff, sizeof(out));
		relay_send(r, from, out, KEEPALIVE);
		wr_be(&w, 1, 2); /* the type of a request */
		relay_send(r, from, out, sizeof(out));
		memset(out, 0, sizeof(out));
		w = wr_of(out, sizeof(out));
		wr_be(&w, 2, 2);
		wr_be(&w, 70, 2);
		wr_be(&w, s->ssrc, 4);
	}
	inet_ntop(AF_INET, &from->sin_addr, text, sizeof(text));
	memcpy(wr_room(&w, 64), text, strlen(text));
	wr_be(&w, ntohs(from->sin_port), 2);
	relay_send(r, from, out, sizeof(out));
}

static void keepalive(struct gd_relay *r, const uint8_t *p, const struct sockaddr_in *from)
{
	static const uint8_t ping[4] = {0x13, 0x37, 0xca, 0xfe}, pong[4] = {0x13, 0x37, 0xf0, 0x0d};
	struct gd_stream *s = by_addr(r, from);
	uint8_t out[KEEPALIVE];

	if (!s)
		r->n.rx[GD_RX_BAD_SOURCE]++;
	else
		s->n.keepalive++;
	if (!r->g->sw.keepalive_echo || (!s && !r->g->sw.keepalive_strangers))
		return;
	memcpy(out, p, sizeof(out));
	if (memcmp(out, ping, sizeof(ping)) == 0)
		memcpy(out, pong, sizeof(pong));
	relay_send(r, from, out, sizeof(out));
}

/* Keeps what a client was sent, and every n-th time sends something of that again. */
static void replay(struct gd_stream *to, const uint8_t *p, size_t len)
{
	uint32_t every = to->r->g->sw.replay_every;
	struct late *l = every ? malloc(sizeof(*l) + len) : NULL;

	if (!l)
		return;
	l->len = len;
	memcpy(l->data, p, len);
	if (to->sent.n < MAX_SENT) {
		if (gd_vec_add(&to->sent, l)) {
			free(l);
			return;
		}
	} else {
		free(to->sent.v[to->sent_next]);
		to->sent.v[to->sent_next] = l;
		to->sent_next = (to->sent_next + 1) % MAX_SENT;
	}
	if (to->counter % every)
		return;
	/* Old and recent ones, in no order. */
	l = to->sent.v[to->counter * UINT32_C(2654435761) % to->sent.n];
	relay_send(to->r, &to->addr, l->data, l->len);
	to->n.replayed++;
}

static void sent_drop(struct gd_stream *s)
{
	for (size_t i = 0; i < s->sent.n; i++)
		free(s->sent.v[i]);
	gd_vec_clear(&s->sent);
}

bool relay_forward(struct gd_stream *to, const struct gd_rtp *in, const struct gd_tx *tx)
{
	uint8_t out[GD_PACKET_BUF];
	size_t len;

	if (gd_rtp_forward(to->aead, to->counter, in, tx, out, sizeof(out), &len))
		return false;
	to->counter++;
	to->n.forwarded++;
	to->n.padded += tx->pad > 0;
	replay(to, out, len);
	return send_through(to->r, &to->addr, out, len);
}

static void forward(struct gd_relay *r, struct gd_stream *from, const struct gd_rtp *in)
{
	const struct gd_switches *sw = &r->g->sw;
	bool record = sw->record_forwarded && gd_dave_sealed(in->payload);

	for (size_t i = 0; i < r->streams.n; i++) {
		struct gd_stream *to = r->streams.v[i];
		struct gd_tx tx = {.ext = sw->header_ext};

		if (to == from || !to->aead || to->deaf || to->channel != from->channel)
			continue;
		r->n_forward++;
		if (sw->pad_every && r->n_forward % sw->pad_every == 0)
			tx.pad = 1 + (unsigned)(r->n_forward % 7);
		if (relay_forward(to, in, &tx) && record)
			gd_heard_add(&to->heard, from->user, from->ssrc,
				     from->cycles << 16 | in->seq);
		if (sw->pad_only_every && r->n_forward % sw->pad_only_every == 0) {
			tx.pad = 200;
			tx.pad_only = true;
			relay_forward(to, in, &tx);
		}
	}
}

/* What a receiver report would say, and whether the sender counts as RFC 3550 wants and keeps its
 * pace. */
static void follow(struct gd_stream *s, const struct gd_rtp *in)
{
	uint64_t now = env_now(s->r->g->env);

	s->together = s->any && now - s->at < BURST_NS ? s->together + 1 : 1;
	s->at = now;
	if (s->together > s->n.burst)
		s->n.burst = s->together;
	if (s->any) {
		uint16_t step = (uint16_t)(in->seq - s->seq);

		s->n.seq_jumps += step != 1;
		s->n.ts_odd += (in->ts - s->ts) % 960 != 0;
		if (step && step < 0x8000)
			s->lost += step - 1u;
		s->cycles += in->seq < s->seq && step < 0x8000;
	}
	s->any = true;
	s->seq = in->seq;
	s->ts = in->ts;
}

static void report(struct gd_relay *r, struct gd_stream *s)
{
	struct gd_report rep = {.ssrc = s->ssrc,
				.lost = s->lost,
				.ext_seq = s->cycles << 16 | s->seq,
				.lsr = s->told.middle};
	uint32_t since = rep.ext_seq - s->ext_told,
		 fraction = r->g->sw.report_loss_permille * 256 / 1000;
	uint64_t got = s->n.rx[GD_RX_OK] + s->n.rx[GD_RX_SILENCE];
	uint8_t out[GD_PACKET_BUF];
	size_t len;

	if (!r->g->sw.rtcp_every || got % r->g->sw.rtcp_every != 0)
		return;
	if (since && s->ext_told)
		fraction += (s->lost - s->lost_told) * 256 / since;
	rep.fraction_lost = (uint8_t)(fraction > 255 ? 255 : fraction);
	if (rep.lsr)
		rep.dlsr = (uint32_t)((env_now(r->g->env) - s->told_at) / 1000 * 65536 / 1000000);
	s->ext_told = rep.ext_seq;
	s->lost_told = s->lost;
	if (gd_rtcp_report(s->aead, s->counter, &rep, out, sizeof(out), &len))
		return;
	s->counter++;
	s->n.rtcp_out++;
	relay_send(r, &s->addr, out, len);
}

static void early_drop(struct gd_stream *s)
{
	for (size_t i = 0; i < s->early.n; i++)
		free(s->early.v[i]);
	s->n.rx[GD_RX_NOT_SPEAKING] += s->early.n;
	gd_vec_clear(&s->early);
}

static void announce_due(void *arg)
{
	struct gd_stream *s = arg;

	early_drop(s);
	s->h(s->arg); /* may free s */
}

/* op 5 goes by TCP and sound by UDP: what comes a little too early waits for it. */
static bool early_keep(struct gd_stream *s, const uint8_t *p, size_t len)
{
	struct late *l = s->early.n < MAX_EARLY ? malloc(sizeof(*l) + len) : NULL;

	if (!l || gd_vec_add(&s->early, l)) {
		free(l);
		return false;
	}
	l->len = len;
	memcpy(l->data, p, len);
	if (s->early.n == 1)
		tmr_start(s->announce, ANNOUNCE_NS);
	return true;
}

/* Plain sound where everything must be sealed; the three bytes of silence are no sound. What a
 * client sends before it can know its key is counted apart, and goes nowhere either. */
static bool leaks(struct gd_relay *r, struct gd_stream *s, const struct gd_rtp *in)
{
	enum gd_seal seal = gd_dave_seal(r->g->dave, s->channel, s->user);

	if (gd_dave_sealed(in->payload)) {
		s->n.sealed++;
		s->n.sealed_clear += seal == GD_SEAL_NONE;
		return false;
	}
	if (seal == GD_SEAL_NONE) {
		gd_count(r->g, s->user, "dave_clear");
		return false;
	}
	gd_count(r->g, s->user, seal == GD_SEAL_MUST ? "dave_plaintext" : "dave_plaintext_early");
	return r->g->sw.require_sealed;
}

static enum gd_verdict take_report(struct gd_relay *r, struct gd_stream *s, const uint8_t *p,
				   size_t len)
{
	struct gd_told told;
	enum gd_verdict v = gd_rtcp_open(s->aead, &s->nonce, p, len, &told);

	if (v != GD_RX_RTCP)
		return v;
	s->n.report_blocks += told.blocks;
	relay_pass_feedback(s, &told);
	if (told.sender) {
		s->n.sender_reports++;
		s->told = told;
		s->told_at = env_now(r->g->env);
	}
	return v;
}

static enum gd_verdict take(struct gd_relay *r, struct gd_stream *s, const uint8_t *p, size_t len,
			    bool rtcp, const struct sockaddr_in *from)
{
	uint8_t plain[GD_PACKET_BUF];
	struct gd_rtp in;
	enum gd_verdict v;

	if (!s->aead)
		return GD_RX_NO_KEY;
	if (!same_addr(from, &s->addr))
		return GD_RX_BAD_SOURCE;
	if (rtcp)
		return take_report(r, s, p, len);
	v = gd_rtp_open(s->aead, &s->nonce, p, len, plain, &in);
	if (v != GD_RX_OK && v != GD_RX_SILENCE)
		return v;
	follow(s, &in);
	if (s->muted)
		return GD_RX_MUTED;
	if (v == GD_RX_OK && leaks(r, s, &in))
		return GD_RX_PLAIN;
	if (v == GD_RX_OK)
		gd_history_sound(r->g->history, s->user, s->channel);
	forward(r, s, &in);
	return v;
}

static void datagram(struct gd_relay *r, const uint8_t *p, size_t len,
		     const struct sockaddr_in *from)
{
	struct gd_stream *s;
	enum gd_verdict v;
	uint32_t ssrc;
	bool rtcp = false;

	if (!r->g->sw.udp_up)
		return;
	if (len == DISCOVERY && p[0] == 0) {
		discovery(r, p, from);
		return;
	}
	if (len == KEEPALIVE) {
		keepalive(r, p, from);
		return;
	}
	v = gd_rtp_peek(p, len, &rtcp, &ssrc);
	if (v == GD_RX_BAD_TYPE && relay_take_video(r, p, len, from))
		return;
	s = v == GD_RX_OK ? by_ssrc(r, ssrc) : by_addr(r, from);
	if (v == GD_RX_OK && s && !rtcp && !s->announced && s->aead && same_addr(from, &s->addr)) {
		if (early_keep(s, p, len))
			return;
		v = GD_RX_NOT_SPEAKING;
	} else if (v == GD_RX_OK && !s)
		v = GD_RX_BAD_SSRC;
	else if (v == GD_RX_OK)
		v = take(r, s, p, len, rtcp, from);
	(s ? &s->n : &r->n)->rx[v]++;
	if (s && (v == GD_RX_OK || v == GD_RX_SILENCE))
		s->n.silence_run = v == GD_RX_SILENCE ? s->n.silence_run + 1 : 0;
	if (v == GD_RX_OK || v == GD_RX_SILENCE)
		report(r, s);
	else if (v != GD_RX_RTCP && v != GD_RX_MUTED && v != GD_RX_PLAIN)
		log_debug("datagram_refused", "why=%s user=%" PRIu64 " len=%zu", gd_verdict_name(v),
			  s ? s->user : 0, len);
}

static void readable(evutil_socket_t fd, short what, void *arg)
{
	struct gd_relay *r = arg;

	(void)what;
	for (int i = 0; i < BATCH; i++) {
		uint8_t buf[2048];
		struct sockaddr_in from;
		socklen_t n = sizeof(from);
		ssize_t len =
			recvfrom(fd, buf, sizeof(buf), MSG_DONTWAIT, (struct sockaddr *)&from, &n);

		if (len < 0)
			return;
		leave_router(r, &from);
		if (gd_impair_lost(&r->impair, r->g->sw.up_loss_permille))
			r->n.net_lost++;
		else if (len == 0)
			r->n.rx[GD_RX_BAD_SIZE]++;
		else
			datagram(r, buf, (size_t)len, &from);
	}
}

int gd_relay_alloc(struct gd_relay **out, struct guildd *g)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t n = sizeof(a);
	struct gd_relay *r = calloc(1, sizeof(*r));
	uint32_t random;
	int err;

	if (!r)
		return ENOMEM;
	r->g = g;
	gd_impair_seed(&r->impair, g->sw.seed);
	env_random(g->env, &random, sizeof(random));
	r->next_ssrc = random >> 8; /* as on the real servers an SSRC says nothing */
	r->fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (r->fd < 0 || inet_pton(AF_INET, g->ip, &a.sin_addr) != 1 ||
	    bind(r->fd, (struct sockaddr *)&a, sizeof(a)) ||
	    getsockname(r->fd, (struct sockaddr *)&a, &n)) {
		err = errno;
		goto out;
	}
	r->port = ntohs(a.sin_port);
	err = tmr_alloc(&r->tmr, g->env, late_due, r);
	if (err)
		goto out;
	r->ev = event_new(env_base(g->env), r->fd, EV_READ | EV_PERSIST, readable, r);
	if (!r->ev || event_add(r->ev, NULL)) {
		err = ENOMEM;
		goto out;
	}
	*out = r;
	r = NULL;
out:
	gd_relay_free(r);
	return err;
}

struct gd_relay *gd_relay_free(struct gd_relay *r)
{
	if (!r)
		return NULL;
	if (r->ev)
		event_free(r->ev);
	tmr_free(r->tmr);
	if (r->fd >= 0)
		close(r->fd);
	for (size_t i = 0; i < r->late.n; i++)
		free(r->late.v[i]);
	gd_vec_clear(&r->late);
	gd_vec_clear(&r->streams);
	free(r);
	return NULL;
}

uint16_t gd_relay_port(const struct gd_relay *r)
{
	return r->port;
}

void gd_relay_seed(struct gd_relay *r, uint32_t seed)
{
	gd_impair_seed(&r->impair, seed);
}

static json_t *counters_json(const struct counters *n)
{
	json_t *rx = json_object();

	for (unsigned v = 0; v < GD_RX_COUNT; v++)
		json_object_set_new(rx, gd_verdict_name(v), json_integer((json_int_t)n->rx[v]));
	return json_pack(
		"{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
		"s:I, s:I, s:I, s:I, s:I}",
		"rx", rx, "discovery", (json_int_t)n->discovery, "discovery_bad",
		(json_int_t)n->discovery_bad, "keepalive", (json_int_t)n->keepalive, "forwarded",
		(json_int_t)n->forwarded, "rtcp_out", (json_int_t)n->rtcp_out, "padded",
		(json_int_t)n->padded, "net_lost", (json_int_t)n->net_lost, "net_doubled",
		(json_int_t)n->net_doubled, "send_failed", (json_int_t)n->send_failed, "seq_jumps",
		(json_int_t)n->seq_jumps, "ts_odd", (json_int_t)n->ts_odd, "sender_reports",
		(json_int_t)n->sender_reports, "report_blocks", (json_int_t)n->report_blocks,
		"burst", (json_int_t)n->burst, "replayed", (json_int_t)n->replayed, "silence_run",
		(json_int_t)n->silence_run, "sealed", (json_int_t)n->sealed, "sealed_clear",
		(json_int_t)n->sealed_clear);
}

json_t *gd_relay_json(const struct gd_relay *r)
{
	json_t *streams = json_array();

	for (size_t i = 0; i < r->streams.n; i++) {
		const struct gd_stream *s = r->streams.v[i];
		json_t *o = counters_json(&s->n), *video = relay_video_json(s);

		json_object_set_new(o, "user_id", gd_id_json(s->user));
		json_object_set_new(o, "channel_id", gd_id_json(s->channel));
		json_object_set_new(o, "ssrc", json_integer(s->ssrc));
		json_object_set_new(o, "announced", json_boolean(s->announced));
		if (video)
			json_object_set_new(o, "video", video);
		json_array_append_new(streams, o);
	}
	return json_pack("{s:o, s:o}", "network", counters_json(&r->n), "streams", streams);
}

bool gd_relay_send_raw(struct gd_relay *r, uint64_t user, const uint8_t *p, size_t len)
{
	bool any = false;

	for (size_t i = 0; i < r->streams.n; i++) {
		struct gd_stream *s = r->streams.v[i];

		if (s->user != user || !s->aead)
			continue;
		relay_send(r, &s->addr, p, len);
		any = true;
	}
	return any;
}

void gd_relay_reset(struct gd_relay *r)
{
	r->n = (struct counters){0};
	for (size_t i = 0; i < r->streams.n; i++) {
		struct gd_stream *s = r->streams.v[i];

		s->n = (struct counters){0};
		gd_heard_clear(&s->heard);
	}
}

json_t *gd_relay_forwarded(const struct gd_relay *r, uint64_t user)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->streams.n; i++) {
		const struct gd_stream *s = r->streams.v[i];

		if (s->user == user)
			json_array_append_new(list, json_pack("{s:o, s:I, s:o}", "channel_id",
							      gd_id_json(s->channel), "ssrc",
							      (json_int_t)s->ssrc, "from",
							      gd_heard_json(&s->heard)));
	}
	return list;
}

uint32_t relay_new_ssrc(struct gd_relay *r)
{
	do
		r->next_ssrc++;
	while (!r->next_ssrc);
	return r->next_ssrc;
}

int gd_stream_alloc(struct gd_stream **out, struct gd_relay *r, uint64_t user, uint64_t channel,
		    gd_unannounced_h *h, void *arg)
{
	struct gd_stream *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return ENOMEM;
	s->r = r;
	s->user = user;
	s->channel = channel;
	s->h = h;
	s->arg = arg;
	err = tmr_alloc(&s->announce, r->g->env, announce_due, s);
	if (!err)
		err = gd_vec_add(&r->streams, s);
	if (err) {
		tmr_free(s->announce);
		free(s);
		return err;
	}
	s->ssrc = relay_new_ssrc(r);
	*out = s;
	return 0;
}

struct gd_stream *gd_stream_free(struct gd_stream *s)
{
	if (!s)
		return NULL;
	gd_vec_remove(&s->r->streams, s);
	gd_heard_clear(&s->heard);
	early_drop(s);
	sent_drop(s);
	tmr_free(s->announce);
	gd_aead_free(s->aead);
	free(s);
	return NULL;
}

uint32_t gd_stream_ssrc(const struct gd_stream *s)
{
	return s->ssrc;
}

int gd_stream_select(struct gd_stream *s, enum gd_mode mode, const uint8_t key[GD_KEY],
		     const struct sockaddr_in *addr)
{
	struct gd_aead *a;
	int err = gd_aead_alloc(&a, mode, key);

	if (err)
		return err;
	gd_aead_free(s->aead);
	s->aead = a;
	s->nonce = (struct gd_nonce){0};
	s->counter = 0;
	s->addr = *addr;
	return 0;
}

void gd_stream_announce(struct gd_stream *s)
{
	struct gd_vec early = s->early;

	s->announced = true;
	s->early = (struct gd_vec){0};
	tmr_stop(s->announce);
	for (size_t i = 0; i < early.n; i++) {
		struct late *l = early.v[i];

		datagram(s->r, l->data, l->len, &s->addr);
		free(l);
	}
	gd_vec_clear(&early);
}

bool gd_stream_announced(const struct gd_stream *s)
{
	return s->announced;
}

void gd_stream_flags(struct gd_stream *s, bool muted, bool deaf)
{
	s->muted = muted;
	s->deaf = deaf;
}
