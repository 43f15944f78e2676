/* Video from a sender to a receiver over a bad network, in simulated time: encrypted, cut, paced,
 * encrypted again, lost and overtaken, asked for and sent again, joined and decrypted. */
#include "tests/test.h"

#include "mediad/dave/media.h"
#include "mediad/transport/rtpsize.h"
#include "mediad/video/assembler.h"
#include "mediad/video/pacer.h"
#include "mediad/video/rtx.h"
#include "proto/base/time.h"
#include "proto/rtcp.h"
#include "tests/random.h"

enum {
	FPS = 30,
	SECONDS = 20,
	KEY_BYTES = 30000,
	INTER_BYTES = 3000,
	PAYLOAD = 1100,
	RATE = 400000, /* bytes per second */
	QUEUE = 4096,
	SSRC = 7,
	RTX_SSRC = 8,
	VIEWER = 9,
	FEEDBACK_MS = 20,
};

/* A datagram on its way. */
struct flight {
	uint64_t at; /* arrival; 0: free */
	size_t n;
	uint8_t p[UDP_MAX_PACKET];
};

struct packet {
	struct rtp_header h;
	size_t n;
	uint8_t p[UDP_MAX_PACKET];
};

struct path {
	double loss;
	uint64_t seed, now;
	struct rtpsize *out, *in, *back_out, *back_in;
	struct dave_sealer *sealer;
	struct dave_opener *opener;
	struct rtx_history *history;
	struct video_assembler *assembler;
	struct pacer pacer;
	struct packet *queue; /* what waits for the pacer */
	unsigned first, queued;
	struct flight *forth, *back;
	uint16_t seq, rtx_seq;
	bool key_wanted;
	unsigned sent, keys, again; /* frames, and packets sent again */
	unsigned got, got_keys;
	uint32_t last;	      /* number of the frame that came last */
	bool wrong;	      /* a frame came that cannot be decoded, or is not what was sent */
	uint64_t bytes, from; /* what the pacer let out in the present 100 ms */
	uint64_t most;
};

static bool path_start(struct path *p, double loss)
{
	static const uint8_t key[RTPSIZE_KEY] = "a transport key of 32 bytes 1234";
	static const uint8_t back[RTPSIZE_KEY] = "another transport key of 32 by..";
	static const uint8_t base[DAVE_SECRET] = "a secret of ours";
	struct dave_key *send = NULL, *receive = NULL;

	*p = (struct path){.loss = loss, .seed = 17, .now = NS_PER_S, .key_wanted = true};
	p->queue = calloc(QUEUE, sizeof *p->queue);
	p->forth = calloc(QUEUE, sizeof *p->forth);
	p->back = calloc(QUEUE, sizeof *p->back);
	if (!p->queue || !p->forth || !p->back || rtx_history_alloc(&p->history) ||
	    video_assembler_alloc(&p->assembler, VIDEO_H264) || dave_sealer_alloc(&p->sealer) ||
	    dave_opener_alloc(&p->opener) || dave_key_alloc(&send, base, 1, 0) ||
	    dave_key_alloc(&receive, base, 1, 0) ||
	    rtpsize_alloc(&p->out, RTPSIZE_AES256_GCM, key) ||
	    rtpsize_alloc(&p->in, RTPSIZE_AES256_GCM, key) ||
	    rtpsize_alloc(&p->back_out, RTPSIZE_AES256_GCM, back) ||
	    rtpsize_alloc(&p->back_in, RTPSIZE_AES256_GCM, back))
		return false;
	dave_sealer_set(p->sealer, send);
	dave_opener_add(p->opener, receive, 0, NULL, NULL);
	pacer_start(&p->pacer, RATE, UDP_MAX_PACKET, p->now);
	return true;
}

static void path_end(struct path *p)
{
	rtpsize_free(p->out);
	rtpsize_free(p->in);
	rtpsize_free(p->back_out);
	rtpsize_free(p->back_in);
	dave_sealer_free(p->sealer);
	dave_opener_free(p->opener);
	rtx_history_free(p->history);
	video_assembler_free(p->assembler);
	free(p->queue);
	free(p->forth);
	free(p->back);
}

/* Loses a datagram, or delays it by 20 to 50 ms, so that others overtake it. */
static void send_through(struct path *p, struct flight *way, const uint8_t *bytes, size_t n)
{
	if (random_happens(&p->seed, p->loss))
		return;
	for (unsigned i = 0; i < QUEUE; i++) {
		if (way[i].at)
			continue;
		way[i].at = p->now + random_between(&p->seed, 20, 50) * NS_PER_MS;
		way[i].n = n;
		memcpy(way[i].p, bytes, n);
		return;
	}
}

/* ---- sending ---- */

static void enqueue(struct path *p, uint32_t ssrc, const struct rtx_packet *packet)
{
	struct packet *q = &p->queue[(p->first + p->queued++) % QUEUE];

	q->h = (struct rtp_header){.pt = ssrc == SSRC ? 103 : 104,
				   .ssrc = ssrc,
				   .seq = ssrc == SSRC ? packet->seq : p->rtx_seq++,
				   .ts = packet->ts,
				   .marker = packet->marker};
	q->n = packet->payload.n;
	memcpy(q->p, packet->payload.p, q->n);
}

/* The number of the frame lies in its encrypted part. */
static size_t make_frame(uint8_t *out, bool key, uint32_t number)
{
	static const uint8_t parameters[] = {0, 0, 0, 1, 0x67, 0x42, 9, 9, 0, 0, 0, 1, 0x68, 0xce};
	struct wr w = wr_of(out, KEY_BYTES + 64);
	size_t n = key ? KEY_BYTES : INTER_BYTES;

	if (key)
		wr_bytes(&w, parameters, sizeof parameters);
	wr_be(&w, 1, 4);
	wr_be(&w, key ? 0x65b8 : 0x41e0, 2);
	memset(w.p + w.pos, 0x55, n);
	for (unsigned i = 0; i < 4; i++)
		w.p[w.pos + 64 + i] = (uint8_t)(0x80 | (number >> (7 * i) & 0x7f));
	return w.pos + n;
}

static void send_frame(struct path *p)
{
	static uint8_t frame[KEY_BYTES + 64], sealed[DAVE_VIDEO_CAP(KEY_BYTES + 64)],
		payload[PAYLOAD];
	struct video_packetizer cut = {0};
	struct rtx_packet packet = {.ts = p->sent * (VIDEO_CLOCK / FPS)};
	size_t n = make_frame(frame, p->key_wanted, p->sent), len;

	p->keys += p->key_wanted;
	p->key_wanted = false;
	p->sent++;
	if (dave_seal(p->sealer, DAVE_H264, frame, n, sealed, sizeof sealed, &len) ||
	    video_packetizer_start(&cut, VIDEO_H264, sealed, len, sizeof payload)) {
		p->wrong = true;
		return;
	}
	while (video_packetizer_next(&cut, payload, &packet.payload.n, &packet.marker)) {
		packet.payload.p = payload;
		packet.seq = p->seq++;
		rtx_history_put(p->history, &packet);
		enqueue(p, SSRC, &packet);
	}
}

static void send_due(struct path *p)
{
	uint8_t out[UDP_MAX_PACKET];
	size_t len;

	while (p->queued) {
		const struct packet *q = &p->queue[p->first % QUEUE];

		if (!pacer_take(&p->pacer, q->n, p->now))
			return;
		if (p->now - p->from >= 100 * NS_PER_MS) {
			p->from = p->now;
			p->bytes = 0;
		}
		p->bytes += q->n;
		if (p->bytes > p->most)
			p->most = p->bytes;
		if (!rtpsize_seal(p->out, &q->h, q->p, q->n, out, sizeof out, &len))
			send_through(p, p->forth, out, len);
		p->first++;
		p->queued--;
	}
}

static void take_feedback(struct path *p, struct flight *f)
{
	uint8_t plain[UDP_MAX_PACKET], again[RTX_HEADER + PAYLOAD];
	uint16_t seqs[VIDEO_NACK_MAX];
	struct rtcp_packet got;
	size_t len;
	struct rd r;

	if (rtpsize_open_rtcp(p->back_in, f->p, f->n, plain, sizeof plain, &len))
		return;
	r = rd_of(plain, len);
	while (rtcp_next(&r, &got)) {
		unsigned n = rtcp_read_nack(&got, SSRC, seqs, VIDEO_NACK_MAX);

		p->key_wanted = p->key_wanted || rtcp_wants_key(&got, SSRC);
		for (unsigned i = 0; i < n; i++) {
			struct rtx_packet packet;

			if (rtx_history_again(p->history, seqs[i], p->now, again, sizeof again,
					      &packet))
				continue;
			p->again++;
			enqueue(p, RTX_SSRC, &packet);
		}
	}
}

/* ---- receiving ---- */

static void take_packet(struct path *p, struct flight *f)
{
	struct rtpsize_rtp rtp;
	struct video_packet packet;

	if (rtpsize_open(p->in, f->p, f->n, NULL, 0, &rtp)) {
		p->wrong = true;
		return;
	}
	packet = (struct video_packet){
		.seq = rtp.h.seq, .ts = rtp.h.ts, .marker = rtp.h.marker, .payload = rtp.payload};
	if (rtp.h.ssrc == RTX_SSRC &&
	    rtx_read(rtp.payload.p, rtp.payload.n, &packet.seq, &packet.payload))
		return;
	video_assembler_put(p->assembler, &packet, p->now);
}

static void take_frames(struct path *p)
{
	static uint8_t opened[DAVE_VIDEO_CAP(KEY_BYTES + 64)], want[KEY_BYTES + 64];
	struct video_frame f;
	uint64_t epoch;
	size_t n;

	while (video_assembler_next(p->assembler, p->now, &f)) {
		uint32_t number = f.ts / (VIDEO_CLOCK / FPS);

		/* Every other frame needs the one before it. */
		p->wrong = p->wrong || number >= p->sent || (p->got && number <= p->last) ||
			   (!f.key && number != p->last + 1) ||
			   dave_open(p->opener, f.bytes, p->now, opened, sizeof opened, &n,
				     &epoch) != DAVE_SEALED ||
			   n != make_frame(want, f.key, number) || memcmp(opened, want, n) != 0;
		p->last = number;
		p->got++;
		p->got_keys += f.key;
	}
}

static void send_feedback(struct path *p)
{
	uint16_t seqs[VIDEO_NACK_MAX];
	unsigned n = video_assembler_missing(p->assembler, p->now, seqs);
	bool key = video_assembler_wants_key(p->assembler, p->now);
	uint8_t plain[RTCP_REPORT_MAX], out[UDP_MAX_PACKET];
	struct wr w = wr_of(plain, sizeof plain);
	size_t len;

	if ((!n && !key) || rtcp_build(VIEWER, NULL, NULL, 0, plain, sizeof plain, &w.pos))
		return;
	if (n)
		rtcp_write_nack(&w, VIEWER, SSRC, seqs, n);
	if (key)
		rtcp_write_pli(&w, VIEWER, SSRC);
	if (w.ok && !rtpsize_seal_rtcp(p->back_out, plain, w.pos, out, sizeof out, &len))
		send_through(p, p->back, out, len);
}

static void path_run(struct path *p)
{
	for (unsigned ms = 0; ms < SECONDS * 1000; ms++, p->now += NS_PER_MS) {
		if (ms * FPS / 1000 >= p->sent)
			send_frame(p);
		send_due(p);
		for (unsigned i = 0; i < QUEUE; i++) {
			if (p->forth[i].at && p->forth[i].at <= p->now) {
				p->forth[i].at = 0;
				take_packet(p, &p->forth[i]);
			}
			if (p->back[i].at && p->back[i].at <= p->now) {
				p->back[i].at = 0;
				take_feedback(p, &p->back[i]);
			}
		}
		take_frames(p);
		if (ms % FEEDBACK_MS == 0)
			send_feedback(p);
	}
}

/* Runs with this share of datagrams lost, both ways. */
static void check_path(double loss, double least, unsigned least_keys, unsigned most_keys)
{
	static struct path p;

	CHECK(path_start(&p, loss));
	path_run(&p);
	CHECK(!p.wrong);
	CHECK(p.got >= least * p.sent);
	CHECK(p.got_keys >= least_keys && p.keys <= most_keys);
	/* Few packets are sent again that were only overtaken. */
	CHECK(loss > 0 ? p.again > 0 : p.again < 50);
	CHECK(p.most <= RATE / 10 + p.pacer.burst + UDP_MAX_PACKET);
	path_end(&p);
}

TEST(video_path_without_loss)
{
	check_path(0, 0.99, 1, 1);
}

TEST(video_path_sends_lost_packets_again)
{
	check_path(0.05, 0.98, 1, 3);
}

/* Beyond what requests can mend, key frames begin anew, and no frame comes without its reference.
 */
TEST(video_path_begins_anew)
{
	check_path(0.25, 0.3, 3, 25);
}
