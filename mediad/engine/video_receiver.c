#include "mediad/engine/video_receiver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/env.h"
#include "mediad/engine/call_stream_internal.h"
#include "mediad/video/rtx.h"
#include "proto/base/time.h"

/* Feedback is looked at in this interval while packets come, and else in the second one. */
#define BUSY_NS (VIDEO_REORDER_MS * NS_PER_MS)
#define IDLE_NS (250 * NS_PER_MS)
#define KEY_NS	(VIDEO_KEY_REQUEST_MS * NS_PER_MS)

struct source {
	uint64_t user; /* 0: free */
	uint32_t ssrc, rtx_ssrc;
	bool every;
	bool wants_key; /* control asks for one */
	enum video_codec codec;
	struct video_assembler *assembler; /* NULL before the first packet */
	struct arrivals arrivals, again;
	uint64_t packet_at, asked_at; /* the newest packet, and request for a key frame; 0: none */
	uint64_t codec_at;	      /* when the codec was taken */
};

struct video_receiver {
	struct call_stream *cs;
	received_frame_h *frameh;
	received_codec_h *codech;
	void *arg;
	struct source sources[VIDEO_SOURCES];
	uint64_t ticked_at;
	uint8_t plain[VIDEO_FRAME_MAX];
};

int video_receiver_alloc(struct video_receiver **out, struct call_stream *cs,
			 received_frame_h *frameh, received_codec_h *codech, void *arg)
{
	struct video_receiver *r = calloc(1, sizeof *r);

	if (!r)
		return ENOMEM;
	r->cs = cs;
	r->frameh = frameh;
	r->codech = codech;
	r->arg = arg;
	*out = r;
	return 0;
}

static void forget_source(struct video_receiver *r, struct source *s)
{
	if (!s->user)
		return;
	call_stream_leave_source(r->cs, s->ssrc, &s->arrivals, NULL);
	call_stream_leave_source(r->cs, s->rtx_ssrc, &s->again, NULL);
	video_assembler_free(s->assembler);
	*s = (struct source){0};
}

struct video_receiver *video_receiver_free(struct video_receiver *r)
{
	for (unsigned i = 0; r && i < VIDEO_SOURCES; i++)
		video_assembler_free(r->sources[i].assembler);
	if (r)
		explicit_bzero(r->plain, sizeof r->plain);
	free(r);
	return NULL;
}

/* user 0: a free place. */
static struct source *find_user(struct video_receiver *r, uint64_t user)
{
	for (unsigned i = 0; i < VIDEO_SOURCES; i++)
		if (r->sources[i].user == user)
			return &r->sources[i];
	return NULL;
}

static struct source *find_ssrc(struct video_receiver *r, uint32_t ssrc)
{
	for (unsigned i = 0; ssrc && i < VIDEO_SOURCES; i++)
		if (r->sources[i].ssrc == ssrc || r->sources[i].rtx_ssrc == ssrc)
			return &r->sources[i];
	return NULL;
}

static bool is_taken(struct video_receiver *r, uint32_t ssrc, uint64_t user)
{
	const struct source *s = find_ssrc(r, ssrc);

	return s && s->user != user;
}

int video_receiver_watch(struct video_receiver *r, uint64_t user, uint32_t ssrc, uint32_t rtx_ssrc,
			 bool every)
{
	struct source *s = find_user(r, user);

	if (!user || !ssrc || ssrc == rtx_ssrc || is_taken(r, ssrc, user) ||
	    is_taken(r, rtx_ssrc, user))
		return EINVAL;
	if (s && s->ssrc == ssrc && s->rtx_ssrc == rtx_ssrc) {
		s->every = every;
		return 0;
	}
	if (s)
		forget_source(r, s);
	else
		s = find_user(r, 0);
	if (!s)
		return ENOSPC;
	*s = (struct source){.user = user, .ssrc = ssrc, .rtx_ssrc = rtx_ssrc, .every = every};
	call_stream_begin_source(r->cs, ssrc, &s->arrivals, NULL);
	call_stream_begin_source(r->cs, rtx_ssrc, &s->again, NULL);
	return 0;
}

void video_receiver_unwatch(struct video_receiver *r, uint64_t user)
{
	struct source *s = user ? find_user(r, user) : NULL;

	if (s)
		forget_source(r, s);
}

void video_receiver_request_key(struct video_receiver *r, uint64_t user)
{
	struct source *s = user ? find_user(r, user) : NULL;

	if (s)
		s->wants_key = true;
}

void video_receiver_end_session(struct video_receiver *r)
{
	for (unsigned i = 0; i < VIDEO_SOURCES; i++)
		forget_source(r, &r->sources[i]);
}

void video_receiver_new_key(struct video_receiver *r)
{
	for (unsigned i = 0; i < VIDEO_SOURCES; i++) {
		memset(&r->sources[i].arrivals, 0, sizeof r->sources[i].arrivals);
		memset(&r->sources[i].again, 0, sizeof r->sources[i].again);
	}
}

const struct video_assembler_stats *video_receiver_stats(const struct video_receiver *r,
							 uint64_t user)
{
	for (unsigned i = 0; user && i < VIDEO_SOURCES; i++)
		if (r->sources[i].user == user && r->sources[i].assembler)
			return video_assembler_stats(r->sources[i].assembler);
	return NULL;
}

/* Whom nobody may look at is authenticated, and that is all. */
static bool is_refused(const struct video_receiver *r, const struct source *s)
{
	const struct slot *slot = call_stream_slot_of_user(r->cs, s->user);

	return slot && !slot->consent;
}

/* ---- frames ---- */

/* Decrypts the frame. Returns false when it is of no use, so that a key frame is needed. */
static bool open_frame(struct video_receiver *r, const struct source *s,
		       const struct video_frame *f, uint64_t now, size_t *len)
{
	struct slot *slot = call_stream_slot_of_user(r->cs, s->user);
	uint64_t epoch = 0;
	enum dave_opened what;

	/* Consent may have been withdrawn meanwhile; and nothing is decrypted before it is known
	 * what may be accepted. */
	if (!slot || is_refused(r, s) || !call_stream_may_decrypt(r->cs, slot))
		return false;
	what = dave_open(slot->opener, f->bytes, now, r->plain, sizeof r->plain, len, &epoch);
	if (what == DAVE_SEALED || what == DAVE_CLEAR) {
		call_stream_note_decrypted_video(r->cs, slot, epoch);
		return true;
	}
	slot->not_sealed += what == DAVE_NOT_SEALED;
	slot->undecryptable += what == DAVE_FAILED;
	call_stream_note_undecryptable_video(r->cs, slot, now);
	return false;
}

/* Between key frames nothing is decrypted for a viewer of key frames alone. */
static void take_frames(struct video_receiver *r, struct source *s, uint64_t now)
{
	struct video_frame f;
	size_t len;

	while (video_assembler_next(s->assembler, now, &f)) {
		struct received_frame out = {
			.user = s->user, .at = now, .codec = s->codec, .ts = f.ts, .key = f.key};

		if (!f.key && !s->every)
			continue;
		if (!open_frame(r, s, &f, now, &len)) {
			video_assembler_refuse(s->assembler);
			/* One that came before, or could not be told apart, may lie there. */
			explicit_bzero(r->plain, f.bytes.n);
			continue;
		}
		s->wants_key = s->wants_key && !f.key;
		out.bytes = (struct slice){r->plain, len};
		r->frameh(&out, r->arg);
		/* A picture of a screen stays nowhere longer than it is needed. */
		explicit_bzero(r->plain, len);
	}
}

/* ---- packets ---- */

/* The codec of a payload type, with that of its retransmissions; NONE. */
static enum video_codec codec_of(unsigned pt, bool *again)
{
#define X(NAME, wire, type, rtx)                                                                   \
	if (pt == (type) || pt == (rtx)) {                                                         \
		*again = pt == (rtx);                                                              \
		return VIDEO_##NAME;                                                               \
	}
	VIDEO_CODECS(X)
#undef X
	return VIDEO_NONE;
}

/* Another codec begins anew. The payload type is the sender's word, and a change costs a table of
 * 2.5 MB: so it comes seldom, and not with a retransmission. Returns false when the packet is of no
 * use, or without memory. */
static bool use_codec(struct video_receiver *r, struct source *s, enum video_codec codec,
		      bool again, uint64_t now)
{
	if (s->assembler && s->codec == codec)
		return true;
	if (s->assembler && (again || now - s->codec_at < VIDEO_CODEC_MS * NS_PER_MS))
		return false;
	if (s->assembler)
		video_assembler_restart(s->assembler, codec);
	else if (video_assembler_alloc(&s->assembler, codec))
		return false;
	s->codec = codec;
	s->codec_at = now;
	r->codech(s->user, codec, r->arg);
	return true;
}

static void put_packet(struct source *s, const struct rtp_header *h, struct slice payload,
		       bool again, uint64_t now)
{
	struct video_packet p = {h->seq, h->ts, h->marker, payload};

	/* Padding of the stream of retransmissions says nothing. */
	if (again && (!payload.n || rtx_read(payload.p, payload.n, &p.seq, &p.payload)))
		return;
	video_assembler_put(s->assembler, &p, now);
}

static void on_packet(struct video_receiver *r, struct source *s, uint8_t *p, size_t n,
		      enum video_codec codec)
{
	uint64_t now = env_now(r->cs->env);
	struct rtpsize_rtp rtp = {0};
	struct rtp_header h;
	struct arrivals *arrivals;
	const uint8_t *counter;
	bool again;
	int err;

	if (rtp_parse(&h, p, n)) {
		r->cs->stats.malformed++;
		return;
	}
	again = h.ssrc == s->rtx_ssrc;
	arrivals = again ? &s->again : &s->arrivals;
	counter = rtpsize_counter_of(r->cs->key, p, n);
	if (!call_stream_may_be_new(arrivals, counter, h.seq)) {
		r->cs->stats.replayed++;
		return;
	}
	err = rtpsize_open(r->cs->key, p, n, NULL, 0, &rtp);
	if (err && err != ENODATA) {
		r->cs->stats.malformed++;
		return;
	}
	call_stream_note_authentic(r->cs, counter);
	if (!call_stream_accept_packet(arrivals, counter, h.seq, now)) {
		r->cs->stats.replayed++;
		return;
	}
	if (is_refused(r, s) || !use_codec(r, s, codec, again, now))
		return;
	s->packet_at = now;
	if (err) /* nothing but padding */
		rtp.payload = (struct slice){0};
	put_packet(s, &h, rtp.payload, again, now);
	take_frames(r, s, now);
}

bool video_receiver_input(struct video_receiver *r, uint8_t *p, size_t n)
{
	enum video_codec codec;
	struct rtp_header h;
	struct source *s;
	bool again;

	if (udp_classify(p, n) != UDP_RTP || rtp_parse(&h, p, n))
		return false;
	codec = codec_of(h.pt, &again);
	if (codec == VIDEO_NONE)
		return false;
	r->cs->stats.received++;
	s = find_ssrc(r, h.ssrc);
	if (!s || again != (h.ssrc == s->rtx_ssrc))
		r->cs->stats.unknown_ssrc++;
	else if (r->cs->linked && r->cs->key)
		on_packet(r, s, p, n, codec);
	return true;
}

/* ---- feedback ---- */

static void send_feedback(struct video_receiver *r, const struct source *s, const uint16_t *seqs,
			  unsigned n, bool key)
{
	struct call_stream *cs = r->cs;
	uint8_t plain[UDP_MAX_PACKET], out[UDP_MAX_PACKET];
	size_t len;
	struct wr w;

	if (rtcp_build(cs->ssrc, NULL, NULL, 0, plain, sizeof plain, &len))
		return;
	w = wr_of(plain + len, sizeof plain - len - RTPSIZE_OVERHEAD_MAX);
	if (n)
		rtcp_write_nack(&w, cs->ssrc, s->ssrc, seqs, n);
	if (key)
		rtcp_write_pli(&w, cs->ssrc, s->ssrc);
	if (w.ok && !rtpsize_seal_rtcp(cs->key, plain, len + w.pos, out, sizeof out, &len))
		call_stream_send_datagram(cs, out, len);
}

/* Is it time to request a key frame? Before the first packet, when the assembler needs one, and
 * when control wants one. */
static bool key_is_due(const struct video_receiver *r, struct source *s, uint64_t now)
{
	if (is_refused(r, s) || (s->asked_at && now - s->asked_at < KEY_NS))
		return false;
	if (s->assembler && !video_assembler_wants_key(s->assembler, now) && !s->wants_key)
		return false;
	s->asked_at = now;
	return true;
}

void video_receiver_tick(struct video_receiver *r, uint64_t now)
{
	uint16_t seqs[VIDEO_NACK_MAX];

	if (now < video_receiver_next(r))
		return;
	r->ticked_at = now;
	for (unsigned i = 0; i < VIDEO_SOURCES; i++) {
		struct source *s = &r->sources[i];
		unsigned n;
		bool key;

		if (!s->user)
			continue;
		/* What came of whom nobody may look at any more is wiped. */
		if (s->assembler && is_refused(r, s))
			s->assembler = video_assembler_free(s->assembler);
		if (s->assembler)
			take_frames(r, s, now); /* a missing packet may be given up */
		n = s->assembler ? video_assembler_missing(s->assembler, now, seqs) : 0;
		key = key_is_due(r, s, now);
		if (n || key)
			send_feedback(r, s, seqs, n, key);
	}
}

uint64_t video_receiver_next(const struct video_receiver *r)
{
	uint64_t next = UINT64_MAX;

	if (!r->cs->linked || !r->cs->key)
		return next;
	for (unsigned i = 0; i < VIDEO_SOURCES; i++) {
		const struct source *s = &r->sources[i];
		bool busy = s->packet_at && r->ticked_at < s->packet_at + NS_PER_S;
		uint64_t at = r->ticked_at + (busy ? BUSY_NS : IDLE_NS);

		if (s->user && at < next)
			next = at;
	}
	return next;
}
