#include "mediad/engine/video_sender.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/env.h"
#include "mediad/engine/call_stream_internal.h"
#include "mediad/video/pacer.h"
#include "mediad/video/payload.h"
#include "mediad/video/rtx.h"
#include "proto/base/time.h"

/* Packets that viewers miss and that wait to be sent again, of all and of one viewer; more are
 * asked for again. They have this part of the pacer's bytes: viewers can ask without end. */
enum { AGAIN = 64, AGAIN_OF_ONE = 32, AGAIN_PERCENT = 25 };

#define RATE_MAX                                                                                   \
	((uint64_t)VIDEO_BITRATE_MAX * VIDEO_PACE_PERCENT / 100 / 8) /* bytes per second           \
								      */

struct queued_frame {
	struct queued_frame *next;
	uint32_t ts;
	size_t n;
	uint8_t bytes[];
};

struct video_sender {
	struct call_stream *cs;
	video_state_h *stateh;
	void *arg;
	enum video_codec codec; /* NONE: stopped */
	uint32_t ssrc, rtx_ssrc, ts_offset;
	uint16_t seq, rtx_seq;
	struct queued_frame *first, **last;
	uint8_t *sealed; /* the frame that is being cut */
	size_t sealed_cap;
	struct video_packetizer cut;
	bool cutting, ready, ends; /* ready: a payload waits for the pacer; it ends the frame */
	uint32_t ts;
	size_t left; /* bytes of it that wait */
	size_t n_payload;
	uint8_t payload[VIDEO_SENDER_PAYLOAD];
	struct rtx_history *history;
	struct {
		uint16_t seq;
		uint32_t viewer;
	} again[AGAIN];
	unsigned n_again;
	struct pacer pacer, again_pacer; /* again_pacer: the part of it for what is sent again */
	uint64_t rate;			 /* bytes per second */
	uint64_t key_at;		 /* when the newest key frame was queued; 0: none */
	bool broken; /* frames that are no key frames are useless: one before them was dropped */
	struct video_sender_state state;
};

int video_sender_alloc(struct video_sender **out, struct call_stream *cs, video_state_h *stateh,
		       void *arg)
{
	struct video_sender *v = calloc(1, sizeof *v);

	if (!v)
		return ENOMEM;
	v->cs = cs;
	v->stateh = stateh;
	v->arg = arg;
	v->last = &v->first;
	video_sender_set_bitrate(v, 0);
	*out = v;
	return 0;
}

/* A picture of a screen stays nowhere longer than it is needed. */
static void free_frame(struct queued_frame *f)
{
	explicit_bzero(f->bytes, f->n);
	free(f);
}

static void drop_queue(struct video_sender *v)
{
	struct queued_frame *f;

	while ((f = v->first)) {
		v->first = f->next;
		free_frame(f);
		v->state.dropped++;
	}
	v->last = &v->first;
	v->state.queued = v->left = 0;
	v->cutting = v->ready = false;
}

struct video_sender *video_sender_free(struct video_sender *v)
{
	if (!v)
		return NULL;
	drop_queue(v);
	rtx_history_free(v->history);
	free(v->sealed);
	free(v);
	return NULL;
}

static bool can_send(const struct video_sender *v)
{
	const struct call_stream *cs = v->cs;

	return v->codec != VIDEO_NONE && cs->linked && cs->key &&
	       (cs->clear || dave_sealer_ready(cs->sealer));
}

static void want_key(struct video_sender *v)
{
	if (v->state.wants_key)
		return;
	v->state.wants_key = true;
	v->stateh(v->arg);
}

/* Viewers cannot decode the frames after it. */
static void drop_frame(struct video_sender *v)
{
	v->state.dropped++;
	v->broken = true;
	want_key(v);
}

/* A pause of the session leaves viewers without what came in it. */
static void check_sending(struct video_sender *v)
{
	bool now = can_send(v);

	if (now == v->state.sending)
		return;
	v->state.sending = now;
	v->state.wants_key = v->broken = true;
	if (!now)
		drop_queue(v);
	v->stateh(v->arg);
}

static void start_pacers(struct video_sender *v)
{
	uint64_t now = env_now(v->cs->env);

	pacer_start(&v->pacer, v->rate, UDP_MAX_PACKET, now);
	pacer_start(&v->again_pacer, v->rate * AGAIN_PERCENT / 100, UDP_MAX_PACKET, now);
}

int video_sender_start(struct video_sender *v, enum video_codec codec, uint32_t ssrc,
		       uint32_t rtx_ssrc)
{
	struct rtx_history *h;

	if (codec == VIDEO_NONE || !ssrc || ssrc == rtx_ssrc)
		return EINVAL;
	if (rtx_history_alloc(&h))
		return ENOMEM;
	video_sender_stop(v);
	rtx_history_free(v->history);
	v->history = h;
	v->codec = codec;
	v->ssrc = ssrc;
	v->rtx_ssrc = rtx_ssrc;
	env_random(v->cs->env, &v->ts_offset, sizeof v->ts_offset);
	env_random(v->cs->env, &v->seq, sizeof v->seq);
	env_random(v->cs->env, &v->rtx_seq, sizeof v->rtx_seq);
	env_random(v->cs->env, &v->cut.picture_id, sizeof v->cut.picture_id);
	v->cut.picture_id &= 0x7fff;
	start_pacers(v);
	check_sending(v);
	return 0;
}

void video_sender_set_bitrate(struct video_sender *v, uint32_t bitrate)
{
	if (bitrate < VIDEO_BITRATE_MIN)
		bitrate = VIDEO_BITRATE_MIN;
	if (bitrate > VIDEO_BITRATE_MAX)
		bitrate = VIDEO_BITRATE_MAX;
	v->rate = (uint64_t)bitrate * VIDEO_PACE_PERCENT / 100 / 8;
	if (v->codec != VIDEO_NONE)
		start_pacers(v);
}

void video_sender_stop(struct video_sender *v)
{
	v->codec = VIDEO_NONE;
	v->n_again = 0;
	drop_queue(v);
	check_sending(v);
}

/* ---- frames ---- */

bool video_sender_put(struct video_sender *v, struct slice frame, uint32_t ts, bool key)
{
	struct queued_frame *f = NULL;

	check_sending(v);
	if (v->state.sending && frame.n && (key || !v->broken) && frame.n <= VIDEO_FRAME_MAX &&
	    v->state.queued + frame.n <= VIDEO_QUEUE)
		f = malloc(sizeof *f + frame.n);
	if (!f) {
		drop_frame(v);
		return false;
	}
	*f = (struct queued_frame){.ts = ts, .n = frame.n};
	memcpy(f->bytes, frame.p, frame.n);
	*v->last = f;
	v->last = &f->next;
	v->state.queued += f->n;
	v->state.wants_key = v->state.wants_key && !key;
	v->broken = v->broken && !key;
	v->key_at = key ? env_now(v->cs->env) : v->key_at;
	return true;
}

/* Returns false without memory. */
static bool make_room(struct video_sender *v, size_t cap)
{
	uint8_t *more = cap <= v->sealed_cap ? v->sealed : realloc(v->sealed, cap);

	if (!more)
		return false;
	if (more != v->sealed)
		v->sealed_cap = cap;
	v->sealed = more;
	return true;
}

/* Encrypts the next frame with the key of this moment, and begins to cut it. */
static void begin_frame(struct video_sender *v)
{
	struct queued_frame *f = v->first;
	size_t cap = DAVE_VIDEO_CAP(f->n), len = 0;
	uint16_t id = v->cut.picture_id;
	bool ok = make_room(v, cap) &&
		  call_stream_encrypt_video(v->cs, v->codec, (struct slice){f->bytes, f->n},
					    v->sealed, cap, &len) &&
		  !video_packetizer_start(&v->cut, v->codec, v->sealed, len, VIDEO_SENDER_PAYLOAD);

	v->first = f->next;
	if (!v->first)
		v->last = &v->first;
	v->state.queued -= f->n;
	v->ts = f->ts + v->ts_offset;
	free_frame(f);
	v->cut.picture_id = (uint16_t)((id + 1) & 0x7fff);
	v->cutting = ok;
	v->left = ok ? len : 0;
	if (!ok)
		drop_frame(v);
}

/* ---- packets ---- */

static bool send_packet(struct video_sender *v, const struct rtp_header *h, struct slice payload)
{
	uint8_t out[UDP_MAX_PACKET];
	size_t len;
	int err = rtpsize_seal(v->cs->key, h, payload.p, payload.n, out, sizeof out, &len);

	if (err == EOVERFLOW)
		call_stream_report_udp(v->cs, PATH_SPENT);
	return !err && call_stream_send_datagram(v->cs, out, len);
}

/* A packet that the kernel did not take counts as sent: a viewer asks for it again. */
static void send_payload(struct video_sender *v)
{
	struct rtx_packet p = {
		.seq = v->seq++,
		.ts = v->ts,
		.marker = v->ends,
		.payload = {v->payload, v->n_payload},
	};
	struct rtp_header h = {.pt = video_payload_type(v->codec),
			       .marker = p.marker,
			       .seq = p.seq,
			       .ts = p.ts,
			       .ssrc = v->ssrc};

	rtx_history_put(v->history, &p);
	send_packet(v, &h, p.payload);
	v->ready = false;
	v->left -= v->left < v->n_payload ? v->left : v->n_payload;
	if (!v->ends)
		return;
	v->cutting = false;
	v->left = 0;
	v->state.frames++;
}

/* Sends one packet again. */
static void send_copy(struct video_sender *v, uint16_t seq, uint64_t now)
{
	uint8_t buf[RTX_HEADER + RTX_PAYLOAD_MAX];
	struct rtp_header h = {.pt = video_rtx_type(v->codec), .ssrc = v->rtx_ssrc};
	struct rtx_packet p;

	if (rtx_history_again(v->history, seq, now, buf, sizeof buf, &p))
		return;
	h.marker = p.marker;
	h.seq = v->rtx_seq++;
	h.ts = p.ts;
	v->state.again += send_packet(v, &h, p.payload);
}

/* Sends again what viewers miss, the oldest first, up to its part of the bytes; a number without a
 * packet takes none. Returns false when the pacer lets no more out. */
static bool send_again(struct video_sender *v, uint64_t now)
{
	unsigned n = 0;
	bool goes = true;

	for (; n < v->n_again; n++) {
		size_t size = rtx_history_size(v->history, v->again[n].seq, now);

		if (!size)
			continue;
		if (pacer_due(&v->again_pacer, size, now) > now)
			break;
		goes = pacer_take(&v->pacer, size, now);
		if (!goes)
			break;
		pacer_take(&v->again_pacer, size, now);
		send_copy(v, v->again[n].seq, now);
	}
	v->n_again -= n;
	memmove(v->again, v->again + n, v->n_again * sizeof v->again[0]);
	return goes;
}

/* The bitrate of a file is its average: one lively scene has several times of it, and its sound
 * does not wait. What waits leaves in time; once nothing does, the pace is that of the bitrate. */
static void keep_up(struct video_sender *v, uint64_t now)
{
	size_t waiting = v->state.queued + v->left;
	uint64_t rate = (uint64_t)waiting * MS_PER_S / VIDEO_QUEUE_MS;

	if (rate > RATE_MAX)
		rate = RATE_MAX;
	if (!waiting)
		rate = v->rate;
	if (waiting ? rate > v->pacer.rate : rate < v->pacer.rate)
		pacer_set_rate(&v->pacer, rate, UDP_MAX_PACKET, now);
}

void video_sender_tick(struct video_sender *v, uint64_t now)
{
	check_sending(v);
	keep_up(v, now);
	if (!v->state.sending || !send_again(v, now))
		return;
	while (v->cutting || v->first) {
		if (!v->cutting) {
			begin_frame(v);
			continue;
		}
		if (!v->ready)
			v->ready =
				video_packetizer_next(&v->cut, v->payload, &v->n_payload, &v->ends);
		if (!v->ready) { /* the frame had nothing more */
			v->cutting = false;
			continue;
		}
		if (!pacer_take(&v->pacer, v->n_payload, now))
			return;
		send_payload(v);
	}
}

uint64_t video_sender_next(const struct video_sender *v)
{
	uint64_t now = env_now(v->cs->env), again = UINT64_MAX, due;

	if (can_send(v) != v->state.sending)
		return now;
	if (!v->state.sending)
		return UINT64_MAX;
	if (v->n_again) {
		size_t size = rtx_history_size(v->history, v->again[0].seq, now);

		again = pacer_due(&v->again_pacer, size, now);
		if (again <= now) /* it goes before what is new */
			return pacer_due(&v->pacer, size, now);
	}
	if (!v->cutting && !v->first)
		return again;
	due = pacer_due(&v->pacer, v->n_payload, now);
	return due < again ? due : again;
}

/* ---- feedback ---- */

/* Notes a packet that a viewer misses, once, and if there is one. */
static void note_missing(struct video_sender *v, uint16_t seq, uint32_t viewer)
{
	unsigned of_one = 0;

	if (v->n_again == AGAIN || !rtx_history_size(v->history, seq, env_now(v->cs->env)))
		return;
	for (unsigned i = 0; i < v->n_again; i++) {
		if (v->again[i].seq == seq)
			return;
		of_one += v->again[i].viewer == viewer;
	}
	if (of_one >= AGAIN_OF_ONE)
		return;
	v->again[v->n_again].seq = seq;
	v->again[v->n_again++].viewer = viewer;
}

void video_sender_feedback(struct video_sender *v, const struct rtcp_packet *p)
{
	bool soon = v->key_at && env_now(v->cs->env) - v->key_at < VIDEO_KEY_SPACING_MS * NS_PER_MS;
	uint16_t seqs[AGAIN];
	unsigned n;

	if (!v->state.sending)
		return;
	if (!soon && rtcp_wants_key(p, v->ssrc))
		want_key(v);
	n = v->rtx_ssrc ? rtcp_read_nack(p, v->ssrc, seqs, AGAIN) : 0;
	for (unsigned i = 0; i < n; i++)
		note_missing(v, seqs[i], p->ssrc);
}

struct video_sender_state video_sender_state(const struct video_sender *v)
{
	return v->state;
}
