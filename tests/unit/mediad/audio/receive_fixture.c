#include "tests/unit/mediad/audio/receive_fixture.h"

struct receive_rig receive_rig;

void receive_event_h(const struct audio_event *ev, void *arg)
{
	(void)arg;
	if (receive_rig.n == RECEIVE_EVENTS)
		abort();
	receive_rig.got[receive_rig.n].ev = *ev;
	receive_rig.got[receive_rig.n].peak = 0;
	if (ev->type == AUDIO_HEARD)
		receive_rig.got[receive_rig.n].first = ev->pcm[0];
	for (size_t i = 0; ev->type == AUDIO_HEARD && i < ev->samples; i++)
		if (abs(ev->pcm[i]) > receive_rig.got[receive_rig.n].peak)
			receive_rig.got[receive_rig.n].peak = abs(ev->pcm[i]);
	receive_rig.n++;
}

void receive_make_packets(void)
{
	double phase = 0;

	if (receive_rig.tone[0].n)
		return;
	for (int which = 0; which < 2; which++) {
		int err;
		OpusEncoder *e = opus_encoder_create(48000, 1, OPUS_APPLICATION_VOIP, &err);

		opus_encoder_ctl(e, OPUS_SET_BITRATE(32000));
		opus_encoder_ctl(e, OPUS_SET_INBAND_FEC(1));
		opus_encoder_ctl(e, OPUS_SET_PACKET_LOSS_PERC(20));
		opus_encoder_ctl(e, OPUS_SET_SIGNAL(OPUS_SIGNAL_VOICE));
		for (int k = 0; k < RECEIVE_PACKETS; k++) {
			int16_t pcm[960];

			for (int i = 0; i < 960; i++) {
				double t = (k * 960 + i) / 48000.0;

				phase += (which ? 400 + 250 * sin(2 * M_PI * 4 * t) : 220) / 48000;
				pcm[i] = (int16_t)lrint(8000 * sin(2 * M_PI * phase));
			}
			if (which)
				receive_rig.chirp[k].n =
					(size_t)opus_encode(e, pcm, 960, receive_rig.chirp[k].p,
							    sizeof receive_rig.chirp[k].p);
			else
				receive_rig.tone[k].n =
					(size_t)opus_encode(e, pcm, 960, receive_rig.tone[k].p,
							    sizeof receive_rig.tone[k].p);
		}
		opus_encoder_destroy(e);
	}
}

void receive_setup(void)
{
	receive_make_packets();
	receive_rig.n = 0;
	receive_rig.now = 1000 * NS_PER_MS;
	receive_rig.spk = NULL;
	if (audio_speaker_alloc(&receive_rig.spk, 1, receive_event_h, NULL))
		abort();
}

void receive_put_at(unsigned k, uint32_t shift)
{
	struct audio_packet p = {.seq = (uint16_t)(60000 + k),
				 .ts = k * 960 + shift,
				 .level = 30,
				 .p = receive_rig.tone[k % RECEIVE_PACKETS].p,
				 .n = receive_rig.tone[k % RECEIVE_PACKETS].n};

	audio_speaker_put(receive_rig.spk, &p, receive_rig.now);
}

void receive_put(unsigned k)
{
	receive_put_at(k, 0);
}

void receive_pass(unsigned ms)
{
	for (unsigned i = 0; i < ms; i += 20) {
		receive_rig.now += 20 * NS_PER_MS;
		audio_speaker_tick(receive_rig.spk, receive_rig.now);
	}
}

int receive_listen_at(uint32_t id, uint32_t rate, uint16_t silence_ms)
{
	struct audio_decoder *d = NULL;
	int err = audio_decoder_alloc(&d, rate);

	if (err)
		return err;
	err = audio_speaker_listen(receive_rig.spk, id, rate, silence_ms, &d, receive_rig.now);
	audio_decoder_free(d);
	return err;
}

int receive_count(enum audio_event_type type, uint32_t listen)
{
	int n = 0;

	for (int i = 0; i < receive_rig.n; i++)
		n += receive_rig.got[i].ev.type == type && receive_rig.got[i].ev.listen == listen;
	return n;
}

bool receive_seamless(uint32_t listen, uint32_t rate)
{
	uint32_t rtp = 0, seq = 0;
	bool first = true;

	for (int i = 0; i < receive_rig.n; i++) {
		const struct audio_event *e = &receive_rig.got[i].ev;

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
