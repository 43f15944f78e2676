#include "tests/unit/mediad/audio/receive_fixture.h"

TEST(receive_in_order)
{
	struct audio_stats st;

	receive_setup();
	CHECK_INT(receive_listen_at(5, 24000, 700), 0);
	for (unsigned k = 0; k < 50; k++) {
		receive_put(k);
		CHECK_INT(receive_count(AUDIO_HEARD, 5), k + 1); /* at once */
		receive_pass(20);
	}
	CHECK(receive_seamless(5, 24000));
	CHECK(receive_rig.got[0].ev.type == AUDIO_SPEAKING && receive_rig.got[0].ev.on &&
	      receive_rig.got[0].ev.at == 1000 * NS_PER_MS);
	CHECK_INT(receive_rig.got[1].ev.flags, MEDIA_HEARD_FIRST);
	CHECK_INT(receive_rig.got[2].ev.flags, 0);
	CHECK_INT(receive_rig.got[1].ev.capture, 1);
	CHECK_INT(receive_rig.got[1].ev.samples, 480);
	CHECK_INT(receive_rig.got[1].ev.level, 30);
	CHECK(receive_rig.got[2].ev.at == 1020 * NS_PER_MS);
	audio_speaker_stats(receive_rig.spk, &st);
	CHECK_INT(st.packets, 50);
	CHECK_INT(st.lost + st.late + st.duplicate + st.undecodable + st.concealed_ms, 0);
	CHECK_INT(st.jitter_us, 0);
	audio_speaker_free(receive_rig.spk);
}

TEST(receive_reorder_and_duplicate)
{
	struct audio_stats st;

	receive_setup();
	receive_listen_at(5, 16000, 700);
	receive_put(0);
	receive_put(2);
	receive_put(3);
	CHECK_INT(receive_count(AUDIO_HEARD, 5), 1); /* held */
	receive_put(2);
	receive_put(1);
	CHECK_INT(receive_count(AUDIO_HEARD, 5), 4);
	receive_put(1);
	receive_put(3);
	CHECK_INT(receive_count(AUDIO_HEARD, 5), 4);
	CHECK(receive_seamless(5, 16000));
	audio_speaker_stats(receive_rig.spk, &st);
	CHECK_INT(st.duplicate, 3);
	CHECK_INT(st.lost, 0);
	CHECK_INT(st.concealed_ms, 0);
	audio_speaker_free(receive_rig.spk);
}

/* One packet of 20 ms is lost: 20 ms are made up, no more. */
TEST(receive_conceals_exactly_what_is_missing)
{
	static const uint32_t rates[] = {8000, 12000, 16000, 24000, 48000};

	for (int r = 0; r < 5; r++) {
		for (unsigned gap = 1; gap <= 5; gap++) {
			struct audio_stats st;
			int concealed = 0;

			receive_setup();
			receive_listen_at(1, rates[r], 700);
			for (unsigned k = 0; k < 10; k++, receive_pass(20))
				receive_put(k);
			for (unsigned k = 10 + gap; k < 20 + gap; k++, receive_pass(20))
				receive_put(k);
			CHECK_INT(receive_count(AUDIO_HEARD, 1), 20 + gap);
			CHECK(receive_seamless(1, rates[r]));
			for (int i = 0; i < receive_rig.n; i++)
				concealed += receive_rig.got[i].ev.type == AUDIO_HEARD &&
					     (receive_rig.got[i].ev.flags & MEDIA_HEARD_CONCEALED);
			CHECK_INT(concealed, gap);
			audio_speaker_stats(receive_rig.spk, &st);
			CHECK_INT(st.lost, gap);
			CHECK_INT(st.concealed_ms, gap * 20);
			audio_speaker_free(receive_rig.spk);
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

	receive_make_packets();
	for (int i = 0; i < 3; i++)
		CHECK_INT(audio_decoder_alloc(&d[i], 48000), 0);
	for (unsigned k = 0; k < 200; k++) {
		bool lost = k % 10 == 9;

		audio_decoder_packet(d[0], k * 960, receive_rig.chirp[k].p, receive_rig.chirp[k].n,
				     copy_h, &c[0]);
		if (!lost) {
			audio_decoder_packet(d[1], k * 960, receive_rig.chirp[k].p,
					     receive_rig.chirp[k].n, copy_h, &c[1]);
			audio_decoder_packet(d[2], k * 960, receive_rig.chirp[k].p,
					     receive_rig.chirp[k].n, copy_h, &c[2]);
			continue;
		}
		CHECK_INT(audio_decoder_conceal(d[1], 1, (k + 1) * 960, receive_rig.chirp[k + 1].p,
						receive_rig.chirp[k + 1].n, copy_h, &c[1]),
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
	receive_setup();
	receive_listen_at(1, 48000, 2000);
	for (unsigned k = 0; k < 10; k++, receive_pass(20))
		receive_put(k);
	for (unsigned k = 25; k < 30; k++, receive_pass(20))
		receive_put(k);
	CHECK_INT(receive_count(AUDIO_HEARD, 1), 30);
	CHECK(receive_seamless(1, 48000));
	/* 80 ms of what might have been, 200 of nothing, and what the next packet still knew. */
	for (int i = 0, k = 0; i < receive_rig.n; i++) {
		if (receive_rig.got[i].ev.type != AUDIO_HEARD)
			continue;
		CHECK((receive_rig.got[i].peak == 0) == (k >= 14 && k < 24));
		k++;
	}
	audio_speaker_free(receive_rig.spk);

	/* Three seconds lost: at most one is filled, then the RTP time jumps. */
	receive_setup();
	receive_listen_at(1, 48000, 5000);
	for (unsigned k = 0; k < 10; k++, receive_pass(20))
		receive_put(k);
	for (unsigned k = 160; k < 165; k++, receive_pass(20))
		receive_put(k);
	CHECK_INT(receive_count(AUDIO_HEARD, 1), 10 + 50 + 5);
	CHECK(!receive_seamless(1, 48000));
	audio_speaker_free(receive_rig.spk);
}

TEST(receive_pause_is_no_loss)
{
	struct audio_stats st;

	receive_setup();
	receive_listen_at(1, 48000, 700);
	receive_put_at(0, 0);
	receive_pass(400);
	receive_put_at(1, 400 * 48); /* the clock went on, the numbers did not */
	CHECK_INT(receive_count(AUDIO_HEARD, 1), 2);
	CHECK_INT(receive_rig.got[receive_rig.n - 1].ev.rtp, 960 + 400 * 48);
	audio_speaker_stats(receive_rig.spk, &st);
	CHECK_INT(st.lost + st.concealed_ms, 0);
	/* And a loss with a clock that stands still is counted in packets. */
	receive_rig.now += 20 * NS_PER_MS;
	receive_put_at(3, 399 * 48 - 959);
	receive_pass(80);
	CHECK_INT(receive_count(AUDIO_HEARD, 1), 4);
	audio_speaker_free(receive_rig.spk);
}

TEST(receive_reorder_wait_is_bounded)
{
	struct audio_stats st;

	receive_setup();
	receive_listen_at(1, 48000, 700);
	receive_put(0);
	receive_rig.now += 20 * NS_PER_MS;
	receive_put(2);
	receive_rig.now += 10 * NS_PER_MS;
	audio_speaker_tick(receive_rig.spk, receive_rig.now);
	CHECK_INT(receive_count(AUDIO_HEARD, 1), 1);
	CHECK(audio_speaker_due(receive_rig.spk) != UINT64_MAX);
	receive_pass(20); /* the network was calm: AUDIO_REORDER_MIN_MS */
	CHECK_INT(receive_count(AUDIO_HEARD, 1), 3);
	receive_put(1); /* too late */
	CHECK_INT(receive_count(AUDIO_HEARD, 1), 3);
	audio_speaker_stats(receive_rig.spk, &st);
	CHECK_INT(st.lost, 1);
	CHECK_INT(st.late, 1);
	for (unsigned k = 0; k < AUDIO_REORDER_PACKETS;
	     k++) /* many at once, none may wait for ever */
		receive_put(4 + k);
	receive_pass(60); /* read in portions */
	CHECK_INT(receive_count(AUDIO_HEARD, 1), 3 + 1 + AUDIO_REORDER_PACKETS);
	audio_speaker_free(receive_rig.spk);
}

/* Each packet that fills a gap from behind would prolong the wait of those that came before it. */
TEST(receive_overtaken_packets_wait_once)
{
	receive_setup();
	receive_listen_at(1, 48000, 700);
	receive_put(0);
	receive_pass(20);
	receive_put(4);
	receive_rig.now += 15 * NS_PER_MS;
	receive_put(3);
	CHECK_INT(receive_count(AUDIO_HEARD, 1), 1);
	receive_rig.now += 10 * NS_PER_MS;
	audio_speaker_tick(receive_rig.spk, receive_rig.now);
	CHECK_INT(receive_count(AUDIO_HEARD, 1), 5); /* two of them concealed */
	audio_speaker_free(receive_rig.spk);
}

TEST(receive_follows_jumps)
{
	struct audio_stats st;

	receive_setup();
	receive_listen_at(1, 48000, 700);
	for (unsigned k = 0; k < 20; k++, receive_pass(20))
		receive_put(k);
	for (unsigned k = 5020; k < 5040; k++, receive_pass(20)) /* +5000, +10 s of clock */
		receive_put_at(k, 480000);
	CHECK_INT(receive_count(AUDIO_HEARD, 1), 40);
	audio_speaker_stats(receive_rig.spk, &st);
	CHECK_INT(st.resyncs, 1);
	CHECK_INT(st.concealed_ms, 0);
	/* Back, far or a little: after AUDIO_LATE_RUN packets it is believed, also if some are
	 * lost. */
	for (unsigned k = 20; k < 50; k++, receive_pass(20))
		if (k % 3)
			receive_put(k);
	CHECK_INT(receive_count(AUDIO_HEARD, 1), 40 + 50 - 37);
	audio_speaker_stats(receive_rig.spk, &st);
	CHECK_INT(st.resyncs, 2);
	receive_rig.n = 0;
	for (unsigned k = 0; k < 50; k++)
		receive_put(1000 + k);
	receive_rig.n = 0;
	for (unsigned k = 800; k < 820; k++, receive_pass(20))
		receive_put(k);
	CHECK_INT(receive_count(AUDIO_HEARD, 1), 20 - AUDIO_LATE_RUN + 1);
	audio_speaker_free(receive_rig.spk);
}

/* This process stalls for longer than the silence that ends an utterance, and loses no packet. */
TEST(receive_a_stall_of_ours_is_no_silence)
{
	unsigned k = 0;

	receive_setup();
	receive_listen_at(1, 48000, 700);
	for (; k < 50; k++, receive_pass(20))
		receive_put(k);
	receive_rig.now += 2000 * NS_PER_MS;
	audio_speaker_stalled(receive_rig.spk, receive_rig.now);
	audio_speaker_tick(receive_rig.spk, receive_rig.now);
	for (; k < 150; k++)
		receive_put(k);
	for (; k < 175; k++, receive_pass(20))
		receive_put(k);
	CHECK_INT(receive_count(AUDIO_HEARD_END, 1), 0);
	CHECK_INT(receive_count(AUDIO_HEARD, 1), 175);
	/* A silence is one all the same. */
	receive_pass(1000);
	CHECK_INT(receive_count(AUDIO_HEARD_END, 1), 1);
	audio_speaker_free(receive_rig.spk);
}

TEST(receive_jitter)
{
	struct audio_stats st;

	receive_setup();
	for (unsigned k = 0; k < 300; k++) {
		receive_rig.now +=
			(k & 1 ? 25 : 15) * NS_PER_MS; /* 5 ms too early, 5 ms too late */
		receive_put(k);
	}
	audio_speaker_stats(receive_rig.spk, &st);
	CHECK(st.jitter_us > 4500 && st.jitter_us < 5500);
	audio_speaker_free(receive_rig.spk);
}

/* A network that shakes by 40 ms is waited for; a calm one is not. */
TEST(receive_reorder_wait_follows_jitter)
{
	struct audio_stats st;
	unsigned k = 0;

	receive_setup();
	receive_listen_at(1, 48000, 700);
	for (; k < 200; k++) {
		receive_rig.now += (k & 1 ? 60 : 0) * NS_PER_MS; /* pairs */
		receive_put(k);
	}
	receive_rig.now += 20 * NS_PER_MS;
	receive_put(k + 1);
	receive_rig.now += 80 * NS_PER_MS;
	audio_speaker_tick(receive_rig.spk, receive_rig.now);
	receive_put(k);
	audio_speaker_stats(receive_rig.spk, &st);
	CHECK_INT(st.late, 0);
	CHECK_INT(st.lost, 0);
	for (k += 2; k < 600; k++) {
		receive_rig.now += 20 * NS_PER_MS;
		receive_put(k);
	}
	receive_put(k + 1);
	receive_pass(20);
	receive_put(k);
	audio_speaker_stats(receive_rig.spk, &st);
	CHECK_INT(st.late, 1);
	CHECK_INT(st.lost, 1);
	audio_speaker_free(receive_rig.spk);
}

/* A second of anything: no crash, no endless hold, and the counts add up. */
TEST(receive_random_network)
{
	for (uint32_t round = 0; round < 60; round++) {
		uint32_t seed = round * 7919 + 1;
		unsigned k = 0;
		struct audio_stats st;

		receive_setup();
		receive_listen_at(1, 8000, 300);
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
			receive_put(k);
			if (seed & 64)
				receive_pass(20);
		}
		receive_pass(1000);
		CHECK(audio_speaker_due(receive_rig.spk) == UINT64_MAX);
		audio_speaker_stats(receive_rig.spk, &st);
		CHECK_INT(st.packets, 300);
		CHECK(receive_count(AUDIO_HEARD, 1) > 100);
		audio_speaker_free(receive_rig.spk);
	}
}

TEST_OOM(receive_without_memory)
{
	struct audio_speaker *s = NULL;
	struct audio_decoder *d = NULL;

	CHECK_OOM(audio_speaker_alloc(&s, 1, receive_event_h, NULL), );
	CHECK_OOM(audio_decoder_alloc(&d, 48000), audio_speaker_free(s));
	CHECK(!audio_decoder_free(d));
	CHECK(!audio_speaker_free(s));
	CHECK(!audio_speaker_free(NULL));
	CHECK(!audio_decoder_free(NULL));
}

static void put_empty(unsigned k)
{
	struct audio_packet p = {.seq = (uint16_t)(60000 + k), .level = 127};

	audio_speaker_put(receive_rig.spk, &p, receive_rig.now);
}

/* Senders pad between utterances, in bursts with numbers of their own (RFC 3550 5.1). */
TEST(receive_padding_is_no_loss)
{
	struct audio_stats st;
	unsigned n = 0;

	receive_setup();
	receive_listen_at(5, 24000, 5000);
	for (; n < 10; n++)
		receive_put(n);
	for (unsigned k = 0; k < 400; k++)
		put_empty(n + k);
	/* Sound goes on where it was in RTP time, and at once. */
	for (; n < 20; n++) {
		struct audio_packet p = {.seq = (uint16_t)(60000 + 400 + n),
					 .ts = n * 960,
					 .level = 30,
					 .p = receive_rig.tone[n].p,
					 .n = receive_rig.tone[n].n};

		audio_speaker_put(receive_rig.spk, &p, receive_rig.now);
		CHECK_INT(receive_count(AUDIO_HEARD, 5), n + 1);
	}
	CHECK(receive_seamless(5, 24000));
	audio_speaker_stats(receive_rig.spk, &st);
	CHECK_INT(st.lost + st.late + st.undecodable + st.concealed_ms, 0);
	/* A packet that was lost among them still is. */
	put_empty(400 + n);
	put_empty(402 + n);
	receive_pass(100);
	audio_speaker_stats(receive_rig.spk, &st);
	CHECK_INT(st.lost, 1);
	audio_speaker_free(receive_rig.spk);
}

/* Packets behind a gap whose bytes were overwritten by the many that came after them: the capture
 * ends all the same. */
TEST(receive_terminates_after_a_flood_behind_a_gap)
{
	static uint8_t big[AUDIO_OPUS_MAX];
	struct audio_packet p = {.level = 30, .p = big, .n = sizeof big};

	receive_setup();
	receive_listen_at(5, 24000, 200);
	receive_put(0);
	CHECK_INT(receive_count(AUDIO_HEARD, 5), 1);
	memcpy(big, receive_rig.tone[0].p, receive_rig.tone[0].n);
	p.seq = 60000 + 60;
	audio_speaker_put(receive_rig.spk, &p, receive_rig.now);
	for (unsigned k = 2; k < 40; k++) {
		p.seq = (uint16_t)(60000 + k);
		audio_speaker_put(receive_rig.spk, &p, receive_rig.now);
	}
	receive_pass(2000);
	CHECK_INT(receive_count(AUDIO_HEARD_END, 5), 1);
	CHECK(audio_speaker_due(receive_rig.spk) == UINT64_MAX);
	audio_speaker_free(receive_rig.spk);
}
