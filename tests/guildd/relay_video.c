/* Video of streams in the relay: from the owner of a stream to its viewers, with the payload types
 * of each, and their feedback back to the owner. */
#include "tests/guildd/relay_inside.h"

#include "tests/guildd/dave.h"

#include "proto/rtcp.h"

enum { MAGIC = 0xfa, SSRC_AT = 8, SERVER_SSRC = 1, NACKS = 64 };

void gd_stream_video_open(struct gd_stream *s)
{
	if (s->video.ssrc)
		return;
	s->video.ssrc = relay_new_ssrc(s->r);
	s->video.rtx_ssrc = relay_new_ssrc(s->r);
}

uint32_t gd_stream_video_ssrc(const struct gd_stream *s)
{
	return s->video.ssrc;
}

uint32_t gd_stream_video_rtx(const struct gd_stream *s)
{
	return s->video.rtx_ssrc;
}

void gd_stream_video_types(struct gd_stream *s, uint8_t pt, uint8_t rtx_pt)
{
	s->video.pt = pt;
	s->video.rtx_pt = rtx_pt;
}

void gd_stream_video_sends(struct gd_stream *s, bool sends)
{
	s->video.sends = sends;
}

void gd_stream_video_wants(struct gd_stream *s, unsigned quality)
{
	s->video.wants = quality;
}

static struct gd_stream *by_video_ssrc(struct gd_relay *r, uint32_t ssrc)
{
	for (size_t i = 0; ssrc && i < r->streams.n; i++) {
		struct gd_stream *s = r->streams.v[i];

		if (s->video.ssrc == ssrc || s->video.rtx_ssrc == ssrc)
			return s;
	}
	return NULL;
}

/* A frame is sealed as a whole, so only its last packet shows it: the last byte is one of DAVE. */
static bool is_plain(struct gd_stream *s, const struct gd_rtp *in)
{
	return in->marker && gd_dave_seal(s->r->g->dave, s->channel, s->user) != GD_SEAL_NONE &&
	       in->payload.p[in->payload.n - 1] != MAGIC;
}

static void forward(struct gd_stream *from, const struct gd_rtp *in, bool again)
{
	for (size_t i = 0; i < from->r->streams.n; i++) {
		struct gd_stream *to = from->r->streams.v[i];
		struct gd_tx tx = {.pt = again ? to->video.rtx_pt : to->video.pt};

		if (to == from || !to->aead || to->channel != from->channel || !to->video.wants ||
		    !tx.pt)
			continue;
		to->video.forwarded += relay_forward(to, in, &tx);
	}
}

bool relay_take_video(struct gd_relay *r, const uint8_t *p, size_t len,
		      const struct sockaddr_in *from)
{
	struct rd in = rd_of(p, len);
	uint8_t plain[GD_PACKET_BUF], pt;
	struct gd_rtp rtp;
	struct gd_stream *s;
	uint32_t ssrc;
	bool again;

	rd_bytes(&in, SSRC_AT);
	ssrc = (uint32_t)rd_be(&in, 4);
	s = in.ok ? by_video_ssrc(r, ssrc) : NULL;
	if (!s)
		return false;
	again = ssrc == s->video.rtx_ssrc;
	pt = p[1] & 0x7f;
	if (!s->video.sends || !s->aead || !same_addr(from, &s->addr) ||
	    pt != (again ? s->video.rtx_pt : s->video.pt) ||
	    gd_rtp_open(s->aead, &s->nonce, p, len, plain, &rtp) != GD_RX_OK) {
		s->video.refused++;
		return true;
	}
	if (is_plain(s, &rtp)) {
		s->video.plain++;
		gd_count(r->g, s->user, "video_plaintext");
		return true;
	}
	s->video.packets += !again;
	s->video.again += again;
	s->video.frames += rtp.marker && !again;
	forward(s, &rtp, again);
	return true;
}

/* What the owner is sent of the feedback about its video: an empty report of the server, then the
 * feedback as the viewer wrote it. */
void relay_pass_feedback(struct gd_stream *from, const struct gd_told *told)
{
	struct rd r = rd_of(told->feedback, told->n_feedback);
	struct rtcp_packet p;
	uint16_t seqs[NACKS];

	while (rtcp_next(&r, &p)) {
		struct gd_stream *to = by_video_ssrc(from->r, p.media);
		uint8_t out[GD_PACKET_BUF];
		size_t len;

		for (size_t i = 0; !to && i < from->r->streams.n; i++) {
			struct gd_stream *s = from->r->streams.v[i];

			if (s->video.ssrc && rtcp_wants_key(&p, s->video.ssrc))
				to = s;
		}
		if (!to || to == from || !to->aead || to->channel != from->channel)
			continue;
		to->video.nacks += rtcp_read_nack(&p, p.media, seqs, NACKS) > 0;
		to->video.key_requests += rtcp_wants_key(&p, to->video.ssrc);
		if (gd_rtcp_feedback(to->aead, to->counter, SERVER_SSRC,
				     (struct slice){told->feedback, told->n_feedback}, out,
				     sizeof(out), &len))
			continue;
		to->counter++;
		relay_send(to->r, &to->addr, out, len);
		return;
	}
}

json_t *relay_video_json(const struct gd_stream *s)
{
	const struct gd_video *v = &s->video;

	if (!v->ssrc)
		return NULL;
	return json_pack("{s:I, s:I, s:i, s:b, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
			 "ssrc", (json_int_t)v->ssrc, "rtx_ssrc", (json_int_t)v->rtx_ssrc,
			 "payload_type", v->pt, "sends", v->sends, "wants", (int)v->wants,
			 "packets", (json_int_t)v->packets, "again", (json_int_t)v->again, "frames",
			 (json_int_t)v->frames, "refused", (json_int_t)v->refused, "plain",
			 (json_int_t)v->plain, "forwarded", (json_int_t)v->forwarded, "nacks",
			 (json_int_t)v->nacks, "key_requests", (json_int_t)v->key_requests);
}
