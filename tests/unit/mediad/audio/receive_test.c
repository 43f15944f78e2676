#include "tests/test.h"

#include <math.h>
#include <opus/opus.h>

#include "mediad/audio/decode.h"
#include "mediad/audio/receive.h"
#include "proto/base/time.h"
#include "proto/rtp.h"

enum { MAX_EVENTS = 4000, PACKETS = 400 };

static struct got {
	struct audio_event ev;
	int16_t first; /* sample */
	int peak;      /* of its samples */
} got[MAX_EVENTS];
static int n_got;
static struct audio_speaker *spk;
static uint64_t now;

/* A second or more of a tone as Opus packets, made once: hybrid mode with FEC. */
static struct {
	uint8_t p[400];
	size_t n;
} opus[PACKETS], chirp[PACKETS]; /* chirp: a tone that goes up and down, which PLC cannot guess */

static void event_h(const struct audio_event *ev, void *arg)
{
	(void)arg;
	if (n_got == MAX_EVENTS)
		abort();
	got[n_got].ev = *ev;
	got[n_got].peak = 0;
	if (ev->type == AUDIO_HEARD)
		got[n_got].first = ev->pcm[0];
	for (size_t i = 0; ev->type == AUDIO_HEARD && i < ev->samples; i++)
		if (abs(ev->pcm[i]) > got[n_got].peak)
			got[n_got].peak = abs(ev->pcm[i]);
	n_got++;
}

static void make_packets(void)
{
	double phase = 0;

	if (opus[0].n)
		return;
	for (int which = 0; which < 2; which++) {
		int err;
		OpusEncoder *e = opus_encoder_create(48000, 1, OPUS_APPLICATION_VOIP, &err);

		opus_encoder_ctl(e, OPUS_SET_BITRATE(32000));
		opus_encoder_ctl(e, OPUS_SET_INBAND_FEC(1));
		opus_encoder_ctl(e, OPUS_SET_PACKET_LOSS_PERC(20));
		opus_encoder_ctl(e, OPUS_SET_SIGNAL(OPUS_SIGNAL_VOICE));
		for (int k = 0; k < PACKETS; k++) {
			int16_t pcm[960];

			for (int i = 0; i < 960; i++) {
				double t = (k * 960 + i) / 48000.0;

				phase += (which ? 400 + 250 * sin(2 * M_PI * 4 * t) : 220) / 48000;
				pcm[i] = (int16_t)lrint(8000 * sin(2 * M_PI * phase));
			}
			if (which)
				chirp[k].n = (size_t)opus_encode(e, pcm, 960, chirp[k].p,
								 sizeof chirp[k].p);
			else
				opus[k].n = (size_t)opus_encode(e, pcm, 960, opus[k].p,
								sizeof opus[k].p);
		}
		opus_encoder_destroy(e);
	}
}

static void setup(void)
{
	make_packets();
	n_got = 0;
	now = 1000 * NS_PER_MS;
	spk = NULL;
	if (audio_speaker_alloc(&spk, 1, event_h, NULL))
		abort();
}

/* Packet k at RTP time k * 960 (+ shift). */
static void put_at(unsigned k, uint32_t shift)
{
	struct audio_packet p = {.seq = (uint16_t)(60000 + k),
				 .ts = k * 960 + shift,
				 .level = 30,
				 .p = opus[k % PACKETS].p,
				 .n = opus[k % PACKETS].n};

	audio_speaker_put(spk, &p, now);
}

static void put(unsigned k)
{
	put_at(k, 0);
}

static void put_silence(unsigned k)
{
	struct audio_packet p = {.seq = (uint16_t)(60000 + k),
				 .ts = k * 960,
				 .level = 127,
				 .p = OPUS_SILENCE,
				 .n = 3};

	audio_speaker_put(spk, &p, now);
}

static void pass(unsigned ms)
{
	for (unsigned i = 0; i < ms; i += 20) {
		now += 20 * NS_PER_MS;
		audio_speaker_tick(spk, now);
	}
}

static int listen_at(uint32_t id, uint32_t rate, uint16_t silence_ms)
{
	struct audio_decoder *d = NULL;
	int err = audio_decoder_alloc(&d, rate);

	if (err)
		return err;
	err = audio_speaker_listen(spk, id, rate, silence_ms, &d, now);
	audio_decoder_free(d);
	return err;
}

static int count(enum audio_event_type type, uint32_t listen)
{
	int n = 0;

	for (int i = 0; i < n_got; i++)
		n += got[i].ev.type == type && got[i].ev.listen == listen;
	return n;
}

/* Frames of a listen follow one another in RTP time, numbered from 0. */
static bool seamless(uint32_t listen, uint32_t rate)
{
	uint32_t rtp = 0, seq = 0;
	bool first = true;

	for (int i = 0; i < n_got; i++) {
		const struct audio_event *e = &got[i].ev;

		if (e->type != AUDIO_HEARD || e->listen != listen)
			continue;
		if (!first && (e->rtp != rtp || e->seq != seq))
			return false;
		first = false;
		rtp = e->rtp + (uint32_t)e->samples * (48000 / rate);
		seq = e->seq + 1;
	}
	return true;
}

TEST(receive_in_order)
{
	struct audio_stats st;

	setup();
	CHECK_INT(listen_at(5, 24000, 700), 0);
	for (unsigned k = 0; k < 50; k++) {
		put(k);
		CHECK_INT(count(AUDIO_HEARD, 5), k + 1); /* at once */
		pass(20);
	}
	CHECK(seamless(5, 24000));
	CHECK(got[0].ev.type == AUDIO_SPEAKING && got[0].ev.on && got[0].ev.at == 1000 * NS_PER_MS);
	CHECK_INT(got[1].ev.flags, MEDIA_HEARD_FIRST);
	CHECK_INT(got[2].ev.flags, 0);
	CHECK_INT(got[1].ev.capture, 1);
	CHECK_INT(got[1].ev.samples, 480);
	CHECK_INT(got[1].ev.level, 30);
	CHECK(got[2].ev.at == 1020 * NS_PER_MS);
	audio_speaker_stats(spk, &st);
	CHECK_INT(st.packets, 50);
	CHECK_INT(st.lost + st.late + st.duplicate + st.undecodable + st.concealed_ms, 0);
	CHECK_INT(st.jitter_us, 0);
	audio_speaker_free(spk);
}

TEST(receive_reorder_and_duplicate)
{
	struct audio_stats st;

	setup();
	listen_at(5, 16000, 700);
	put(0);
	put(2);
	put(3);
	CHECK_INT(count(AUDIO_HEARD, 5), 1); /* held */
	put(2);
	put(1);
	CHECK_INT(count(AUDIO_HEARD, 5), 4);
	put(1);
	put(3);
	CHECK_INT(count(AUDIO_HEARD, 5), 4);
	CHECK(seamless(5, 16000));
	audio_speaker_stats(spk, &st);
	CHECK_INT(st.duplicate, 3);
	CHECK_INT(st.lost, 0);
	CHECK_INT(st.concealed_ms, 0);
	audio_speaker_free(spk);
}

/* One packet of 20 ms is lost: 20 ms are made up, no more. */
TEST(receive_conceals_exactly_what_is_missing)
{
	static const uint32_t rates[] = {8000, 12000, 16000, 24000, 48000};

	for (int r = 0; r < 5; r++) {
		for (unsigned gap = 1; gap <= 5; gap++) {
			struct audio_stats st;
			int concealed = 0;

			setup();
			listen_at(1, rates[r], 700);
			for (unsigned k = 0; k < 10; k++, pass(20))
				put(k);
			for (unsigned k = 10 + gap; k < 20 + gap; k++, pass(20))
				put(k);
			CHECK_INT(count(AUDIO_HEARD, 1), 20 + gap);
			CHECK(seamless(1, rates[r]));
			for (int i = 0; i < n_got; i++)
				concealed += got[i].ev.type == AUDIO_HEARD &&
					     (got[i].ev.flags & MEDIA_HEARD_CONCEALED);
			CHECK_INT(concealed, gap);
			audio_speaker_stats(spk, &st);
			CHECK_INT(st.lost, gap);
			CHECK_INT(st.concealed_ms, gap * 20);
			audio_speaker_free(spk);
		}
	}
}

struct copy {
	int16_t pcm[960];
	bool concealed;
};

static void copy_h(const int16_t *pcm, size_t n, uint32_t rtp, bool concealed, void *arg)
{
	struct copy *c = arg;

	(void)rtp;
	memcpy(c->pcm, pcm, n * sizeof *pcm);
	c->concealed = concealed;
}

/* In-band FEC: what is made up for a lost packet resembles what was in it better than what PLC
 * alone makes up. */
TEST(receive_uses_fec)
{
	struct audio_decoder *d[3] = {0}; /* nothing lost, FEC, PLC */
	struct copy c[3];
	double with_fec = 0, with_plc = 0;

	make_packets();
	for (int i = 0; i < 3; i++)
		CHECK_INT(audio_decoder_alloc(&d[i], 48000), 0);
	for (unsigned k = 0; k < 200; k++) {
		bool lost = k % 10 == 9;

		audio_decoder_packet(d[0], k * 960, chirp[k].p, chirp[k].n, copy_h, &c[0]);
		if (!lost) {
			audio_decoder_packet(d[1], k * 960, chirp[k].p, chirp[k].n, copy_h, &c[1]);
			audio_decoder_packet(d[2], k * 960, chirp[k].p, chirp[k].n, copy_h, &c[2]);
			continue;
		}
		CHECK_INT(audio_decoder_conceal(d[1], 1, (k + 1) * 960, chirp[k + 1].p,
						chirp[k + 1].n, copy_h, &c[1]),
			  960);
		CHECK_INT(audio_decoder_conceal(d[2], 1, (k + 1) * 960, NULL, 0, copy_h, &c[2]),
			  960);
		CHECK(c[1].concealed && c[2].concealed);
		for (int i = 0; i < 960; i++) {
			with_fec += fabs((double)c[0].pcm[i] - c[1].pcm[i]);
			with_plc += fabs((double)c[0].pcm[i] - c[2].pcm[i]);
		}
	}
	for (int i = 0; i < 3; i++)
		audio_decoder_free(d[i]);
	if (with_fec > 0.5 * with_plc)
		test_fail(__FILE__, __LINE__, "FEC %.0f, PLC %.0f", with_fec, with_plc);
}

/* 300 ms lost: 100 ms are concealed, the rest is silence, the time is right. */
TEST(receive_long_loss_is_filled_with_zeros)
{
	setup();
	listen_at(1, 48000, 2000);
	for (unsigned k = 0; k < 10; k++, pass(20))
		put(k);
	for (unsigned k = 25; k < 30; k++, pass(20))
		put(k);
	CHECK_INT(count(AUDIO_HEARD, 1), 30);
	CHECK(seamless(1, 48000));
	/* 80 ms of what might have been, 200 of nothing, and what the next packet still knew. */
	for (int i = 0, k = 0; i < n_got; i++) {
		if (got[i].ev.type != AUDIO_HEARD)
			continue;
		CHECK((got[i].peak == 0) == (k >= 14 && k < 24));
		k++;
	}
	audio_speaker_free(spk);

	/* Three seconds lost: at most one is filled, then the RTP time jumps. */
	setup();
	listen_at(1, 48000, 5000);
	for (unsigned k = 0; k < 10; k++, pass(20))
		put(k);
	for (unsigned k = 160; k < 165; k++, pass(20))
		put(k);
	CHECK_INT(count(AUDIO_HEARD, 1), 10 + 50 + 5);
	CHECK(!seamless(1, 48000));
	audio_speaker_free(spk);
}

TEST(receive_pause_is_no_loss)
{
	struct audio_stats st;

	setup();
	listen_at(1, 48000, 700);
	put_at(0, 0);
	pass(400);
	put_at(1, 400 * 48); /* the clock went on, the numbers did not */
	CHECK_INT(count(AUDIO_HEARD, 1), 2);
	CHECK_INT(got[n_got - 1].ev.rtp, 960 + 400 * 48);
	audio_speaker_stats(spk, &st);
	CHECK_INT(st.lost + st.concealed_ms, 0);
	/* And a loss with a clock that stands still is counted in packets. */
	now += 20 * NS_PER_MS;
	put_at(3, 399 * 48 - 959);
	pass(80);
	CHECK_INT(count(AUDIO_HEARD, 1), 4);
	audio_speaker_free(spk);
}

TEST(receive_reorder_wait_is_bounded)
{
	struct audio_stats st;

	setup();
	listen_at(1, 48000, 700);
	put(0);
	now += 20 * NS_PER_MS;
	put(2);
	now += 10 * NS_PER_MS;
	audio_speaker_tick(spk, now);
	CHECK_INT(count(AUDIO_HEARD, 1), 1);
	CHECK(audio_speaker_due(spk) != UINT64_MAX);
	pass(20); /* the network was calm: AUDIO_REORDER_MIN_MS */
	CHECK_INT(count(AUDIO_HEARD, 1), 3);
	put(1); /* too late */
	CHECK_INT(count(AUDIO_HEARD, 1), 3);
	audio_speaker_stats(spk, &st);
	CHECK_INT(st.lost, 1);
	CHECK_INT(st.late, 1);
	for (unsigned k = 0; k < AUDIO_REORDER_PACKETS;
	     k++) /* many at once, none may wait for ever */
		put(4 + k);
	pass(60); /* read in portions */
	CHECK_INT(count(AUDIO_HEARD, 1), 3 + 1 + AUDIO_REORDER_PACKETS);
	audio_speaker_free(spk);
}

TEST(receive_follows_jumps)
{
	struct audio_stats st;

	setup();
	listen_at(1, 48000, 700);
	for (unsigned k = 0; k < 20; k++, pass(20))
		put(k);
	for (unsigned k = 5020; k < 5040; k++, pass(20)) /* +5000, +10 s of clock */
		put_at(k, 480000);
	CHECK_INT(count(AUDIO_HEARD, 1), 40);
	for (unsigned k = 20; k < 40; k++, pass(20)) /* far back */
		put(k);
	CHECK_INT(count(AUDIO_HEARD, 1), 60);
	audio_speaker_stats(spk, &st);
	CHECK_INT(st.resyncs, 2);
	CHECK_INT(st.concealed_ms, 0);
	/* A little back: after AUDIO_LATE_RUN packets it is believed. */
	n_got = 0;
	for (unsigned k = 0; k < 50; k++)
		put(1000 + k);
	n_got = 0;
	for (unsigned k = 800; k < 820; k++, pass(20))
		put(k);
	CHECK_INT(count(AUDIO_HEARD, 1), 20 - AUDIO_LATE_RUN + 1);
	audio_speaker_free(spk);
}

TEST(receive_captures)
{
	int i;

	setup();
	listen_at(9, 24000, 300);
	for (unsigned k = 0; k < 10; k++, pass(20))
		put(k);
	for (unsigned k = 10; k < 15; k++, pass(20))
		put_silence(k);
	CHECK_INT(count(AUDIO_HEARD, 9), 15); /* silence frames are sound of the capture */
	CHECK_INT(count(AUDIO_HEARD_END, 9), 0);
	pass(160);
	CHECK_INT(count(AUDIO_HEARD_END, 9), 0);
	pass(40);
	CHECK_INT(count(AUDIO_HEARD_END, 9), 1);
	CHECK(audio_speaker_due(spk) == UINT64_MAX);
	for (i = 0; got[i].ev.type != AUDIO_HEARD_END; i++)
		;
	CHECK_INT(got[i].ev.reason, MEDIA_REASON_SILENCE);
	CHECK(got[i].ev.at == (1000 + 9 * 20) * NS_PER_MS);
	CHECK_INT(got[i].ev.capture, 1);
	put_silence(15); /* opens nothing */
	CHECK_INT(count(AUDIO_HEARD, 9), 15);
	put(16);
	pass(60); /* 16 follows 15, nothing is missing */
	CHECK_INT(got[n_got - 1].ev.type, AUDIO_HEARD);
	CHECK_INT(got[n_got - 1].ev.capture, 2);
	CHECK_INT(got[n_got - 1].ev.seq, 0);
	CHECK_INT(got[n_got - 1].ev.flags, MEDIA_HEARD_FIRST);
	audio_speaker_free(spk);
}

TEST(receive_speaking_on_and_off)
{
	setup();
	for (unsigned k = 0; k < 5; k++, pass(20))
		put(k);
	for (unsigned k = 5; k < 10; k++, pass(20))
		put_silence(k); /* does not count as voice */
	CHECK_INT(n_got, 1);
	pass(60);
	CHECK_INT(n_got, 1);
	pass(20);
	CHECK_INT(n_got, 2);
	CHECK(got[1].ev.type == AUDIO_SPEAKING && !got[1].ev.on &&
	      got[1].ev.at == 1080 * NS_PER_MS);
	pass(200);
	put_silence(10);
	CHECK_INT(n_got, 2);
	put(11);
	CHECK_INT(n_got, 3);
	audio_speaker_free(spk);
}

TEST(receive_preroll)
{
	int heard;

	setup();
	for (unsigned k = 0; k < 100; k++, pass(20))
		put(k);
	CHECK_INT(n_got, 1); /* SPEAKING alone: nothing was decoded */
	CHECK_INT(listen_at(4, 24000, 700), 0);
	CHECK_INT(n_got, 1);
	put(100);
	pass(80);
	heard = count(AUDIO_HEARD, 4);
	CHECK(heard >= 50 && heard <= 52); /* the last second and the new packet */
	CHECK(seamless(4, 24000));
	CHECK_INT(got[1].ev.flags, MEDIA_HEARD_FIRST | MEDIA_HEARD_PREROLL);
	CHECK(got[1].ev.at >= 2000 * NS_PER_MS && got[1].ev.at <= 2020 * NS_PER_MS);
	CHECK_INT(got[heard].ev.flags, 0);
	CHECK_INT(got[heard].ev.rtp, 100 * 960);
	audio_speaker_free(spk);
}

TEST(receive_preroll_is_of_this_utterance)
{
	setup();
	for (unsigned k = 0; k < 10; k++, pass(20))
		put(k);
	pass(400);
	for (unsigned k = 10; k < 15; k++, pass(20))
		put_at(k, 400 * 48);
	listen_at(4, 24000, 300); /* 400 ms of silence lie before: another utterance */
	pass(20);
	CHECK_INT(count(AUDIO_HEARD, 4), 5);
	pass(1000);
	CHECK_INT(count(AUDIO_HEARD_END, 4), 1);
	n_got = 0;
	listen_at(5, 48000, 300); /* over already */
	pass(40);
	CHECK_INT(count(AUDIO_HEARD, 5), 0);
	audio_speaker_free(spk);
}

TEST(receive_listens_at_several_rates)
{
	struct audio_decoder *d = NULL;

	setup();
	CHECK_INT(listen_at(1, 24000, 700), 0);
	CHECK_INT(listen_at(1, 24000, 700), EEXIST);
	CHECK_INT(listen_at(2, 16000, 700), 0);
	CHECK_INT(listen_at(3, 44100, 700), EINVAL);
	CHECK_INT(audio_speaker_listen(spk, 3, 48000, 700, &d, now), EINVAL); /* no decoder */
	CHECK_INT(audio_speaker_listen(spk, 3, 24000, 700, &d, now), 0);      /* shares one */
	CHECK_INT(listen_at(4, 24000, 50), EINVAL);
	for (unsigned k = 0; k < 10; k++, pass(20))
		put(k);
	for (uint32_t id = 1; id <= 3; id++) {
		CHECK_INT(count(AUDIO_HEARD, id), 10);
		CHECK(seamless(id, id == 2 ? 16000 : 24000));
	}
	for (int i = 0; i < n_got; i++)
		if (got[i].ev.type == AUDIO_HEARD)
			CHECK_INT(got[i].ev.capture, 1); /* one utterance, one number */
	CHECK(!audio_speaker_unlisten(spk, 1, MEDIA_REASON_UNLISTENED)); /* 3 still uses it */
	CHECK_INT(count(AUDIO_HEARD_END, 1), 1);
	d = audio_speaker_unlisten(spk, 3, MEDIA_REASON_UNLISTENED);
	CHECK(d && audio_decoder_rate(d) == 24000);
	d = audio_decoder_free(d);
	CHECK(!audio_speaker_unlisten(spk, 3, MEDIA_REASON_UNLISTENED));
	listen_at(6, 8000, 700); /* joins the utterance that is open, with pre-roll */
	put(10);
	CHECK_INT(count(AUDIO_HEARD, 6), 11);
	CHECK_INT(got[n_got - 1].ev.capture, 1);
	audio_speaker_free(spk);
}

TEST(receive_different_ends)
{
	setup();
	listen_at(1, 24000, 200);
	listen_at(2, 16000, 2000);
	put(0);
	pass(400);
	put_at(1, 19200);
	CHECK_INT(count(AUDIO_HEARD_END, 1), 1);
	CHECK_INT(count(AUDIO_HEARD_END, 2), 0);
	pass(3000);
	CHECK_INT(count(AUDIO_HEARD_END, 1), 2);
	CHECK_INT(count(AUDIO_HEARD_END, 2), 1);
	n_got = 0;
	put_at(2, 200000);
	CHECK_INT(n_got, 3);
	CHECK_INT(got[1].ev.capture, 3);
	CHECK_INT(got[2].ev.capture, 3);
	audio_speaker_free(spk);
}

TEST(receive_consent)
{
	struct audio_stats st;

	setup();
	listen_at(1, 24000, 700);
	for (unsigned k = 0; k < 5; k++, pass(20))
		put(k);
	audio_speaker_consent(spk, false);
	CHECK_INT(got[n_got - 1].ev.type, AUDIO_HEARD_END);
	CHECK_INT(got[n_got - 1].ev.reason, MEDIA_REASON_NO_CONSENT);
	n_got = 0;
	for (unsigned k = 5; k < 10; k++, pass(20))
		put(k);
	pass(300);
	put(10);
	CHECK_INT(count(AUDIO_HEARD, 1), 0);
	CHECK_INT(n_got, 2); /* SPEAKING off and on: reported for every member */
	audio_speaker_consent(spk, true);
	put(11);
	CHECK_INT(count(AUDIO_HEARD, 1), 1); /* and nothing from before */
	CHECK_INT(got[n_got - 1].ev.rtp, 11 * 960);
	audio_speaker_stats(spk, &st);
	CHECK_INT(st.packets, 12);
	CHECK_INT(st.lost, 0);
	audio_speaker_end(spk, MEDIA_REASON_LEFT);
	CHECK_INT(got[n_got - 2].ev.reason, MEDIA_REASON_LEFT);
	CHECK(got[n_got - 1].ev.type == AUDIO_SPEAKING && !got[n_got - 1].ev.on);
	CHECK(audio_speaker_due(spk) == UINT64_MAX);
	audio_speaker_free(spk);
}

TEST(receive_malformed_opus)
{
	static uint8_t big[AUDIO_OPUS_MAX + 1];
	struct audio_packet bad[] = {
		{.seq = 60010, .ts = 9600, .p = (const uint8_t *)"", .n = 0},
		{.seq = 60011, .ts = 10560, .p = (const uint8_t *)"\xff\xff\xff\xff", .n = 4},
		{.seq = 60012, .ts = 11520, .p = big, .n = sizeof big},
		{.seq = 60013, .ts = 12480, .p = (const uint8_t *)"\x03\x3f\x00", .n = 3},
	};
	struct audio_stats st;

	setup();
	listen_at(1, 24000, 700);
	for (unsigned k = 0; k < 10; k++, pass(20))
		put(k);
	for (int i = 0; i < 4; i++, pass(20))
		audio_speaker_put(spk, &bad[i], now);
	for (unsigned k = 14; k < 20; k++, pass(20))
		put(k);
	CHECK_INT(count(AUDIO_HEARD, 1), 20); /* each was concealed */
	CHECK(seamless(1, 24000));
	audio_speaker_stats(spk, &st);
	CHECK_INT(st.undecodable, 4);
	audio_speaker_free(spk);
}

/* A packet of 60 ms comes out as three frames. */
TEST(receive_splits_long_packets)
{
	int err;
	OpusEncoder *e = opus_encoder_create(48000, 2, OPUS_APPLICATION_AUDIO, &err);
	static int16_t pcm[2880 * 2];
	uint8_t p[1000];
	struct audio_packet pkt = {.p = p, .level = 127};

	for (int i = 0; i < 2880 * 2; i++)
		pcm[i] = (int16_t)(i * 37);
	setup();
	listen_at(1, 16000, 700);
	for (unsigned k = 0; k < 4; k++, pass(60)) {
		pkt.n = (size_t)opus_encode(e, pcm, 2880, p, sizeof p);
		pkt.seq = (uint16_t)(k + (k > 1)); /* one is lost */
		pkt.ts = 2880u * pkt.seq;
		audio_speaker_put(spk, &pkt, now);
	}
	opus_encoder_destroy(e);
	CHECK_INT(count(AUDIO_HEARD, 1), 15);
	CHECK(seamless(1, 16000));
	CHECK_INT(got[1].ev.samples, 320);
	audio_speaker_free(spk);
}

TEST(receive_jitter)
{
	struct audio_stats st;

	setup();
	for (unsigned k = 0; k < 300; k++) {
		now += (k & 1 ? 25 : 15) * NS_PER_MS; /* 5 ms too early, 5 ms too late */
		put(k);
	}
	audio_speaker_stats(spk, &st);
	CHECK(st.jitter_us > 4500 && st.jitter_us < 5500);
	audio_speaker_free(spk);
}

/* A network that shakes by 40 ms is waited for; a calm one is not. */
TEST(receive_reorder_wait_follows_jitter)
{
	struct audio_stats st;
	unsigned k = 0;

	setup();
	listen_at(1, 48000, 700);
	for (; k < 200; k++) {
		now += (k & 1 ? 60 : 0) * NS_PER_MS; /* pairs */
		put(k);
	}
	now += 20 * NS_PER_MS;
	put(k + 1);
	now += 80 * NS_PER_MS;
	audio_speaker_tick(spk, now);
	put(k);
	audio_speaker_stats(spk, &st);
	CHECK_INT(st.late, 0);
	CHECK_INT(st.lost, 0);
	for (k += 2; k < 600; k++) {
		now += 20 * NS_PER_MS;
		put(k);
	}
	put(k + 1);
	pass(20);
	put(k);
	audio_speaker_stats(spk, &st);
	CHECK_INT(st.late, 1);
	CHECK_INT(st.lost, 1);
	audio_speaker_free(spk);
}

/* A second of anything: no crash, no endless hold, and the counts add up. */
TEST(receive_random_network)
{
	for (uint32_t round = 0; round < 60; round++) {
		uint32_t seed = round * 7919 + 1;
		unsigned k = 0;
		struct audio_stats st;

		setup();
		listen_at(1, 8000, 300);
		for (int i = 0; i < 300; i++) {
			seed = seed * 1664525 + 1013904223;
			switch (seed >> 29) {
			case 0:
				k += seed >> 8 & 15;
				break;
			case 1:
				k -= seed >> 8 & 7;
				break;
			case 2:
				k += seed >> 8 & 0xffff;
				break;
			default:
				k++;
			}
			put(k);
			if (seed & 64)
				pass(20);
		}
		pass(1000);
		CHECK(audio_speaker_due(spk) == UINT64_MAX);
		audio_speaker_stats(spk, &st);
		CHECK_INT(st.packets, 300);
		CHECK(count(AUDIO_HEARD, 1) > 100);
		audio_speaker_free(spk);
	}
}

TEST_OOM(receive_without_memory)
{
	struct audio_speaker *s = NULL;
	struct audio_decoder *d = NULL;

	CHECK_OOM(audio_speaker_alloc(&s, 1, event_h, NULL), );
	CHECK_OOM(audio_decoder_alloc(&d, 48000), audio_speaker_free(s));
	CHECK(!audio_decoder_free(d));
	CHECK(!audio_speaker_free(s));
	CHECK(!audio_speaker_free(NULL));
	CHECK(!audio_decoder_free(NULL));
}

static void put_empty(unsigned k)
{
	struct audio_packet p = {.seq = (uint16_t)(60000 + k), .level = 127};

	audio_speaker_put(spk, &p, now);
}

/* Senders pad between utterances, in bursts with numbers of their own (RFC 3550 5.1). */
TEST(receive_padding_is_no_loss)
{
	struct audio_stats st;
	unsigned n = 0;

	setup();
	listen_at(5, 24000, 5000);
	for (; n < 10; n++)
		put(n);
	for (unsigned k = 0; k < 400; k++)
		put_empty(n + k);
	/* Sound goes on where it was in RTP time, and at once. */
	for (; n < 20; n++) {
		struct audio_packet p = {.seq = (uint16_t)(60000 + 400 + n),
					 .ts = n * 960,
					 .level = 30,
					 .p = opus[n].p,
					 .n = opus[n].n};

		audio_speaker_put(spk, &p, now);
		CHECK_INT(count(AUDIO_HEARD, 5), n + 1);
	}
	CHECK(seamless(5, 24000));
	audio_speaker_stats(spk, &st);
	CHECK_INT(st.lost + st.late + st.undecodable + st.concealed_ms, 0);
	/* A packet that was lost among them still is. */
	put_empty(400 + n);
	put_empty(402 + n);
	pass(100);
	audio_speaker_stats(spk, &st);
	CHECK_INT(st.lost, 1);
	audio_speaker_free(spk);
}

/* Packets behind a gap whose bytes were overwritten by the many that came after them: the capture
 * ends all the same. */
TEST(receive_terminates_after_a_flood_behind_a_gap)
{
	static uint8_t big[AUDIO_OPUS_MAX];
	struct audio_packet p = {.level = 30, .p = big, .n = sizeof big};

	setup();
	listen_at(5, 24000, 200);
	put(0);
	CHECK_INT(count(AUDIO_HEARD, 5), 1);
	memcpy(big, opus[0].p, opus[0].n);
	p.seq = 60000 + 60;
	audio_speaker_put(spk, &p, now);
	for (unsigned k = 2; k < 40; k++) {
		p.seq = (uint16_t)(60000 + k);
		audio_speaker_put(spk, &p, now);
	}
	pass(2000);
	CHECK_INT(count(AUDIO_HEARD_END, 5), 1);
	CHECK(audio_speaker_due(spk) == UINT64_MAX);
	audio_speaker_free(spk);
}
