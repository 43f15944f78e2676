/* Utterances of one speaker: their begin and end, preroll, listens, consent and packet forms. */
#include "tests/unit/mediad/audio/receive_fixture.h"

static void put_silence(unsigned k)
{
	struct audio_packet p = {.seq = (uint16_t)(60000 + k),
				 .ts = k * 960,
				 .level = 127,
				 .p = OPUS_SILENCE,
				 .n = 3};

	audio_speaker_put(receive_rig.spk, &p, receive_rig.now);
}

TEST(receive_captures)
{
	int i;

	receive_setup();
	receive_listen_at(9, 24000, 300);
	for (unsigned k = 0; k < 10; k++, receive_pass(20))
		receive_put(k);
	for (unsigned k = 10; k < 15; k++, receive_pass(20))
		put_silence(k);
	CHECK_INT(receive_count(AUDIO_HEARD, 9), 15); /* silence frames are sound of the capture */
	CHECK_INT(receive_count(AUDIO_HEARD_END, 9), 0);
	receive_pass(160);
	CHECK_INT(receive_count(AUDIO_HEARD_END, 9), 0);
	receive_pass(40);
	CHECK_INT(receive_count(AUDIO_HEARD_END, 9), 1);
	CHECK(audio_speaker_due(receive_rig.spk) == UINT64_MAX);
	for (i = 0; receive_rig.got[i].ev.type != AUDIO_HEARD_END; i++)
		;
	CHECK_INT(receive_rig.got[i].ev.reason, MEDIA_REASON_SILENCE);
	CHECK(receive_rig.got[i].ev.at == (1000 + 9 * 20) * NS_PER_MS);
	CHECK_INT(receive_rig.got[i].ev.capture, 1);
	put_silence(15); /* opens nothing */
	CHECK_INT(receive_count(AUDIO_HEARD, 9), 15);
	receive_put(16);
	receive_pass(60); /* 16 follows 15, nothing is missing */
	CHECK_INT(receive_rig.got[receive_rig.n - 1].ev.type, AUDIO_HEARD);
	CHECK_INT(receive_rig.got[receive_rig.n - 1].ev.capture, 2);
	CHECK_INT(receive_rig.got[receive_rig.n - 1].ev.seq, 0);
	CHECK_INT(receive_rig.got[receive_rig.n - 1].ev.flags, MEDIA_HEARD_FIRST);
	audio_speaker_free(receive_rig.spk);
}

TEST(receive_speaking_on_and_off)
{
	receive_setup();
	for (unsigned k = 0; k < 5; k++, receive_pass(20))
		receive_put(k);
	for (unsigned k = 5; k < 10; k++, receive_pass(20))
		put_silence(k); /* does not count as voice */
	CHECK_INT(receive_rig.n, 1);
	receive_pass(60);
	CHECK_INT(receive_rig.n, 1);
	receive_pass(20);
	CHECK_INT(receive_rig.n, 2);
	CHECK(receive_rig.got[1].ev.type == AUDIO_SPEAKING && !receive_rig.got[1].ev.on &&
	      receive_rig.got[1].ev.at == 1080 * NS_PER_MS);
	receive_pass(200);
	put_silence(10);
	CHECK_INT(receive_rig.n, 2);
	receive_put(11);
	CHECK_INT(receive_rig.n, 3);
	audio_speaker_free(receive_rig.spk);
}

TEST(receive_preroll)
{
	int heard;

	receive_setup();
	for (unsigned k = 0; k < 100; k++, receive_pass(20))
		receive_put(k);
	CHECK_INT(receive_rig.n, 1); /* SPEAKING alone: nothing was decoded */
	CHECK_INT(receive_listen_at(4, 24000, 700), 0);
	CHECK_INT(receive_rig.n, 1);
	receive_put(100);
	receive_pass(80);
	heard = receive_count(AUDIO_HEARD, 4);
	CHECK(heard >= 50 && heard <= 52); /* the last second and the new packet */
	CHECK(receive_seamless(4, 24000));
	CHECK_INT(receive_rig.got[1].ev.flags, MEDIA_HEARD_FIRST | MEDIA_HEARD_PREROLL);
	CHECK(receive_rig.got[1].ev.at >= 2000 * NS_PER_MS &&
	      receive_rig.got[1].ev.at <= 2020 * NS_PER_MS);
	CHECK_INT(receive_rig.got[heard].ev.flags, 0);
	CHECK_INT(receive_rig.got[heard].ev.rtp, 100 * 960);
	audio_speaker_free(receive_rig.spk);
}

TEST(receive_preroll_is_of_this_utterance)
{
	receive_setup();
	for (unsigned k = 0; k < 10; k++, receive_pass(20))
		receive_put(k);
	receive_pass(400);
	for (unsigned k = 10; k < 15; k++, receive_pass(20))
		receive_put_at(k, 400 * 48);
	receive_listen_at(4, 24000, 300); /* 400 ms of silence lie before: another utterance */
	receive_pass(20);
	CHECK_INT(receive_count(AUDIO_HEARD, 4), 5);
	receive_pass(1000);
	CHECK_INT(receive_count(AUDIO_HEARD_END, 4), 1);
	receive_rig.n = 0;
	receive_listen_at(5, 48000, 300); /* over already */
	receive_pass(40);
	CHECK_INT(receive_count(AUDIO_HEARD, 5), 0);
	audio_speaker_free(receive_rig.spk);
}

TEST(receive_listens_at_several_rates)
{
	struct audio_decoder *d = NULL;

	receive_setup();
	CHECK_INT(receive_listen_at(1, 24000, 700), 0);
	CHECK_INT(receive_listen_at(1, 24000, 700), EEXIST);
	CHECK_INT(receive_listen_at(2, 16000, 700), 0);
	CHECK_INT(receive_listen_at(3, 44100, 700), EINVAL);
	CHECK_INT(audio_speaker_listen(receive_rig.spk, 3, 48000, 700, &d, receive_rig.now),
		  EINVAL); /* no decoder */
	CHECK_INT(audio_speaker_listen(receive_rig.spk, 3, 24000, 700, &d, receive_rig.now),
		  0); /* shares one */
	CHECK_INT(receive_listen_at(4, 24000, 50), EINVAL);
	for (unsigned k = 0; k < 10; k++, receive_pass(20))
		receive_put(k);
	for (uint32_t id = 1; id <= 3; id++) {
		CHECK_INT(receive_count(AUDIO_HEARD, id), 10);
		CHECK(receive_seamless(id, id == 2 ? 16000 : 24000));
	}
	for (int i = 0; i < receive_rig.n; i++)
		if (receive_rig.got[i].ev.type == AUDIO_HEARD)
			CHECK_INT(receive_rig.got[i].ev.capture, 1); /* one utterance, one number */
	CHECK(!audio_speaker_unlisten(receive_rig.spk, 1,
				      MEDIA_REASON_UNLISTENED)); /* 3 still uses it */
	CHECK_INT(receive_count(AUDIO_HEARD_END, 1), 1);
	d = audio_speaker_unlisten(receive_rig.spk, 3, MEDIA_REASON_UNLISTENED);
	CHECK(d && audio_decoder_rate(d) == 24000);
	d = audio_decoder_free(d);
	CHECK(!audio_speaker_unlisten(receive_rig.spk, 3, MEDIA_REASON_UNLISTENED));
	receive_listen_at(6, 8000, 700); /* joins the utterance that is open, with pre-roll */
	receive_put(10);
	CHECK_INT(receive_count(AUDIO_HEARD, 6), 11);
	CHECK_INT(receive_rig.got[receive_rig.n - 1].ev.capture, 1);
	audio_speaker_free(receive_rig.spk);
}

TEST(receive_different_ends)
{
	receive_setup();
	receive_listen_at(1, 24000, 200);
	receive_listen_at(2, 16000, 2000);
	receive_put(0);
	receive_pass(400);
	receive_put_at(1, 19200);
	CHECK_INT(receive_count(AUDIO_HEARD_END, 1), 1);
	CHECK_INT(receive_count(AUDIO_HEARD_END, 2), 0);
	receive_pass(3000);
	CHECK_INT(receive_count(AUDIO_HEARD_END, 1), 2);
	CHECK_INT(receive_count(AUDIO_HEARD_END, 2), 1);
	receive_rig.n = 0;
	receive_put_at(2, 200000);
	CHECK_INT(receive_rig.n, 3);
	CHECK_INT(receive_rig.got[1].ev.capture, 3);
	CHECK_INT(receive_rig.got[2].ev.capture, 3);
	audio_speaker_free(receive_rig.spk);
}

TEST(receive_consent)
{
	struct audio_stats st;

	receive_setup();
	receive_listen_at(1, 24000, 700);
	for (unsigned k = 0; k < 5; k++, receive_pass(20))
		receive_put(k);
	audio_speaker_consent(receive_rig.spk, false);
	CHECK_INT(receive_rig.got[receive_rig.n - 1].ev.type, AUDIO_HEARD_END);
	CHECK_INT(receive_rig.got[receive_rig.n - 1].ev.reason, MEDIA_REASON_NO_CONSENT);
	receive_rig.n = 0;
	for (unsigned k = 5; k < 10; k++, receive_pass(20))
		receive_put(k);
	receive_pass(300);
	receive_put(10);
	CHECK_INT(receive_count(AUDIO_HEARD, 1), 0);
	CHECK_INT(receive_rig.n, 2); /* SPEAKING off and on: reported for every member */
	audio_speaker_consent(receive_rig.spk, true);
	receive_put(11);
	CHECK_INT(receive_count(AUDIO_HEARD, 1), 1); /* and nothing from before */
	CHECK_INT(receive_rig.got[receive_rig.n - 1].ev.rtp, 11 * 960);
	audio_speaker_stats(receive_rig.spk, &st);
	CHECK_INT(st.packets, 12);
	CHECK_INT(st.lost, 0);
	audio_speaker_end(receive_rig.spk, MEDIA_REASON_LEFT);
	CHECK_INT(receive_rig.got[receive_rig.n - 2].ev.reason, MEDIA_REASON_LEFT);
	CHECK(receive_rig.got[receive_rig.n - 1].ev.type == AUDIO_SPEAKING &&
	      !receive_rig.got[receive_rig.n - 1].ev.on);
	CHECK(audio_speaker_due(receive_rig.spk) == UINT64_MAX);
	audio_speaker_free(receive_rig.spk);
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

	receive_setup();
	receive_listen_at(1, 24000, 700);
	for (unsigned k = 0; k < 10; k++, receive_pass(20))
		receive_put(k);
	for (int i = 0; i < 4; i++, receive_pass(20))
		audio_speaker_put(receive_rig.spk, &bad[i], receive_rig.now);
	for (unsigned k = 14; k < 20; k++, receive_pass(20))
		receive_put(k);
	CHECK_INT(receive_count(AUDIO_HEARD, 1), 20); /* each was concealed */
	CHECK(receive_seamless(1, 24000));
	audio_speaker_stats(receive_rig.spk, &st);
	CHECK_INT(st.undecodable, 4);
	audio_speaker_free(receive_rig.spk);
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
	receive_setup();
	receive_listen_at(1, 16000, 700);
	for (unsigned k = 0; k < 4; k++, receive_pass(60)) {
		pkt.n = (size_t)opus_encode(e, pcm, 2880, p, sizeof p);
		pkt.seq = (uint16_t)(k + (k > 1)); /* one is lost */
		pkt.ts = 2880u * pkt.seq;
		audio_speaker_put(receive_rig.spk, &pkt, receive_rig.now);
	}
	opus_encoder_destroy(e);
	CHECK_INT(receive_count(AUDIO_HEARD, 1), 15);
	CHECK(receive_seamless(1, 16000));
	CHECK_INT(receive_rig.got[1].ev.samples, 320);
	audio_speaker_free(receive_rig.spk);
}
