/* What one speaker may cost, whatever they send. */
#include "mediad/audio/encoder.h"
#include "mediad/audio/receive.h"
#include "proto/base/time.h"
#include "proto/rtp.h"
#include "tests/test.h"
#include "tests/unit/mediad/audio/long_packet.h"

enum { LONG = LONG_PACKET_FRAMES };

static struct audio_speaker *spk;
static uint64_t now, heard_ms, concealed_ms;
static uint8_t frame[ENCODER_OPUS_MAX], packet[AUDIO_OPUS_MAX];
static size_t frame_n, packet_n;

static void event_h(const struct audio_event *ev, void *arg)
{
	(void)arg;
	if (ev->type != AUDIO_HEARD)
		return;
	heard_ms += ev->samples / 48;
	concealed_ms += ev->flags & MEDIA_HEARD_CONCEALED ? ev->samples / 48 : 0;
}

static void setup(void)
{
	struct audio_decoder *d = NULL;

	packet_n = long_packet_make(frame, &frame_n, packet, sizeof packet);
	now = 1000 * NS_PER_MS;
	heard_ms = concealed_ms = 0;
	spk = NULL;
	if (audio_speaker_alloc(&spk, 1, event_h, NULL) || audio_decoder_alloc(&d, 48000) ||
	    audio_speaker_listen(spk, 1, 48000, 500, &d, now))
		abort();
}

static void put(uint16_t seq, uint32_t ts, const uint8_t *p, size_t n)
{
	struct audio_packet pkt = {.seq = seq, .ts = ts, .level = 30, .p = p, .n = n};

	audio_speaker_put(spk, &pkt, now);
}

static uint64_t excess(void)
{
	struct audio_stats st;

	audio_speaker_stats(spk, &st);
	return st.excess;
}

/* 120 ms of sound every 2 ms for ten seconds. */
TEST(flood_of_long_packets)
{
	setup();
	CHECK(packet_n > 0);
	for (unsigned k = 0; k < 5000; k++, now += 2 * NS_PER_MS) {
		put((uint16_t)k, k * LONG * RTP_FRAME, packet, packet_n);
		if (k % 10 == 0)
			audio_speaker_tick(spk, now);
	}
	CHECK(heard_ms >= 20000 && heard_ms <= 10000 * AUDIO_CATCHUP_RATE + AUDIO_BURST_MS + 120);
	CHECK(excess() > 4000);
	/* Once it is over everything is heard again. */
	now += 6000 * NS_PER_MS;
	heard_ms = 0;
	for (unsigned k = 5000; k < 5050; k++, now += 20 * NS_PER_MS)
		put((uint16_t)k, 5000 * LONG * RTP_FRAME + (k - 5000) * RTP_FRAME, frame, frame_n);
	CHECK_INT(heard_ms, 1000);
	audio_speaker_free(spk);
}

/* Numbers that jump a little each time: what is made up for costs too. */
TEST(flood_of_gaps)
{
	setup();
	for (unsigned k = 0; k < 5000; k++, now += 2 * NS_PER_MS) {
		put((uint16_t)(k * 200), k * 200 * RTP_FRAME, frame, frame_n);
		if (k % 10 == 0)
			audio_speaker_tick(spk, now);
	}
	CHECK(concealed_ms > 10000);
	CHECK(heard_ms <= 10000 * AUDIO_CATCHUP_RATE + AUDIO_BURST_MS + AUDIO_ZERO_FILL_MS + 20);
	audio_speaker_free(spk);
}

/* Nobody who only speaks is cut: a second after a stall of the network comes whole, and on time. */
TEST(flood_is_not_a_burst)
{
	unsigned k = 0;

	setup();
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < 150; i++, k++) /* three seconds at once */
			put((uint16_t)k, k * RTP_FRAME, frame, frame_n);
		for (unsigned i = 0; i < 150; i++, now += 20 * NS_PER_MS)
			audio_speaker_tick(spk, now);
	}
	CHECK_INT(heard_ms, 60000);
	CHECK_INT(excess(), 0);
	audio_speaker_free(spk);
}
